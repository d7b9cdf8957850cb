"""Which tokens run through the model at each step of writing, with a cache and without."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def passes(prompt: int, new: int, *, palette: Palette) -> Figure:
    """Draw a row for each step and a cell for each token: run through the model, or kept from before.

    The last of the ``new`` tokens is not fed in. Two panels side by side: all again at every step, and with a cache. A
    ValueError if prompt or new is below 1.
    """
    if prompt < 1 or new < 1:
        raise ValueError(f"wanted a prompt and new tokens of at least 1; got {prompt} and {new}")
    last = prompt + new - 1
    figure = Figure(figsize=(max(4.4, 0.62 * last + 1.6), 0.34 * new + 1.5))
    again, cached = figure.subplots(1, 2)
    totals = []
    for axes, title, keeps in ((again, "without a cache", False), (cached, "with a cache", True)):
        total = _draw(axes, prompt, new, palette, keeps=keeps)
        axes.set_title(f"{title}:\n{total} tokens")
        totals.append(total)
    figure.set_label(
        f"Tokens that run through the model while {new} are generated after a prompt of {prompt}, a row for each step. "
        f"Without a cache: {', '.join(str(prompt + i) for i in range(new))}, {totals[0]} in all. With a "
        f"cache: {', '.join(['' + str(prompt)] + ['1'] * (new - 1))}, {totals[1]} in all; the keys "
        "and values of the others are cached."
    )
    return figure


def _draw(axes: Axes, prompt: int, new: int, palette: Palette, *, keeps: bool) -> int:
    total = 0
    for step in range(new):
        for place in range(prompt + step):
            runs = not keeps or step == 0 or place == prompt + step - 1
            total += runs
            box = (place + 0.06, step + 0.06), 0.88, 0.88
            if runs:
                axes.add_patch(Rectangle(*box, facecolor=palette.query, linewidth=0))
            else:
                axes.add_patch(Rectangle(*box, facecolor=palette.faint, linewidth=0))
                axes.text(place + 0.5, step + 0.5, "cached", ha="center", va="center", size=8, color=palette.ink)
    last = prompt + new - 1
    axes.set(xlim=(0, last), ylim=(new, 0), xlabel="position of the token", aspect="equal")
    axes.set_xticks([i + 0.5 for i in range(last)], [str(i) for i in range(last)])
    axes.set_yticks([i + 0.5 for i in range(new)], [f"step {i + 1}" for i in range(new)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return total
