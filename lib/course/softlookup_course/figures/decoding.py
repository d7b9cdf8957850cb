"""What one more token costs, with the keys and values kept and without."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.show import save_figure
from softlookup_course.figures.theme import Palette


def step_cost(lengths: np.ndarray, cached_ms: np.ndarray, recomputed_ms: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the time of one step of decoding, cached and recomputed, against the length S of the text so far.

    Two panels above each other: both on one scale, then the cached step alone, with the straight line that fits it
    best. Lengths increase; the recomputed step runs the whole text through the model again.
    """
    lengths, cached_ms, recomputed_ms = (np.asarray(a, dtype=float) for a in (lengths, cached_ms, recomputed_ms))
    slope, start_ms = np.polyfit(lengths, cached_ms, 1)
    line = f"{_ms(start_ms)} + {1e3 * slope:.2g} ms per 1,000 tokens"
    figure = Figure(figsize=(4.4, 4.6))
    figure.set_label(
        f"Time of one step against the length of the text. At {lengths[0]:,.0f} tokens a step takes "
        f"{_ms(recomputed_ms[0])} if everything is recomputed and {_ms(cached_ms[0])} with a cache; at "
        f"{lengths[-1]:,.0f} tokens {_ms(recomputed_ms[-1])} and {_ms(cached_ms[-1])}. The straight line "
        f"fitted to the cached steps is {line}."
    )
    both, alone = figure.subplots(2, 1, sharex=True)
    for times_ms, name, color, side in (
        (recomputed_ms, "no cache", palette.mixed, "center"),
        (cached_ms, "cached", palette.query, "bottom"),
    ):
        both.plot(lengths, times_ms, "o-", color=color, markersize=5)
        both.text(lengths[-1] * 1.04, times_ms[-1], f"{name}:\n{_ms(times_ms[-1])}", color=color, va=side)
    both.set(ylabel="ms for one step", ylim=(0, 1.12 * recomputed_ms.max()))
    alone.plot(lengths, start_ms + slope * lengths, color=palette.muted, linewidth=1.4)
    alone.plot(lengths, cached_ms, "o", color=palette.query, markersize=5)
    alone.annotate(line, (0.04, 0.9), xycoords="axes fraction", color=palette.muted, va="top", size=9)
    alone.set(title="the cached step only", xlabel="length of the text $S$", ylabel="ms for one step")
    alone.set_ylim(0, 1.5 * cached_ms.max())
    alone.set_xlim(0, lengths[-1] * 1.35)
    far = lengths[lengths >= lengths[-1] / 5]  # the shorter ones stand too close for their numbers
    alone.set_xticks(far, [f"{length:,.0f}" for length in far])
    for axes in (both, alone):
        axes.grid(axis="y")
    return figure


def save_step_cost(steps: dict[str, list[float]], path: Path) -> None:
    """Draw step_cost from what `softlookup bench decoding` measured, for light pages.

    ``steps`` is the record's: lengths, cached_ms and recomputed_ms. The path's ending is .svg or .png; another is a
    ValueError.
    """
    series = [np.asarray(steps[name]) for name in ("lengths", "cached_ms", "recomputed_ms")]
    save_figure(path, step_cost, *series)


def _ms(time_ms: float) -> str:
    return f"{time_ms:,.0f} ms" if time_ms >= 100 else f"{time_ms:.3g} ms"
