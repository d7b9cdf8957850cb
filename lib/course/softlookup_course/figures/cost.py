"""What the square of scores costs in memory."""

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))


def with_unit(n_bytes: float) -> str:
    """Write a number of bytes in the largest of bytes, kB, MB and GB (powers of 1000) that leaves at least one.

    >>> with_unit(4_000_000)
    '4 MB'
    """
    for size, unit in _UNITS:
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes:.3g} bytes"


def score_memory(lengths: np.ndarray, head_width: int, bytes_per_number: int, *, palette: Palette) -> Figure:
    """Draw the memory of the scores of one head beside that of its queries, keys and values.

    ``lengths`` T (with S = T) increase; ``head_width`` is H. Both axes are logarithmic, the lines named at their ends.
    """
    lengths = np.asarray(lengths, dtype=float)
    scores_bytes = lengths**2 * bytes_per_number
    vectors_bytes = 3 * lengths * head_width * bytes_per_number
    figure = Figure(figsize=(4.4, 3.3))
    figure.set_label(
        f"Memory against sequence length, both axes logarithmic. At {lengths[0]:,.0f} tokens the scores "
        f"take {with_unit(scores_bytes[0])}, and Q, K and V {with_unit(vectors_bytes[0])}; at "
        f"{lengths[-1]:,.0f} tokens the scores take {with_unit(scores_bytes[-1])}, and Q, K and V "
        f"{with_unit(vectors_bytes[-1])}."
    )
    axes = figure.subplots()
    for series_bytes, name, color in (
        (scores_bytes, "scores\n$T^2$", palette.mixed),
        (vectors_bytes, "$Q, K, V$\n$3 T H$", palette.value),
    ):
        axes.loglog(lengths, series_bytes, "o-", color=color, markersize=5)
        axes.text(lengths[-1] * 1.35, series_bytes[-1], name, color=color, va="center")
    for length, n_bytes, other_bytes in list(zip(lengths, scores_bytes, vectors_bytes, strict=True))[1::2]:
        above = n_bytes > other_bytes  # on the side of the line that the other one is not
        away, side = ((-7, 3), "right") if above else ((8, -5), "left")
        write_beside(axes, with_unit(n_bytes), (length, n_bytes), away, ha=side, va="baseline", size=9)
    axes.set(xlabel="sequence length $T$", ylabel="bytes, one head, one sequence")
    axes.set_xlim(lengths[0] * 0.5, lengths[-1] * 4)
    axes.set_xticks(lengths, [f"{length:,.0f}" for length in lengths], size=7.5)
    axes.minorticks_off()
    axes.grid(axis="y")
    return figure
