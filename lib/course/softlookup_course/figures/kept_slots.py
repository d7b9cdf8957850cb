"""Where a cache keeps positions: a ring that overwrites, and blocks that a table finds."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.grid import draw_cell
from softlookup_course.figures.theme import Palette


def ring_slots(window: int, first: int, last: int, *, palette: Palette) -> Figure:
    """Draw the W slots of a ring cache after each of several positions, from first to last, counted from 0.

    A row for each position, a column for each slot; in a cell stands the position that it holds. The cell just written
    is filled; a slot not written yet is empty. A ValueError if there is no slot or no position.
    """
    if window < 1 or not 0 <= first <= last:
        raise ValueError(f"window {window}, positions {first} to {last}; wanted a slot and a position at least")
    figure = Figure(figsize=(4.6, 0.55 + 0.34 * (last - first + 1)))
    axes = figure.subplots()
    descriptions = []
    for row, t in enumerate(range(first, last + 1)):
        positions = [
            next((p for p in range(t, max(t - window, -1), -1) if p % window == slot), None) for slot in range(window)
        ]
        for slot, position in enumerate(positions):
            draw_cell(axes, slot, row, "" if position is None else str(position), position == t, palette.query, palette)
        axes.text(-0.3, row + 0.5, f"position {t}", ha="right", va="center", size=9.5)
        what = f"overwrites {t - window}" if t >= window else "fills a slot"
        axes.text(window + 0.3, row + 0.5, what, ha="left", va="center", size=9.5, color=palette.muted)
        descriptions.append(f"after position {t} the slots hold {[p for p in positions if p is not None]}")
    for slot in range(window):
        axes.text(slot + 0.5, -0.2, f"slot {slot}", ha="center", va="bottom", size=9, color=palette.muted)
    axes.set(xlim=(-3.0, window + 3.4), ylim=(last - first + 1.1, -0.9))
    axes.set_axis_off()
    figure.set_label(f"A ring of {window} slots: {'; '.join(descriptions)}.")
    return figure


def block_tables(
    tables: Mapping[str, Sequence[int]], lengths: Sequence[int], blocks: int, size: int, *, palette: Palette
) -> Figure:
    """Draw the blocks of several sequences, and where each of them lies in memory.

    For each of two sequences at most, by its name, its blocks' numbers in the order of its text; ``lengths`` are in
    positions, of which a block has ``size``. The memory is in the middle, a sequence's blocks above it and another's
    below, joined by lines; cells that hold a position are filled. A ValueError if there are no or more than two
    sequences, a length does not fit its blocks, or a block is not in memory.
    """
    if not 1 <= len(tables) <= 2 or len(lengths) != len(tables):
        raise ValueError(f"{len(tables)} sequences with {len(lengths)} lengths; wanted one or two of each")
    for (name, table), length in zip(tables.items(), lengths, strict=True):
        if not (len(table) - 1) * size < length <= len(table) * size or not all(0 <= b < blocks for b in table):
            raise ValueError(f"{name}: {length} positions in the blocks {list(table)} of {size}, of {blocks} in memory")
    figure = Figure(figsize=(6.6, 1.3 + 1.25 * len(tables)))
    axes = figure.subplots()
    wide, memory = size + 0.8, 3.2
    users = [[i for i, table in enumerate(tables.values()) if b in table] for b in range(blocks)]
    filled = [0] * blocks
    colors = palette.query, palette.key
    descriptions = []
    for i, ((name, table), length) in enumerate(zip(tables.items(), lengths, strict=True)):
        y, end = (0.0, 1.0) if i == 0 else (2 * memory, 2 * memory)
        left = wide * (blocks - len(table)) / 2
        for at, b in enumerate(table):
            inside = min(size, length - at * size)
            filled[b] = max(filled[b], inside)
            x = left + at * wide
            for j in range(size):
                text = str(at * size + j) if j < inside else ""
                draw_cell(axes, x + j, y, text, j < inside, colors[i], palette)
            to = memory if i == 0 else memory + 1
            axes.plot([x + size / 2, b * wide + size / 2], [end, to], color=colors[i], linewidth=1.4)
        axes.text(left - 0.4, y + 0.5, name, ha="right", va="center", size=9.5, color=colors[i])
        descriptions.append(f"{name} has {length} positions in the blocks {list(table)}")
    for b in range(blocks):
        shared = len(users[b]) > 1
        color = palette.mixed if shared else colors[users[b][0]] if users[b] else palette.faint
        for j in range(size):
            draw_cell(axes, b * wide + j, memory, "", j < filled[b], color, palette)
        word = f"block {b}" + (", shared" if shared else "")
        box = {"facecolor": palette.paper, "edgecolor": "none", "pad": 1.2}  # lines pass behind the word
        center = b * wide + size / 2
        axes.text(center, memory + 1.2, word, ha="center", va="top", size=9, color=palette.muted, bbox=box)
    axes.set(xlim=(-4.2, blocks * wide), ylim=(memory * len(tables) + 1.4, -0.4))
    axes.set_axis_off()
    both = [b for b in range(blocks) if len(users[b]) > 1]
    figure.set_label(f"Blocks of {size} positions. {'; '.join(descriptions)}. Shared: {both}.")
    return figure


def draft_round(p: Sequence[float] | np.ndarray, q: Sequence[float] | np.ndarray, *, palette: Palette) -> Figure:
    """Draw what a speculative step keeps of a draft, and what it draws instead.

    p are probabilities of the large model, q those of the draft; a ValueError if they are no distributions over the
    same tokens. For each token a bar of q and one of p: the part that both have is filled in both; what p has more (the
    residual) is hatched in p's bar, what q has more is empty in q's.
    """
    large, draft = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    sums = large.sum(), draft.sum()
    if (
        large.shape != draft.shape
        or large.ndim != 1
        or min(large.min(), draft.min()) < 0
        or not np.allclose(sums, 1, atol=1e-5)
    ):
        raise ValueError(
            f"p of shape {large.shape} and q of shape {draft.shape}; wanted two distributions over the same tokens"
        )
    both = np.minimum(large, draft)
    figure = Figure(figsize=(5.6, 3.0))
    axes = figure.subplots()
    for token in range(len(large)):
        for x, whole, color, name in (
            (token - 0.21, draft, palette.key, "q"),
            (token + 0.21, large, palette.query, "p"),
        ):
            axes.bar(x, both[token], 0.38, color=color, alpha=0.45)
            more = whole[token] - both[token]
            hatch = "////" if name == "p" else ""
            axes.bar(x, more, 0.38, bottom=both[token], fill=False, edgecolor=color, hatch=hatch, linewidth=1.2)
            axes.bar(x, whole[token], 0.38, fill=False, edgecolor=color, linewidth=1.2)
            axes.text(
                x, whole[token] + 0.01, f"${name}$ {whole[token]:.2g}", ha="center", va="bottom", size=9, color=color
            )
            if more > 0.04:
                word = "residual" if name == "p" else "rejected"
                box = {"facecolor": palette.paper, "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
                axes.text(x, both[token] + more / 2, word, ha="center", va="center", size=8, color=color, bbox=box)
    axes.set_xticks(range(len(large)), [f"token {i}" for i in range(len(large))])
    axes.set(ylim=(0, 1.18 * max(large.max(), draft.max())), ylabel="probability")
    axes.tick_params(axis="x", length=0)
    figure.set_label(
        f"For each token the draft's probability q and the large model's p. Both have {both.sum():.2g}, which is kept. "
        f"The residual, where p is larger: {', '.join(f'{x:.2g}' for x in large - both)}."
    )
    return figure
