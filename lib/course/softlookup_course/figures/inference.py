"""Writing a text: passes through the model and their times, and how the next token is chosen."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import ArrayLike

from softlookup_course.figures.marks import one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette


def passes(prompt: int, new: int, *, palette: Palette) -> Figure:
    """Draw a row for each step and a cell for each token: run through the model, or kept from before."""
    last = prompt + new - 1
    figure, (again, cached) = several_panels(max(4.4, 0.62 * last + 1.6), 0.34 * new + 1.5, 1, 2)
    totals = []
    for axes, title, keeps in ((again, "without a cache", False), (cached, "with a cache", True)):
        total = _draw(axes, prompt, new, palette, keeps=keeps)
        axes.set_title(f"{title}:\n{total} tokens")
        totals.append(total)
    figure.set_label(
        f"Tokens that run through the model while {new} are generated after a prompt of {prompt}, a row for each step. "
        f"Without a cache: {', '.join(str(prompt + i) for i in range(new))}, {totals[0]} in all. With a "
        f"cache: {', '.join(['' + str(prompt)] + ['1'] * (new - 1))}, {totals[1]} in all; the keys "
        "and values of the others are cached."
    )
    return figure


def _draw(axes: Axes, prompt: int, new: int, palette: Palette, *, keeps: bool) -> int:
    total = 0
    for step in range(new):
        for position in range(prompt + step):
            runs = not keeps or step == 0 or position == prompt + step - 1
            total += runs
            box = (position + 0.06, step + 0.06), 0.88, 0.88
            if runs:
                axes.add_patch(Rectangle(*box, facecolor=palette.query, linewidth=0))
            else:
                axes.add_patch(Rectangle(*box, facecolor=palette.faint, linewidth=0))
                axes.text(position + 0.5, step + 0.5, "cached", ha="center", va="center", size=8, color=palette.ink)
    last = prompt + new - 1
    axes.set(xlim=(0, last), ylim=(new, 0), xlabel="position of the token", aspect="equal")
    axes.set_xticks([i + 0.5 for i in range(last)], [str(i) for i in range(last)])
    axes.set_yticks([i + 0.5 for i in range(new)], [f"step {i + 1}" for i in range(new)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return total


def step_cost(lengths: np.ndarray, cached_ms: np.ndarray, recomputed_ms: np.ndarray, *, palette: Palette) -> Figure:
    """Draw ms of one step of decoding against the length of the text: cached and recomputed, then cached alone."""
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


def _ms(time_ms: float) -> str:
    return f"{time_ms:,.0f} ms" if time_ms >= 100 else f"{time_ms:.3g} ms"


def reading_times(series: Mapping[str, tuple[Sequence[int], Sequence[float]]], *, palette: Palette) -> Figure:
    """Draw milliseconds for each token against how many go through the model in one pass, by name."""
    figure, axes = one_panel(4.3, 3.2)
    descriptions, most = [], 1
    for (name, (counts, times_ms)), color, marker in zip(series.items(), palette.series, "osD^", strict=False):
        x, y = np.asarray(counts, dtype=float), np.asarray(times_ms, dtype=float)
        axes.plot(x, y, marker + "-", color=color, markersize=5)
        write_beside(axes, f"{name}: {y[-1]:.2g} ms", (x[-1], y[-1]), (2, -10), ha="right", size=9, color=color)
        descriptions.append(f"{name}: {y[0]:.2g} ms with {x[0]:.0f} token in a pass, {y[-1]:.2g} ms with {x[-1]:.0f}")
        most = max(most, int(x[-1]))
    axes.set(xscale="log", yscale="log", xlabel="tokens in one pass", ylabel="ms per token", xlim=(0.8, 1.3 * most))
    ticks = [n for n in (1, 4, 16, 64, 256, 1024) if n <= most]
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()
    axes.set_ylim(low / 2, high)
    axes.grid(axis="y")
    figure.set_label(f"Time for each token against the number of tokens in one pass. {'; '.join(descriptions)}.")
    return figure


def next_tokens(
    texts: Sequence[str], columns: Mapping[str, Sequence[Mapping[str, float]]], *, palette: Palette
) -> Figure:
    """Draw the likeliest next tokens after each text (rows) for each of two models (columns), by probability."""
    tokens = max(len(prediction) for predictions in columns.values() for prediction in predictions)
    figure = Figure(figsize=(4.9, 0.35 + len(texts) * (0.42 + 0.2 * tokens)))
    panels = figure.subplots(len(texts), 2, squeeze=False)
    most = max(p for predictions in columns.values() for row in predictions for p in row.values())
    descriptions = []
    for i, ((model, predictions), color) in enumerate(zip(columns.items(), palette.series, strict=False)):
        for text, prediction, axes in zip(texts, predictions, panels[:, i], strict=True):
            axes.barh(range(len(prediction)), list(prediction.values()), color=color, height=0.7)
            for row_index, p in enumerate(prediction.values()):
                axes.text(p + 0.02 * most, row_index, f"{p:.2f}", va="center", size=8.5, color=palette.ink)
            axes.set_yticks(range(len(prediction)), list(prediction))
            axes.set(xlim=(0, 1.3 * most), ylim=(tokens - 0.4, -0.6), xticks=[])
            axes.set_title(f"{text} …", size=9.5, style="italic", weight="normal", loc="left")
            axes.tick_params(length=0, labelsize=9)
            axes.spines["bottom"].set_visible(False)
        above = {"ha": "left", "va": "baseline", "xycoords": "axes fraction"}
        write_beside(panels[0, i], model, (0, 1), (0, 22), color=color, size=10, **above)
        likeliest = (max(prediction, key=prediction.__getitem__) for prediction in predictions)
        descriptions.append(
            f"{model}: " + ", ".join(f"{token} after '{text}'" for text, token in zip(texts, likeliest, strict=True))
        )
    figure.set_label(f"Bars of the likeliest next tokens, two columns of panels. {'; '.join(descriptions)}.")
    return figure


def sharpened(
    tokens: Sequence[str], temperatures: Sequence[float], probabilities: ArrayLike, *, palette: Palette
) -> Figure:
    """Draw the probabilities (n, tokens) of tokens, likeliest first, a panel for each of n temperatures."""
    table = np.asarray(probabilities, dtype=float)
    figure, panels = several_panels(4.3, 0.3 * len(tokens) + 0.9, 1, len(temperatures), sharey=True)
    heights = np.arange(len(tokens))
    for axes, tau, row in zip(panels, temperatures, table, strict=True):
        axes.barh(heights, row, color=palette.query, height=0.72)
        for y, probability in zip(heights, row, strict=True):
            axes.text(probability + 0.02, y, f"{probability:.2f}", va="center", size=9, color=palette.ink)
        axes.set(title=f"τ = {tau:g}", xlim=(0, 1.35), ylim=(len(tokens) - 0.5, -0.5))
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.spines["bottom"].set_visible(False)
    panels[0].set_yticks(heights, tokens)
    description = "; ".join(
        f"at temperature {tau:g}: " + ", ".join(f"{t} {s:.2f}" for t, s in zip(tokens, row, strict=True))
        for tau, row in zip(temperatures, table, strict=True)
    )
    figure.set_label(f"Probabilities of the next token, {description}.")
    return figure


def top_p(tokens: Sequence[str], probabilities: ArrayLike, p: float, *, palette: Palette) -> Figure:
    """Draw the likeliest tokens, likeliest first, as steps of a growing sum, and the line p that it crosses."""
    masses = np.asarray(probabilities, dtype=float)
    sums, rounding = masses.cumsum(), 1e-6  # six probabilities of 0.1 in float32 need not add up to 0.6
    before = np.concatenate([[0.0], sums[:-1]])
    crossing = int(np.flatnonzero(before < p - rounding)[-1]) if p > rounding else 0
    figure, axes = one_panel(max(4.4, 0.5 * len(tokens) + 0.9), 3.1)
    for i, (low, mass) in enumerate(zip(before, masses, strict=True)):
        color = palette.faint if i > crossing else palette.key if i == crossing else palette.query
        axes.bar(i, mass, bottom=low, width=0.8, color=color)
        axes.text(i, low + mass + 0.015, f"{mass:.2f}", ha="center", va="bottom", size=8.5, color=palette.ink)
    axes.axhline(p, color=palette.ink, linewidth=1.2, linestyle="--")
    axes.text(-0.45, p + 0.012, f"p = {p:g}", ha="left", va="bottom", color=palette.ink)
    at = (crossing + 0.4, before[crossing] + masses[crossing] / 4)
    write_beside(axes, "crosses p: kept", at, (4, 0), size=9, color=palette.key)
    axes.set(ylim=(0, 1.08), xlim=(-0.55, len(tokens) - 0.45), ylabel="sum of the probabilities")
    axes.set_xticks(range(len(tokens)), tokens, rotation=40, ha="right", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0)
    description = ", ".join(f"{token} {mass:.2f}" for token, mass in zip(tokens, masses, strict=True))
    figure.set_label(
        f"The likeliest next tokens, each bar standing on the sum of those before it: {description}. The sum reaches "
        f"p = {p:g} within {tokens[crossing]}, which is kept; what follows is dropped."
    )
    return figure
