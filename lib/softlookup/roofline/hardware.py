"""What machines can do, from their data sheets or from measurement. SI inside: FLOP/s, bytes/s, bytes.

A multiply-add is two operations, as in the data sheets. Rates with 2:4 sparsity stand apart from dense ones: they hold
only where half of a weight matrix is zeros in a fixed pattern, and dense products never reach them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


def _frozen(table: Mapping[str, float]) -> Mapping[str, float]:
    return MappingProxyType(dict(table))


@dataclass(frozen=True)
class Hardware:
    """One processor and its memory.

    Attributes:
        name: As its maker writes it.
        dense_flops_per_s: Peak rate by kind of number, dense. "float32" is the ordinary cores; "tf32" and the shorter
            kinds are the matrix units; "float64 matrix" is float64 on the matrix units.
        bandwidth_bytes_per_s: Between memory and processor.
        memory_bytes: Of that memory.
        source: Where the numbers are from.
        sparse_flops_per_s: Peak rate with 2:4 sparsity, where the maker gives one.
        links_bytes_per_s: Connections to other processors, both directions together, as data sheets print them.

    Raises:
        ValueError: If there is no rate, or a number is not above 0: "NAME: KIND is NUMBER, wanted a number above 0".

    Book: 11_roofline.html#roofline-sheet.
    """

    name: str
    dense_flops_per_s: Mapping[str, float]
    bandwidth_bytes_per_s: float
    memory_bytes: float
    source: str
    sparse_flops_per_s: Mapping[str, float] = field(default_factory=dict)
    links_bytes_per_s: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.dense_flops_per_s:
            raise ValueError(f"{self.name}: wanted at least one dense rate")
        numbers: dict[str, float] = {"bandwidth": self.bandwidth_bytes_per_s, "memory": self.memory_bytes}
        for table in ("dense_flops_per_s", "sparse_flops_per_s", "links_bytes_per_s"):
            numbers |= getattr(self, table)
            object.__setattr__(self, table, _frozen(getattr(self, table)))
        for what, number in numbers.items():
            if not number > 0:
                raise ValueError(f"{self.name}: {what} is {number}, wanted a number above 0")

    def peak_flops_per_s(self, dtype: str, *, sparse: bool = False) -> float:
        """The peak rate for a kind of number.

        Args:
            dtype: Such as "bfloat16".
            sparse: The rate with 2:4 sparsity instead of the dense one.

        Returns:
            Operations a second.

        Raises:
            KeyError: If there is none: "NAME has no sparse rate for int4; it has ...".

        Book: 11_roofline.html#roofline-sheet.
        """
        table = self.sparse_flops_per_s if sparse else self.dense_flops_per_s
        if dtype not in table:
            kind = "sparse" if sparse else "dense"
            raise KeyError(f"{self.name} has no {kind} rate for {dtype}; it has {', '.join(table) or 'none at all'}")
        return table[dtype]

    def link_bytes_per_s(self, link: str) -> float:
        """What a link carries in one direction: half of what data sheets print.

        Args:
            link: Such as "NVLink".

        Returns:
            Bytes a second, one way.

        Raises:
            KeyError: If there is no such link; the message lists those there are.

        Book: 11_roofline.html#roofline-links.
        """
        if link not in self.links_bytes_per_s:
            raise KeyError(f"{self.name} has no link {link}; it has {', '.join(self.links_bytes_per_s) or 'none'}")
        return self.links_bytes_per_s[link] / 2


def _tera(**rates: float) -> dict[str, float]:
    return {name.replace("_", " "): rate * 1e12 for name, rate in rates.items()}


_A100_DENSE = _tera(
    float64=9.7, float64_matrix=19.5, float32=19.5, tf32=156.0, bfloat16=312.0, float16=312.0, int8=624.0
)
_A100_SPARSE = _tera(tf32=312.0, bfloat16=624.0, float16=624.0, int8=1248.0)
_A100_SHEET = "NVIDIA A100 Tensor Core GPU data sheet (2021)"
# The sheets of H100 and H200 print the matrix rates with sparsity alone; dense is half of each.
_HOPPER_SPARSE = _tera(tf32=989.0, bfloat16=1979.0, float16=1979.0, float8=3958.0, int8=3958.0)
_HOPPER_DENSE = _tera(float64=34.0, float64_matrix=67.0, float32=67.0) | {k: v / 2 for k, v in _HOPPER_SPARSE.items()}

_KNOWN: dict[str, Hardware] = {
    "A100 80GB PCIe": Hardware(
        "A100 80GB PCIe",
        _A100_DENSE,
        1935e9,
        80e9,
        _A100_SHEET,
        _A100_SPARSE,
        {"NVLink": 600e9, "PCIe": 64e9},
    ),
    "A100 80GB SXM": Hardware(
        "A100 80GB SXM",
        _A100_DENSE,
        2039e9,
        80e9,
        _A100_SHEET,
        _A100_SPARSE,
        {"NVLink": 600e9, "PCIe": 64e9},
    ),
    "H100 SXM": Hardware(
        "H100 SXM",
        _HOPPER_DENSE,
        3350e9,
        80e9,
        "NVIDIA H100 Tensor Core GPU data sheet (2023); dense matrix rates are half of the sparse ones printed there",
        _HOPPER_SPARSE,
        {"NVLink": 900e9, "PCIe": 128e9},
    ),
    "H200": Hardware(
        "H200",
        _HOPPER_DENSE,
        4800e9,
        141e9,
        "NVIDIA H200 Tensor Core GPU data sheet (2024), SXM; dense matrix rates are half of the sparse ones printed",
        _HOPPER_SPARSE,
        {"NVLink": 900e9, "PCIe": 128e9},
    ),
}


def known_hardware() -> tuple[str, ...]:
    """The names that ``hardware`` knows, in the order of their years.

    Returns:
        Names, each once.

    Book: 11_roofline.html#roofline-sheet.
    """
    return tuple(_KNOWN)


def hardware(name: str) -> Hardware:
    """A machine from its data sheet.

    Args:
        name: One of ``known_hardware()``.

    Returns:
        Its numbers.

    Raises:
        KeyError: If it is not known; the message lists those that are.

    >>> hardware("A100 80GB PCIe").bandwidth_bytes_per_s / 1e9
    1935.0
    """
    if name not in _KNOWN:
        raise KeyError(f"no data sheet for {name!r}; there are {', '.join(_KNOWN)}")
    return _KNOWN[name]


def measured_hardware(record: Mapping[str, Any]) -> Hardware:
    """The machine that a record of ``softlookup bench roofline`` was made on, with the medians that were measured.

    Args:
        record: What the bench returned, or the JSON file that it wrote.

    Returns:
        Its rates by kind of number, its bandwidth and its memory; no links, no sparse rates.

    Raises:
        KeyError: If the record lacks one of the fields rates, bandwidth, memory_bytes, machine.
    """
    return Hardware(
        str(record["machine"]),
        {dtype: float(rate["median"]) for dtype, rate in record["rates"].items()},
        float(record["bandwidth"]["median"]),
        float(record["memory_bytes"]),
        "measured by `softlookup bench roofline`",
    )
