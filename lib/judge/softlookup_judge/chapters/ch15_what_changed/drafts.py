"""Tasks on drafts: what a built-in draft module is given, and what a large model accepts."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles, normal, softmax
from softlookup_judge.chapters.oracles import torch


def _distributions(rng: Rng, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    p, q = (softmax(1.3 * doubles(rng, *shape)) for _ in range(2))
    return p, q


def _accept_cases(rng: Rng) -> list[Case]:
    p, q = _distributions(rng, 3, 5)
    holes_p, holes_q = p.copy(), q.copy()
    holes_q[:, 1] = 0
    holes_p[0, 1] = holes_p[1, 3] = 0
    holes_p[2, 1] = 0.4
    holes_p, holes_q = (rows / rows.sum(1, keepdims=True) for rows in (holes_p, holes_q))
    same = softmax(doubles(rng, 2, 4))
    return [
        Case("B = 2, V = 6", _distributions(rng, 2, 6)),
        Case("B = V = 4", _distributions(rng, 4, 4)),
        Case("zeros in p and in q", (holes_p, holes_q), part="zeros"),
        Case("p and q are equal", (same, same.copy()), part="equal"),
        Case("one row", _distributions(rng, 1, 3)),
        Case(
            "one row of two equal",
            (np.vstack([same[:1], p[:1, :4] / p[:1, :4].sum()]), np.vstack([same[:1], same[1:]])),
        ),
        Case("p and q nearly equal", (same, same + np.array([2e-4, -3e-4, 4e-4, -3e-4]) * same.min())),
    ]


@graded("15.accept", _accept_cases, parts={"core": 0.7, "zeros": 0.2, "equal": 0.1}, cuts=False)
def _accept(p: Any, q: Any) -> Any:
    """Number by number: what the smaller of both keeps, and what is missing from p."""
    chances, rests = [], []
    for row_p, row_q in zip(p.tolist(), q.tolist(), strict=True):
        both = [min(a, b) for a, b in zip(row_p, row_q, strict=True)]
        chances.append([both[i] / row_q[i] if row_q[i] else 1.0 for i in range(len(both))])
        missing = 1 - sum(both)
        rests.append([(a - b) / missing for a, b in zip(row_p, both, strict=True)] if row_p != row_q else row_p)
    return torch.tensor(chances, dtype=torch.float64), torch.tensor(rests, dtype=torch.float64)


def _step(rng: Rng, length: int, vocabulary: int, n_accepted: int) -> tuple[np.ndarray, ...]:
    """A draft of which so many tokens are kept; no comparison is close, and the draw is not near an interval's end."""
    while True:
        p = softmax(doubles(rng, length + 1, vocabulary))
        q = softmax(doubles(rng, length, vocabulary))
        drafted = np.array([rng.choice(vocabulary, p=row) for row in q], dtype="int64")
        u = rng.uniform(0.02, 0.97, length + 1)
        at = np.arange(length)
        margin = p[at, drafted] - u[:-1] * q[at, drafted]
        stopped = np.flatnonzero(margin < 0)
        accepted = stopped[0] if len(stopped) else length
        remaining = p[accepted] if accepted == length else np.maximum(p[accepted] - q[accepted], 0)
        ends = (remaining / remaining.sum()).cumsum()
        token = (ends <= u[-1]).sum()
        clear = np.abs(margin).min() > 0.01 and np.abs(ends - u[-1]).min() > 0.01
        other = p[accepted] if accepted < length else p[-2]
        telling = (
            token != remaining.argmax() and token != (other.cumsum() <= u[-1]).sum()
        )  # neither the likeliest, nor p's
        ways = (u[:-1] < p[at, drafted]), (drafted == p[:-1].argmax(1)), (q[at, drafted] < p[at, drafted])
        counts = {int(np.cumprod(way).sum()) for way in ways}
        if accepted == n_accepted and clear and telling and (length < 4 or len(counts) > 1):
            return p, q, drafted, u


def _speculate_cases(rng: Rng) -> list[Case]:
    half = np.array([[0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.125, 0.125], [0.25, 0.5, 0.125, 0.125]])
    draft = np.array([[0.25, 0.5, 0.125, 0.125], [0.125, 0.5, 0.25, 0.125]])
    tie = half, draft, np.array([1, 2]), np.array([0.5, 0.25, 0.4])
    drawn_tie = half, draft, np.array([0, 1]), np.array([0.125, 0.25, 0.75])
    return [
        Case("T = 4, the third is not kept", _step(rng, 4, 6, 2)),
        Case("T = 3, all are kept", _step(rng, 3, 5, 3)),
        Case("T = 5, none is kept", _step(rng, 5, 4, 0)),
        Case("T = 4, the first is kept", _step(rng, 4, 8, 1)),
        Case("one drafted token, kept", _step(rng, 1, 7, 1)),
        Case("one drafted token, not kept", _step(rng, 1, 6, 0)),
        Case("T = 6, the last is not kept", _step(rng, 6, 5, 5)),
        Case("T = 5, the second is not kept", _step(rng, 5, 9, 1)),
        Case("T = 3, the third is not kept", _step(rng, 3, 7, 2)),
        Case("T = 2, all are kept", _step(rng, 2, 9, 2)),
        Case("u times q equals p: not kept", tie),
        Case("the running sum equals u: the next token", drawn_tie),
    ]


@graded("15.speculate", _speculate_cases, cuts=False)
def _speculate(p: Any, q: Any, drafted: Any, u: Any) -> Any:
    """Token by token, with the quotient; the draw by a running sum."""
    written = []
    for t, token in enumerate(drafted.tolist()):
        if float(u[t]) >= float(p[t, token]) / float(q[t, token]):
            remaining = [max(a - b, 0.0) for a, b in zip(p[t].tolist(), q[t].tolist(), strict=True)]
            break
        written.append(token)
    else:
        remaining = p[len(drafted)].tolist()
    ends = np.cumsum(remaining)
    return torch.tensor([*written, int((ends <= float(u[-1]) * ends[-1]).sum())])


def _mtp_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, d: int, v: int, eps: float = 1e-6) -> Case:
        states, table = (1.7 * normal(rng, t, d) + 0.6).astype("float32"), normal(rng, v, d, scale=0.3)
        ids = np.array([*rng.permutation(v), *rng.integers(0, v, t + 1)])[: t + 1]
        gains = [rng.uniform(0.4, 1.8, d).astype("float32") for _ in range(2)]
        return Case(label, (states, ids, table, *gains, normal(rng, 2 * d, d), eps))

    return [
        case("T = 5, D = 4", 5, 4, 9),
        case("T = D = 4", 4, 4, 7),
        case("one state and two tokens", 1, 6, 5),
        case("a large eps", 3, 5, 8, 0.7),
        case("a text longer than the vocabulary", 8, 3, 5),
    ]


@graded("15.mtp-input", _mtp_cases, frame="numpy", cuts=False)
def _mtp_input(states: Any, ids: Any, table: Any, e_gain: Any, h_gain: Any, w: Any, eps: float) -> Any:
    """Position by position, by torch's norm; the two halves have weights of their own."""
    from torch.nn.functional import rms_norm

    states, table, e_gain, h_gain, w = (torch.as_tensor(x) for x in (states, table, e_gain, h_gain, w))
    width = (states.shape[1],)
    rows = []
    for t, token in enumerate(ids.tolist()[1:]):
        of_token = rms_norm(table[token], width, e_gain, eps) @ w[: width[0]]
        rows.append(of_token + rms_norm(states[t], width, h_gain, eps) @ w[width[0] :])
    return torch.stack(rows).numpy()
