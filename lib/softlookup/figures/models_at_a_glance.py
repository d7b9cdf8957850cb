"""What a long text costs in memory, against the parameters that work on a token: a dot for each model."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from softlookup.figures.theme import Palette


def models_at_a_glance(
    kinds: Mapping[str, Sequence[tuple[float, float]]], names: Mapping[str, tuple[float, float]], *, palette: Palette
) -> Figure:
    """Draw models as dots, in a colour for each kind of memory.

    Args:
        kinds: For each kind of model, (parameters at work on a token, bytes that a long text takes) of each.
        names: Where to write which name.

    Returns:
        One panel with logarithmic axes.

    Raises:
        ValueError: If a number is not above 0: it has no place on a logarithmic axis.
    """
    for kind, points in kinds.items():
        if bad := [point for point in points if min(point) <= 0]:
            raise ValueError(f"{kind}: {bad[0]}; wanted numbers above 0")
    figure = Figure(figsize=(6.8, 4.4))
    axes = figure.subplots()
    descriptions = []
    for (kind, points), color, marker in zip(kinds.items(), palette.series, "os^D", strict=False):
        active, memory = zip(*points, strict=True)
        axes.plot(active, memory, marker, color=color, markersize=5, alpha=0.8, markeredgewidth=0, label=kind)
        descriptions.append(f"{kind}: {len(points)} models, {min(memory):.2g} to {max(memory):.2g} bytes")
    for name, point in names.items():
        axes.annotate(name, point, (5, 3), textcoords="offset points", size=8, color=palette.ink)
    axes.set(xscale="log", yscale="log", xlabel="parameters at work on a token", ylabel="bytes for the text")
    axes.legend(loc="lower right", fontsize=9)
    axes.grid(alpha=0.6)
    axes.set_axisbelow(True)
    figure.set_label(f"Memory of a long text against active parameters. {'; '.join(descriptions)}.")
    return figure
