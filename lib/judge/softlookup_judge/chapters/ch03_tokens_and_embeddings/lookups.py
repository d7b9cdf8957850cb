"""Tasks on lookups: one-hot rows, and the gradient of the table."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def drawn_ids(rng: Rng, vocab_size: int, *shape: int) -> np.ndarray:
    """Draw ids: never the last word of the vocabulary, and the first and the last of them alike."""
    ids = rng.integers(vocab_size - 1, size=shape)
    ids.flat[0] = ids.flat[-1]
    return ids


def _one_hot_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, d: int, *shape: int) -> Case:
        return Case(label, (drawn_ids(rng, v, *shape), normal(rng, v, d)))

    # Never a first axis of two: one result would be taken for two results.
    doubles = drawn_ids(rng, 6, 3, 2), normal(rng, 6, 4, dtype="float64")

    return [
        case("four tokens, V = 7, D = 3", 7, 3, 4),
        case("three sequences of two tokens, V = 6, D = 4", 6, 4, 3, 2),
        case("as many tokens as words as numbers", 4, 4, 4),
        case("as many sequences, tokens, words and numbers", 3, 3, 3, 3),
        case("three axes of ids, V = 5, D = 2", 5, 2, 3, 4, 2),
        case("one token", 5, 2, 1),
        Case("a table in float64", doubles, part="dtype", keeps_dtype=True),
    ]


def _one_hot(ids: Any, table: Any) -> Any:
    import torch

    hot = torch.nn.functional.one_hot(ids, len(table)).to(table.dtype)
    return hot, torch.nn.functional.embedding(ids, table)


ONE_HOT = described(
    "03.one-hot",
    cases=_one_hot_cases,
    oracle=_one_hot,
    parts={"core": 0.75, "dtype": 0.25},
    forbids=("torch.nn.functional.one_hot", "softlookup.reference", "softlookup.model"),
)


def _gradient_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, d: int, *shape: int, once: bool = False) -> Case:
        ids = drawn_ids(rng, v, *shape)
        if once:
            ids = rng.permutation(v)[: shape[0]]
        elif ids.size > 3:
            ids.flat[1] = ids.flat[0]
            ids.flat[2] = 0
        return Case(label, (ids, normal(rng, *shape, d, dtype="float64"), v), frame="numpy")

    return [
        case("five tokens, one of them twice or more", 7, 3, 5),
        case("two sequences of four tokens", 6, 5, 2, 4),
        case("different tokens only", 6, 2, 4, once=True),
        case("three axes of ids", 5, 3, 2, 2, 4),
        case("equal sizes everywhere", 4, 4, 4, 4),
        case("one token", 5, 3, 1),
    ]


def _table_gradient(ids: np.ndarray, d_rows: np.ndarray, vocab_size: int) -> np.ndarray:
    hot = np.eye(vocab_size)[ids.ravel()]
    return np.einsum("nv,nd->vd", hot, d_rows.reshape(ids.size, -1))


TABLE_GRADIENT = described("03.table-gradient", frame="numpy", cases=_gradient_cases, oracle=_table_gradient)
