"""Tasks on what each kind of model is given and predicts, and on the last step from states to words."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import backward, graded, variants_by
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch


def _labels_cases(rng: Rng) -> list[Case]:
    def case(label: str, lengths: tuple[int, ...], start: int, end: int, pad: int) -> Case:
        free = [n for n in range(30) if n not in (start, end, pad)]
        return Case(label, ([[int(i) for i in rng.choice(free, size=n)] for n in lengths], start, end, pad))

    return [
        Case("the French sentence", ([[10, 11, 12, 13, 14]], 2, 3, 0)),
        case("three sentences of different lengths", (4, 2, 3), 6, 3, 0),
        case("as many sentences as positions", (2, 1, 2), 1, 2, 0),
        case("the pad is not 0", (3, 5), 0, 1, 7),
        case("an empty sentence among them", (0, 2), 5, 2, 9),
        case("sentences of one length", (3, 3), 5, 6, 4),
        case("two empty sentences: T = 1", (0, 0), 2, 3, 0),
        Case("a large vocabulary, one id for start and end", ([[50_256, 300], [40_000]], 60_001, 60_001, 60_000)),
    ]


@graded("08.labels", _labels_cases)
def _labels(sentences: list[list[int]], start_id: int, end_id: int, pad_id: int) -> Any:
    longest = 1 + max(map(len, sentences))

    def filled(row: list[int]) -> list[int]:
        return row + [pad_id] * (longest - len(row))

    return (
        np.array([filled([start_id, *row]) for row in sentences]),
        np.array([filled([*row, end_id]) for row in sentences]),
    )


def _hide_cases(rng: Rng, ignore: int) -> list[Case]:
    def case(label: str, b: int, t: int, fraction: float, mask_id: int) -> Case:
        ids = rng.integers(10, 99, size=(b, t))
        special = np.zeros((b, t), dtype=bool)
        special[:, 0] = special[:, -1] = True
        u = rng.random((b, t))
        # One of each kind for certain: masked, exchanged, kept, left alone, and a special place that would be chosen.
        u[0, 1:5] = fraction * np.array([0.4, 0.85, 0.95, 1.3])
        u[:, 0] = fraction * 0.3
        other = rng.integers(10, 99, size=(b, t))
        return Case(label, (ids, special, u, other, mask_id, fraction))

    first = case("two sequences of eight, a share of 0.25", 2, 8, 0.25, 4)
    # At the very bounds; times a power of two, all ways to compute them give the same numbers.
    first.args[2][1, 2:5] = 0.25, 0.8 * 0.25, 0.9 * 0.25
    nearly_all = case("nearly all", 2, 7, 0.96, 5)
    nearly_all.args[2][1, 1:4] = 0.78, 0.88, 0.91
    return [
        first,
        case("the paper's share, 0.15, ids of a large vocabulary", 3, 12, 0.15, 50_264),
        case("as many rows as tokens, half of them", 6, 6, 0.5, 3),
        case("hardly any", 1, 9, 0.05, 7),
        nearly_all,
    ]


@graded("08.masked-tokens", _hide_cases, variants=variants_by(ignore=(-100, -1, -2, -3, -5, -7, -10, -50, -1000)))
def _hide(ids: Any, special: Any, u: Any, other: Any, mask_id: int, share: float, ignore: int) -> Any:
    action = torch.bucketize(u / share, torch.tensor([0.8, 0.9, 1.0], dtype=u.dtype), right=True)
    action = torch.where(special, 3, action)
    inputs = torch.stack([torch.full_like(ids, mask_id), other, ids, ids]).gather(0, action[None])[0]
    return inputs, torch.where(action < 3, ids, torch.full_like(ids, ignore))


def _logit_cases(rng: Rng, unit: float, wording: str) -> list[Case]:
    def states(*shape: int, dtype: str = "float32", scale: float = 1.0) -> np.ndarray:
        return normal(rng, *shape, dtype=dtype, scale=scale)

    double = states(2, 3, 4, dtype="float64"), states(6, 4, dtype="float64")
    far = states(1, 3, 2), states(5, 2)
    far[0][..., 0], far[1][:, 0] = 60.0, [10.0, -10.0, 9.0, 0.0, 10.5]
    # Rows hundreds apart, their own logits close together: one maximum for the whole table is none for each row.
    levels = states(2, 2, 3), states(5, 3)
    levels[0][..., 0], levels[1][:, 0] = [[30.0, -30.0], [0.0, 10.0]], 10.0
    return [
        Case("B = 2, T = 3, D = 4, V = 7", (states(2, 3, 4), states(7, 4))),
        Case("small sizes, with 12 words: T = 8, D = 4", (states(1, 8, 4), states(12, 4))),
        Case("B = T = D = V = 3", (states(3, 3, 3), states(3, 3))),
        Case("a state of zeros knows nothing", (np.zeros((1, 2, 4), dtype="float32"), states(10, 4))),
        Case("logits far apart", far, part="large", tolerance=1e-3),
        Case("logits of one position far below those of another", levels, part="large", tolerance=1e-3),
        Case("the gradient", double, **backward(doubles(rng, 2, 3, 6), 0, 1)),
    ]


@graded(
    "08.logits",
    _logit_cases,
    variants=(
        {"unit": 1.0, "wording": "the **natural logarithms**"},
        *(
            {
                "unit": float(np.log(base)),
                "wording": f"the logarithms **to the base {base}** (natural logarithms divided by $\\ln {base}$)",
            }
            for base in (2, 10, 3, 4, 5, 8, 16, 20)
        ),
    ),
    parts={"core": 0.7, "large": 0.15, "gradient": 0.15},
)
def _logits(x: Any, table: Any, unit: float, wording: str) -> Any:
    logits = torch.stack([(x * row).sum(-1) for row in table], dim=-1)
    nats = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    return nats / unit
