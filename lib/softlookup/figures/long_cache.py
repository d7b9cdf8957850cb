"""What each change of a model leaves of its cache for a long text."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from softlookup.figures.theme import Palette


def long_cache(gigabytes: Mapping[str, float], room: float, *, palette: Palette) -> Figure:
    """Draw the size of a cache for each way of storing it, beside the memory that is free.

    Args:
        gigabytes: The size of the cache in GB by the name of the change, the unchanged model first.
        room: What the weights leave free in a card's memory, in GB.

    Returns:
        One panel of horizontal bars, each with its size, and a line where the memory ends.

    Raises:
        ValueError: If there are fewer than two ways, or a size or the room is not positive.
    """
    names, sizes = list(gigabytes), list(gigabytes.values())
    if len(names) < 2 or min(*sizes, room) <= 0:
        raise ValueError(f"wanted two ways or more, and positive sizes; got {dict(gigabytes)} and room for {room}")
    figure = Figure(figsize=(6.6, 0.42 * len(names) + 1.0), layout="constrained")
    axes = figure.subplots()
    colors = [palette.key, *[palette.query] * (len(names) - 1)]
    axes.barh(range(len(names)), sizes, color=colors, height=0.62)
    for row, size in enumerate(sizes):
        text = f" {size:.1f} GB" if size < 9.95 else f" {size:.0f} GB"
        axes.text(size, row, text, va="center", ha="left", color=palette.ink)
    axes.axvline(room, color=palette.alarm, linestyle="--", linewidth=1.2)
    axes.text(room - 0.8, len(names) - 1, f"memory ends: {room:.0f} GB", color=palette.alarm, va="center", ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set(xlim=(0, 1.2 * max(*sizes, room)), ylim=(len(names) - 0.4, -0.6), xticks=[])
    axes.tick_params(length=0)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    described = "; ".join(f"{name.replace(chr(10), ' ')} {size:.1f}" for name, size in gigabytes.items())
    figure.set_label(f"GB of cache for one long text, where {room:.0f} GB are free: {described}.")
    return figure
