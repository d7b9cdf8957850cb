"""A change that is whispered along a row of children, beside the one step that attention takes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from softlookup import reference
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

WEIGHTS = tuple(step / 10 for step in range(1, 21))
"""Values of W_h that can be chosen, in the recurrent layer with single numbers for vectors."""
CHILDREN = (7, 13, 25, 61)
"""Lengths of the row that can be chosen."""
FIRST_WEIGHT = 0.5


def describe(weight: float, n: int) -> dict[str, list[float]]:
    """Compute each child's state, its factor, and what is left of a change at the first of ``n``, who says 1."""
    x_TD = np.zeros((n, 1))
    x_TD[0] = 1
    states_T = reference.recurrent_states(x_TD, np.ones((1, 1)), np.full((1, 1), weight))[:, 0]
    factors_T = (1 - states_T**2) * np.array([1.0, *(n - 1) * [weight]])
    return {"states": states_T.tolist(), "factors": factors_T.tolist(), "left": np.cumprod(factors_T).tolist()}


def hand_over(n: int) -> float:
    """Compute what attention with equal weights leaves of a change in the first of ``n`` values: 1/n."""
    weights_TS = reference.attention_weights(np.zeros((1, 1)), np.zeros((n, 1)))
    return float(weights_TS[0, 0])


def static_table(words: Sequence[str]) -> str:
    """Write one whispered change as HTML, for readers whose browser runs no script."""
    chain = describe(FIRST_WEIGHT, len(words))
    rows = (
        (child, f"{state:.2f}", f"{factor:.2f}", f"{100 * remaining:.1f} %")
        for child, state, factor, remaining in zip(words, chain["states"], chain["factors"], chain["left"], strict=True)
    )
    sentence = (
        f"<p>The first word says 1, and W<sub>h</sub> is {FIRST_WEIGHT}. Attention with equal weights leaves "
        f"{100 * hand_over(len(words)):.1f} % in its one step. With scripts switched on, you can change "
        "W<sub>h</sub> and the number of words.</p>"
    )
    return sentence + plain_table(("word", "state", "factor", "left of the change"), rows)


class WhisperRow(InteractiveFigure):
    """Follow a change from child to child, and see how much of it is left beside one step of attention."""

    words = traitlets.List(traitlets.Unicode(), help="what the children of the shortest row hold").tag(sync=True)
    runs = traitlets.List(traitlets.Dict(), help="for each W_h, what describe gives for the longest row").tag(sync=True)
    rows = traitlets.List(traitlets.Dict(), help="for each length, what attention hands over").tag(sync=True)

    def __init__(self, words: Sequence[str]) -> None:
        if len(words) != CHILDREN[0]:
            raise ValueError(f"got {len(words)} words, wanted {CHILDREN[0]}, one for each child of the shortest row")
        runs: list[dict[str, Any]] = [
            {
                "weight": weight,
                **{name: [float(f"{x:.4g}") for x in each] for name, each in describe(weight, CHILDREN[-1]).items()},
            }
            for weight in WEIGHTS
        ]
        rows = [{"n": n, "hand_over": hand_over(n)} for n in CHILDREN]
        super().__init__(words=list(words), runs=runs, rows=rows, fallback=static_table(words))
