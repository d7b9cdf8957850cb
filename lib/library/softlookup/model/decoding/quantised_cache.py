"""A cache in few bits: keys rounded by channel, values by token, and the newest of both left as they are."""

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from softlookup.model.parts.cache import LayerCache


class QuantisedCache(LayerCache):
    """The keys and values of one attention layer, rounded to whole numbers from 0 to 2^b - 1.

    Keys are rounded in groups of some neighbouring positions of one channel, values in groups of all channels of one
    position. Where a group of positions is not complete, both stay as they are. Short numbers share a byte.

    Args:
        bits: b: 8, 4, 2 or 1.
        group: How many positions of a channel share a least number and a step.

    Raises:
        ValueError: If there is no such number of bits, or group is below 2.

    Cost: reading makes all numbers anew: B*K*S*(H + Hv) multiply-adds each time. It saves memory, not time.

    Source: Liu et al. 2024 (KIVI, arXiv 2402.02750), section 3.

    >>> cache = QuantisedCache(bits=4, group=32)
    >>> k, v = cache.append(torch.randn(1, 2, 70, 64), torch.randn(1, 2, 70, 64))
    >>> tuple(k.shape), cache.bytes < 70 * 2 * 2 * 64 * 4 / 4
    ((1, 2, 70, 64), True)
    """

    def __init__(self, bits: int, *, group: int = 32) -> None:
        if bits not in (1, 2, 4, 8) or group < 2:
            raise ValueError(f"bits is {bits}, group is {group}; wanted 8, 4, 2 or 1 bits, and at least 2 positions")
        super().__init__()
        self.bits, self.group = bits, group
        self._rounded_k: list[_Rounded] = []
        self._rounded_v: list[_Rounded] = []

    @property
    def bytes(self) -> int:
        """How much memory the cache takes: rounded numbers, their least and step, and the newest as they are."""
        newest = sum(t.numel() * t.element_size() for t in (self._k, self._v) if t is not None)
        return newest + sum(block.bytes for block in self._rounded_k + self._rounded_v)

    @property
    def k(self) -> Float[Tensor, "B K S H"]:
        """The keys so far, as they can be read back."""
        return self._read(self._rounded_k, self._k)

    @property
    def v(self) -> Float[Tensor, "B K S Hv"]:
        """The values so far, as they can be read back."""
        return self._read(self._rounded_v, self._v)

    def append(
        self, k: Float[Tensor, "B K T H"], v: Float[Tensor, "B K T Hv"]
    ) -> tuple[Float[Tensor, "B K S H"], Float[Tensor, "B K S Hv"]]:
        """Add the newest keys and values, and round what completes a group.

        Args:
            k: Keys of the tokens that are new.
            v: Their values.

        Returns:
            All keys and values; those of this call and of an incomplete group as they were given.

        Raises:
            ValueError: If the sizes, but for the positions, are not those of what is kept.
        """
        if self._k is not None and self._v is not None:
            if k.shape[:2] != self._k.shape[:2] or k.shape[3] != self._k.shape[3] or v.shape[3] != self._v.shape[3]:
                raise ValueError(f"keys have shape {tuple(k.shape)}, beside kept ones of {tuple(self.k.shape)}")
            k, v = torch.cat((self._k, k), dim=2), torch.cat((self._v, v), dim=2)
        self._k, self._v = k, v
        self._length += k.shape[2] - (self._length % self.group)
        all_k, all_v = self.k, self.v
        while self._k.shape[2] >= self.group:
            first_k, self._k = self._k[:, :, : self.group], self._k[:, :, self.group :]
            first_v, self._v = self._v[:, :, : self.group], self._v[:, :, self.group :]
            self._rounded_k.append(_Rounded(first_k, 2, self.bits))
            self._rounded_v.append(_Rounded(first_v, 3, self.bits))
        self._k, self._v = self._k.clone(), self._v.clone()
        return all_k, all_v

    def select(self, rows: Int[Tensor, " M"]) -> "QuantisedCache":
        """Take some rows of the batch, in the order given; a row may be taken more than once.

        Args:
            rows: Whole numbers, which rows.

        Returns:
            A new cache; this one stays as it was.
        """
        chosen = QuantisedCache(self.bits, group=self.group)
        chosen._length = self._length
        if self._k is not None and self._v is not None:
            chosen._k, chosen._v = self._k.index_select(0, rows), self._v.index_select(0, rows)
        chosen._rounded_k = [block.select(rows) for block in self._rounded_k]
        chosen._rounded_v = [block.select(rows) for block in self._rounded_v]
        return chosen

    def cut(self, length: int) -> None:
        """Forget what stands behind a position.

        Args:
            length: How many positions stay.

        Raises:
            ValueError: If there are fewer, or the position lies in a group that was rounded.
        """
        rounded = len(self._rounded_k) * self.group
        if not rounded <= length <= self._length:
            raise ValueError(f"length is {length}; wanted {rounded}, which are rounded already, to {self._length}")
        if self._k is not None and self._v is not None:
            self._k, self._v = self._k[:, :, : length - rounded], self._v[:, :, : length - rounded]
        self._length = length

    def _read(self, rounded: "list[_Rounded]", newest: Tensor | None) -> Tensor:
        if newest is None:
            raise ValueError("the cache is empty: no keys have been kept yet")
        return torch.cat([*(block.read() for block in rounded), newest], dim=2)


class _Rounded:
    """Some numbers in few bits, with the least and the step of each group."""

    def __init__(self, x: Tensor, dim: int, bits: int) -> None:
        least, most = x.amin(dim=dim, keepdim=True), x.amax(dim=dim, keepdim=True)
        self.least, self.step = least, (most - least) / (2**bits - 1)
        codes = torch.where(self.step > 0, (x - least) / self.step, torch.zeros_like(x)).round().to(torch.uint8)
        self.shape, self.bits = x.shape, bits
        self.packed = _packed(codes.flatten(1), bits)

    @property
    def bytes(self) -> int:
        return sum(t.numel() * t.element_size() for t in (self.packed, self.least, self.step))

    def read(self) -> Tensor:
        size = self.shape[1:].numel()
        codes = _unpacked(self.packed, self.bits)[:, :size].unflatten(1, self.shape[1:])
        return codes.to(self.least.dtype) * self.step + self.least

    def select(self, rows: Tensor) -> "_Rounded":
        chosen = object.__new__(_Rounded)
        chosen.bits, chosen.shape = self.bits, torch.Size((len(rows), *self.shape[1:]))
        chosen.packed, chosen.least, chosen.step = (
            t.index_select(0, rows) for t in (self.packed, self.least, self.step)
        )
        return chosen


def _packed(codes: UInt8[Tensor, "B n"], bits: int) -> UInt8[Tensor, "B m"]:
    """Put several codes into a byte, the first into its lowest bits."""
    each = 8 // bits
    codes = torch.nn.functional.pad(codes, (0, -codes.shape[1] % each)).unflatten(1, (-1, each))
    places = torch.arange(each, device=codes.device, dtype=torch.uint8) * bits
    return (codes << places).sum(dim=-1, dtype=torch.uint8)


def _unpacked(packed: UInt8[Tensor, "B m"], bits: int) -> UInt8[Tensor, "B n"]:
    """Take the codes out of their bytes again."""
    places = torch.arange(8 // bits, device=packed.device, dtype=torch.uint8) * bits
    return ((packed[..., None] >> places) & (2**bits - 1)).flatten(1)
