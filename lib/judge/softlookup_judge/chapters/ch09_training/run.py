"""The task that trains: some steps of descent from given weights, judged by tensors."""

from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch09_training.targets import sentences
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _cases(rng: Rng) -> list[Case]:
    def case(
        label: str, lengths: tuple[int, ...], n_words: int, pad_id: int, rate: float, steps: int, dtype: str = "float32"
    ) -> Case:
        ids = sentences(rng, lengths, n_words, pad_id)
        return Case(label, (normal(rng, n_words, n_words, dtype=dtype), ids, pad_id, rate, steps), descends=True)

    return [
        case("three steps, two sentences", (5, 3), 7, 0, 2.0, 3),
        case("one step", (4, 2, 3), 5, 4, 1.0, 1),
        case("eight steps in float64", (6, 4), 6, 1, 3.0, 8, "float64"),
        case("as many sentences as tokens", (4, 3, 4, 2), 4, 2, 1.5, 4),
    ]


def _train(w: Any, ids: Any, pad_id: int, rate: float, steps: int) -> Any:
    """By hand: pairs are counted, and the gradient of a word's row is (softmax - share) times how often it stood."""
    import torch

    n_words = len(w)
    pairs = torch.zeros(n_words, n_words, dtype=w.dtype)
    for row in ids.tolist():
        for word, following in zip(row, row[1:], strict=False):
            if following != pad_id:
                pairs[word, following] += 1
    tokens, losses = pairs.sum(), []
    for _ in range(steps):
        losses.append(-(pairs * w.log_softmax(-1)).sum() / tokens)
        w = w - rate * (pairs.sum(-1, keepdim=True) * w.softmax(-1) - pairs) / tokens
    return w, torch.stack(losses)


TRAIN = described("09.train", cases=_cases, oracle=_train)
