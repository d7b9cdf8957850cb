"""A batch that is served: who has which slot when, and how long each waits, under three ways to share the steps."""

from collections.abc import Mapping
from html import escape
from typing import Any

import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

SHOWN_FIRST = (3, 512)
"""Slots, and with chunked prefill tokens of a step."""


def static_table(described: Mapping[str, Any]) -> str:
    """Write the ways as HTML, for readers whose browser runs no script."""
    slots, budget = SHOWN_FIRST
    rows = (
        (described["titles"][record["way"]], *(f"{record[key]:.0f}" for key in ("first", "pause", "total", "rate")))
        for record in described["records"]
        if record["slots"] == slots and record["budget"] in (0, budget)
    )
    sentence = (
        f"<p>{len(described['guests'])} guests are served by {escape(described['about'])}, {slots} at a time. With "
        "scripts switched on, you can choose how they share the steps, and see who has which slot when.</p>"
    )
    head = ("way", "mean wait for the first token (ms)", "longest pause between tokens (ms)")
    return sentence + plain_table((*head, "all complete after (ms)", "tokens a second"), rows)


class ServingTimeline(InteractiveFigure):
    """Guests of a server under static batching, continuous batching and chunked prefill.

    The script only draws: ``serving.timelines`` has served the guests each way. ``described`` is what it returns; a
    ValueError if nobody was served.
    """

    guests = traitlets.List(traitlets.Dict(), help="who comes when, with how many tokens").tag(sync=True)
    records = traitlets.List(traitlets.Dict(), help="each choice, and what became of the guests").tag(sync=True)
    titles = traitlets.Dict(help="ways by their names").tag(sync=True)
    about = traitlets.Unicode(help="model and machine").tag(sync=True)

    def __init__(self, described: Mapping[str, Any]) -> None:
        if not described["records"]:
            raise ValueError("no records are given; wanted what serving.timelines returns")
        super().__init__(**described, fallback=static_table(described))
