"""What memories of fixed size answer after each write: one that adds beside one that erases first."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.grid import draw_cell
from softlookup_course.figures.theme import Palette


def memory_answers(
    writes: Sequence[tuple[str, float]], answers: Mapping[str, np.ndarray], *, palette: Palette
) -> Figure:
    """Draw what each memory answers for each key, after one write and the next.

    A write is the key's name and the value. ``answers`` has for each memory, by its name, a table (writes, keys): what
    is read under a key after a write. Keys stand in the order of their first write.

    A panel for each memory has a row for each write and a column for each key. A cell with the newest value of its key
    is filled; another one is framed, with the newest value below it. Keys not written yet have empty cells. A
    ValueError if nothing is written, or a table has another shape.
    """
    keys = list(dict.fromkeys(key for key, _ in writes))
    shape = len(writes), len(keys)
    if not writes or not answers or any(np.shape(table) != shape for table in answers.values()):
        shapes = {name: np.shape(table) for name, table in answers.items()}
        raise ValueError(f"answers of shapes {shapes}; wanted memories with {shape[0]} writes and {shape[1]} keys")
    figure = Figure(figsize=(6.4, 0.9 + 0.5 * len(writes)))
    panels = figure.subplots(1, len(answers), squeeze=False)[0]
    descriptions = []
    for axes, (name, table) in zip(panels, answers.items(), strict=True):
        newest: dict[str, float] = {}
        for row, (key, value) in enumerate(writes):
            newest[key] = value
            axes.text(-0.15, 1.25 * row + 0.5, f"write {value:g} under {key}", ha="right", va="center", size=9)
            for column, read in enumerate(keys):
                answer = float(table[row][column])
                right = read in newest and abs(answer - newest[read]) < 1e-6
                text = f"{answer:.3g}".replace("-", "\N{MINUS SIGN}") if read in newest else ""
                draw_cell(axes, 1.1 * column, 1.25 * row, text, right, palette.query, palette)
                if read in newest and not right:
                    corner = 1.1 * column + 0.06, 1.25 * row + 0.06
                    axes.add_patch(Rectangle(corner, 0.88, 0.88, fill=False, edgecolor=palette.alarm, linewidth=1.8))
                    words, middle = f"not {newest[read]:g}", 1.1 * column + 0.5
                    axes.text(middle, 1.25 * row + 1.03, words, ha="center", va="top", size=8, color=palette.alarm)
        for column, read in enumerate(keys):
            axes.text(1.1 * column + 0.5, -0.12, f"read {read}", ha="center", va="bottom", size=9, color=palette.muted)
        axes.set_title(name)
        axes.set(xlim=(-2.6, 1.1 * len(keys)), ylim=(1.25 * len(writes) + 0.2, -0.6), aspect="equal")
        axes.set_axis_off()
        last = ", ".join(f"{float(answer):.3g} for {key}" for key, answer in zip(keys, table[-1], strict=True))
        descriptions.append(f"{name} answers {last}")
    order = ", ".join(f"{value:g} under {key}" for key, value in writes)
    figure.set_label(f"Memories after each of these writes: {order}. After the last, {'; '.join(descriptions)}.")
    return figure
