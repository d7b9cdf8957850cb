"""A server of a model: its loop, its memory in blocks, its batches and the latencies of its users."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from softlookup_course.figures.marks import bare, draw_box, kept_apart, one_panel, several_panels
from softlookup_course.figures.theme import Palette

_MIDDLE, _RADIUS = (0.0, 0.0), 1.8
_STATIONS = ((90, "plan", "Scheduler.step"), (210, "compute", "ModelRunner.run"), (330, "hand out", "Server.say"))
"""Angle on the circle, what is done, and the library's name for it."""
_BOXES = {
    "waiting": (-5.0, 1.6),
    "refused": (-5.0, -1.9),
    "finished": (5.0, -1.9),
    "cancelled": (5.0, 1.6),
    "failed": (5.0, -0.15),
}
_WIDE, _HIGH = 2.1, 1.15


def serving_loop(guests: Mapping[str, Sequence[str]], *, palette: Palette) -> Figure:
    """Draw the states of a request (``serving.request.State``), who is in each, and the circle of steps."""
    figure, axes = one_panel(6.8, 3.2)
    for index, (angle, does, name) in enumerate(_STATIONS):
        x, y = _at(angle)
        following = _STATIONS[(index + 1) % 3][0]
        begin, end = _at(angle + 33), _at(following - 33)
        _arrow(axes, begin, end, palette.query, bend=0.27, width=2.2)
        axes.text(x, y + 0.2, does, ha="center", va="center", size=10.5, weight="bold", color=palette.query)
        axes.text(x, y - 0.3, name, ha="center", va="center", size=8.5, color=palette.muted)
    axes.text(0, 0.32, "running", ha="center", va="center", size=10.5, weight="bold", color=palette.query)
    axes.text(0, -0.2, _named(guests["running"]), ha="center", va="center", size=9.5, color=palette.ink)
    for state, (x, y) in _BOXES.items():
        color = palette.value if state == "finished" else palette.ink if state == "waiting" else palette.key
        corner = (x - _WIDE / 2, y - _HIGH / 2)
        draw_box(axes, corner, _WIDE, _HIGH, 0.15, fc=palette.paper, ec=color, linewidth=1.4)
        axes.text(x, y + 0.22, state, ha="center", va="center", size=10.5, weight="bold", color=color)
        axes.text(x, y - 0.26, _named(guests[state]), ha="center", va="center", size=9.5, color=palette.ink)
    left, right, top = -5.0 + _WIDE / 2 + 0.05, 5.0 - _WIDE / 2 - 0.05, 1.6 + _HIGH / 2 + 0.05
    arrows = [
        ((-5.0, 3.1), (-5.0, top), (-4.8, 2.75), "submit", "left"),
        ((left, 1.95), (-0.75, 2.05), (-2.35, 2.5), "enters: a slot\nand blocks are free", "center"),
        ((-1.0, 1.05), (left, 1.4), (-2.75, 0.75), "preempted:\nno block is free", "center"),
        ((-5.0, top - _HIGH - 0.1), (-5.0, -1.9 + _HIGH / 2 + 0.05), (-5.15, -0.15), "queue\nfull", "right"),
        ((1.0, 1.05), (right, 1.5), (2.4, 1.62), "cancel", "center"),
        ((2.05, -0.15), (right, -0.15), (2.95, 0.12), "exception", "center"),
        ((2.45, -1.2), (right, -1.75), (3.0, -1.95), "last token", "center"),
    ]
    for begin, end, label_at, words, side in arrows:
        _arrow(axes, begin, end, palette.muted, bend=0.0, width=1.3)
        axes.text(*label_at, words, ha=side, va="center", size=8.5, color=palette.muted, linespacing=1.1)
    bare(axes, xlim=(-6.2, 6.1), ylim=(-2.6, 3.15), aspect="equal")
    who = "; ".join(f"{state}: {_named(names)}" for state, names in guests.items())
    figure.set_label(
        "A circle of three: Scheduler.step plans a step, ModelRunner.run computes it, Server.say hands out its tokens. "
        f"A request comes from waiting, may be preempted back to it, and ends. At this moment {who}."
    )
    return figure


def _at(angle: float) -> tuple[float, float]:
    """A point of the circle, in degrees from the right."""
    turn = np.deg2rad(angle)
    return _MIDDLE[0] + _RADIUS * float(np.cos(turn)), _MIDDLE[1] + _RADIUS * float(np.sin(turn))


def _named(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "nobody"


def _arrow(
    axes: Axes, begin: tuple[float, float], end: tuple[float, float], color: str, *, bend: float, width: float
) -> None:
    arrow = FancyArrowPatch(
        begin, end, connectionstyle=f"arc3,rad={bend}", arrowstyle="-|>", mutation_scale=11, shrinkA=0, shrinkB=0
    )
    arrow.set(color=color, linewidth=width)
    axes.add_patch(arrow)


Guests = Mapping[str, tuple[Sequence[int], int]]
"""For each guest the numbers of its blocks, in the order of its text, and how many tokens it has."""
_SLOT, _ENTRY, _BETWEEN = 0.66, 0.9, 1.9


def paged_memory(guests: Guests, blocks: int, size: int, *, palette: Palette) -> Figure:
    """Draw the block tables of up to six guests around the memory, in blocks of ``size`` tokens, to which they point.

    Each token has its guest's first letter; empty cells are hatched; shared blocks have a colour of their own.
    """
    filled, users = [0] * blocks, [""] * blocks
    for name, (table, tokens) in guests.items():
        for at, b in enumerate(table):
            filled[b], users[b] = min(size, tokens - at * size), users[b] + name[0]
    figure, axes = one_panel(6.8, 3.5)
    bottom = -size * _SLOT - 1.0
    colors = dict(zip(guests, (palette.query, palette.key, palette.value) * 2, strict=False))
    names = list(guests)
    half = (len(names) + 1) // 2
    for row, top, edge in ((names[:half], _BETWEEN, 0.0), (names[half:], bottom - _BETWEEN - 1.0, bottom)):
        wide = [_ENTRY * len(guests[name][0]) for name in row]
        gap = (blocks - sum(wide)) / max(len(row), 1)
        x = gap / 2
        for name, width in zip(row, wide, strict=True):
            table, tokens = guests[name]
            above = edge == 0.0
            for at, b in enumerate(table):
                color = palette.mixed if len(users[b]) > 1 else colors[name]
                entry_x = x + at * _ENTRY
                _cell(axes, entry_x, top, _ENTRY, 1.0, color, palette, filled=True)
                axes.text(entry_x + _ENTRY / 2, top + 0.47, str(b), ha="center", va="center", size=9)
                ends = [top if above else top + 1.0, edge]
                way = "-" if above else (0, (4, 2))
                axes.plot([entry_x + _ENTRY / 2, b + 0.5], ends, color=color, linewidth=1.2, linestyle=way, alpha=0.8)
            y, side = (top + 1.25, "bottom") if above else (top - 0.25, "top")
            words = f"{name}: {tokens} tokens"
            axes.text(x + width / 2, y, words, ha="center", va=side, size=9.5, color=colors[name])
            x += width + gap
    for b in range(blocks):
        owner = next((name for name in names if users[b] == name[0]), "")
        color = colors.get(owner, palette.mixed if users[b] else palette.faint)
        way = (0, (4, 2)) if owner in names[half:] else "-"
        axes.add_patch(Rectangle((b, bottom), 1, -bottom, fc=palette.paper, ec=color, linewidth=1.2, linestyle=way))
        axes.text(b + 0.5, -0.52, str(b), ha="center", va="center", size=8.5, color=palette.muted)
        for slot in range(size):
            y = -1.0 - (slot + 1) * _SLOT
            box = b + 0.08, y + 0.05, 0.84, _SLOT - 0.1
            _cell(axes, *box, color, palette, filled=slot < filled[b])
            if slot < filled[b]:
                axes.text(b + 0.5, y + _SLOT / 2 - 0.03, users[b], ha="center", va="center", size=8, zorder=4)
            if users[b] and slot >= filled[b]:
                axes.add_patch(
                    Rectangle(box[:2], *box[2:], fill=False, ec=palette.muted, hatch="/////", lw=0, zorder=3)
                )
        if not users[b]:
            axes.text(b + 0.5, 0.25, "free", ha="center", va="bottom", size=8.5, color=palette.muted)
    bare(axes, xlim=(-0.1, blocks + 0.1), ylim=(bottom - _BETWEEN - 2.2, _BETWEEN + 2.2))
    shared = [b for b in range(blocks) if len(users[b]) > 1]
    each = "; ".join(f"{name} {tokens} in {list(table)}" for name, (table, tokens) in guests.items())
    figure.set_label(
        f"A memory of {blocks} blocks of {size} tokens. Tokens and blocks of the guests: {each}. Shared: {shared}. "
        f"Empty cells in their last blocks: {sum(size - n for n, who in zip(filled, users, strict=True) if who)}."
    )
    return figure


def _cell(
    axes: Axes, x: float, y: float, width: float, height: float, color: str, palette: Palette, *, filled: bool
) -> None:
    """A box: filled in a light tint of its colour, or empty with a faint edge."""
    if filled:
        axes.add_patch(Rectangle((x, y), width, height, facecolor=palette.paper, edgecolor="none", zorder=2))
        axes.add_patch(Rectangle((x, y), width, height, facecolor=color, alpha=0.35, edgecolor="none", zorder=2))
    edge = color if filled else palette.faint
    axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=edge, linewidth=0.9, zorder=2))


Step = tuple[Mapping[str, Sequence[int]], Mapping[str, int]]
"""The blocks of each guest that runs, and how many tokens each computes."""


def preemption(steps: Sequence[Step], blocks: int, size: int, *, palette: Palette) -> Figure:
    """Draw who has which block of ``size`` tokens in each step, and who waits to come back; three guests at most."""
    names = list(dict.fromkeys(name for tables, _ in steps for name in tables))
    runs = {name: [i for i, (tables, _) in enumerate(steps) if name in tables] for name in names}
    away = {name: sorted(set(range(at[0], at[-1])) - set(at)) for name, at in runs.items()}
    gone = next((name for name in names if away[name]), None)
    if gone is None:
        raise ValueError("wanted a guest that leaves and comes back")
    leaves, returns = away[gone][0], away[gone][-1] + 1
    before = sum(computed.get(gone, 0) for _, computed in steps[:leaves])
    back, table = steps[returns][1][gone], steps[returns][0][gone]
    n_again = back - 1  # the newest token was written, and its keys and values are computed for the first time
    n_found = (before - n_again) // size
    again = list(table[n_found : -(-before // size)])
    colors = dict(zip(names, palette.series, strict=False))
    figure, axes = one_panel(6.4, 1.3 + 0.33 * (blocks + 1))
    last: dict[int, str] = {}
    for i, (tables, _) in enumerate(steps):
        owners = {b: name for name, table in tables.items() for b in table}
        for b in range(blocks):
            name = owners.get(b, "")
            color = colors.get(name, palette.faint)
            if name:
                axes.add_patch(Rectangle((i, b), 1, 1, facecolor=color, alpha=0.3, edgecolor="none"))
            box = None
            if i == returns and b in again:
                axes.add_patch(Rectangle((i, b), 1, 1, fill=False, edgecolor=color, hatch="////", linewidth=0))
                box = {"facecolor": palette.paper, "edgecolor": "none", "pad": 0.8}
            axes.add_patch(Rectangle((i, b), 1, 1, fill=False, edgecolor=palette.paper, linewidth=2))
            if not name:
                axes.add_patch(Rectangle((i + 0.05, b + 0.07), 0.9, 0.86, fill=False, edgecolor=color, linewidth=0.8))
            if name:
                axes.text(i + 0.5, b + 0.52, name[0], ha="center", va="center", size=9.5, color=color, bbox=box)
            elif last.get(b) == gone and leaves <= i < returns:
                letter = axes.text(i + 0.5, b + 0.52, gone[0], ha="center", va="center", size=9.5, style="italic")
                letter.set_color(palette.muted)
        last |= owners
        for name in names:
            if i in away[name]:
                axes.text(i + 0.5, blocks + 0.75, name, ha="center", va="center", size=9, color=colors[name])
        axes.text(i + 0.5, -0.2, str(i + 1), ha="center", va="bottom", size=9, color=palette.muted)
    ended = min(set(names) - {gone}, key=lambda name: runs[name][-1])
    for x, side, lines in (
        (leaves + 0.5, "right", f"no block is free:\n{gone} has to leave"),
        (
            returns + 0.5,
            "left",
            f"{ended} is complete: {gone} comes back,\n{n_again} of {before} tokens are computed again",
        ),
    ):
        axes.plot([x, x], [-1.6, -0.95], color=palette.ink, linewidth=1)
        shift = 0.4 if side == "right" else -0.4
        axes.text(x + shift, -1.75, lines, ha=side, va="bottom", size=9, color=palette.ink)
    for y, label in ((-0.2, "step"), (blocks + 0.75, "waits")):
        axes.text(-0.35, y, label, ha="right", va="bottom" if y < 0 else "center", size=9, color=palette.muted)
    for b in range(blocks):
        axes.text(-0.35, b + 0.52, f"block {b}", ha="right", va="center", size=9, color=palette.muted)
    bare(axes, xlim=(-1.6, len(steps)), ylim=(blocks + 1.3, -3.3))
    figure.set_label(
        f"Who has which of {blocks} blocks in {len(steps)} steps. In step {leaves + 1} no block is free, and {gone} "
        f"has to leave. After {ended} has ended, in step {returns + 1}, {gone} comes back: {list(table[:n_found])} "
        f"are found again, and {n_again} of {before} tokens are computed again into {again}."
    )
    return figure


def batch_limits(
    batches: Sequence[int], rates: Mapping[str, tuple[Sequence[float], float]], *, palette: Palette
) -> Figure:
    """Draw tokens a second against the batch for up to four caches by name: (tokens a second, their limit)."""
    figure, axes = one_panel(6.4, 3.4)
    descriptions = []
    heights = dict(zip(rates, kept_apart([float(np.log10(line[-1])) for line, _ in rates.values()], 0.18), strict=True))
    for (name, (line, limit)), color in zip(rates.items(), palette.series, strict=False):
        axes.loglog(batches, line, color=color)
        axes.axhline(limit, color=color, linestyle=":", linewidth=1.3, zorder=1)
        axes.text(1.12 * batches[-1], 10.0 ** heights[name], name, color=color, va="center", size=9)
        descriptions.append(f"{name}: {line[0]:,.0f} to {line[-1]:,.0f}, limit {limit:,.0f}")
    axes.set(xlabel="requests in a step", ylabel="tokens a second, at most", xlim=(batches[0], batches[-1]))
    powers = 10.0 ** np.arange(2, 6)
    axes.set_yticks(powers, [f"{power:,.0f}" for power in powers])
    ticks = [batch for batch in batches if batch.bit_count() == 1 and batch.bit_length() % 2 == 1]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    figure.set_label(
        f"Tokens a second against the batch, {batches[0]} to {batches[-1]:,} requests, both logarithmic. "
        f"{'; '.join(descriptions)}."
    )
    return figure


def latency_curves(
    loads: Sequence[float],
    predicted: Mapping[str, Mapping[str, Sequence[float]]],
    measured: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    lines_at: Sequence[float] | None = None,
    palette: Palette,
) -> Figure:
    """Draw latencies in ms by title and percentile against load: predicted as lines, measured as points."""
    at = list(loads if lines_at is None else lines_at)
    figure, panels = several_panels(6.6, 3.2, 1, len(predicted))
    descriptions = []
    for axes, (title, lines) in zip(panels, predicted.items(), strict=True):
        axes.axvspan(1.0, 1.08 * max(loads), color=palette.faint, alpha=0.5, lw=0)
        for (name, line), color in zip(lines.items(), palette.series, strict=False):
            axes.plot(at, line, color=color)
            axes.plot(loads, measured[title][name], "o", color=color)
            start = max(line[0], measured[title][name][0])
            axes.text(0.85 * loads[0], start, name, color=color, size=9, ha="right", va="center")
            pairs = zip(measured[title][name], (line[at.index(load)] for load in loads), strict=True)
            numbers = ", ".join(f"{m:.3g} ({p:.3g})" for m, p in pairs)
            descriptions.append(f"{title}, {name}: {numbers}")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else "")
        axes.set_xlim(0, 1.08 * max(loads))
        everything = np.concatenate([*lines.values(), *measured[title].values()])
        axes.set_ylim(everything.min() / 1.6, everything.max() * 2)
        axes.set_title(title)
        axes.set_xlabel("load")
    panels[0].set_ylabel("milliseconds")
    load_texts = ", ".join(f"{load:g}" for load in loads)
    figure.set_label(
        f"Latencies at the loads {load_texts}, measured (predicted), in milliseconds. {'; '.join(descriptions)}."
    )
    return figure
