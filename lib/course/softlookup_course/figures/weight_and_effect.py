"""Where heads attend to, against what they change: a point for each head."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def weight_and_effect(
    weights: np.ndarray, effects: np.ndarray, names: Mapping[tuple[int, int], str], target: str, *, palette: Palette
) -> Figure:
    """Draw for each head its attention weight on one token, and what comes back when the head is patched.

    Both are by layer and head, or it is a ValueError; ``effects`` are the recovered shares. ``names`` are heads to
    point out, as (layer, head), and what stands beside each; ``target`` is what the weights are on.
    """
    if np.shape(weights) != np.shape(effects):
        raise ValueError(f"weights have shape {np.shape(weights)}, effects {np.shape(effects)}; wanted the same")
    figure = Figure(figsize=(5.6, 3.3))
    axes = figure.subplots()
    axes.axhline(0, color=palette.muted, linewidth=0.8)
    axes.plot(np.ravel(weights), np.ravel(effects), "o", color=palette.muted, alpha=0.55, markersize=4)
    described = []
    for head, name in names.items():
        x, y = float(weights[head]), float(effects[head])
        axes.plot(x, y, "o", color=palette.key, markersize=6)
        axes.text(x - 0.02 if x > 0.5 else x + 0.025, y + 0.05, name, ha="right" if x > 0.5 else "left", va="bottom")
        described.append(f"{name} at {x:.2f} and {y:.2f}")
    axes.set(xlim=(-0.03, 1.0), ylim=(min(-0.35, float(np.min(effects)) - 0.05), 1.08))
    axes.set(xlabel=f"attention weight on {target}", ylabel="share that comes back")
    axes.grid(axis="y")
    figure.set_label(
        f"A point for each of {np.size(weights)} heads: its attention weight on {target}, and the share of the answer "
        f"that comes back when it is patched alone. {'; '.join(described)}."
    )
    return figure
