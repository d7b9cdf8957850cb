"""Training: labels, losses, learning rates, decisions, clipping, optimiser steps and memory."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, FancyArrowPatch, Rectangle

from softlookup_course.figures.marks import bare, draw_arrow, kept_apart, one_panel, write_beside
from softlookup_course.figures.theme import Palette


def shifted_labels(tokens: Sequence[str], padding: int, *, palette: Palette) -> Figure:
    """Draw a sentence, with start and end tokens, as inputs and labels: the same tokens, shifted by one position."""
    whole = [*tokens, *["·"] * padding]
    inputs, labels = whole[:-1], whole[1:]
    figure, axes = one_panel(0.95 * len(inputs) + 0.9, 2.1)
    for y, row, color in ((0.0, inputs, palette.query), (1.6, labels, palette.value)):
        for x, token in enumerate(row):
            counts = y == 0.0 or labels[x] != "·"
            style = "-" if counts else "--"
            axes.add_patch(Rectangle((x + 0.05, y), 0.9, 0.7, facecolor=color, alpha=0.22 if counts else 0.0))
            axes.add_patch(
                Rectangle((x + 0.05, y), 0.9, 0.7, fill=False, edgecolor=color if counts else palette.muted, ls=style)
            )
            axes.text(x + 0.5, y + 0.35, token, ha="center", va="center", size=9.5, color=palette.ink)
    for x in range(len(inputs) - 1):
        if labels[x] == "·":
            continue
        arrow = FancyArrowPatch(
            (x + 0.5, 1.58), (x + 1.5, 0.74), arrowstyle="-", color=palette.muted, linewidth=1.0, linestyle=":"
        )
        axes.add_patch(arrow)
    axes.text(-0.1, 0.35, "input", ha="right", va="center", color=palette.query)
    axes.text(-0.1, 1.95, "label", ha="right", va="center", color=palette.value)
    bare(axes, xlim=(-0.95, len(inputs) + 0.05), ylim=(2.4, -0.1))
    description = "; ".join(f"after {g} comes {w}" for g, w in zip(inputs, labels, strict=True) if w != "·")
    left_out = labels.count("·")
    positions = "1 position of padding is" if left_out == 1 else f"{left_out} positions of padding are"
    figure.set_label(f"Inputs and labels of a sentence: {description}. {positions} left out of the loss.")
    return figure


def smoothing(n_words: int, epsilon: float, *, palette: Palette) -> Figure:
    """Draw a token's loss against the probability of the right one of V tokens, plain and smoothed by ``epsilon``."""
    target = 1 - epsilon + epsilon / n_words
    p = np.sort(np.append(1 - np.logspace(-0.02, -6, 400), target))
    others = (1 - p) / (n_words - 1)
    plain = -np.log(p)
    spread = epsilon / n_words
    smoothed = -(1 - epsilon + spread) * np.log(p) - (n_words - 1) * spread * np.log(others)
    best = int(smoothed.argmin())
    odds = -np.log10(1 - p)
    figure, axes = one_panel(6.2, 3.0)
    axes.plot(odds, plain, color=palette.query)
    axes.plot(odds, smoothed, color=palette.key)
    axes.plot(odds[best], smoothed[best], "o", color=palette.key)
    lowest = f"lowest at p = {p[best]:.3f}"
    write_beside(axes, lowest, (odds[best], smoothed[best]), (0, -8), ha="left", size=9, color=palette.key)
    axes.text(odds[-1], plain[-1], "plain ", ha="right", va="bottom", color=palette.query, size=9)
    axes.text(odds[-1], smoothed[-1], f"smoothed, {epsilon:g} ", ha="right", va="bottom", color=palette.key, size=9)
    axes.set_xticks([0.301, 1, 2, 3, 4, 5, 6], ["0.5", "0.9", "0.99", "0.999", "", "0.99999", ""])
    axes.set(xlabel="probability p of the correct token (logarithmic in 1 − p)", ylabel="loss (nats)", ylim=(0, 3.2))
    figure.set_label(
        f"A token's loss against the probability of the correct token, among {n_words:,}. The plain loss falls to "
        f"0; with smoothing of {epsilon:g} it is lowest at {p[best]:.3f} and rises again."
    )
    return figure


_MOST = 3
_TRAINING = "training"
_PAIR = {_TRAINING, "validation"}
Curves = Mapping[str, Sequence[Sequence[float]]]
"""For each name of a loss its (step, loss) pairs."""


def learning_curves(runs: Mapping[str, Curves], *, palette: Palette) -> Figure:
    """Draw a panel for each run, by title, with a line for each of its one to three losses."""
    columns = min(2, len(runs))
    rows = ceil(len(runs) / columns)
    tall = 3.0 if rows == 1 else 2.3
    figure = Figure(figsize=(6.6 if columns > 1 else 4.6, tall * rows))  # one panel is as wide as a phone
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    top = max(loss for curves in runs.values() for points in curves.values() for _, loss in points)
    least = 0.15 / (tall - 0.8) * top  # a line of letters, in units of the loss
    descriptions = []
    for axes, (title, curves) in zip(panels.flat, runs.items(), strict=False):
        _draw(axes, title, curves, least, palette, wide=columns == 1)
        axes.tick_params(labelleft=True, labelbottom=True)  # on a phone each panel stands alone
        ends = ", ".join(f"{name} {points[0][1]:.2f} to {points[-1][1]:.2f}" for name, points in curves.items())
        descriptions.append(f"{title}: {ends}" if title else ends)
    for axes in panels.flat[len(runs) :]:
        axes.set_axis_off()
    for axes in panels[-1]:
        axes.set_xlabel("step")
    for row in panels:
        row[0].set_ylabel("loss (nats per token)")
    panels[0, 0].set_ylim(0, 1.1 * top)
    figure.set_label(f"Loss against the step, from first to last. {'; '.join(descriptions)}.")
    return figure


def _draw(axes: Axes, title: str, curves: Curves, least: float, palette: Palette, *, wide: bool) -> None:
    last = max(points[-1][0] for points in curves.values())
    heights = kept_apart([points[-1][1] for points in curves.values()], least)
    colors = [palette.query] * 2 if set(curves) == _PAIR else palette.series
    for (name, points), height, color in zip(curves.items(), heights, colors, strict=False):
        steps, losses = np.asarray(points, dtype=float).T
        dashed = name == _TRAINING
        axes.plot(steps, losses, "--" if dashed else "-", linewidth=1.5 if dashed else 2.0, color=color)
        axes.text(1.03 * last, height, f"{name} {losses[-1]:.2f}", va="center", size=9, color=color)
    axes.set_xlim(0, (1.5 if wide else 1.6) * last)
    axes.set_xticks(np.linspace(0, last, 3), [f"{step:,.0f}" for step in np.linspace(0, last, 3)])
    axes.set_title(title)


def loss_stages(stages: Mapping[str, Sequence[Sequence[float]]], *, palette: Palette) -> Figure:
    """Draw validation losses (step, loss), one stage behind the other; steps begin anew in each."""
    figure, axes = one_panel(6.6, 3.2)
    before, descriptions = 0.0, []
    for k, (name, points) in enumerate(stages.items()):
        steps, losses = [before + p[0] for p in points], [p[1] for p in points]
        color = palette.series[k % 4]
        axes.plot(steps, losses, color=color)
        if k:
            axes.axvline(before, color=palette.faint, linewidth=1, zorder=0)
        low = min(losses)
        write_beside(axes, f"{name}\n{low:.2f}", (steps[-1], losses[-1]), (-3, 9), size=9, color=color)
        descriptions.append(f"{name} ends at {low:.2f}")
        before = steps[-1]
    axes.set_yscale("log")
    axes.set_yticks([1, 1.5, 2, 3, 4], ["1", "1.5", "2", "3", "4"])
    axes.minorticks_off()
    axes.set(xlabel="step, over all stages", ylabel="validation loss (nats per token)")
    figure.set_label(f"Validation loss against steps. {'; '.join(descriptions)}.")
    return figure


def peaks(measured: Mapping[str, Any], *, palette: Palette) -> Figure:
    """Draw the final loss of every run of ``softlookup bench schedules`` against the peak; it counts diverged runs."""
    figure, axes = one_panel(6.2, 3.2)
    descriptions, lost = [], 0
    for warmup, color, mark in zip(measured["warmups"], (palette.key, palette.query), "so", strict=True):
        means = []
        for peak in measured["peaks"]:
            ended = [run["loss"] for run in measured["runs"] if (run["warmup"], run["peak"]) == (warmup, peak)]
            losses = [loss for loss in ended if loss is not None]
            lost += len(ended) - len(losses)
            axes.plot([peak] * len(losses), losses, mark, color=color, markersize=4, alpha=0.6)
            means.append(float(np.mean(losses)) if losses else np.nan)
        name = f"{warmup} steps of warm-up" if warmup else "no warm-up"
        axes.plot(measured["peaks"], means, color=color)
        write_beside(axes, name, (measured["peaks"][-1], means[-1]), (6, 0), size=9, color=color)  # fmt: skip
        descriptions.append(
            f"{name}: " + ", ".join(f"{p:g} gives {m:.2f}" for p, m in zip(measured["peaks"], means, strict=True))
        )
    axes.set_xscale("log")
    axes.set_xticks(measured["peaks"], [f"{peak:g}" for peak in measured["peaks"]])
    axes.minorticks_off()
    axes.set(xlabel="peak learning rate", ylabel="loss on unseen sentences", ylim=(0, None))
    axes.set_xlim(None, measured["peaks"][-1] * 6)
    ended_badly = f" {lost} {'run' if lost == 1 else 'runs'} diverged (loss not a number)." if lost else ""
    figure.set_label(f"Final loss against the peak learning rate. {'; '.join(descriptions)}.{ended_badly}")
    return figure


def decisions(
    usual: Sequence[float], changed: Mapping[str, Mapping[str, Sequence[float]]], highest: float, *, palette: Palette
) -> Figure:
    """Draw final losses of runs as usual as a band, and below it those with one decision changed, a row a setting.

    A row whose runs all end above the band, or all below it, has a colour and a mark of its own. A row whose runs all
    end beyond ``highest`` is an arrow at that edge; each row ends with its mean.
    """
    n_rows = sum(map(len, changed.values()))
    figure, axes = one_panel(4.6, 1.15 + 0.27 * n_rows + 0.3 * len(changed))
    low, high = min(usual), max(usual)
    axes.axvspan(low, high, color=palette.query, alpha=0.22, linewidth=0)
    y, descriptions, ticks, names = 0.0, [], [0.0], ["as usual"]
    _row_of_runs(axes, y, usual, highest, (palette.query, "o"), palette)
    for decision, settings in changed.items():
        y += 1.25
        axes.text(0, y, decision, size=9.5, weight="bold", va="center", transform=axes.get_yaxis_transform())
        for name, losses in settings.items():
            y += 0.9
            higher, lower = min(losses) > high, max(losses) < low
            drawn_as = (palette.key, ">") if higher else (palette.value, "<") if lower else (palette.query, "o")
            _row_of_runs(axes, y, losses, highest, drawn_as, palette)
            ticks.append(y)
            names.append(name)
            descriptions.append(f"{name} {float(np.mean(losses)):.2f}{'' if higher or lower else ' (overlapping)'}")
    axes.set_yticks(ticks, names, size=9)
    axes.set(xlabel="loss on unseen sentences", xlim=(None, highest), ylim=(y + 0.7, -0.8))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    means = "; ".join(descriptions)
    figure.set_label(
        f"Final losses. As usual {np.mean(usual):.2f}, from {low:.2f} to {high:.2f}. Means with one change: {means}."
    )
    return figure


def _row_of_runs(
    axes: Axes, y: float, losses: Sequence[float], highest: float, drawn_as: tuple[str, str], palette: Palette
) -> None:
    color, mark = drawn_as
    end = axes.get_yaxis_transform()
    axes.text(1.02, y, f"{float(np.mean(losses)):.2f}", size=9, va="center", transform=end, color=palette.ink)
    if min(losses) > highest:
        arrow = {"arrowstyle": "-|>", "color": color, "linewidth": 1.6}
        axes.annotate("", (1.0, y), (0.9, y), xycoords=end, arrowprops=arrow)
    else:
        axes.plot(losses, [y] * len(losses), mark, color=color, markersize=5, alpha=0.75)


def rate_curves(steps: np.ndarray, rates: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw learning rates, one a step for each of up to four names, against the steps, from 1."""
    figure, axes = one_panel(6.4, 3.2)
    tops = {name: int(np.argmax(rate)) for name, rate in rates.items()}
    peaks = {name: float(rate[tops[name]]) for name, rate in rates.items()}
    highest = max(peaks, key=lambda name: peaks[name])
    others = [name for name in rates if name != highest]
    heights = kept_apart([float(rates[name][-1]) for name in others], 0.07 * peaks[highest])
    ends = dict(zip(others, heights, strict=True))
    descriptions = []
    for (name, rate), color, style in zip(rates.items(), palette.series, ("-", "--", "-.", ":"), strict=False):
        top = tops[name]
        axes.plot(steps, rate, style, color=color)
        axes.plot(steps[top], rate[top], "o", color=color, markersize=5)
        x, y = (1.02 * steps[-1], ends[name]) if name in ends else (steps[top], 1.03 * rate[top])
        side = "center" if name in ends else "bottom"
        axes.text(x, y, f"{name}: peak {rate[top]:.2e}", va=side, size=9, color=color)
        descriptions.append(f"{name} is highest at step {steps[top]:,}, with {rate[top]:.2e}")
    axes.set(xlabel="step", ylabel="learning rate", xlim=(0, 1.42 * steps[-1]), ylim=(0, 1.14 * peaks[highest]))
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= steps[-1]])
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    figure.set_label(f"Learning rate against step: {'; '.join(descriptions)}.")
    return figure


def clipped(gradients: Sequence[float], bound: float, *, palette: Palette) -> Figure:
    """Draw two gradients above 0 as an arrow, clipped to ``bound`` by the common norm and each by its own."""
    whole = np.asarray(gradients, float)
    together = whole * bound / np.linalg.norm(whole)
    apart = np.minimum(whole, bound)
    figure, axes = one_panel(6.0, 3.0)
    axes.add_patch(Arc((0, 0), 2 * bound, 2 * bound, theta1=0, theta2=90, color=palette.muted, linestyle=":"))
    axes.text(0.03, 1.02 * bound, f"norm {bound:g}", color=palette.muted, size=9, va="bottom")
    arrows = (
        (whole, palette.muted, "as it was", (6, 0), "left"),
        (apart, palette.alarm, "each by its own norm", (0, 9), "center"),
        (together, palette.query, "by the common norm", (14, -8), "left"),
    )
    for (x, y), color, name, offset, side in arrows:
        tip = float(x), float(y)
        draw_arrow(axes, (0, 0), tip, color, 2, shrinkB=0)
        degrees = np.degrees(np.arctan2(tip[1], tip[0]))
        write_beside(axes, f"{name}: {degrees:.0f}°", tip, offset, ha=side, va="center", size=10, color=color)
    axes.set(xlabel="gradient of one weight", ylabel="gradient of another", aspect="equal")
    axes.set(xlim=(0, 1.4 * whole[0]), ylim=(0, 1.3 * max(whole[1], bound)))
    turned = [np.degrees(np.arctan2(tip[1], tip[0])) for tip in (whole, together, apart)]
    figure.set_label(
        f"Two gradients, {whole[0]:g} and {whole[1]:g}, as one arrow at {turned[0]:.0f} degrees. Clipped by the common "
        f"norm to {bound:g}, it points the same way, {turned[1]:.0f} degrees. With each gradient clipped by its own "
        f"norm it is turned, to {turned[2]:.0f} degrees."
    )
    return figure


def adam_steps(gradients: Sequence[float], steps: Sequence[float], *, palette: Palette) -> Figure:
    """Draw the gradients of one weight, from step 1, beside the lengths of Adam's steps divided by the rate."""
    figure = Figure(figsize=(6.4, 2.6))
    panels = figure.subplots(1, 2)
    _bars(panels[0], "gradient", gradients, "g", palette.query, palette)
    _bars(panels[1], "Adam's step / rate", steps, ".2f", palette.key, palette)
    description = "; ".join(
        f"step {t}: gradient {g:g}, Adam's step {step:.2f} times the rate"
        for t, (g, step) in enumerate(zip(gradients, steps, strict=True), start=1)
    )
    figure.set_label(f"Bars. {description}.".replace("-", "\N{MINUS SIGN}"))
    return figure


def _bars(axes: Axes, title: str, heights: Sequence[float], form: str, color: str, palette: Palette) -> None:
    top, low = max(0.0, *heights), min(0.0, *heights)
    room = 0.16 * (top - low or 1.0)
    for t, height in enumerate(heights, start=1):
        axes.bar(t, height, width=0.6, color=color, alpha=0.35)
        down = height < 0
        height_text = format(height, form).replace("-", "\N{MINUS SIGN}")
        write_beside(axes, height_text, (t, height), (0, -3 if down else 3), size=10, color=palette.ink)
    axes.axhline(0, color=palette.muted, linewidth=1)
    axes.set_title(title, size=10, color=color)
    axes.set(xlabel="step", ylim=(low - (room if low else 0), top + room), yticks=[])
    axes.set_xticks(range(1, len(heights) + 1))
    axes.tick_params(axis="x", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


def memory_bars(recipes: Mapping[str, Mapping[str, float]], *, palette: Palette) -> Figure:
    """Draw bytes per parameter of each part, by name, as a stacked bar for each way of training."""
    figure, axes = one_panel(6.6, 0.62 * len(recipes) + 1.0)
    names = list(dict.fromkeys(name for parts in recipes.values() for name in parts))
    colors = dict(zip(names, (*palette.series, palette.muted), strict=False))
    for y, parts in enumerate(recipes.values()):
        start = 0.0
        for name, width in parts.items():
            if not width:
                continue
            axes.barh(y, width, left=start, height=0.62, color=colors[name], alpha=0.35, edgecolor=palette.paper)
            axes.text(start + width / 2, y, f"{width:g}", ha="center", va="center", size=9.5, color=palette.ink)
            if y == 0 or not any(list(earlier.values())[names.index(name)] for earlier in list(recipes.values())[:y]):
                axes.text(start + width / 2, y - 0.36, name, ha="center", va="bottom", size=8, color=palette.ink)
            start += width
        axes.text(start + 0.15, y, f"= {start:g}", va="center", size=9.5, weight="bold", color=palette.ink)
    axes.set_yticks(range(len(recipes)), list(recipes))
    axes.set(xlabel="bytes per parameter", ylim=(len(recipes) - 0.55, -0.75), xlim=(0, 18.5))
    axes.set_xticks(range(0, 17, 4))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    description = "; ".join(
        f"{recipe}: "
        + ", ".join(f"{name} {width:g}" for name, width in parts.items() if width)
        + f", {sum(parts.values()):g} in all"
        for recipe, parts in recipes.items()
    )
    figure.set_label(f"Bytes per parameter. {description}.")
    return figure
