"""Quality by position, inside the trained length and beyond it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.ends import kept_apart
from softlookup_course.figures.theme import Palette

_NAMES = {
    "none": "none",
    "sinusoidal": "sinusoids",
    "learned": "learned",
    "t5": "T5",
    "alibi": "ALiBi",
    "rotary": "rotary",
}


def beyond_length(
    length: int, times: int, fetched: Mapping[str, Any], text: Mapping[str, Any], *, palette: Palette
) -> Figure:
    """Draw what ``softlookup bench positions`` measured, position by position.

    ``length`` tokens were trained, ``times`` as many were read. For each method ``fetched`` has a record whose
    ``curve`` has a share of right answers for each seed and bin; ``text`` likewise a loss. Of two panels above each
    other, each curve is named at its end and the trained length marked; the mean over the seeds is a line, the range
    over them a shade.
    """
    figure = Figure(figsize=(4.3, 6.4))  # as wide as a phone
    upper, lower = figure.subplots(2, 1)
    worst_loss = max(np.max(result["curve"]) for result in text.values())
    _panel(upper, length, times, fetched, (0, 1.03), palette)
    _panel(lower, length, times, text, (0.5, 1.04 * float(worst_loss)), palette)
    upper.set_title("fetch: higher is better", pad=17)
    lower.set_title("text: lower is better", pad=17)
    upper.set_ylabel("fraction of letters right")
    lower.set_ylabel("loss, nats per character")
    end = {m: np.mean(text[m]["curve"], axis=0)[-1] for m in _NAMES if m in text}
    best, worst = min(end, key=lambda m: end[m]), max(end, key=lambda m: end[m])
    figure.set_label(
        f"Two panels against the position, 0 to {times * length}, trained up to {length}. Above, the fraction of "
        f"letters fetched; below, the loss on text. At the end of the lower panel {_NAMES[best]} is "
        f"best with {end[best]:.2f} nats and {_NAMES[worst]} is worst with {end[worst]:.2f}."
    )
    return figure


def _panel(
    axes: Axes, length: int, times: int, methods: Mapping[str, Any], bounds: tuple[float, float], palette: Palette
) -> None:
    looks = dict(
        zip(
            _NAMES,
            (
                (palette.muted, "--"),
                (palette.query, "-"),
                (palette.ink, ":"),
                (palette.key, "-"),
                (palette.value, "-"),
                (palette.mixed, "-"),
            ),
            strict=True,
        )
    )
    whole = times * length
    ends = []
    for method, (color, dash) in looks.items():
        if method not in methods:
            continue
        curves = np.asarray(methods[method]["curve"])
        x = (np.arange(curves.shape[1]) + 0.5) * whole / curves.shape[1]
        mean = curves.mean(axis=0)
        axes.fill_between(x, curves.min(axis=0), curves.max(axis=0), color=color, alpha=0.16, linewidth=0)
        axes.plot(x, mean, dash, color=color, linewidth=1.7)
        ends.append((float(mean[-1]), _NAMES[method], color))
    line = 0.075 * (bounds[1] - bounds[0])  # the height of a name
    for (_, name, color), place in zip(ends, kept_apart([end[0] for end in ends], line), strict=True):
        axes.text(whole * 1.02, place, name, color=color, va="center", size=9)
    axes.axvline(length, color=palette.muted, linewidth=1)
    axes.text(
        length,
        1.0,
        " trained",
        color=palette.muted,
        size=8.5,
        transform=axes.get_xaxis_transform(),
        va="bottom",
        ha="center",
    )
    axes.set(xlabel="position in the text", xlim=(0, whole * 1.3), ylim=bounds)
    axes.set_xticks([length * n for n in range(times + 1)])
    axes.grid(axis="y")
