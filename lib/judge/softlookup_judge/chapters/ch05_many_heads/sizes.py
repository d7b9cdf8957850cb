"""Tasks about sizes: shapes, parameters, operations, the spread of first weights, the bytes of a cache."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, sized
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.oracles import torch


def _shapes_cases(rng: Rng) -> list[Case]:
    random_sizes = tuple(int(n) for n in rng.choice(np.arange(5, 40), size=4, replace=False))
    return sized("T, D, N, H", (2, 4, 5, 3), (8, 4, 2, 2), (10, 512, 8, 64), (7, 3, 1, 5), random_sizes)


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


@graded("05.shapes", _shapes_cases, frame="plain", cells=CELLS)
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


def _cache_cases(rng: Rng) -> list[Case]:
    random_sizes = tuple(int(n) for n in rng.integers(2, 30, size=3))
    return sized(
        "B, S, L, N, K, H, bytes",
        (1, 1000, 32, 32, 8, 128, 2),
        (1, 1000, 32, 32, 1, 128, 2),
        (4, 77, 6, 8, 8, 64, 4),
        (*random_sizes, 12, 3, 5, 2),
    )


@graded("05.cache", _cache_cases, frame="plain")
def _cache(
    batch: int, n_keys: int, n_layers: int, n_heads: int, n_kv_heads: int, head_width: int, bytes_per_number: int
) -> int:
    return int(np.prod([2, batch, n_layers, n_kv_heads, n_keys, head_width, bytes_per_number], dtype=np.int64))


def _init_cases(rng: Rng, numerator: float, asked: str) -> list[Case]:
    return sized(
        "D, N, H",
        (4, 5, 3),
        (512, 8, 64),
        (512, 8, 96),
        (6, 1, 2),
        (5, 3, 1),
        (1, 1, 1),
        (int(rng.integers(5, 200)), 7, int(rng.integers(2, 50))),
        tolerance=1e-6,
    )


LIMIT_NUMERATOR = 6.0


@graded(
    "05.init",
    _init_cases,
    frame="plain",
    variants=(
        {"numerator": LIMIT_NUMERATOR, "asked": "the limit $a$ of a uniform distribution between $-a$ and $a$"},
        {"numerator": 2.0, "asked": "the standard deviation of a normal distribution"},
    ),
)
def _init(d_model: int, n_heads: int, head_width: int, numerator: float, asked: str) -> float:
    """Variance 1 over the mean of both fans; a uniform number of limit a has variance a*a/3, a normal one its own."""
    variance = 1 / np.mean([d_model, n_heads * head_width])
    return float(np.sqrt(variance * (numerator / 2)))


def _parameter_cases(rng: Rng) -> list[Case]:
    return sized(
        "D, N, K, H, bias",
        (4, 5, 5, 3, False),
        (512, 8, 8, 64, False),
        (512, 8, 8, 64, True),
        (4096, 32, 8, 128, False),
        (6, 4, 1, 5, True),
        (int(rng.integers(5, 90)), 6, 3, int(rng.integers(2, 40)), True),
    )


@graded("05.parameters", _parameter_cases, frame="plain")
def _parameters(d_model: int, n_heads: int, n_kv_heads: int, head_width: int, bias: bool) -> int:
    """Counted matrix by matrix, as torch's Linear would hold them, on the device that holds no numbers."""
    wide, narrow = n_heads * head_width, n_kv_heads * head_width
    pairs = ((d_model, wide), (d_model, narrow), (d_model, narrow), (wide, d_model))
    layers = [torch.nn.Linear(*pair, bias=bias, device="meta") for pair in pairs]
    return sum(p.numel() for layer in layers for p in layer.parameters())


def _cost_cases(rng: Rng) -> list[Case]:
    b, t, d, h = (int(rng.integers(*ends)) for ends in ((2, 9), (11, 40), (41, 80), (12, 30)))
    return sized(
        "B, T, D, N, K, H",
        (1, 2, 4, 5, 5, 3),
        (1, 100, 512, 8, 8, 64),
        (3, 7, 10, 4, 2, 5),
        (2, 64, 96, 6, 1, 8),
        (b, t, d, 6, 3, h),
    )


@graded("05.cost", _cost_cases, frame="plain")
def _cost(
    batch: int, n_tokens: int, d_model: int, n_heads: int, n_kv_heads: int, head_width: int
) -> tuple[np.ndarray, np.ndarray]:
    """The multiplications of the products, each counted by adding up a 1, and as many additions."""

    def counted(*pairs: tuple[tuple[int, ...], tuple[int, ...]]) -> int:
        return sum(int(2 * (np.ones(a) @ np.ones(b)).sum()) for a, b in pairs)

    rows, wide, narrow = batch * n_tokens, n_heads * head_width, n_kv_heads * head_width
    into = [((rows, d_model), (d_model, width)) for width in (wide, narrow, narrow)]
    maps = (batch * n_heads, n_tokens, n_tokens)
    heads = (batch * n_heads, n_tokens, head_width)
    return (
        np.array(counted(*into, ((rows, wide), (wide, d_model)))),
        np.array(counted((heads, (heads[0], head_width, n_tokens)), (maps, heads))),
    )
