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
            kinds are the matrix units; "float64 matrix" is float64 on the matrix units. "float8" and "float4" are FP8
            and FP4. A kind that the maker prints no rate for is left out.
        bandwidth_bytes_per_s: Between memory and processor.
        memory_bytes: Of that memory.
        source: Where the numbers are from.
        sparse_flops_per_s: Peak rate with 2:4 sparsity, where the maker gives one.
        links_bytes_per_s: Connections to other processors, both directions and all ports together, as data sheets
            print them. An "NVLink bridge" joins two PCIe cards; "NVLink" goes through a board's switch to all of its
            processors. Of the Infinity Fabric and of a TPU's ICI each neighbour gets a port's share alone.

    Raises:
        ValueError: If there is no rate, or a number is not above 0: "NAME: KIND is NUMBER, wanted a number above 0".
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
        for what, value in numbers.items():
            if not value > 0:
                raise ValueError(f"{self.name}: {what} is {value}, wanted a number above 0")

    def peak_flops_per_s(self, dtype: str, *, sparse: bool = False) -> float:
        """The peak rate for a kind of number.

        Args:
            dtype: Such as "bfloat16".
            sparse: The rate with 2:4 sparsity instead of the dense one.

        Returns:
            Operations a second.

        Raises:
            KeyError: If there is none: "NAME has no sparse rate for int4; it has ...".
        """
        table = self.sparse_flops_per_s if sparse else self.dense_flops_per_s
        if dtype not in table:
            form = "sparse" if sparse else "dense"
            raise KeyError(f"{self.name} has no {form} rate for {dtype}; it has {', '.join(table) or 'none at all'}")
        return table[dtype]

    def link_bytes_per_s(self, link: str) -> float:
        """What a link carries in one direction: half of what data sheets print.

        Args:
            link: Such as "NVLink".

        Returns:
            Bytes a second, one way.

        Raises:
            KeyError: If there is no such link; the message lists those there are.
        """
        if link not in self.links_bytes_per_s:
            raise KeyError(f"{self.name} has no link {link}; it has {', '.join(self.links_bytes_per_s) or 'none'}")
        return self.links_bytes_per_s[link] / 2


def _tera(**rates: float) -> dict[str, float]:
    return {name.replace("_", " "): rate * 1e12 for name, rate in rates.items()}


def _halved(sparse: Mapping[str, float]) -> dict[str, float]:
    """Dense rates from sparse ones, for sheets that print matrix rates with sparsity alone."""
    return {dtype: rate / 2 for dtype, rate in sparse.items()}


_A100_DENSE = _tera(
    float64=9.7, float64_matrix=19.5, float32=19.5, tf32=156.0, bfloat16=312.0, float16=312.0, int8=624.0
)
_A100_SPARSE = _tera(tf32=312.0, bfloat16=624.0, float16=624.0, int8=1248.0)
_A100_SHEET = "NVIDIA A100 Tensor Core GPU data sheet (2021)"
_HOPPER_SPARSE = _tera(tf32=989.0, bfloat16=1979.0, float16=1979.0, float8=3958.0, int8=3958.0)
_HOPPER_DENSE = _tera(float64=34.0, float64_matrix=67.0, float32=67.0) | _halved(_HOPPER_SPARSE)
_H100_PCIE_SPARSE = _tera(tf32=756.0, bfloat16=1513.0, float16=1513.0, float8=3026.0, int8=3026.0)
_H100_SHEET = "NVIDIA H100 Tensor Core GPU data sheet (2023)"
_HALF = "dense matrix rates are half of the sparse ones printed there"
# Blackwell's sheets are for eight GPUs (HGX and DGX B200) or for two (GB200 superchip): here is one of them.
_B200_SPARSE = _tera(tf32=2250.0, bfloat16=4500.0, float16=4500.0, float8=9000.0, float4=18_000.0, int8=9000.0)
_GB200_SPARSE = _tera(tf32=2500.0, bfloat16=5000.0, float16=5000.0, float8=10_000.0, float4=20_000.0, int8=10_000.0)
_MI300X_SPARSE = _tera(tf32=1307.4, bfloat16=2614.9, float16=2614.9, float8=5229.8, int8=5229.8)
_MI300X_DENSE = _tera(
    float64=81.7,
    float64_matrix=163.4,
    float32=163.4,
    tf32=653.7,
    bfloat16=1307.4,
    float16=1307.4,
    float8=2614.9,
    int8=2614.9,
)

_ALL = (
    Hardware(
        "A100 80GB PCIe",
        _A100_DENSE,
        1935e9,
        80e9,
        _A100_SHEET,
        _A100_SPARSE,
        {"NVLink bridge": 600e9, "PCIe": 64e9},
    ),
    Hardware(
        "A100 80GB SXM",
        _A100_DENSE,
        2039e9,
        80e9,
        _A100_SHEET,
        _A100_SPARSE,
        {"NVLink": 600e9, "PCIe": 64e9},
    ),
    Hardware(
        "H100 PCIe",
        _tera(float64=26.0, float64_matrix=51.0, float32=51.0) | _halved(_H100_PCIE_SPARSE),
        2000e9,
        80e9,
        f"{_H100_SHEET}; {_HALF}",
        _H100_PCIE_SPARSE,
        {"NVLink bridge": 600e9, "PCIe": 128e9},
    ),
    Hardware(
        "H100 SXM",
        _HOPPER_DENSE,
        3350e9,
        80e9,
        f"{_H100_SHEET}; {_HALF}",
        _HOPPER_SPARSE,
        {"NVLink": 900e9, "PCIe": 128e9},
    ),
    Hardware(
        "MI300X",
        _MI300X_DENSE,
        5300e9,
        192e9,
        "AMD Instinct MI300X data sheet (2023); the Infinity Fabric's rate is that of seven links together",
        _MI300X_SPARSE,
        {"Infinity Fabric": 896e9, "PCIe": 128e9},
    ),
    Hardware(
        "TPU v5p",
        _tera(bfloat16=459.0, float8=459.0, int8=918.0),
        2765e9,
        95 * 2**30,
        "Google Cloud documentation, TPU v5p; int8 from JAX's table of TPUs (2025)",
        {},
        {"ICI": 1200e9},
    ),
    Hardware(
        "H200",
        _HOPPER_DENSE,
        4800e9,
        141e9,
        f"NVIDIA H200 Tensor Core GPU data sheet (2024), SXM; {_HALF}",
        _HOPPER_SPARSE,
        {"NVLink": 900e9, "PCIe": 128e9},
    ),
    Hardware(
        "B200",
        _tera(float64=37.0, float64_matrix=37.0, float32=75.0) | _halved(_B200_SPARSE),
        8000e9,
        180e9,
        "NVIDIA HGX B200 and DGX B200 specifications (2025), an eighth of each; float4 is printed dense and sparse, "
        "the other dense matrix rates are half of the sparse ones",
        _B200_SPARSE,
        {"NVLink": 1800e9},
    ),
    Hardware(
        "GB200 (one GPU)",
        _tera(float64=40.0, float64_matrix=40.0, float32=80.0) | _halved(_GB200_SPARSE),
        8000e9,
        186e9,
        "NVIDIA GB200 NVL72 specifications (2025), half of a superchip; float4 is printed dense and sparse, the other "
        "dense matrix rates are half of the sparse ones",
        _GB200_SPARSE,
        {"NVLink": 1800e9},
    ),
    Hardware(
        "TPU v6e",
        _tera(bfloat16=918.0, int8=1836.0),
        1638e9,
        32e9,
        "Google Cloud documentation, TPU v6e",
        {},
        {"ICI": 800e9},
    ),
)
_KNOWN: dict[str, Hardware] = {machine.name: machine for machine in _ALL}


def known_hardware() -> tuple[str, ...]:
    """The names that ``hardware`` knows, in the order of their years.

    Returns:
        Names, each once.
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


def measured_hardware(measurement: Mapping[str, Any]) -> Hardware:
    """The machine that a record of ``softlookup bench roofline`` was made on, with the medians that were measured.

    Args:
        measurement: What the bench returned, or the JSON file that it wrote.

    Returns:
        Its rates by kind of number, its bandwidth and its memory; no links, no sparse rates.

    Raises:
        KeyError: If the record lacks one of the fields rates, bandwidth, memory_bytes, machine.
    """
    return Hardware(
        str(measurement["machine"]),
        {dtype: float(rate["median"]) for dtype, rate in measurement["rates"].items()},
        float(measurement["bandwidth"]["median"]),
        float(measurement["memory_bytes"]),
        "measured by `softlookup bench roofline`",
    )
