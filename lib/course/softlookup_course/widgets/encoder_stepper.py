"""One encoder layer, box by box: every tensor on the way, in either order of the norms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from softlookup import reference
from softlookup_course.widgets.interactive import InteractiveFigure, number_table

ORDERS = ("post", "pre")
"""Norm after each sum, or before each sublayer; ``EncoderStepper.order`` is an index into them."""

EPS = 1e-5

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LayerExample:
    """One layer and what goes through it."""

    title: str  # a few words for the chooser
    tokens: Sequence[str]  # one word for each of the T tokens
    x: ArrayLike  # their vectors, shape (T, D)
    w_q: ArrayLike  # makes the queries, shape (D, D); so w_k, w_v, and w_o, which blends the heads
    w_k: ArrayLike  # makes the keys
    w_v: ArrayLike  # makes the values
    w_o: ArrayLike  # the output matrix
    w_1: ArrayLike  # widens, shape (D, F)
    b_1: ArrayLike  # shape (F,)
    w_2: ArrayLike  # narrows, shape (F, D)
    b_2: ArrayLike  # shape (D,)
    norms: ArrayLike  # gain and shift of the first norm, then of the second, shape (4, D)
    n_heads: int  # N; D is a multiple of it
    real: ArrayLike | None = None  # shape (T,), True for a token and False for padding, or None where all are tokens

    @classmethod
    def drawn(
        cls,
        title: str,
        tokens: Sequence[str],
        x: ArrayLike,
        d_hidden: int,
        n_heads: int,
        rng: np.random.Generator,
        real: ArrayLike | None = None,
    ) -> "LayerExample":
        """Draw weights for tokens (T, D): gains near 1, small shifts and biases; F is ``d_hidden``."""
        d = np.asarray(x).shape[-1]

        def draw(*shape: int, size: float) -> Array:
            return np.round(rng.normal(size=shape) * size, 2)

        w_q, w_k, w_v, w_o = (draw(d, d, size=d**-0.5 * 1.3) for _ in range(4))
        norms = draw(4, d, size=0.15)
        norms[::2] += 1
        w_1, b_1 = draw(d, d_hidden, size=d**-0.5), draw(d_hidden, size=0.2)
        w_2, b_2 = draw(d_hidden, d, size=d_hidden**-0.5), draw(d, size=0.2)
        return cls(title, tokens, x, w_q, w_k, w_v, w_o, w_1, b_1, w_2, b_2, norms, n_heads, real)

    def arrays(self) -> dict[str, Array]:
        """Give the fields, by name, as float64."""
        names = ("x", "w_q", "w_k", "w_v", "w_o", "w_1", "b_1", "w_2", "b_2", "norms")
        return {name: np.asarray(getattr(self, name), dtype=np.float64) for name in names}


def compute(example: LayerExample, order: str) -> dict[str, Any]:
    """Compute every tensor of the layer, box by box from the foot to the top, as a record for JSON."""
    w = example.arrays()
    pre = order == "pre"
    does = "The input of the layer: one vector, a row of this matrix, for each token."
    boxes = [_box("x", "x", does, "T × D", [_rows(example, "x", "x", w["x"])], road=True)]
    state, name = w["x"], "x"
    for norm_index, (part, heading) in enumerate((("attention", "attention"), ("hidden", "feed-forward")), start=1):
        inside, inside_name = state, name
        if pre:
            norm = _norm(example, w, inside, inside_name, norm_index, road=False)
            boxes.append(norm)
            inside, inside_name = np.array(norm["tables"][-1]["numbers"]), f"n{norm_index}"
        sublayer = _attention(example, w, inside) if part == "attention" else _hidden(example, w, inside)
        boxes += sublayer
        added = np.array(sublayer[-1]["tables"][-1]["numbers"])
        summed = state + added
        made_from = ["sum", name, sublayer[-1]["tables"][-1]["id"]]
        table = _rows(example, f"s{norm_index}", f"sum {norm_index}", summed, made_from=made_from)
        does = f"The residual stream and the output of {heading} are added, entry by entry."
        boxes.append(_box(f"s{norm_index}", "+", does, "T × D", [table], road=True))
        state, name = summed, f"s{norm_index}"
        if not pre:
            norm = _norm(example, w, state, name, norm_index, road=True)
            boxes.append(norm)
            state, name = np.array(norm["tables"][-1]["numbers"]), f"n{norm_index}"
    last = _rows(example, "y", "y", state, made_from=["same", name])
    does = "The output of the layer, which the next layer reads. Its shape is that of the input."
    boxes.append(_box("y", "y", does, "T × D", [last], road=True))
    return {"title": example.title, "order": order, "tokens": [str(token) for token in example.tokens], "boxes": boxes}


def _box(
    id_: str, name: str, does: str, letters: str, tables: list[dict[str, Any]], *, road: bool = False
) -> dict[str, Any]:
    """Describe a box of the diagram; ``road`` if it stands on the path past the sublayers."""
    return {"id": id_, "name": name, "road": road, "does": does, "letters": letters, "tables": tables}


def _rows(
    example: LayerExample, id_: str, caption: str, numbers: Array, *, letters: str = "T × D", made_from: Any = None
) -> dict[str, Any]:
    return {
        "id": id_,
        "caption": caption,
        "letters": letters,
        "rows": [str(token) for token in example.tokens],
        "columns": [str(column + 1) for column in range(numbers.shape[-1])],
        "numbers": numbers.tolist(),
        "from": made_from,
    }


def _norm(
    example: LayerExample, w: Mapping[str, Array], x: Array, x_name: str, norm_index: int, *, road: bool
) -> dict[str, Any]:
    gain, shift = w["norms"][2 * norm_index - 2], w["norms"][2 * norm_index - 1]
    measured = np.stack([x.mean(-1), x.var(-1)], axis=-1)
    means = _rows(example, f"m{norm_index}", "mean, variance", measured, letters="T × 2") | {"columns": ["mean", "var"]}
    learned = _rows(example, f"g{norm_index}", "gain, shift", np.stack([gain, shift]), letters="2 × D")
    learned["rows"] = ["gain", "shift"]
    y = reference.layer_norm(x, gain, shift, eps=EPS)
    ids = ["norm", x_name, f"m{norm_index}", f"g{norm_index}"]
    tables = [means, learned, _rows(example, f"n{norm_index}", f"norm {norm_index}", y, made_from=ids)]
    does = "For each row, subtract its mean and divide by its standard deviation; then apply gain and shift."
    return _box(f"n{norm_index}", f"norm {norm_index}", does, "T × D", tables, road=road)


def _attention(example: LayerExample, w: Mapping[str, Array], x: Array) -> list[dict[str, Any]]:
    n = example.n_heads
    q, k, v = (reference.split_heads(x @ w[name], n) for name in ("w_q", "w_k", "w_v"))
    mask = None if example.real is None else np.broadcast_to(np.asarray(example.real, bool), (len(x), len(x)))
    a = reference.attention_weights(q, k, mask)
    z = reference.merge_heads(reference.scaled_dot_product_attention(q, k, v, mask))
    blended = reference.multi_head_attention(x, w["w_q"], w["w_k"], w["w_v"], w["w_o"], n, mask=mask)
    heads = range(n)
    projected = [
        _rows(example, f"{name}{i}", f"{name}, head {i}", numbers[i], letters="T × H")
        for i in heads
        for name, numbers in (("q", q), ("k", k), ("v", v))
    ]
    weights = [_rows(example, f"a{i}", f"weights, head {i}", a[i], letters="T × S") for i in heads]
    for table in weights:
        table["columns"] = [str(token) for token in example.tokens]
    merged = _rows(example, "z", "heads side by side", z, letters="T × N·H")
    projects = "Three projections, split into heads: the query, key and value of each token."
    weighs = "The softmax of the scaled scores: each row shows which tokens its token attends to. Padding gets 0."
    merges = "Each head takes the weighted sum of its values; the results are put side by side."
    mixes = "The output matrix mixes the heads: this is what attention adds to the residual stream."
    return [
        _box("qkv", "q, k, v", projects, "N × T × H", projected),
        _box("a", "weights", weighs, "N × T × S", weights),
        _box("z", "heads merged", merges, "T × N·H", [merged]),
        _box("o", "Wₒ", mixes, "T × D", [_rows(example, "o", "what attention adds", blended)]),
    ]


def _hidden(example: LayerExample, w: Mapping[str, Array], x: Array) -> list[dict[str, Any]]:
    before = x @ w["w_1"] + w["b_1"]
    hidden = reference.relu(before)
    added = reference.feed_forward(x, w["w_1"], w["w_2"], w["b_1"], w["b_2"])
    wide = _rows(example, "u", "x W₁ + b₁", before, letters="T × F")
    bent = _rows(example, "h", "after ReLU", hidden, letters="T × F", made_from=["relu", "u"])
    widens = "The hidden activations of the MLP: wider than D, and 0 where negative. Each token by itself."
    narrows = "Back to width D: this is what the feed-forward network (MLP) adds to the residual stream."
    return [
        _box("h", "W₁, ReLU", widens, "T × F", [wide, bent]),
        _box("f", "W₂", narrows, "T × D", [_rows(example, "f", "what it adds", added)]),
    ]


def static_tables(layer: Mapping[str, Any]) -> str:
    """Write what comes in and what goes out as two HTML tables, for readers whose browser runs no script."""
    tables = {table["id"]: table for box in layer["boxes"] for table in box["tables"]}
    sentence = f"<p>{escape(layer['title'])}, {layer['order']}-LN: what enters the layer, and what leaves it.</p>"
    return sentence + "".join(
        number_table(name, *(tables[name][k] for k in ("rows", "columns", "numbers"))) for name in "xy"
    )


class EncoderStepper(InteractiveFigure):
    """Walk through an encoder layer: choose a box of the diagram to see its tensor, or another order of the norms.

    Source: Vaswani et al. 2017, section 3.1.
    """

    records = traitlets.List(
        traitlets.List(traitlets.Dict()), help="what `compute` returned, by example and order"
    ).tag(sync=True)
    chosen = traitlets.Int(0, help="index of the example shown").tag(sync=True)
    order = traitlets.Int(0, min=0, max=1, help="index into ORDERS").tag(sync=True)
    box = traitlets.Int(0, min=0, help="index of the box shown").tag(sync=True)

    def __init__(self, examples: Sequence[LayerExample]) -> None:
        records = [[compute(example, order) for order in ORDERS] for example in examples]
        super().__init__(records=records, fallback=static_tables(records[0][0]))
