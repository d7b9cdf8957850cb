"""The task on ranking finished texts of different lengths."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _score_cases(rng: Rng, base: int, below: int) -> list[Case]:
    def case(label: str, lengths: list[int], m: int, end: int, alpha: float) -> Case:
        """Texts of these lengths, the end token counted; 0 stands for one without an end."""
        free = [n for n in range(9) if n != end]
        ids = rng.choice(free, size=(len(lengths), m))
        for row, n in zip(ids, lengths, strict=True):
            if n:
                row[n - 1] = end
                # Behind the end stands whatever it was filled up with, mostly the end token again.
                row[n:] = rng.choice([end, end, free[0]], size=m - n)
        log_p = -np.abs(normal(rng, len(lengths), m, scale=1.5)) - np.float32(0.1)
        return Case(label, (log_p, ids, end, alpha))

    return [
        case("three texts, alpha = 0.6", [2, 4, 5], 6, 3, 0.6),
        case("as many texts as tokens, alpha = 1", [1, 3, 2, 4], 4, 0, 1.0),
        case("one of them has no end token", [3, 0], 5, 7, 0.8),
        case("alpha = 0: no penalty", [2, 5, 3], 5, 1, 0.0),
        case("a text of the end token alone", [1], 3, 2, 1.3),
        case("long texts, alpha = 0.7", [8, 13, 0], 14, 4, 0.7),
        case("texts of some hundred tokens, alpha = 0.6", [140, 0, 150], 160, 5, 0.6),
    ]


def _score(log_p: Any, ids: Any, end_id: int, alpha: float, base: int, below: int) -> Any:
    """Text by text, cut at its first end."""
    import torch

    scores = []
    for row, text in zip(log_p, ids.tolist(), strict=True):
        n = text.index(end_id) + 1 if end_id in text else len(text)
        scores.append(row[:n].sum() * ((base + n) / below) ** -alpha)
    return torch.stack(scores)


SCORE = described(
    "10.score",
    cases=_score_cases,
    oracle=_score,
    variants=tuple({"base": base, "below": base + 1} for base in (5, 2, 1, 3, 4, 6, 7, 8, 9)),
)
