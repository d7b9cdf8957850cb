"""Tasks about sizes: the shape table, the spread of first weights, the bytes of a cache."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch05_many_heads.counting import plain
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _shapes_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(n) for n in rng.choice(np.arange(5, 40), size=4, replace=False))
    return plain("T, D, N, H", (2, 4, 5, 3), (8, 4, 2, 2), (10, 512, 8, 64), (7, 3, 1, 5), drawn)


def _shapes(n_tokens: int, d_model: int, n_heads: int, head_width: int) -> np.ndarray:
    """The shapes that numpy's own products have."""
    x, w, w_o = (
        np.zeros((n_tokens, d_model)),
        np.zeros((d_model, head_width)),
        np.zeros((n_heads * head_width, d_model)),
    )
    q = x @ w
    a = q @ q.T
    z = a @ q
    together = np.concatenate([z] * n_heads, axis=1)
    return np.array([array.shape for array in (w, w_o, x, q, a, z, together, together @ w_o)])


ROWS = (
    "the query matrix of one head",
    "the output matrix",
    "X",
    "one head's queries",
    "one head's attention weights",
    "one head's result",
    "the heads' results side by side",
    "the layer's output",
)


CELLS = {
    (row, column): f"Cell [{row}, {column}] counts the {what} of {name}."
    for row, name in enumerate(ROWS)
    for column, what in enumerate(("rows", "columns"))
}

SHAPES = described("05.shapes", cases=_shapes_cases, oracle=_shapes, frame="plain", cells=CELLS)


def _cache_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(n) for n in rng.integers(2, 30, size=3))
    return plain(
        "B, S, L, N, K, H, bytes",
        (1, 1000, 32, 32, 8, 128, 2),
        (1, 1000, 32, 32, 1, 128, 2),
        (4, 77, 6, 8, 8, 64, 4),
        (*drawn, 12, 3, 5, 2),
    )


def _cache(
    batch: int, n_keys: int, n_layers: int, n_heads: int, n_kv_heads: int, head_width: int, bytes_per_number: int
) -> int:
    return int(np.prod([2, batch, n_layers, n_kv_heads, n_keys, head_width, bytes_per_number], dtype=np.int64))


CACHE = described("05.cache", cases=_cache_cases, oracle=_cache, frame="plain")


def _init_cases(rng: Rng, numerator: float, asked: str) -> list[Case]:
    sizes = (
        (4, 5, 3),
        (512, 8, 64),
        (512, 8, 96),
        (6, 1, 2),
        (5, 3, 1),
        (1, 1, 1),
        (int(rng.integers(5, 200)), 7, int(rng.integers(2, 50))),
    )
    return [Case(f"(D, N, H) = {args}", args, frame="plain", tolerance=1e-6) for args in sizes]


def _init(d_model: int, n_heads: int, head_width: int, numerator: float, asked: str) -> float:
    """Variance 1 over the mean of both fans; a uniform number of limit a has variance a*a/3, a normal one its own."""
    variance = 1 / np.mean([d_model, n_heads * head_width])
    return float(np.sqrt(variance * (numerator / 2)))


LIMIT_NUMERATOR = 6.0

INIT = described(
    "05.init",
    cases=_init_cases,
    oracle=_init,
    frame="plain",
    variants=(
        {"numerator": LIMIT_NUMERATOR, "asked": "the limit $a$ of a uniform distribution between $-a$ and $a$"},
        {"numerator": 2.0, "asked": "the standard deviation of a normal distribution"},
    ),
)
