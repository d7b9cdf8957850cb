"""One number for each distance, added to the scaled scores: ALiBi's straight lines and T5's learned buckets.

Each is called as bias(q, k, offset). The offset is the position of the first query less that of the first key: 0 in
a whole sequence, the number of kept keys while decoding with a cache.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_sizes, check_weights
from softlookup.model.parts._places import check_integers, check_offset


def relative_positions(
    length: int, keys: int, offset: int = 0, *, device: torch.device | str | None = None
) -> Int[Tensor, "T S"]:
    """Say how far each key stands behind each query: key's position less query's, so the past is negative.

    Args:
        length: T.
        keys: S.
        offset: The first query's position less the first key's.
        device: Where the result is made.

    Returns:
        s - (offset + t).

    Raises:
        ValueError: If a size is below 1.
        TypeError: If the offset is no integer.
    """
    check_sizes(length=length, keys=keys)
    check_offset(offset)
    query_T = torch.arange(offset, offset + length, device=device)
    return torch.arange(keys, device=device)[None, :] - query_T[:, None]


def alibi_slopes(n_heads: int) -> Float[Tensor, " N"]:
    """Give each head the slope by which its scores fall with distance.

    For a power of two of heads, the slopes are 2^(-8/N), 2^(-16/N), ..., 2^-8: from head to head they fall by the
    factor 2^(-8/N), which is a half for 8 heads and its square root for 16. For another number of heads, the slopes of
    the next smaller power of two come first; every second slope of twice that power, from the first on, fills up.

    Args:
        n_heads: N.

    Returns:
        Positive slopes, in float64.

    Raises:
        ValueError: If there is no head.

    Source: Press, Smith & Lewis 2022, section 3, and its published code (other numbers).
    """
    check_sizes(n_heads=n_heads)
    power = 1 << (n_heads.bit_length() - 1)
    exponents = [8 * (i + 1) / power for i in range(power)]
    exponents += [4 * (2 * i + 1) / power for i in range(n_heads - power)]
    return torch.tensor([2.0**-exponent for exponent in exponents], dtype=torch.float64)


class ALiBi(nn.Module):
    """Make far keys count less: a score falls by the head's slope at each step of distance. Nothing is learned.

    Args:
        n_heads: N.
        causal: Whether keys after the query are hidden by a mask anyway; they then get 0, and the mask has to hide
            them. Else distance counts the same on both sides.

    Raises:
        ValueError: If there is no head.

    Source: Press, Smith & Lewis 2022, section 3.
    """

    slopes: Tensor

    def __init__(self, n_heads: int, *, causal: bool = True) -> None:
        super().__init__()
        self.causal = causal
        self.register_buffer("slopes", alibi_slopes(n_heads), persistent=False)

    def between(self, length: int, keys: int, offset: int = 0) -> Float[Tensor, "1 N T S"]:
        """Give the numbers to add, from sizes alone.

        Args:
            length: T.
            keys: S.
            offset: The first query's position less the first key's.

        Returns:
            -slope * distance, in float64, or in what the module was cast to, float32 at least: distances above 256
            have no place in bfloat16.

        Raises:
            ValueError: If a size is below 1.

        Cost: N*T*S numbers.
        """
        relative_TS = relative_positions(length, keys, offset, device=self.slopes.device)
        distance_TS = (-relative_TS).clamp(min=0) if self.causal else relative_TS.abs()
        slopes_N11 = self.slopes[:, None, None].to(torch.promote_types(self.slopes.dtype, torch.float32))
        return -(slopes_N11 * distance_TS)[None]

    def forward(
        self, q: Float[Tensor, "B N T H"], k: Float[Tensor, "B K S H"], offset: int = 0
    ) -> Float[Tensor, "1 N T S"]:
        """Give the numbers to add to the scores of q and k; only their shapes matter.

        Args:
            q: Queries.
            k: Keys.
            offset: The first query's position less the first key's.

        Returns:
            The same for every sequence, in q's dtype.

        Raises:
            ValueError: If there are not N query heads, or the sizes do not fit.
        """
        check_heads(q, k, len(self.slopes))
        _check_device(q, self.slopes)
        return self.between(q.shape[2], k.shape[2], offset).to(q.dtype)

    def extra_repr(self) -> str:
        """Name the sizes when the module is printed."""
        return f"N={len(self.slopes)}, causal={self.causal}"


def t5_bucket(
    relative: Int[Tensor, "*shape"], *, n_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
) -> Int[Tensor, "*shape"]:
    """Sort distances into buckets: near ones alone, far ones together, ever more of them to a bucket.

    Half of the buckets (of each direction) hold one distance each; the others widen by the same factor each, up to
    max_distance; the last takes all that is farther.

    Args:
        relative: Key's position less query's.
        n_buckets: How many there are, an even number if bidirectional: the second half is for keys behind the query.
        max_distance: From here on all distances share the last bucket.
        bidirectional: Whether keys after the query have buckets of their own; otherwise they share bucket 0 with
            the query's own.

    Returns:
        Bucket numbers, 0 to n_buckets - 1.

    Raises:
        ValueError: If n_buckets or max_distance leaves no room for both kinds of buckets.
        TypeError: If relative holds no integers.

    Source: Raffel et al. 2020, section 2.1, and its published code. The logarithm runs in float32 as there: in
    float64 a distance at the edge of a bucket could land beside.
    """
    check_integers("relative", relative)
    _check_buckets(n_buckets, max_distance, bidirectional)
    first = torch.zeros_like(relative)
    distance = -relative
    if bidirectional:
        n_buckets //= 2
        first = (relative > 0).to(relative.dtype) * n_buckets
        distance = relative.abs()
    distance = distance.clamp(min=0)
    n_exact = n_buckets // 2
    # max(1): the logarithm of 0 is -inf, and this branch is not taken there.
    log_ratio = torch.log(distance.clamp(min=1).float() / n_exact) / math.log(max_distance / n_exact)
    far = (n_exact + (log_ratio * (n_buckets - n_exact)).long()).clamp(max=n_buckets - 1)
    return first + torch.where(distance < n_exact, distance, far.to(relative.dtype))


class T5Bias(nn.Module):
    """Learn one number for each bucket of distances and each head.

    T5 itself adds it to plain dot products, not divided by sqrt(H).

    Args:
        n_heads: N.
        n_buckets: How many buckets distances are sorted into.
        max_distance: From here on all distances share the last bucket.
        bidirectional: True where all see all (an encoder), False where a causal mask hides what is behind.

    Raises:
        ValueError: If there is no head, or as in t5_bucket.

    Source: Raffel et al. 2020, section 2.1.
    """

    def __init__(
        self, n_heads: int, *, n_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
    ) -> None:
        super().__init__()
        check_sizes(n_heads=n_heads)
        _check_buckets(n_buckets, max_distance, bidirectional)
        self.max_distance, self.bidirectional = max_distance, bidirectional
        self.table = nn.Parameter(torch.empty(n_buckets, n_heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew: normal, deviation 0.02."""
        nn.init.normal_(self.table, std=0.02)

    def between(self, length: int, keys: int, offset: int = 0) -> Float[Tensor, "1 N T S"]:
        """Give the numbers to add, from sizes alone.

        Args:
            length: T.
            keys: S.
            offset: The first query's position less the first key's.

        Returns:
            Entries of the table, in its dtype.

        Raises:
            ValueError: If a size is below 1.

        Cost: N*T*S numbers.
        """
        relative_TS = relative_positions(length, keys, offset, device=self.table.device)
        bucket_TS = t5_bucket(
            relative_TS,
            n_buckets=self.table.shape[0],
            max_distance=self.max_distance,
            bidirectional=self.bidirectional,
        )
        return F.embedding(bucket_TS, self.table).permute(2, 0, 1)[None]

    def forward(
        self, q: Float[Tensor, "B N T H"], k: Float[Tensor, "B K S H"], offset: int = 0
    ) -> Float[Tensor, "1 N T S"]:
        """Give the numbers to add to the scores of q and k; only their shapes matter.

        Args:
            q: Queries.
            k: Keys.
            offset: The first query's position less the first key's.

        Returns:
            The same for every sequence, in the table's dtype.

        Raises:
            ValueError: If there are not N query heads, or the sizes do not fit.
            TypeError: If q's dtype is not the table's.
        """
        check_heads(q, k, self.table.shape[1])
        check_weights(q, self.table, "q")
        return self.between(q.shape[2], k.shape[2], offset)

    def extra_repr(self) -> str:
        """Name the sizes when the module is printed."""
        n_buckets, n_heads = self.table.shape
        return (
            f"N={n_heads}, n_buckets={n_buckets}, max_distance={self.max_distance}, bidirectional={self.bidirectional}"
        )


def check_heads(q: Tensor, k: Tensor, n_heads: int) -> None:
    """Refuse queries (B, N, T, H) and keys (B, K, S, H) that are no heads of the same sequences.

    ValueError if there are not four axes each, the batches differ, or q has another number of heads.
    """
    shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)}"
    if q.ndim != 4 or k.ndim != 4 or q.shape[0] != k.shape[0]:
        raise ValueError(f"wanted q (B, N, T, H) and k (B, K, S, H) of the same B; got {shapes}")
    if q.shape[1] != n_heads:
        raise ValueError(f"q has {q.shape[1]} heads; wanted N = {n_heads} ({shapes})")


def _check_device(q: Tensor, slopes: Tensor) -> None:
    if q.device != slopes.device:
        raise ValueError(f"q is on {q.device}, the slopes on {slopes.device}: move one to the other")


def _check_buckets(n_buckets: int, max_distance: int, bidirectional: bool) -> None:
    one_way = n_buckets // 2 if bidirectional else n_buckets
    if one_way < 2 or (bidirectional and n_buckets % 2):
        expected = "an even number, at least 4" if bidirectional else "at least 2"
        raise ValueError(f"n_buckets is {n_buckets}; wanted {expected}")
    if max_distance <= one_way // 2:
        raise ValueError(f"max_distance is {max_distance}; {one_way // 2} distances have a bucket each, wanted more")
