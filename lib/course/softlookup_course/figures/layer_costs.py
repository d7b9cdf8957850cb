"""A recurrent layer and attention compared: operations, hands, and the clock."""

from collections.abc import Iterable, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.ends import kept_apart
from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def layer_colors(names: Iterable[str], palette: Palette) -> dict[str, str]:
    """Choose a colour for each layer, the same one in every figure.

    What stands after a comma ("LSTM, gates open") says which kind, and has the same colour; layers that are none of the
    four kinds take what colours are left.
    """
    names = list(names)
    kinds = {"attention": palette.mixed, "RNN": palette.query, "GRU": palette.key, "LSTM": palette.value}
    chosen = {name: kinds[name.split(",")[0]] for name in names if name.split(",")[0] in kinds}
    others = (color for color in palette.series if color not in chosen.values())
    return {name: chosen[name] if name in chosen else next(others) for name in names}


def layer_operations(
    lengths: np.ndarray,
    width: int,
    per_token: Mapping[str, np.ndarray],
    equal_at: Mapping[str, int],
    *,
    palette: Palette,
) -> Figure:
    """Draw the operations per token of layers, up to four and attention among them, against the number of tokens T.

    ``lengths`` increase; ``width`` is D, for the axis; ``equal_at`` is the number of tokens at which a layer meets
    attention. Both axes are logarithmic; each curve is named at its end, each crossing marked.
    """
    lengths = np.asarray(lengths, dtype=float)
    figure = Figure(figsize=(4.4, 3.3))
    crossings = "; ".join(f"{name} at {tokens:,} tokens" for name, tokens in equal_at.items())
    figure.set_label(
        f"Operations per token against the number of tokens, width {width}, both axes logarithmic. Recurrent "
        f"layers stay constant, attention rises. The curves cross: {crossings}."
    )
    axes = figure.subplots()
    colors = layer_colors(per_token, palette)
    for name, curve in per_token.items():
        axes.loglog(lengths, curve, color=colors[name])
    _names(axes, lengths[-1] * 1.15, {name: curve[-1] for name, curve in per_token.items()}, colors)
    for name, tokens in equal_at.items():
        level = float(per_token[name][0])
        axes.plot(tokens, level, "o", color=colors[name], markersize=7)
        write_beside(axes, f"T = {tokens:,}", (tokens, level), (-6, 6), va="baseline", size=9)
    _named(axes, lengths, "tokens $T$", "operations per token")
    return figure


def many_hands(hands: np.ndarray, times: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw the least time that a layer can take, in operations, against how many operations can be done at once.

    ``hands``, how many at once, increase; there are up to four layers. Both axes are logarithmic; each curve is named
    at its end, where it no longer falls.
    """
    hands = np.asarray(hands, dtype=float)
    figure = Figure(figsize=(4.4, 3.3))
    description = "; ".join(f"{name} falls from {curve[0]:.1e} to {curve[-1]:,.0f}" for name, curve in times.items())
    figure.set_label(
        f"Least time of a layer against operations in parallel, both axes logarithmic, from 1 to "
        f"{hands[-1]:.0e}. {description}."
    )
    axes = figure.subplots()
    colors = layer_colors(times, palette)
    for name, curve in times.items():
        axes.loglog(hands, curve, color=colors[name])
    _names(axes, hands[-1] * 1.6, {name: curve[-1] for name, curve in times.items()}, colors, with_values=True)
    axes.set(xlabel="operations done in parallel", ylabel="least time, in operations")
    axes.set_xlim(hands[0], hands[-1] * 60)
    axes.set_xticks(10.0 ** np.arange(np.log10(hands[0]), np.log10(hands[-1]) + 0.1, 3))
    axes.minorticks_off()
    axes.grid(axis="y")
    return figure


def layer_times(lengths: np.ndarray, times_ms: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw measured times of up to four layers against the number of tokens T, which increase.

    Both axes are logarithmic, each curve named at its end.
    """
    lengths = np.asarray(lengths, dtype=float)
    figure = Figure(figsize=(4.4, 3.3))
    first = min(times_ms, key=lambda name: times_ms[name][0])
    last = min(times_ms, key=lambda name: times_ms[name][-1])
    description = ", ".join(f"{name} {curve[0]:.3g} and {curve[-1]:,.0f} ms" for name, curve in times_ms.items())
    figure.set_label(
        f"Measured time against the number of tokens, both axes logarithmic. At {lengths[0]:,.0f} and "
        f"{lengths[-1]:,.0f} tokens: {description}. The fastest at first is {first}, and at the end {last}."
    )
    axes = figure.subplots()
    colors = layer_colors(times_ms, palette)
    for name, curve in times_ms.items():
        axes.loglog(lengths, curve, "o-", color=colors[name], markersize=4.5)
    _names(axes, lengths[-1] * 1.15, {name: curve[-1] for name, curve in times_ms.items()}, colors)
    _named(axes, lengths, "tokens $T$", "milliseconds")
    return figure


def _names(
    axes: Axes, x: float, ends: Mapping[str, float], colors: Mapping[str, str], *, with_values: bool = False
) -> None:
    """Write each curve's name at its end, clear of the others, its last value below it ``with_values``."""
    low, high = np.log10(axes.get_ylim())
    line = (0.155 if with_values else 0.085) * (high - low)
    for (name, end), place in zip(
        ends.items(), kept_apart([float(np.log10(end)) for end in ends.values()], line), strict=True
    ):
        text = f"{name}\n{end:,.0f}" if with_values else name
        axes.text(x, 10**place, text, color=colors[name], va="center", size=9 if with_values else None)


def _named(axes: Axes, lengths: np.ndarray, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=y)
    axes.set_xlim(lengths[0] * 0.8, lengths[-1] * 4.2)
    shown = lengths[::-1][:: 2 if len(lengths) > 7 else 1]
    axes.set_xticks(shown, [f"{length:,.0f}" for length in shown], size=8.5)
    axes.minorticks_off()
    axes.grid(axis="y")
