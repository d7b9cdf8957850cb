"""A translation written word by word, with the cross-attention of one head as lines between the two sentences."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure

if TYPE_CHECKING:
    from softlookup.model.published.translator import Alignment

LEAST = 0.01
"""Weights below this one get no line."""

SIGNS = {"</s>": "(end)", "<unk>": "(unknown)"}
"""What a reader sees in place of the special tokens."""

STYLE = """<style>
.aln-still { min-height: calc(ROWSem + 7.25em + 3.6rem + 4px); box-sizing: border-box; margin: 1.25rem 0; padding: 1rem;
  border: 1px solid var(--pst-color-border); border-radius: 0.75rem; font-size: 0.9375rem; line-height: 1.45; }
.aln-still > div { display: grid; grid-template-columns: minmax(0, 1fr) 38% minmax(0, 1fr); }
.aln-still > div > :first-child { text-align: right; }
.aln-still :is(p, ul) { margin: 0; padding: 0; list-style: none; }
.aln-still p { color: var(--pst-color-text-muted); }
.aln-still p + p:not(:last-child) { text-align: center; }
.aln-still li { height: 1.9em; box-sizing: border-box; padding: 0.2em 0.6em; }
.aln-still svg { width: 100%; height: 100%; fill: none; stroke: var(--book-query, currentColor); }
@media (min-width: 75rem) { .aln-still { min-height: calc(ROWSem + 5.8em + 3.6rem + 4px); } }
@media (scripting: enabled) and (prefers-reduced-motion: no-preference) {
  .aln-later { visibility: hidden; animation: aln-later 0s 4s forwards; }
}
@keyframes aln-later { to { visibility: visible; } }
</style>"""
"""As high as the figure will be. Where it is about to play, what it writes waits, in case no script comes."""


def readable(token: str) -> str:
    """A token as a reader sees it: without the mark that starts a word, and special ones in words."""
    return SIGNS.get(token, token.replace("▁", ""))


def line(from_row: int, to_row: int, weight: float) -> dict[str, str]:
    """Draw a weight, 0 to 1, as a line between two rows, from 0: attributes of an SVG path, 100 wide, a row 1 high."""
    start_y, end_y = from_row + 0.5, to_row + 0.5
    return {
        "d": f"M0 {start_y} C40 {start_y} 60 {end_y} 100 {end_y}",
        "stroke-width": f"{0.7 + 3.3 * weight:.2f}",
        "stroke-opacity": f"{0.15 + 0.75 * weight:.2f}",
    }


def still_picture(translation: Mapping[str, Any]) -> str:
    """Draw both sentences and all lines as HTML, for readers whose browser runs no script."""
    source, target = translation["source"], translation["target"]
    rows = max(len(source), len(target))
    paths = "".join(
        "<path"
        + "".join(f' {name}="{value}"' for name, value in line_entry["line"].items())
        + ' vector-effect="non-scaling-stroke"/>'
        for line_entry in translation["lines"]
    )
    head = f"layer {translation['layer']}, head {translation['head']}"
    words = ["".join(f"<li>{escape(word)}</li>" for word in side) for side in (source, target)]
    board = (
        f'<ul>{words[0]}</ul><svg class="aln-later" viewBox="0 0 100 {rows}" preserveAspectRatio="none" '
        f'aria-hidden="true">{paths}</svg><ul class="aln-later">{words[1]}</ul>'
    )
    names = "".join(
        f"<p>{escape(name)}</p>" for name in (translation["languages"][0], head, translation["languages"][1])
    )
    style = STYLE.replace("ROWS", f"{1.9 * rows:.1f}")
    return f'{style}<div class="aln-still"><div>{names}</div><div>{board}</div></div>'


class AlignmentLines(InteractiveFigure):
    """Watch a translation being written, each of its tokens with lines to those that the decoder attends to."""

    translation = traitlets.Dict(help="tokens, weights and lines of one head").tag(sync=True)

    def __init__(
        self,
        alignment: "Alignment",
        layer: int,
        head: int,
        languages: Sequence[tuple[str, str]] = (("English", "en"), ("French", "fr")),
    ) -> None:
        layers, heads = alignment.weights.shape[:2]
        weights = [[round(float(weight), 3) for weight in row] for row in alignment.weights[layer - 1, head - 1]]
        translation = {
            "source": [readable(token) for token in alignment.source_tokens],
            "target": [readable(token) for token in alignment.tokens],
            "weights": weights,
            "lines": [
                {"row": t, "column": s, "line": line(s, t, weight)}
                for t, row in enumerate(weights)
                for s, weight in enumerate(row)
                if weight >= LEAST
            ],
            "layer": layer,
            "head": head,
            "languages": [name for name, _ in languages],
            "codes": [code for _, code in languages],
        }
        super().__init__(translation=translation, fallback=still_picture(translation))
