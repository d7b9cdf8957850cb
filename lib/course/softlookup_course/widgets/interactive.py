"""What every interactive figure is: a script, a stylesheet, and what a reader sees where neither runs."""

import re
import sys
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets

HERE = Path(__file__).parent


def without_comments(text: str) -> str:
    """Leave out of JavaScript or CSS the comments that stand on lines of their own: pages load them each time."""
    return re.sub(r"(?m)^ *(//.*|/\*((?!\*/)[\s\S])*\*/)\n", "", text)


def plain_table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """Write a table as HTML, for readers whose browser runs no script; the first cell of a row names it."""
    top = "".join(f'<th scope="col">{escape(heading)}</th>' if heading else "<td></td>" for heading in head)
    body = "".join(
        f'<tr><th scope="row">{escape(str(name))}</th>{"".join(f"<td>{escape(str(cell))}</td>" for cell in cells)}</tr>'
        for name, *cells in rows
    )
    above = f"<caption>{escape(caption)}</caption>" * bool(caption) + f"<thead><tr>{top}</tr></thead>" * bool(head)
    return f"<table>{above}<tbody>{body}</tbody></table>"


def number_table(caption: str, rows: Sequence[str], columns: Sequence[str], numbers: Iterable[Iterable[float]]) -> str:
    """Write a matrix as such a table, with two decimals and a caption above."""
    lines = ((name, *(f"{entry:.2f}" for entry in line)) for name, line in zip(rows, numbers, strict=True))
    return plain_table(("", *columns), lines, caption)


class InteractiveFigure(anywidget.AnyWidget):
    """The base of all interactive figures: a class in ``name.py`` brings ``name.js`` and ``name.css`` beside it."""

    fallback = traitlets.Unicode("", help="HTML that the built book shows until the figure runs").tag(sync=True)

    def __init_subclass__(cls, **more: Any) -> None:
        """Take script and stylesheet of the new figure, unless it brings others."""
        module_path = Path(getattr(sys.modules[cls.__module__], "__file__", None) or "")
        for name, suffix in (("_esm", ".js"), ("_css", ".css")):
            path = module_path.parent / f"{module_path.stem}{suffix}"
            if name not in cls.__dict__ and path.is_file():
                # What all figures share stands before a figure's own: a browser gets each figure as one text.
                text = (HERE / f"shared{suffix}").read_text("utf-8") + path.read_text("utf-8")
                setattr(cls, name, without_comments(text))
        super().__init_subclass__(**more)
