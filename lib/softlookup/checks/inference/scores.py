"""The task on ranking finished texts of different lengths."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference.page import PAGE
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


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
    ]


def _score(log_p: Any, ids: Any, end_id: int, alpha: float, base: int, below: int) -> Any:
    """Text by text, cut at its first end."""
    import torch

    scores = []
    for row, text in zip(log_p, ids.tolist(), strict=True):
        n = text.index(end_id) + 1 if end_id in text else len(text)
        scores.append(row[:n].sum() * ((base + n) / below) ** -alpha)
    return torch.stack(scores)


LAST = "ends = ends * (ends.flip(1).cumsum(dim=1).flip(1) == 1)"
LENGTHS = "lengths = counted.sum(dim=1)"
PENALISED = "totals / ((base + lengths) / (base + 1)) ** alpha"

SCORE = Task(
    id="10.score",
    name="scores_of",
    title="A score for every length",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="inference-penalty",
    returns=("scores",),
    cases=_score_cases,
    oracle=_score,
    variants=({"base": 5, "below": 6}, {"base": 2, "below": 3}),
    mistakes=(
        known(
            "end-not-counted",
            (LENGTHS, "lengths = (counted & (ids != end_id)).sum(dim=1)"),
            says="The end token is left out of the length: it was chosen like any other, and counts.",
            number=77,
        ),
        known(
            "start-counted",
            (LENGTHS, f"{LENGTHS} + 1"),
            says="Every length is one too large, as if the start token had been written: count what is in the row.",
            number=77,
        ),
        known(
            "end-left-out",
            ("ends.cumsum(dim=1) - ends", "ends.cumsum(dim=1)"),
            says="The end token is left out of the sum and of the length: stopping there was a choice, with a "
            "probability of its own.",
            number=77,
        ),
        known(
            "filling-counted",
            ("ends_before == 0", "ends_before >= 0"),
            says="What stands behind the end token is counted too: it is filling, and nobody wrote it.",
            number=62,
        ),
        known(
            "filling-summed",
            ("torch.where(counted, log_p, 0.0)", "log_p"),
            says="The lengths are right, but the sum goes on behind the end token: it is filling there.",
            number=62,
        ),
        known(
            "last-end",
            ("ends = (ids == end_id).int()", "ends = (ids == end_id).int()\n    " + LAST),
            says="The text goes on to the LAST end token: what stands behind the first one is filling.",
            number=62,
        ),
        known(
            "endless-is-one",
            ("ends_before == 0", "torch.arange(ids.shape[1]) <= ends.argmax(dim=1)[:, None]"),
            says="A text without an end token is cut after its first token: argmax gives 0 where nothing is found. It "
            "counts as a whole.",
        ),
        known(
            "all-but-ends",
            ("ends_before == 0", "ends == 0"),
            says="Every token that is no end token is counted, also the filling behind the end; and the end token "
            "itself is not, though it was chosen.",
            number=77,
        ),
        known(
            "length-itself",
            (PENALISED, "totals / lengths**alpha"),
            says="The log-probability is divided by a power of the length itself, as some programs do: another "
            "penalty is asked for.",
        ),
        known(
            "times-alpha",
            (PENALISED, "totals / ((base + lengths) / (base + 1) * alpha)"),
            says="The penalty is multiplied by alpha: alpha is its exponent.",
        ),
        known(
            "below-not-raised",
            ("((base + lengths) / (base + 1)) ** alpha", "((base + lengths) ** alpha / (base + 1))"),
            says="Only the number above is raised to alpha: the whole fraction is.",
        ),
        known(
            "no-penalty",
            (PENALISED, "totals"),
            says="The log-probability is not divided at all: shorter texts win by being short.",
        ),
        known(
            "plain-mean",
            (PENALISED, "totals / lengths"),
            says="This is the mean for each token, whatever alpha: the penalty has its own form.",
        ),
        known(
            "multiplied",
            ("totals / (", "totals * ("),
            says="The log-probability is multiplied by the penalty, so long texts lose twice: it is divided.",
        ),
        known(
            "not-raised",
            (" ** alpha", ""),
            says="The exponent alpha is missing.",
        ),
        known(
            "undivided",
            ("((base + lengths) / (base + 1))", "(base + lengths)"),
            says="The penalty's number below is missing: a text of one token has the penalty 1.",
        ),
    ),
)
