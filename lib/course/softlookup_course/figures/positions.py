"""Positions: sinusoids, rotations, terms for the distance, and quality beyond the trained length."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle, FancyBboxPatch, Rectangle

from softlookup_course.figures.grid import draw_cell, draw_grid
from softlookup_course.figures.marks import bare, draw_arrow, kept_apart, one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette

_STEPS = ("token embeddings", "queries and keys", "scores", "softmax")
_TURN = "\N{CLOCKWISE OPEN CIRCLE ARROW}"
_WAYS = (
    ("absolute", "+", "A row for each position is\nadded to the embeddings, once:\nsinusoids, learned positions."),
    ("rotary", _TURN, "Each query and each key is\nrotated by its position:\nRoPE."),
    ("relative", "+", "A term for the distance is\nadded to each score:\nShaw, T5, ALiBi."),
)


def position_ways(*, palette: Palette) -> Figure:
    """Draw the way from tokens to attention weights, with the three points where positions come in."""
    figure, axes = one_panel(4.3, 4.4)  # as wide as a phone
    figure.set_label(
        "The steps of attention from top to bottom: token embeddings, queries and keys, scores, softmax; all but the "
        "first belong to every layer. Positions can enter at three points. Absolute: a row is added to the token "
        "embeddings. Rotary: queries and keys are rotated. Relative: a term for the distance is added to the scores."
    )
    box: dict[str, Any] = {"boxstyle": "round,pad=0.05,rounding_size=0.12", "fill": False, "linewidth": 1.6}
    axes.add_patch(Rectangle((-0.15, -0.45), 3.7, 6.85, facecolor=palette.faint, alpha=0.35, edgecolor="none"))
    axes.text(1.7, 0.07, "in every layer", ha="center", va="top", size=8, color=palette.muted)
    tops = [8.0 - 2.6 * step for step in range(len(_STEPS))]
    for step, (top, name) in enumerate(zip(tops, _STEPS, strict=True)):
        axes.add_patch(FancyBboxPatch((0.1, top), 3.2, 0.75, edgecolor=palette.ink, **box))
        axes.text(1.7, top + 0.37, name, ha="center", va="center", size=9.5)
        if step == len(_WAYS):
            break
        below = top - 2.6 + 0.8
        draw_arrow(axes, (1.7, top - 0.05), (1.7, below), palette.muted)
        method, sign, text = _WAYS[step]
        # The first way stands above the shade: it is taken once, before any layer.
        color, y = palette.series[step], 7.2 if step == 0 else (top - 0.05 + below) / 2 + 0.1
        draw_arrow(axes, (4.0, y), (2.0, y), color, 2)
        circle = {"boxstyle": "circle,pad=0.18", "facecolor": palette.paper, "edgecolor": color, "linewidth": 1.6}
        axes.text(1.7, y, sign, ha="center", va="center", size=11, color=color, bbox=circle, zorder=3)
        axes.text(4.15, y + 0.42, method, ha="left", va="bottom", size=10.5, weight="bold", color=color)
        axes.text(4.15, y + 0.36, text, ha="left", va="top", size=8.3, linespacing=1.25)
    bare(axes, xlim=(-0.3, 9.0), ylim=(-0.55, 8.95))
    return figure


def position_stripes(table: np.ndarray, *, palette: Palette) -> Figure:
    """Draw rows of sinusoids (T, D), from -1 to 1, one cell a number."""
    table = np.asarray(table, dtype=float)
    length, width = table.shape
    figure, axes = one_panel(6.2, 3.5)
    figure.set_label(
        f"A table of {length} positions by {width} columns of sinusoids. The columns on the left change from row to "
        "row, those in the middle are waves of some tens of rows, those on the right hardly change at all."
    )
    colors = LinearSegmentedColormap.from_list(f"two-{palette.name}", [palette.key, palette.paper, palette.query])
    image = axes.imshow(table, cmap=colors, vmin=-1, vmax=1, aspect="auto", interpolation="none")
    axes.set(xlabel="column", ylabel="position")
    axes.set_xticks([0, width // 4, width // 2, 3 * width // 4, width - 1])
    bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02)
    bar.set_ticks([-1, 0, 1], labels=["−1", "0", "1"])
    bar.outline.set_visible(False)
    return figure


def clock_hands(table: np.ndarray, positions: Sequence[int] | None = None, *, palette: Palette) -> Figure:
    """Draw a clock for each position (columns) and each pair of columns of a table (T, D), a sine and a cosine."""
    table = np.asarray(table, dtype=float)
    positions = range(len(table)) if positions is None else positions
    length, hands = len(positions), table.shape[1] // 2
    figure, axes = one_panel(4.3, 4.3 * (hands + 1.0) / (length + 1.6))  # as wide as a phone
    figure.set_label(
        f"Clocks, a column for each position ({', '.join(map(str, positions))}), a row for each of {hands} hands. "
        "At position 0 all hands point to the right. From position to position hand 0 turns on the most, and every "
        "further hand less."
    )
    for p, position in enumerate(positions):
        row = table[position]
        axes.text(p, 0.62, str(position), ha="center", va="bottom", size=9)
        for i, (sine, cosine) in enumerate(row.reshape(hands, 2)):
            axes.add_patch(Circle((p, -i), 0.42, fill=False, edgecolor=palette.faint, linewidth=1.2))
            tip = (p + 0.4 * cosine, -i + 0.4 * sine)
            axes.plot([p, tip[0]], [-i, tip[1]], color=palette.series[i % 4], linewidth=2, solid_capstyle="round")
            axes.plot(*tip, "o", color=palette.series[i % 4], markersize=3)
    for i in range(hands):
        axes.text(-0.65, -i, f"hand {i}", ha="right", va="center", size=9, color=palette.series[i % 4])
    axes.text(-0.65, 0.62, "position", ha="right", va="bottom", size=9)
    bare(axes, xlim=(-2.1, length - 0.5), ylim=(0.5 - hands, 1.0), aspect="equal")
    return figure


def distance_curve(products: Mapping[int, np.ndarray], *, palette: Palette) -> Figure:
    """Draw the dot product of two rows of each width D by their distance, relative to the largest."""
    figure, axes = one_panel(6.2, 3.1)
    descriptions = []
    dashes = ("-", "--", "-.", ":")
    label_heights: list[float] = []
    for (width, width_products), color, dash in zip(products.items(), palette.series, dashes, strict=False):
        ratios = np.asarray(width_products, dtype=float) / width_products[0]
        reach = len(ratios) - 1
        axes.plot(np.arange(-reach, reach + 1), np.r_[ratios[:0:-1], ratios], dash, color=color, linewidth=1.7)
        height = float(ratios[-1])
        while any(abs(height - other) < 0.09 for other in label_heights):
            height -= 0.03
        label_heights.append(height)
        axes.text(reach * 1.03, height, f"D = {width}", color=color, va="center")
        descriptions.append(f"with D = {width} {ratios[-1]:.2f} at distance {reach}")
    axes.axhline(0, color=palette.muted, linewidth=0.8)
    axes.set(xlabel="distance between the two positions", ylabel="dot product, largest = 1")
    axes.set(xlim=(-reach, reach * 1.22))
    axes.set_xticks([t for t in axes.get_xticks() if abs(t) <= reach])
    axes.grid(axis="y")
    figure.set_label(
        "The dot product of two rows of sinusoids against their distance: 1 for the same position, and falling on both "
        f"sides, with oscillations. As a fraction of the largest it is {'; '.join(descriptions)}."
    )
    return figure


def distance_terms(terms: Mapping[str, Mapping[str, np.ndarray]], trained: int, *, palette: Palette) -> Figure:
    """Draw the term that is added to a score at distances 0, -1, ...: up to two lines in each of four panels."""
    figure, panels = several_panels(4.6, 0.9 + 1.45 * len(terms), len(terms), 1, sharex=True)  # as wide as a phone
    descriptions = []
    for axes, (title, curves), color in zip(panels, terms.items(), palette.series, strict=False):
        for (name, added), dash in zip(curves.items(), ("-", "--"), strict=False):
            reach = len(added) - 1
            axes.step(-np.arange(reach + 1), added, dash, where="mid", color=color, linewidth=1.7)
            write_beside(axes, name, (0.8 - reach, added[-1]), (0.01, 2), color=color, size=9)
            peak = -int(np.argmax(added)) + 0
            descriptions.append(f"{title} {name}".rstrip() + f", largest at {peak} and {added[-1]:.1f} at {-reach}")
        axes.axvspan(-reach - 0.5, 0.5 - trained, color=palette.faint, alpha=0.4, linewidth=0)
        axes.set_title(title, size=10, loc="left")
        axes.margins(y=0.18)
        axes.locator_params(axis="y", nbins=4)
    middle = panels[len(panels) // 2]
    shade = {"transform": middle.get_xaxis_transform(), "color": palette.muted, "size": 8.5}
    middle.text(1.3 - reach, 0.93, "never met in training", ha="left", va="top", **shade)
    middle.set_ylabel("added to the score")
    panels[-1].set(xlabel="distance from the query to the key", xlim=(-reach - 0.5, 0.5))
    figure.set_label(f"The term for the distance, which is added to a score: {'; '.join(descriptions)}.")
    return figure


def relative_grids(tables: Mapping[str, np.ndarray], words: Sequence[str] = (), *, palette: Palette) -> Figure:
    """Draw square tables of queries and keys by title, whole numbers or halves; NaN where a key is masked."""
    columns = min(3, len(tables))
    rows = -(-len(tables) // columns)
    figure = Figure(figsize=(6.6 if columns > 2 else 5.6, 2.7 * rows))
    descriptions = []
    panels = np.ravel(figure.subplots(rows, columns))
    for spare in panels[len(tables) :]:
        spare.set_axis_off()
    for index, (axes, (title, table)) in enumerate(zip(panels, tables.items(), strict=False)):
        table = np.asarray(table, dtype=float) + 0.0  # no minus before zero
        masked = np.isnan(table)
        decimals = 0 if np.array_equal(table[~masked], np.round(table[~masked])) else 1
        queries = words if index % columns == 0 else ()
        draw_grid(axes, table, palette, title=title, rows=queries, columns=words, decimals=decimals, hidden=masked)
        axes.tick_params(axis="x", rotation=90)
        axes.set_title(title, size=10)
        descriptions.append(f"{title}, from {np.nanmax(table):g} to {np.nanmin(table):g}")
    figure.set_label(
        f"Position terms of the scores, a row for each query and a column for each key: {'; '.join(descriptions)}. "
        "Along each diagonal the term is constant."
    )
    return figure


def turned_pairs(
    query: np.ndarray, key: np.ndarray, theta: float, position_pairs: Sequence[tuple[int, int]], *, palette: Palette
) -> Figure:
    """Draw a query and a key (2) in the plane, turned by ``theta`` radians a step, at pairs of positions."""
    reach = 1.3 * max(np.linalg.norm(query), np.linalg.norm(key))
    tips = [
        complex(*vector) * np.exp(1j * theta * position)
        for pair in (*position_pairs, (0, 0))
        for vector, position in zip((query, key), pair, strict=True)
    ]
    top, bottom = (sign * max(0.3 * reach, *(1.3 * sign * tip.imag for tip in tips)) for sign in (1, -1))
    height = 0.5 + (1.5 if len(position_pairs) < 3 else 1.1) * (top - bottom) / reach
    figure, panels = several_panels(6.4, height, 1, len(position_pairs), sharex=True, sharey=True)
    descriptions = []
    gap = " " if len(position_pairs) < 3 else "\n"  # a narrow panel has no room for a long title
    for axes, (m, n) in zip(panels, position_pairs, strict=True):
        angles = []
        ends = []
        vectors = [(np.asarray(query, float), m, palette.query, "q"), (np.asarray(key, float), n, palette.key, "k")]
        for vector, position, color, name in sorted(vectors, key=lambda arrow: arrow[1]):  # in the order of the text
            z = complex(*vector) * np.exp(1j * theta * position)
            axes.plot([0, vector[0]], [0, vector[1]], color=color, alpha=0.3, linewidth=1.6)
            draw_arrow(axes, (0, 0), (z.real, z.imag), color, 2.2)
            axes.text(1.17 * z.real, 1.17 * z.imag, f"${name}$ at {position}", color=color, ha="center", va="center")
            angles.append(np.degrees(np.angle(z)))
            ends.append(z)
        between = (angles[1] - angles[0] + 180) % 360 - 180
        start, end = sorted((angles[0], angles[0] + between))
        axes.add_patch(Arc((0, 0), 0.9, 0.9, theta1=start, theta2=end, color=palette.mixed, linewidth=2))
        product = (ends[0] * ends[1].conjugate()).real
        title = f"{abs(between):.0f}° between them,{gap}dot product {product:.2f}"
        axes.set_title(title.replace("-", "\N{MINUS SIGN}"))
        axes.plot(0, 0, "o", color=palette.muted, markersize=3)
        axes.axhline(0, color=palette.faint, linewidth=0.8, zorder=0)
        axes.axvline(0, color=palette.faint, linewidth=0.8, zorder=0)
        axes.set(xlim=(-reach, reach), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        ordered = sorted([(m, "query"), (n, "key")], key=lambda pair: pair[0])
        who = " and ".join(f"{name} at {position}" for position, name in ordered)
        descriptions.append(f"{who}: {abs(between):.0f} degrees, dot product {product:.2f}")
    figure.set_label(
        f"A query and a key in a plane, rotated by {theta:g} radians per position; {'; '.join(descriptions)}. "
        "Pale lines show them before the rotation."
    )
    return figure


def rotary_pairs(width: int, cached: int, *, palette: Palette) -> Figure:
    """Draw which of up to 8 numbers of a head form a pair, and by which position each cached vector is turned."""
    figure, axes = one_panel(4.6, 2.6)
    for row, (name, of) in enumerate((("neighbours", lambda j: j // 2), ("halves", lambda j: j % (width // 2)))):
        for j in range(width):
            draw_cell(axes, j, 1.5 * row, str(of(j)), True, palette.series[of(j)], palette)
        axes.text(-0.4, 1.5 * row + 0.5, name, ha="right", va="center", size=9.5)
    for t in range(cached + 1):
        color = palette.query if t == cached else palette.faint
        draw_cell(axes, t + 0.6 * (t == cached), 3.6, str(t), True, color, palette)
    axes.text(-0.4, 4.1, "turned by", ha="right", va="center", size=9.5)
    axes.text(cached / 2, 4.8, "cached keys", ha="center", va="top", size=9, color=palette.muted)
    axes.text(cached + 1.1, 4.8, "new query", ha="center", va="top", size=9, color=palette.query)
    bare(axes, xlim=(-3.6, max(width, cached + 2) + 0.3), ylim=(5.6, -0.2))
    pairs = [[j, j + width // 2] for j in range(width // 2)]
    figure.set_label(
        f"{width} numbers in pairs: neighbours, {[[j, j + 1] for j in range(0, width, 2)]}, or halves, {pairs}. Below, "
        f"{cached} cached keys, turned by the positions 0 to {cached - 1}, and a new query, turned by {cached}."
    )
    return figure


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
    """Draw what ``softlookup bench positions`` measured, by position: letters fetched above, loss on text below."""
    figure, (upper, lower) = several_panels(4.3, 6.4, 2, 1)  # as wide as a phone
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
    colors = (palette.muted, palette.query, palette.ink, palette.key, palette.value, palette.mixed)
    looks = dict(zip(_NAMES, zip(colors, ("--", "-", ":", "-", "-", "-"), strict=True), strict=True))
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
    for (_, name, color), height in zip(ends, kept_apart([end[0] for end in ends], line), strict=True):
        axes.text(whole * 1.02, height, name, color=color, va="center", size=9)
    axes.axvline(length, color=palette.muted, linewidth=1)
    at_top = axes.get_xaxis_transform()
    axes.text(length, 1.0, " trained", color=palette.muted, size=8.5, transform=at_top, va="bottom", ha="center")
    axes.set(xlabel="position in the text", xlim=(0, whole * 1.3), ylim=bounds)
    axes.set_xticks([length * n for n in range(times + 1)])
    axes.grid(axis="y")
