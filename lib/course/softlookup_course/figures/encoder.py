"""The layers of an encoder: norms and where they stand, activations, gradients, and refined vectors."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import bare, draw_arrow, kept_apart, one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette

_MARKS = "osD^"


def norm_steps(words: Sequence[str], stages: Sequence[tuple[str, np.ndarray]], *, palette: Palette) -> Figure:
    """Draw the numbers (T, D) of tokens at every stage of a norm: a band for each token, with a line at its mean."""
    height = 0.75 + (0.5 + 0.42 * len(words)) * len(stages)
    figure, panels = several_panels(4.3, height, len(stages), 1, sharey=True, sharex=True)  # as wide as a phone
    widest = int(np.argmax(np.ptp(np.asarray(stages[0][1], dtype=float), axis=1)))
    descriptions = []
    features = 0
    for axes, (name, numbers) in zip(panels, stages, strict=True):
        numbers = np.asarray(numbers, dtype=float)
        axes.set_title(name)
        axes.axvline(0, color=palette.faint, linewidth=1, zorder=0)
        features = numbers.shape[1]
        heights = np.linspace(-0.27, 0.27, features) if features > 1 else np.zeros(1)
        for row, line in enumerate(numbers):
            for d, (value, height) in enumerate(zip(line, heights, strict=True)):
                color, mark = palette.series[d % len(palette.series)], _MARKS[d % len(_MARKS)]
                axes.plot(value, row + height, mark, color=color, markersize=4.5)
                if axes is panels[0] and row == widest:
                    write_beside(axes, str(d + 1), (value, row + height), (5, 0), color=color, size=8.5)
            axes.plot([line.mean()] * 2, [row - 0.38, row + 0.38], color=palette.ink, linewidth=1.4, zorder=1)
        for row in range(1, len(words)):
            axes.axhline(row - 0.5, color=palette.faint, linewidth=0.6, zorder=0)
        spread = numbers.std(axis=1)
        descriptions.append(f"{name}: standard deviations {', '.join(f'{s:.2f}' for s in spread)}")
        axes.set_yticks(range(len(words)), words)
        axes.set_ylim(len(words) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
    panels[-1].set_xlabel(f"value of each feature, 1 to {features}")
    _name_mean(panels[0], widest, np.asarray(stages[0][1], dtype=float)[widest])
    figure.set_label(
        f"The numbers of {len(words)} tokens, a band for each token, with a line at its mean, in {len(stages)} stages. "
        f"{'; '.join(descriptions)}."
    )
    return figure


def _name_mean(axes: Axes, row: int, numbers: np.ndarray) -> None:
    """Write "mean" on that side of a band's stroke where the next number is farther away."""
    mean = numbers.mean()
    left = mean - max(numbers[numbers < mean], default=mean)
    right = min(numbers[numbers > mean], default=mean) - mean
    away, side = (-4, "right") if left > right else (4, "left")
    write_beside(axes, "mean", (mean, row), (away, 0), ha=side, size=8.5)


def pre_post_norm(*, palette: Palette) -> Figure:
    """Draw a post-LN and a pre-LN sublayer side by side; a residual stream that meets no norm is drawn heavy."""
    figure, (post, pre) = several_panels(6.2, 3.7, 1, 2)
    _sublayer(post, "post-LN: norm(x + f(x))", 4.05, palette)
    _sublayer(pre, "pre-LN: x + f(norm(x))", 0.95, palette)
    figure.set_label(
        "Two drawings of one sublayer, from bottom to top. Left, post-LN: x splits, one branch passes through the "
        "sublayer f, both are added, and the sum goes through the norm, so the residual stream runs through a "
        "norm. Right, pre-LN: the branch passes through the norm and then f before it is added; the residual stream "
        "meets no norm."
    )
    return figure


def _sublayer(axes: Axes, title: str, norm_at: float, palette: Palette) -> None:
    after = norm_at > 3
    stream = palette.value
    axes.set_title(title)
    on_branch = [(2.0 if after else 2.25, "f", palette.query)] + ([] if after else [(norm_at, "norm", palette.key)])
    # The residual stream, from x to y: heavy where no norm stands on it.
    axes.plot([0, 0], [-0.35, 5.0], color=stream, linewidth=5 if not after else 2.2, solid_capstyle="butt", zorder=1)
    axes.annotate("", (0, 5.25), (0, 4.9), arrowprops={"arrowstyle": "-|>", "color": stream}, zorder=2)
    axes.plot([0, 1.5, 1.5, 0.28], [0.1, 0.1, 3.15, 3.15], color=palette.muted, linewidth=1.6, zorder=1)
    draw_arrow(axes, (0.6, 3.15), (0.24, 3.15), palette.muted, 1.0)
    box = {"boxstyle": "round,pad=0.4", "facecolor": palette.paper}
    for at, name, color in on_branch:
        axes.text(1.5, at, name, ha="center", va="center", size=11, bbox=box | {"edgecolor": color}, zorder=3)
    plus = {"boxstyle": "circle,pad=0.18", "facecolor": palette.paper, "edgecolor": palette.ink}
    axes.text(0, 3.15, "+", ha="center", va="center", size=12, bbox=plus, zorder=3)
    if after:
        axes.text(
            0, norm_at, "norm", ha="center", va="center", size=11, bbox=box | {"edgecolor": palette.key}, zorder=3
        )
    axes.text(0, -0.45, "x", ha="center", va="top", size=11)
    axes.text(0, 5.3, "y", ha="center", va="bottom", size=11)
    text = "the residual stream\npasses a norm" if after else "the residual stream\npasses no norm"
    axes.text(-0.25, 1.65, text, ha="right", va="center", size=9, color=stream)
    bare(axes, xlim=(-2.2, 2.2), ylim=(-0.9, 5.8))


def norm_runs(measured: Mapping[str, Any], *, palette: Palette) -> Figure:
    """Draw the final loss of every run of ``softlookup bench norms``: rates in rows, warm-ups in columns."""
    rates, warmups, depths = measured["rates"], measured["warmups"], measured["depths"]
    figure = Figure(figsize=(6.4, 2.3 * len(rates)))
    panels = figure.subplots(len(rates), len(warmups), sharex=True, sharey=True, squeeze=False)
    descriptions = []
    for row, rate in zip(panels, rates, strict=True):
        for axes, warmup in zip(row, warmups, strict=True):
            chosen = [run for run in measured["runs"] if (run["rate"], run["warmup"]) == (rate, warmup)]
            warm = f"{warmup} steps of warm-up" if warmup else "no warm-up"
            axes.set_title(f"rate {rate:g}, {warm}")
            axes.tick_params(labelleft=True, labelbottom=True)  # on a phone each panel stands alone
            ends = _runs_panel(axes, chosen, depths, float(measured["guessing"]), palette)
            descriptions.append(f"rate {rate:g}, {warm}: post-LN {ends['post']:.2f}, pre-LN {ends['pre']:.2f}")
    for axes in panels[-1]:
        axes.set_xlabel("layers")
    for row in panels:
        row[0].set_ylabel("final loss")
    figure.set_label(
        f"Final training loss against the number of layers. At {depths[-1]} layers: {'; '.join(descriptions)}."
    )
    return figure


def _runs_panel(
    axes: Axes, runs: Sequence[Mapping[str, Any]], depths: Sequence[int], guessing: float, palette: Palette
) -> dict[str, float]:
    axes.axhline(guessing, color=palette.muted, linewidth=1, linestyle=":")
    axes.text(0.0, guessing * 1.03, "knows only the position", size=8, color=palette.muted, va="bottom")
    ends = {}
    for order, color, mark, aside in (("post", palette.key, "s", -0.06), ("pre", palette.query, "o", 0.06)):
        medians = []
        for x, depth in enumerate(depths):
            losses = [run["loss"] for run in runs if (run["order"], run["depth"]) == (order, depth)]
            axes.plot([x + aside] * len(losses), losses, mark, color=color, markersize=4, alpha=0.6)
            medians.append(float(np.median(losses)))
        axes.plot(np.arange(len(depths)) + aside, medians, "-", color=color, linewidth=1.8)
        close = 0.8 < medians[-1] / guessing < 1.25
        up = 0 if not close else 6 if medians[-1] >= guessing else -6  # off the dotted line
        write_beside(axes, f"{order}-LN", (len(depths) - 1 + aside, medians[-1]), (7, up), color=color, size=9)
        ends[order] = medians[-1]
    axes.set_yscale("log")
    axes.set_xticks(range(len(depths)), [str(depth) for depth in depths])
    axes.set_yticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
    axes.minorticks_off()
    axes.set_xlim(-0.3, len(depths) - 0.3)
    return ends


def activations(
    x: np.ndarray, curves: Mapping[str, np.ndarray], least: Sequence[str] = (), *, palette: Palette
) -> Figure:
    """Draw up to four activations against their input; the lowest point of those in ``least`` is marked."""
    x = np.asarray(x, dtype=float)
    figure, axes = one_panel(5.6, 3.1)
    axes.axhline(0, color=palette.faint, linewidth=1, zorder=0)
    axes.axvline(0, color=palette.faint, linewidth=1, zorder=0)
    lows = []
    for index, ((name, values), color) in enumerate(zip(curves.items(), palette.series, strict=False)):
        style = ("-", "--", "-.", ":")[index]
        axes.plot(x, values, style, color=color)
        if name not in least:
            beside = int(np.searchsorted(values, 0.6 * np.max(values)))
            write_beside(axes, name, (x[beside], values[beside]), (-8, 0), va="baseline", color=color)
        else:
            at = int(np.argmin(values))
            axes.plot(x[at], values[at], "o", color=color, markersize=6)
            text = f"{name}\n{values[at]:.2f} at {x[at]:.2f}".replace("-", "\N{MINUS SIGN}")
            to_right = index % 2 == 1  # on the side where the other one is not
            write_beside(axes, text, (x[at], values[at]), (10 if to_right else -8, -6), size=9, color=color)
            lows.append(f"{name} has its minimum, {values[at]:.2f}, at {x[at]:.2f}")
    low = min(float(np.min(values)) for values in curves.values())
    axes.set(xlabel="z", ylabel="activation", xlim=(x[0], x[-1]))
    axes.set_ylim(bottom=low - 1.0)
    figure.set_label(
        f"{', '.join(curves)} against their input from {x[0]:g} to {x[-1]:g}. All are near 0 far to the left and near "
        f"the input itself far to the right. {'; '.join(lows) + '.' if lows else ''}"
    )
    return figure


def gradient_by_layer(curves: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw gradient norms against the layer, from layer 1, for up to four ways to build the stack."""
    figure, axes = one_panel(5.8, 3.3)
    descriptions = []
    length = max(len(norms) for norms in curves.values())
    for (name, norms), color, mark in zip(curves.items(), palette.series, "os^D", strict=False):
        layers = np.arange(1, len(norms) + 1)
        axes.plot(layers, norms, f"{mark}-", color=color, markersize=5)
        write_beside(axes, name, (layers[-1], norms[-1]), (8, 0), color=color, size=9.5)
        descriptions.append(f"{name}: {norms[0]:.2g} in layer 1, {norms[-1]:.2g} in layer {len(norms)}")
    axes.set(xlabel="layer", ylabel="norm of the gradient")
    axes.set_xlim(0.5, length * 1.38)
    axes.set_ylim(bottom=0)
    axes.set_xticks(np.arange(1, length + 1, max(1, length // 6)))
    axes.grid(axis="y")
    figure.set_label(
        f"Norm of the gradient of the loss with respect to the weights of each layer. {'; '.join(descriptions)}."
    )
    return figure


def drifting(
    apart: np.ndarray, together: np.ndarray, others: Sequence[float], start: Sequence[float], *, palette: Palette
) -> Figure:
    """Draw cosines (words, L + 1) between two uses of one word, layer by layer, beside two yardsticks (L + 1)."""
    figure, axes = one_panel(4.3, 4.2)  # as wide as a phone
    layers = np.arange(len(others))
    ends = []
    for curves, name, color, style in (
        (together, "same word,\nsame sense", palette.query, "-"),
        (apart, "same word,\ntwo senses", palette.key, "-"),
        (np.asarray(start)[None], "a token and\nits embedding", palette.mixed, "--"),
        (np.asarray(others)[None], "two different\ntokens", palette.value, ":"),
    ):
        curves = np.asarray(curves)
        if len(curves) > 1:
            axes.plot(layers, curves.T, color=color, linewidth=0.8, alpha=0.45)
        mean = curves.mean(axis=0)
        axes.plot(layers, mean, style, color=color, linewidth=2.4)
        ends.append((mean[-1], name, color))
    for (height, name, color), at in zip(ends, kept_apart([end[0] for end in ends], 0.135), strict=True):
        axes.text(layers[-1] * 1.03, at, f"{name}, {height:.2f}", va="center", color=color, size=9, linespacing=1.1)
    axes.set(xlabel="number of layers passed", ylabel="cosine", ylim=(0, 1.03), xlim=(0, layers[-1] * 1.62))
    axes.set_xticks(layers)
    axes.grid(axis="y")
    description = "; ".join(f"{' '.join(name.split())} {height:.2f}" for height, name, _ in ends)
    figure.set_label(f"Cosines after each of {layers[-1]} layers. After the last one: {description}.")
    return figure
