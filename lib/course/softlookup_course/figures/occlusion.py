"""What is left when parts of the input are hidden, in several orders."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def occlusion(hidden: Sequence[int], right: Mapping[str, Sequence[float]], *, palette: Palette) -> Figure:
    """Draw the share that is read rightly against how many patches are hidden, for each order of hiding.

    ``hidden`` increases; ``right`` is per cent at each of them, by order. Each curve is named at its end. If there are
    more than four orders, or a curve of another length, a ValueError counts.
    """
    counts = list(hidden)
    if not 1 <= len(right) <= 4 or any(len(curve) != len(counts) for curve in right.values()):
        lengths = {name: len(curve) for name, curve in right.items()}
        raise ValueError(f"wanted 1 to 4 curves of {len(counts)} points; got {lengths}")
    figure = Figure(figsize=(6.2, 3.3))
    axes = figure.subplots()
    ends: list[tuple[float, str, str]] = []
    for (name, curve), color, mark in zip(right.items(), palette.series, "osD^", strict=False):
        axes.plot(counts, curve, mark + "-", color=color, markersize=5)
        ends.append((float(curve[-1]), name, color))
    place = -1e9
    for level, name, color in sorted(ends):
        place = max(level, place + 7.5)
        axes.text(counts[-1] + 0.35, place, name, color=color, va="center", size=9)
    axes.set(xlabel="patches hidden", ylabel="accuracy, in per cent", ylim=(0, 104))
    axes.set_xlim(counts[0] - 0.3, counts[-1] + (counts[-1] - counts[0]) * 0.52)
    axes.set_xticks(counts)
    axes.grid(axis="y")
    described = "; ".join(f"{name}: {', '.join(f'{value:.0f}' for value in curve)}" for name, curve in right.items())
    figure.set_label(
        f"Accuracy in per cent when {', '.join(map(str, counts))} patches are hidden, by the order of "
        f"hiding. {described}."
    )
    return figure
