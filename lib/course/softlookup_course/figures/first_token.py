"""How much of its attention each head gives to a text's first token, and what it costs to hide that token."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette, ramp


def first_token(
    weights: Float[np.ndarray, "L N"] | Sequence[Sequence[float]], perplexity: Mapping[str, float], *, palette: Palette
) -> Figure:
    """Draw a map of layers and heads beside bars of perplexity.

    The map, layers from left to right, has the mean weight of the first token for each layer and head; the bars what
    each way of reading costs, by its name. A ValueError if the weights are no table of numbers from 0 to 1, or there is
    no bar.
    """
    table = np.asarray(weights, dtype=float)
    if table.ndim != 2 or not 0 <= table.min() <= table.max() <= 1:
        raise ValueError(f"weights of shape {table.shape}; wanted layers and heads, each from 0 to 1")
    if not perplexity:
        raise ValueError("perplexity is empty; wanted a bar for each way of reading")
    figure = Figure(figsize=(5.2, 4.3), layout="constrained")
    map_axes, bars = figure.subplots(2, 1, height_ratios=(1.5, 1))
    shades = map_axes.pcolormesh(table.T, cmap=ramp(palette), vmin=0, vmax=1, edgecolors=palette.mesh, linewidth=0.4)
    figure.colorbar(shades, ax=map_axes, ticks=(0, 0.5, 1), format="{x:.0%}", fraction=0.05, pad=0.02)
    map_axes.set(ylabel="head", ylim=(table.shape[1], 0))
    map_axes.set_title("weight of the first token, by layer", size=10)
    step = max(1, len(table) // 6)
    map_axes.set_xticks(np.arange(0, len(table), step) + 0.5, range(1, len(table) + 1, step))
    map_axes.set_yticks(np.arange(table.shape[1]) + 0.5, range(1, table.shape[1] + 1))
    map_axes.tick_params(length=0)
    map_axes.spines[:].set_visible(False)
    names, values = list(perplexity), list(perplexity.values())
    bars.barh(range(len(names)), values, color=palette.query, height=0.62)
    for i, value in enumerate(values):
        bars.text(value, i, f" {value:.0f}", va="center", ha="left", color=palette.ink)
    bars.set_yticks(range(len(names)), names)
    bars.invert_yaxis()
    bars.set_title("perplexity", size=10)
    bars.set_xlim(0, 1.15 * max(values))
    bars.set_xticks([])
    bars.tick_params(length=0)
    bars.spines[["top", "right", "bottom"]].set_visible(False)
    figure.set_label(
        f"A map of {table.shape[0]} layers and {table.shape[1]} heads: the mean weight of the first token is "
        f"{table.mean():.2f}, and above one half in {(table > 0.5).mean():.0%} of the heads. Perplexity: "
        + ", ".join(f"{name.replace(chr(10), ' ')} {value:.0f}" for name, value in perplexity.items())
        + "."
    )
    return figure
