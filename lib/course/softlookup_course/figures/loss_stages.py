"""The validation loss of a training that went in stages."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def loss_stages(stages: Mapping[str, Sequence[Sequence[float]]], *, palette: Palette) -> Figure:
    """Draw validation losses, one stage behind the other.

    Each stage has (step, loss) pairs, and steps begin anew in each. The loss stands against all steps made so far, a
    colour for each stage, its name and best loss on the line.
    """
    figure = Figure(figsize=(6.6, 3.2))
    axes = figure.subplots()
    before, descriptions = 0.0, []
    for k, (name, points) in enumerate(stages.items()):
        steps, losses = [before + p[0] for p in points], [p[1] for p in points]
        color = palette.series[k % 4]
        axes.plot(steps, losses, color=color)
        if k:
            axes.axvline(before, color=palette.faint, linewidth=1, zorder=0)
        low = min(losses)
        write_beside(axes, f"{name}\n{low:.2f}", (steps[-1], losses[-1]), (-3, 9), size=9, color=color)
        descriptions.append(f"{name} ends at {low:.2f}")
        before = steps[-1]
    axes.set_yscale("log")
    axes.set_yticks([1, 1.5, 2, 3, 4], ["1", "1.5", "2", "3", "4"])
    axes.minorticks_off()
    axes.set(xlabel="step, over all stages", ylabel="validation loss (nats per token)")
    figure.set_label(f"Validation loss against steps. {'; '.join(descriptions)}.")
    return figure
