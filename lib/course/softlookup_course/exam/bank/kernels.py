"""Questions on chapter 18: kernels."""

import numpy as np

from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(18)


@ask("tile", "number", points=4, minutes=6)
def tile(rng: np.random.Generator) -> Drawn:
    size, width = pick(rng, 16, 32, 64), pick(rng, 2, 4)
    chip = size * size * (2 * width + 4) + 4 * int(rng.integers(1, size))
    m, n, k = (int(size * count) for count in rng.permutation([3, 4, 5]))
    rows, cols = m // size, n // size
    read = (m * k * cols + k * n * rows) * width
    return posed(
        f"A kernel multiplies matrices of the shapes $({m}, {k})$ and $({k}, {n})$ in square tiles. A program holds a "
        f"tile of each matrix, with {width} bytes for each number, and a tile of sums with 4 bytes for each, on a chip "
        f"of ${tex(chip)}$ bytes. (a) How long is the side of the largest tile, a power of 2? (b) How many bytes do "
        "all programs read together?",
        (size, read),
        f"(a) ${size}^2 \\cdot (2 \\cdot {width} + 4) = {tex(size * size * (2 * width + 4))}$ bytes fit, four times as "
        f"many do not: {size}. (b) The first matrix is read for each of {cols} columns of tiles, the second for each "
        f"of {rows} rows: $({m} \\cdot {k} \\cdot {cols} + {k} \\cdot {n} \\cdot {rows}) \\cdot {width} = "
        f"{tex(read)}$.",
        ((1, "(a), with the tile of sums"), (1, "(a), a power of 2"), (1, "(b), the repetitions"), (1, "(b), bytes")),
        {"m": m, "n": n, "k": k, "width": width, "chip": chip},
        known("18.tile", "numbers-for-bytes", (size, read // width)),
        known("18.tile", "read-once", (size, (m * k + k * n) * width)),
        known("18.tile", "next-tile", (2 * size, read)),
    )


@ask("online", "number", points=3, minutes=4)
def online(rng: np.random.Generator) -> Drawn:
    old, total = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    rise = int(rng.integers(1, 4))
    new, lower = old + rise, int(rng.integers(1, 4))
    value = total / 2**rise + 1 + 2.0**-lower
    return posed(
        f"An online softmax takes powers of 2 in place of powers of $e$. So far its maximum is {old} and its sum "
        f"{total}. The next tile holds {new - lower} and {new}. What is its sum after this tile?",
        value,
        f"The new maximum is {new}. The old sum becomes ${total} \\cdot 2^{{{old} - {new}}} = {tex(total / 2**rise)}$, "
        f"and the tile adds $2^{{-{lower}}} + 2^0 = {tex(1 + 2.0**-lower)}$: ${tex(value)}$.",
        ((1, "the new maximum"), (1, "the old sum is rescaled"), (1, "what the tile adds")),
        {"old": old, "total": total, "tile": [new - lower, new]},
        known("18.online", "sum-not-rescaled", total + 1 + 2.0**-lower),
        known("18.online", "rescaled-upside-down", total * 2.0**rise + 1 + 2.0**-lower),
        known("18.online", "last-tile-alone", 1 + 2.0**-lower),
        mistake(total + 2.0**rise + 2.0 ** (rise - lower), "the tile is taken relative to the old maximum"),
    )


ask.false(
    "online-once",
    "With an online softmax, a program that writes the softmax of a row too long for the chip reads the row once.",
    "Maximum and sum are found in one pass. The results need a second one, because the first results could "
    "only be written when the sum was known.",
)
ask.true(
    "masked-load",
    "A load whose mask is false everywhere moves no byte.",
    "What is masked is not read: the tile holds the value of `other`.",
)
ask.false(
    "double-tile",
    "A matrix product with tiles of twice the side reads a quarter of the bytes.",
    "It reads half: a quarter as many programs, each of which reads twice as much for the same length.",
)
ask.true(
    "causal-half",
    "Causal attention that leaves out masked tiles reads every key and value tile for the last block of queries.",
    "The last queries see all keys. Half is the average over all blocks.",
)
