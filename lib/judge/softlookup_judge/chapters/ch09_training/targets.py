"""Tasks on what a decoder is given and has to predict, its loss, and the perplexity of a whole set."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import backward, graded, variants_by
from softlookup_judge.chapters.draws import Rng, normal, sentences
from softlookup_judge.chapters.forbidden import dotted
from softlookup_judge.chapters.oracles import torch

OWN_LOSSES = (
    *dotted("torch.nn.functional", "cross_entropy nll_loss kl_div"),
    *dotted("torch.nn", "CrossEntropyLoss NLLLoss KLDivLoss"),
    "torch.nn.functional.linear_cross_entropy",
    "torch.nn.LinearCrossEntropyLoss",
    *dotted("softlookup", "model training"),
)
"""What must not be called where a loss is to be written."""


def _shift_cases(rng: Rng, ignore: int) -> list[Case]:
    def case(label: str, lengths: tuple[int, ...], pad_id: int) -> Case:
        ids = sentences(rng, lengths, 40, pad_id)
        ids[0, 1] = 0 if pad_id else 7  # a real token may have the id 0
        return Case(label, (ids, pad_id))

    return [
        case("three sentences, padded with 0", (6, 4, 3), 0),
        case("padded with 9; a word has the id 0", (3, 7), 9),
        case("as many sentences as tokens", (4, 2, 4, 3), 5),
        case("nothing is padded", (5, 5), 1),
        case("two tokens alone", (2,), 0),
        Case("ids of a large vocabulary", (np.array([[50_256, 300, 40_000, 60_000]]), 60_000)),
    ]


@graded("09.shift", _shift_cases, variants=variants_by(ignore=(-100, -1, -2, -3, -5, -7, -10, -50, -1000)))
def _shift(ids: Any, pad_id: int, ignore: int) -> Any:
    pairs = ids.unfold(1, 2, 1)
    return pairs[..., 0], pairs[..., 1].masked_fill(pairs[..., 1] == pad_id, ignore)


def _loss_cases(rng: Rng, epsilon: float | None = None) -> list[Case]:
    def args(lengths: tuple[int, ...], n_words: int, pad_id: int, dtype: str = "float32", scale: float = 1.0) -> Any:
        labels = sentences(rng, lengths, n_words, pad_id)
        return normal(rng, *labels.shape, n_words, dtype=dtype, scale=scale), labels, pad_id

    far = args((3, 2), 5, 0, scale=1.0)
    far = (far[0] * 3 + 400 * rng.choice([-1.0, 1.0], size=far[0].shape).astype("float32"), *far[1:])
    # Rows hundreds apart, their own logits close together: one maximum for the whole table is none for each row.
    levels = args((3, 2), 5, 0)
    levels = (levels[0] + 400 * np.array([[-1, 1, 0], [0, -1, 1]], dtype="float32")[..., None], *levels[1:])
    return [
        Case("three sentences of different lengths", args((5, 2, 3), 7, 0)),
        Case("padded with the last id", args((2, 6), 9, 8)),
        Case("B = T = V", args((4, 1, 3, 2), 4, 2)),
        Case("nothing is padded, float64", args((3, 3), 6, 1, "float64")),
        Case("logits far apart", far, part="large", tolerance=1e-3),
        Case("logits of one position far below those of another", levels, part="large", tolerance=1e-3),
        Case(
            "the gradient of the logits",
            args((4, 2), 5, 0, "float64"),
            **backward(np.array(float(rng.uniform(0.5, 2))), 0),
        ),
    ]


PARTS = {"core": 0.6, "large": 0.2, "gradient": 0.2}


@graded("09.cross-entropy", _loss_cases, parts=PARTS, forbids=OWN_LOSSES)
def _cross_entropy(logits: Any, labels: Any, pad_id: int) -> Any:
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


@graded(
    "09.smoothed-loss",
    _loss_cases,
    parts=PARTS,
    forbids=OWN_LOSSES,
    variants=variants_by(epsilon=(0.1, 0.2, 0.05, 0.15, 0.25, 0.3, 0.4, 0.02, 0.12)),
)
def _smoothed(logits: Any, labels: Any, pad_id: int, epsilon: float) -> Any:
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=epsilon
    )


def _perplexity_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, dtype: str = "float32") -> Case:
        # torch divides whole numbers in float32.
        tolerance = 1e-6 if dtype == "float64" else None
        return Case(label, (rng.uniform(0.2, 3, n).astype(dtype), rng.integers(1, 90, size=n)), tolerance=tolerance)

    return [
        Case("a long batch and a short one", (np.array([1.0, 4.0], "float32"), np.array([90, 10]))),
        case("five batches", 5),
        case("one batch", 1),
        case("four batches, float64", 4, "float64"),
    ]


@graded("09.perplexity", _perplexity_cases, forbids=("softlookup.model",))
def _perplexity(losses: Any, tokens: Any) -> Any:
    return (losses.exp() ** (tokens / tokens.sum().double())).prod()
