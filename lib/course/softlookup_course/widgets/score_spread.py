"""Random scores of one query as the head width grows: their spread, weights and gradient, divided by sqrt(H) or not."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

from softlookup import reference
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

HEAD_WIDTHS = tuple(2**power for power in range(10))
"""Head widths H that can be chosen."""
KEYS, ROWS, SEED = 8, 600, 9
SURE = 0.99
"""Above this largest weight, a row counts as saturated."""
DIVISORS = {"raw": lambda width: 1.0, "divided": lambda width: width**0.5}


def example_scores(width: int) -> NDArray[np.float64]:
    """Compute the scores (S,) of one random query and its keys, of whose numbers the first ``width`` are used."""
    rng = np.random.default_rng(SEED)
    q_H, k_SH = rng.normal(size=HEAD_WIDTHS[-1]), rng.normal(size=(KEYS, HEAD_WIDTHS[-1]))
    return k_SH[:, :width] @ q_H[:width]


@cache
def rows_of_weights(width: int, divisor: float) -> dict[str, float]:
    """Count in many random rows how often one weight takes all, and measure the softmax's Jacobian: its median norm."""
    rng = np.random.default_rng(width)
    q_BH, k_BSH = rng.normal(size=(ROWS, width)), rng.normal(size=(ROWS, KEYS, width))
    r_BS = (k_BSH @ q_BH[:, :, None])[:, :, 0] / divisor
    a_BS = reference.softmax(r_BS)
    jacobians = a_BS[:, :, None] * (np.eye(KEYS) - a_BS[:, None, :])
    return {
        "spread": float(r_BS.std()),
        "sure": float((a_BS.max(axis=1) > SURE).mean()),
        "gradient": float(np.median(np.linalg.norm(jacobians, axis=(1, 2)))),
    }


def describe(width: int) -> dict[str, Any]:
    """Compute what the figure shows at a head width, without the divisor and with it."""
    scores_S = example_scores(width)
    return {"width": width} | {
        name: {
            "scores": (scores_S / divisor(width)).tolist(),
            "weights": reference.softmax(scores_S / divisor(width)).tolist(),
            **rows_of_weights(width, divisor(width)),
        }
        for name, divisor in DIVISORS.items()
    }


def static_table(runs: Sequence[dict[str, Any]]) -> str:
    """Write largest weights and gradients by head width as HTML, for readers whose browser runs no script."""
    part_head = ("spread", "saturated", "gradient")
    head = ("H", *part_head, *(f"{title}, divided" for title in part_head))
    rows = (
        (
            run["width"],
            *(
                cell
                for name in DIVISORS
                for part in [run[name]]
                for cell in (f"{part['spread']:.1f}", f"{100 * part['sure']:.0f} %", f"{part['gradient']:.2f}")
            ),
        )
        for run in runs
    )
    sentence = (
        f"<p>{ROWS} random queries with {KEYS} keys each, for every head width H: the spread of the scores, the rows "
        f"in which one weight is above {SURE}, and the median size of the softmax's Jacobian. The last three columns "
        "are of scores that were divided by √H.</p>"
    )
    return sentence + plain_table(head, rows)


class ScoreSpread(InteractiveFigure):
    """Widen a head: see random scores spread, weights saturate and the gradient vanish, unless they are divided."""

    runs = traitlets.List(traitlets.Dict(), help="what describe gives, for each head width").tag(sync=True)
    rows = traitlets.Int(ROWS, help="random queries of the counts").tag(sync=True)

    def __init__(self) -> None:
        runs = [describe(width) for width in HEAD_WIDTHS]
        super().__init__(runs=runs, fallback=static_table(runs))
