"""Tasks on two modalities: the contrastive loss, labels that are texts, cross-attention with a gate, and rollout."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, normal, of_many_lengths
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.chapters.oracles import attended, from_heads, projected, torch
from softlookup_judge.data.words import rows_sum_to_one


def _loss_cases(rng: Rng, sign: float, wording: str) -> list[Case]:
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
        Case("gradients of both and of the scale", double, **backward(np.asarray(1.7), 0, 1, 2)),
    ]


SCALE_NAMED = ("**multiplied by** $e^\\sigma$", "**divided by** $e^\\sigma$")


@graded(
    "13.contrastive",
    _loss_cases,
    parts={"core": 0.7, "large": 0.1, "gradient": 0.2},
    variants=tuple({"sign": s, "wording": wording} for s, wording in zip((1.0, -1.0), SCALE_NAMED, strict=True)),
)
def _loss(images: Any, texts: Any, log_scale: Any, sign: float, wording: str) -> Any:
    """Each picture's own pair against all others, by logsumexp; no labels, no softmax."""
    cosines = torch.nn.functional.cosine_similarity(images[:, None], texts[None], dim=-1)
    scores = cosines * torch.exp(sign * log_scale)
    diagonal = scores.diagonal().mean()
    return (torch.logsumexp(scores, 0).mean() + torch.logsumexp(scores, 1).mean()) / 2 - diagonal


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


@graded("13.zero-shot", _zero_cases, cuts=False)
def _zero(images: Any, labels: Any, scale: float) -> Any:
    """One label after the other, by its own unit vector; shares of exponentials."""
    columns = []
    for sentences in labels:
        mean = (sentences / torch.linalg.vector_norm(sentences, dim=-1, keepdim=True)).sum(0)
        columns.append(torch.nn.functional.cosine_similarity(images, mean[None], dim=-1))
    scores = torch.stack(columns, dim=-1) * scale
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True)


def _look_args(
    rng: Rng, b: int, t: int, s: int, d: int, m: int, n: int, h: int, gate: float, dtype: str = "float32"
) -> tuple[Any, ...]:
    def weight(rows: int, columns: int) -> np.ndarray:
        return normal(rng, rows, columns, dtype=dtype, scale=rows**-0.5)

    return (
        normal(rng, b, t, d, dtype=dtype),
        normal(rng, b, s, m, dtype=dtype),
        weight(d, n * h),
        weight(m, n * h),
        weight(m, n * h),
        weight(n * h, d),
        np.asarray(gate, dtype=dtype),
        n,
    )


def _look_cases(rng: Rng) -> list[Case]:
    return [
        Case("a text of 3 words, D = 4, and 5 patches of width 6", _look_args(rng, 2, 3, 5, 4, 6, 2, 3, 0.8)),
        Case("D = 6, patches of width 3, N = 3, H = 2", _look_args(rng, 2, 4, 7, 6, 3, 3, 2, -1.3)),
        Case("the same widths, T = S = 4, N = 2", _look_args(rng, 3, 4, 4, 6, 6, 2, 3, 0.6)),
        Case("B = T = S = N = H = 3, both widths 9", _look_args(rng, 3, 3, 3, 9, 9, 3, 3, 2.0)),
        Case("one text of one word, one patch", _look_args(rng, 1, 1, 1, 4, 3, 2, 2, 0.9)),
        Case("a gate of 0: the text as it was", _look_args(rng, 2, 3, 4, 4, 4, 2, 2, 0.0), part="gate"),
        Case("a large gate", _look_args(rng, 2, 3, 4, 5, 4, 1, 4, 6.0), part="gate"),
        Case(
            "gradients of text, picture, weights and gate",
            _look_args(rng, 2, 3, 4, 4, 5, 2, 3, 0.4, "float64"),
            **backward(doubles(rng, 2, 3, 4), 0, 1, 2, 3, 4, 5, 6),
        ),
    ]


@graded("13.look", _look_cases, parts={"core": 0.7, "gate": 0.15, "gradient": 0.15}, forbids=ATTENTIONS)
def _look(x: Any, picture: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, gate: Any, n_heads: int) -> Any:
    """All heads at once, with torch's own attention."""
    q, k, v = projected(x, w_q, n_heads), projected(picture, w_k, n_heads), projected(picture, w_v, n_heads)
    return torch.addcmul(x, torch.tanh(gate).expand_as(x), from_heads(attended(q, k, v), w_o))


def _maps(rng: Rng, layers: int, n: int, t: int, dtype: str = "float32") -> np.ndarray:
    scores = 1.5 * rng.standard_normal((layers, n, t, t))
    raised = np.exp(scores)
    return (raised / raised.sum(-1, keepdims=True)).astype(dtype)


def _rollout_cases(rng: Rng) -> list[Case]:
    return [
        Case("L = 3, N = 2, T = 5", (_maps(rng, 3, 2, 5),)),
        Case("L = 2, N = 4, T = 3", (_maps(rng, 2, 4, 3),)),
        Case("L = N = T = 4", (_maps(rng, 4, 4, 4),)),
        Case("one layer", (_maps(rng, 1, 3, 4),)),
        Case("one layer, one head, one token", (_maps(rng, 1, 1, 1),)),
        Case("one head, float64", (_maps(rng, 4, 1, 6, "float64"),)),
    ]


@graded("13.rollout", _rollout_cases, properties=(rows_sum_to_one,), cuts=False)
def _rollout(maps: Any) -> Any:
    """Token by token backwards: what stands at a place on top came from where."""
    n = maps.shape[-1]
    rows = []
    for t in range(n):
        origin = torch.zeros(n, dtype=maps.dtype)
        origin[t] = 1.0
        for layer in reversed(range(len(maps))):
            looked = torch.einsum("t,nts->s", origin, maps[layer]) / maps.shape[1]
            origin = torch.lerp(origin, looked, 0.5)
        rows.append(origin)
    return torch.stack(rows)
