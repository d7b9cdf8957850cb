"""The four stages of one head as heat maps: score, scale, softmax, mix."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup.reference import attention_weights, scaled_dot_product_attention
from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.theme import Palette


def stages(
    q_TH: np.ndarray,
    k_SH: np.ndarray,
    v_SH: np.ndarray,
    tokens: Sequence[str],
    *,
    palette: Palette,
) -> Figure:
    """Draw scores, scaled scores, weights and output of one head, with every number.

    Queries are (T, H), keys and values (S, H); queries and keys share the tokens, so T = S. The four panels are read
    like a page; all numbers come from ``softlookup.reference``.
    """
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
