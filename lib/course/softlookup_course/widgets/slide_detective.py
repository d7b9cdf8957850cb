"""A table of numbers as a slide prints it: which cell cannot be right?"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike

from softlookup_course.slide_audit import table
from softlookup_course.widgets.interactive import InteractiveFigure

Cell = tuple[int, int]
Line = tuple[int, str, str]
"""Which source, its "row" or "column", and whether the printed cell's "row" or "column" says which."""


def decimals_of(values: ArrayLike, most: int = 4) -> int:
    """Count the decimals that a table needs to show its numbers as they are."""
    numbers = np.asarray(values, dtype=float)
    return next((count for count in range(most) if np.allclose(numbers.round(count), numbers, atol=1e-9)), most)


def signed(value: float, decimals: int = 4) -> str:
    """Write a number without needless zeros, with a true minus."""
    return f"{round(value, decimals) + 0.0:g}".replace("-", "\N{MINUS SIGN}")


def products_written(a: ArrayLike, b: ArrayLike) -> list[list[str]]:
    """Write out every cell of the product a @ b, of a (T, D) and b (D, S), as its sum of products."""
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    sums = first @ second

    def line(i: int, j: int) -> str:
        terms = (f"{signed(x)} × {signed(y)}" for x, y in zip(first[i], second[:, j], strict=True))
        return f"{' + '.join(terms)} = {signed(sums[i, j])}"

    return [[line(i, j) for j in range(second.shape[1])] for i in range(len(first))]


def sinusoids_written(positions: Iterable[int], width: int, base: float = 10_000.0) -> list[list[str]]:
    """Write out every cell of a table of sinusoidal positions, as the sine or cosine that it is."""

    def line(t: int, column: int) -> str:
        divisor = base ** (2 * (column // 2) / width)
        name, wave = (("sin", np.sin), ("cos", np.cos))[column % 2]
        return f"{name}({t}{'' if divisor == 1 else f' / {divisor:g}'}) = {signed(float(wave(t / divisor)))}"

    return [[line(t, column) for column in range(width)] for t in positions]


def _fixed(value: float, decimals: int) -> str:
    """Write a number with so many decimals and a true minus."""
    return f"{value:.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def _title(name: str) -> str:
    """Write a name as HTML, with what follows an underscore as a subscript."""
    base, _, below = name.partition("_")
    return escape(base) + (f"<sub>{escape(below)}</sub>" if below else "")


def static_tables(tables: Sequence[Mapping[str, Any]], rows: Sequence[str], hint: str) -> str:
    """Write the tables as HTML, wrong cells marked, for readers whose browser runs no script."""
    parts = []
    for entry in tables:
        decimals, off = entry["decimals"], entry.get("off")
        lines = []
        for r, values in enumerate(entry["numbers"]):
            cells = [_fixed(value, decimals) for value in values]
            if off:
                marked = zip(cells, off[r], entry["true"][r], strict=True)
                cells = [
                    f"<mark>{cell}</mark> ({_fixed(true, decimals + 1).removesuffix('0')})" if is_off else cell
                    for cell, is_off, true in marked
                ]
            heading = f'<th scope="row">{escape(rows[r])}</th>' if entry["isNamed"] else ""
            lines.append(f"<tr>{heading}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        parts.append(f"<table><caption>{_title(entry['title'])}</caption><tbody>{''.join(lines)}</tbody></table>")
    return f"<p>{escape(hint)} Marked cells are wrong; the computed number follows in brackets.</p>{''.join(parts)}"


class SlideDetective(InteractiveFigure):
    """Press the cell of a slide's table that cannot be right, and see what it should be."""

    sources = traitlets.List(traitlets.Dict(), help="title, numbers, decimals of the tables computed from").tag(
        sync=True
    )
    printed = traitlets.List(traitlets.Dict(), help="title, numbers, decimals, true, off; one table or copies").tag(
        sync=True
    )
    rows = traitlets.List(traitlets.Unicode(), help="what each row is").tag(sync=True)
    computations = traitlets.List(traitlets.List(), help="how each cell is computed, in words").tag(sync=True)
    uses = traitlets.List(traitlets.List(), help="the rows and columns of sources that a cell is computed from").tag(
        sync=True
    )
    spots = traitlets.List(traitlets.List(), help="row and column of each cell that a rule of thumb catches").tag(
        sync=True
    )
    hint = traitlets.Unicode(help="the rule of thumb, as a sentence").tag(sync=True)
    reason = traitlets.Unicode(help="why the rule catches its cell").tag(sync=True)

    def __init__(
        self,
        printed: Mapping[str, ArrayLike],
        true: ArrayLike,
        computations: Sequence[Sequence[str]],
        spots: Sequence[Cell],
        *,
        rows: Sequence[str],
        hint: str,
        reason: str,
        sources: Mapping[str, ArrayLike] | None = None,
        uses: Sequence[Line] = (),
        decimals: int = 2,
    ) -> None:
        computed = np.asarray(true, dtype=float)
        records = []
        for title, values in printed.items():
            compared = table(values, computed, decimals)
            numbers = np.asarray(values, dtype=float).tolist()
            off = np.asarray(compared.off).tolist()
            records.append(
                {"title": title, "numbers": numbers, "decimals": decimals, "true": computed.tolist(), "off": off}
                | {"isNamed": True}
            )
        if not spots or not all(any(copy["off"][r][c] for copy in records) for r, c in spots):
            raise ValueError(f"every spot must be a cell that rounding does not explain, got {list(spots)}")
        inputs = [
            {"title": title, "numbers": np.asarray(values, dtype=float).tolist(), "decimals": decimals_of(values)}
            | {"isNamed": len(np.asarray(values)) == len(rows)}
            for title, values in (sources or {}).items()
        ]
        super().__init__(
            sources=inputs,
            printed=records,
            rows=list(rows),
            computations=[list(line) for line in computations],
            uses=[list(use) for use in uses],
            spots=[list(spot) for spot in spots],
            hint=hint,
            reason=reason,
            fallback=static_tables([*inputs, *records], rows, hint),
        )
