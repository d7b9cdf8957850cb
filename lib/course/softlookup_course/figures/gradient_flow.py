"""How a gradient flows back through one head, with every number."""

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup.reference import attention_backward, attention_weights, softmax_backward
from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette


def gradient_flow(
    tokens: Sequence[str],
    features: Sequence[str],
    qkv: Sequence[np.ndarray],
    dz_TH: np.ndarray,
    *,
    palette: Palette,
) -> Figure:
    """Draw the gradients of one head from its output, on the right, to queries, keys and values on the left.

    Queries (T, H) and keys share the tokens, so T = S; keys and values are (S, H), and ``features`` names each of the H
    numbers. Of six matrices all numbers come from ``softlookup.reference``.
    """
    q_TH, k_SH, v_SH = qkv
    n, h = dz_TH.shape
    da_TS = dz_TH @ v_SH.T
    du_TS = softmax_backward(attention_weights(q_TH, k_SH), da_TS)
    dq_TH, dk_SH, dv_SH = attention_backward(q_TH, k_SH, v_SH, dz_TH)
    row = int(np.abs(dz_TH).sum(axis=1).argmax())
    scores = ", ".join(f"{token} {number:+.2f}" for token, number in zip(tokens, du_TS[row], strict=True))
    figure = Figure(figsize=(6.6, 4.9))
    figure.set_label(
        "Six matrices, joined by arrows from right to left: dZ leads to dV and dA, dA through softmax to dU, dU to dQ "
        f"and dK. In dU, the scores of {tokens[row]}: {scores}."
    )
    axes = figure.subplots()
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
    axes.set(xlim=(-1.2, a + n + 0.1), ylim=(low + n / 2 + 0.1, -1.9))
    axes.set_axis_off()
    return figure
