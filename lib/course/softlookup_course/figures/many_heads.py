"""Several heads: how a projection is split, what heads share and attend to, and what they cost."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup.reference import split_heads
from softlookup_course.figures.grid import draw_ruled
from softlookup_course.figures.marks import bare, one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette, ramp

_T, _N, _H = 3, 4, 2


def splitting(*, palette: Palette) -> Figure:
    """Draw a projection of three tokens, its split into four heads, and what a reshape alone makes of it."""
    # Token t's number in column m is 10t + m, so that every cell can be followed by its name.
    x_TM = 10 * np.arange(_T)[:, None] + np.arange(_N * _H)
    right_NTH, wrong_NTH = split_heads(x_TM, _N), x_TM.reshape(_N, _T, _H)
    figure, axes = one_panel(4.6, 5.5)
    figure.set_label(
        "A table of three tokens by eight columns, two columns for each of four heads. Split correctly, head 0 holds "
        "the first two columns of all three tokens. A reshape alone gives head 0 six of the eight numbers of token 0, "
        "and nothing of any other token."
    )
    width = (_N - 1) * 2.9 + _H
    _table(axes, (width - _N * _H) / 2, 10.9, x_TM, "projected  (T, N·H)", palette)
    arrow = {"arrowstyle": "-|>", "color": palette.muted}
    for y, cut, title in ((5.6, right_NTH, "columns split, axes exchanged"), (0.0, wrong_NTH, "reshape alone: wrong")):
        color = palette.ink if cut is right_NTH else palette.alarm
        axes.text(width / 2, y + 4.15, title, ha="center", va="bottom", size=10.5, weight="bold", color=color)
        for head in range(_N):
            _table(axes, 2.9 * head, y, cut[head].astype(int), f"head {head}", palette)
    axes.annotate("", (width / 2, 10.2), (width / 2, 10.85), arrowprops=arrow)
    bare(axes, xlim=(-0.1, width + 0.1), ylim=(-0.1, 15.0), aspect="equal")
    return figure


def _table(axes: Axes, x: float, y: float, cells: np.ndarray, title: str, palette: Palette) -> None:
    """Draw one table of cells; the second digit of a cell says whose column it is."""
    rows, columns = cells.shape
    for i in range(rows):
        for j in range(columns):
            head = cells[i, j] % 10 // _H
            color = palette.series[head]
            corner = (x + j, y + rows - 1 - i)
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=color, alpha=0.22, edgecolor="none"))
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=color, linewidth=0.9))
            axes.text(corner[0] + 0.5, corner[1] + 0.47, f"{cells[i, j]:02d}", ha="center", va="center", size=10)
    axes.text(x + columns / 2, y + rows + 0.15, title, ha="center", va="bottom", size=9, color=palette.muted)


def input_slices(d_model: int, n_heads: int, head_width: int, *, palette: Palette) -> Figure:
    """Draw one projection for all heads, and what it becomes if each head gets a slice of the input."""
    figure, (full, sliced) = several_panels(4.4, 2.9, 1, 2)
    weights = d_model * n_heads * head_width
    figure.set_label(
        f"Two matrices of {d_model} rows and {n_heads * head_width} columns. When the projection is split, all "
        f"{weights} cells hold weights. When the input is split, only the blocks on the diagonal do, "
        f"{weights // n_heads} cells; all others are 0."
    )
    _matrix(full, d_model, n_heads, head_width, palette, sliced=False)
    _matrix(sliced, d_model, n_heads, head_width, palette, sliced=True)
    full.set_title(f"project, then split:\n{weights} weights")
    sliced.set_title(f"split the input:\n{weights // n_heads} weights")
    return figure


def _matrix(axes: Axes, d_model: int, n_heads: int, head_width: int, palette: Palette, *, sliced: bool) -> None:
    rows_each = d_model // n_heads
    for d in range(d_model):
        for m in range(n_heads * head_width):
            head = m // head_width
            color = palette.series[head % 4]
            corner = (m, d_model - 1 - d)
            there = not sliced or d // rows_each == head
            if there:
                axes.add_patch(Rectangle(corner, 1, 1, facecolor=color, alpha=0.25, edgecolor="none"))
            else:
                axes.text(m + 0.5, corner[1] + 0.5, "0", ha="center", va="center", size=10, color=palette.muted)
            edge = color if there else palette.faint
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=edge, linewidth=1.0))
    for head in range(n_heads):
        center = head * head_width + head_width / 2
        axes.text(center, -0.15, f"head {head}", ha="center", va="top", size=9.5, color=palette.series[head % 4])
    for d in range(d_model):
        axes.text(-0.2, d_model - 0.5 - d, f"$x_{d}$", ha="right", va="center", size=10)
    bare(axes, xlim=(-0.9, n_heads * head_width + 0.1), ylim=(-0.8, d_model + 0.1), aspect="equal")


def blending(n_tokens: int, d_model: int, n_heads: int, head_width: int, *, palette: Palette) -> Figure:
    """Draw the heads side by side, the output matrix cut into their rows, and the output; N is at most 4."""
    wide = n_heads * head_width
    figure, axes = one_panel(4.4, 3.8)
    figure.set_label(
        f"The outputs of {n_heads} heads side by side, {n_tokens} by {wide}, times the output matrix, {wide} by "
        f"{d_model}, give the output, {n_tokens} by {d_model}. The columns of head i are multiplied "
        "by the rows of head i in the output matrix."
    )
    # Where the output matrix begins, and below it the output: a row of Z stands beside its row of Y.
    output_x = wide + 2.5
    low = n_tokens + 3.0
    for i, color in enumerate(palette.series[:n_heads]):
        draw_ruled(axes, i * head_width, 0, n_tokens, head_width, color)
        center = (i + 0.5) * head_width
        axes.text(center, n_tokens + 0.3, f"$Z^{{{i}}}$", ha="center", va="bottom", color=color, size=12)
        bottom = low + wide - (i + 1) * head_width
        draw_ruled(axes, output_x, bottom, head_width, d_model, color)
        middle = bottom + head_width / 2
        axes.text(output_x - 0.5, middle, f"$W_O^{{{i}}}$", ha="right", va="center", color=color, size=12)
    draw_ruled(axes, output_x, 0, n_tokens, d_model, palette.ink)
    center = output_x + d_model / 2
    axes.text(wide + 1.25, n_tokens / 2, "→", ha="center", va="center", size=14)
    axes.text(center, low - 0.4, "↓", ha="center", va="top", size=14)
    words: dict[str, Any] = {"size": 10, "color": palette.muted}
    axes.text(0, -0.5, f"side by side (T, N·H) = ({n_tokens}, {wide})", ha="left", va="top", **words)
    axes.text(center, -0.5, f"$Y$ (T, D)\n= ({n_tokens}, {d_model})", ha="center", va="top", **words)
    top = low + wide
    axes.text(output_x - 2.9, top, f"$W_O$ (N·H, D)\n= ({wide}, {d_model})", ha="right", va="top", **words)
    bare(axes, xlim=(-0.4, output_x + d_model + 0.8), ylim=(-3.0, top + 0.4), aspect="equal")
    return figure


def head_groups(*, palette: Palette) -> Figure:
    """Draw the ways in which query heads read key-value heads: K = N, K = 2, K = 1, and wrongly tiled."""
    n_heads, shared = 4, 2
    figure = Figure(figsize=(4.4, 4.2))
    figure.set_label(
        f"{n_heads} query heads joined to the key-value heads that they read. K = {n_heads}: each reads its own. "
        f"K = {shared}: neighbours share. K = 1: all read the same one. In the last panel, tiled, query heads 0 and "
        f"{shared} share, which is wrong."
    )
    panels = figure.subplots(2, 2).ravel()
    reads = np.arange(n_heads)
    kinds = (
        (f"multi-head, K = {n_heads}", n_heads, reads),
        (f"grouped, K = {shared}", shared, reads // (n_heads // shared)),
        ("multi-query, K = 1", 1, 0 * reads),
        ("tiled: wrong order", shared, reads % shared),
    )
    for axes, (title, n_kv, owner) in zip(panels, kinds, strict=True):
        _panel(axes, title, n_kv, owner, palette, wrong=title.startswith("tiled"))
    return figure


def _panel(axes: Axes, title: str, n_kv: int, owner: np.ndarray, palette: Palette, *, wrong: bool) -> None:
    n = len(owner)
    at_kv = (np.arange(n_kv) + 0.5) * n / n_kv - 0.5
    for i, j in enumerate(owner):
        color = palette.alarm if wrong else palette.muted
        axes.plot([i, at_kv[j]], [0.86, 0.14], color=color, linewidth=1.6, linestyle="--" if wrong else "-")
    round_box = {"boxstyle": "round,pad=0.25", "facecolor": "none", "linewidth": 1.4}
    for i in range(n):
        box = round_box | {"edgecolor": palette.query}
        axes.text(i, 1, f"q {i}", ha="center", va="center", size=9, color=palette.query, bbox=box)
    for j in range(n_kv):
        box = round_box | {"edgecolor": palette.key}
        axes.text(at_kv[j], 0, f"kv {j}", ha="center", va="center", size=9, color=palette.key, bbox=box)
    axes.set_title(title, color=palette.alarm if wrong else palette.ink)
    bare(axes, xlim=(-0.6, n - 0.4), ylim=(-0.3, 1.3))


def head_maps(
    weights_NTS: np.ndarray,
    tokens: Sequence[str] | Sequence[Sequence[str]],
    titles: Sequence[str],
    query: int | None = None,
    *,
    palette: Palette,
) -> Figure:
    """Draw a map for each head: a row for each query, a column for each key, both named by the tokens."""
    n, t, s = weights_NTS.shape
    one_sentence = all(isinstance(token, str) for token in tokens)
    sentences = [tokens] * n if one_sentence else tokens
    rows = (n + 1) // 2
    figure = Figure(figsize=(4.3, 0.6 + 1.95 * rows))  # as wide as a phone
    descriptions = []
    panels = np.atleast_1d(figure.subplots(rows, 2, sharex=one_sentence, sharey=one_sentence)).ravel()
    for axes, weights_TS, words, title in zip(panels, weights_NTS, sentences, titles, strict=False):
        shades = axes.pcolormesh(weights_TS, cmap=ramp(palette), vmin=0, vmax=1, edgecolors=palette.mesh, linewidth=0.4)
        most = weights_TS.argmax(axis=1)
        axes.plot(most + 0.5, np.arange(t) + 0.5, "o", color=palette.ink, markersize=2.4)
        axes.set_title(title, size=9.5)
        axes.set(aspect="equal", xlim=(0, s), ylim=(t, 0))
        axes.set_xticks(np.arange(s) + 0.5, words, rotation=90)
        axes.set_yticks(np.arange(t) + 0.5, words)
        axes.tick_params(length=0, labelsize=7.8, pad=2)
        axes.spines[:].set_visible(False)
        description = f"{title}: {(most == np.arange(t)).sum()} of {t} tokens attend most to themselves"
        if query is not None:
            frame = Rectangle((0, query), s, 1, fill=False, edgecolor=palette.query, linewidth=1.6, zorder=3)
            frame.set_clip_on(False)
            axes.add_patch(frame)
            weight = weights_TS[query, most[query]]
            description += f", and {words[query]} gives {weight:.2f} to {words[most[query]]}"
        descriptions.append(description)
    for axes in panels[n:]:
        axes.set_axis_off()
    bar = figure.colorbar(
        shades, ax=panels.tolist(), ticks=(0, 0.5, 1), format="{x:g}", shrink=0.6, fraction=0.04, pad=0.03, aspect=18
    )
    bar.ax.tick_params(length=0, labelsize=7.8)
    figure.set_label(
        f"{n} heat maps of attention weights over {t} tokens. A dot marks each row's largest weight. "
        f"{'; '.join(descriptions)}."
    )
    return figure


def heads_needed(before_LN: np.ndarray, lost_LN: np.ndarray, uniform: float, *, palette: Palette) -> Figure:
    """Draw a dot for each head: its weight on the token before, and the nats that its absence adds to the loss."""
    before_LN, lost_LN = np.asarray(before_LN, dtype=float), np.asarray(lost_LN, dtype=float)
    clearest, dearest = before_LN.argmax(), lost_LN.argmax()
    names = {
        i: "layer {}, head {}".format(*(1 + np.array(np.unravel_index(i, before_LN.shape))))
        for i in (clearest, dearest)
    }
    figure, axes = one_panel(5.6, 3.3)
    figure.set_label(
        f"One dot for each of {before_LN.size} heads. The clearest habit, {before_LN.max():.2f} of the weight on the "
        f"token before, has {names[clearest]}; without it the loss changes by {lost_LN.ravel()[clearest]:+.4f} nats. "
        f"The largest change, {lost_LN.max():+.4f}, is that of {names[dearest]}, with {before_LN.ravel()[dearest]:.2f} "
        "on the token before."
    )
    axes.axhline(0, color=palette.muted, linewidth=0.8)
    axes.axvline(uniform, color=palette.muted, linewidth=0.8, linestyle=":")
    axes.scatter(before_LN.ravel(), lost_LN.ravel(), s=26, color=palette.query, zorder=3)
    for i, name in names.items():
        x, y = before_LN.ravel()[i], lost_LN.ravel()[i]
        to_left = x > before_LN.max() * 0.7
        write_beside(axes, name, (x, y), (-4 if to_left else 7, 6), va="baseline", color=palette.ink)
    axes.margins(y=0.14)
    words_end = uniform + 0.3 * before_LN.max()
    beside = lost_LN[(before_LN > uniform - 0.01) & (before_LN < words_end)]
    heights = np.linspace(*axes.get_ylim(), 30)[2:-2]
    gaps = np.abs(heights[:, None] - np.array([0.0, *beside])).min(axis=1)  # to dots and to the line at 0
    clear = heights[gaps.argmax()]
    axes.text(uniform + 0.008, clear, "uniform weights", ha="left", va="center", size=9.5, color=palette.muted)
    axes.set(xlabel="weight on the token before", ylabel="change of the loss\nwithout the head, nats", xlim=(0, None))
    return figure


_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))


def with_unit(n_bytes: float) -> str:
    """Write a number of bytes in the largest of bytes, kB, MB and GB (powers of 1000) that leaves at least one.

    >>> with_unit(4_000_000)
    '4 MB'
    """
    for size, unit in _UNITS:
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes:.3g} bytes"


def score_memory(lengths: np.ndarray, head_width: int, bytes_per_number: int, *, palette: Palette) -> Figure:
    """Draw the bytes of one head's scores beside those of Q, K and V, against the lengths T = S."""
    lengths = np.asarray(lengths, dtype=float)
    scores_bytes = lengths**2 * bytes_per_number
    vectors_bytes = 3 * lengths * head_width * bytes_per_number
    figure, axes = one_panel(4.4, 3.3)
    figure.set_label(
        f"Memory against sequence length, both axes logarithmic. At {lengths[0]:,.0f} tokens the scores "
        f"take {with_unit(scores_bytes[0])}, and Q, K and V {with_unit(vectors_bytes[0])}; at "
        f"{lengths[-1]:,.0f} tokens the scores take {with_unit(scores_bytes[-1])}, and Q, K and V "
        f"{with_unit(vectors_bytes[-1])}."
    )
    for series_bytes, name, color in (
        (scores_bytes, "scores\n$T^2$", palette.mixed),
        (vectors_bytes, "$Q, K, V$\n$3 T H$", palette.value),
    ):
        axes.loglog(lengths, series_bytes, "o-", color=color, markersize=5)
        axes.text(lengths[-1] * 1.35, series_bytes[-1], name, color=color, va="center")
    for length, n_bytes, other_bytes in list(zip(lengths, scores_bytes, vectors_bytes, strict=True))[1::2]:
        above = n_bytes > other_bytes  # on the side of the line that the other one is not
        away, side = ((-7, 3), "right") if above else ((8, -5), "left")
        write_beside(axes, with_unit(n_bytes), (length, n_bytes), away, ha=side, va="baseline", size=9)
    axes.set(xlabel="sequence length $T$", ylabel="bytes, one head, one sequence")
    axes.set_xlim(lengths[0] * 0.5, lengths[-1] * 4)
    axes.set_xticks(lengths, [f"{length:,.0f}" for length in lengths], size=7.5)
    axes.minorticks_off()
    axes.grid(axis="y")
    return figure


def cost_by_heads(
    heads: Sequence[int],
    parameters: Sequence[int],
    flops: Sequence[int],
    score_bytes: Sequence[int],
    *,
    palette: Palette,
) -> Figure:
    """Draw parameters, operations and bytes of the scores against the number of heads, relative to the first."""
    figure, axes = one_panel(4.4, 3.3)
    x = np.asarray(heads, dtype=float)
    # The first two lie on each other: one is dotted and wider, so that both can be seen.
    axes.plot(x, np.asarray(parameters) / parameters[0], "o:", color=palette.query, linewidth=5, markersize=0)
    axes.plot(x, np.asarray(flops) / flops[0], "s-", color=palette.value, linewidth=1.6, markersize=5)
    axes.plot(x, np.asarray(score_bytes) / score_bytes[0], "o-", color=palette.mixed, markersize=6)
    span = f"scores: {with_unit(score_bytes[0])} to {with_unit(score_bytes[-1])}"
    write_beside(axes, span, (x[-1], score_bytes[-1] / score_bytes[0]), (-10, 0), color=palette.mixed)
    for away, text, color in (
        (9, f"parameters: {parameters[0]:,}", palette.query),
        (-9, f"operations of the matrix products: {flops[0]:,}", palette.value),
    ):
        write_beside(axes, text, (x[-1], 1.0), (0, away), ha="right", color=color)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(x, [str(n) for n in heads])
    top = max(score_bytes) / score_bytes[0]
    ticks = 2.0 ** np.arange(0, np.log2(top) + 1, 1)
    axes.set_yticks(ticks, [f"×{tick:g}" for tick in ticks])
    axes.set(xlabel="heads N, with N·H = D", ylim=(0.55, top * 1.35))
    figure.set_label(
        f"Against the number of heads, {heads[0]} to {heads[-1]}, parameters and operations stay constant, while "
        f"the memory of the scores grows from {with_unit(score_bytes[0])} to {with_unit(score_bytes[-1])}."
    )
    return figure
