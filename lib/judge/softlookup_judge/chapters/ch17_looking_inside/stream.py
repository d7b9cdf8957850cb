"""Tasks on the residual stream: the logit lens, and what each part adds to a logit."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


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


def _lens(states: Any, gain: Any, w_out: Any, eps: float) -> Any:
    """Vector by vector, by torch's own norm."""
    import torch

    rows = [[torch.nn.functional.rms_norm(x, x.shape, gain, eps) for x in layer] for layer in states]
    return torch.stack([torch.nn.functional.linear(torch.stack(layer), w_out.T) for layer in rows])


LENS = described("17.lens", cases=_lens_cases, oracle=_lens, cuts=False)


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


def _attribute(z: Any, w_o: Any, x: Any, gain: Any, w_out: Any, token: int, eps: float) -> Any:
    """What the logit loses if one head's vector is set to 0 while the divisor is held."""
    import torch

    divisor = (x[-1] @ x[-1] / len(x[-1]) + eps) ** 0.5
    column = gain * w_out[:, token] / divisor

    def logit_of(chosen: list[int]) -> Any:
        side_by_side = torch.cat([z[i, -1] if i in chosen else torch.zeros_like(z[i, -1]) for i in range(len(z))])
        return side_by_side @ w_o @ column

    heads = list(range(len(z)))
    return torch.stack([logit_of(heads) - logit_of([j for j in heads if j != i]) for i in heads])


ATTRIBUTE = described("17.attribute-heads", cases=_attribute_cases, oracle=_attribute, cuts=False)


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


def _difference(
    embedding: Any, attention: Any, feed_forward: Any, gain: Any, w_out: Any, token: int, other: int, eps: float
) -> Any:
    """From the logits of every part, normalised by the divisor of all."""
    import torch

    parts = torch.cat((embedding[None], attention, feed_forward))
    x = parts.sum(0)
    logits = parts / (x.pow(2).sum() / len(x) + eps) ** 0.5 @ torch.diag(gain) @ w_out
    differences = logits[:, token] - logits[:, other]
    return differences[0], differences[1 : 1 + len(attention)], differences[1 + len(attention) :]


DIFFERENCE = described("17.difference", cases=_difference_cases, oracle=_difference, cuts=False)
