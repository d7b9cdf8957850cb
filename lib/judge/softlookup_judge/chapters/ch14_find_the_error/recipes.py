"""Tasks that look for what made a table: candidates, mixtures, the order of steps, and tokens that change places."""

import math
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.ch14_find_the_error.sums import near, round_to, slipped
from softlookup_judge.chapters.draws import Rng, softmax
from softlookup_judge.chapters.oracles import torch


def _hypothesis_cases(rng: Rng) -> list[Case]:
    x, w = rng.standard_normal((5, 3)), rng.standard_normal((3, 3))
    turned = np.stack([x @ w, x @ w.T, x[:, :2] @ w[:2]])
    mixed = round_to(np.where(np.arange(15).reshape(5, 3) % 3 == 1, turned[1], turned[2]), 2)
    true = rng.standard_normal((4, 6))
    # The second explains ten cells of 24 and misses the others by much, the first is close everywhere, and wrong.
    close, half = true + 0.012, np.where(np.arange(24).reshape(4, 6) < 10, true, true + 9.0)
    random_tables = rng.standard_normal((4, 3, 5))
    which = int(rng.integers(1, 4))
    second = np.stack([random_tables[1] + 0.004, random_tables[1]])
    millions = np.stack([random_tables[0] + 3e-6, random_tables[0]])
    tables = (
        ("a matrix and its transpose", round_to(turned[1], 2), turned, 2),
        ("a table of two recipes", mixed, turned, 2),
        ("close everywhere, or right in places", round_to(true, 2), np.stack([close, half]), 2),
        ("two that explain as much", round_to(random_tables[2], 2), random_tables[[0, 2, 2, 1]], 2),
        ("four drawn at random", slipped(rng, round_to(random_tables[which], 1), 1), random_tables, 1),
        ("the first of them", round_to(random_tables[0], 3), np.stack([random_tables[0], random_tables[0] + 0.004]), 3),
        ("the second of two that are close", round_to(random_tables[1], 3), second, 3),
        ("in the millions", round_to(1e6 * random_tables[0], 0), 1e6 * millions, 0),
        ("nothing fits", round_to(random_tables[0] + 50.0, 2), random_tables[1:], 2),
    )
    return [Case(label, (printed, candidates, decimals)) for label, printed, candidates, decimals in tables]


@graded("14.hypothesis", _hypothesis_cases, frame="numpy")
def _best(printed: np.ndarray, candidates: np.ndarray, places: int) -> tuple[int, int]:
    best, most = 0, -1
    for i, candidate in enumerate(candidates):
        count = int(near(printed, candidate, places).sum())
        if count > most:
            best, most = i, count
    return best, most


def _mixed(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    scores = q @ k.T
    scaled = scores / math.sqrt(q.shape[1])
    ways = (softmax(scaled), softmax(scores), softmax(scaled, axis=0), np.full_like(scores, 1 / len(k)))
    return [weights @ v for weights in ways]


def _uniform_cases(rng: Rng) -> list[Case]:
    def random_qkv(t: int, s: int, h: int, width: int = 3) -> tuple[np.ndarray, ...]:
        q, k = 1.5 * rng.standard_normal((t, h)), 1.5 * rng.standard_normal((s, h))
        return q, k, 3 * rng.standard_normal((s, width))

    labels = ("softmax of scaled scores", "softmax of unscaled scores", "softmax down the columns", "equal weights")
    cases: list[tuple[Any, ...]] = []
    for way, label in enumerate(labels):
        args = random_qkv(4, 6, 3)
        cases.append((label, *args, round_to(_mixed(*args)[way], 2), 2))
        args = random_qkv(5, 5, 2)
        cases.append((f"{label}, as many queries as keys", *args, round_to(_mixed(*args)[way], 3), 3))
    q, k, v = random_qkv(4, 5, 3)
    finely = round_to(_mixed(q, k, v)[0], 4)
    finely[1, 2] += 2e-4
    with_error = round_to(_mixed(q, k, v)[0], 2)
    with_error[2, 1] += 0.05
    spoilt = round_to(_mixed(q, k, v)[3], 2)
    spoilt[0] = round_to(_mixed(q, k, v)[1], 2)[0]
    late = round_to(_mixed(q, k, v)[0], 2)
    late[0] += 50.0
    cases += [
        ("scaled scores but for the first row", q, k, v, late, 2),
        ("scaled scores, and a slip in one cell", q, k, v, round_to(with_error, 2), 2),
        ("a slip of two units in the fourth place", q, k, v, round_to(finely, 4), 4),
        ("unscaled scores, one place", q, k, v, round_to(_mixed(q, k, v)[1], 1), 1),
        ("equal weights but for the first row", q, k, v, spoilt, 2),
        ("equal values: every mean is the same", q, k, np.ones((5, 2)), np.ones((4, 2)), 2),
        ("a head of width one", *(narrow := random_qkv(3, 4, 1)), round_to(_mixed(*narrow)[0], 2), 2),
    ]
    return [Case(label, tuple(args)) for label, *args in cases]


@graded("14.uniform", _uniform_cases, frame="numpy")
def _uniform(q: np.ndarray, k: np.ndarray, v: np.ndarray, printed: np.ndarray, places: int) -> int:
    """With torch's own attention where it can."""
    from torch.nn.functional import scaled_dot_product_attention as attention

    queries, keys, values = (torch.from_numpy(array) for array in (q, k, v))
    columns = torch.softmax(keys @ queries.T / math.sqrt(q.shape[1]), dim=1).T
    ways = (
        attention(queries, keys, values),
        attention(queries, keys, values, scale=1.0),
        columns @ values,
        values.mean(dim=0).expand(len(q), -1),
    )
    for recipe, mixture in enumerate(ways):
        if bool(near(printed, mixture.numpy(), places).all()):
            return recipe
    return 4


def _head(x: np.ndarray, w: np.ndarray, head_slice: slice, recipe: int) -> np.ndarray:
    return (
        x @ w[:, head_slice]
        if recipe == 0
        else x[:, head_slice] @ w[head_slice, head_slice]
        if recipe == 1
        else x[:, head_slice] @ w[head_slice, head_slice].T
    )


def _split_cases(rng: Rng) -> list[Case]:
    cases = []
    for t, n, h, decimals, kinds in (
        (5, 2, 2, 2, (0, 0)),
        (5, 2, 2, 2, (1, 1)),
        (3, 4, 2, 2, (0, 1, 2, 0)),
        (4, 3, 4, 3, (1, 0, 2)),
        (6, 2, 3, 1, (2, 0)),
    ):
        x, w = rng.standard_normal((t, n * h)), rng.standard_normal((n * h, n * h))
        heads = [_head(x, w, slice(i * h, (i + 1) * h), recipe) for i, recipe in enumerate(kinds)]
        cases.append((f"{n} heads of width {h}", x, w, round_to(np.stack(heads), decimals), decimals))
    x, w = rng.standard_normal((4, 6)), np.kron(np.eye(3), np.ones((2, 2))) * rng.standard_normal((6, 6))
    both = round_to(np.stack([_head(x, w, slice(2 * i, 2 * i + 2), 0) for i in range(3)]), 2)
    x_slip, w_slip = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    printed = round_to(np.stack([_head(x_slip, w_slip, slice(2 * i, 2 * i + 2), 0) for i in range(2)]), 2)
    almost = round_to(np.stack([_head(x_slip, w_slip, slice(2 * i, 2 * i + 2), 1) for i in range(2)]), 2)
    almost[0, 0, 0] += 0.02
    cases += [
        ("heads cut first, and a slip in the last place", x_slip, w_slip, round_to(almost, 2), 2),
        ("a matrix of blocks, for which both are the same", x, w, both, 2),
        ("one slip", x_slip, w_slip, slipped(rng, printed, 2), 2),
        ("a projection that was reshaped alone", x_slip, w_slip, round_to((x_slip @ w_slip).reshape(2, 4, 2), 2), 2),
    ]
    return [Case(label, tuple(args)) for label, *args in cases]


@graded("14.split", _split_cases, frame="numpy")
def _split(x: np.ndarray, w: np.ndarray, printed: np.ndarray, places: int) -> list[int]:
    """All heads of either order at once: by axes, and with a mask of blocks on the matrix."""
    n, t, h = printed.shape
    blocks = np.kron(np.eye(n), np.ones((h, h)))
    whole, cut = ((x @ matrix).reshape(t, n, h).swapaxes(0, 1) for matrix in (w, w * blocks))
    fits = [near(printed, candidate, places).all(axis=(1, 2)) for candidate in (whole, cut)]
    return [0 if a else 1 if b else 2 for a, b in zip(*fits, strict=True)]


def _moved_cases(rng: Rng) -> list[Case]:
    def attention(x: np.ndarray) -> np.ndarray:
        return softmax(x @ x.T) @ x

    cases: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]] = []
    order = np.array([2, 0, 3, 4, 1])  # no order that undoes itself
    x = rng.standard_normal((5, 3))
    waves = rng.standard_normal((5, 3))
    square = rng.standard_normal((4, 4))
    turn = np.array([1, 2, 3, 0])
    cases += [
        ("self-attention", attention(x), attention(x[order]), order),
        ("a mean over all tokens", x.mean(axis=0, keepdims=True), x[order].mean(axis=0, keepdims=True), order),
        ("attention with positions", attention(x + waves), attention(x[order] + waves), order),
        ("the same row for every token", np.tile(x.mean(axis=0), (5, 1)), np.tile(x.mean(axis=0), (5, 1)), order),
        ("tokens that stay where they are", attention(x), attention(x), np.arange(5)),
        ("rows that are always sorted", np.sort(x, axis=0), np.sort(x[order], axis=0), order),
        ("rows that move the other way", x, x[np.argsort(order)], order),
        ("columns that move", square, square[:, turn], turn),
        ("the first row alone moves rightly", square, np.vstack([square[turn][:1], square[1:] + 1]), turn),
        ("as many tokens as numbers in a token", attention(square), attention(square[turn]), turn),
        ("one token", x[:1], x[:1].copy(), np.array([0])),
    ]
    noise = 1e-12
    return [
        Case(label, (before, after + noise * rng.standard_normal(after.shape), order))
        for label, before, after, order in cases
    ]


@graded("14.moved", _moved_cases, frame="numpy")
def _moved(before: np.ndarray, after: np.ndarray, order: np.ndarray) -> tuple[bool, bool]:
    """Row by row: row t of the new output belongs to token order[t]."""
    invariant = float(np.abs(before - after).max()) < 1e-6
    if len(before) != len(order):
        return invariant, False
    gaps = [float(np.abs(after[t] - before[token]).max()) for t, token in enumerate(order.tolist())]
    return invariant, max(gaps) < 1e-6
