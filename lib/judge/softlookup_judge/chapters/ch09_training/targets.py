"""Tasks on what a decoder is given, what it has to say, and how surprised it was."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described

OWN_LOSSES = (
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.nll_loss",
    "torch.nn.functional.kl_div",
    "torch.nn.CrossEntropyLoss",
    "torch.nn.NLLLoss",
    "torch.nn.KLDivLoss",
    "torch.nn.functional.linear_cross_entropy",
    "torch.nn.LinearCrossEntropyLoss",
    "softlookup.model",
    "softlookup.training",
)
"""What must not be called where a loss is to be written."""


def sentences(rng: Rng, lengths: tuple[int, ...], n_words: int, pad_id: int) -> np.ndarray:
    """Ids of sentences, filled up behind; no real token has the id of padding."""
    free = [n for n in range(n_words) if n != pad_id]
    ids = np.full((len(lengths), max(lengths)), pad_id)
    for row, length in zip(ids, lengths, strict=True):
        row[:length] = rng.choice(free, size=length)
    return ids


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


def _shift(ids: Any, pad_id: int, ignore: int) -> Any:
    pairs = ids.unfold(1, 2, 1)
    return pairs[..., 0], pairs[..., 1].masked_fill(pairs[..., 1] == pad_id, ignore)


SHIFT = described(
    "09.shift",
    cases=_shift_cases,
    oracle=_shift,
    variants=tuple({"ignore": ignore} for ignore in (-100, -1, -2, -3, -5, -7, -10, -50, -1000)),
)


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
            gradients=(0,),
            upstream=np.array(float(rng.uniform(0.5, 2))),
            part="gradient",
        ),
    ]


def _cross_entropy(logits: Any, labels: Any, pad_id: int) -> Any:
    from torch.nn import functional as F

    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


def _smoothed(logits: Any, labels: Any, pad_id: int, epsilon: float) -> Any:
    from torch.nn import functional as F

    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=epsilon)


PARTS = {"core": 0.6, "large": 0.2, "gradient": 0.2}

CROSS_ENTROPY = described("09.cross-entropy", cases=_loss_cases, oracle=_cross_entropy, parts=PARTS, forbids=OWN_LOSSES)


SMOOTHED_LOSS = described(
    "09.smoothed-loss",
    cases=_loss_cases,
    oracle=_smoothed,
    parts=PARTS,
    forbids=OWN_LOSSES,
    variants=tuple({"epsilon": epsilon} for epsilon in (0.1, 0.2, 0.05, 0.15, 0.25, 0.3, 0.4, 0.02, 0.12)),
)
