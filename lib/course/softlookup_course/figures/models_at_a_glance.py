"""What a long text costs in memory, against the parameters that work on a token: a dot for each model."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def models_at_a_glance(
    kinds: Mapping[str, Sequence[tuple[float, float, str]]],
    names: Mapping[str, tuple[float, float]],
    *,
    palette: Palette,
) -> Figure:
    """Draw models as dots, in a shape for each kind of memory and a colour for each age, on logarithmic axes.

    Each is (parameters at work on a token, bytes for each token of a text, age); ``names`` is where to write which
    name. A number that is not above 0, which has no place there, is a ValueError.
    """
    for kind, points in kinds.items():
        if bad := [point for point in points if min(point[:2]) <= 0]:
            raise ValueError(f"{kind}: {bad[0]}; wanted numbers above 0")
    figure = Figure(figsize=(6.8, 4.8))
    axes = figure.subplots()
    ages = sorted({age for points in kinds.values() for *_, age in points})
    colors = dict(zip(ages, palette.series, strict=False))
    shapes = dict(zip(kinds, "os^D", strict=False))
    descriptions = []
    for kind, points in kinds.items():
        for active, memory, age in points:
            axes.plot(active, memory, shapes[kind], color=colors[age], markersize=5, alpha=0.8, markeredgewidth=0)
        memories = [memory for _, memory, _ in points]
        descriptions.append(f"{kind}: {len(points)} models, {min(memories):.2g} to {max(memories):.2g} bytes")
    halo = [withStroke(linewidth=2.5, foreground=palette.paper)]  # a name may lie over other models' dots
    for name, point in names.items():
        write_beside(axes, name, point, (5, 3), va="baseline", size=8, color=palette.ink, path_effects=halo)
    axes.margins(x=0.1)  # for a name beside the last dot
    axes.set(xscale="log", yscale="log", xlabel="parameters at work on a token", ylabel="bytes for each token")
    of_kind = [
        Line2D([], [], color=palette.muted, marker=mark, linestyle="", label=kind) for kind, mark in shapes.items()
    ]
    of_age = [Line2D([], [], color=color, marker="o", linestyle="", label=age) for age, color in colors.items()]
    axes.add_artist(axes.legend(handles=of_kind, loc="lower right", fontsize=9))
    axes.legend(handles=of_age, loc="upper left", fontsize=9)
    axes.grid(alpha=0.6)
    axes.set_axisbelow(True)
    figure.set_label(f"Memory of a long text against active parameters. {'; '.join(descriptions)}.")
    return figure
