"""Tasks on units: two rates and their quotient, operations for each byte or number, and mixed conventions."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng

A100 = ([312.0, 624.0, 156.0, 19.5], [800.0, 1935.0, 2039.0])
"""TFLOP/s by kind of number, and GB/s: the slide's bandwidth and those of its own table."""


def _balance_cases(rng: Rng, unit: float, wording: str) -> list[Case]:
    scale = 1e9 / unit
    peaks, bandwidths = A100
    random_sheet = (
        [float(peak) for peak in rng.integers(40, 900, 3)],
        [float(bandwidth) for bandwidth in rng.integers(500, 4000, 4)],
    )
    i, j = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    whole = [900.0, 300.0], [4500.0, 1500.0]
    sheets = (
        ("the slide's division", peaks, bandwidths, 390),
        ("the sheet's own bandwidth", peaks, bandwidths, 153),
        ("the other form of the card", peaks, bandwidths, 161),
        ("a quotient that is rounded up", peaks, bandwidths, 81),
        ("the same, cut off", peaks, bandwidths, 80),
        ("a bandwidth in powers of two", peaks, bandwidths, 363),
        ("two that give the same", *whole, 200),
        ("two that give the same, another way round", whole[0][::-1], whole[1], 200),
        ("no quotient of these", peaks, bandwidths, 1000),
        ("the inverse", [2.0, 40.0], [50.0, 500_000.0], 250),
        ("another prefix", [0.5, 2.0], [1000.0, 4000.0], 125),
        ("without the prefixes", [3000.0, 9.0], [100.0, 3.0], 1000),
        ("a sheet drawn at random", *random_sheet, round(1000 * random_sheet[0][i] / random_sheet[1][j])),
    )
    return [
        Case(label, (list(top), [bandwidth * scale for bandwidth in below], printed))
        for label, top, below, printed in sheets
    ]


@graded(
    "14.balance",
    _balance_cases,
    frame="plain",
    variants=({"unit": 1e9, "wording": "GB/s"}, {"unit": 1e6, "wording": "MB/s"}, {"unit": 1e12, "wording": "TB/s"}),
)
def _balance(peaks: list[float], bandwidths: list[float], printed: int, unit: float, wording: str) -> tuple[int, int]:
    """Bytes that go by while that many operations are done."""
    for i, peak in enumerate(peaks):
        for j, bandwidth in enumerate(bandwidths):
            seconds = 1 / (bandwidth * unit)
            if abs(peak * 1e12 * seconds - printed) <= 0.5:
                return i, j
    return -1, -1


def _intensity_cases(rng: Rng, moves: int, wording: str) -> list[Case]:
    cases = []
    for flops, loads, stores, size in ((1, 2, 1, 4), (3, 6, 3, 4), (3, 4, 1, 4), (7, 5, 2, 2), (2, 3, 1, 8)):
        numbers = loads + moves * stores
        cases.append((flops, loads, stores, size, round(flops / (numbers * size), 4), 4))
        cases.append((flops, loads, stores, size, round(flops / numbers, 4), 4))
    flops, loads, stores = (int(rng.integers(1, 9)) for _ in range(3))
    cases += [
        (flops, loads, stores, 1, round(flops / (loads + moves * stores), 4), 4),
        (2, 3, 2, 2, round(2 / (3 + moves * 2) / 2, 4) + 0.0003, 4),
        (3, 4, 1, 2, round(3 / (4 + moves), 4) + 0.0003, 4),
        (5, 4, 3, 4, 3.21, 2),
        (11, 3, 2, 2, round(11 / (3 + moves * 2), 2), 2),
        (1, 0, 1, 4, round(1 / moves, 2), 2),
        (5, 3, 4, 4, round(5 / (3 + moves * 4) / 4, 2), 2),
        (5, 3, 4, 2, round(5 / (3 + moves * 4), 1), 1),
        (2, 7, 0, 1, round(2 / 7, 3), 3),
        (2, 7, 0, 4, round(2 / 7, 3) + 0.004, 3),
    ]
    return [Case(f"flops, loads, stores, bytes, printed, places = {args}", args) for args in cases]


@graded(
    "14.intensity",
    _intensity_cases,
    frame="plain",
    variants=(
        {"moves": 1, "wording": "A store moves its number once"},
        {"moves": 2, "wording": "A store moves its number twice (the memory's line is read before it is written)"},
    ),
)
def _intensity(
    flops: int, loads: int, stores: int, bytes_per_number: int, printed: float, places: int, moves: int, wording: str
) -> tuple[int, float]:
    """From the bytes of each access, one after the other."""
    moved = sum([bytes_per_number] * loads + [moves * bytes_per_number] * stores)
    per_byte = flops / moved
    for answer, true in enumerate((per_byte, per_byte * bytes_per_number)):
        if abs(printed - true) <= 0.5 * 10.0**-places * (1 + 1e-9):
            return answer, per_byte
    return 2, per_byte


def _conventions_cases(rng: Rng) -> list[Case]:
    d = 64
    layer = [[3, 50, d, d], [1, 50, d, d], [8, 50, d, d]]
    unit = 50 * d * d

    def random_counts(kinds: list[int]) -> tuple[list[list[int]], list[int]]:
        products = [[int(n) for n in rng.integers(2, 30, 4)] for _ in kinds]
        adds = [int(np.prod(product)) for product in products]
        return products, [flops_each * n if flops_each else 3 * n for flops_each, n in zip(kinds, adds, strict=True)]

    tables = (
        ("the slide's column", layer, [unit, unit, 16 * unit]),
        ("all operations", layer, [6 * unit, 2 * unit, 16 * unit]),
        ("all multiply-adds", layer, [3 * unit, unit, 8 * unit]),
        ("products counted once", [[2, 5, 7, 3], [4, 5, 7, 3]], [210, 105]),
        ("nothing that fits", [[1, 5, 7, 3]], [104]),
        ("drawn, mixed", *random_counts([2, 1, 2, 0])),
        ("drawn, mixed, the first and the last of one kind", *random_counts([2, 1, 2])),
        ("drawn, operations and something else", *random_counts([2, 2, 0])),
        ("drawn, operations", *random_counts([2, 2, 2, 2, 2])),
        ("drawn, none fits", *random_counts([0, 0])),
    )
    return [Case(label, (products, counts)) for label, products, counts in tables]


@graded("14.conventions", _conventions_cases, frame="plain")
def _conventions(products: list[list[int]], printed: list[int]) -> tuple[list[int], bool]:
    """From the quotient."""
    quotients = [count / float(np.prod(product)) for product, count in zip(products, printed, strict=True)]
    kinds = [int(quotient) if quotient in (1.0, 2.0) else 0 for quotient in quotients]
    return kinds, any(convention != kinds[0] for convention in kinds)
