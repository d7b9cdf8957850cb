"""Blocks run out: whose are taken, and what is computed again when their owner comes back."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette

Step = tuple[Mapping[str, Sequence[int]], Mapping[str, int]]
"""The blocks of each guest that runs, and how many tokens each computes."""


def preemption(steps: Sequence[Step], blocks: int, size: int, *, palette: Palette) -> Figure:
    """Draw who has which block, of ``size`` tokens, in each step, and who waits to come back; three guests at most.

    A row for each block, a column for each step, the guest's initial in the cell. A block that nobody has, and whose
    last owner will come back, has a faint initial; where a guest comes back, blocks that are computed again are
    hatched. The last row says who waits. If nobody does, it is a ValueError: "wanted a guest that leaves and comes
    back".
    """
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
    figure = Figure(figsize=(6.4, 1.3 + 0.33 * (blocks + 1)))
    axes = figure.subplots()
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
    left = min(set(names) - {gone}, key=lambda name: runs[name][-1])
    for x, side, lines in (
        (leaves + 0.5, "right", f"no block is free:\n{gone} has to leave"),
        (
            returns + 0.5,
            "left",
            f"{left} is complete: {gone} comes back,\n{n_again} of {before} tokens are computed again",
        ),
    ):
        axes.plot([x, x], [-1.6, -0.95], color=palette.ink, linewidth=1)
        shift = 0.4 if side == "right" else -0.4
        axes.text(x + shift, -1.75, lines, ha=side, va="bottom", size=9, color=palette.ink)
    for y, word in ((-0.2, "step"), (blocks + 0.75, "waits")):
        axes.text(-0.35, y, word, ha="right", va="bottom" if y < 0 else "center", size=9, color=palette.muted)
    for b in range(blocks):
        axes.text(-0.35, b + 0.52, f"block {b}", ha="right", va="center", size=9, color=palette.muted)
    axes.set(xlim=(-1.6, len(steps)), ylim=(blocks + 1.3, -3.3))
    axes.set_axis_off()
    figure.set_label(
        f"Who has which of {blocks} blocks in {len(steps)} steps. In step {leaves + 1} no block is free, and {gone} "
        f"has to leave. After {left} has ended, in step {returns + 1}, {gone} comes back: {list(table[:n_found])} "
        f"are found again, and {n_again} of {before} tokens are computed again into {again}."
    )
    return figure
