"""Tasks that count operations and bytes: of an elementwise loop, and of a matrix product."""

from fractions import Fraction

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.roofline.page import PAGE
from softlookup.checks.task import Case, Task


def _intensity_cases(rng: Rng) -> list[Case]:
    rows = (
        (2, 1, 1, 32),
        (4, 1, 3, 32),
        (4, 1, 3, 16),
        (1, 1, 5, 64),
        (3, 2, 8, 8),
        (int(rng.integers(3, 9)), int(rng.integers(1, 3)), int(rng.integers(10, 40)), 16),
    )
    return [Case(f"(reads, writes, operations, bits) = {row}", row, frame="plain") for row in rows]


def _intensity(reads: int, writes: int, operations: int, bits: int) -> float:
    """In exact fractions."""
    return float(Fraction(operations) / (Fraction(bits, 8) * (reads + writes)))


WIDTH = "bytes_per_number = bits / 8"
MOVED = "moved = (reads + writes) * bytes_per_number"
QUOTIENT = "return operations / moved"

INTENSITY = Task(
    id="11.intensity",
    name="intensity",
    title="Operations for each byte",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="roofline-intensity",
    returns=("intensity",),
    cases=_intensity_cases,
    oracle=_intensity,
    frame="plain",
    mistakes=(
        known(
            "elements-for-bytes",
            (WIDTH, "bytes_per_number = 1"),
            says="Numbers are counted, not bytes: this is operations for each number that is moved. A number of 32 "
            "bits has 4 bytes.",
            number=80,
        ),
        known(
            "bits-for-bytes",
            (WIDTH, "bytes_per_number = bits"),
            says="Bits are counted, not bytes: a byte has 8 of them.",
        ),
        known(
            "always-four",
            (WIDTH, "bytes_per_number = 4"),
            says="Every number is taken to have 4 bytes: that is right for 32 bits alone.",
        ),
        known(
            "stores-forgotten",
            (MOVED, "moved = reads * bytes_per_number"),
            says="What is written is left out: stores cross the same road as loads.",
        ),
        known(
            "loads-forgotten",
            (MOVED, "moved = writes * bytes_per_number"),
            says="What is read is left out: loads cross the same road as stores.",
        ),
        known(
            "one-store",
            (MOVED, "moved = (reads + 1) * bytes_per_number"),
            says="One store is counted for each place, however many numbers are written: `writes` says how many.",
        ),
        known(
            "fetched-before-stored",
            (MOVED, "moved = (reads + 2 * writes) * bytes_per_number"),
            says="Every store is counted twice. Caches may fetch what they are about to overwrite, but the intensity "
            "counts what the program names.",
        ),
        known(
            "upside-down",
            (QUOTIENT, "return moved / operations"),
            says="These are bytes for each operation: operations for each byte are asked for.",
        ),
    ),
)


def _product_cases(rng: Rng) -> list[Case]:
    rows = (
        (3, 5, 7, 4),
        (1, 4096, 4096, 2),
        (512, 512, 512, 2),
        (64, 100, 30, 8),
        (int(rng.integers(11, 40)), int(rng.integers(41, 90)), int(rng.integers(100, 300)), 1),
    )
    return [Case(f"(T, D, F, bytes) = {row}", row, frame="plain") for row in rows]


def _product(t: int, d: int, f: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """By the sizes of torch's own tensors, on the device that holds no numbers; a test asks torch's counter, too."""
    import torch

    dtype = {1: torch.int8, 2: torch.bfloat16, 4: torch.float32, 8: torch.float64}[width]
    left, right = (torch.empty(shape, dtype=dtype, device="meta") for shape in ((t, d), (d, f)))
    result = left @ right
    for_each_result = 2 * left.shape[1]
    moved = sum(x.numel() * x.element_size() for x in (left, right, result))
    return np.array(for_each_result * result.numel()), np.array(moved)


FLOPS = "flops = 2 * t * d * f"
NUMBERS = "numbers = t * d + d * f + t * f"
PAIR = "return flops, numbers * bytes_per_number"

PRODUCT = Task(
    id="11.product",
    name="product_cost",
    title="The cost of a product",
    points=3,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="roofline-product",
    returns=("flops", "bytes"),
    cases=_product_cases,
    oracle=_product,
    frame="plain",
    mistakes=(
        known(
            "one-operation",
            (FLOPS, "flops = t * d * f"),
            says="A multiply-add is counted once: it is two operations, a product and a sum.",
            number=78,
        ),
        known(
            "one-sum-less",
            (FLOPS, "flops = (2 * d - 1) * t * f"),
            says="D products are added up in D - 1 sums here. That is exact on paper, but data sheets and this book "
            "count D multiply-adds, each two operations: 2*D for each result.",
            number=78,
        ),
        known(
            "inner-forgotten",
            (FLOPS, "flops = 2 * t * f"),
            says="Each of the T*F results is a dot product over D numbers: D is missing.",
        ),
        known(
            "elements-for-bytes",
            (PAIR, "return flops, numbers"),
            says="Numbers are counted, not bytes: each has so many bytes as the last argument says.",
            number=80,
        ),
        known(
            "always-four",
            (PAIR, "return flops, 4 * numbers"),
            says="Every number is taken to have 4 bytes: the last argument says how many it has.",
        ),
        known(
            "rows-forgotten",
            (NUMBERS, "numbers = d * f + t * f"),
            says="The rows that meet the matrix are read, too: T*D numbers.",
        ),
        known(
            "result-forgotten",
            (NUMBERS, "numbers = t * d + d * f"),
            says="The result is written, too: T*F numbers.",
        ),
        known(
            "weights-forgotten",
            (NUMBERS, "numbers = t * d + t * f"),
            says="The matrix itself is left out: D*F numbers have to be read, and with few rows they are nearly all.",
        ),
        known(
            "weights-for-each-row",
            (NUMBERS, "numbers = t * d + t * d * f + t * f"),
            says="The matrix is read anew for each row: the count that is asked for reads every operand once, for all "
            "rows together.",
        ),
        known(
            "pair-swapped",
            (PAIR, "return numbers * bytes_per_number, flops"),
            says="The two numbers have changed places: operations first, then bytes.",
        ),
    ),
)
