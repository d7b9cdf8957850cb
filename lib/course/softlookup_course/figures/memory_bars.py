"""What a training run holds, in bytes."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def memory_bars(recipes: Mapping[str, Mapping[str, float]], *, palette: Palette) -> Figure:
    """Draw a stacked bar for each way of training: bytes per parameter of each part, by name.

    The names are the same in all. Bars are horizontal, each part with its number.
    """
    figure = Figure(figsize=(6.6, 0.62 * len(recipes) + 1.0))
    axes = figure.subplots()
    names = list(dict.fromkeys(name for parts in recipes.values() for name in parts))
    colors = dict(zip(names, (*palette.series, palette.muted), strict=False))
    for y, parts in enumerate(recipes.values()):
        left = 0.0
        for name, width in parts.items():
            if not width:
                continue
            axes.barh(y, width, left=left, height=0.62, color=colors[name], alpha=0.35, edgecolor=palette.paper)
            axes.text(left + width / 2, y, f"{width:g}", ha="center", va="center", size=9.5, color=palette.ink)
            if y == 0 or not any(list(earlier.values())[names.index(name)] for earlier in list(recipes.values())[:y]):
                axes.text(left + width / 2, y - 0.36, name, ha="center", va="bottom", size=8, color=palette.ink)
            left += width
        axes.text(left + 0.15, y, f"= {left:g}", va="center", size=9.5, weight="bold", color=palette.ink)
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
