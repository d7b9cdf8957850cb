"""Tasks on lookups: one-hot rows, and the gradient of the table."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import known
from softlookup.checks.task import Case, Mistake, Task
from softlookup.checks.tokens_and_embeddings.page import PAGE


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


HOT = "(ids[..., None] == torch.arange(len(table))).to(table.dtype)"

ONE_HOT = Task(
    id="03.one-hot",
    name="one_hot_lookup",
    title="A lookup as a product",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="tokens-one-hot",
    returns=("hot", "rows"),
    cases=_one_hot_cases,
    oracle=_one_hot,
    parts={"core": 0.75, "dtype": 0.25},
    forbids=("torch.nn.functional.one_hot", "softlookup.reference", "softlookup.model"),
    mistakes=(
        known(
            "from-one",
            ("(ids[..., None] ==", "(ids[..., None] + 1 =="),
            says="The ones stand one place too far: ids are counted from 0.",
        ),
        known(
            "id-for-one",
            (HOT, HOT + " * ids[..., None]"),
            says="The id itself stands where a 1 belongs, and the row of the table comes out multiplied by it.",
        ),
        known(
            "all-in-one-row",
            (HOT, HOT + "\n    hot = hot.sum(dim=-2)"),
            says="All tokens share one row: each token has a row of its own, or their order is lost.",
        ),
        known(
            "flattened",
            (HOT, HOT + "\n    hot = hot.reshape(-1, len(table))"),
            says="The axes of the ids have run together: the axis of V is added behind them.",
        ),
        known(
            "table-transposed",
            ("hot @ table", "hot @ table.T"),
            says="The table is transposed: its rows are the words, and a one-hot row picks a row.",
        ),
        Mistake(
            "dtype-lost",
            "The one-hot rows have another dtype than the table: make them with `dtype=table.dtype`, or turn them "
            "with `.to(table.dtype)`.",
            None,
            ((".to(table.dtype)\n    return hot, hot @ table", ".float()\n    return hot, hot @ table.float()"),),
            symptom="dtype",
        ),
    ),
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


ADD = "np.add.at(grad, ids, d_rows)"

TABLE_GRADIENT = Task(
    id="03.table-gradient",
    name="table_gradient",
    title="The gradient of the table",
    points=3,
    minutes=6,
    difficulty=2,
    page=PAGE,
    anchor="tokens-gradient",
    returns=("grad",),
    frame="numpy",
    cases=_gradient_cases,
    oracle=_table_gradient,
    mistakes=(
        known(
            "last-wins",
            (ADD, "grad[ids] += d_rows"),
            says="Where a word stands twice, the last place wins: its gradients add up. (In numpy `grad[ids] += d` "
            "reads first and writes then, so it adds once for each word; `np.add.at` adds each time.)",
        ),
        known(
            "mean-for-sum",
            ("return grad", "return grad / np.maximum(np.bincount(ids.ravel(), minlength=vocab_size), 1)[:, None]"),
            says="The gradients of a word's places are averaged: they add up.",
        ),
        known(
            "every-row",
            (ADD, "grad += d_rows.reshape(-1, d_rows.shape[-1]).sum(axis=0)"),
            says="Every row of the table gets a gradient: only the rows of the words that were looked up do.",
        ),
        known(
            "from-one",
            (ADD, "np.add.at(grad, ids + 1, d_rows)"),
            says="The gradient goes one row too far down: ids are counted from 0.",
        ),
        known(
            "first-sequence-only",
            (ADD, "np.add.at(grad, *((ids[0], d_rows[0]) if ids.ndim > 1 else (ids, d_rows)))"),
            says="Only the first sequence of the batch counts: all of them look into the same table.",
        ),
        known(
            "pad-left-out",
            ("return grad", "grad[0] = 0.0\n    return grad"),
            says="Row 0 gets no gradient: no padding was spoken of here, and id 0 is a word like any other.",
        ),
        known(
            "transposed",
            ("return grad", "return grad.T"),
            says="The gradient has the shape of the table: (V, D).",
        ),
    ),
)
