"""A batch that is served: who has which slot when, and how long each waits, under three ways to share the steps."""

from collections.abc import Mapping
from html import escape
from typing import Any

import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

SHOWN_FIRST = (3, 512)
"""Slots, and with chunked prefill tokens of a step."""


def static_table(served: Mapping[str, Any]) -> str:
    """Write the ways as HTML, for readers whose browser runs no script."""
    slots, budget = SHOWN_FIRST
    rows = (
        (served["titles"][run["way"]], *(f"{run[key]:.0f}" for key in ("first", "pause", "total", "rate")))
        for run in served["records"]
        if run["slots"] == slots and run["budget"] in (0, budget)
    )
    sentence = (
        f"<p>{len(served['guests'])} guests are served by {escape(served['about'])}, {slots} at a time. With "
        "scripts switched on, you can choose how they share the steps, and see who has which slot when.</p>"
    )
    head = ("way", "mean wait for the first token (ms)", "longest pause between tokens (ms)")
    return sentence + plain_table((*head, "all complete after (ms)", "tokens a second"), rows)


class ServingTimeline(InteractiveFigure):
    """Show guests of a server under static batching, continuous batching and chunked prefill."""

    guests = traitlets.List(traitlets.Dict(), help="who comes when, with how many tokens").tag(sync=True)
    records = traitlets.List(traitlets.Dict(), help="each choice, and what became of the guests").tag(sync=True)
    titles = traitlets.Dict(help="ways by their names").tag(sync=True)
    about = traitlets.Unicode(help="model and machine").tag(sync=True)

    def __init__(self, served: Mapping[str, Any]) -> None:
        super().__init__(**served, fallback=static_table(served))
