"""Tasks on the residual stream, and on heads and interventions in it."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles, normal, softmax
from softlookup_judge.chapters.oracles import torch


def _end(rng: Rng, width: int, vocabulary: int) -> tuple[np.ndarray, np.ndarray]:
    """The gain of the last norm, and the matrix behind it."""
    return rng.uniform(0.4, 2.0, width).astype("float32"), normal(rng, width, vocabulary)


def _lens_cases(rng: Rng) -> list[Case]:
    def case(label: str, states: int, t: int, d: int, v: int, eps: float = 1e-6, grows: float = 1.0) -> Case:
        added = normal(rng, states, t, d) * np.float32(grows) ** np.arange(states, dtype="float32")[:, None, None]
        return Case(label, (np.cumsum(added, axis=0, dtype="float32"), *_end(rng, d, v), eps))

    tiny = case("tiny states, one of them zero", 3, 2, 6, 4)
    states = np.float32(1e-3) * tiny.args[0]
    states[1, 0] = 0
    return [
        case("two layers, T = 4, D = 5, V = 6", 3, 4, 5, 6),
        case("T = D = V = 4, three layers", 4, 4, 4, 4),
        case("a large eps", 3, 3, 6, 5, 0.5),
        case("a stream that grows", 5, 2, 8, 3, grows=2.0),
        case("one position, one layer", 2, 1, 3, 7),
        replace(tiny, args=(states, *tiny.args[1:])),
    ]


@graded("17.lens", _lens_cases, cuts=False)
def _lens(states: Any, gain: Any, w_out: Any, eps: float) -> Any:
    """Vector by vector, by torch's own norm."""
    rows = [[torch.nn.functional.rms_norm(x, x.shape, gain, eps) for x in layer] for layer in states]
    return torch.stack([torch.nn.functional.linear(torch.stack(layer), w_out.T) for layer in rows])


def _attribute_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, t: int, h: int, d: int, v: int, eps: float = 1e-6) -> Case:
        inputs = normal(rng, n, t, h), normal(rng, n * h, d), normal(rng, t, d, scale=2.0), *_end(rng, d, v)
        return Case(label, (*inputs, int(rng.integers(v)), eps))

    return [
        case("two heads, T = 4, H = 3, D = 5, V = 6", 2, 4, 3, 5, 6),
        case("N = T = H = D = V = 4", 4, 4, 4, 4, 4),
        case("three heads of width 2, a large eps", 3, 5, 2, 6, 7, 0.5),
        case("one position", 2, 1, 4, 8, 3),
        case("five heads", 5, 3, 2, 10, 4),
    ]


@graded("17.attribute-heads", _attribute_cases, cuts=False)
def _attribute(z: Any, w_o: Any, x: Any, gain: Any, w_out: Any, token: int, eps: float) -> Any:
    """What the logit loses if one head's vector is set to 0 while the divisor is held."""
    divisor = (x[-1] @ x[-1] / len(x[-1]) + eps) ** 0.5
    column = gain * w_out[:, token] / divisor

    def logit_of(chosen: list[int]) -> Any:
        side_by_side = torch.cat([z[i, -1] if i in chosen else torch.zeros_like(z[i, -1]) for i in range(len(z))])
        return side_by_side @ w_o @ column

    heads = list(range(len(z)))
    return torch.stack([logit_of(heads) - logit_of([j for j in heads if j != i]) for i in heads])


def _difference_cases(rng: Rng) -> list[Case]:
    def case(label: str, layers: int, d: int, v: int, eps: float = 1e-6) -> Case:
        token, other = (int(i) for i in rng.permutation(v)[:2])
        parts = normal(rng, d), normal(rng, layers, d), normal(rng, layers, d, scale=0.7)
        return Case(label, (*parts, *_end(rng, d, v), token, other, eps))

    return [
        case("three layers, D = 5, V = 6", 3, 5, 6),
        case("L = D = V = 4", 4, 4, 4),
        case("a large eps", 2, 6, 3, 0.5),
        case("one layer", 1, 8, 5),
        case("six layers", 6, 3, 7),
    ]


@graded("17.difference", _difference_cases, cuts=False)
def _difference(
    embedding: Any, attention: Any, feed_forward: Any, gain: Any, w_out: Any, token: int, other: int, eps: float
) -> Any:
    """From the logits of every part, normalised by the divisor of all."""
    parts = torch.cat((embedding[None], attention, feed_forward))
    x = parts.sum(0)
    logits = parts / (x.pow(2).sum() / len(x) + eps) ** 0.5 @ torch.diag(gain) @ w_out
    differences = logits[:, token] - logits[:, other]
    return differences[0], differences[1 : 1 + len(attention)], differences[1 + len(attention) :]


def _silence_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, t: int, h: int, d: int, head: int) -> Case:
        return Case(label, (normal(rng, n, t, h), normal(rng, n * h, d), normal(rng, d), head))

    return [
        case("the second of three heads, T = 4", 3, 4, 2, 5, 1),
        case("N = T = H = D = 4, the first head", 4, 4, 4, 4, 0),
        case("the last of two heads", 2, 5, 3, 6, 1),
        case("one head alone", 1, 3, 4, 2, 0),
        case("one position", 3, 1, 3, 4, 2),
    ]


@graded("17.silence", _silence_cases, cuts=False)
def _silence(z: Any, w_o: Any, b_o: Any, head: int) -> Any:
    """By what the head adds through its own rows, taken away from the whole."""
    width = z.shape[2]
    whole = torch.cat(list(z), dim=1) @ w_o + b_o
    rows = w_o[head * width : (head + 1) * width]
    without = whole - z[head] @ rows
    return without, without + (z[head].sum(0) / z.shape[1]) @ rows


def _induction_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, block: int) -> Case:
        t = 2 * block
        scores = 2 * doubles(rng, n, t, t)
        for shift in (1, block - 1, block):  # the token before, the one behind the same token, and the same token
            at = np.arange(shift, t)
            scores[rng.integers(n), at, at - shift] += 2.5
        hidden = np.triu(np.ones((t, t), dtype=bool), 1)
        return Case(label, (softmax(np.where(hidden, -np.inf, scores)).astype("float32"),))

    return [
        case("three heads, a block of 4", 3, 4),
        case("two heads, a block of 5", 2, 5),
        case("one head, a block of 3", 1, 3),
        case("six heads, a block of 6", 6, 6),
        case("a block of 2", 2, 2),
    ]


@graded("17.induction", _induction_cases, cuts=False)
def _induction(weights: Any) -> Any:
    """Along a diagonal, below the main one."""
    half = weights.shape[-1] // 2
    return torch.stack([torch.diagonal(pattern, 1 - half)[1 : half + 1].mean() for pattern in weights])


def _answer(x: np.ndarray, mixes: np.ndarray, weights: np.ndarray, read: np.ndarray) -> float:
    for mix, weight in zip(mixes, weights, strict=True):
        x = x + np.tanh(mix @ x @ weight)
    return float(x[-1] @ read)


def _patch_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, d: int, layers: int, alike: int = 0) -> Case:
        while True:
            clean, corrupted = doubles(rng, t, d), doubles(rng, t, d)
            corrupted[:alike] = clean[:alike]
            mixes = np.tril(softmax(doubles(rng, layers, t, t)))
            weights, read = doubles(rng, layers, d, d), doubles(rng, d)
            both = [_answer(x, mixes, weights, read) for x in (clean, corrupted)]
            if abs(both[0] - both[1]) > 0.5 and abs(both[0]) > 0.5:
                return Case(label, (clean, corrupted, mixes, weights, read))

    return [
        case("T = 3, D = 4, two layers", 3, 4, 2),
        case("T = D = L = 3", 3, 3, 3),
        case("inputs that differ at the last two positions", 5, 3, 2, alike=3),
        case("one layer", 4, 2, 1),
        case("one position", 1, 4, 3),
    ]


@graded("17.patch", _patch_cases, cuts=False)
def _patch(clean: Any, corrupted: Any, mixes: Any, weights: Any, read: Any) -> Any:
    """With both runs side by side, and every patched run from the first layer on."""
    layers, t = len(mixes), len(clean)

    def run(patch: tuple[int, int] | None) -> tuple[Any, Any]:
        good, bad = clean, corrupted
        for i in range(layers):
            if patch is not None and patch[0] == i:
                here = torch.arange(t)[:, None] == patch[1]
                bad = torch.where(here, good, bad)
            good, bad = (x + (mixes[i] @ x @ weights[i]).tanh() for x in (good, bad))
        return good[-1] @ read, bad[-1] @ read

    clean_result, got = run(None)
    return torch.stack(
        [torch.stack([(run((i, at))[1] - got) / (clean_result - got) for at in range(t)]) for i in range(layers)]
    )
