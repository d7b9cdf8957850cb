"""One head of attention in four steps, cell by cell: score, scale, softmax, mix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from softlookup import reference
from softlookup_course.widgets.interactive import InteractiveFigure, number_table

STAGES = ("score", "scale", "softmax", "mix")
"""The steps in order; ``AttentionSteps.stage`` is an index into them."""

SAFE_LOGIT = 20.0
"""Above this a row's largest scaled score is subtracted before exp, so that the shown sums stay readable."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Example:
    """One worked example: what the four steps start from.

    Attributes:
        title: A few words for the chooser.
        tokens: One word for each of the T tokens.
        q: Queries, shape (T, H).
        k: Keys, shape (T, H).
        v: Values, shape (T, width); the width may differ from H.
        mask: Shape (T, T), True where the query's token may attend, or None where all may attend to all.
        x: Tokens, shape (T, D), where the queries, keys and values are made of them.
        w_q: What makes the queries, ``q = x @ w_q``, shape (D, H); None where they are given as they stand.
        w_k: What makes the keys, shape (D, H), or None.
        w_v: What makes the values, shape (D, width), or None.
    """

    title: str
    tokens: Sequence[str]
    q: ArrayLike
    k: ArrayLike
    v: ArrayLike
    mask: ArrayLike | None = None
    x: ArrayLike | None = None
    w_q: ArrayLike | None = None
    w_k: ArrayLike | None = None
    w_v: ArrayLike | None = None

    def arrays(self) -> tuple[Array, Array, Array, NDArray[np.bool_] | None]:
        """Give q and k (T, H), v (T, width) in float64, and the mask (T, T) as booleans or None.

        If a shape does not fit, a ValueError names the example, the array, and both shapes; a mask that does not hold
        booleans is a TypeError.
        """
        q, k, v = (np.asarray(a, dtype=np.float64) for a in (self.q, self.k, self.v))
        tokens = len(self.tokens)
        for name, array in (("q", q), ("k", k), ("v", v)):
            if array.ndim != 2 or array.shape[0] != tokens or array.shape[1] == 0:
                expected = f"({tokens}, width), one row for each of the {tokens} tokens"
                raise ValueError(f"example {self.title!r}: {name} has shape {array.shape}, wanted {expected}")
            if not np.isfinite(array).all():
                raise ValueError(f"example {self.title!r}: {name} holds a number that is not finite")
        if q.shape != k.shape:
            raise ValueError(f"example {self.title!r}: q has shape {q.shape} and k {k.shape}; they must be equal")
        if self.mask is None:
            return q, k, v, None
        mask = np.asarray(self.mask)
        if mask.dtype != np.bool_:
            raise TypeError(f"example {self.title!r}: the mask holds {mask.dtype}, wanted bool (True = may attend)")
        if mask.shape != (tokens, tokens):
            raise ValueError(f"example {self.title!r}: the mask has shape {mask.shape}, wanted {(tokens, tokens)}")
        return q, k, v, mask

    def matrices(self) -> dict[str, Array | None]:
        """Give the three projections (D, width) in float64, None where there is none, as ``q``, ``k`` and ``v``.

        If a matrix comes without x, does not fit it, or does not make q, k or v of it, a ValueError names the example
        and the matrix.
        """
        matrices: dict[str, Array | None] = {}
        for name, made, matrix in (("q", self.q, self.w_q), ("k", self.k, self.w_k), ("v", self.v, self.w_v)):
            matrices[name] = None
            if matrix is None:
                continue
            who = f"example {self.title!r}: w_{name}"
            if self.x is None:
                raise ValueError(f"{who} needs x, the tokens that it is multiplied with")
            x, w, product = (np.asarray(array, dtype=np.float64) for array in (self.x, matrix, made))
            if x.ndim != 2 or w.shape != (x.shape[-1], product.shape[-1]):
                raise ValueError(f"{who} has shape {w.shape}, x {x.shape} and {name} {product.shape}: no product fits")
            if x.shape[0] != product.shape[0] or not np.allclose(x @ w, product, rtol=1e-9, atol=1e-12):
                raise ValueError(f"{who}: x @ w_{name} is not {name}")
            matrices[name] = w
        return matrices


def _origin(w: Array | None) -> list[list[float]] | str | None:
    """Write a projection for JSON: its numbers, "identity" where it changes nothing, or None."""
    if w is None:
        return None
    return "identity" if w.shape[0] == w.shape[1] and np.array_equal(w, np.eye(len(w))) else w.tolist()


def compute(example: Example) -> dict[str, Any]:
    """Compute every number that the figure shows for one example, as a record for JSON.

    title, tokens, q, k, v, mask (or None), x (or None), w (a projection for each of q, k and v: its numbers,
    "identity", or None), root (the square root of H), scores and scaled scores before the mask (T, T), weights (T, T),
    output (T, width), and for each row what the softmax adds up: shift (T,), exps (T, T), sums (T,). Shapes that do not
    fit together are a ValueError.
    """
    q, k, v, mask = example.arrays()
    root = float(np.sqrt(q.shape[1]))
    scores = q @ k.T
    scaled = scores / root
    seen = np.ones_like(scaled, dtype=bool) if mask is None else mask
    top = np.where(seen, scaled, -np.inf).max(axis=1)
    shift = np.where(np.isfinite(top) & (np.abs(top) > SAFE_LOGIT), top, 0.0)
    exps = np.where(seen, np.exp(np.where(seen, scaled - shift[:, None], 0.0)), 0.0)
    return {
        "title": example.title,
        "tokens": [str(token) for token in example.tokens],
        "q": q.tolist(),
        "k": k.tolist(),
        "v": v.tolist(),
        "mask": None if mask is None else mask.tolist(),
        "x": None if example.x is None else np.asarray(example.x, dtype=np.float64).tolist(),
        "w": {name: _origin(w) for name, w in example.matrices().items()},
        "root": root,
        "scores": scores.tolist(),
        "scaled": scaled.tolist(),
        "shift": shift.tolist(),
        "exps": exps.tolist(),
        "sums": exps.sum(axis=1).tolist(),
        "weights": reference.attention_weights(q, k, mask).tolist(),
        "output": reference.scaled_dot_product_attention(q, k, v, mask).tolist(),
    }


def static_tables(record: Mapping[str, Any]) -> str:
    """Write an example's weights and outputs as two HTML tables, for readers whose browser runs no script."""
    tokens = record["tokens"]
    places = [str(place + 1) for place in range(len(record["v"][0]))]
    return (
        f"<p>{escape(record['title'])}: which token attends to which, and the outputs. "
        "With scripts switched on, you can ask for every number how it was computed.</p>"
        + number_table("Attention weights: each row attends to the columns", tokens, tokens, record["weights"])
        + number_table("Outputs: one row for each token", tokens, places, record["output"])
    )


class AttentionSteps(InteractiveFigure):
    """Walk through one head of attention on worked examples; any cell shows how it was computed.

    Everything shown is computed here, in float64, with ``softlookup.reference``. The browser chooses what to show and
    spells out one cell's sum from the numbers it was sent. A ValueError if there are no examples, or an example's
    shapes do not fit.

    Source: Vaswani et al. 2017, equation 1.
    """

    examples = traitlets.List(traitlets.Dict(), help="what `compute` returned for each example").tag(sync=True)
    chosen = traitlets.Int(0, help="index of the example shown").tag(sync=True)
    stage = traitlets.Int(0, min=0, max=len(STAGES) - 1, help="index into STAGES").tag(sync=True)
    show_shapes = traitlets.Bool(False, help="whether shapes stand beside the names").tag(sync=True)

    def __init__(self, examples: Sequence[Example]) -> None:
        if not examples:
            raise ValueError("AttentionSteps needs at least one example, got none")
        records = [compute(example) for example in examples]
        super().__init__(examples=records, fallback=static_tables(records[0]))
