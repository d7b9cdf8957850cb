"""Tasks on two modalities in one space: the contrastive loss, and labels that are texts."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal, of_many_lengths
from softlookup_judge.data.published import described


def _loss_cases(rng: Rng, sign: float, named: str) -> list[Case]:
    def pair(b: int, d: int, scale: float, dtype: str = "float32") -> tuple[Any, ...]:
        texts = normal(rng, b, d, dtype=dtype)
        images = (0.7 * texts + normal(rng, b, d, dtype=dtype)).astype(dtype) * 3
        return images, texts, np.asarray(sign * np.log(scale), dtype=dtype)

    images, texts, log_scale = first = pair(4, 6, 2.5)
    double = pair(3, 4, 5.0, "float64")
    near = pair(4, 3, 100.0)
    uneven = [of_many_lengths(rng, vectors) for vectors in pair(3, 5, 4.0)[:2]]
    return [
        Case("B = 4 pairs, D = 6", first),
        # The other direction has the larger loss here.
        Case("the same pairs, with images and texts exchanged", (texts, images, log_scale)),
        Case("B = 5, D = 3", pair(5, 3, 4.0)),
        Case("B = D = 4", pair(4, 4, 7.0)),
        Case("vectors of width 1", pair(3, 1, 2.0)),
        Case("one pair: there is nothing to choose", pair(1, 3, 3.0)),
        Case("short and long vectors", (*uneven, np.asarray(sign * np.log(4.0), dtype="float32"))),
        Case("a scale of 100", near, part="large", tolerance=1e-4),
        Case("a scale of 300", pair(4, 3, 300.0, "float64"), part="large"),
        Case(
            "gradients of both and of the scale",
            double,
            gradients=(0, 1, 2),
            upstream=np.asarray(1.7),
            part="gradient",
        ),
    ]


def _loss(images: Any, texts: Any, log_scale: Any, sign: float, named: str) -> Any:
    """Each picture's own pair against all others, by logsumexp; no labels, no softmax."""
    import torch

    cosines = torch.nn.functional.cosine_similarity(images[:, None], texts[None], dim=-1)
    scores = cosines * torch.exp(sign * log_scale)
    diagonal = scores.diagonal().mean()
    return (torch.logsumexp(scores, 0).mean() + torch.logsumexp(scores, 1).mean()) / 2 - diagonal


SCALE_NAMED = ("**multiplied by** $e^\\sigma$", "**divided by** $e^\\sigma$")

CONTRASTIVE = described(
    "13.contrastive",
    cases=_loss_cases,
    oracle=_loss,
    parts={"core": 0.7, "large": 0.1, "gradient": 0.2},
    variants=tuple({"sign": s, "named": named} for s, named in zip((1.0, -1.0), SCALE_NAMED, strict=True)),
)


def _zero_cases(rng: Rng) -> list[Case]:
    def ask(b: int, j: int, k: int, d: int, scale: float) -> tuple[Any, ...]:
        sentences = normal(rng, j, k, d) * rng.uniform(0.3, 3.0, (j, k, 1)).astype("float32")
        return normal(rng, b, d) * 2, sentences + 0.3, scale

    uneven = [of_many_lengths(rng, vectors) for vectors in ask(3, 4, 2, 5, 1.0)[:2]]

    return [
        Case("4 pictures, 3 labels of 2 sentences, D = 5", ask(4, 3, 2, 5, 6.0)),
        Case("2 pictures, 6 labels of 3 sentences, D = 4", ask(2, 6, 3, 4, 10.0)),
        Case("as many of everything: 3", ask(3, 3, 3, 3, 4.0)),
        Case("one sentence for each label, a scale of 1", ask(3, 4, 1, 6, 1.0)),
        Case("short and long vectors", (*uneven, 5.0)),
        Case("one picture, one label of one sentence", ask(1, 1, 1, 4, 5.0)),
        Case("one picture, a scale of 100", ask(1, 5, 2, 8, 100.0), tolerance=1e-4),
    ]


def _zero(images: Any, labels: Any, scale: float) -> Any:
    """One label after the other, by its own unit vector; shares of exponentials."""
    import torch

    columns = []
    for sentences in labels:
        mean = (sentences / torch.linalg.vector_norm(sentences, dim=-1, keepdim=True)).sum(0)
        columns.append(torch.nn.functional.cosine_similarity(images, mean[None], dim=-1))
    scores = torch.stack(columns, dim=-1) * scale
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)


ZERO_SHOT = described("13.zero-shot", cases=_zero_cases, oracle=_zero, cuts=False)
