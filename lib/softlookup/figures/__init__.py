"""Matplotlib figures of the course: one module per idea, each drawn in a light and a dark palette.

Every figure is a function that takes ``palette`` by name and returns a matplotlib Figure, whose label says in
words what it shows. On a page, `show` draws it twice.
"""

from softlookup.figures.broadcast import stretched
from softlookup.figures.cost import score_memory
from softlookup.figures.decoding import step_cost
from softlookup.figures.flow import pipeline
from softlookup.figures.heatmaps import stages
from softlookup.figures.mean import weighted_mean
from softlookup.figures.needs import dependency
from softlookup.figures.printed import comparison, wrong_cells
from softlookup.figures.scaling import gradient_size, saturation, variance
from softlookup.figures.show import Shown, render_svg, show
from softlookup.figures.slopes import chain, surprise
from softlookup.figures.storage import reading_order
from softlookup.figures.theme import DARK, LIGHT, PALETTES, Palette, style

__all__ = [
    "DARK",
    "LIGHT",
    "PALETTES",
    "Palette",
    "Shown",
    "chain",
    "comparison",
    "dependency",
    "gradient_size",
    "pipeline",
    "reading_order",
    "render_svg",
    "saturation",
    "score_memory",
    "show",
    "stages",
    "step_cost",
    "stretched",
    "style",
    "surprise",
    "variance",
    "weighted_mean",
    "wrong_cells",
]
