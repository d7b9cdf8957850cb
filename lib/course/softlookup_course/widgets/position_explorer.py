"""Positions to move: two rows of sinusoids as hands of clocks, or a query and a key that are turned."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from softlookup import reference
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

WIDTHS = (2, 4, 8, 16, 32, 64)
"""The widths of a row of sinusoids that can be chosen."""
FARTHEST = 40
"""The last position that the sliders reach."""
WIDTH = 16
"""The width to begin with."""
QUERY, KEY, BASE = (1.6, 0.4, 1.0, -0.8), (0.9, 1.2, 1.1, 0.5), 100.0
"""What is turned, and what rotary positions take for 10,000 here, so that the slow pair moves within sight."""


def describe_sinusoids(one: int, other: int, width: int) -> dict[str, Any]:
    """Compute rows, angles, dot, curve (products by distance) and length of two rows of sinusoids of width D."""
    table = reference.sinusoidal(FARTHEST + 1, width)
    rows = table[[one, other]]
    return {
        "rows": rows.tolist(),
        "angles": reference.angles(np.array([one, other]), width).tolist(),
        "dot": float(rows[0] @ rows[1]),
        "curve": (table @ table[0]).tolist(),
        "length": float(np.linalg.norm(rows[0])),
    }


def describe_rotary(
    query: Sequence[float], key: Sequence[float], query_at: int, key_at: int, base: float
) -> dict[str, Any]:
    """Compute a query and a key of H numbers when turned, their score, its parts by pair, and its curve by distance."""
    turned = [
        reference.rotary(np.array([vector]), offset=at, base=base)[0]
        for vector, at in ((query, query_at), (key, key_at))
    ]
    # Distances of any sign: the key stands still at the farthest place, the query walks along.
    walk = reference.rotary(np.tile(query, (2 * FARTHEST + 1, 1)), base=base)
    still = reference.rotary(np.array([key]), offset=FARTHEST, base=base)[0]
    products = turned[0] * turned[1]
    return {
        "query": turned[0].tolist(),
        "key": turned[1].tolist(),
        "score": float(products.sum()),
        "parts": products.reshape(-1, 2).sum(axis=1).tolist(),
        "curve": (walk @ still).tolist(),
    }


def static_table(width: int = 4, length: int = 8) -> str:
    """Write the first ``length`` positions as HTML, for readers whose browser runs no script."""
    sentence = (
        f"The first {length} positions as sinusoids of width {width}. With scripts switched on, you can move them."
    )
    rows = ((p, *(f"{x:.2f}" for x in row)) for p, row in enumerate(reference.sinusoidal(length, width)))
    head = ("position", *map(str, range(width)))
    return f"<p>{sentence}</p>" + plain_table(head, rows, "Sinusoidal positions, one row each")


class PositionExplorer(InteractiveFigure):
    """Move two positions: as sinusoids, or as rotations of a query and a key."""

    one = traitlets.Int(help="the first position, and the query's").tag(sync=True)
    other = traitlets.Int(help="the second position, and the key's").tag(sync=True)
    width = traitlets.Int(WIDTH, help="D of the sinusoids").tag(sync=True)
    widths = traitlets.List(traitlets.Int(), list(WIDTHS), help="widths to choose from").tag(sync=True)
    farthest = traitlets.Int(FARTHEST, help="the last position").tag(sync=True)
    query = traitlets.List(traitlets.Float(), list(QUERY), help="the query before it is turned").tag(sync=True)
    key = traitlets.List(traitlets.Float(), list(KEY), help="the key before it is turned").tag(sync=True)
    base = traitlets.Float(BASE, help="the base of the rotary part").tag(sync=True)

    def __init__(self, one: int = 5, other: int = 8) -> None:
        super().__init__(one=one, other=other, fallback=static_table())
