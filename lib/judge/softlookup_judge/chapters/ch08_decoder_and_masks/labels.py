"""Tasks on what each kind of model is given and what it is to predict."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


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


def _labels(sentences: list[list[int]], start_id: int, end_id: int, pad_id: int) -> Any:
    longest = 1 + max(map(len, sentences))

    def filled(row: list[int]) -> list[int]:
        return row + [pad_id] * (longest - len(row))

    return (
        np.array([filled([start_id, *row]) for row in sentences]),
        np.array([filled([*row, end_id]) for row in sentences]),
    )


LABELS = described("08.labels", cases=_labels_cases, oracle=_labels)


def _hide_cases(rng: Rng, ignore: int) -> list[Case]:
    def case(label: str, b: int, t: int, share: float, mask_id: int) -> Case:
        ids = rng.integers(10, 99, size=(b, t))
        special = np.zeros((b, t), dtype=bool)
        special[:, 0] = special[:, -1] = True
        u = rng.random((b, t))
        # One of each kind for certain: masked, exchanged, kept, left alone, and a special place that would be chosen.
        u[0, 1:5] = share * np.array([0.4, 0.85, 0.95, 1.3])
        u[:, 0] = share * 0.3
        other = rng.integers(10, 99, size=(b, t))
        return Case(label, (ids, special, u, other, mask_id, share))

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


def _hide(ids: Any, special: Any, u: Any, other: Any, mask_id: int, share: float, ignore: int) -> Any:
    import torch

    kind = torch.bucketize(u / share, torch.tensor([0.8, 0.9, 1.0], dtype=u.dtype), right=True)
    kind = torch.where(special, 3, kind)
    inputs = torch.stack([torch.full_like(ids, mask_id), other, ids, ids]).gather(0, kind[None])[0]
    return inputs, torch.where(kind < 3, ids, torch.full_like(ids, ignore))


MASKED_TOKENS = described(
    "08.masked-tokens",
    cases=_hide_cases,
    oracle=_hide,
    variants=tuple({"ignore": ignore} for ignore in (-100, -1, -2, -3, -5, -7, -10, -50, -1000)),
)
