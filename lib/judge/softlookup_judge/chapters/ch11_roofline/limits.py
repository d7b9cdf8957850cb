"""Tasks on data sheets, the roof and time: the ridge, what is attainable, the least time, and a link."""

from decimal import Decimal
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, sized
from softlookup_judge.chapters.draws import Rng


def _sheet_cases(rng: Rng) -> list[Case]:
    # Every prefix before every unit, with an asterisk and without one.
    fixed = (
        "312 TFLOPS; 1,979 TFLOPS*; 19.5 TFLOPS; 1,248 TOPS*; 1,935 GB/s; 3.35 TB/s; 80 GB; 40 GiB; 512 MiB; 600 MB/s; "
        "2 TiB; 78 GFLOPS; 1.5 TB; 64 MiB/s; 1,024,000 MB; 640 GOPS; 2,600 MFLOPS*; 33.5 GOPS*; 1.2 TiB/s; 900 GiB/s"
    )
    texts = (
        *fixed.split("; "),
        f"{int(rng.integers(2, 9))},{int(rng.integers(100, 999))} TFLOPS*",
        f"{int(rng.integers(100, 999))} GB/s",
    )
    return [Case(repr(text), (text,)) for text in texts]


@graded("11.sheet", _sheet_cases, frame="plain")
def _sheet(text: str) -> float:
    """In decimals, by the prefix."""
    digits, _, unit = text.partition(" ")
    base, prefixes = (1024, ("Mi", "Gi", "Ti")) if "i" in unit else (1000, ("M", "G", "T"))
    power = next(base**n for n, prefix in enumerate(prefixes, 2) if unit.startswith(prefix))
    return float(Decimal(digits.replace(",", "")) * power / (1 + unit.count("*")))


def _sheet_of(dense: dict[str, float], sparse: dict[str, float], memory: float, link: float) -> dict[str, Any]:
    return {"dense": dense, "sparse": sparse, "memory": memory, "NVLink": link}


def _ridge_cases(rng: Rng) -> list[Case]:
    dense = {"float32": 19.5e12, "tf32": 156e12, "bfloat16": 312e12}
    sparse = {"tf32": 312e12, "bfloat16": 624e12}
    other = {"float32": 67e12, "tf32": 494.5e12, "bfloat16": 989.5e12, "float8": 1979e12}
    other_sparse = {"tf32": 989e12, "bfloat16": 1979e12, "float8": 3958e12}
    bandwidth = float(rng.integers(200, 700)) * 1e9
    random_sheet = _sheet_of(
        {"float32": 3 * bandwidth, "bfloat16": 70 * bandwidth}, {"bfloat16": 140 * bandwidth}, bandwidth, bandwidth / 7
    )
    thin = _sheet_of({"bfloat16": 50 * bandwidth}, {"bfloat16": 80 * bandwidth}, bandwidth, bandwidth / 3)
    rows = (
        ("A100 80GB PCIe, bfloat16", (_sheet_of(dense, sparse, 1935e9, 600e9), "bfloat16")),
        ("A100 80GB SXM, bfloat16", (_sheet_of(dense, sparse, 2039e9, 600e9), "bfloat16")),
        ("A100 80GB SXM, float32", (_sheet_of(dense, sparse, 2039e9, 600e9), "float32")),
        ("H100 SXM, float8", (_sheet_of(other, other_sparse, 3350e9, 900e9), "float8")),
        ("a made-up one, float32", (random_sheet, "float32")),
        ("one whose sparse products are not twice as fast", (thin, "bfloat16")),
    )
    return [Case(label, args) for label, args in rows]


@graded("11.ridge", _ridge_cases, frame="plain")
def _ridge(sheet: dict[str, Any], dtype: str) -> float:
    """How many operations could have been done while one byte arrives: time for a byte times the rate."""
    return (1.0 / sheet["memory"]) * sheet["dense"][dtype]


def _attainable_cases(rng: Rng, **_: Any) -> list[Case]:
    return sized(
        "peak, bandwidth, intensity",
        (312.0, 2039.0, 100.0),
        (312.0, 1935.0, 400.0),
        (19.5, 2039.0, 1 / 12),
        (989.5, 3350.0, 295.0),
        (0.08, 20.0, 0.5),
        (0.08, 20.0, 50.0),
        (0.08, 20.0, 1 / 512),
        (float(rng.integers(20, 400)), float(rng.integers(300, 3000)), float(rng.integers(1, 9)) / 4),
    )


@graded(
    "11.attainable",
    _attainable_cases,
    frame="plain",
    variants=(
        {"unit": 1e12, "wording": "TFLOP/s"},
        {"unit": 1e9, "wording": "GFLOP/s"},
        {"unit": 1e6, "wording": "MFLOP/s"},
        {"unit": 1e3, "wording": "kFLOP/s"},
        {"unit": 1.0, "wording": "FLOP/s"},
        {"unit": 1e15, "wording": "PFLOP/s"},
        {"unit": 1e18, "wording": "EFLOP/s"},
    ),
)
def _attainable(peak_tflops: float, bandwidth_gb_per_s: float, intensity: float, unit: float = 1e12, **_: Any) -> float:
    """By the clock: the time that a million operations take, the slower of the two ways."""
    flops = 1e6
    seconds = np.maximum(flops / (peak_tflops * 1e12), flops / intensity / (bandwidth_gb_per_s * 1e9))
    return float(flops / seconds / unit)


Operations = list[list[float]]


def _time_cases(rng: Rng, **_: Any) -> list[Case]:
    peak, road = 64e9, 16e9
    random_operations = [[float(a) * 1e9, float(b) * 1e9] for a, b in rng.integers(1, 60, (4, 2))]
    rows = (
        ("one that operations limit", ([[128e9, 2e9]], peak, road)),
        ("one that bytes limit", ([[1e9, 8e9]], peak, road)),
        ("one of each", ([[128e9, 2e9], [1e9, 48e9]], peak, road)),
        ("a step on an A100", ([[137e9, 0.12e9], [0.6e9, 1.2e9], [137e9, 0.12e9]], 312e12, 2039e9)),
        ("four that were drawn", (random_operations, peak, road)),
    )
    return [Case(label, args) for label, args in rows]


UNITS = (
    (1.0, "seconds"),
    (1e-3, "milliseconds"),
    (1e-6, "microseconds"),
    (1e-9, "nanoseconds"),
    (60.0, "minutes"),
    (3600.0, "hours"),
    (86400.0, "days"),
    (604800.0, "weeks"),
    (1e-12, "picoseconds"),
)


@graded(
    "11.time", _time_cases, frame="plain", variants=tuple({"unit": unit, "wording": wording} for unit, wording in UNITS)
)
def _time(operations: Operations, peak: float, bandwidth: float, unit: float = 1.0, **_: Any) -> float:
    """All at once, by numpy."""
    table = np.array(operations) / np.array([peak, bandwidth])
    return float(table.max(axis=1).sum() / unit)


def _near_cases(rng: Rng) -> list[Case]:
    rows = (
        ("an addition", (2.0**30, 12 * 2.0**30, 1.0, 2.0**36, 2.0**34)),
        ("a product", (2.0**40, 2.0**32, 32.0, 2.0**36, 2.0**34)),
        ("exactly at the ridge", (2.0**36, 2.0**34, 2.0, 2.0**36, 2.0**34)),
        ("between bytes and operations", (3e12, 0.9e12, 80.0, 80e9, 20e9)),
        ("a slow product", (8e12, 0.2e12, 500.0, 80e9, 20e9)),
        ("quicker than memory, out of a cache", (3e9, 12e9, 0.4, 80e9, 20e9)),
        ("drawn", (float(rng.integers(2, 9)) * 1e12, 2e12, 300.0, 80e9, 20e9)),
    )
    return [Case(label, args) for label, args in rows]


@graded("11.near", _near_cases, frame="plain")
def _near(flops: float, n_bytes: float, seconds: float, peak: float, bandwidth: float) -> tuple[np.ndarray, np.ndarray]:
    """By times: the least one over the measured one."""
    least = np.array([flops / peak, n_bytes / bandwidth])
    return least.max() / seconds, np.array(least[0] >= least[1])


def _link_cases(rng: Rng) -> list[Case]:
    rates = (312e12, 2039e9, 600e9)
    rows = (
        ("the link is the limit", (10e9, 0.1e9, 3e9, *rates)),
        ("the link is quicker than memory", (10e9, 20e9, 0.5e9, *rates)),
        ("operations are the limit", (9e12, 20e9, 6e9, *rates)),
        ("the link alone, one way", (1e9, 1e9, 2e9, 312e12, 1935e9, 64e9)),
        ("the link only just", (1e12, 10e9, 1.6e9, *rates)),
        ("nothing over the link, a small machine: operations", (8e9, 1e9, 0.0, 2e12, 500e9, 64e9)),
        ("the same machine: memory", (8e9, 4e9, 0.1e9, 2e12, 500e9, 64e9)),
        ("drawn", (1e9, float(rng.integers(1, 9)) * 1e9, float(rng.integers(4, 9)) * 1e9, *rates)),
    )
    return [Case(label, args) for label, args in rows]


@graded("11.link", _link_cases, frame="plain")
def _link(
    flops: float, n_bytes: float, link_bytes: float, peak: float, bandwidth: float, link: float
) -> tuple[np.ndarray, np.ndarray]:
    """By numpy: rates in a row, the link's one direction."""
    times = np.array([flops, n_bytes, link_bytes]) / np.array([peak, bandwidth, 0.5 * link])
    return times.max(), times.argmax()
