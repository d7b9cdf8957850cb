"""A row of children, one for each word: what has to be whispered from one to the next, or is called across at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle, Ellipse, PathPatch, Polygon, Rectangle, Wedge
from matplotlib.path import Path

from softlookup_course.figures.marks import bare, draw_box
from softlookup_course.figures.theme import Palette

HEAD, RADIUS = 1.42, 0.25
"""Height of the middle of a head above the floor, and its radius; a child takes a width of 1."""


def row_of_children(words: Sequence[str], answering: int, asking: int, *, palette: Palette) -> Figure:
    """Draw how the word of child ``answering`` reaches ``asking``, a later one: by whispers, or by one call."""
    steps = asking - answering
    figure = Figure(figsize=(5.5, 3.7))  # on a phone, all up to the one who asks are in sight
    answer, question = words[answering], words[asking]
    figure.set_label(
        f"Children in a row hold the words {' '.join(words)}. Above, each whispers to the next: '{answer}' takes "
        f"{steps} whispers to reach '{question}', and loses letters. Below, '{question}' calls to all others at once, "
        f"and '{answer}' raises a hand: one step."
    )
    row, room = figure.subplots(2, 1, height_ratios=(2.37, 3.74))
    for axes, title, top in (
        (row, f"recurrent network: {steps} whispers from “{answer}” to “{question}”", 2.25),
        (room, "attention: 1 call, and everyone hears it", 3.64),
    ):
        axes.set_title(title)
        axes.plot([-0.5, len(words) - 0.5], [0, 0], color=palette.faint, linewidth=1.2, zorder=0)
        for i, child_word in enumerate(words):
            color = {answering: palette.key, asking: palette.query}.get(i)
            if axes is row:
                _child(axes, i, child_word, color, palette, gaze=-1 if i == asking else 1, puzzled=i == asking)
            else:
                gaze = np.sign((answering if i == asking else asking) - i)
                _child(axes, i, child_word, color, palette, gaze=gaze, raised=i == answering, calling=i == asking)
        bare(axes, xlim=(-0.55, len(words) - 0.45), ylim=(-0.12, top), aspect="equal")
    _whispers(row, words, answering, asking, palette)
    _calls(room, words, answering, asking, palette)
    for axes in (row, room):
        for artist in [*axes.patches, *axes.lines]:
            artist.set_clip_on(False)  # a tenth of the drawing's bytes said where each stroke ends
    return figure


def _whispers(axes: Axes, words: Sequence[str], answering: int, asking: int, palette: Palette) -> None:
    for i in range(len(words) - 1):
        on_the_way = answering <= i < asking
        color, width = (palette.key, 1.5) if on_the_way else (palette.muted, 0.8)
        for size in (0.12, 0.22, 0.32):
            at = (i + 0.39, HEAD - 0.08)
            axes.add_patch(Arc(at, size, 1.3 * size, theta1=-48, theta2=48, color=color, linewidth=width, zorder=8))
        if on_the_way:
            heard = _faded(words[answering], (i - answering) / (asking - answering))
            axes.text(i + 0.5, 2.0, heard, ha="center", va="center", size=8.5, color=palette.key)
    for dx, y, size in ((0.17, 1.79, 0.03), (0.26, 1.88, 0.045)):
        axes.add_patch(Circle((asking + dx, y), size, color=palette.query))
    axes.text(asking + 0.57, 2.03, "who?", ha="center", va="center", size=9, color=palette.query)


def _faded(word: str, lost: float) -> str:
    """Replace letters of a word by dots, every third one first."""
    order = [i for start in (2, 1, 0) for i in range(start, len(word), 3)]
    gone = set(order[: round(lost * len(word))])
    return "".join("·" if i in gone else letter for i, letter in enumerate(word))


def _calls(axes: Axes, words: Sequence[str], answering: int, asking: int, palette: Palette) -> None:
    start = np.array([asking, HEAD + 0.5])
    for i in range(len(words)):
        if i == asking:
            continue
        end = np.array([i, HEAD + 0.5])
        lift = 0.25 + 0.27 * abs(i - asking)
        over = [(start[0], start[1] + lift), (end[0], end[1] + lift)]
        color, width = (palette.query, 2.4) if i == answering else (palette.muted, 0.8)
        codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
        arc = Path([tuple(start), *over, tuple(end)], codes)
        axes.add_patch(PathPatch(arc, fill=False, edgecolor=color, linewidth=width, zorder=4 if i == answering else 1))
        tip = [(i, end[1] - 0.08), (i - 0.07, end[1] + 0.07), (i + 0.07, end[1] + 0.07)]
        axes.add_patch(Polygon(tip, color=color, zorder=4 if i == answering else 1))
    axes.text(answering - 0.37, HEAD + 0.51, "me", ha="center", va="center", size=9, color=palette.key)


def _child(
    axes: Axes,
    x: float,
    word: str,
    color: str | None,
    palette: Palette,
    *,
    gaze: float,
    raised: bool = False,
    calling: bool = False,
    puzzled: bool = False,
) -> None:
    line: dict[str, Any] = {"color": palette.ink, "linewidth": 1.1, "solid_capstyle": "round"}
    shirt = color or palette.faint
    for side in (-1, 1):
        axes.plot([x + side * 0.1, x + side * 0.11, x + side * 0.2], [0.4, 0.03, 0.03], zorder=1, **line)
        shoulder, hand = (x + side * 0.17, 1.08), (x + side * 0.36, 0.57)
        if raised and side < 0:
            hand = (x + side * 0.37, 1.7)
        if calling:
            hand = (x + side * 0.2, HEAD - 0.14)
        axes.plot(*zip(shoulder, (x + side * 0.36, 0.98 if hand[1] < 1 else 1.2), hand, strict=True), zorder=2, **line)
        axes.add_patch(Circle(hand, 0.055, facecolor=palette.paper, edgecolor=palette.ink, linewidth=0.9, zorder=7))
    corners = [(x - 0.15, 1.17), (x + 0.15, 1.17), (x + 0.28, 0.38), (x - 0.28, 0.38)]
    axes.add_patch(Polygon(corners, facecolor=shirt, edgecolor=palette.ink, linewidth=0.9, joinstyle="round", zorder=3))
    edge: dict[str, Any] = {"ec": color or palette.muted, "linewidth": 1.6 if color else 0.9}
    draw_box(axes, (x - 0.46, 0.58), 0.92, 0.3, 0.05, zorder=5, fc=palette.paper, **edge)
    axes.text(x, 0.725, word, ha="center", va="center", size=8, color=color or palette.ink, zorder=6)
    _head(axes, x, palette, gaze=gaze, calling=calling, puzzled=puzzled)


def _head(axes: Axes, x: float, palette: Palette, *, gaze: float, calling: bool, puzzled: bool) -> None:
    _hair(axes, x, palette)
    axes.add_patch(Circle((x, HEAD), RADIUS, facecolor=palette.paper, edgecolor=palette.ink, linewidth=1.0, zorder=3))
    turn = 0.07 * gaze
    for side in (-0.08, 0.08):
        axes.add_patch(Circle((x + side + turn, HEAD + 0.02), 0.022, color=palette.ink, zorder=6))
    mouth = (x + turn, HEAD - 0.1)
    if calling:
        axes.add_patch(Ellipse(mouth, 0.1, 0.13, color=palette.ink, zorder=6))
    elif puzzled:
        axes.plot([mouth[0] - 0.05, mouth[0] + 0.05], [mouth[1], mouth[1] + 0.02], color=palette.ink, linewidth=1)
    else:
        axes.add_patch(Arc(mouth, 0.13, 0.09, theta1=200, theta2=340, color=palette.ink, linewidth=1, zorder=6))
    _fringe(axes, x, palette)


def _hair(axes: Axes, x: float, palette: Palette) -> None:
    """What stands out behind a head: each child has its own."""
    haircut, color = int(x) % 5, palette.muted
    if haircut == 0:  # two bunches
        for side in (-1, 1):
            axes.add_patch(Ellipse((x + side * 0.29, HEAD + 0.02), 0.13, 0.24, angle=side * 20, color=color, zorder=2))
    elif haircut == 2:  # long
        axes.add_patch(Rectangle((x - RADIUS - 0.02, HEAD - 0.25), 2 * RADIUS + 0.04, 0.27, color=color, zorder=2))
    elif haircut == 3:  # a bun
        axes.add_patch(Circle((x, HEAD + RADIUS + 0.07), 0.1, color=color, zorder=2))


def _fringe(axes: Axes, x: float, palette: Palette) -> None:
    """Hair on the head: a cap of it, or a shock of spikes."""
    haircut, color = int(x) % 5, palette.muted
    if haircut == 1:
        spikes = [(x + RADIUS * 1.02 * np.cos(a), HEAD + RADIUS * 1.02 * np.sin(a)) for a in np.radians([20, 160])]
        for k, angle in enumerate(np.radians(np.linspace(155, 25, 9))):
            reach = RADIUS * (1.28 if k % 2 else 0.98)
            spikes.append((x + reach * np.cos(angle), HEAD + reach * np.sin(angle)))
        spikes.append((x + 0.1, HEAD + 0.13))
        axes.add_patch(Polygon(spikes[1:], color=color, zorder=5))
    elif haircut == 4:  # a cap with its brim
        axes.add_patch(Wedge((x, HEAD + 0.08), RADIUS * 0.98, 0, 180, color=color, zorder=5))
        axes.plot([x - 0.25, x + 0.36], [HEAD + 0.09, HEAD + 0.09], color=color, linewidth=2.2, zorder=5)
    else:
        side = 1 if haircut == 2 else -1
        around = np.radians(np.linspace(22, 158, 16))
        cap = [(x + 1.04 * RADIUS * np.cos(a), HEAD + 1.04 * RADIUS * np.sin(a)) for a in around]
        axes.add_patch(Polygon([*cap, (x + side * 0.08, HEAD + 0.17)], color=color, zorder=5))
