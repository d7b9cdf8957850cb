"""Models as dots, active parameters against the memory of a text: each names itself and leads to its row in a table."""

from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import Any

import traitlets

from softlookup.roofline.glance import LONG
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

KINDS = {
    "all tokens": "every layer keeps keys and values of all tokens",
    "windows": "some layers or all keep a window",
    "latent": "a latent in place of keys and values",
    "recurrent": "some layers or all keep a state of fixed size",
}
"""The kinds of memory, and what each means."""

Row = Mapping[str, Any]


def memory_type(row: Row) -> str:
    """Say which kind of memory a row of ``glance.json`` has."""
    parts = " ".join(row["kinds"])
    if row["state_bytes"]:
        return "recurrent"
    if "latent attention" in parts:
        return "latent"
    return "windows" if "window of" in parts else "all tokens"


def memory(row: Row) -> int:
    """Add up the bytes that a row keeps of a long text: cache and states."""
    return int(row["long_bytes"] + row["state_bytes"])


def age(row: Row) -> str:
    """Say in which of three spans of years an architecture came to transformers."""
    return str(row["year"]) if row["year"] > 2024 else "2024 and before"


def describe(row: Row) -> dict[str, Any]:
    """Write down what the figure shows of a row."""
    return {
        "type": row["model_type"],
        "name": row["name"] or "",
        "year": row["year"],
        "age": age(row),
        "kind": memory_type(row),
        "active": row["active"],
        "total": row["total"],
        "memory": memory(row),
    }


def static_table(dots: Sequence[Row], length: int) -> str:
    """Write for each kind of memory how much its models keep, as HTML, for readers whose browser runs no script."""
    rows = []
    for of_type in KINDS:
        each = sorted(dot["memory"] / length for dot in dots if dot["kind"] == of_type)
        numbers = (f"{value / 1e3:,.2f}" for value in (each[0], median(each), each[-1]) if each)
        rows.append((of_type, len(each), *numbers))
    return plain_table(("memory", "architectures", "least kB for each token", "median", "most"), rows)


class ModelDots(InteractiveFigure):
    """Point at a dot for the numbers of its model, and press it to open its row in the table."""

    dots = traitlets.List(traitlets.Dict(), help="type, name, year, age, kind and counts of each model").tag(sync=True)
    kinds = traitlets.List(traitlets.List(), help="kinds of memory, and what each means").tag(sync=True)
    ages = traitlets.List(traitlets.Unicode(), help="spans of years, the earliest first").tag(sync=True)
    names = traitlets.List(traitlets.Unicode(), help="names that are always written").tag(sync=True)
    length = traitlets.Int(LONG, help="tokens of the text").tag(sync=True)

    def __init__(self, rows: Sequence[Row], names: Collection[str]) -> None:
        dots = [describe(row) for row in rows]
        missing = set(names) - {dot["name"] for dot in dots}
        if missing:
            raise ValueError(f"no row has the name {min(missing)!r}")
        super().__init__(
            dots=dots,
            kinds=[list(of_type) for of_type in KINDS.items()],
            ages=sorted({dot["age"] for dot in dots}, key=lambda span: (span.isdigit(), span)),
            names=list(names),
            fallback=static_table(dots, LONG),
        )
