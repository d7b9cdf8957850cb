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
    """One worked example: what the four steps start from."""

    title: str  # a few words for the chooser
    tokens: Sequence[str]  # one word for each of the T tokens
    q: ArrayLike  # queries, shape (T, H)
    k: ArrayLike  # keys, shape (T, H)
    v: ArrayLike  # values, shape (T, width); the width may differ from H
    # Shape (T, T), True where the query's token may attend, or None where all may attend to all:
    mask: ArrayLike | None = None
    x: ArrayLike | None = None  # tokens, shape (T, D), where the queries, keys and values are made of them
    # What makes the queries, ``q = x @ w_q``, shape (D, H); None where they are given as they stand:
    w_q: ArrayLike | None = None
    w_k: ArrayLike | None = None  # what makes the keys, shape (D, H), or None
    w_v: ArrayLike | None = None  # what makes the values, shape (D, width), or None

    def arrays(self) -> tuple[Array, Array, Array, NDArray[np.bool_] | None]:
        """Give q and k (T, H), v (T, width) in float64, and the mask (T, T) as booleans or None."""
        q, k, v = (np.asarray(a, dtype=np.float64) for a in (self.q, self.k, self.v))
        return q, k, v, None if self.mask is None else np.asarray(self.mask)

    def matrices(self) -> dict[str, Array | None]:
        """Give the three projections (D, width) in float64, None where there is none, as ``q``, ``k`` and ``v``."""
        matrices = {"q": self.w_q, "k": self.w_k, "v": self.w_v}
        return {name: None if w is None else np.asarray(w, dtype=np.float64) for name, w in matrices.items()}


def _origin(w: Array | None) -> list[list[float]] | str | None:
    """Write a projection for JSON: its numbers, "identity" where it changes nothing, or None."""
    if w is None:
        return None
    return "identity" if w.shape[0] == w.shape[1] and np.array_equal(w, np.eye(len(w))) else w.tolist()


def compute(example: Example) -> dict[str, Any]:
    """Compute every number that the figure shows for one example, by name, as a record for JSON."""
    q, k, v, mask = example.arrays()
    root = float(np.sqrt(q.shape[1]))
    scores = q @ k.T
    scaled = scores / root
    allowed = np.ones_like(scaled, dtype=bool) if mask is None else mask
    top = np.where(allowed, scaled, -np.inf).max(axis=1)
    shift = np.where(np.isfinite(top) & (np.abs(top) > SAFE_LOGIT), top, 0.0)
    exps = np.where(allowed, np.exp(np.where(allowed, scaled - shift[:, None], 0.0)), 0.0)
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


def static_tables(example: Mapping[str, Any]) -> str:
    """Write an example's weights and outputs as two HTML tables, for readers whose browser runs no script."""
    tokens = example["tokens"]
    columns = [str(column + 1) for column in range(len(example["v"][0]))]
    return (
        f"<p>{escape(example['title'])}: which token attends to which, and the outputs. "
        "With scripts switched on, you can ask for every number how it was computed.</p>"
        + number_table("Attention weights: each row attends to the columns", tokens, tokens, example["weights"])
        + number_table("Outputs: one row for each token", tokens, columns, example["output"])
    )


class AttentionSteps(InteractiveFigure):
    """Walk through one head of attention on worked examples; any cell shows how it was computed.

    Source: Vaswani et al. 2017, equation 1.
    """

    examples = traitlets.List(traitlets.Dict(), help="what `compute` returned for each example").tag(sync=True)
    chosen = traitlets.Int(0, help="index of the example shown").tag(sync=True)
    stage = traitlets.Int(0, min=0, max=len(STAGES) - 1, help="index into STAGES").tag(sync=True)
    show_shapes = traitlets.Bool(False, help="whether shapes stand beside the names").tag(sync=True)

    def __init__(self, examples: Sequence[Example]) -> None:
        records = [compute(example) for example in examples]
        super().__init__(examples=records, fallback=static_tables(records[0]))
