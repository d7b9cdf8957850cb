"""Tasks that join masks and write them in another convention."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.ch08_decoder_and_masks.masks import (
    drawn_ids,
)
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _combine_cases(rng: Rng) -> list[Case]:
    return [
        Case("three words, two pads", (np.array([[11, 12, 13, 0, 0]]), 0)),
        Case("three rows of six", (drawn_ids(rng, (6, 4, 2), 6, 0), 0)),
        Case("as many rows as tokens", (drawn_ids(rng, (3, 2, 1), 3, 7), 7)),
        Case("filled up on the left: some see nothing", (drawn_ids(rng, (2, 5), 5, 3, left=True), 3)),
        Case("one token", (drawn_ids(rng, (1, 1), 1, 2), 2)),
    ]


def _combine(ids: Any, pad_id: int) -> Any:
    import torch

    t = ids.shape[1]
    hidden = torch.ones(t, t).triu(1).bool() | ids.eq(pad_id)[:, None, :]
    return hidden.logical_not().unsqueeze(1)


COMBINE = described("08.combine", cases=_combine_cases, oracle=_combine)


def _convert_cases(rng: Rng) -> list[Case]:
    def case(label: str, shape: tuple[int, ...], mask: np.ndarray, dtype: str, part: str = "core") -> Case:
        scores = normal(rng, *shape, dtype=dtype)
        scores.flat[-1] = -np.inf  # their numbers do not matter: some may be hidden already
        return Case(label, (scores, mask), part=part, keeps_dtype=True)

    def hidden(*shape: int) -> np.ndarray:
        return ~draws.seeing_mask(rng, *shape)

    return [
        case("four queries, five keys", (4, 5), hidden(4, 5), "float32"),
        case("a batch with heads, one mask for all", (2, 3, 4, 4), hidden(4, 4), "float32"),
        case("padding: a mask (B, 1, 1, S)", (2, 3, 4, 5), hidden(2, 1, 1, 5), "float32"),
        case("one query", (1, 4), hidden(1, 4), "float32"),
        case("one key", (3, 1), np.array([[False], [True], [False]]), "float32"),
        case("a mask of one axis, for all queries", (2, 4, 5), hidden(5), "float32"),
        case("nothing is hidden", (3, 3), np.zeros((3, 3), dtype=bool), "float32"),
        case("float64", (3, 6), hidden(3, 6), "float64", "dtype"),
        case("half precision", (3, 4), hidden(3, 4), "float16", "dtype"),
    ]


def _convert(scores: Any, mask: Any) -> Any:
    import torch

    return torch.where(mask, -torch.inf, torch.zeros_like(scores))


CONVERT = described("08.convert", cases=_convert_cases, oracle=_convert, parts={"core": 0.8, "dtype": 0.2})
