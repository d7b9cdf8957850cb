"""Images and long inputs: patches, captions, hidden patches, and tiled attention."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.patches import Rectangle

from softlookup_course.figures.marks import bare, one_panel, several_panels
from softlookup_course.figures.theme import Palette, ink_on, ramp


def ink_ramp(palette: Palette) -> LinearSegmentedColormap:
    """The scale of pictures: paper for 0, ink for 1."""
    return LinearSegmentedColormap.from_list(f"softlookup-ink-{palette.name}", [palette.paper, palette.ink])


def cut_up(image: np.ndarray, patch: int, *, palette: Palette) -> Figure:
    """Draw a picture, ink from 0 to 1, with its patches numbered, and below it the patches as a row of tokens."""
    height, width = image.shape
    down, across = height // patch, width // patch
    n = down * across
    figure, (whole, row) = several_panels(6.4, 4.3, 2, 1, height_ratios=(3.2, 1))
    ramp = ink_ramp(palette)
    whole.imshow(image, cmap=ramp, vmin=0, vmax=1, extent=(0, across, down, 0))
    for i in range(down):
        for j in range(across):
            box = Rectangle((j, i), 1, 1, fill=False, edgecolor=palette.query, linewidth=1.4)
            whole.add_patch(box)
            # Pixels are ink or paper or anything between: a number is read on a label of its own.
            label = {"facecolor": palette.paper, "edgecolor": palette.query, "linewidth": 0.6, "pad": 1.2}
            patch_index = str(i * across + j)
            whole.text(j + 0.08, i + 0.08, patch_index, color=palette.ink, size=8, va="top", weight="bold", bbox=label)
    whole.set(title=f"{height} × {width} pixels, {n} patches", xlim=(-0.02, across + 0.02), ylim=(down + 0.02, -0.02))
    for index in range(n):
        i, j = divmod(index, across)
        patch_pixels = image[i * patch : (i + 1) * patch, j * patch : (j + 1) * patch]
        x = 1.25 * index
        row.imshow(patch_pixels, cmap=ramp, vmin=0, vmax=1, extent=(x, x + 1, 1, 0))
        row.add_patch(Rectangle((x, 0), 1, 1, fill=False, edgecolor=palette.query, linewidth=1.2))
        row.text(x + 0.5, 1.2, str(index), color=palette.ink, size=8, ha="center", va="top")
    row.set(
        title="the same patches as a sequence of tokens", xlim=(-0.1, 1.25 * n - 0.15), ylim=(1.9, -0.1), aspect="equal"
    )
    for axes in (whole, row):
        axes.set_axis_off()
    figure.set_label(
        f"An image of {height} by {width} pixels is cut into {n} patches of {patch} by {patch}, numbered row by row; "
        f"below, the {n} patches stand side by side as a sequence of tokens."
    )
    return figure


def pair_grid(images: np.ndarray, captions: Sequence[str], cosines: np.ndarray, *, palette: Palette) -> Figure:
    """Draw cosines (I, J) of pictures (I, 3, height, width), 0 to 1, and captions; a dot marks the nearest caption."""
    rows, columns = cosines.shape
    figure, axes = one_panel(1.9 + 0.72 * columns, 1.7 + 0.6 * rows)
    scale = ramp(palette)
    axes.imshow(cosines, cmap=scale, vmin=-0.2, vmax=1, aspect="auto")
    best = cosines.argmax(axis=1)
    for i in range(rows):
        for j in range(columns):
            shade = scale((cosines[i, j] + 0.2) / 1.2)
            cosine_text = f"{cosines[i, j]:.2f}".replace("-", "\N{MINUS SIGN}")
            axes.text(j, i, cosine_text, ha="center", va="center", size=9, color=ink_on(shade[:3]))
        axes.plot(best[i] + 0.36, i - 0.32, "o", color=palette.key, markersize=5)
        picture = OffsetImage(np.moveaxis(images[i], 0, -1), zoom=1.9)
        axes.add_artist(
            AnnotationBbox(picture, (-0.62, i), box_alignment=(1, 0.5), frameon=False, annotation_clip=False)
        )
    axes.set_xticks(range(columns), captions, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(rows), [" " * 14] * rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    n_right = int((best == np.arange(rows)).sum())
    figure.set_label(
        f"Cosine similarities of {rows} pictures and {columns} captions ({', '.join(captions)}). For {n_right} of the "
        "pictures their own caption is the nearest."
    )
    return figure


def occlusion(hidden: Sequence[int], accuracies: Mapping[str, Sequence[float]], *, palette: Palette) -> Figure:
    """Draw the accuracy, per cent, against how many patches are hidden, for up to four orders of hiding."""
    counts = list(hidden)
    figure, axes = one_panel(6.2, 3.3)
    ends: list[tuple[float, str, str]] = []
    for (name, values), color, mark in zip(accuracies.items(), palette.series, "osD^", strict=False):
        axes.plot(counts, values, mark + "-", color=color, markersize=5)
        ends.append((float(values[-1]), name, color))
    height = -1e9
    for level, name, color in sorted(ends):
        height = max(level, height + 7.5)
        axes.text(counts[-1] + 0.35, height, name, color=color, va="center", size=9)
    axes.set(xlabel="patches hidden", ylabel="accuracy, in per cent", ylim=(0, 104))
    axes.set_xlim(counts[0] - 0.3, counts[-1] + (counts[-1] - counts[0]) * 0.52)
    axes.set_xticks(counts)
    axes.grid(axis="y")
    description = "; ".join(
        f"{name}: {', '.join(f'{value:.0f}' for value in values)}" for name, values in accuracies.items()
    )
    figure.set_label(
        f"Accuracy in per cent when {', '.join(map(str, counts))} patches are hidden, by the order of "
        f"hiding. {description}."
    )
    return figure


def shares_by_arm(accuracies_by_arm: Mapping[str, Sequence[float]], *, palette: Palette) -> Figure:
    """Draw the accuracy, per cent, of each seed of several kinds of runs: kinds as rows, medians as bars."""
    figure, axes = one_panel(5.6, 0.9 + 0.55 * len(accuracies_by_arm))
    medians = []
    for row, (name, accuracies) in enumerate(accuracies_by_arm.items()):
        color = palette.series[row % 2]
        middle = float(np.median(accuracies))
        axes.plot(accuracies, [row] * len(accuracies), "o", color=color, markersize=5, alpha=0.65)
        axes.plot([middle, middle], [row - 0.28, row + 0.28], color=color, linewidth=3)
        axes.text(middle, row - 0.34, f"{middle:.1f} %", color=color, size=9, ha="center", va="bottom")
        medians.append(f"{name} {middle:.1f} %")
    axes.set_yticks(range(len(accuracies_by_arm)), list(accuracies_by_arm))
    axes.set_ylim(len(accuracies_by_arm) - 0.55, -0.75)
    everything = [accuracy for numbers in accuracies_by_arm.values() for accuracy in numbers]
    axes.set_xlim(min(everything) - 1.5, min(100.5, max(everything) + 1.5))
    axes.set_xlabel("accuracy, in per cent")
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    figure.set_label(f"Accuracy in per cent, a point for each seed. Medians: {', '.join(medians)}.")
    return figure


def numbers_moved(n_queries: int, n_keys: int, width: int, block: int) -> tuple[int, int]:
    """Count the numbers that one head moves between memory and chip: in tiles, and with the T x S scores stored."""
    ends = 2 * n_queries * width
    passing = 2 * n_keys * width
    return ends + n_queries // block * passing, ends + passing + 4 * n_queries * n_keys


def numbers_kept(width: int, block: int, tile: int) -> int:
    """Count the numbers on the chip: a block of queries, a tile of keys and values, its scores, and m, l and z."""
    return block * width + 2 * tile * width + block * tile + block * (width + 2)


def tile_flow(n_queries: int, n_keys: int, width: int, tile: int, *, palette: Palette) -> Figure:
    """Draw the flow of data of tiled attention between the large memory, above, and the chip, below (T, S, H)."""
    tiled, stored = numbers_moved(n_queries, n_keys, width, tile)
    on_chip = numbers_kept(width, tile, tile)
    figure, axes = one_panel(4.3, 5.2)
    _room(axes, 6.9, 4.3, "large, slow memory", palette)
    _room(axes, 0.2, 4.7, "on the chip: small, fast memory", palette)
    for x, name, color in _COLUMNS:
        color = getattr(palette, color)
        axes.text(x + 0.8, 10.25, name, ha="center", va="bottom", size=9, color=color)
        _stack(axes, x, color)
        middle = x + 0.8
        upward = name == "$Z$"
        ends = ((middle, 4.2), (middle, 7.1)) if upward else ((middle, 7.1), (middle, 4.2))
        _arrow(axes, *ends, color)
        box = {"facecolor": palette.paper, "edgecolor": "none", "pad": 1.5}
        axes.text(middle, 5.65, _SAID[name], ha="center", va="center", size=7.8, color=palette.ink, bbox=box)
    size = f"{tile} × {width}"
    _box(axes, 0.5, 3.3, 1.6, f"$q$\n{size}", palette.query)
    _box(axes, 2.9, 3.3, 1.6, f"$k$\n{size}", palette.key)
    _box(axes, 5.3, 3.3, 1.6, f"$v$\n{size}", palette.value)
    _box(axes, 7.7, 3.3, 1.8, "$m, l, z$", palette.mixed)
    _box(axes, 2.3, 1.35, 3.0, f"scores of one tile\n{tile} × {tile}", palette.muted)
    axes.text(3.8, 1.2, "then discarded", ha="center", va="top", size=7.8, color=palette.ink)
    axes.text(8.6, 3.15, "kept on chip\nfor all tiles", ha="center", va="top", size=7.8, color=palette.ink)
    for begin, end, color in (
        ((1.6, 3.3), (2.9, 2.15), palette.query),
        ((3.7, 3.3), (3.7, 2.15), palette.key),
        ((5.3, 1.75), (7.7, 3.4), palette.muted),
        ((6.5, 3.3), (6.9, 2.85), palette.value),
    ):
        _arrow(axes, begin, end, color)
    text = f"numbers moved for one head: {_short(tiled)}\n(with the score matrix stored: {_short(stored)})"
    axes.text(5, -0.05, text, ha="center", va="top", size=8.5, color=palette.ink)
    bare(axes, xlim=(0, 10), ylim=(-0.95, 11.8))
    figure.set_label(
        f"Large memory above, the chip below. A block of {tile} of {n_queries:,} queries is read once and stays on the "
        f"chip; tiles of {tile} of {n_keys:,} keys and values are read in turn; their scores are discarded; m, l and z "
        f"stay; outputs are written once. On the chip: {on_chip:,} numbers. Moved: {_short(tiled)} numbers, "
        f"{_short(stored)} with the score matrix."
    )
    return figure


_COLUMNS = ((0.5, "$Q$", "query"), (2.9, "$K$", "key"), (5.3, "$V$", "value"), (7.8, "$Z$", "mixed"))
_SAID = {
    "$Q$": "read once",
    "$K$": "read for\neach block",
    "$V$": "read for\neach block",
    "$Z$": "$z / l$ written\nonce",
}
_STRIPS = 6
"""How many blocks or tiles are drawn, whatever their number is."""
_SHOWN = 1
"""Which of them is on the chip, from the top."""


def _short(count: int) -> str:
    """Write a count in millions, or in full where it is small."""
    return f"{count / 1e6:.1f} million" if count >= 1e6 else f"{count:,}"


def _room(axes: Axes, bottom: float, height: float, name: str, palette: Palette) -> None:
    axes.add_patch(Rectangle((0.1, bottom), 9.8, height, fill=False, edgecolor=palette.muted, linewidth=1.2))
    at = bottom + height + 0.1 if bottom > 5 else bottom + 0.12  # above the upper room, inside the lower one
    axes.text(0.3, at, name, ha="left", va="bottom", size=8.5, color=palette.ink, weight="bold")


def _stack(axes: Axes, x: float, color: str) -> None:
    """Draw a matrix as strips, one of them filled."""
    height = 2.9 / _STRIPS
    for strip in range(_STRIPS):
        bottom = 10.1 - (strip + 1) * height
        box = Rectangle((x, bottom), 1.6, height, edgecolor=color, linewidth=1.1)
        box.set_facecolor(color if strip == _SHOWN else "none")
        axes.add_patch(box)


def _box(axes: Axes, x: float, bottom: float, width: float, name: str, color: str) -> None:
    axes.add_patch(Rectangle((x, bottom), width, 0.8, fill=False, edgecolor=color, linewidth=1.6))
    axes.text(x + width / 2, bottom + 0.4, name, ha="center", va="center", size=7.8, color=color)


def _arrow(axes: Axes, begin: tuple[float, float], end: tuple[float, float], color: str) -> None:
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=end, xytext=begin, arrowprops=style)


SHOWN = {
    "full": "score matrix",
    "tiled": "tiles, in Python",
    "torch": "tiles, in torch",
    "local": "window",
    "linear": "linear",
}
"""What is drawn of a record, and its name on the page."""
WITHOUT_MEMORY = ("torch",)
"""What is drawn in time only: at most lengths it took a page of memory or none, which is too little to compare."""


def long_attention(measured: Mapping[str, Any], *, palette: Palette) -> Figure:
    """Draw time and memory that ``softlookup bench long-attention`` measured."""
    figure, (time_axes, memory_axes) = several_panels(7.2, 3.5, 1, 2)
    lengths = np.asarray(measured["lengths"])
    _panel(time_axes, lengths, measured["seconds"], 1e-3, "milliseconds", palette)
    peak_bytes = {way: sizes for way, sizes in measured["bytes"].items() if way not in WITHOUT_MEMORY}
    _panel(memory_axes, lengths, peak_bytes, 1e6, "megabytes", palette)
    time_axes.set_title("time")
    memory_axes.set_title("peak memory")
    last = {way: [seconds for seconds in measured["seconds"][way] if seconds is not None] for way in SHOWN}
    description = "; ".join(
        f"{name}: {1e3 * last[way][-1]:,.0f} ms at {lengths[len(last[way]) - 1]:,} tokens"
        for way, name in SHOWN.items()
    )
    figure.set_label(f"Time and memory of attention against the number of tokens, all axes logarithmic. {description}.")
    return figure


def _panel(
    axes: Axes, lengths: np.ndarray, measurements: Mapping[str, Any], unit: float, name: str, palette: Palette
) -> None:
    ends = []
    query, key, value, mixed = palette.series
    styles = {"full": (query, "o-"), "tiled": (key, "s-"), "torch": (key, "v--"), "local": (value, "D-")}
    for way, label in SHOWN.items():
        if way not in measurements:
            continue
        color, mark = styles.get(way, (mixed, "^-"))
        # A call that held nothing measurable has no place on a logarithmic axis.
        points = [(n, value / unit) for n, value in zip(lengths, measurements[way], strict=True) if value]
        if not points:
            continue
        x, y = zip(*points, strict=True)
        axes.loglog(x, y, mark, color=color, markersize=4)
        ends.append((y[-1], x[-1], label, color))
    height = 0.0
    low, high = axes.get_ylim()
    gap = (high / low) ** 0.07
    for level, _, label, color in sorted(ends):
        height = max(level, height * gap)
        axes.text(lengths[-1] * 1.2, height, label, color=color, va="center", size=9)
    axes.set_xlim(lengths[0] * 0.8, lengths[-1] * 20)
    ticks = lengths[::-1][::2][::-1]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks], size=8)
    axes.minorticks_off()
    axes.set(xlabel="tokens $T$", ylabel=name)
    axes.grid(axis="y")
