"""Pictures of a verdict: heat maps of got, wanted and difference, and the style of its small page; no script."""

from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from softlookup_inside.asking import texts
from softlookup_judge.data.compare import Difference
from softlookup_judge.data.words import name_of, number_text, shape

MAX_CELLS = 144
"""Larger tensors are cut to the first rows and columns around the first difference."""

MAX_SIDE = 12

SHORT_LIST = 100
"""Letters of cases' names that are shown without a fold."""

STYLE = """
.sl-check{--sl-ink:#1d2330;--sl-soft:#5a6472;--sl-paper:#fff;--sl-line:#d5dae1;--sl-good:#0b6e4f;--sl-bad:#a3341f;--sl-part:#7a5400;--sl-link:#1f5fa8;
--sl-plus:#56a0de;--sl-minus:#ec963c;
font:15px/1.5 var(--pst-font-family-base,system-ui,sans-serif);
color:var(--sl-ink);background:var(--sl-paper);border:1px solid var(--sl-line);
border-left:5px solid var(--sl-bad);border-radius:6px;padding:.7em 1em;max-width:60em;margin:.3em 0}
.sl-check.sl-pass{border-left-color:var(--sl-good)}.sl-check.sl-partial,.sl-check.sl-blank{border-left-color:var(--sl-part)}
.sl-check.sl-help{border-left-color:var(--sl-link)}
.sl-check p{margin:.3em 0;white-space:pre-wrap}
.sl-check .sl-head{font-weight:650}.sl-check .sl-pts{color:var(--sl-soft);font-weight:400}
.sl-check .sl-mark{font-weight:650;white-space:nowrap}
.sl-check .sl-cases{display:flex;flex-wrap:wrap;gap:0 1.4em;font-size:.92em}
.sl-check .sl-cases :is(p,[open]){flex-basis:100%;margin:0}
.sl-check a{color:var(--sl-link)}
.sl-check .sl-maps{overflow-x:auto;display:flex;flex-wrap:wrap;align-items:flex-start;gap:1.2em;margin:.7em 0 .3em}
.sl-check
table.sl-map{border-collapse:separate;border-spacing:2px;margin:0;font-size:12px;font-variant-numeric:tabular-nums;color:var(--sl-ink);
width:auto;border:0;background:none}
.sl-check table.sl-map caption{caption-side:top;text-align:left;color:var(--sl-ink);padding:0 0 .2em;font-size:13px}
.sl-check table.sl-map td{padding:2px 6px;min-width:3.4em;text-align:right;border-radius:3px;border:2px solid
transparent;color:var(--sl-ink)}
.sl-check table.sl-costs :is(th,td){color:var(--sl-ink);background:none}
.sl-check table.sl-costs th{border:0;padding:2px 6px 2px 0;font-weight:400;text-align:left}
.sl-check table.sl-map td.sl-off{border-color:var(--sl-bad)}
.sl-check .sl-chips code.sl-off{outline:2px solid var(--sl-bad)}
.sl-check summary{cursor:pointer;color:var(--sl-soft)}
.sl-check pre{background:none;color:inherit;white-space:pre-wrap;font-size:13px}
.sl-check code{background:rgba(127,127,127,.15);padding:0 .25em;border-radius:3px;color:inherit}
body[data-jp-theme-light="false"] .sl-check,html[data-theme="dark"]
.sl-check{--sl-ink:#e6e9ee;--sl-soft:#a9b3c1;--sl-paper:#1b2029;
--sl-line:#3a4250;--sl-good:#56c596;--sl-bad:#ff9c85;--sl-part:#e4b44c;--sl-link:#8ec3ff;
--sl-plus:#2b6aa0;--sl-minus:#8f4f12}
"""

CASE_MARKS = {"wrong": "✗", "raised an exception": "!", "not reached": "○", "right": "✓"}
"""What a case came to, with its mark; the first ones are shown first."""

MARKS = {"pass": "✓", "partial": "◐", "blank": "○"}


def _tint(value: float, reach: float) -> str:
    """A background from orange (negative) over the page's own to blue (positive): for colour-blind eyes too."""
    if not np.isfinite(value):
        return "background:var(--sl-line)"
    fraction = 0.0 if reach == 0 else max(-1.0, min(1.0, value / reach))
    end = "plus" if fraction > 0 else "minus"
    return f"background:color-mix(in srgb,var(--sl-{end}) {abs(fraction):.0%},var(--sl-paper))"


def _flat(array: np.ndarray, index: tuple[int, ...]) -> tuple[np.ndarray, str]:
    """The two-dimensional slice that holds the cell, and what to call it."""
    if array.ndim == 0:
        return array.reshape(1, 1), ""
    if array.ndim == 1:
        return array.reshape(1, -1), ""
    lead = index[:-2] if len(index) >= 2 else (0,) * (array.ndim - 2)
    name = f"[{', '.join(map(str, lead))}, :, :]" if lead else ""
    return array[lead], name


def _floats(*tables: np.ndarray) -> Iterator[np.ndarray]:
    """The same tables as float64, cut already: an answer may hold millions of cells."""
    return (table.astype(np.float64) for table in tables)


def _window(cell: tuple[int, int], shape_: tuple[int, int]) -> tuple[slice, slice]:
    rows, cols = (slice(max(0, min(c - MAX_SIDE // 2, n - MAX_SIDE)), None) for c, n in zip(cell, shape_, strict=True))
    return slice(rows.start, rows.start + MAX_SIDE), slice(cols.start, cols.start + MAX_SIDE)


def _reach(*tables: np.ndarray) -> float:
    """The largest finite number: got and wanted share one scale of colours."""
    finite = np.concatenate([np.abs(t[np.isfinite(t)]) for t in tables])
    return float(finite.max()) if finite.size else 0.0


def _map(title: str, table: np.ndarray, off: np.ndarray, words: str, reach: float) -> str:
    rows = []
    for values, wrong in zip(table, off, strict=True):
        cells = "".join(
            f'<td style="{_tint(float(v), reach)}"{_OFF if w else ""}>{number_text(float(f"{v:.3g}"))}</td>'
            for v, w in zip(values, wrong, strict=True)
        )
        rows.append(f"<tr>{cells}</tr>")
    return (
        f'<table class="sl-map" aria-label="{escape(words)}"><caption>{escape(title)}</caption>{"".join(rows)}</table>'
    )


_OFF = ' class="sl-off"'


@np.errstate(all="ignore")
def heat_maps(difference: Difference, names: tuple[str, ...], reveals: bool = True) -> str:
    """Got, wanted and difference side by side, as tables that a screen reader can read."""
    name = name_of(difference, names)
    if difference.kind == "text":
        return _chips(difference, reveals)
    if difference.kind == "kind" or not difference.got.size or not difference.expected.size:
        return ""  # the same numbers twice show nothing
    if difference.kind == "shape":
        got, _ = _flat(difference.got, (0,) * difference.got.ndim)
        expected, _ = _flat(difference.expected, (0,) * difference.expected.ndim)
        if max(got.size, expected.size) > MAX_CELLS or not reveals:
            return ""
        got, expected = _floats(got, expected)
        reach = _reach(got, expected)
        titles = f"got {name} {shape(difference.got)}", f"wanted {name} {shape(difference.expected)}"
        tables = zip(titles, (got, expected), ("your result", "the right result"), strict=True)
        pair = [_map(title, table, np.zeros(table.shape, bool), words, reach) for title, table, words in tables]
        return f'<div class="sl-maps">{"".join(pair)}</div>'
    if difference.costs:
        return _costs(difference, name)
    index = difference.index or ()
    got, where = _flat(difference.got, index)
    expected, _ = _flat(difference.expected, index)
    cell = (*((0,) * (2 - len(index[-2:]))), *index[-2:])
    rows, cols = _window((cell[0], cell[1]), (got.shape[0], got.shape[1]))
    got, expected = _floats(got[rows, cols], expected[rows, cols])
    gap = got - expected
    off = ~(np.abs(gap) <= difference.tolerance)
    off &= ~(got == expected)
    count = int(off.sum())
    shown_gap, reach = np.where(off, gap, 0.0), _reach(got, expected)
    maps = (
        _map(f"got {name}{where}", got, off, f"your result; {count} of {got.size} cells differ", reach),
        _map(f"wanted {name}{where}", expected, np.zeros_like(off), "the right result", reach),
        _map("difference", shown_gap, off, "your result minus the right one", _reach(shown_gap)),
    )
    return f'<div class="sl-maps">{"".join(maps if reveals else maps[:1])}</div>'


def _costs(difference: Difference, name: str) -> str:
    """What an answer costs beyond each limit, a row for each: 0 where it stays within."""
    rows = "".join(
        f'<tr><th scope="row">{escape(cost)}</th><td{_OFF if over else ""}>{int(over):,}</td></tr>'
        for cost, over in zip(difference.costs, difference.got, strict=True)
    )
    title = f"{name or 'costs'} beyond the limits"
    return f'<div class="sl-maps"><table class="sl-map sl-costs"><caption>{escape(title)}</caption>{rows}</table></div>'


def _chips(difference: Difference, reveals: bool) -> str:
    """Got and wanted as rows of pieces; the first that differs is framed."""
    both = texts.chips_side_by_side(difference.got, difference.expected)
    if both is None:
        return ""
    got, expected = both
    off = next((i for i, pair in enumerate(zip(got, expected, strict=False)) if pair[0] != pair[1]), None)
    off = min(len(got), len(expected)) if off is None else off
    rows = [("got", got), *([("wanted", expected)] if reveals else [])]
    lines = (
        f"<p>{title}: "
        + " ".join(f"<code{_OFF if i == off else ''}>{escape(chip)}</code>" for i, chip in enumerate(chips))
        + "</p>"
        for title, chips in rows
    )
    return f'<div class="sl-chips">{"".join(lines)}</div>'


def case_lists(cases: Sequence[tuple[str, str]]) -> str:
    """The cases of a check by what they came to (``CASE_MARKS``), with their names, in a fold where these are long."""
    lines = []
    for outcome, mark in CASE_MARKS.items():
        if labels := [label for label, came_to in cases if came_to == outcome]:
            count = f'<span class="sl-mark">{mark} {len(labels)} {outcome}</span>'
            label_text = " · ".join(labels)
            names = f'<span class="sl-pts">{escape(label_text)}</span>'
            if len(label_text) > SHORT_LIST or outcome == "right":
                lines.append(f"<details><summary>{count}</summary>{names}</details>")
            else:
                lines.append(f"<p>{count}: {names}</p>")
    return f'<div class="sl-cases">{"".join(lines)}</div>' if lines else ""


def rich(sentence: str) -> str:
    """Escape a sentence and set its `code` in code."""
    parts = escape(sentence).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
