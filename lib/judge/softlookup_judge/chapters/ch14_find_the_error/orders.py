"""Tasks on what comes first: project then split, and what happens to tokens that change places."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch14_find_the_error.printing import near, round_to, slipped
from softlookup_judge.chapters.draws import Rng, softmax
from softlookup_judge.data.published import described


def _head(x: np.ndarray, w: np.ndarray, head_slice: slice, kind: int) -> np.ndarray:
    return (
        x @ w[:, head_slice]
        if kind == 0
        else x[:, head_slice] @ w[head_slice, head_slice]
        if kind == 1
        else x[:, head_slice] @ w[head_slice, head_slice].T
    )


def _split_cases(rng: Rng) -> list[Case]:
    cases = []
    for t, n, h, places, kinds in (
        (5, 2, 2, 2, (0, 0)),
        (5, 2, 2, 2, (1, 1)),
        (3, 4, 2, 2, (0, 1, 2, 0)),
        (4, 3, 4, 3, (1, 0, 2)),
        (6, 2, 3, 1, (2, 0)),
    ):
        x, w = rng.standard_normal((t, n * h)), rng.standard_normal((n * h, n * h))
        heads = [_head(x, w, slice(i * h, (i + 1) * h), kind) for i, kind in enumerate(kinds)]
        cases.append((f"{n} heads of width {h}", x, w, round_to(np.stack(heads), places), places))
    x, w = rng.standard_normal((4, 6)), np.kron(np.eye(3), np.ones((2, 2))) * rng.standard_normal((6, 6))
    both = round_to(np.stack([_head(x, w, slice(2 * i, 2 * i + 2), 0) for i in range(3)]), 2)
    x_slip, w_slip = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    slip = round_to(np.stack([_head(x_slip, w_slip, slice(2 * i, 2 * i + 2), 0) for i in range(2)]), 2)
    almost = round_to(np.stack([_head(x_slip, w_slip, slice(2 * i, 2 * i + 2), 1) for i in range(2)]), 2)
    almost[0, 0, 0] += 0.02
    cases += [
        ("heads cut first, and a slip in the last place", x_slip, w_slip, round_to(almost, 2), 2),
        ("a matrix of blocks, for which both are the same", x, w, both, 2),
        ("one slip", x_slip, w_slip, slipped(rng, slip, 2), 2),
        ("a projection that was reshaped alone", x_slip, w_slip, round_to((x_slip @ w_slip).reshape(2, 4, 2), 2), 2),
    ]
    return [Case(label, tuple(args), frame="numpy") for label, *args in cases]


def _split(x: np.ndarray, w: np.ndarray, printed: np.ndarray, places: int) -> list[int]:
    """All heads of either order at once: by axes, and with a mask of blocks on the matrix."""
    n, t, h = printed.shape
    blocks = np.kron(np.eye(n), np.ones((h, h)))
    whole, cut = ((x @ matrix).reshape(t, n, h).swapaxes(0, 1) for matrix in (w, w * blocks))
    fits = [near(printed, candidate, places).all(axis=(1, 2)) for candidate in (whole, cut)]
    return [0 if a else 1 if b else 2 for a, b in zip(*fits, strict=True)]


SPLIT = described("14.split", cases=_split_cases, oracle=_split, frame="numpy")


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
        Case(label, (before, after + noise * rng.standard_normal(after.shape), order), frame="numpy")
        for label, before, after, order in cases
    ]


def _moved(before: np.ndarray, after: np.ndarray, order: np.ndarray) -> tuple[bool, bool]:
    """Row by row: row t of the new output belongs to token order[t]."""
    invariant = float(np.abs(before - after).max()) < 1e-6
    if len(before) != len(order):
        return invariant, False
    gaps = [float(np.abs(after[t] - before[token]).max()) for t, token in enumerate(order.tolist())]
    return invariant, max(gaps) < 1e-6


MOVED = described("14.moved", cases=_moved_cases, oracle=_moved, frame="numpy")
