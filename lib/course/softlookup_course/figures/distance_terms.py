"""What methods of relative positions add to a score, by the distance from query to key."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def distance_terms(terms: Mapping[str, Mapping[str, np.ndarray]], trained: int, *, palette: Palette) -> Figure:
    """Draw the term that is added to a score at each distance, for keys that came before.

    For each of up to four titles one or two curves by their names, with the term at distances 0, -1, -2, ..., all of
    one length; an empty name is not written. Panels stand above each other, over one axis of distances; those beyond
    the ``trained`` positions are shaded. A ValueError if there is no title, or more than four.
    """
    if not 1 <= len(terms) <= len(palette.series):
        raise ValueError(f"wanted one to {len(palette.series)} titles; got {len(terms)}")
    figure = Figure(figsize=(4.6, 0.9 + 1.45 * len(terms)))  # as wide as a phone
    panels = np.atleast_1d(figure.subplots(len(terms), 1, sharex=True))
    descriptions = []
    for axes, (title, curves), color in zip(panels, terms.items(), palette.series, strict=False):
        for (name, curve), dash in zip(curves.items(), ("-", "--"), strict=False):
            reach = len(curve) - 1
            axes.step(-np.arange(reach + 1), curve, dash, where="mid", color=color, linewidth=1.7)
            axes.text(0.8 - reach, curve[-1], name, color=color, va="bottom", size=9)
            peak = -int(np.argmax(curve)) + 0
            descriptions.append(f"{title} {name}".rstrip() + f", largest at {peak} and {curve[-1]:.1f} at {-reach}")
        axes.axvspan(-reach - 0.5, 0.5 - trained, color=palette.faint, alpha=0.4, linewidth=0)
        axes.set_title(title, size=10, loc="left")
        axes.margins(y=0.18)
        axes.grid(axis="y")
        axes.locator_params(axis="y", nbins=4)
    middle = panels[len(panels) // 2]
    shade = {"transform": middle.get_xaxis_transform(), "color": palette.muted, "size": 8.5}
    middle.text(1.3 - reach, 0.93, "never met in training", ha="left", va="top", **shade)
    middle.set_ylabel("added to the score")
    panels[-1].set(xlabel="distance from the query to the key", xlim=(-reach - 0.5, 0.5))
    figure.set_label(f"The term for the distance, which is added to a score: {'; '.join(descriptions)}.")
    return figure
