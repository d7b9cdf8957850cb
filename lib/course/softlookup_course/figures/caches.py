"""Caches and memories: where they keep positions, which keys are read, and what they answer."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.grid import draw_cell
from softlookup_course.figures.marks import bare, draw_arrow, one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette, ramp


def ring_slots(window: int, first: int, last: int, *, palette: Palette) -> Figure:
    """Draw the slots of a ring cache, a row for each position from first to last, the cell just written filled."""
    figure, axes = one_panel(4.6, 0.55 + 0.34 * (last - first + 1))
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
    bare(axes, xlim=(-3.0, window + 3.4), ylim=(last - first + 1.1, -0.9))
    figure.set_label(f"A ring of {window} slots: {'; '.join(descriptions)}.")
    return figure


def block_tables(
    tables: Mapping[str, Sequence[int]], lengths: Sequence[int], blocks: int, size: int, *, palette: Palette
) -> Figure:
    """Draw the blocks of one or two sequences, by number, and where they lie in memory; lengths in positions."""
    figure, axes = one_panel(6.6, 1.3 + 1.25 * len(tables))
    wide, memory = size + 0.8, 3.2
    users = [[i for i, table in enumerate(tables.values()) if b in table] for b in range(blocks)]
    filled = [0] * blocks
    colors = palette.query, palette.key
    descriptions = []
    for i, ((name, table), length) in enumerate(zip(tables.items(), lengths, strict=True)):
        y, end = (0.0, 1.0) if i == 0 else (2 * memory, 2 * memory)
        start = wide * (blocks - len(table)) / 2
        for at, b in enumerate(table):
            inside = min(size, length - at * size)
            filled[b] = max(filled[b], inside)
            x = start + at * wide
            for j in range(size):
                text = str(at * size + j) if j < inside else ""
                draw_cell(axes, x + j, y, text, j < inside, colors[i], palette)
            to = memory if i == 0 else memory + 1
            axes.plot([x + size / 2, b * wide + size / 2], [end, to], color=colors[i], linewidth=1.4)
        axes.text(start - 0.4, y + 0.5, name, ha="right", va="center", size=9.5, color=colors[i])
        descriptions.append(f"{name} has {length} positions in the blocks {list(table)}")
    for b in range(blocks):
        shared = len(users[b]) > 1
        color = palette.mixed if shared else colors[users[b][0]] if users[b] else palette.faint
        for j in range(size):
            draw_cell(axes, b * wide + j, memory, "", j < filled[b], color, palette)
        label = f"block {b}" + (", shared" if shared else "")
        box = {"facecolor": palette.paper, "edgecolor": "none", "pad": 1.2}  # lines pass behind the word
        center = b * wide + size / 2
        axes.text(center, memory + 1.2, label, ha="center", va="top", size=9, color=palette.muted, bbox=box)
    bare(axes, xlim=(-4.2, blocks * wide), ylim=(memory * len(tables) + 1.4, -0.4))
    both = [b for b in range(blocks) if len(users[b]) > 1]
    figure.set_label(f"Blocks of {size} positions. {'; '.join(descriptions)}. Shared: {both}.")
    return figure


def draft_round(p: Sequence[float] | np.ndarray, q: Sequence[float] | np.ndarray, *, palette: Palette) -> Figure:
    """Draw what a speculative step keeps of a draft's q, and the residual of the large model's p, by token."""
    large, draft = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    both = np.minimum(large, draft)
    figure, axes = one_panel(5.6, 3.0)
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
                label = "residual" if name == "p" else "rejected"
                box = {"facecolor": palette.paper, "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
                axes.text(x, both[token] + more / 2, label, ha="center", va="center", size=8, color=color, bbox=box)
    axes.set_xticks(range(len(large)), [f"token {i}" for i in range(len(large))])
    axes.set(ylim=(0, 1.18 * max(large.max(), draft.max())), ylabel="probability")
    axes.tick_params(axis="x", length=0)
    figure.set_label(
        f"For each token the draft's probability q and the large model's p. Both have {both.sum():.2g}, which is kept. "
        f"The residual, where p is larger: {', '.join(f'{x:.2g}' for x in large - both)}."
    )
    return figure


def chosen_keys(
    sums: Sequence[float] | np.ndarray,
    visible: Sequence[bool] | np.ndarray,
    chosen: Mapping[str, Sequence[int]],
    *,
    palette: Palette,
) -> Figure:
    """Draw an indexer's sums for one query, and by orders of steps which chosen keys attention then reads."""
    bars, sees = np.asarray(sums, dtype=float), np.asarray(visible, dtype=bool)
    figure, axes = one_panel(6.0, 2.5 + 0.42 * len(chosen))
    top = float(bars.max()) or 1.0
    for token, height in enumerate(bars):
        style = {"color": palette.query} if sees[token] else {"fill": False, "ec": palette.muted, "hatch": "////"}
        axes.bar(token, height / top, width=0.66, alpha=0.6, **style)
        axes.text(token, height / top + 0.02, f"{height:.2f}", ha="center", va="bottom", size=8.5)
    descriptions = []
    for row, (name, tokens) in enumerate(chosen.items()):
        y = -0.42 - 0.3 * row
        for token in range(len(bars)):
            full = token in tokens and bool(sees[token])
            box = (token - 0.33, y), 0.66, 0.2
            axes.add_patch(Rectangle(*box, fill=False, edgecolor=palette.faint, linewidth=0.9))
            if full:
                axes.add_patch(Rectangle(*box, facecolor=palette.mixed, alpha=0.7, edgecolor="none"))
            elif token in tokens:
                for ends in ([y, y + 0.2], [y + 0.2, y]):
                    axes.plot([token - 0.25, token + 0.25], ends, color=palette.alarm, linewidth=1.4)
        axes.text(-0.6, y + 0.1, name, ha="right", va="center", size=9)
        reads = [token for token in tokens if sees[token]]
        descriptions.append(f"{name}, attention reads the keys {sorted(map(int, reads))}")
    for token in range(len(bars)):
        axes.text(token, -0.04, str(token), ha="center", va="top", size=9, color=palette.muted)
    axes.text(-0.6, -0.04, "token", ha="right", va="top", size=9, color=palette.muted)
    axes.text(-0.6, 0.4, "indexer's sum", ha="right", va="center", size=9)
    if not sees.all():
        future = np.flatnonzero(~sees)
        axes.text(future.mean(), 1.16, "future", ha="center", va="bottom", size=9, color=palette.muted)
    bare(axes, xlim=(-3.4, len(bars) - 0.4), ylim=(-0.5 - 0.3 * (len(chosen) - 1), 1.3))
    figure.set_label(
        f"An indexer's sums for {len(bars)} tokens, {int((~sees).sum())} of them in the query's future, and the keys "
        f"that attention reads. {'; '.join(descriptions)}."
    )
    return figure


def latent_queries(
    without: Sequence[float] | np.ndarray, rotated: Sequence[Sequence[float]] | np.ndarray, *, palette: Palette
) -> Figure:
    """Draw latent queries in the plane: one without positions, and (distances, 2) with the rotation of each."""
    single, fan = np.asarray(without, dtype=float), np.asarray(rotated, dtype=float)
    figure, (left, right) = several_panels(6.2, 2.0, 1, 2)
    size = 1.3 * float(np.hypot(*fan.T).max())
    left.set_title("without positions")
    _arrow(left, single, "every distance", palette.query)
    right.set_title("with rotary positions")
    for distance, tip in enumerate(fan):
        _arrow(right, tip, str(distance), palette.series[distance % 4])
    for axes in (left, right):
        axes.plot(0, 0, "o", color=palette.muted, markersize=4)
        axes.axhline(0, color=palette.faint, linewidth=0.8, zorder=0)
        axes.axvline(0, color=palette.faint, linewidth=0.8, zorder=0)
        low, high = min(0.0, float(fan[:, 1].min())), float(max(fan[:, 1].max(), single[1]))
        bare(axes, xlim=(-size, size), ylim=(low - 0.12 * size, high + 0.28 * size), aspect="equal")
    figure.set_label(
        "Latent queries as arrows in the plane. Without positions a single arrow serves the keys at every distance. "
        f"With rotary positions there are {len(fan)} arrows, one for each of the distances 0 to {len(fan) - 1}."
    )
    return figure


def _arrow(axes: Axes, tip: np.ndarray, words: str, color: str) -> None:
    draw_arrow(axes, (0, 0), (tip[0], tip[1]), color, 1.6)
    x, y = 1.07 * tip
    side = "left" if tip[0] > 0.3 * abs(tip[1]) else "right" if tip[0] < -0.3 * abs(tip[1]) else "center"
    axes.text(x, y, words, ha=side, va="bottom", size=9, color=color)


def memory_answers(
    writes: Sequence[tuple[str, float]], answers: Mapping[str, np.ndarray], *, palette: Palette
) -> Figure:
    """Draw what each memory, by name, answers for each key after each write (key, value): tables (writes, keys)."""
    keys = list(dict.fromkeys(key for key, _ in writes))
    figure, panels = several_panels(6.4, 0.9 + 0.5 * len(writes), 1, len(answers))
    descriptions = []
    for axes, (name, table) in zip(panels, answers.items(), strict=True):
        newest: dict[str, float] = {}
        for row, (key, value) in enumerate(writes):
            newest[key] = value
            axes.text(-0.15, 1.25 * row + 0.5, f"write {value:g} under {key}", ha="right", va="center", size=9)
            for column, read in enumerate(keys):
                answer = float(table[row][column])
                is_right = read in newest and abs(answer - newest[read]) < 1e-6
                text = f"{answer:.3g}".replace("-", "\N{MINUS SIGN}") if read in newest else ""
                draw_cell(axes, 1.1 * column, 1.25 * row, text, is_right, palette.query, palette)
                if read in newest and not is_right:
                    corner = 1.1 * column + 0.06, 1.25 * row + 0.06
                    axes.add_patch(Rectangle(corner, 0.88, 0.88, fill=False, edgecolor=palette.alarm, linewidth=1.8))
                    words, middle = f"not {newest[read]:g}", 1.1 * column + 0.5
                    axes.text(middle, 1.25 * row + 1.03, words, ha="center", va="top", size=8, color=palette.alarm)
        for column, read in enumerate(keys):
            axes.text(1.1 * column + 0.5, -0.12, f"read {read}", ha="center", va="bottom", size=9, color=palette.muted)
        axes.set_title(name)
        bare(axes, xlim=(-2.6, 1.1 * len(keys)), ylim=(1.25 * len(writes) + 0.2, -0.6), aspect="equal")
        last = ", ".join(f"{float(answer):.3g} for {key}" for key, answer in zip(keys, table[-1], strict=True))
        descriptions.append(f"{name} answers {last}")
    order = ", ".join(f"{value:g} under {key}" for key, value in writes)
    figure.set_label(f"Memories after each of these writes: {order}. After the last, {'; '.join(descriptions)}.")
    return figure


def recall_curves(
    n_keys: Sequence[int], recalls: Mapping[str, Sequence[float]], rows: int, *, palette: Palette
) -> Figure:
    """Draw the fraction of right answers of up to four memories with ``rows`` rows against the number of keys."""
    figure, axes = one_panel(6.2, 2.8)
    for (name, fractions), color, dash in zip(recalls.items(), palette.series, ("-", "--", "-.", ":"), strict=False):
        axes.plot(n_keys, fractions, dash, marker="o", markersize=5, color=color)
        write_beside(axes, name, (n_keys[0], fractions[0]), (0, 7), ha="left", va="baseline", color=color)
    axes.axvline(rows, color=palette.muted, linewidth=0.8, linestyle=":")
    axes.text(rows, 0.03, f"{rows} rows ", ha="right", va="bottom", size=9.5, color=palette.muted)
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(n_keys), [str(n) for n in n_keys])
    axes.set(xlabel="keys", ylabel="right answers", ylim=(0, 1.16), yticks=(0, 0.5, 1))
    axes.set_yticklabels(["0 %", "50 %", "100 %"])
    axes.grid(axis="y")
    ends = "; ".join(f"{name} {fractions[0]:.0%} and {fractions[-1]:.0%}" for name, fractions in recalls.items())
    figure.set_label(f"Right answers of memories with {rows} rows, at {n_keys[0]} keys and at {n_keys[-1]}: {ends}.")
    return figure


def first_token(
    weights: Float[np.ndarray, "L N"] | Sequence[Sequence[float]], perplexity: Mapping[str, float], *, palette: Palette
) -> Figure:
    """Draw a map of the first token's mean weight by layer and head, and bars of perplexity by way of reading."""
    table = np.asarray(weights, dtype=float)
    figure = Figure(figsize=(5.2, 4.3), layout="constrained")
    map_axes, bars = figure.subplots(2, 1, height_ratios=(1.5, 1))
    shades = map_axes.pcolormesh(table.T, cmap=ramp(palette), vmin=0, vmax=1, edgecolors=palette.mesh, linewidth=0.4)
    figure.colorbar(shades, ax=map_axes, ticks=(0, 0.5, 1), format="{x:.0%}", fraction=0.05, pad=0.02)
    map_axes.set(ylabel="head", ylim=(table.shape[1], 0))
    map_axes.set_title("weight of the first token, by layer", size=10)
    step = max(1, len(table) // 6)
    map_axes.set_xticks(np.arange(0, len(table), step) + 0.5, range(1, len(table) + 1, step))
    map_axes.set_yticks(np.arange(table.shape[1]) + 0.5, range(1, table.shape[1] + 1))
    map_axes.tick_params(length=0)
    map_axes.spines[:].set_visible(False)
    names, values = list(perplexity), list(perplexity.values())
    bars.barh(range(len(names)), values, color=palette.query, height=0.62)
    for i, value in enumerate(values):
        bars.text(value, i, f" {value:.0f}", va="center", ha="left", color=palette.ink)
    bars.set_yticks(range(len(names)), names)
    bars.invert_yaxis()
    bars.set_title("perplexity", size=10)
    bars.set_xlim(0, 1.15 * max(values))
    bars.set_xticks([])
    bars.tick_params(length=0)
    bars.spines[["top", "right", "bottom"]].set_visible(False)
    figure.set_label(
        f"A map of {table.shape[0]} layers and {table.shape[1]} heads: the mean weight of the first token is "
        f"{table.mean():.2f}, and above one half in {(table > 0.5).mean():.0%} of the heads. Perplexity: "
        + ", ".join(f"{name.replace(chr(10), ' ')} {value:.0f}" for name, value in perplexity.items())
        + "."
    )
    return figure
