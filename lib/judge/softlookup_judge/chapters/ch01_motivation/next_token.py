"""Tasks on learning from plain text: the pairs that it holds, and one step that makes a label likelier."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, graded, variants_by
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import AUTOGRAD
from softlookup_judge.chapters.oracles import torch


def _pairs_cases(rng: Rng, pad: int) -> list[Case]:
    def ids(n: int) -> np.ndarray:
        # All different, none of them a pad: a pair cannot be right by chance.
        return rng.permutation(np.arange(100, 160))[:n].astype(np.int64)

    repeated = np.array([104, 107, 104, 104, 131, 107], dtype=np.int64)
    return [
        Case("seven tokens", (ids(7),)),
        Case("four tokens", (ids(4),)),
        Case("a text of eleven tokens", (ids(11),)),
        Case("two tokens", (ids(2),)),
        Case("tokens that come again", (repeated,)),
        Case("ids of a large vocabulary", (np.array([50_256, 300, 40_000, 65_535]),)),
        Case("the features' dtype", (ids(3),), **DTYPE),
        Case("ids of dtype int32", (ids(5).astype("int32"),), **DTYPE),
    ]


@graded(
    "01.pairs", _pairs_cases, variants=variants_by(pad=(0, 9, 1, 2, 3, 4, 5, 7, 8)), parts={"core": 0.9, "dtype": 0.1}
)
def _pairs(ids: Any, pad: int) -> tuple[Any, Any]:
    """A lower triangle of the tokens, and the tokens rolled round by one."""
    visible = torch.ones(len(ids) - 1, len(ids) - 1, dtype=torch.bool).tril()
    features = torch.where(visible, ids[None, :-1], torch.tensor(pad))
    return features, torch.roll(ids, -1)[:-1]


def _push_cases(rng: Rng, rate: float) -> list[Case]:
    def case(label: str, t: int, v: int, part: str = "core", dtype: str = "float32", size: float = 1.5) -> Case:
        labels = rng.integers(1, v - 1, size=t)  # neither the first nor the last, so that a slip by one shows
        labels[0] = v - 2
        keeps = part == "dtype"
        logits = normal(rng, t, v, dtype=dtype, scale=size)
        if part == "large":  # a row whose powers overflow even in float64, one whose powers are all 0, one in between
            logits += np.linspace(950, -950, t, dtype=dtype)[:, None] - logits.max(axis=1, keepdims=True)
        return Case(label, (logits, labels), part=part, keeps_dtype=keeps)

    # The row's mean or minimum in the place of its maximum: the powers overflow all the same.
    far = normal(rng, 3, 5)
    far[0, 2] += 900.0
    far[1, [0, 3]] -= 900.0
    far[2] += [900.0, -900.0, 0.0, 0.0, 899.0]
    return [
        case("three positions, five words", 3, 5),
        case("four positions, four words", 4, 4),
        case("six positions, four words", 6, 4),
        case("one position", 1, 7),
        case("logits near a thousand", 3, 6, "large", size=20.0),
        Case("logits near 900, 0 and -900 in one row", (far, np.array([3, 1, 2])), part="large"),
        case("float64 logits", 2, 5, "dtype", "float64"),
        case("float32 logits", 2, 5, "dtype"),
    ]


@graded(
    "01.push-up",
    _push_cases,
    parts={"core": 0.8, "large": 0.1, "dtype": 0.1},
    variants=variants_by(rate=(0.5, 0.25, 2.0, 0.1, 0.2, 0.75, 1.5, 3.0, 4.0)),
    forbids=AUTOGRAD,
)
def _push(logits: Any, labels: Any, rate: float) -> Any:
    """Torch's own loss and its own derivative."""
    leaf = logits.clone().requires_grad_(True)
    (slope,) = torch.autograd.grad(torch.nn.functional.cross_entropy(leaf, labels), leaf)
    return torch.add(logits, slope, alpha=-rate)
