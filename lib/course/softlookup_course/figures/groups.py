"""Which query head reads which key-value head: own, shared by neighbours, one for all, and the wrong order."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def head_groups(n_heads: int = 4, shared: int = 2, *, palette: Palette) -> Figure:
    """Draw the ways in which query heads read key-value heads.

    Four panels: K = N, K ``shared``, K = 1, and the shared heads tiled, which is the common mistake. If K is no divisor
    of N, it is a ValueError: "N query heads cannot share K key-value heads evenly".
    """
    if n_heads % shared:
        raise ValueError(f"{n_heads} query heads cannot share {shared} key-value heads evenly")
    figure = Figure(figsize=(4.4, 4.2))
    figure.set_label(
        f"{n_heads} query heads joined to the key-value heads that they read. K = {n_heads}: each reads its own. "
        f"K = {shared}: neighbours share. K = 1: all read the same one. In the last panel, tiled, query heads 0 and "
        f"{shared} share, which is wrong."
    )
    panels = figure.subplots(2, 2).ravel()
    reads = np.arange(n_heads)
    kinds = (
        (f"multi-head, K = {n_heads}", n_heads, reads),
        (f"grouped, K = {shared}", shared, reads // (n_heads // shared)),
        ("multi-query, K = 1", 1, 0 * reads),
        ("tiled: wrong order", shared, reads % shared),
    )
    for axes, (title, n_kv, owner) in zip(panels, kinds, strict=True):
        _panel(axes, title, n_kv, owner, palette, wrong=title.startswith("tiled"))
    return figure


def _panel(axes: Axes, title: str, n_kv: int, owner: np.ndarray, palette: Palette, *, wrong: bool) -> None:
    n = len(owner)
    at_kv = (np.arange(n_kv) + 0.5) * n / n_kv - 0.5
    for i, j in enumerate(owner):
        color = palette.alarm if wrong else palette.muted
        axes.plot([i, at_kv[j]], [0.86, 0.14], color=color, linewidth=1.6, linestyle="--" if wrong else "-")
    round_box = {"boxstyle": "round,pad=0.25", "facecolor": "none", "linewidth": 1.4}
    for i in range(n):
        box = round_box | {"edgecolor": palette.query}
        axes.text(i, 1, f"q {i}", ha="center", va="center", size=9, color=palette.query, bbox=box)
    for j in range(n_kv):
        box = round_box | {"edgecolor": palette.key}
        axes.text(at_kv[j], 0, f"kv {j}", ha="center", va="center", size=9, color=palette.key, bbox=box)
    axes.set_title(title, color=palette.alarm if wrong else palette.ink)
    axes.set(xlim=(-0.6, n - 0.4), ylim=(-0.3, 1.3))
    axes.set_axis_off()
