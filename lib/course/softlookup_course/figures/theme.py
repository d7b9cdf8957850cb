"""How every figure looks: two palettes, and a style that is put on and taken off again."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.colors import LinearSegmentedColormap, to_rgb


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, named by what they stand for."""

    name: str  # ``"light"`` or ``"dark"``
    paper: str  # the page behind the figure; figures themselves are transparent
    ink: str  # text and the lines that carry the message
    muted: str  # axes, ticks and second-rank words
    faint: str  # grid lines, hidden paths and empty boxes
    query: str  # queries, and the first of several series
    key: str  # keys, and the second series
    value: str  # values, and the third series
    mixed: str  # weights and outputs, and the fourth series
    alarm: str  # what is wrong; never used without a mark or a word beside it
    high: str  # the full end of the heat-map ramp, which begins at ``paper``
    # The lines between the cells of a heat map, weaker than ``faint`` where that would outshine small weights:
    mesh: str

    @property
    def series(self) -> tuple[str, str, str, str]:
        """The four colours that may stand side by side in one figure."""
        return self.query, self.key, self.value, self.mixed


# Both sets start from the eight colours of Okabe and Ito (2008), made lighter or darker until each stands out
# from its page. Tests measure contrast, and how far apart each pair is to three kinds of colour-blind eyes.
# Heat maps stop well before the middle between black and white, where neither ink is easy to read.
LIGHT = Palette(
    name="light",
    paper="#ffffff",
    ink="#1f2430",
    muted="#5a6270",
    faint="#d5d9e0",
    query="#1978c5",
    key="#b74c0e",
    value="#1a5c32",
    mixed="#782d7e",
    alarm="#b3123f",
    high="#79b6ea",
    mesh="#d5d9e0",
)
DARK = Palette(
    name="dark",
    paper="#121212",
    ink="#e6e9ee",
    muted="#a5adba",
    faint="#3d4450",
    query="#94b4f7",
    key="#ef973a",
    value="#35ba86",
    mixed="#f1acd0",
    alarm="#ff7a93",
    high="#2b6aa0",
    mesh="#2f343c",
)
PALETTES: tuple[Palette, Palette] = (LIGHT, DARK)


@cache
def letters() -> str:
    """Make the book's own letters known to matplotlib, and return the family's name.

    Source: IBM Plex Sans 1.1.0, a subset under a name of its own, as its licence asks (``letters/LICENSE.txt``).
    """
    for path in sorted(Path(__file__).with_name("letters").glob("*.ttf")):
        font_manager.fontManager.addfont(path)
    return "Soft Lookup Sans"


@contextmanager
def style(palette: Palette) -> Iterator[None]:
    """Draw in a palette for the length of a ``with`` block, and leave matplotlib as it was."""
    family = letters()
    settings: dict[Any, Any] = {
        "font.family": [family, "DejaVu Sans"],  # signs that are not letters come from matplotlib's own
        "font.size": 10.0,
        "mathtext.fontset": "custom",
        "mathtext.rm": family,
        "mathtext.sf": family,
        "mathtext.tt": "DejaVu Sans Mono",
        "mathtext.it": f"{family}:italic",
        "mathtext.cal": f"{family}:italic",
        "mathtext.bfit": f"{family}:bold",
        "mathtext.bf": f"{family}:bold",
        "mathtext.fallback": "stixsans",
        "svg.fonttype": "path",
        "svg.hashsalt": "softlookup",  # without it every run gives other ids
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.facecolor": "none",
        "figure.constrained_layout.use": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": palette.muted,
        "axes.labelcolor": palette.ink,
        "axes.titlecolor": palette.ink,
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.grid": False,
        "grid.color": palette.faint,
        "grid.linewidth": 0.8,
        "text.color": palette.ink,
        "xtick.color": palette.muted,
        "ytick.color": palette.muted,
        "xtick.labelcolor": palette.ink,
        "ytick.labelcolor": palette.ink,
        "lines.linewidth": 2.0,
        "legend.frameon": False,
    }
    with mpl.rc_context(settings):
        yield


def ramp(palette: Palette) -> LinearSegmentedColormap:
    """The one-colour scale of heat maps, from the page itself (least) to ``palette.high`` (most)."""
    return LinearSegmentedColormap.from_list(f"softlookup-{palette.name}", [palette.paper, palette.high])


def luminance(color: str | tuple[float, float, float]) -> float:
    """Measure how bright a colour is to the eye, 0 for black to 1 for white (WCAG 2.2, "relative luminance")."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(color: str | tuple[float, float, float], background: str | tuple[float, float, float]) -> float:
    """Measure the contrast ratio of two colours, 1 to 21 (WCAG 2.2): text wants 4.5, shapes want 3."""
    dark, bright = sorted((luminance(color), luminance(background)))
    return (bright + 0.05) / (dark + 0.05)


def ink_on(background: tuple[float, float, float]) -> str:
    """Choose black or white letters, as a hex string, whichever reads better on a background (RGB from 0 to 1)."""
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, background))
