"""Tasks that count operations and bytes: of a loop, a product, fused steps, and of enough rows for the ridge."""

from fractions import Fraction
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, sized
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.oracles import least_enough, torch


def _intensity_cases(rng: Rng) -> list[Case]:
    return sized(
        "reads, writes, operations, bits",
        (2, 1, 1, 32),
        (4, 1, 3, 32),
        (4, 1, 3, 16),
        (1, 1, 5, 64),
        (3, 2, 8, 8),
        (1, 3, 2, 32),
        (0, 2, 3, 6),
        (3, 0, 5, 1),
        (2, 1, 3, 4),
        (int(rng.integers(3, 9)), int(rng.integers(1, 3)), int(rng.integers(10, 40)), 16),
    )


@graded("11.intensity", _intensity_cases, frame="plain")
def _intensity(reads: int, writes: int, operations: int, bits: int) -> float:
    """In exact fractions."""
    return float(Fraction(operations) / (Fraction(bits, 8) * (reads + writes)))


def _product_cases(rng: Rng) -> list[Case]:
    return sized(
        "T, D, F, bytes",
        (3, 5, 7, 4),
        (1, 4096, 4096, 2),
        (512, 512, 512, 2),
        (64, 100, 30, 8),
        (int(rng.integers(11, 40)), int(rng.integers(41, 90)), int(rng.integers(100, 300)), 1),
    )


@graded("11.product", _product_cases, frame="plain")
def _product(t: int, d: int, f: int, bytes_per_number: int) -> tuple[np.ndarray, np.ndarray]:
    """By the sizes of torch's own tensors, on the device that holds no numbers; a test asks torch's counter, too."""
    dtype = {1: torch.int8, 2: torch.bfloat16, 4: torch.float32, 8: torch.float64}[bytes_per_number]
    a, b = (torch.empty(shape, dtype=dtype, device="meta") for shape in ((t, d), (d, f)))
    result = a @ b
    for_each_result = 2 * a.shape[1]
    moved = sum(x.numel() * x.element_size() for x in (a, b, result))
    return np.array(for_each_result * result.numel()), np.array(moved)


def _row_cases(rng: Rng) -> list[Case]:
    width = int(rng.integers(40, 90)) * 64
    return sized(
        "D, F, bytes, ridge",
        (8, 8, 4, 1.0),
        (4096, 4096, 2, 161.25),
        (4096, 16384, 2, 153.0),
        (512, 2048, 2, 153.0),
        (256, 128, 4, 9.5),
        (64, 64, 2, 161.25),
        (width, 3 * width, 1, 300.5),
        (1024, 1024, 2, 509.5),
        (512, 2048, 2, 0.5),
        (2, 2, 1, 1.89),
        (2, 2, 1, 2.0),
        (2, 2, 1, 2.125),
    )


@graded("11.rows", _row_cases, frame="plain")
def _rows(d: int, f: int, bytes_per_number: int, ridge: float) -> int:
    """By trying, in exact fractions."""
    edge = Fraction(ridge)

    def enough(t: int) -> bool:
        return Fraction(2 * t * d * f, (t * d + d * f + t * f) * bytes_per_number) >= edge

    return least_enough(enough)


Steps = list[list[Any]]


def _fuse_cases(rng: Rng) -> list[Case]:
    chain = [["x", ["a", "b"]], ["y", ["x", "c"]], ["e", ["y", "d"]]]
    square = [["s", ["a", "a"]], ["t", ["s", "b"]]]
    again = [["u", ["a", "b"]], ["v", ["u", "a"]], ["w", ["v", "u"]]]
    norm = [["c", ["x", "m"]], ["q", ["c", "c"]], ["n", ["c", "r"]], ["y", ["n", "g"]]]
    n = int(rng.integers(50, 900))
    long_names = [["tmp1", ["A", "B"]], ["tmp2", ["tmp1", "C"]], ["AB", ["tmp2", "AC"]]]
    unused = [["u", ["a", "d"]], ["v", ["a", "b"]], ["w", ["v", "c"]]]
    rows: tuple[tuple[str, tuple[Any, ...]], ...] = (
        ("the three steps of the chapter", (chain, ["e"], 10, 4)),
        ("arrays with longer names", (long_names, ["AB"], 20, 8)),
        ("a result that nobody wants", (unused, ["w"], 30, 2)),
        ("a number used twice in one step", (square, ["t"], 100, 2)),
        ("an operand used in two steps, two results kept", (again, ["u", "w"], n, 4)),
        ("another two to be kept", (norm, ["q", "y"], n, 2)),
        ("nothing to be kept", (again, [], 40, 1)),
        ("one step", ([["z", ["a", "b", "c"]]], ["z"], 7, 8)),
    )
    return [Case(label, args) for label, args in rows]


@graded("11.fuse", _fuse_cases, frame="plain")
def _fused(steps: Steps, keep: list[str], n: int, bytes_per_number: int) -> tuple[np.ndarray, np.ndarray]:
    """By carrying it out: a memory that counts every array that passes."""
    passed = 0
    for _, inputs in steps:
        fast: set[str] = set()
        for name in inputs:
            passed += name not in fast
            fast.add(name)
        passed += 1
    apart, passed, fast = passed, 0, set()
    for output, inputs in steps:
        for name in inputs:
            passed += name not in fast
            fast.add(name)
        fast.add(output)
        passed += output in keep
    return np.array(apart * n * bytes_per_number), np.array(passed * n * bytes_per_number)
