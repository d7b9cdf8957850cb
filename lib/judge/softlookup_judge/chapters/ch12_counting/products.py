"""Tasks that count single steps: one product, and the lecture's table of a layer."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch12_counting.counts import meta, plain, product_flops
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _product_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 60)) for low in (3, 70, 150))
    return plain(
        "rows, d_in, d_out, bytes_per_number",
        (2, 3, 5, 4),
        (1, 4096, 4096, 2),
        (1000, 4096, 11008, 2),
        (7, 7, 7, 1),
        (*drawn, 4),
    )


def _product(rows: int, d_in: int, d_out: int, bytes_per_number: int) -> tuple[int, int, float]:
    moved = sum(meta(*shape, size=bytes_per_number).nbytes for shape in ((rows, d_in), (d_in, d_out), (rows, d_out)))
    flops = product_flops(((rows, d_in), (d_in, d_out)))
    return flops, moved, flops / moved


PRODUCT = described("12.product", cases=_product_cases, oracle=_product, frame="plain")


def _table_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 9)) for low in (2, 12, 3, 25))
    return plain(
        "B, T, N, H, bytes_per_number",
        (1, 50, 32, 128, 2),
        (3, 5, 2, 4, 1),
        (64, 1, 32, 128, 2),
        (2, 1000, 8, 64, 4),
        (*drawn, 2),
    )


def _table(batch: int, n_tokens: int, n_heads: int, head_width: int, bytes_per_number: int) -> np.ndarray:
    """From the shapes of products and tensors."""
    d = n_heads * head_width
    f = 4 * d
    x, hidden, square = (batch * n_tokens, d), (batch * n_tokens, f), (batch * n_heads, n_tokens, n_tokens)
    heads = (batch * n_heads, n_tokens, head_width)
    turned = (batch * n_heads, head_width, n_tokens)

    def product(times: int, left: tuple[int, ...], right: tuple[int, ...], out: tuple[int, ...]) -> tuple[int, int]:
        moved = sum(meta(*shape, size=bytes_per_number).nbytes for shape in (left, right, out))
        return times * product_flops((left, right)), times * moved

    scores = meta(*square, size=bytes_per_number)
    rows = [
        product(3, x, (d, d), x),
        product(1, heads, turned, square),
        (6 * scores.numel(), 2 * scores.nbytes),
        product(1, square, heads, heads),
        product(1, x, (d, d), x),
        product(1, x, (d, f), hidden),
        (meta(*hidden).numel(), 2 * meta(*hidden, size=bytes_per_number).nbytes),
        product(1, hidden, (f, d), x),
    ]
    return np.array([(flops, moved, flops / moved) for flops, moved in rows], dtype=np.float64)


TABLE = described("12.table", cases=_table_cases, oracle=_table, frame="plain")
