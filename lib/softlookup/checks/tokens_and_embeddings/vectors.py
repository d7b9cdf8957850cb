"""Tasks on vectors: one-hot rows, the table and its gradient, the scale, the tied output."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import gradient_cut, known
from softlookup.checks.task import Case, Mistake, Task
from softlookup.checks.tokens_and_embeddings.page import PAGE, Flags


def _ids(rng: Rng, vocab_size: int, *shape: int) -> np.ndarray:
    """Drawn ids, the last word of the vocabulary not among them but once, some twice."""
    ids = rng.integers(vocab_size - 1, size=shape)
    ids.flat[0] = ids.flat[-1]
    return ids


def _one_hot_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, d: int, *shape: int) -> Case:
        return Case(label, (_ids(rng, v, *shape), normal(rng, v, d)))

    return [
        case("four tokens, V = 7, D = 3", 7, 3, 4),
        case("two sequences of three tokens, V = 6, D = 4", 6, 4, 2, 3),
        case("as many tokens as words as numbers", 4, 4, 4),
        case("as many sequences, tokens, words and numbers", 3, 3, 3, 3),
        case("one token", 5, 2, 1),
    ]


def _one_hot(ids: Any, table: Any) -> Any:
    import torch

    hot = torch.nn.functional.one_hot(ids, len(table)).to(table.dtype)
    return hot, torch.nn.functional.embedding(ids, table)


def _one_hot_mistaken(flags: Flags, ids: np.ndarray, table: np.ndarray) -> Any:
    size = len(table)
    ids = ids + 1 if "from-one" in flags else ids
    hot = (ids[..., None] == np.arange(size)).astype(table.dtype)
    if "id-for-one" in flags:
        hot = hot * ids[..., None].astype(table.dtype)
    if "all-in-one-row" in flags:
        hot = hot.sum(axis=-2)
    if "flattened" in flags:
        hot = hot.reshape(-1, size)
    if "table-transposed" in flags:
        return hot, hot @ table.T
    return hot, hot @ table


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
    mistaken=_one_hot_mistaken,
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
    ),
)


def _gradient_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, d: int, *shape: int, once: bool = False) -> Case:
        ids = _ids(rng, v, *shape)
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
        case("equal sizes everywhere", 4, 4, 4, 4),
        case("one token", 5, 3, 1),
    ]


def _table_gradient(ids: np.ndarray, d_rows: np.ndarray, vocab_size: int) -> np.ndarray:
    hot = np.eye(vocab_size)[ids.ravel()]
    return np.einsum("nv,nd->vd", hot, d_rows.reshape(ids.size, -1))


def _table_gradient_mistaken(flags: Flags, ids: np.ndarray, d_rows: np.ndarray, vocab_size: int) -> np.ndarray:
    grad = np.zeros((vocab_size, d_rows.shape[-1]))
    if "first-sequence-only" in flags:
        ids, d_rows = (ids[0], d_rows[0]) if ids.ndim > 1 else (ids, d_rows)
    flat_ids, flat = ids.ravel(), d_rows.reshape(ids.size, -1)
    flat_ids = flat_ids + 1 if "from-one" in flags else flat_ids
    for word, row in zip(flat_ids.tolist(), flat, strict=True):
        grad[word] = row if "last-wins" in flags else grad[word] + row
    if "mean-for-sum" in flags:
        grad /= np.maximum(np.bincount(flat_ids, minlength=vocab_size), 1)[:, None]
    if "pad-left-out" in flags:
        grad[0] = 0.0
    if "every-row" in flags:
        grad = np.broadcast_to(flat.sum(axis=0), grad.shape).copy()
    return grad.T if "transposed" in flags else grad


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
    mistaken=_table_gradient_mistaken,
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


def _embed_cases(rng: Rng, pad: int) -> list[Case]:
    def ids(v: int, *shape: int) -> np.ndarray:
        found = _ids(rng, v, *shape)
        others = [word for word in range(v) if word != pad]
        found[found == pad] = others[rng.integers(len(others))]
        return found

    def padded(v: int, *shape: int) -> np.ndarray:
        found = ids(v, *shape)
        found[..., -1] = pad
        return found

    upstream = normal(rng, 2, 5, 4, dtype="float64")
    return [
        Case("four tokens, V = 9, D = 6", (ids(9, 4), normal(rng, 9, 6))),
        Case("two sequences of five tokens, D = 3", (ids(8, 2, 5), normal(rng, 8, 3))),
        Case("equal sizes everywhere", (ids(4, 4, 4), normal(rng, 4, 4))),
        Case("D = 64", (ids(7, 3), normal(rng, 7, 64))),
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


def _embed_mistaken(flags: Flags, ids: np.ndarray, table: np.ndarray, pad: int) -> np.ndarray:
    v, d = table.shape
    scale = d**0.5
    for slug, other in (
        ("no-scale", 1.0),
        ("scaled-by-width", float(d)),
        ("divided", d**-0.5),
        ("half-for-root", d / 2),
        ("root-of-vocabulary", v**0.5),
        ("root-of-tokens", ids.shape[-1] ** 0.5),
    ):
        if slug in flags:
            scale = other
    x = table[ids] * table.dtype.type(scale)
    if "pad-kept" in flags:
        return x
    gone = (ids != pad) if "pad-inverted" in flags else (ids == pad)
    return np.where(gone[..., None], table.dtype.type(0), x)


ROOT = "math.sqrt(table.shape[-1])"

EMBED = Task(
    id="03.embed",
    name="embed",
    title="Embedding, with its scale",
    points=3,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="tokens-scale",
    returns=("x",),
    cases=_embed_cases,
    oracle=_embed,
    mistaken=_embed_mistaken,
    parts={"core": 0.5, "pad": 0.25, "gradient": 0.25},
    variants=({"pad": 0}, {"pad": 1}, {"pad": 2}, {"pad": 3}),
    forbids=("softlookup.reference", "softlookup.model"),
    mistakes=(
        known(
            "no-scale",
            (f"table[ids] * {ROOT}", "table[ids]"),
            says="The rows come as they stand in the table: multiply them by the square root of D.",
            number=32,
        ),
        known("scaled-by-width", (ROOT, "table.shape[-1]"), says="The rows are multiplied by D: it is its root."),
        known(
            "divided",
            (f"* {ROOT}", f"/ {ROOT}"),
            says="The rows are divided by the root of D: here it multiplies. (Scores are what is divided by a root.)",
        ),
        known(
            "half-for-root",
            (ROOT, "table.shape[-1] / 2"),
            says="The rows are multiplied by D/2: `D ** 1/2` is (D ** 1)/2 in Python. Write `D ** 0.5`.",
        ),
        known(
            "root-of-vocabulary",
            (ROOT, "math.sqrt(table.shape[0])"),
            says="The root is taken of V, the number of rows: it is D, their width.",
        ),
        known(
            "root-of-tokens",
            (ROOT, "math.sqrt(ids.shape[-1])"),
            says="The root is taken of the number of tokens: it is D, the width of a row.",
        ),
        known(
            "pad-kept",
            ("x.masked_fill((ids == pad)[..., None], 0.0)", "x"),
            says="Padding is embedded like a word: where the id is that of the padding, the vector is zeros.",
        ),
        known(
            "pad-inverted",
            ("(ids == pad)", "(ids != pad)"),
            says="The words became zeros and the padding was kept: it is the other way round.",
            number=48,
        ),
        gradient_cut(("table[ids]", "table.detach()[ids]")),
    ),
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


def _tied_mistaken(flags: Flags, x: np.ndarray, table: np.ndarray) -> np.ndarray:
    d = np.sqrt(x.dtype.type(table.shape[-1]))
    if "unit-rows" in flags:
        table = table / np.linalg.norm(table, axis=-1, keepdims=True)
    logits = x @ table if "no-transpose" in flags else x @ table.T
    if "scaled-again" in flags:
        logits = logits * d
    if "divided" in flags:
        logits = logits / d
    if "softmax-taken" in flags:
        e = np.exp(logits - logits.max(axis=-1, keepdims=True))
        logits = e / e.sum(axis=-1, keepdims=True)
    return logits.argmax(axis=-1) if "best-word" in flags else logits


TIED_LOGITS = Task(
    id="03.tied-logits",
    name="tied_logits",
    title="The same table at the output",
    points=2,
    minutes=4,
    difficulty=1,
    page=PAGE,
    anchor="tokens-tied",
    returns=("logits",),
    cases=_tied_cases,
    oracle=_tied,
    mistaken=_tied_mistaken,
    parts={"core": 0.5, "gradient": 0.5},
    forbids=("softlookup.reference", "softlookup.model"),
    mistakes=(
        known(
            "no-transpose",
            ("x @ table.T", "x @ table"),
            says="This is x @ table: each word's row is to meet the state, so the table is transposed.",
        ),
        known(
            "scaled-again",
            ("x @ table.T", "x @ table.T * math.sqrt(table.shape[-1])"),
            says="The logits are multiplied by the root of D: the scale belongs to the lookup alone.",
        ),
        known(
            "divided",
            ("x @ table.T", "x @ table.T / math.sqrt(table.shape[-1])"),
            says="The logits are divided by the root of D: that belongs to attention scores. Here nothing is divided.",
        ),
        known(
            "unit-rows",
            ("x @ table.T", "x @ (table / table.norm(dim=-1, keepdim=True)).T"),
            says="The rows are divided by their lengths first: a logit is the plain dot product.",
        ),
        known(
            "softmax-taken",
            ("x @ table.T", "torch.softmax(x @ table.T, dim=-1)"),
            says="These are probabilities: wanted are the logits, before the softmax.",
        ),
        known(
            "best-word",
            ("x @ table.T", "(x @ table.T).argmax(dim=-1)"),
            says="This is the id of the best word: wanted is one score for each word.",
        ),
        Mistake(
            "untied",
            "The numbers are right, but no gradient reaches the table or the states: a table that is copied or "
            "detached (`detach`, `.data`, `torch.tensor(…)`) is not tied.",
            None,
            (("table.T", "table.detach().T"),),
            symptom="no-gradient",
        ),
    ),
)
