"""Positions: sinusoids and learned rows that are added to the tokens, and rotations of queries and keys."""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_sizes, check_weights, check_width
from softlookup.model.parts._places import Tables, check_integers, kept_rows, resolve_positions, run_of_positions
from softlookup.model.parts.rotary_scaling import RotaryScaling

Layout = Literal["interleaved", "halves"]
Pairing = Literal["neighbours", "halves"]
Offset = int | Int[Tensor, " B"]
Where = Int[Tensor, " T"] | Int[Tensor, "B T"]


def sinusoids_at(
    positions: Int[Tensor, "*batch T"],
    d_model: int,
    *,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    dtype: torch.dtype | None = None,
) -> Float[Tensor, "*batch T D"]:
    """Write positions as points on circles that turn at different speeds.

    Pair i turns by base^(-2i/D) at each step, the first pair fastest. Angles are worked out in float64: at
    position 10,000 a float32 angle is already wrong in its fourth digit after the point.

    Positions are integers of any sign, or else a TypeError; a whole turn of the slowest pair takes about 2 pi base
    positions. Layout interleaved is the paper's, sine and cosine of a pair side by side; halves has all sines, then all
    cosines, as many published programs have. dtype None is torch's default. ValueError if d_model is odd or below 2,
    the base not positive, or the layout unknown.

    Source: Vaswani et al. 2017, section 3.5.
    """
    _check_circles(d_model, base, "d_model")
    if layout not in ("interleaved", "halves"):
        raise ValueError(f"layout is {layout!r}; wanted interleaved or halves")
    check_integers("positions", positions)
    angles = _angles(positions, d_model, base)
    pair = (angles.sin(), angles.cos())
    rows = torch.stack(pair, dim=-1).flatten(-2) if layout == "interleaved" else torch.cat(pair, dim=-1)
    return rows.to(torch.get_default_dtype() if dtype is None else dtype)


def sinusoidal(
    length: int,
    d_model: int,
    *,
    offset: Offset = 0,
    base: float = 10000.0,
    layout: Layout = "interleaved",
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "*batch T D"]:
    """Write a run of positions, offset to offset + length - 1, as sinusoids.

    Args:
        length: T.
        d_model: D, even.
        offset: The first position; or one for each row of a batch, which may be negative.
        base: As in sinusoids_at.
        layout: As in sinusoids_at.
        dtype: Of the result; None means torch's default.
        device: Where the result is made; None means torch's default. A tensor of offsets says so itself.

    Returns:
        (T, D), or (B, T, D) where the offset is a tensor.

    Raises:
        ValueError: If length is below 1, a plain offset below 0, or as in sinusoids_at.
        TypeError: If the offset is no integer.

    Source: Vaswani et al. 2017, section 3.5.
    """
    check_sizes(length=length)
    positions = run_of_positions(offset, length, device=None if device is None else torch.device(device))
    return sinusoids_at(positions, d_model, base=base, layout=layout, dtype=dtype)


class SinusoidalPositions(nn.Module):
    """Add sinusoids to the tokens. Nothing is learned, and no length is too long.

    Args:
        d_model: D, even.
        base: As in sinusoids_at.
        layout: As in sinusoids_at.

    Raises:
        ValueError: If d_model is odd or below 2, the base is not positive, or the layout is unknown.

    Source: Vaswani et al. 2017, section 3.5.
    """

    def __init__(self, d_model: int, *, base: float = 10000.0, layout: Layout = "interleaved") -> None:
        super().__init__()
        _check_circles(d_model, base, "d_model")
        if layout not in ("interleaved", "halves"):
            raise ValueError(f"layout is {layout!r}; wanted interleaved or halves")
        self.d_model, self.base, self.layout = d_model, base, layout
        self._tables: Tables = {}

    def forward(
        self, x: Float[Tensor, "B T D"], offset: Offset = 0, *, positions: Where | None = None
    ) -> Float[Tensor, "B T D"]:
        """Add to each token the row of its position.

        Args:
            x: Token vectors.
            offset: The first token's position; or one for each sequence, which may be negative: where padding
                stands in front, minus the number of its tokens lets every sentence begin at 0.
            positions: Each token's position instead, (T,) or (B, T).

        Returns:
            x plus the sinusoids, in x's dtype.

        Raises:
            ValueError: If x's width is not D, or offset or positions do not fit; the message names the sizes.
            TypeError: If offset or positions are no integers.

        Cost: with a plain offset the rows are kept for the next call; else they are worked out each time.
        """
        check_width(x, self.d_model, "(B, T, D)")
        where = resolve_positions(x, x.shape[1], offset, positions)
        if isinstance(where, Tensor):
            return x + self._rows(where).to(x.dtype)
        return x + kept_rows(self._tables, where, x.shape[1], x.device, x.dtype, self._rows)

    def extra_repr(self) -> str:
        """Name the sizes when the layer is printed."""
        return f"D={self.d_model}, base={self.base:g}, layout={self.layout}"

    def _rows(self, positions: Tensor) -> Tensor:
        return sinusoids_at(positions, self.d_model, base=self.base, layout=self.layout, dtype=torch.float64)


class LearnedPositions(nn.Module):
    """Add to each token a learned row for its position; there are rows for the first positions alone.

    Args:
        max_length: How many positions there are rows for.
        d_model: D, the width of a token's vector.

    Raises:
        ValueError: If a size is below 1.

    Source: Gehring et al. 2017, section 3.1; Vaswani et al. 2017, section 3.5 (compared with sinusoids).
    """

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        check_sizes(max_length=max_length, d_model=d_model)
        self.table = nn.Parameter(torch.empty(max_length, d_model))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew: normal, deviation 0.02."""
        nn.init.normal_(self.table, std=0.02)

    def forward(
        self, x: Float[Tensor, "B T D"], offset: Offset = 0, *, positions: Where | None = None
    ) -> Float[Tensor, "B T D"]:
        """Add to each token the row of its position.

        Args:
            x: Token vectors.
            offset: The first token's position; or one for each sequence.
            positions: Each token's position instead, (T,) or (B, T). Where padding stands in front, give it any
                position that has a row; negative ones have none.

        Returns:
            x plus the rows.

        Raises:
            ValueError: If x's width is not D, a position has no row, or offset or positions do not fit; the
                message names the positions and max_length. Positions in a tensor on a GPU are not read: CUDA's
                own assertion refuses them there.
            TypeError: If offset or positions are no integers, or x's dtype is not that of the table.
        """
        max_length, d_model = self.table.shape
        check_width(x, d_model, "(B, T, D)")
        check_weights(x, self.table)
        length = x.shape[1]
        where = resolve_positions(x, length, offset, positions)
        if not isinstance(where, Tensor):
            if where + length > max_length:
                raise ValueError(
                    f"positions run from {where} to {where + length - 1}; "
                    f"the table has max_length = {max_length} rows, 0 to {max_length - 1}"
                )
            return x + self.table[where : where + length]
        # Read on the CPU alone, and not by a compiled model: a GPU would stall.
        if where.numel() and where.device.type == "cpu" and not torch.compiler.is_compiling():
            first, last = (int(extreme) for extreme in torch.aminmax(where))
            if first < 0 or last >= max_length:
                raise ValueError(
                    f"positions run from {first} to {last}; "
                    f"the table has max_length = {max_length} rows, 0 to {max_length - 1}"
                )
        return x + F.embedding(where, self.table)

    def extra_repr(self) -> str:
        """Name the sizes when the layer is printed."""
        max_length, d_model = self.table.shape
        return f"max_length={max_length}, D={d_model}"


def rotate(
    x: Float[Tensor, "*batch H"],
    cos: Float[Tensor, "*#batch half"],
    sin: Float[Tensor, "*#batch half"],
    pairing: Pairing = "neighbours",
) -> Float[Tensor, "*batch H"]:
    """Turn each pair of numbers by an angle, like a point in the plane: (a, b) -> (a cos - b sin, a sin + b cos).

    Args:
        x: Rows of H numbers, H even.
        cos: Cosines, one for each of the H/2 pairs.
        sin: Sines, likewise.
        pairing: neighbours pairs number 2i with 2i + 1, as in the paper; halves pairs i with i + H/2, as Llama's
            weights in `transformers` have it.

    Returns:
        The turned rows, in x's dtype. Lengths stay as they are.

    Raises:
        ValueError: If H is odd or is not twice the number of angles, or the pairing is unknown.

    Source: Su et al. 2021 (RoFormer), equation 34.
    """
    if x.shape[-1] != 2 * cos.shape[-1]:
        raise ValueError(f"x has {x.shape[-1]} numbers in a row, beside {cos.shape[-1]} angles; wanted twice as many")
    if pairing == "neighbours":
        a, b = x[..., 0::2], x[..., 1::2]
    elif pairing == "halves":
        a, b = x.chunk(2, dim=-1)
    else:
        raise ValueError(f"pairing is {pairing!r}; wanted neighbours or halves")
    turned = (a * cos - b * sin, a * sin + b * cos)
    rows = torch.stack(turned, dim=-1).flatten(-2) if pairing == "neighbours" else torch.cat(turned, dim=-1)
    return rows.to(x.dtype)


class RotaryPositions(nn.Module):
    """Turn queries and keys by their positions, so that their dot products know only how far apart they are.

    Args:
        head_width: H, even.
        base: Sets the slowest pair's speed: pair i turns by base^(-2i/H) at each step.
        pairing: As in rotate.
        scaling: How the pairs are slowed down for texts longer than those of training; None turns them as above.
        turned_width: How many of the H numbers are turned, the first ones; None for all. H in the speeds is then
            this width.

    Raises:
        ValueError: If the turned width is odd, below 2 or above H, the base is not positive, or the pairing is unknown;
            or as in RotaryScaling.speeds.

    Source: Su et al. 2021 (RoFormer), section 3.2.2.
    """

    def __init__(
        self,
        head_width: int,
        *,
        base: float = 10000.0,
        pairing: Pairing = "neighbours",
        scaling: RotaryScaling | None = None,
        turned_width: int | None = None,
    ) -> None:
        super().__init__()
        if turned_width is not None and turned_width > head_width:
            raise ValueError(f"turned_width is {turned_width}; wanted at most head_width, which is {head_width}")
        self.still = 0 if turned_width is None else head_width - turned_width
        head_width -= self.still
        _check_circles(head_width, base, "head_width" if turned_width is None else "turned_width")
        if scaling is not None:
            scaling.speeds(head_width, base)  # refuses what it cannot scale
        if pairing not in ("neighbours", "halves"):
            raise ValueError(f"pairing is {pairing!r}; wanted neighbours or halves")
        self.head_width, self.base, self.pairing, self.scaling = head_width, base, pairing, scaling
        self._tables: Tables = {}

    def forward(
        self, x: Float[Tensor, "B N T H"], offset: Offset = 0, *, positions: Where | None = None
    ) -> Float[Tensor, "B N T H"]:
        """Turn each row by its position.

        Args:
            x: Queries or keys, after the split into heads.
            offset: The first row's position; or one for each sequence, which may be negative.
            positions: Each row's position instead, (T,) or (B, T).

        Returns:
            The turned rows, in x's dtype; sines and cosines are kept in float32 at least.

        Raises:
            ValueError: If x's width is not H, or offset or positions do not fit; the message names the sizes.
            TypeError: If offset or positions are no integers.

        Cost: 3*H operations for each row. With a plain offset the sines and cosines are kept for the next call;
        else they are worked out each time.
        """
        check_width(x, self.head_width + self.still, "(B, N, T, H)")
        length, dtype = x.shape[2], torch.promote_types(x.dtype, torch.float32)
        where = resolve_positions(x, length, offset, positions)
        if isinstance(where, Tensor):
            rows = self._rows(where).to(dtype)
        else:
            rows = kept_rows(self._tables, where, length, x.device, dtype, self._rows)
        if rows.ndim == 3:
            rows = rows.unsqueeze(1)  # one for each sequence: the same for all of its heads
        sin, cos = rows.chunk(2, dim=-1)
        if not self.still:
            return rotate(x, cos, sin, self.pairing)
        turned = rotate(x[..., : self.head_width], cos, sin, self.pairing)
        return torch.cat((turned, x[..., self.head_width :]), dim=-1)

    def extra_repr(self) -> str:
        """Name the sizes when the layer is printed."""
        scaled = "" if self.scaling is None else f", {self.scaling.kind} by {self.scaling.factor:g}"
        return f"H={self.head_width}, base={self.base:g}, pairing={self.pairing}{scaled}"

    def _rows(self, positions: Tensor) -> Tensor:
        if self.scaling is None:
            return sinusoids_at(positions, self.head_width, base=self.base, layout="halves", dtype=torch.float64)
        speeds = self.scaling.speeds(self.head_width, self.base).to(positions.device)
        angles = positions[..., None].to(torch.float64) * speeds
        return torch.cat((angles.sin(), angles.cos()), dim=-1) * self.scaling.amplitude


def _angles(positions: Tensor, width: int, base: float) -> Tensor:
    pair = torch.arange(width // 2, device=positions.device, dtype=torch.float64)
    return positions[..., None].to(torch.float64) * base ** (-2 * pair / width)


def _check_circles(width: int, base: float, name: str) -> None:
    if width < 2 or width % 2:
        raise ValueError(f"{name} must be even and at least 2, for pairs of numbers; got {width}")
    if not base > 0:
        raise ValueError(f"base must be positive; got {base}")
