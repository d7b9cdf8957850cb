"""A picture cut into patches: what its class token attends to, and what is lost where a patch is hidden."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure

MOST_PATCHES = 64
"""The most patches that the grid has room for."""


@dataclass(frozen=True)
class Picture:
    """One picture with what a vision transformer makes of it. T is its number of patches.

    Attributes:
        title: A few words for the chooser.
        pixels: Ink from 0 to 1, (height, width).
        patch: The side of a patch.
        probabilities: Of each class.
        looks: The class token's attention (L, N, T + 1): in each layer and head, to itself and to each patch.
        shares: The class token's row of the rollout (T + 1).
        lost: By how much the probability of the best class falls where each patch is hidden (T).
    """

    title: str
    pixels: Sequence[Sequence[float]]
    patch: int
    probabilities: Sequence[float]
    looks: Sequence[Sequence[Sequence[float]]]
    shares: Sequence[float]
    lost: Sequence[float]

    def checked(self) -> "Picture":
        """Refuse what fits no grid.

        If the patch does not divide the sides, there are too many patches, or numbers are missing, a ValueError names
        the picture and the sizes.
        """
        shape = np.shape(self.pixels)
        if len(shape) != 2 or self.patch < 1 or shape[0] % self.patch or shape[1] % self.patch:
            raise ValueError(f"{self.title!r}: pixels of shape {shape} cannot be cut into patches of {self.patch}")
        n = shape[0] // self.patch * (shape[1] // self.patch)
        if n > MOST_PATCHES:
            raise ValueError(f"{self.title!r}: {n} patches, wanted at most {MOST_PATCHES}")
        sizes = {"looks": np.shape(self.looks)[-1:], "shares": np.shape(self.shares), "lost": np.shape(self.lost)}
        expected = {"looks": (n + 1,), "shares": (n + 1,), "lost": (n,)}
        if sizes != expected or np.ndim(self.looks) != 3:
            raise ValueError(f"{self.title!r}: {n} patches want last axes {expected}; got {sizes}")
        return self


def describe(picture: Picture) -> dict[str, Any]:
    """Work out every number that the figure shows.

    ``title``; ``down`` and ``across``, how many patches; ``patches`` (T, P*P), ink in sixteenths, rounded; ``best``,
    the likeliest class, and ``sure``, its probability; ``views``, each with a title, ``kind`` ("lost", "rollout",
    "mean" or "head"), ``values`` (T) and ``own``, what goes to the class token itself (None for "lost").
    """
    pixels, size = np.asarray(picture.pixels), picture.patch
    down, across = pixels.shape[0] // size, pixels.shape[1] // size
    pieces = pixels.reshape(down, size, across, size).swapaxes(1, 2).reshape(down * across, -1)
    looks = np.asarray(picture.looks)
    best = int(np.argmax(picture.probabilities))

    def view(title: str, kind: str, row: np.ndarray) -> dict[str, Any]:
        return {"title": title, "kind": kind, "values": row[1:].tolist(), "own": float(row[0])}

    views = [
        {
            "title": "occlusion: what hiding it costs",
            "kind": "lost",
            "values": [float(cost) for cost in picture.lost],
            "own": None,
        },
        view("rollout, all layers", "rollout", np.asarray(picture.shares)),
    ]
    for number, layer in enumerate(looks, start=1):
        views.append(view(f"layer {number}, mean of the heads", "mean", layer.mean(axis=0)))
        views += [view(f"layer {number}, head {i}", "head", row) for i, row in enumerate(layer, start=1)]
    return {
        "title": picture.title,
        "down": down,
        "across": across,
        "patches": np.rint(16 * pieces).astype(int).tolist(),
        "best": best,
        "sure": float(picture.probabilities[best]),
        "views": views,
    }


def static_table(picture: Picture) -> str:
    """Write a picture's patches and what hiding each costs as HTML, for readers whose browser runs no script."""
    described = describe(picture)
    values = np.reshape(described["views"][0]["values"], (described["down"], described["across"]))
    rows = "".join("<tr>" + "".join(f"<td>{value:.2f}</td>" for value in row) + "</tr>" for row in values)
    return (
        f"<p>{escape(picture.title)}, read as {described['best']} with probability {described['sure']:.2f}. By how "
        "much that probability falls when each patch is hidden (with scripts switched on, "
        "you can also see attention maps):</p>"
        f"<table><tbody>{rows}</tbody></table>"
    )


class PatchExplorer(InteractiveFigure):
    """Choose an image and a map to compare: attention, rollout, and what hiding each patch costs.

    Python computes every number; the script shows them. Pictures may be dicts with the fields of ``Picture``; a
    ValueError if there is none, or one fits no grid.
    """

    pictures = traitlets.List(traitlets.Dict(), help="what describe gives of each picture").tag(sync=True)
    chosen = traitlets.Int(0, help="which picture is shown").tag(sync=True)
    view = traitlets.Int(0, help="which map is shown").tag(sync=True)

    def __init__(self, pictures: Sequence[Picture | Mapping[str, Any]]) -> None:
        if not pictures:
            raise ValueError("PatchExplorer needs at least one picture, got none")
        records = [(picture if isinstance(picture, Picture) else Picture(**picture)).checked() for picture in pictures]
        super().__init__(pictures=[describe(record) for record in records], fallback=static_table(records[0]))
