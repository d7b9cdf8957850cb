"""A soft lookup: queries and keys, weights that change with a temperature, and outputs as weighted means."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from matplotlib.ticker import MultipleLocator

from softlookup_course.figures.marks import bare, draw_arrow, one_panel, write_beside
from softlookup_course.figures.theme import Palette


def lookup_table(
    queries: Sequence[str],
    keys: Sequence[str],
    values: Sequence[str],
    weights: np.ndarray,
    answers: Sequence[str],
    *,
    palette: Palette,
) -> Figure:
    """Draw queries, keys and values around the weights (T, S), none negative, that join them."""
    weights_TS = np.asarray(weights, dtype=float)
    expected = (len(queries), len(keys))
    rows, columns = expected
    figure, axes = one_panel(6.6, 1.5 + 0.42 * rows)
    for t in range(rows):
        for s in range(columns):
            weight = weights_TS[t, s]
            shade = Rectangle((s, -t - 1), 1, 1, facecolor=palette.mixed, alpha=0.35 * weight, edgecolor="none")
            axes.add_patch(shade)
            axes.add_patch(Rectangle((s, -t - 1), 1, 1, fill=False, edgecolor=palette.faint, linewidth=0.8))
            color = palette.ink if weight else palette.muted
            axes.text(s + 0.5, -t - 0.5, f"{weight:g}", ha="center", va="center", size=9, color=color)
    for s, (key, value) in enumerate(zip(keys, values, strict=True)):
        axes.text(s + 0.5, 0.2, key, ha="center", va="bottom", size=9, color=palette.key)
        axes.text(s + 0.5, -rows - 0.2, value, ha="center", va="top", size=9, color=palette.value)
    for t, (query, answer) in enumerate(zip(queries, answers, strict=True)):
        axes.text(-0.3, -t - 0.5, query, ha="right", va="center", size=9.5, color=palette.query)
        axes.text(columns + 0.3, -t - 0.5, answer, ha="left", va="center", size=9.5, color=palette.mixed)
    axes.text(-0.3, 0.2, "keys", ha="right", va="bottom", size=9, color=palette.muted)
    axes.text(-0.3, -rows - 0.2, "values", ha="right", va="top", size=9, color=palette.muted)
    bare(axes, xlim=(-3.2, columns + 2.4), ylim=(-rows - 1.0, 1.1))
    description = "; ".join(f"{query} gives {answer}" for query, answer in zip(queries, answers, strict=True))
    figure.set_label(
        f"A table with {rows} rows, one for each query, and {columns} columns, one for each key, whose value stands "
        f"below it. Each cell is a weight. {description}."
    )
    return figure


def temperature_curves(names: Sequence[str], taus: np.ndarray, weights: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the weights (n, S) of up to four keys against n temperatures, which grow."""
    taus_n, weights_nS = np.asarray(taus, dtype=float), np.asarray(weights, dtype=float)
    figure, axes = one_panel(6.4, 2.9)
    order = np.argsort(-weights_nS[len(taus_n) // 3])
    styles = ("-", "--", "-.", ":")
    # As in the interactive figure above it: the first three keys have these colours, blue is the query's.
    colors = (palette.key, palette.value, palette.mixed, palette.query)
    inner = slice(len(taus_n) // 8, -len(taus_n) // 4)
    for rank, s in enumerate(order):
        color = colors[s]
        axes.plot(taus_n, weights_nS[:, s], styles[rank], color=color)
        # Each name stands where its line is farthest from all others, and from the line of equal shares.
        others_nS = np.column_stack([np.delete(weights_nS, s, axis=1), np.full(len(taus_n), 1 / len(names))])
        apart_n = np.abs(others_nS - weights_nS[:, [s]]).min(axis=1)
        index = inner.start + int(apart_n[inner].argmax())
        falling = weights_nS[0, s] > weights_nS[-1, s]
        lowest = weights_nS[index, s] <= weights_nS[index].min()
        to_left = not (falling or lowest)  # a rising line has room at its upper left, the lowest one beneath it
        at, away = (taus_n[index], weights_nS[index, s]), (-7 if to_left else 6, -5 if lowest else 4)
        write_beside(axes, names[s], at, away, color=color, size=9.5)
    even = 1 / len(names)
    axes.axhline(even, color=palette.muted, linewidth=1, linestyle=(0, (1, 3)))
    axes.text(taus_n[0], even, f" 1/S = {even:.2f}", ha="left", va="bottom", size=9, color=palette.muted)
    axes.set(xscale="log", ylim=(-0.03, 1.06), xlim=(taus_n[0], taus_n[-1]), ylabel="weight")
    axes.set_xlabel("temperature τ   (left: hard, right: the mean)")
    first, last = weights_nS[0], weights_nS[-1]
    description = ", ".join(f"{name} from {a:.2f} to {b:.2f}" for name, a, b in zip(names, first, last, strict=True))
    figure.set_label(
        f"Weights against the temperature, from {taus_n[0]:g} to {taus_n[-1]:g} on a logarithmic axis: {description}. "
        f"At the right all lines meet at one over the number of keys, {even:.2f}."
    )
    return figure


def weighted_mean(
    sentences: Sequence[tuple[Sequence[str], np.ndarray, np.ndarray]], axis_names: tuple[str, str], *, palette: Palette
) -> Figure:
    """Draw for each sentence the values (S, 2) of its words and their mean by the weights (S) of one query."""
    alone = len(sentences) == 1
    figure = Figure(figsize=(4.2 if alone else 6.4, 3.5))  # one panel on a phone is seen at once
    descriptions = []
    panels = np.atleast_1d(figure.subplots(1, len(sentences), sharex=True, sharey=True))
    for axes, (words, values_S2, weights_S) in zip(panels, sentences, strict=True):
        values_S2 = np.asarray(values_S2, dtype=float)
        z = weights_S @ values_S2
        axes.add_patch(Polygon(_hull(values_S2), facecolor=palette.value, alpha=0.13, edgecolor="none"))
        at: dict[tuple[float, float], list[str]] = {}
        for word, value, weight in zip(words, values_S2, weights_S, strict=True):
            axes.plot(*np.stack([z, value]).T, color=palette.mixed, linewidth=9 * weight, alpha=0.55, zorder=1)
            at.setdefault((float(value[0]), float(value[1])), []).append(f"{word} {weight:.2f}")
        for (x, y), names in at.items():
            axes.plot(x, y, "o", color=palette.value, markersize=8, zorder=2)
            away = 9 if y > z[1] else -9  # on the side that the line does not come from
            write_beside(axes, "\n".join(names), (x, y), (0, away), size=9)
        axes.plot(*z, "D", color=palette.mixed, markersize=8, zorder=3)
        result = f"z = ({z[0]:.2f}, {z[1]:.2f})"
        corner = {"ha": "right", "va": "top", "transform": axes.transAxes}
        axes.text(0.98, 0.98, f"\N{BLACK DIAMOND} {result}", color=palette.mixed, **corner)
        descriptions.append(f"'{' '.join(words)}' gives {result}")
        axes.set(title="" if alone else " ".join(words), xlabel=axis_names[0], aspect="equal")
        axes.margins(0.25)
        axes.xaxis.set_major_locator(MultipleLocator(1))  # the panels share an edge, where halves ran together
        axes.yaxis.set_major_locator(MultipleLocator(1))
    panels[0].set_ylabel(axis_names[1])
    figure.set_label(
        f"Planes with the axes {axis_names[0]} and {axis_names[1]}: the values of the words as points, "
        f"and one output inside their convex hull. {'; '.join(descriptions)}."
    )
    return figure


def _hull(points: np.ndarray) -> np.ndarray:
    """Walk round the outermost points of a plane (Andrew's monotone chain)."""
    ordered = [np.array(point) for point in sorted(map(tuple, np.unique(points, axis=0)))]

    def half(walk: list[np.ndarray]) -> list[np.ndarray]:
        corners: list[np.ndarray] = []
        for point in walk:
            while len(corners) >= 2 and _turn(corners[-2], corners[-1], point) <= 0:
                corners.pop()
            corners.append(point)
        return corners[:-1]

    return np.array(half(ordered) + half(ordered[::-1])) if len(ordered) > 1 else np.array(ordered)


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Tell a left turn (positive) from a right turn (negative) on the way from a over b to c."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def common_direction(
    pairs: Sequence[tuple[str, str]], starts: np.ndarray, ends: np.ndarray, *, palette: Palette
) -> Figure:
    """Draw each pair as an arrow from its first word to its second; vectors are (n, D)."""
    starts_nD, ends_nD = np.asarray(starts, dtype=float), np.asarray(ends, dtype=float)
    steps_nD = ends_nD - starts_nD
    across = steps_nD.mean(axis=0) / np.linalg.norm(steps_nD.mean(axis=0))
    middles_nD = (starts_nD + ends_nD) / 2
    centre = middles_nD.mean(axis=0)
    left_nD = middles_nD - centre
    left_nD = left_nD - np.outer(left_nD @ across, across)
    up = np.linalg.svd(left_nD, full_matrices=False)[2][0]
    up = up if (left_nD @ up)[0] > 0 else -up  # a direction has no sign of its own; the first pair goes up
    plane = np.stack([across, up], axis=1)
    figure, axes = one_panel(6.4, 4.2)
    for (first, second), a, b in zip(pairs, (starts_nD - centre) @ plane, (ends_nD - centre) @ plane, strict=True):
        draw_arrow(axes, a, b, palette.muted, 1.1, shrinkA=4, shrinkB=4)
        axes.plot(*a, "o", color=palette.query, markersize=5)
        axes.plot(*b, "s", color=palette.key, markersize=5)
        write_beside(axes, first, a, (-7, 0), size=9)
        write_beside(axes, second, b, (7, 0), size=9)
    axes.margins(x=0.22, y=0.08)
    axes.set_xlabel("along the mean step")
    axes.set_ylabel("where the pairs differ most")
    cosines = steps_nD @ across / np.linalg.norm(steps_nD, axis=1)
    rightward = f"{(cosines > 0).sum()} of {len(pairs)} go to the right"
    figure.set_label(
        f"{len(pairs)} arrows in a plane, each from a word such as {pairs[0][0]} to another such as {pairs[0][1]}. "
        f"{rightward}; the cosines of the steps with their mean lie between {cosines.min():.2f} and "
        f"{cosines.max():.2f}."
    )
    return figure
