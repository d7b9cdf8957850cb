"""Tasks on caches: a ring, few bits, blocks and a table, a memory that overwrites."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch


def _layer_cases(rng: Rng) -> list[Case]:
    def case(label: str, layers: int, every: int, window: int, length: int) -> Case:
        rope = [int(i % 4 != 3) for i in range(layers)]
        return Case(label, (layers, every, window, rope, length))

    random_length = int(rng.integers(40, 90))
    return [
        case("12 layers, every sixth sees all", 12, 6, 4, 9),
        case("every second sees all", 7, 2, 16, 100),
        case("a text shorter than the window", 9, 3, 64, 20),
        case("every fourth, a drawn length", 8, 4, 32, random_length),
        Case("no layer with positions but two", (5, 5, 3, [0, 1, 0, 0, 1], 8)),
    ]


@graded("15.layers", _layer_cases, frame="text")
def _layers(n_layers: int, global_every: int, window: int, no_rope_layers: list[int], length: int) -> Any:
    """By counting what each layer lets go, token by token."""
    cached = [0] * n_layers
    for _ in range(length):
        for layer in range(n_layers):
            ends_a_group = layer % global_every == global_every - 1
            cached[layer] += 1 if ends_a_group or cached[layer] < window else 0
    return cached, [layer for layer, turns in enumerate(no_rope_layers) if turns]


def _ring_cases(rng: Rng) -> list[Case]:
    def case(label: str, window: int, width: int, position: int) -> Case:
        rings = normal(rng, window, width), normal(rng, window, width)
        return Case(label, (*rings, *(normal(rng, width) for _ in range(3)), position))

    return [
        case("W = 5, position 7", 5, 4, 7),
        case("W = 4, position 2: not yet full", 4, 3, 2),
        case("W = 6, position 0: the very first", 6, 5, 0),
        case("W = 3, position 3: the first that overwrites", 3, 2, 3),
        case("W = 4, position 11: the last slot", 4, 6, 11),
        case("W = 7, position 6: the ring becomes full", 7, 2, 6),
        case("W = 1: every step overwrites", 1, 3, 4),
    ]


@graded("15.ring", _ring_cases, cuts=False)
def _ring(k_ring: Any, v_ring: Any, q: Any, k: Any, v: Any, position: int) -> Any:
    """By a list of the positions that are held."""
    window = len(k_ring)
    positions = range(max(0, position - window + 1), position + 1)
    here = torch.arange(window) == position % window
    keys, values = (torch.where(here[:, None], new, old) for new, old in ((k, k_ring), (v, v_ring)))
    slots = [t % window for t in positions]
    out = torch.nn.functional.scaled_dot_product_attention(q[None], keys[slots], values[slots])
    return out[0], keys, values


def _cache(rng: Rng, tokens: int, width: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Keys with a channel of large and one of small numbers, and values; nothing lies halfway between two steps."""
    while True:
        k, v = (doubles(rng, tokens, width) for _ in range(2))
        k[:, width // 2] += 6.0
        k[:, 0] *= 1e-3
        v[0] *= 1e-3
        near = []
        for x, axis in ((k, 0), (v, 1)):
            least, most = x.min(axis, keepdims=True), x.max(axis, keepdims=True)
            codes = (x - least) / (most - least) * (2**bits - 1)
            near.append(np.abs(codes - np.floor(codes) - 0.5).min())
        if min(near) > 1e-3:
            return k, v


def _quantise_cases(rng: Rng) -> list[Case]:
    equal = _cache(rng, 5, 4, 2)
    equal[0][:, 1], equal[1][2] = 0.75, -1.5
    k, v = _cache(rng, 4, 3, 2)
    return [
        Case("S = 6, H = 4, 2 bits", (*_cache(rng, 6, 4, 2), 2)),
        Case("S = 3, H = 7, 4 bits", (*_cache(rng, 3, 7, 4), 4)),
        Case("S = H = 5, 3 bits", (*_cache(rng, 5, 5, 3), 3)),
        Case("a column and a row of equal numbers", (*equal, 2), part="equal"),
        Case("one bit", (*_cache(rng, 7, 3, 1), 1)),
        Case("8 bits", (*_cache(rng, 9, 4, 8), 8)),
        Case("one token: each column is one number", (k[:1], v[:1], 2), part="equal"),
    ]


@graded("15.quantise", _quantise_cases, parts={"core": 0.8, "equal": 0.2}, cuts=False)
def _quantised(k: Any, v: Any, bits: int) -> Any:
    """The nearest of the steps, looked up."""

    def nearest(groups: Any) -> Any:
        rows = []
        for row in groups:
            steps = torch.linspace(float(row.min()), float(row.max()), 2**bits, dtype=torch.float64)
            rows.append(steps[(row[:, None] - steps).abs().argmin(dim=1)])
        return torch.stack(rows)

    return nearest(k.T).T, nearest(v)


def _delta_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, h: int, hv: int, decays: tuple[float, float]) -> Case:
        k = normal(rng, t, h)
        k /= np.sqrt((k**2).sum(1, keepdims=True))
        gates = (rng.uniform(*decays, t).astype("float32"), rng.uniform(0.2, 1.0, t).astype("float32"))
        return Case(label, (normal(rng, t, h), k, normal(rng, t, hv), *gates))

    longer = case("keys that are longer and shorter than 1", 6, 4, 3, (0.5, 0.9))
    longer.args[1][:] *= np.linspace(0.4, 1.3, 6, dtype="float32")[:, None]
    again = case("the same key again", 4, 3, 2, (0.7, 0.95))
    again.args[1][2] = again.args[1][0]
    return [
        case("T = 5, H = 3, H' = 4", 5, 3, 4, (0.6, 0.95)),
        case("T = H = H' = 4", 4, 4, 4, (0.4, 0.9)),
        again,
        longer,
        case("one position", 1, 5, 2, (0.5, 0.9)),
        case("nine positions", 9, 2, 3, (0.8, 0.99)),
    ]


@graded("15.delta", _delta_cases, cuts=False)
def _delta(q: Any, k: Any, v: Any, decay: Any, strength: Any) -> Any:
    """By what every position has written, which a triangular system gives for all of them at once."""
    total = decay.log().cumsum(0)
    faded = (total[:, None] - total).exp().tril()
    system = torch.eye(len(q), dtype=q.dtype) + (strength[:, None] * faded * (k @ k.T)).tril(-1)
    written = torch.linalg.solve(system, strength[:, None] * v)
    outputs = (faded * (q @ k.T)) @ written / q.shape[1] ** 0.5
    return outputs, (faded[-1][:, None] * k).T @ written


def _page_cases(rng: Rng) -> list[Case]:
    def case(label: str, blocks: int, size: int, width: int, table: list[int], length: int) -> Case:
        pages = normal(rng, blocks, size, width), normal(rng, blocks, size, width)
        return Case(label, (normal(rng, width), *pages, np.array(table), length))

    return [
        case("three blocks of four, 10 positions", 7, 4, 3, [5, 0, 3], 10),
        case("two blocks, the last one full", 5, 3, 4, [4, 1], 6),
        case("one block, in part", 4, 5, 2, [2], 3),
        case("four blocks of two, 7 positions", 9, 2, 6, [8, 2, 6, 1], 7),
        case("blocks as long as vectors", 6, 4, 4, [3, 5, 1], 9),
    ]


@graded("15.pages", _page_cases, cuts=False)
def _pages(q: Any, k_blocks: Any, v_blocks: Any, table: Any, length: int) -> Any:
    """Position by position."""
    slots = [(int(table[at]), inside) for at, inside in (divmod(t, k_blocks.shape[1]) for t in range(length))]
    keys, values = (torch.stack([blocks[b, i] for b, i in slots]) for blocks in (k_blocks, v_blocks))
    return torch.nn.functional.scaled_dot_product_attention(q[None], keys, values)[0]


def _fork_cases(rng: Rng) -> list[Case]:
    used = [int(n) for n in rng.integers(1, 4, size=2)]
    kinds = {
        "the last block is full": ([4, 1], [0, 1, used[0], 0, 1], 8, 4),
        "the last block has room and is shared": ([2, 0], [2, 0, 3, 1, 0], 5, 4),
        "the last block has room and is not shared": ([3, 1], [2, 1, 0, 2, 0], 6, 4),
        "the first block is shared, the last is not": ([1, 2], [0, 3, 1, 1, 0], 7, 4),
        "a full block that is shared": ([2], [1, 0, 2, used[1], 0], 3, 3),
        "no block yet": ([], [1, 2, 0, 1, 0], 0, 4),
        "room for one more": ([1, 3], [0, 1, 0, 2, 0, 1], 7, 4),
        "shared by two": ([3], [1, 0, 1, 2, 0], 1, 2),
        "shared by three": ([0, 3], [1, 2, 0, 3, 0], 6, 4),
    }
    return [Case(label, args) for label, args in kinds.items()]


@graded("15.fork", _fork_cases, frame="text")
def _fork(table: list[int], owners: list[int], length: int, block_size: int) -> Any:
    """By cases, each of which says what it gives."""
    free = min(b for b, users in enumerate(owners) if users == 0)
    if length == len(table) * block_size:
        return [*table, free], [users + (b == free) for b, users in enumerate(owners)], []
    last = table[-1]
    if owners[last] == 1:
        return [*table], [*owners], []
    return [*table[:-1], free], [users + (b == free) - (b == last) for b, users in enumerate(owners)], [last, free]
