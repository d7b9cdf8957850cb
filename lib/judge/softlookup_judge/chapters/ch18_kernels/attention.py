"""Tasks on attention: without its scores in memory, without the masked blocks, over a paged cache."""

import numpy as np

from softlookup.tiles import cdiv
from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch18_kernels.launches import (
    FAR_BELOW,
    SHARES,
    grid_of,
    kernel_task,
    launch,
    uneven,
    whole,
    within,
)
from softlookup_judge.chapters.draws import Rng, normal, softmax
from softlookup_judge.data.variant import Expression

Results = tuple[np.ndarray, ...]


def _turned(array: np.ndarray, is_turned: bool) -> np.ndarray:
    """An array as it lies in memory, where its last two axes may be exchanged."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)) if is_turned else array


def _tokens(memory: np.ndarray, length: int, shape: str) -> np.ndarray:
    """The keys or values of so many tokens, a row for each, as they lie in memory in a shape."""
    return memory.reshape(-1, length).T if shape.startswith("(H,") else memory.reshape(length, -1)


def _layouts(length: str) -> list[dict[str, str]]:
    """Variants of a task: how keys and values lie in memory, the published one first."""
    straight, turned = f"({length}, H)", f"(H, {length})"
    k_at = {
        straight: Expression("cols[None, :] * H + wide[:, None]"),
        turned: Expression(f"cols[None, :] + wide[:, None] * {length}"),
    }
    v_at = {
        straight: Expression("cols[:, None] * H + wide[None, :]"),
        turned: Expression(f"cols[:, None] + wide[None, :] * {length}"),
    }
    return [
        {"k_shape": k, "v_shape": v, "k_at": k_at[k], "v_at": v_at[v]}
        for k, v in ((straight, straight), (turned, straight), (straight, turned), (turned, turned))
    ]


def _light_keys(rng: Rng, t: int, s: int, h: int, first: int) -> tuple[np.ndarray, ...]:
    """Queries, keys and values where one of the first keys weighs most; all others together still move the result."""
    direction = rng.standard_normal(h)
    direction /= np.linalg.norm(direction)
    scores, heavy = rng.uniform(-14, -7, s), rng.integers(first)
    scores[heavy] = 0
    noise = rng.standard_normal((s, h))
    k = np.outer(scores * h**0.5, direction) + noise - np.outer(noise @ direction, direction)
    v = 2 + rng.standard_normal((s, h))
    v[heavy] -= 4
    q = np.outer(rng.uniform(0.9, 1, t), direction)
    return q.astype(np.float32), k.astype(np.float32), v.astype(np.float32)


def _far_below(rng: Rng, q: np.ndarray, k: np.ndarray) -> None:
    """Change the first numbers of q and k: all scores of the last query are far below zero, and one key weighs all."""
    k[..., 0] = -1 - rng.permutation(k[..., 0].size).reshape(k.shape[:-1]) / 64
    q[:, 0], q[-1] = 0, 0
    q[-1, 0] = -FAR_BELOW * q.shape[1] ** 0.5


def _scale(h: int, factor: float | None) -> float:
    """What scores are multiplied by: the usual number where a question has no factor, so that none may be assumed."""
    return h**-0.5 if factor is None else factor


def _small(rng: Rng) -> float:
    """A scale that no width of these questions has by itself."""
    return float(rng.uniform(0.08, 0.15))


def _chip(h: int, b: int) -> int:
    """Room for queries, keys, values, output and two tiles of scores, and some vectors: for not nearly all scores."""
    return 4 * (5 * b * h + 3 * b * b + 8 * b)


def _attention_cases(rng: Rng, k_shape: str, v_shape: str, k_at: str, v_at: str) -> list[Case]:
    def ask(
        label: str,
        t: int,
        s: int,
        h: int,
        b: int,
        scale: float = 1.0,
        factor: float | None = None,
        limited: bool = False,
        light: bool = False,
    ) -> Case:
        q, k, v = normal(rng, t, h, scale=scale), normal(rng, s, h), normal(rng, s, h)
        q[0] = np.abs(q[0])  # times keys of minus infinity it hides them; a query of both signs gives NaN
        if light:
            q, k, v = _light_keys(rng, t, s, h, b)
        if abs(scale) > 1:  # large scores come first, so that later maxima are far below; or all are far below zero
            q, k = np.abs(q), np.abs(k) * np.where((np.arange(s) < b) & (scale > 0), 1, -1)[:, None].astype(np.float32)
            q[-1] /= 8  # far below the other queries' maxima
        if scale < 0:
            _far_below(rng, q, k)
        grid = grid_of((t, b))
        limits = (4 * h * (t + 2 * s * grid[0]), 4 * t * h, _chip(h, b)) if limited else None
        k, v = _turned(k, k_shape == "(H, S)"), _turned(v, v_shape == "(H, S)")
        args = (q, k, v, np.zeros_like(q), _scale(h, factor), t, s, h, b)
        return launch(label, grid, args, (3,), limits, *([SHARES] if limited else []))

    return [
        ask("multiples of the tile, and scale = 1", 32, 48, 32, 16, factor=1.0),
        ask("no multiple of a tile", whole(rng, 18, 20), whole(rng, 21, 24), 16, 16),
        ask(
            "fewer keys than a tile, and a small scale", whole(rng, 8, 12), whole(rng, 4, 7), 16, 16, factor=_small(rng)
        ),
        ask("one query", 1, uneven(rng, 16, 2, 2), 16, 16),
        ask("large scores", 16, 48, 16, 16, scale=60.0),
        ask("all scores far below zero", whole(rng, 7, 11), whole(rng, 18, 22), 16, 16, scale=-200.0),
        ask("all scores far below zero, in full tiles", whole(rng, 3, 6), 32, 16, 16, scale=-200.0),
        ask("many keys, each of little weight", whole(rng, 33, 40), uneven(rng, 64, 17, 18), 32, 64, light=True),
        ask("bytes of two tiles of queries", whole(rng, 17, 32), whole(rng, 113, 128), 16, 16, limited=True),
    ]


@kernel_task("18.attention", _attention_cases, variants=tuple(_layouts("S")))
def _attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    o: np.ndarray,
    scale: float,
    T: int,
    S: int,
    H: int,
    B: int,
    k_shape: str,
    v_shape: str,
    k_at: str,
    v_at: str,
) -> Results:
    k, v = _tokens(k, S, k_shape), _tokens(v, S, v_shape)
    return within(softmax(np.einsum("th,sh->ts", q, k) * scale) @ v)


def _causal_cases(rng: Rng, k_shape: str, v_shape: str, k_at: str, v_at: str) -> list[Case]:
    def ask(
        label: str,
        t: int,
        h: int,
        b: int,
        scale: float = 1.0,
        factor: float | None = None,
        limited: bool = False,
        light: bool = False,
    ) -> Case:
        q, k, v = normal(rng, t, h, scale=scale), normal(rng, t, h), normal(rng, t, h)
        if light:
            q, k, v = _light_keys(rng, t, t, h, b)
        if scale < 0:
            q, k = np.abs(q), -np.abs(k)
            _far_below(rng, q, k)
        grid = grid_of((t, b))
        n_keys = sum(min((i + 1) * b, t) for i in range(grid[0]))
        limits = (4 * h * (t + 2 * n_keys), 4 * t * h, _chip(h, b)) if limited else None
        k, v = _turned(k, k_shape == "(H, T)"), _turned(v, v_shape == "(H, T)")
        args = (q, k, v, np.zeros_like(q), _scale(h, factor), t, h, b)
        return launch(label, grid, args, (3,), limits, *([SHARES] if limited else []))

    return [
        ask("no multiple of a tile, and scale = 1", uneven(rng, 16, 1, 1), 32, 16, factor=1.0),
        ask("shorter than a tile, and a small scale", whole(rng, 8, 13), 16, 16, factor=_small(rng)),
        ask("one token", 1, 16, 16),
        ask("large scores", 32, 16, 16, scale=60.0),
        ask("all scores far below zero", uneven(rng, 16, 1, 1), 16, 16, scale=-200.0),
        ask("a wide head", uneven(rng, 16, 2, 2), 1024, 16),
        ask("many keys, each of little weight", uneven(rng, 32, 8, 8), 32, 32, light=True),
        ask("bytes of seven tiles", uneven(rng, 16, 6, 6), 16, 16, limited=True),
    ]


@kernel_task("18.causal", _causal_cases, variants=tuple(_layouts("T")))
def _causal(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    o: np.ndarray,
    scale: float,
    T: int,
    H: int,
    B: int,
    k_shape: str,
    v_shape: str,
    k_at: str,
    v_at: str,
) -> Results:
    """Row by row, each with the keys that it sees."""
    k, v = _tokens(k, T, k_shape), _tokens(v, T, v_shape)
    return within(np.stack([softmax(scale * k[: t + 1] @ q[t]) @ v[: t + 1] for t in range(T)]))


_SLOTS_FIRST, _WIDTH_FIRST = "(P, M, H)", "(P, H, M)"


def _paged_cases(rng: Rng, k_shape: str, v_shape: str, k_at: str, v_at: str) -> list[Case]:
    def ask(
        label: str,
        lengths: list[int],
        m: int,
        h: int,
        scale: float = 1.0,
        factor: float | None = None,
        spare: int = 1,
        limited: bool = False,
        light: bool = False,
    ) -> Case:
        """Rows of the table are so much longer than the longest sequence needs."""
        counts = [cdiv(length, m) for length in lengths]
        pages = rng.permutation(sum(counts) + 3)
        table = np.full((len(lengths), max(counts) + spare), -1, np.int32)
        for row, count in enumerate(counts):
            table[row, :count], pages = pages[:count], pages[count:]
        shape = (sum(counts) + 3, m, h)
        k, v = normal(rng, *shape), normal(rng, *shape)
        q = normal(rng, len(lengths), h, scale=scale)
        q[0] = np.abs(q[0])  # as in attention
        if abs(scale) > 1:
            q, k = np.abs(q), np.copysign(k, scale)
        if scale < 0:
            _far_below(rng, q, k)
        if light:
            q, *stored = _light_keys(rng, 1, counts[0] * m, h, m)
            k[table[0, : counts[0]]], v[table[0, : counts[0]]] = (array.reshape(-1, m, h) for array in stored)
        # Each program reads its length, its row of the table and its query.
        read = sum(4 * (1 + table.shape[1] + h + 2 * length * h) for length in lengths)
        limits = (read, 4 * q.size, 4 * (4 * m * h + 4 * h + 8 * m + 64)) if limited else None
        k, v = (_turned(pages, layout == _WIDTH_FIRST) for pages, layout in ((k, k_shape), (v, v_shape)))
        args = (q, k, v, table, np.array(lengths, np.int32), np.zeros_like(q), _scale(h, factor), table.shape[1], m, h)
        return launch(label, (len(lengths),), args, (5,), limits)

    m, width = int(rng.choice([4, 8])), int(rng.choice([8, 16, 32]))
    # Keys and values of the longest sequence are more than fits on the chip.
    lengths = [m * pages + whole(rng, 1, m) for pages in rng.permutation([0, 2, 5]).tolist()]
    return [
        ask("three sequences of unequal length", [6, whole(rng, 2, 3), uneven(rng, 4, 1, 3)], 4, 16, factor=1.0),
        ask("full pages, queries of zeros", [4, 8], 4, 8, scale=0.0),
        ask("full pages, and no other entries", [12, 12], 4, 16, spare=0, factor=_small(rng)),
        ask("a single token", [1, whole(rng, 5, 7)], 4, 8, spare=0),
        ask("large scores", [7, 5], 4, 8, scale=120.0),
        ask("all scores far below zero", [16, 3, uneven(rng, 4, 1, 3)], 4, 16, scale=-200.0, spare=0),
        ask(
            "many keys, each of little weight", [uneven(rng, 128, 12, 13)], 128, 32, spare=whole(rng, 1, 4), light=True
        ),
        ask("bytes of three sequences", lengths, m, width, spare=whole(rng, 0, 1), limited=True),
    ]


_AT = {
    _SLOTS_FIRST: Expression("slots[:, None] * H + wide[None, :]"),
    _WIDTH_FIRST: Expression("wide[None, :] * M + slots[:, None]"),
}


@kernel_task(
    "18.paged",
    _paged_cases,
    variants=tuple(
        {"k_shape": k, "v_shape": v, "k_at": _AT[k], "v_at": _AT[v]}
        for k, v in (
            *((_SLOTS_FIRST, _SLOTS_FIRST), (_WIDTH_FIRST, _SLOTS_FIRST)),
            *((_SLOTS_FIRST, _WIDTH_FIRST), (_WIDTH_FIRST, _WIDTH_FIRST)),
        )
    ),
)
def _paged(
    q: np.ndarray,
    k_pages: np.ndarray,
    v_pages: np.ndarray,
    table: np.ndarray,
    lengths: np.ndarray,
    o: np.ndarray,
    scale: float,
    MOST: int,
    M: int,
    H: int,
    k_shape: str,
    v_shape: str,
    k_at: str,
    v_at: str,
) -> Results:
    """Sequence by sequence, from keys and values that are put together first."""
    k_pages, v_pages = (
        pages.reshape(-1, M, H) if layout == _SLOTS_FIRST else pages.reshape(-1, H, M).swapaxes(1, 2)
        for pages, layout in ((k_pages, k_shape), (v_pages, v_shape))
    )
    rows = []
    for b, length in enumerate(lengths):
        k, v = (pages[table[b]].reshape(-1, H)[:length] for pages in (k_pages, v_pages))
        rows.append(softmax(scale * k @ q[b]) @ v)
    return within(np.stack(rows))
