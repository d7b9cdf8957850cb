"""A beam search to follow: at each step which continuations were kept, which were dropped, and which have ended."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure

WIDTHS = (1, 2, 3, 4)
"""Widths of the beam that can be chosen."""
DROPPED = 3
"""Continuations that are shown at each step although they were dropped: the likeliest ones."""
ALPHAS = (0.0, 0.6, 1.0)

NextLogProbabilities = Callable[[list[list[int]]], np.ndarray]
"""Texts of equal length, without the start token -> the log-probability of every token behind each, (W, V)."""


def grow(next_log_p: NextLogProbabilities, end_id: int, beams: int, limit: int) -> list[list[dict[str, Any]]]:
    """Search for texts of ``limit`` tokens at most, and keep at each step its candidates, likeliest first."""
    texts: list[tuple[int, list[int], float]] = [(0, [], 0.0)]
    steps: list[list[dict[str, Any]]] = []
    for length in range(1, limit + 1):
        log_p_WV = np.asarray(next_log_p([ids for _, ids, _ in texts]), dtype=float)
        totals_WV = np.array([total for _, _, total in texts])[:, None] + log_p_WV
        order = np.argsort(-totals_WV, axis=None, kind="stable")[: beams + DROPPED]
        step = []
        for rank, flat_index in enumerate(order):
            row, token = divmod(int(flat_index), log_p_WV.shape[1])
            parent, ids, _ = texts[row]
            step.append(
                {
                    "ids": [*ids, token],
                    "parent": parent,
                    "total": float(totals_WV[row, token]),
                    "kept": rank < beams,
                    "ended": rank < beams and (token == end_id or length == limit),
                }
            )
        steps.append(step)
        texts = [(i, node["ids"], node["total"]) for i, node in enumerate(step) if node["kept"] and not node["ended"]]
        if not texts:
            break
    return steps


def finished(steps: Sequence[Sequence[Mapping[str, Any]]], alpha: float) -> list[tuple[float, list[int]]]:
    """Rank the texts that have ended, best first, with their scores under the length penalty's exponent."""
    ended = [node for step in steps for node in step if node["ended"]]
    scored = [(node["total"] / _penalty(len(node["ids"]), alpha), list(node["ids"])) for node in ended]
    return sorted(scored, key=lambda pair: -pair[0])


def _penalty(length: int, alpha: float) -> float:
    return ((5 + length) / 6) ** alpha


def last_step(steps: Sequence[Sequence[Mapping[str, Any]]], alpha: float, limit: int) -> int:
    """Find the step, from 1, after which no open text can become the best one, as ``model.beam_search`` does."""
    for step_number, step in enumerate(steps, start=1):
        ended = finished(steps[:step_number], alpha)
        still = [node["total"] for node in step if node["kept"] and not node["ended"]]
        if not still or (ended and max(still) / _penalty(limit, alpha) <= ended[0][0]):
            return step_number
    return len(steps)


def static_table(title: str, steps: Sequence[Sequence[Mapping[str, Any]]], names: Mapping[int, str]) -> str:
    """Write a search as HTML, for readers whose browser runs no script."""
    rows = "".join(
        f'<tr><th scope="row">{step_number}</th><td>'
        + "<br>".join(
            f"{escape(' '.join(names[i] for i in node['ids'][-3:]))} {node['total']:.2f}"
            + (" (ended)" if node["ended"] else "")
            for node in step
            if node["kept"]
        )
        + "</td></tr>"
        for step_number, step in enumerate(steps, start=1)
    )
    return (
        f"<p>{escape(title)}: the texts that the beam keeps at each step, by their last three tokens and their "
        "log-probability. With scripts switched on, you can follow the search step by step, "
        "with other beam widths.</p>"
        f"<table><thead><tr><th>step</th><th>kept</th></tr></thead><tbody>{rows}</tbody></table>"
    )


class BeamTree(InteractiveFigure):
    """Follow a beam search step by step.

    ``next_log_p``, ``end_id`` and ``limit`` are as for ``grow``.
    """

    title = traitlets.Unicode(help="what is searched").tag(sync=True)
    searches = traitlets.List(traitlets.Dict(), help="for each width: beams, steps, stops").tag(sync=True)
    limit = traitlets.Int(help="the most tokens").tag(sync=True)
    names = traitlets.Dict(help="names of the tokens that occur, by id").tag(sync=True)
    alphas = traitlets.List(traitlets.Float(), list(ALPHAS), help="exponents of the penalty").tag(sync=True)
    chosen = traitlets.Int(1, help="which width is shown").tag(sync=True)

    def __init__(
        self, title: str, next_log_p: NextLogProbabilities, end_id: int, *, limit: int, name: Callable[[int], str]
    ) -> None:
        searches: list[dict[str, Any]] = []
        for beams in WIDTHS:
            steps = grow(next_log_p, end_id, beams, limit)
            stops = [last_step(steps, alpha, limit) for alpha in ALPHAS]
            searches.append({"beams": beams, "steps": steps, "stops": stops})
        used = sorted({i for search in searches for step in search["steps"] for node in step for i in node["ids"]})
        names = {i: str(name(i)) for i in used}
        super().__init__(
            title=title,
            searches=searches,
            limit=limit,
            names={str(i): token_name for i, token_name in names.items()},
            fallback=static_table(title, searches[1]["steps"], names),
        )
