"""Find where a figure can be cut between its panels, so that they stand below each other on a phone."""

from itertools import pairwise

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox, Transform

LEAST_GAP_INCHES = 0.02

_Drawn = list[tuple[Bbox, Artist]]


def panels_of(figure: Figure) -> list[Bbox]:
    """Give the parts that stand alone, in reading order, in inches from the lower left; none if no two are in a row.

    Together they cover the figure, which has been drawn before. An arrow or letters that reach from one panel into
    another keep both in one part, and a colour bar stays with the panel beside it.
    """
    width, height = map(float, figure.get_size_inches())
    inches = figure.dpi_scale_trans.inverted()
    boxes = [(_extent(artist, inches), artist) for artist in figure.get_children() if artist is not figure.patch]
    boxes = [(extent, artist) for extent, artist in boxes if extent.width > 0 and extent.height > 0]
    if sum(artist in figure.axes for _, artist in boxes) < 2:
        return []
    rows = [
        [Bbox.from_extents(x0, low, x1, high) for x0, x1, _ in _cut(in_row, "intervalx", width)]
        for low, high, in_row in reversed(_cut(boxes, "intervaly", height))
    ]
    return [part for row in rows for part in row] if max(map(len, rows)) > 1 else []


def _extent(artist: Artist, inches: Transform) -> Bbox:
    extents = [artist.get_tightbbox()] if artist.get_visible() else []
    if isinstance(artist, Axes):  # its box leaves out arrows without words, which may lead to another panel
        notes = [text for text in artist.texts if isinstance(text, Annotation) and text.xycoords != "data"]
        extents += [each.arrow_patch.get_window_extent() for each in notes if each.arrow_patch]
    known = [extent for extent in extents if extent is not None and np.isfinite(extent.extents).all()]
    return Bbox.union(known).transformed(inches) if known else Bbox.null()


def _cut(boxes: _Drawn, side: str, end: float) -> list[tuple[float, float, _Drawn]]:
    """Cut in the middle of each gap along one side: from where, to where, and what is drawn between."""
    groups: list[tuple[float, float, _Drawn]] = []
    for extent, artist in sorted(boxes, key=lambda pair: tuple(getattr(pair[0], side))):
        low, high = getattr(extent, side)
        joined = groups and (low < groups[-1][1] + LEAST_GAP_INCHES or artist.get_label() == "<colorbar>")
        before = groups.pop() if joined else (low, high, [])
        groups.append((before[0], max(before[1], high), [*before[2], (extent, artist)]))
    cuts = [0.0, *((before[1] + after[0]) / 2 for before, after in pairwise(groups)), end]
    return [(low, high, inside) for (low, high), (_, _, inside) in zip(pairwise(cuts), groups, strict=True)]
