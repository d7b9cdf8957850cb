"""Vectors for distances, met by the queries: the relative positions of Shaw and of Transformer-XL.

Like those of distance.py, each is called as bias(q, k, offset) and gives numbers to add to the scaled scores.

Letters of its own: R distances, one row of a table each.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_sizes, check_weights, check_width
from softlookup.model.parts._places import check_offset
from softlookup.model.parts.distance import check_heads, relative_positions
from softlookup.model.parts.initialise import xavier_
from softlookup.model.parts.positions import Layout, sinusoids_at


class ShawBias(nn.Module):
    """Give each distance a vector of its own, beside the key's: the query asks for content and for distance.

    Args:
        head_width: H. The vectors are shared by all heads.
        max_distance: Distances beyond it, to either side, share the outermost vector.

    Raises:
        ValueError: If a size is below 1, or max_distance below 0.

    Source: Shaw, Uszkoreit & Vaswani 2018, equation 4.
    """

    def __init__(self, head_width: int, max_distance: int) -> None:
        super().__init__()
        check_sizes(head_width=head_width)
        if max_distance < 0:
            raise ValueError(f"max_distance must be at least 0; got {max_distance}")
        self.max_distance = max_distance
        n_rows = 2 * max_distance + 1
        self.table = nn.Parameter(torch.empty(n_rows, head_width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew (Xavier, uniform)."""
        xavier_(self.table)

    def forward(
        self, q: Float[Tensor, "B N T H"], k: Float[Tensor, "B K S H"], offset: int = 0
    ) -> Float[Tensor, "B N T S"]:
        """Score each distance: q . r / sqrt(H), r being the vector of the clipped distance.

        Each query meets the 2*max+1 vectors once, and the scores are then dealt out to the keys: no vector is
        written for each pair of query and key.

        Args:
            q: Queries.
            k: Keys; only their number matters.
            offset: The first query's position less the first key's.

        Returns:
            The second term of equation 4.

        Raises:
            ValueError: If q's width is not H, or the sizes do not fit.
            TypeError: If q's dtype is not the table's.

        Cost: 2*B*N*T*(2*max+1)*H operations.
        """
        check_width(q, self.table.shape[1], "(B, N, T, H)", "q")
        check_heads(q, k, q.shape[1])
        check_weights(q, self.table, "q")
        scores_BNTR = q @ self.table.mT / math.sqrt(q.shape[-1])
        row_TS = self._rows(q.shape[2], k.shape[2], offset, q.device)
        return scores_BNTR.gather(-1, row_TS.expand(*q.shape[:2], -1, -1))

    def extra_repr(self) -> str:
        """Name the sizes when the module is printed."""
        return f"H={self.table.shape[1]}, max_distance={self.max_distance}"

    def _rows(self, length: int, keys: int, offset: int, device: torch.device) -> Tensor:
        relative_TS = relative_positions(length, keys, offset, device=device)
        return relative_TS.clamp(-self.max_distance, self.max_distance) + self.max_distance


def relative_shift(x: Float[Tensor, "*batch T R"]) -> Float[Tensor, "*batch T S"]:
    """Line up scores by distance with the keys: row t moves left by T - 1 - t places.

    No row is moved in truth. Read as one long line, each row of R begins one place earlier if rows are taken to be
    R - 1 long, and so the rows slide against each other.

    x has scores of each query against R = T + S - 1 distances, from the largest (last query, first key) down by 1;
    entry (t, s) of the result is its entry (t, T - 1 - t + s). ValueError if R is below T.

    Source: Dai et al. 2019, appendix B.
    """
    if x.ndim < 2 or x.shape[-1] < x.shape[-2]:
        raise ValueError(f"x has shape {tuple(x.shape)}; wanted (..., T, T + S - 1) with S at least 1")
    length, distances = x.shape[-2:]
    if length == 1:
        return x
    line = x.flatten(-2)[..., length - 1 : length - 1 + length * (distances - 1)]
    return line.unflatten(-1, (length, distances - 1))[..., : distances - length + 1]


class TransformerXLBias(nn.Module):
    """Score distance by content and by itself: three of the four terms of Transformer-XL; q . k is attention's own.

    With p = p_{i-j} the sinusoids of the distance, turned by w_r: ((q + v) . p w_r + u . k) / sqrt(H).

    Args:
        n_heads: N.
        head_width: H.
        d_model: D, the width of the sinusoids, even.
        layout: Of the sinusoids: interleaved, or halves as in the published code.

    Raises:
        ValueError: If a size is below 1, or d_model is odd.

    Source: Dai et al. 2019, section 3.3.
    """

    def __init__(self, n_heads: int, head_width: int, d_model: int, *, layout: Layout = "interleaved") -> None:
        super().__init__()
        check_sizes(n_heads=n_heads, head_width=head_width, d_model=d_model)
        sinusoids_at(torch.zeros(1, dtype=torch.long), d_model, layout=layout)  # refuses what makes no sinusoids
        self.layout: Layout = layout
        self.u = nn.Parameter(torch.empty(n_heads, head_width))
        self.v = nn.Parameter(torch.empty(n_heads, head_width))
        self.w_r = nn.Parameter(torch.empty(d_model, n_heads * head_width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw w_r anew (Xavier, uniform), u and v as small normal numbers (deviation 0.02)."""
        xavier_(self.w_r)
        nn.init.normal_(self.u, std=0.02)
        nn.init.normal_(self.v, std=0.02)

    def forward(
        self, q: Float[Tensor, "B N T H"], k: Float[Tensor, "B N S H"], offset: int = 0
    ) -> Float[Tensor, "B N T S"]:
        """Give the numbers to add to the scaled scores of q and k.

        Args:
            q: Queries.
            k: Keys, one for each query head.
            offset: The first query's position less the first key's.

        Returns:
            Terms b, c and d of the paper, divided by sqrt(H).

        Raises:
            ValueError: If heads or widths are not N and H, or the sizes do not fit.
            TypeError: If the dtype is not that of the weights.

        Cost: 2*(T + S - 1)*N*H*(D + B*T) operations, and T + S - 1 numbers for each query and head.
        """
        n_heads, head_width = self.u.shape
        for name, tensor, axes in (("q", q, "(B, N, T, H)"), ("k", k, "(B, N, S, H)")):
            check_width(tensor, head_width, axes, name)
            check_weights(tensor, self.u, name)
        check_heads(q, k, n_heads)
        if k.shape[1] != n_heads:
            raise ValueError(f"k has {k.shape[1]} heads, wanted N = {n_heads}: repeat shared ones first")
        check_offset(offset)
        length, keys = q.shape[2], k.shape[2]
        # From the last query's distance to the first key down to the first query's to the last key.
        distance_R = torch.arange(offset + length - 1, offset - keys, -1, device=q.device)
        p_RD = sinusoids_at(distance_R, self.w_r.shape[0], layout=self.layout, dtype=self.w_r.dtype)
        p_NRH = (p_RD @ self.w_r).unflatten(-1, (n_heads, head_width)).transpose(0, 1)
        position_BNTS = relative_shift((q + self.v[:, None, :]) @ p_NRH.mT)
        content_BN1S = (k @ self.u[:, :, None]).mT
        return (position_BNTS + content_BN1S) / math.sqrt(head_width)

    def extra_repr(self) -> str:
        """Name the sizes when the module is printed."""
        return f"N={self.u.shape[0]}, H={self.u.shape[1]}, D={self.w_r.shape[0]}, layout={self.layout}"
