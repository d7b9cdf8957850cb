"""Tasks on ids and vectors: one-hot rows, scaled embeddings, tied output, gradients of the table, padded batches."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import DTYPE, backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch


def drawn_ids(rng: Rng, vocab_size: int, *shape: int) -> np.ndarray:
    """Draw ids: never the last word of the vocabulary, and the first and the last of them alike."""
    ids = rng.integers(vocab_size - 1, size=shape)
    ids.flat[0] = ids.flat[-1]
    return ids


def _one_hot_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, d: int, *shape: int) -> Case:
        return Case(label, (drawn_ids(rng, v, *shape), normal(rng, v, d)))

    # Never a first axis of two: one result would be taken for two results.
    double = drawn_ids(rng, 6, 3, 2), doubles(rng, 6, 4)

    return [
        case("four tokens, V = 7, D = 3", 7, 3, 4),
        case("three sequences of two tokens, V = 6, D = 4", 6, 4, 3, 2),
        case("as many tokens as words as numbers", 4, 4, 4),
        case("as many sequences, tokens, words and numbers", 3, 3, 3, 3),
        case("three axes of ids, V = 5, D = 2", 5, 2, 3, 4, 2),
        case("one token", 5, 2, 1),
        Case("a table in float64", double, **DTYPE),
    ]


@graded(
    "03.one-hot",
    _one_hot_cases,
    parts={"core": 0.75, "dtype": 0.25},
    forbids=("torch.nn.functional.one_hot", "softlookup.reference", "softlookup.model"),
)
def _one_hot(ids: Any, table: Any) -> Any:
    hot = torch.nn.functional.one_hot(ids, len(table)).to(table.dtype)
    return hot, torch.nn.functional.embedding(ids, table)


def _gradient_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, d: int, *shape: int, once: bool = False) -> Case:
        ids = drawn_ids(rng, v, *shape)
        if once:
            ids = rng.permutation(v)[: shape[0]]
        elif ids.size > 3:
            ids.flat[1] = ids.flat[0]
            ids.flat[2] = 0
        return Case(label, (ids, doubles(rng, *shape, d), v))

    return [
        case("five tokens, one of them twice or more", 7, 3, 5),
        case("two sequences of four tokens", 6, 5, 2, 4),
        case("different tokens only", 6, 2, 4, once=True),
        case("three axes of ids", 5, 3, 2, 2, 4),
        case("equal sizes everywhere", 4, 4, 4, 4),
        case("one token", 5, 3, 1),
    ]


@graded("03.table-gradient", _gradient_cases, frame="numpy")
def _table_gradient(ids: np.ndarray, d_rows: np.ndarray, vocab_size: int) -> np.ndarray:
    hot = np.eye(vocab_size)[ids.ravel()]
    return np.einsum("nv,nd->vd", hot, d_rows.reshape(ids.size, -1))


def _embed_cases(rng: Rng, pad: int) -> list[Case]:
    def ids(v: int, *shape: int) -> np.ndarray:
        token_ids = drawn_ids(rng, v, *shape)
        others = [token for token in range(v) if token != pad]
        token_ids[token_ids == pad] = others[rng.integers(len(others))]
        return token_ids

    def padded(v: int, *shape: int) -> np.ndarray:
        token_ids = ids(v, *shape)
        token_ids[..., -1] = pad
        return token_ids

    upstream = doubles(rng, 2, 5, 4)
    return [
        Case("four tokens, V = 9, D = 6", (ids(9, 4), normal(rng, 9, 6))),
        Case("two sequences of five tokens, D = 3", (ids(8, 2, 5), normal(rng, 8, 3))),
        Case("three axes of ids, D = 6", (ids(7, 2, 4, 3), normal(rng, 7, 6))),
        Case("equal sizes everywhere", (ids(4, 4, 4), normal(rng, 4, 4))),
        Case("D = 64", (ids(7, 3), normal(rng, 7, 64))),
        Case("the last rows of V = 300", (299 - rng.permutation(12).reshape(3, 4), normal(rng, 300, 5))),
        Case("two sequences with padding", (padded(7, 2, 4), normal(rng, 7, 5)), part="pad"),
        Case("padding alone", (np.full((2, 3), pad), normal(rng, 6, 2)), part="pad"),
        Case("the gradient of the table", (padded(6, 2, 5), doubles(rng, 6, 4)), **backward(upstream, 1)),
    ]


@graded(
    "03.embed",
    _embed_cases,
    parts={"core": 0.5, "pad": 0.25, "gradient": 0.25},
    variants=({"pad": 0}, {"pad": 1}, {"pad": 2}, {"pad": 3}),
    forbids=("softlookup.reference", "softlookup.model"),
)
def _embed(ids: Any, table: Any, pad: int) -> Any:
    hot = torch.nn.functional.one_hot(ids, len(table)).to(table.dtype)
    return (hot * (torch.arange(len(table)) != pad)) @ table * table.shape[1] ** 0.5


def _tied_cases(rng: Rng) -> list[Case]:
    back = doubles(rng, 2, 3, 5)
    double = doubles(rng, 2, 3, 4), doubles(rng, 5, 4)
    return [
        Case("two sequences of three states, D = 4, V = 7", (normal(rng, 2, 3, 4), normal(rng, 7, 4))),
        Case("one state, D = 6, V = 5", (normal(rng, 6), normal(rng, 5, 6))),
        Case("equal sizes everywhere", (normal(rng, 4, 4), normal(rng, 4, 4))),
        Case("four axes", (normal(rng, 2, 3, 2, 5), normal(rng, 8, 5))),
        Case("the gradient of the table", double, **backward(back, 1)),
        Case("the gradient of the states", double, **backward(back, 0)),
    ]


@graded(
    "03.tied-logits",
    _tied_cases,
    parts={"core": 0.5, "gradient": 0.5},
    forbids=("softlookup.reference", "softlookup.model"),
)
def _tied(x: Any, table: Any) -> Any:
    return torch.einsum("...d,vd->...v", x, table)


def _pad_cases(rng: Rng) -> list[Case]:
    def case(label: str, lengths: tuple[int, ...], pad_id: int) -> Case:
        rows = [[int(i) for i in rng.integers(10, 99, size=n)] for n in lengths]
        return Case(label, (rows, pad_id))

    # Never two rows: one result of two rows would be taken for two results.
    rows = [[7, 3], [7], [int(rng.integers(10, 99)), 7, 7], [7]]
    return [
        case("three sequences, the longest of five tokens", (3, 5, 2), 0),
        case("as many sequences as tokens", (2, 3, 1), 0),
        case("a pad id that is not 0", (1, 4, 2, 4), 7),
        case("one sequence", (4,), 0),
        case("a sequence without a token", (2, 0, 3), 9),
        case("sequences of equal length", (2, 2, 2, 2), 5),
        Case("real tokens that have the pad id themselves", (rows, 7)),
        case("three sequences of one token", (1, 1, 1), 0),
        case("one sequence of one token", (1,), 3),
    ]


@graded("03.pad", _pad_cases, frame="plain", asks_in="torch")  # ids are whole numbers in the frame of tensors
def _pad(sequences: list[list[int]], pad_id: int) -> Any:
    longest = max(map(len, sequences))
    ids = np.array([[*row, *[pad_id] * (longest - len(row))] for row in sequences])
    return ids, np.arange(longest) < np.array([len(row) for row in sequences])[:, None]
