"""Set columns of numbers to the right, so that their digits stand below each other."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

NUMBER = re.compile(r"[-−+≈~<≤>≥]?\s?\d[\d,.\u00a0\u202f ]*\s?(%|×|[kMGT]?i?B|[kMG]|µs|ms|s|h|min)?")
"""A number, perhaps with a sign before it and a unit behind it."""

EMPTY = {"", "-", "–", "—"}
CLASS = "text-right"


def columns(rows: list[list[str]]) -> set[int]:
    """Say which columns hold numbers alone, below the head; the first names its rows, and is left out.

    Examples:
        >>> columns([["one head", "12", "3 heads"], ["many", "-", "4"]])
        {1}
    """
    width = min(map(len, rows), default=0)
    numeric = set()
    for place in range(1, width):
        texts = {row[place].strip() for row in rows} - EMPTY
        if texts and all(NUMBER.fullmatch(text) for text in texts):
            numeric.add(place)
    return numeric


def align(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Mark the cells of such columns, those of the head too."""
    for group in doctree.findall(nodes.tgroup):
        rows = [list(row) for row in group.findall(nodes.row)]
        body = [list(row) for part in group.findall(nodes.tbody) for row in part]
        entries = [entry for row in rows for entry in row]
        if any(entry.get("morecols") or entry.get("morerows") for entry in entries):
            continue
        right = columns([[entry.astext() for entry in row] for row in body])
        for row in rows:
            for place, entry in enumerate(row):
                if place in right and CLASS not in entry["classes"]:
                    entry["classes"].append(CLASS)


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in, where computed numbers have been filled in."""
    app.connect("doctree-resolved", align)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
