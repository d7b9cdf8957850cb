"""Put a figure on a page twice, once for light pages and once for dark ones."""

import base64
import html
import io
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from softlookup_course.figures.panels import panels_of
from softlookup_course.figures.theme import DARK, LIGHT, Palette, style

SVG_LIMIT_BYTES = 150_000
PNG_DOTS_PER_INCH = 160
SCALE = 1.15
"""How much larger a wide page shows figures than they are drawn, so that their letters match those of the text."""

_LONG_NUMBER = re.compile(r"\d+\.\d{3,}")

# The book's theme switches .only-light and .only-dark by itself; JupyterLab knows nothing of them. The theme
# also paints a bright panel behind cell output in the dark, which a figure drawn for the dark must not have.
# On a phone a wide figure keeps letters of a readable size, and scrolls sideways inside its own box.
_STYLE = """<style>
.slk-figure{margin:.2rem auto;text-align:center}
.slk-figure img{display:block;max-width:100%;height:auto;margin:0 auto}
.slk-figure .only-dark{display:none}
.slk-scroll{overflow-x:auto}
@media (max-width:40rem){.slk-figure .slk-scroll img{max-width:none;width:100%;min-width:var(--slk-least)}}
.slk-figure figcaption{margin:.6rem 0 0;font-size:.92em;text-align:left;opacity:.88}
html[data-theme="dark"] .slk-figure .only-light,
body[data-jp-theme-light="false"] .slk-figure .only-light{display:none}
html[data-theme="dark"] .slk-figure .only-dark,
body[data-jp-theme-light="false"] .slk-figure .only-dark{display:block}
html[data-theme="dark"] .bd-content div.cell_output .text_html:has(.slk-figure){
background:none;color:inherit;padding:0}
html[data-theme="dark"] .bd-content div.cell_output .slk-figure img{background:none;padding:0;filter:none}
@media print{.slk-figure .only-dark{display:none!important}.slk-figure .only-light{display:block!important}}
</style>"""


@dataclass(frozen=True)
class Shown:
    """What `show` gives back; a notebook displays it by itself."""

    light: str  # the image for light pages, as a data URI
    dark: str  # the image for dark pages, as a data URI
    alt: str  # what the picture shows, for those who do not see it
    caption: str  # the sentence beneath it; empty for none
    width_px: int  # the width at which its letters have the size of the page's, where there is room
    height_px: int  # the height that goes with it, so that a page keeps the room before the picture is there
    least_px: int  # the width below which its letters would be too small to read
    panels_px: list[tuple[int, int, int, int]]  # where it can be cut: left, top, width and height of each part
    drawing: Figure  # the light figure itself

    def _repr_html_(self) -> str:
        """Write the HTML that holds both images."""
        alt = html.escape(self.alt, quote=True)
        # The images get a box of their own: the theme hides a caption that directly follows .only-dark.
        images = "".join(
            f'<img class="{theme_class} dark-light" src="{uri}" alt="{alt}"'
            f' width="{self.width_px}" height="{self.height_px}">'
            for theme_class, uri in (("only-light", self.light), ("only-dark", self.dark))
        )
        caption = f"<figcaption>{html.escape(self.caption)}</figcaption>" if self.caption else ""
        # The book's panels.js puts them below each other on a phone.
        panels = f' data-panels="{[list(panel) for panel in self.panels_px]}"' if self.panels_px else ""
        box = f'<div class="slk-scroll" style="--slk-least:{self.least_px}px"{panels}>{images}</div>'
        # As wide as the picture, so that the caption begins where the picture does.
        width = f"max-width:max({self.width_px}px,22rem)"
        return f'{_STYLE}<figure class="slk-figure" style="{width}">{box}{caption}</figure>'

    def _repr_png_(self) -> bytes | None:
        """Give the light image for formats without HTML, such as slides; where all is HTML, draw it no third time."""
        return None if os.environ.get("SOFTLOOKUP_HTML_ONLY") else _png(self.drawing, LIGHT)

    def __repr__(self) -> str:
        return self.alt


def show(draw: Callable[..., Figure], *args: Any, alt: str = "", caption: str = "", **kwargs: Any) -> Shown:
    """Draw a figure in both themes, for the page that is being read to choose from; notebooks display it as HTML.

    ``draw`` is a function of ``softlookup_course.figures``. ``alt`` says what the picture shows; by default the label
    that the figure gives itself. ``caption`` is what to notice, printed beneath the picture.
    """
    uris: dict[str, str] = {}
    for palette in (DARK, LIGHT):  # the light one last: it is what is measured below, and handed on
        figure = _draw(draw, palette, args, kwargs)
        words = " ".join((alt or str(figure.get_label())).split())
        if not words:
            raise ValueError(f"{draw.__name__} needs alt: a sentence that says what the picture shows")
        uris[palette.name] = _data_uri(figure, palette)
    with style(LIGHT):  # its letters are measured
        panels = _in_pixels(panels_of(figure), figure)
    wide_px, high_px = figure.get_size_inches() * 96  # CSS pixels to the inch
    return Shown(
        uris["light"],
        uris["dark"],
        words,
        " ".join(caption.split()),
        round(SCALE * wide_px),
        round(SCALE * high_px),
        round(0.8 * wide_px),
        panels,
        figure,
    )


def render_svg(draw: Callable[..., Figure], palette: Palette, *args: Any, **kwargs: Any) -> str:
    """Draw a figure in one palette and write it as SVG: the same arguments always give the same text."""
    return _svg(_draw(draw, palette, args, kwargs), palette)


def _in_pixels(parts: list[Bbox], figure: Figure) -> list[tuple[int, int, int, int]]:
    """Say of each part of a figure how far from the left and the top it begins, its width and its height."""
    inch, height = SCALE * 96, float(figure.get_figheight())
    return [
        (round(x0 * inch), round((height - y1) * inch), round((x1 - x0) * inch), round((y1 - y0) * inch))
        for x0, y0, x1, y1 in (map(float, part.extents) for part in parts)
    ]


def _draw(draw: Callable[..., Figure], palette: Palette, args: tuple, kwargs: dict[str, Any]) -> Figure:
    with style(palette):
        return draw(*args, palette=palette, **kwargs)


def _svg(figure: Figure, palette: Palette) -> str:
    buffer = io.StringIO()
    with style(palette):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", buffer.getvalue(), flags=re.DOTALL)
    # Outlines to a hundredth of a point are enough. Transforms keep their digits: they scale letters by 1/64.
    text = re.sub(r' d="([^"]*)"', lambda path: f' d="{_tight(path[1])}"', text)
    return re.sub(r"\s+", " ", re.sub(r">\s+<", "><", text)).strip()


def _tight(path: str) -> str:
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", _LONG_NUMBER.sub(lambda match: f"{float(match[0]):.2f}", path)).strip()


def _png(figure: Figure, palette: Palette) -> bytes:
    buffer = io.BytesIO()
    with style(palette):
        figure.savefig(buffer, format="png", dpi=PNG_DOTS_PER_INCH, metadata={"Software": None})
    return buffer.getvalue()


def _data_uri(figure: Figure, palette: Palette) -> str:
    text = _svg(figure, palette)
    if len(text) > SVG_LIMIT_BYTES:
        return f"data:image/png;base64,{base64.b64encode(_png(figure, palette)).decode()}"
    # Left as text, a drawing is a third smaller than in base64, and a packed page half as large.
    text = text[text.index("<svg") :]
    return "data:image/svg+xml," + quote(text.replace("'", "&apos;").replace('"', "'"), safe=" !$'()*+,-./:;=?@_~")
