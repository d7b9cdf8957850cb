"""Where the parameters of a model are, and which of them do work for every token."""

from collections.abc import Collection, Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette

_NARROWEST = 0.085
"""A part with a smaller fraction has no room for its number."""


def model_parts(models: Mapping[str, Mapping[str, float]], idle: Collection[str] = (), *, palette: Palette) -> Figure:
    """Draw the parameters of models as bars of equal length, cut into up to four parts, the same in all.

    Parts that are ``idle``, which stand in no product, are hatched. They are named above the first bar and have their
    share in per cent, the sum stands at the end. Other parts are a ValueError: "NAME has the parts ..., wanted ...".
    """
    parts = list(next(iter(models.values())))
    for name, counts in models.items():
        if list(counts) != parts:
            raise ValueError(f"{name} has the parts {list(counts)}, wanted {parts}")
    figure = Figure(figsize=(6.6, 0.9 + 0.55 * len(models)))
    axes = figure.subplots()
    descriptions = []
    for row, (name, counts) in enumerate(models.items()):
        total, left, shares = sum(counts.values()), 0.0, []
        for (part, count), color in zip(counts.items(), palette.series, strict=False):
            share = count / total
            axes.barh(row, share, left=left, height=0.6, **_look(color, part in idle, palette))
            if share >= _NARROWEST:
                number = axes.text(left + share / 2, row, f"{100 * share:.0f} %", ha="center", va="center", size=9)
                if part in idle:
                    number.set_bbox({"facecolor": palette.paper, "edgecolor": "none", "pad": 1.5})
            left += share
            shares.append(f"{part} {100 * share:.0f} %")
        axes.text(1.015, row, f"{total / 1e9:.2f} billion", va="center", size=9)
        descriptions.append(f"{name}, {total / 1e9:.2f} billion: {', '.join(shares)}")
    _name_above(axes, next(iter(models.values())), palette)
    unused = f"; {', '.join(idle)} hatched" if idle else ""
    figure.set_label(f"Fractions of all parameters by part{unused}. {'; '.join(descriptions)}.")
    axes.set_yticks(range(len(models)), list(models))
    axes.set_ylim(len(models) - 0.5, -0.75)
    axes.set_xlim(0, 1.2)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
    return figure


def _name_above(axes: Axes, counts: Mapping[str, float], palette: Palette) -> None:
    """Name the parts of the first bar: over their middle, and where two narrow ones meet, to both sides of that."""
    total, left, ends = sum(counts.values()), 0.0, 0.0
    for (part, count), color in zip(counts.items(), palette.series, strict=False):
        share = count / total
        wide = share >= _NARROWEST
        at, side = (left + share / 2, "center") if wide else (left + share, "right")
        if not wide and ends > left - _NARROWEST:  # the name before it reaches this part
            at, side = left + 0.01, "left"
        axes.text(at, -0.38, part, ha=side, va="bottom", size=8.5, color=color)
        ends = left + share if not wide else ends
        left += share


def _look(color: str, idle: bool, palette: Palette) -> dict[str, Any]:
    look: dict[str, Any] = {"edgecolor": color, "linewidth": 1}
    return look | ({"hatch": "////", "facecolor": palette.paper} if idle else {"facecolor": color, "alpha": 0.4})
