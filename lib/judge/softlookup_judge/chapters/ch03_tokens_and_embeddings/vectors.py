"""Tasks on vectors: the scale of embeddings, and the tied output."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch03_tokens_and_embeddings.lookups import drawn_ids
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _embed_cases(rng: Rng, pad: int) -> list[Case]:
    def ids(v: int, *shape: int) -> np.ndarray:
        token_ids = drawn_ids(rng, v, *shape)
        others = [word for word in range(v) if word != pad]
        token_ids[token_ids == pad] = others[rng.integers(len(others))]
        return token_ids

    def padded(v: int, *shape: int) -> np.ndarray:
        token_ids = ids(v, *shape)
        token_ids[..., -1] = pad
        return token_ids

    upstream = normal(rng, 2, 5, 4, dtype="float64")
    return [
        Case("four tokens, V = 9, D = 6", (ids(9, 4), normal(rng, 9, 6))),
        Case("two sequences of five tokens, D = 3", (ids(8, 2, 5), normal(rng, 8, 3))),
        Case("three axes of ids, D = 6", (ids(7, 2, 4, 3), normal(rng, 7, 6))),
        Case("equal sizes everywhere", (ids(4, 4, 4), normal(rng, 4, 4))),
        Case("D = 64", (ids(7, 3), normal(rng, 7, 64))),
        Case("the last rows of V = 300", (299 - rng.permutation(12).reshape(3, 4), normal(rng, 300, 5))),
        Case("two sequences with padding", (padded(7, 2, 4), normal(rng, 7, 5)), part="pad"),
        Case("padding alone", (np.full((2, 3), pad), normal(rng, 6, 2)), part="pad"),
        Case(
            "the gradient of the table",
            (padded(6, 2, 5), normal(rng, 6, 4, dtype="float64")),
            part="gradient",
            gradients=(1,),
            upstream=upstream,
        ),
    ]


def _embed(ids: Any, table: Any, pad: int) -> Any:
    import torch

    hot = torch.nn.functional.one_hot(ids, len(table)).to(table.dtype)
    return (hot * (torch.arange(len(table)) != pad)) @ table * table.shape[1] ** 0.5


EMBED = described(
    "03.embed",
    cases=_embed_cases,
    oracle=_embed,
    parts={"core": 0.5, "pad": 0.25, "gradient": 0.25},
    variants=({"pad": 0}, {"pad": 1}, {"pad": 2}, {"pad": 3}),
    forbids=("softlookup.reference", "softlookup.model"),
)


def _tied_cases(rng: Rng) -> list[Case]:
    back = normal(rng, 2, 3, 5, dtype="float64")
    doubles = normal(rng, 2, 3, 4, dtype="float64"), normal(rng, 5, 4, dtype="float64")
    return [
        Case("two sequences of three states, D = 4, V = 7", (normal(rng, 2, 3, 4), normal(rng, 7, 4))),
        Case("one state, D = 6, V = 5", (normal(rng, 6), normal(rng, 5, 6))),
        Case("equal sizes everywhere", (normal(rng, 4, 4), normal(rng, 4, 4))),
        Case("four axes", (normal(rng, 2, 3, 2, 5), normal(rng, 8, 5))),
        Case("the gradient of the table", doubles, part="gradient", gradients=(1,), upstream=back),
        Case("the gradient of the states", doubles, part="gradient", gradients=(0,), upstream=back),
    ]


def _tied(x: Any, table: Any) -> Any:
    import torch

    return torch.einsum("...d,vd->...v", x, table)


TIED_LOGITS = described(
    "03.tied-logits",
    cases=_tied_cases,
    oracle=_tied,
    parts={"core": 0.5, "gradient": 0.5},
    forbids=("softlookup.reference", "softlookup.model"),
)
