"""A task on weights of four bits, in blocks that share a scale."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described

CODES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""The absolute values of e2m1 in the order of their bits: an even place ends in a 0."""


def _block_cases(rng: Rng) -> list[Case]:
    def case(label: str, rows: int, columns: int, block: int, *, scale: float = 1.0, part: str = "core") -> Case:
        w = normal(rng, rows, columns, scale=scale)
        w.reshape(rows, -1, block)[:, :, 0] *= 4  # scales that differ from block to block
        return Case(label, (w, block), part=part, frame="numpy")

    ties = np.array([4, 0.25, -0.75, 1.25, 1.75, -2.5, 3.5, 5, -0.25, 0.75, -1.25, -1.75, 2.5, -3.5, -5, 4.5])
    outlier, zeros = case("one weight of 60", 4, 12, 4), case("a block of zeros", 3, 8, 4)
    outlier.args[0][1, 5] = 60.0
    zeros.args[0][1, 4:] = 0.0
    powers = np.array([[8.0, 3, -1, 0.5, 7, 6.5, -2, 1]])
    # The logarithm of such a number, rounded to float32, is that of the power.
    largest = np.nextafter(np.array([8, -0.5, 2**-9], "float32"), np.float32(0))
    just_below = (largest[:, None] * np.array([1, 0.4, -0.33, 0.07], "float32")).reshape(1, -1)
    negative = -np.abs(normal(rng, 3, 6)) - 0.1
    return [
        case("M = 4, D = 8, blocks of 4", 4, 8, 4),
        case("M = 6, D = 6, blocks of 3", 6, 6, 3),
        case("blocks of 32, as in models", 3, 64, 32, scale=0.02),
        outlier,
        zeros,
        Case("negative weights alone", (negative.astype("float32"), 3), frame="numpy"),
        Case("halfway between neighbours", (np.stack([ties, ties / 8]), 8), part="ties", frame="numpy"),
        Case("the largest is a power of two, and 7 times one", (powers, 4), frame="numpy"),
        Case("the largest is just below a power of two", (just_below, 4), frame="numpy"),
    ]


def _block_scaled(w: Any, block: int) -> Any:
    """Number by number: scales by doubling and halving, codes by their distance."""
    back = np.zeros(w.shape)
    for i, row in enumerate(np.asarray(w, dtype=np.float64).tolist()):
        for start in range(0, len(row), block):
            largest = max(abs(x) for x in row[start : start + block])
            if largest == 0:
                continue
            scale = 1.0
            while largest < 4 * scale:
                scale /= 2
            while largest >= 8 * scale:
                scale *= 2
            for at in range(start, start + block):
                size = abs(row[at]) / scale
                place = min(range(len(CODES)), key=lambda code: (abs(size - CODES[code]), code % 2))
                back[i, at] = np.copysign(CODES[place] * scale, row[at])
    return back


BLOCK_SCALES = described(
    "15.block-scales",
    cases=_block_cases,
    oracle=_block_scaled,
    frame="numpy",
    parts={"core": 0.8, "ties": 0.2},
    cuts=False,
)
