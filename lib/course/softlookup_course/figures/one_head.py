"""One attention head: its matrices, the scale of its scores, its gradients, and results to compare."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup.reference import attention_backward, attention_weights, scaled_dot_product_attention, softmax_backward
from softlookup_course.figures.grid import draw_grid, draw_ruled
from softlookup_course.figures.marks import bare, draw_arrow, one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette

_T, _D, _H = 4, 3, 2  # of the chapter's example, and all different, so that no two shapes are alike


def pipeline(*, palette: Palette) -> Figure:
    """Draw the path from X to Z through one head; matrices have as many cells as numbers."""
    figure, axes = one_panel(6.6, 4.0)
    figure.set_label(
        f"Matrices drawn to scale, joined by arrows. X ({_T} by {_D}) becomes Q, K and V ({_T} by "
        f"{_H} each). Q and K give the scores ({_T} by {_T}); the divisor and softmax give the weights "
        f"A. A and V give Z ({_T} by {_H})."
    )
    _matrix(axes, 0.0, 8.2, _T, _D, palette.ink, "$X$", "(T, D)", palette)
    for y, name, size, color in (
        (16.4, "$Q$", "(T, H)", palette.query),
        (8.2, "$K$", "(S, H)", palette.key),
        (0.0, "$V$", "(S, H)", palette.value),
    ):
        _matrix(axes, 8.0, y, _T, _H, color, name, size, palette)
        _arrow(axes, (_D + 0.3, 8.2 + _T / 2), (7.7, y + _T / 2), palette)
    for y, text, color in ((16.0, "$W_Q$", palette.query), (11.0, "$W_K$", palette.key), (4.5, "$W_V$", palette.value)):
        axes.text(4.8, y, text, ha="center", va="center", color=color, size=10.5)
    _matrix(axes, 15.0, 12.3, _T, _T, palette.ink, "$R = Q K^T$", "(T, S)", palette)
    _arrow(axes, (8.3 + _H, 16.4 + _T / 2), (14.7, 12.9 + _T / 2), palette)
    _arrow(axes, (8.3 + _H, 8.2 + _T / 2), (14.7, 11.6 + _T / 2), palette)
    _matrix(axes, 24.6, 12.3, _T, _T, palette.mixed, "$A$", "(T, S)", palette)
    middle = 12.3 + _T / 2
    _arrow(axes, (15.3 + _T, middle), (24.3, middle), palette)
    axes.text(19.8 + _T / 2, middle + 0.4, r"$\div\sqrt{H}$", ha="center", va="bottom", size=10.5)
    axes.text(19.8 + _T / 2, middle - 0.4, "softmax\nby row", ha="center", va="top", size=9)
    _matrix(axes, 25.6, 0.0, _T, _H, palette.ink, "$Z = A V$", "(T, H)", palette)
    _arrow(axes, (24.6 + _T / 2, 10.6), (24.6 + _T / 2, _T + 2.3), palette)
    _arrow(axes, (8.3 + _H, _T / 2), (25.3, _T / 2), palette)
    axes.text(16.8 + _H / 2, _T / 2 + 0.5, "mixed by the weights", ha="center", va="bottom", size=9)
    bare(axes, xlim=(-0.4, 30.4), ylim=(-1.6, 23.4), aspect="equal")
    return figure


def latent_scores(*, palette: Palette) -> Figure:
    """Draw the scores of one query on a latent cache, with the keys expanded and with U absorbed into the query."""
    s, r, h = 6, 5, 4
    figure = Figure(figsize=(6.2, 5.6))
    figure.set_label(
        f"Two ways to the {s} scores of a query. Expanded: the cache C ({s} by {r}) times U gives keys ({s} by {h}) "
        f"for every head, and each has a dot product with the query ({h} numbers). Absorbed: the query times U "
        f"transposed gives a latent query ({r} numbers), which has dot products with the cache itself."
    )
    expanded, absorbed = figure.subplots(2, 1)
    expanded.set_title("expanded: keys are made, for each head")
    _matrix(expanded, 0.0, 0.0, s, r, palette.mixed, "$C$, cached", "(S, R)", palette)
    _arrow(expanded, (5.3, 3.0), (9.4, 3.0), palette)
    expanded.text(7.3, 3.4, "$U_n$", ha="center", va="bottom", color=palette.key, size=10.5)
    _matrix(expanded, 9.7, 0.0, s, h, palette.key, "$K_n$", "(S, H)", palette)
    _arrow(expanded, (14.0, 3.0), (20.7, 3.0), palette)
    _matrix(expanded, 15.4, 5.6, 1, h, palette.query, "$q_n$", "(H)", palette)
    _arrow(expanded, (17.4, 4.2), (17.4, 3.3), palette)
    _matrix(expanded, 21.0, 0.0, s, 1, palette.ink, "scores", "(S)", palette)
    absorbed.set_title("absorbed: the matrix goes to the query, and no key is made")
    _matrix(absorbed, 0.0, 0.0, s, r, palette.mixed, "$C$, cached", "(S, R)", palette)
    _arrow(absorbed, (5.3, 1.4), (20.7, 1.4), palette)
    _matrix(absorbed, 7.2, 5.6, 1, h, palette.query, "$q_n$", "(H)", palette)
    _arrow(absorbed, (11.5, 6.1), (14.6, 6.1), palette)
    absorbed.text(13.0, 6.5, "$U_n^T$", ha="center", va="bottom", color=palette.key, size=10.5)
    _matrix(absorbed, 14.9, 5.6, 1, r, palette.query, "latent query", "(R)", palette)
    _arrow(absorbed, (17.4, 4.2), (17.4, 1.7), palette)
    _matrix(absorbed, 21.0, 0.0, s, 1, palette.ink, "scores", "(S)", palette)
    for axes in (expanded, absorbed):
        bare(axes, xlim=(-0.4, 23.4), ylim=(-1.4, 8.4), aspect="equal")
    return figure


def _matrix(
    axes: Axes, x: float, y: float, rows: int, columns: int, color: str, name: str, size: str, palette: Palette
) -> None:
    """Draw a matrix as a box of cells, its name above and its shape below."""
    draw_ruled(axes, x, y, rows, columns, color, alpha=0.16, width=0.7)
    center = x + columns / 2
    axes.text(center, y + rows + 0.3, name, ha="center", va="bottom", color=color, size=11)
    axes.text(center, y - 0.25, size, ha="center", va="top", color=palette.muted, size=8.5)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], palette: Palette) -> None:
    draw_arrow(axes, start, end, palette.muted, 1.2)


def stages(q_TH: np.ndarray, k_SH: np.ndarray, v_SH: np.ndarray, tokens: Sequence[str], *, palette: Palette) -> Figure:
    """Draw scores, scaled scores, weights and output of one head, with every number (T = S)."""
    scores_TS = q_TH @ k_SH.T
    z_TH = scaled_dot_product_attention(q_TH, k_SH, v_SH)
    figure = Figure(figsize=(6.2, 6.5))
    figure.set_layout_engine("constrained", h_pad=0.15)  # titles stay clear of the tables above
    figure.set_label(
        f"Four heat maps with their numbers: scores, scaled scores and weights of {len(tokens)} tokens "
        f"({', '.join(tokens)}), and the output, which has {z_TH.shape[-1]} numbers for each token."
    )
    (top_left, top_right), (bottom_left, bottom_right) = figure.subplots(2, 2)
    for axes, values_TS, title in (
        (top_left, scores_TS, "1  scores  $R = Q K^T$  (T, S)"),
        (top_right, scores_TS / np.sqrt(q_TH.shape[-1]), r"2  scaled  $U = R / \sqrt{H}$  (T, S)"),
        (bottom_left, attention_weights(q_TH, k_SH), "3  weights  $A$  (T, S)"),
    ):
        draw_grid(axes, values_TS, palette, title=title, rows=tokens, columns=tokens)
    numbers = [f"{h + 1}" for h in range(z_TH.shape[-1])]
    draw_grid(bottom_right, z_TH, palette, title="4  output  $Z = A V$  (T, H)", rows=tokens, columns=numbers)
    return figure


def variance(head_widths: np.ndarray, unscaled: np.ndarray, scaled: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the variance of dot products, q·k and q·k / sqrt(H), measured, against the head widths H."""
    widths = np.asarray(head_widths, dtype=float)
    figure, axes = one_panel(4.4, 2.9)
    figure.set_label(
        f"Variance of scores against head width, both axes logarithmic. Without the divisor it rises "
        f"along the line variance = H, from {unscaled[0]:.1f} at {widths[0]:.0f} to {unscaled[-1]:.0f} "
        f"at {widths[-1]:.0f}. Divided by the square root of H it stays at 1, between "
        f"{np.min(scaled):.2f} and {np.max(scaled):.2f}."
    )
    axes.loglog(widths, widths, color=palette.query, linewidth=1.2)
    axes.loglog(widths, np.ones_like(widths), color=palette.key, linewidth=1.2)
    axes.loglog(widths, unscaled, "o", color=palette.query, markersize=6.5)
    axes.loglog(widths, scaled, "s", color=palette.key, markersize=6)
    middle = widths[len(widths) // 2]
    axes.text(middle, middle * 1.9, r"$q \cdot k$: the variance is $H$", color=palette.query, ha="right")
    axes.text(middle, 1.45, r"$q \cdot k \, / \sqrt{H}$: the variance is 1", color=palette.key, ha="center")
    axes.set(xlabel="head width $H$", ylabel="variance of a score")
    axes.set_xticks(widths, [f"{width:.0f}" for width in widths])
    decades = 10 ** np.arange(np.floor(np.log10(np.max(unscaled))) + 1)
    axes.set_yticks(decades, [f"{decade:.0f}" for decade in decades])
    axes.minorticks_off()
    axes.grid(axis="y")
    return figure


def query_and_keys(
    tokens: Sequence[str], q_SH: np.ndarray, k_SH: np.ndarray, asking: int, *, palette: Palette
) -> Figure:
    """Draw the query of token ``asking`` and the keys of all tokens, in the plane of that query."""
    length = float(np.linalg.norm(q_SH[asking]))
    along_S, up_S = _in_plane_of(q_SH[asking], k_SH, asking)
    low, high = min(float(up_S.min()), 0.0), float(up_S.max())
    room = high - low
    figure, axes = one_panel(4.4, 3.7)  # as wide as a phone
    for s, token in enumerate(tokens):
        is_asking = s == asking
        axes.plot(along_S[s], up_S[s], "s", color=palette.key, markersize=9 if is_asking else 6)
        title, side = (f"key of {token}", (0, 8)) if is_asking else (token, (6, 0))
        write_beside(axes, title, (along_S[s], up_S[s]), side, size=9, color=palette.key)
    axes.plot([0, length], [0, 0], color=palette.query, linewidth=2.2)
    axes.plot(length, 0, "o", color=palette.query, markersize=9)
    write_beside(axes, f"query of {tokens[asking]}", (length, 0), (0, 8), size=9, ha="right", color=palette.query)
    vector = (0.55 * length, low - 0.22 * room)
    key = (float(along_S[asking]), float(up_S[asking]))
    for name, (x, y), color, away in (("$W_Q$", (length, 0.0), palette.query, 9), ("$W_K$", key, palette.key, -9)):
        draw_arrow(axes, vector, (x, y), color, 1.2, linestyle="--", shrinkA=10, shrinkB=8)
        middle = (vector[0] + 0.4 * (x - vector[0]), vector[1] + 0.4 * (y - vector[1]))
        write_beside(axes, name, middle, (away, -3), size=10.5, color=color)
    box = {"boxstyle": "round,pad=0.3", "facecolor": palette.paper, "edgecolor": palette.muted}
    axes.text(*vector, f"vector of {tokens[asking]}", ha="center", va="center", size=9, bbox=box)
    axes.set(xlabel=f"along the query: the score ÷ {length:.1f}", ylim=(low - 0.36 * room, high + 0.16 * room))
    axes.set_yticks([])
    axes.margins(x=0.12)
    best = int(along_S.argmax())
    figure.set_label(
        f"A plane with the query of {tokens[asking]} and the keys of {len(tokens)} tokens. Arrows lead from the vector "
        f"of {tokens[asking]} to its query and to its key. Along the query, the key of {tokens[best]} lies at "
        f"{along_S[best]:.1f}, and the key of {tokens[asking]} at {along_S[asking]:.1f}."
    )
    return figure


def _in_plane_of(q_H: np.ndarray, k_SH: np.ndarray, upright: int) -> tuple[np.ndarray, np.ndarray]:
    """Give how far keys lie along a query, and along what the rest varies in most; key ``upright`` lies above."""
    unit_H = q_H / np.linalg.norm(q_H)
    along_S = k_SH @ unit_H
    rest_SH = k_SH - np.outer(along_S, unit_H)
    up_S = rest_SH @ np.linalg.svd(rest_SH)[2][0]
    return along_S, up_S * np.sign(up_S[upright])


def gradient_size(
    spreads: np.ndarray, means: np.ndarray, medians: np.ndarray, marks: dict[str, float], *, palette: Palette
) -> Figure:
    """Draw the size of a softmax's Jacobian, means and medians, against the spread of its scores."""
    figure, axes = one_panel(4.4, 3.1)
    figure.set_label(
        f"Size of the softmax Jacobian against the standard deviation of its scores. The median is "
        f"{medians[0]:.2f} at {spreads[0]:.2g}, {np.max(medians):.2f} at its highest, and {medians[-1]:.2f} at "
        f"{spreads[-1]:.0f}; the mean falls more slowly, to {means[-1]:.2f}."
    )
    axes.semilogx(spreads, means, color=palette.key, base=2, linestyle="--", linewidth=1.6)
    axes.semilogx(spreads, medians, color=palette.mixed, base=2)
    for words, spread in marks.items():
        size = float(np.interp(np.log(spread), np.log(spreads), medians))
        axes.plot(spread, size, "o", color=palette.mixed, markersize=7)
        write_beside(axes, words, (spread, size), (-9, 7), size=9)
    for name, sizes, color, fraction in (("mean", means, palette.key, 0.78), ("median", medians, palette.mixed, 0.62)):
        at = round(fraction * (len(spreads) - 1))
        side = (8, 4, "left", "bottom") if name == "mean" else (-7, -3, "right", "top")
        write_beside(axes, name, (spreads[at], sizes[at]), side[:2], ha=side[2], va=side[3], color=color)  # fmt: skip
    axes.set(xlabel="standard deviation of the scores", ylabel="size of the Jacobian", ylim=(0, None))
    axes.margins(y=0.18)
    axes.set_xticks(spreads[::4], [f"{spread:g}" for spread in spreads[::4]], size=9)
    axes.minorticks_off()
    axes.grid(axis="y")
    return figure


def gradient_flow(
    tokens: Sequence[str], features: Sequence[str], qkv: Sequence[np.ndarray], dz_TH: np.ndarray, *, palette: Palette
) -> Figure:
    """Draw the gradients of one head from its output, on the right, to queries, keys and values (T = S)."""
    q_TH, k_SH, v_SH = qkv
    n, h = dz_TH.shape
    da_TS = dz_TH @ v_SH.T
    du_TS = softmax_backward(attention_weights(q_TH, k_SH), da_TS)
    dq_TH, dk_SH, dv_SH = attention_backward(q_TH, k_SH, v_SH, dz_TH)
    row = int(np.abs(dz_TH).sum(axis=1).argmax())
    scores = ", ".join(f"{token} {gradient:+.2f}" for token, gradient in zip(tokens, du_TS[row], strict=True))
    figure, axes = one_panel(6.6, 4.9)
    figure.set_label(
        "Six matrices, joined by arrows from right to left: dZ leads to dV and dA, dA through softmax to dU, dU to dQ "
        f"and dK. In dU, the scores of {tokens[row]}: {scores}."
    )
    u, a, z, step = h + 2.0, h + n + 3.5, 2 * n + 3.5, n + 2.4  # where the columns of matrices begin; from row to row
    for x, y, values, names, title in (
        (0.0, 0.0, dq_TH, features, r"$dQ = dU\,K\,/\sqrt{H}$"),
        (0.0, step, dk_SH, features, r"$dK = dU^T Q\,/\sqrt{H}$"),
        (0.0, 2 * step, dv_SH, features, r"$dV = A^T dZ$"),
        (u, step / 2, du_TS, tokens, "$dU$: through softmax"),
        (a, step / 2, da_TS, tokens, r"$dA = dZ\,V^T$"),
        (z, 2 * step, dz_TH, features, "$dZ$: given"),
    ):
        axes.text(x, y - 0.95, title, ha="left", va="bottom", size=10)
        for j, name in enumerate(names):
            axes.text(x + j + 0.5, y - 0.15, name, ha="center", va="bottom", size=7.5, color=palette.muted)
        for i, token in enumerate(tokens if x < a else ()):
            axes.text(x - 0.12, y + i + 0.5, token, ha="right", va="center", size=8, color=palette.muted)
        for (i, j), value in np.ndenumerate(values):
            strength = 0.0 if abs(value) < 0.005 else 0.08 + 0.3 * abs(value) / np.abs(values).max()
            face = to_rgba(palette.query if value > 0 else palette.key, strength)
            axes.add_patch(Rectangle((x + j, y + i), 1, 1, facecolor=face, edgecolor=palette.faint, linewidth=0.6))
            text = f"{value:.2f}".replace("-", "\N{MINUS SIGN}") if strength else "0"
            axes.text(x + j + 0.5, y + i + 0.52, text, ha="center", va="center", size=8)
    middle, low = (step + n) / 2, 2 * step + n / 2
    for end, start in (
        ((h + 0.15, n / 2), (u - 1.15, middle - 0.5)),
        ((h + 0.15, step + n / 2), (u - 1.15, middle + 0.5)),
        ((u + n + 0.15, middle), (a - 0.15, middle)),
        ((z + h / 2, middle + n / 2 + 0.2), (z + h / 2, 2 * step - 1.8)),
        ((h + 0.15, low), (z - 0.15, low)),
    ):
        draw_arrow(axes, start, end, palette.muted, 1.4)
    bare(axes, xlim=(-1.2, a + n + 0.1), ylim=(low + n / 2 + 0.1, -1.9))
    return figure


def wrong_cells(printed: np.ndarray, true: np.ndarray, decimals: int) -> np.ndarray:
    """Find the cells of a printed matrix that are off by more than rounding to so many decimals can explain."""
    printed, true = np.asarray(printed, dtype=float), np.asarray(true, dtype=float)
    if printed.shape != true.shape:
        raise ValueError(f"printed has shape {printed.shape}, but true has shape {true.shape}")
    # Half a unit of the last digit, and a hair more, so that a tie may be rounded either way.
    return np.abs(printed - true) > 0.5 * 10.0**-decimals + 1e-9


def comparison(
    printed: np.ndarray, true: np.ndarray, name: str, *, decimals: int = 2, sums: bool = False, palette: Palette
) -> Figure:
    """Draw what was printed beside what is true; cells that no rounding to ``decimals`` explains are framed."""
    printed, true = np.asarray(printed, dtype=float), np.asarray(true, dtype=float)
    wrong = wrong_cells(printed, true, decimals)
    low = float(min(np.min(printed), np.min(true)))
    high = float(max(np.max(printed), np.max(true)))
    figure, (printed_axes, true_axes) = several_panels(6.2, 0.52 * len(printed) + 0.6, 1, 2)
    figure.set_label(
        f"Two grids, {wrong.shape[0]} by {wrong.shape[1]}, of {name.replace('$', '')}. Left as printed, with "
        f"{wrong.sum()} of {wrong.size} cells framed as wrong; right as computed."
        + (f" The printed rows sum to {', '.join(f'{s:.3f}' for s in printed.sum(axis=1))}." if sums else "")
    )
    for axes, values, marked, title in (
        (printed_axes, printed, wrong, f"printed: {wrong.sum()} of {wrong.size} wrong"),
        (true_axes, true, None, f"computed: {name}"),
    ):
        rows = [f"Σ {row.sum():.3f}" for row in values] if sums else ()
        draw_grid(axes, values, palette, title=title, rows=rows, bounds=(low, high), decimals=decimals, marked=marked)
    return figure
