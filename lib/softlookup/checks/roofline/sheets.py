"""Tasks on data sheets and the roof: reading a number, the ridge, what is attainable."""

from decimal import Decimal
from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.roofline.page import PAGE
from softlookup.checks.task import Case, Task


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
        f"{int(rng.integers(2, 9))},{int(rng.integers(100, 999))} TFLOPS*",
        f"{int(rng.integers(100, 999))} GB/s",
    )
    return [Case(repr(text), (text,), frame="plain") for text in texts]


def _sheet(text: str) -> float:
    """In decimals, unit by unit."""
    for unit, power in (("TFLOPS", 12), ("GFLOPS", 9), ("TOPS", 12), ("TB", 12), ("GB", 9), ("MB", 6)):
        if f" {unit}" in text:
            number = Decimal(text.partition(" ")[0].replace(",", "")).scaleb(power)
            return float(number / 2 if "*" in text else number)
    digits, unit = text.removesuffix("/s").split(" ")
    return float(Decimal(digits) * 1024 ** {"MiB": 2, "GiB": 3, "TiB": 4}[unit])


DECIMAL = '{"M": 1e6, "G": 1e9, "T": 1e12}'
STAR = "return value * powers[unit[0]] / (2 if starred else 1)"

SHEET = Task(
    id="11.sheet",
    name="read_sheet",
    title="Read a data sheet",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="roofline-sheet",
    returns=("value",),
    cases=_sheet_cases,
    oracle=_sheet,
    frame="plain",
    mistakes=(
        known(
            "sparse-peak",
            (STAR, "return value * powers[unit[0]]"),
            says="A number with a star is taken as it stands: it holds for 2:4 sparsity, and dense products reach half "
            "of it.",
            number=81,
        ),
        known(
            "star-doubled",
            (STAR, STAR.replace("/ (2", "* (2")),
            says="A number with a star is doubled: the star says that twice the dense rate is printed already.",
            number=81,
        ),
        known(
            "binary-everywhere",
            (DECIMAL, '{"M": 2**20, "G": 2**30, "T": 2**40}'),
            says="Every prefix is read as a power of two, that of TFLOPS, too: without an i it is a power of ten.",
        ),
        known(
            "binary-bytes",
            ('if unit[1] == "i"', 'if "B" in unit'),
            says="GB is read as 2**30 bytes: that is GiB. The prefixes of data sheets are powers of ten, for bytes as "
            "for operations.",
        ),
        known(
            "binary-overlooked",
            ('{"M": 2**20, "G": 2**30, "T": 2**40}', DECIMAL),
            says="GiB is read as 10**9 bytes: with an i the prefix is a power of two, 2**30.",
        ),
        known(
            "comma-as-point",
            ('replace(",", "")', 'replace(",", ".")'),
            says="The comma is read as a decimal point: here it parts thousands.",
        ),
        known(
            "binary-sizes",
            ('if unit[1] == "i"', 'if unit[1] == "i" or unit.endswith("B")'),
            says="Sizes of memories in GB are read as 2**30 bytes, rates as powers of ten: without an i both are "
            "powers of ten.",
        ),
        known(
            "prefix-kept",
            (STAR, STAR.replace(" * powers[unit[0]]", "")),
            says="The number still has its prefix: 312 TFLOPS are 312 times 10**12 operations a second.",
        ),
        known(
            "tera-as-giga",
            ("    starred =", '    powers = powers | {"T": powers["G"]}\n    starred ='),
            says="Tera is read as giga: T is 10**12.",
        ),
    ),
)


def _sheet_of(dense: dict[str, float], sparse: dict[str, float], memory: float, link: float) -> dict[str, Any]:
    return {"dense": dense, "sparse": sparse, "memory": memory, "NVLink": link}


def _ridge_cases(rng: Rng) -> list[Case]:
    dense = {"float32": 19.5e12, "tf32": 156e12, "bfloat16": 312e12}
    sparse = {"tf32": 312e12, "bfloat16": 624e12}
    other = {"float32": 67e12, "tf32": 494.5e12, "bfloat16": 989.5e12, "float8": 1979e12}
    other_sparse = {"tf32": 989e12, "bfloat16": 1979e12, "float8": 3958e12}
    own = float(rng.integers(200, 700)) * 1e9
    made = _sheet_of({"float32": 3 * own, "bfloat16": 70 * own}, {"bfloat16": 140 * own}, own, own / 7)
    rows = (
        ("A100 80GB PCIe, bfloat16", (_sheet_of(dense, sparse, 1935e9, 600e9), "bfloat16")),
        ("A100 80GB SXM, bfloat16", (_sheet_of(dense, sparse, 2039e9, 600e9), "bfloat16")),
        ("A100 80GB SXM, float32", (_sheet_of(dense, sparse, 2039e9, 600e9), "float32")),
        ("H100 SXM, float8", (_sheet_of(other, other_sparse, 3350e9, 900e9), "float8")),
        ("a made-up one, float32", (made, "float32")),
    )
    return [Case(label, args, frame="plain") for label, args in rows]


def _ridge(sheet: dict[str, Any], dtype: str) -> float:
    """How many operations could have been done while one byte arrives: time for a byte times the rate."""
    return (1.0 / sheet["memory"]) * sheet["dense"][dtype]


NUMBER_BYTES = {"float32": 4, "tf32": 4, "bfloat16": 2, "float8": 1}
RIDGE_LINE = 'return sheet["dense"][dtype] / sheet["memory"]'

RIDGE = Task(
    id="11.ridge",
    name="ridge",
    title="Where the roof bends",
    points=2,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="roofline-sheet",
    returns=("ridge",),
    cases=_ridge_cases,
    oracle=_ridge,
    frame="plain",
    mistakes=(
        known(
            "sparse-peak",
            (RIDGE_LINE, 'return sheet["sparse"].get(dtype, sheet["dense"][dtype]) / sheet["memory"]'),
            says="The peak with 2:4 sparsity is taken: dense products reach half of it, so the ridge comes out twice "
            "too far to the right.",
            number=81,
        ),
        known(
            "eight-hundred",
            (RIDGE_LINE, RIDGE_LINE.replace('sheet["memory"]', "800e9")),
            says="The bandwidth is 800 GB/s, as on a slide: no data sheet of an A100 says so. It stands under "
            "`memory`.",
            number=81,
        ),
        known(
            "link-for-memory",
            (RIDGE_LINE, RIDGE_LINE.replace('"memory"', '"NVLink"')),
            says="The link to another processor is taken for the memory: that is another roof.",
        ),
        known(
            "always-bfloat16",
            (RIDGE_LINE, RIDGE_LINE.replace("[dtype]", '["bfloat16"]')),
            says="The peak of bfloat16 is taken for every kind of number: each has a rate of its own.",
        ),
        known(
            "largest-peak",
            (RIDGE_LINE, 'return max(sheet["dense"].values()) / sheet["memory"]'),
            says="The largest peak of the sheet is taken: each kind of number has a rate of its own.",
        ),
        known(
            "numbers-for-bytes",
            (RIDGE_LINE, f"return {NUMBER_BYTES}[dtype] * " + RIDGE_LINE.removeprefix("return ")),
            says="These are operations for each number that is moved: the ridge is operations for each byte.",
            number=80,
        ),
        known(
            "upside-down",
            (RIDGE_LINE, 'return sheet["memory"] / sheet["dense"][dtype]'),
            says="These are bytes for each operation: the ridge is operations for each byte, peak over bandwidth.",
        ),
        known(
            "giga-dropped",
            (RIDGE_LINE, 'return sheet["dense"][dtype] / (sheet["memory"] / 1e9)'),
            says="The peak is in FLOP/s and the bandwidth in GB/s: both have to be without a prefix, or with the same "
            "one.",
        ),
        known(
            "prefixes-mixed",
            (RIDGE_LINE, 'return (sheet["dense"][dtype] / 1e12) / (sheet["memory"] / 1e9)'),
            says="The peak is in TFLOP/s and the bandwidth in GB/s: both have to be without a prefix, or with the same "
            "one.",
        ),
    ),
)


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


def _attainable(peak: float, bandwidth: float, intensity: float, unit: float = 1e12, **_: Any) -> float:
    """By the clock: the time that a million operations take, the slower of the two ways."""
    work = 1e6
    seconds = np.maximum(work / (peak * 1e12), work / intensity / (bandwidth * 1e9))
    return float(work / seconds / unit)


ROOF = "return min(peak_tflops * 1e12, bandwidth_gb_per_s * 1e9 * intensity) / unit"

ATTAINABLE = Task(
    id="11.attainable",
    name="attainable",
    title="Under the roof",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="roofline-roof",
    returns=("rate",),
    cases=_attainable_cases,
    oracle=_attainable,
    frame="plain",
    variants=({"unit": 1e12, "named": "TFLOP/s"}, {"unit": 1e9, "named": "GFLOP/s"}),
    mistakes=(
        known(
            "prefixes-mixed",
            (ROOF, "return min(peak_tflops * 1e12, bandwidth_gb_per_s * 1e12 * intensity) / unit"),
            says="GB/s times FLOP/B are GFLOP/s, not TFLOP/s: the sloped part of the roof is 1000 times too high, so "
            "that nearly everything seems compute-bound.",
        ),
        known(
            "other-unit",
            (ROOF, ROOF.replace(" / unit", "")),
            says="The rate is given in FLOP/s, without a prefix: another unit is asked for.",
        ),
        known(
            "larger-one",
            (ROOF, ROOF.replace("min(", "max(")),
            says="The larger of the two limits is taken: both hold, so the smaller one decides.",
        ),
        known(
            "one-over-sum",
            (
                ROOF,
                "return 1 / (1 / (peak_tflops * 1e12) + 1 / (bandwidth_gb_per_s * 1e9 * intensity)) / unit",
            ),
            says="The two times are added, as if nothing were computed while bytes arrive: the roof lets both go on at "
            "once.",
        ),
        known(
            "peak-always",
            (ROOF, "return peak_tflops * 1e12 / unit"),
            says="The peak is always reached: with a low intensity the bytes do not come fast enough.",
        ),
        known(
            "slope-always",
            (ROOF, "return bandwidth_gb_per_s * 1e9 * intensity / unit"),
            says="The slope has no end: above the ridge the peak is the limit.",
        ),
        known(
            "divided",
            (ROOF, ROOF.replace("* intensity", "/ intensity")),
            says="The bandwidth is divided by the intensity: bytes a second times operations for each byte are "
            "operations a second.",
        ),
        known(
            "giga-dropped",
            (ROOF, ROOF.replace(" * 1e9", "")),
            says="The peak is taken in FLOP/s and the bandwidth in GB/s: the slope is 10**9 times too low, so that "
            "everything seems memory-bound.",
        ),
        known(
            "step-of-1024",
            (ROOF, ROOF.replace(" * 1e9", " * 1e12 / 1024")),
            says="From giga to tera a step of 1024 is taken: data sheets' prefixes are powers of ten, so it is 1000.",
        ),
        known(
            "binary-giga",
            (ROOF, ROOF.replace("* 1e9", "* 2**30")),
            says="GB/s are read as 2**30 bytes a second: that is GiB. Data sheets mean 10**9.",
        ),
    ),
)
