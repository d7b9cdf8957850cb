"""Tasks on data sheets and the roof: reading a number, the ridge, what is attainable."""

from decimal import Decimal
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _sheet_cases(rng: Rng) -> list[Case]:
    texts = (
        "312 TFLOPS",
        "1,979 TFLOPS*",
        "19.5 TFLOPS",
        "1,248 TOPS*",
        "1,935 GB/s",
        "3.35 TB/s",
        "80 GB",
        "40 GiB",
        "512 MiB",
        "600 MB/s",
        "2 TiB",
        "78 GFLOPS",
        "1.5 TB",
        "64 MiB/s",
        "1,024,000 MB",
        # Every prefix before every unit, with an asterisk and without one.
        "640 GOPS",
        "2,600 MFLOPS*",
        "33.5 GOPS*",
        "1.2 TiB/s",
        "900 GiB/s",
        f"{int(rng.integers(2, 9))},{int(rng.integers(100, 999))} TFLOPS*",
        f"{int(rng.integers(100, 999))} GB/s",
    )
    return [Case(repr(text), (text,), frame="plain") for text in texts]


def _sheet(text: str) -> float:
    """In decimals, by the prefix."""
    digits, _, unit = text.partition(" ")
    base, prefixes = (1024, ("Mi", "Gi", "Ti")) if "i" in unit else (1000, ("M", "G", "T"))
    power = next(base**n for n, prefix in enumerate(prefixes, 2) if unit.startswith(prefix))
    return float(Decimal(digits.replace(",", "")) * power / (1 + unit.count("*")))


SHEET = described("11.sheet", cases=_sheet_cases, oracle=_sheet, frame="plain")


def _sheet_of(dense: dict[str, float], sparse: dict[str, float], memory: float, link: float) -> dict[str, Any]:
    return {"dense": dense, "sparse": sparse, "memory": memory, "NVLink": link}


def _ridge_cases(rng: Rng) -> list[Case]:
    dense = {"float32": 19.5e12, "tf32": 156e12, "bfloat16": 312e12}
    sparse = {"tf32": 312e12, "bfloat16": 624e12}
    other = {"float32": 67e12, "tf32": 494.5e12, "bfloat16": 989.5e12, "float8": 1979e12}
    other_sparse = {"tf32": 989e12, "bfloat16": 1979e12, "float8": 3958e12}
    bandwidth = float(rng.integers(200, 700)) * 1e9
    made = _sheet_of(
        {"float32": 3 * bandwidth, "bfloat16": 70 * bandwidth}, {"bfloat16": 140 * bandwidth}, bandwidth, bandwidth / 7
    )
    thin = _sheet_of({"bfloat16": 50 * bandwidth}, {"bfloat16": 80 * bandwidth}, bandwidth, bandwidth / 3)
    rows = (
        ("A100 80GB PCIe, bfloat16", (_sheet_of(dense, sparse, 1935e9, 600e9), "bfloat16")),
        ("A100 80GB SXM, bfloat16", (_sheet_of(dense, sparse, 2039e9, 600e9), "bfloat16")),
        ("A100 80GB SXM, float32", (_sheet_of(dense, sparse, 2039e9, 600e9), "float32")),
        ("H100 SXM, float8", (_sheet_of(other, other_sparse, 3350e9, 900e9), "float8")),
        ("a made-up one, float32", (made, "float32")),
        ("one whose sparse products are not twice as fast", (thin, "bfloat16")),
    )
    return [Case(label, args, frame="plain") for label, args in rows]


def _ridge(sheet: dict[str, Any], dtype: str) -> float:
    """How many operations could have been done while one byte arrives: time for a byte times the rate."""
    return (1.0 / sheet["memory"]) * sheet["dense"][dtype]


RIDGE = described("11.ridge", cases=_ridge_cases, oracle=_ridge, frame="plain")


def _attainable_cases(rng: Rng, **_: Any) -> list[Case]:
    rows = (
        (312.0, 2039.0, 100.0),
        (312.0, 1935.0, 400.0),
        (19.5, 2039.0, 1 / 12),
        (989.5, 3350.0, 295.0),
        (0.08, 20.0, 0.5),
        (0.08, 20.0, 50.0),
        (0.08, 20.0, 1 / 512),
        (float(rng.integers(20, 400)), float(rng.integers(300, 3000)), float(rng.integers(1, 9)) / 4),
    )
    return [Case(f"(peak, bandwidth, intensity) = {row}", row, frame="plain") for row in rows]


def _attainable(peak_tflops: float, bandwidth_gb_per_s: float, intensity: float, unit: float = 1e12, **_: Any) -> float:
    """By the clock: the time that a million operations take, the slower of the two ways."""
    work = 1e6
    seconds = np.maximum(work / (peak_tflops * 1e12), work / intensity / (bandwidth_gb_per_s * 1e9))
    return float(work / seconds / unit)


ATTAINABLE = described(
    "11.attainable",
    cases=_attainable_cases,
    oracle=_attainable,
    frame="plain",
    variants=(
        {"unit": 1e12, "named": "TFLOP/s"},
        {"unit": 1e9, "named": "GFLOP/s"},
        {"unit": 1e6, "named": "MFLOP/s"},
        {"unit": 1e3, "named": "kFLOP/s"},
        {"unit": 1.0, "named": "FLOP/s"},
        {"unit": 1e15, "named": "PFLOP/s"},
        {"unit": 1e18, "named": "EFLOP/s"},
    ),
)
