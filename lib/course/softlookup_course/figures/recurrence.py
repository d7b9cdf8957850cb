"""Recurrent layers beside attention: paths of signals and gradients, operations and times."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.marks import bare, draw_arrow, kept_apart, one_panel, write_beside
from softlookup_course.figures.theme import Palette


def signal_paths(tokens: Sequence[str], *, palette: Palette) -> Figure:
    """Draw the way of the first token to the last output, in a recurrent layer and in attention."""
    n = len(tokens)
    figure = Figure(figsize=(4.3, 4.4))  # as wide as a phone
    figure.set_label(
        f"The words {' '.join(tokens)} twice, each with an output above. In the recurrent layer the path from "
        f"the first word to the last output goes through all {n} states, {n} steps; in attention one straight line "
        f"joins them, 1 step, like every other pair."
    )
    chain, direct = figure.subplots(2, 1)
    for i in range(n):
        # Into state i + 1: from its own word, and from the state before it.
        _line(chain, (i, 0), (i, 1), palette, strong=i == 0)
        if i:
            _line(chain, (i - 1, 1), (i, 1), palette, strong=True)
        for j in range(n):
            _line(direct, (j, 0), (i, 1), palette, strong=(j, i) == (0, n - 1))
    for axes, letter, title in (
        (chain, "h", f"recurrent: {n} steps from first to last"),
        (direct, "z", "attention: 1 step from any to any"),
    ):
        axes.set_title(title)
        for i, token in enumerate(tokens):
            ends = axes is direct and i == n - 1
            color = palette.mixed if axes is chain or ends else palette.muted
            axes.text(i, -0.18, token, ha="center", va="top", size=9.5)
            axes.plot(i, 0, "o", markersize=7, color=palette.key if i == 0 else palette.muted)
            axes.plot(i, 1, "o", markersize=17, color=palette.paper, markeredgecolor=color, markeredgewidth=1.6)
            axes.text(i, 1, f"${letter}_{i + 1}$", ha="center", va="center", size=8.5, color=color)
        bare(axes, xlim=(-0.5, n - 0.5), ylim=(-0.55, 1.35))
    return figure


def _line(axes: Axes, start: tuple[float, float], end: tuple[float, float], palette: Palette, *, strong: bool) -> None:
    color, width = (palette.mixed, 2.6) if strong else (palette.faint, 0.9)
    axes.plot(*zip(start, end, strict=True), color=color, linewidth=width, zorder=1 if strong else 0)


def gradient_reach(distances: np.ndarray, sizes: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw how much the last output feels of a token so many tokens back, for up to four layers by name."""
    distances = np.asarray(distances)
    figure, axes = one_panel(4.4, 3.4)
    last = {name: float(norms[-1]) for name, norms in sizes.items()}
    ends = "; ".join(f"{name} {size:.2g}" if size >= 0.01 else f"{name} {size:.0e}" for name, size in last.items())
    figure.set_label(
        f"Norm of the gradient of the last output against the distance of the token, on a logarithmic scale. Each "
        f"curve is divided by its own value at distance {distances[0]}. At distance {distances[-1]}: {ends}."
    )
    label_heights: list[float] = []
    colors = layer_colors(sizes, palette)
    for name, norms in sizes.items():
        color = colors[name]
        axes.semilogy(distances, norms, "--" if "," in name else "-", color=color)
        height = float(np.log10(norms[-1]))
        while any(abs(height - other) < 1.1 for other in label_heights):  # names do not lie on each other
            height += 0.3
        label_heights.append(height)
        axes.text(distances[-1] * 1.03, 10**height, name, color=color, va="center")
    axes.set(xlabel="distance in tokens", ylabel="norm of the gradient, nearest = 1")
    axes.set_xlim(0, distances[-1] * 1.58)
    axes.set_xticks([t for t in axes.get_xticks() if t <= distances[-1]])
    axes.grid(axis="y")
    return figure


def layer_colors(names: Iterable[str], palette: Palette) -> dict[str, str]:
    """Choose a colour for each layer, the same in every figure; what follows a comma in a name changes nothing."""
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
    """Draw operations for a token of layers of width D against T; ``equal_at`` is where it meets attention."""
    lengths = np.asarray(lengths, dtype=float)
    figure, axes = one_panel(4.4, 3.3)
    crossings = "; ".join(f"{name} at {tokens:,} tokens" for name, tokens in equal_at.items())
    figure.set_label(
        f"Operations per token against the number of tokens, width {width}, both axes logarithmic. Recurrent "
        f"layers stay constant, attention rises. The curves cross: {crossings}."
    )
    colors = layer_colors(per_token, palette)
    for name, operations in per_token.items():
        axes.loglog(lengths, operations, color=colors[name])
    _names(axes, lengths[-1] * 1.15, {name: operations[-1] for name, operations in per_token.items()}, colors)
    for name, tokens in equal_at.items():
        level = float(per_token[name][0])
        axes.plot(tokens, level, "o", color=colors[name], markersize=7)
        write_beside(axes, f"T = {tokens:,}", (tokens, level), (-6, 6), va="baseline", size=9)
    _named(axes, lengths, "tokens $T$", "operations per token")
    return figure


def many_hands(hands: np.ndarray, times: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw the least time of up to four layers, in operations, against how many can be done at once."""
    hands = np.asarray(hands, dtype=float)
    figure, axes = one_panel(4.4, 3.3)
    description = "; ".join(f"{name} falls from {steps[0]:.1e} to {steps[-1]:,.0f}" for name, steps in times.items())
    figure.set_label(
        f"Least time of a layer against operations in parallel, both axes logarithmic, from 1 to "
        f"{hands[-1]:.0e}. {description}."
    )
    colors = layer_colors(times, palette)
    for name, steps in times.items():
        axes.loglog(hands, steps, color=colors[name])
    _names(axes, hands[-1] * 1.6, {name: steps[-1] for name, steps in times.items()}, colors, with_values=True)
    axes.set(xlabel="operations done in parallel", ylabel="least time, in operations")
    axes.set_xlim(hands[0], hands[-1] * 60)
    axes.set_xticks(10.0 ** np.arange(np.log10(hands[0]), np.log10(hands[-1]) + 0.1, 3))
    axes.minorticks_off()
    axes.grid(axis="y")
    return figure


def layer_times(lengths: np.ndarray, times_ms: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw measured times of up to four layers against the number of tokens T."""
    lengths = np.asarray(lengths, dtype=float)
    figure, axes = one_panel(4.4, 3.3)
    first = min(times_ms, key=lambda name: times_ms[name][0])
    last = min(times_ms, key=lambda name: times_ms[name][-1])
    description = ", ".join(f"{name} {ms[0]:.3g} and {ms[-1]:,.0f} ms" for name, ms in times_ms.items())
    figure.set_label(
        f"Measured time against the number of tokens, both axes logarithmic. At {lengths[0]:,.0f} and "
        f"{lengths[-1]:,.0f} tokens: {description}. The fastest at first is {first}, and at the end {last}."
    )
    colors = layer_colors(times_ms, palette)
    for name, ms in times_ms.items():
        axes.loglog(lengths, ms, "o-", color=colors[name], markersize=4.5)
    _names(axes, lengths[-1] * 1.15, {name: ms[-1] for name, ms in times_ms.items()}, colors)
    _named(axes, lengths, "tokens $T$", "milliseconds")
    return figure


def _names(
    axes: Axes, x: float, ends: Mapping[str, float], colors: Mapping[str, str], *, with_values: bool = False
) -> None:
    """Write each curve's name at its end, clear of the others, its last value below it ``with_values``."""
    low, high = np.log10(axes.get_ylim())
    line = (0.155 if with_values else 0.085) * (high - low)
    for (name, end), height in zip(
        ends.items(), kept_apart([float(np.log10(end)) for end in ends.values()], line), strict=True
    ):
        text = f"{name}\n{end:,.0f}" if with_values else name
        axes.text(x, 10**height, text, color=colors[name], va="center", size=9 if with_values else None)


def _named(axes: Axes, lengths: np.ndarray, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=y)
    axes.set_xlim(lengths[0] * 0.8, lengths[-1] * 4.2)
    ticks = lengths[::-1][:: 2 if len(lengths) > 7 else 1]
    axes.set_xticks(ticks, [f"{length:,.0f}" for length in ticks], size=8.5)
    axes.minorticks_off()
    axes.grid(axis="y")


def teacher_forcing(tokens: Sequence[str], *, palette: Palette) -> Figure:
    """Draw the predictions of a sentence's words, start token included: in one step, and each in one of its own."""
    pairs = list(zip(tokens[:-1], tokens[1:], strict=True))
    n = len(pairs)
    figure = Figure(figsize=(4.3, 0.62 * n + 2.0))  # as wide as a phone
    figure.set_label(
        f"Predictions of the words {' '.join(tokens[1:])}, a row for each step. In training all {n} predictions stand "
        f"in one row. In inference they take {n} rows, and an arrow leads from each predicted word down to the next "
        "step, where it is given."
    )
    training, inference = figure.subplots(2, 1, height_ratios=(1.25, n + 0.25))
    for axes, title, in_steps in (
        (training, "training: the words are known, 1 step", False),
        (inference, f"inference: each word is given to the next, {n} steps", True),
    ):
        axes.set_title(title, loc="left")
        for x, (token, predicted) in enumerate(pairs):
            y = x if in_steps else 0
            axes.add_patch(Rectangle((x + 0.05, y + 0.14), 0.9, 0.72, fill=False, edgecolor=palette.muted))
            axes.text(x + 0.5, y + 0.68, token, ha="center", va="center", size=9, color=palette.query)
            axes.text(x + 0.5, y + 0.33, predicted, ha="center", va="center", size=9.5, color=palette.mixed)
            if in_steps and x + 1 < n:
                bent, start = "angle,angleA=0,angleB=90,rad=6", (x + 0.97, y + 0.33)
                draw_arrow(axes, start, (x + 1.5, y + 1.12), palette.muted, 1.3, connectionstyle=bent)
        bare(axes, xlim=(0, n), ylim=(n if in_steps else 1, 0))
    inference.text(0.5, n - 0.7, "given", ha="center", va="center", size=9, color=palette.query)
    inference.text(0.5, n - 0.35, "predicted", ha="center", va="center", size=9, color=palette.mixed)
    return figure


def logit_lens(words: Sequence[str], probabilities: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the probabilities (words, layers + 1) of the written words, had the model stopped after fewer layers."""
    probabilities = np.asarray(probabilities, dtype=float)
    layers = probabilities.shape[1] - 1
    figure, axes = one_panel(4.3, 0.8 + 0.34 * len(words))  # as wide as a phone
    first, ended = max(float(probabilities[:, 0].max()), 0.01), probabilities[:, -1]
    figure.set_label(
        f"Logit lens: probability of each written word after 0 to {layers} layers. Before the first layer all are "
        f"at {first:.2f} or below; after the last they lie between {ended.min():.2f} and {ended.max():.2f}."
    )
    columns = [str(i) for i in range(layers + 1)]
    draw_grid(axes, probabilities, palette, title="", rows=words, columns=columns, bounds=(0.0, 1.0))
    axes.set_xlabel("number of layers passed")
    axes.xaxis.set_label_position("top")
    axes.set_aspect("auto")
    return figure
