"""The recorded translation of the first page: a picture for readers without scripts, and what the card plays."""

import json
from collections.abc import Sequence
from html import escape

LEAST = 0.05
"""Weights below this one get no line; book/_live/sentence.js has the same."""

END = "</s>"
ROW_EM = 1.9
ABOUT = (
    "Each French word has lines to the English words that one part of the translator attended to while writing it: "
    "the wider, the more."
)


def line(from_row: int, to_row: int, weight: float) -> str:
    """Draw a weight, 0 to 1, as a line between two rows, from 0: an SVG path, 100 wide, a row 1 high."""
    start_y, end_y = from_row + 0.5, to_row + 0.5
    return (
        f'<path d="M0 {start_y} C40 {start_y} 60 {end_y} 100 {end_y}" stroke-width="{0.7 + 3.3 * weight:.2f}" '
        f'stroke-opacity="{0.15 + 0.75 * weight:.2f}" vector-effect="non-scaling-stroke"/>'
    )


def recorded_translation(
    source: Sequence[str], target: Sequence[str], weights: Sequence[Sequence[float]], layer: int, head: int
) -> str:
    """Write a translation as HTML: a picture of its tokens and lines, and the record that the page's script plays.

    Args:
        source: The tokens of the source, the last one the end token, which the picture leaves out.
        target: The tokens of the translation, likewise.
        weights: The cross-attention weights of one head, a row for each token of the translation, (T, S).
        layer: The head's layer, from 1.
        head: The head's number in its layer, from 1.

    Raises:
        ValueError: If a text does not end with the end token, or the weights are not a row for each of its tokens.
    """
    if source[-1] != END or target[-1] != END:
        raise ValueError(f"both texts must end with {END}, got {source[-1]} and {target[-1]}")
    if len(weights) != len(target) or any(len(row) != len(source) for row in weights):
        raise ValueError(f"weights must have {len(target)} rows of {len(source)} numbers")
    rows = max(len(source), len(target)) - 1
    paths = "".join(
        line(s, t, weight) for t, row in enumerate(weights[:-1]) for s, weight in enumerate(row[:-1]) if weight >= LEAST
    )
    english, french = (
        "".join(f"<li>{escape(token.replace('▁', ''))}</li>" for token in side[:-1]) for side in (source, target)
    )
    recording = {
        "source": [*source[:-1], "(end)"],
        "target": list(target[:-1]),
        "weights": [[round(float(weight), 3) for weight in row] for row in weights[:-1]],
        "layer": layer,
        "head": head,
        "about": ABOUT,
    }
    packed = json.dumps(recording, ensure_ascii=False, separators=(",", ":")).replace("<", r"\u003c")
    return (
        f'<div class="fse-still" style="--rows: {ROW_EM * rows:.1f}em"><div><ul lang="en">{english}</ul>'
        f'<svg viewBox="0 0 100 {rows}" preserveAspectRatio="none" aria-hidden="true">{paths}</svg>'
        f'<ul lang="fr">{french}</ul></div><p>{ABOUT}</p></div>'
        f'<script type="application/json">{packed}</script>'
    )
