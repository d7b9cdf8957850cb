"""Tasks that count operations and bytes: of an elementwise loop, and of a matrix product."""

from fractions import Fraction

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _intensity_cases(rng: Rng) -> list[Case]:
    rows = (
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
    return [Case(f"(reads, writes, operations, bits) = {row}", row, frame="plain") for row in rows]


def _intensity(reads: int, writes: int, operations: int, bits: int) -> float:
    """In exact fractions."""
    return float(Fraction(operations) / (Fraction(bits, 8) * (reads + writes)))


INTENSITY = described("11.intensity", cases=_intensity_cases, oracle=_intensity, frame="plain")


def _product_cases(rng: Rng) -> list[Case]:
    rows = (
        (3, 5, 7, 4),
        (1, 4096, 4096, 2),
        (512, 512, 512, 2),
        (64, 100, 30, 8),
        (int(rng.integers(11, 40)), int(rng.integers(41, 90)), int(rng.integers(100, 300)), 1),
    )
    return [Case(f"(T, D, F, bytes) = {row}", row, frame="plain") for row in rows]


def _product(t: int, d: int, f: int, bytes_per_number: int) -> tuple[np.ndarray, np.ndarray]:
    """By the sizes of torch's own tensors, on the device that holds no numbers; a test asks torch's counter, too."""
    import torch

    dtype = {1: torch.int8, 2: torch.bfloat16, 4: torch.float32, 8: torch.float64}[bytes_per_number]
    left, right = (torch.empty(shape, dtype=dtype, device="meta") for shape in ((t, d), (d, f)))
    result = left @ right
    for_each_result = 2 * left.shape[1]
    moved = sum(x.numel() * x.element_size() for x in (left, right, result))
    return np.array(for_each_result * result.numel()), np.array(moved)


PRODUCT = described("11.product", cases=_product_cases, oracle=_product, frame="plain")
