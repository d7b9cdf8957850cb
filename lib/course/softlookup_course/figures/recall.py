"""How many keys a memory of fixed size tells apart."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def recall_curves(
    n_keys: Sequence[int], right: Mapping[str, Sequence[float]], rows: int, *, palette: Palette
) -> Figure:
    """Draw the fraction of right answers, from 0 to 1, of up to four memories against the number of keys.

    ``n_keys`` grow, on a logarithmic axis; a line marks the ``rows`` of the memories. Each curve is named where it
    begins. A ValueError if there is no memory, or more than four, or a curve has another length than ``n_keys``.
    """
    if not 1 <= len(right) <= len(palette.series) or any(len(curve) != len(n_keys) for curve in right.values()):
        raise ValueError(f"wanted one to {len(palette.series)} curves of {len(n_keys)} fractions")
    figure = Figure(figsize=(6.2, 2.8))
    axes = figure.subplots()
    for (name, curve), color, dash in zip(right.items(), palette.series, ("-", "--", "-.", ":"), strict=False):
        axes.plot(n_keys, curve, dash, marker="o", markersize=5, color=color)
        write_beside(axes, name, (n_keys[0], curve[0]), (0, 7), ha="left", va="baseline", color=color)
    axes.axvline(rows, color=palette.muted, linewidth=0.8, linestyle=":")
    axes.text(rows, 0.03, f"{rows} rows ", ha="right", va="bottom", size=9.5, color=palette.muted)
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(n_keys), [str(n) for n in n_keys])
    axes.set(xlabel="keys", ylabel="right answers", ylim=(0, 1.16), yticks=(0, 0.5, 1))
    axes.set_yticklabels(["0 %", "50 %", "100 %"])
    axes.grid(axis="y")
    ends = "; ".join(f"{name} {curve[0]:.0%} and {curve[-1]:.0%}" for name, curve in right.items())
    figure.set_label(f"Right answers of memories with {rows} rows, at {n_keys[0]} keys and at {n_keys[-1]}: {ends}.")
    return figure
