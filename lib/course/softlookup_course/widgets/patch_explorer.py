"""A picture cut into patches: what its class token attends to, and what is lost where a patch is hidden."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure


@dataclass(frozen=True)
class Picture:
    """One picture with what a vision transformer makes of it. T is its number of patches."""

    title: str  # a few words for the chooser
    pixels: Sequence[Sequence[float]]  # ink from 0 to 1, (height, width)
    patch: int  # the side of a patch
    probabilities: Sequence[float]  # of each class
    # The class token's attention (L, N, T + 1): in each layer and head, to itself and to each patch:
    looks: Sequence[Sequence[Sequence[float]]]
    shares: Sequence[float]  # the class token's row of the rollout (T + 1)
    lost: Sequence[float]  # by how much the probability of the best class falls where each patch is hidden (T)


def describe(picture: Picture) -> dict[str, Any]:
    """Compute what the figure shows of a picture."""
    pixels, size = np.asarray(picture.pixels), picture.patch
    down, across = pixels.shape[0] // size, pixels.shape[1] // size
    patch_rows = pixels.reshape(down, size, across, size).swapaxes(1, 2).reshape(down * across, -1)
    looks = np.asarray(picture.looks)
    best = int(np.argmax(picture.probabilities))

    def view(title: str, view_type: str, row: np.ndarray) -> dict[str, Any]:
        return {"title": title, "kind": view_type, "values": row[1:].tolist(), "own": float(row[0])}

    views = [
        {
            "title": "occlusion: what hiding it costs",
            "kind": "lost",
            "values": [float(cost) for cost in picture.lost],
            "own": None,
        },
        view("rollout, all layers", "rollout", np.asarray(picture.shares)),
    ]
    for layer_number, layer in enumerate(looks, start=1):
        views.append(view(f"layer {layer_number}, mean of the heads", "mean", layer.mean(axis=0)))
        views += [view(f"layer {layer_number}, head {i}", "head", row) for i, row in enumerate(layer, start=1)]
    return {
        "title": picture.title,
        "down": down,
        "across": across,
        "patches": np.rint(16 * patch_rows).astype(int).tolist(),
        "best": best,
        "sure": float(picture.probabilities[best]),
        "views": views,
    }


def static_table(picture: Picture) -> str:
    """Write a picture's patches and what hiding each costs as HTML, for readers whose browser runs no script."""
    facts = describe(picture)
    values = np.reshape(facts["views"][0]["values"], (facts["down"], facts["across"]))
    rows = "".join("<tr>" + "".join(f"<td>{value:.2f}</td>" for value in row) + "</tr>" for row in values)
    return (
        f"<p>{escape(picture.title)}, read as {facts['best']} with probability {facts['sure']:.2f}. By how "
        "much that probability falls when each patch is hidden (with scripts switched on, "
        "you can also see attention maps):</p>"
        f"<table><tbody>{rows}</tbody></table>"
    )


class PatchExplorer(InteractiveFigure):
    """Choose an image and a map to compare: attention, rollout, and what hiding each patch costs."""

    pictures = traitlets.List(traitlets.Dict(), help="what describe gives of each picture").tag(sync=True)
    chosen = traitlets.Int(0, help="which picture is shown").tag(sync=True)
    view = traitlets.Int(0, help="which map is shown").tag(sync=True)

    def __init__(self, pictures: Sequence[Picture | Mapping[str, Any]]) -> None:
        whole = [picture if isinstance(picture, Picture) else Picture(**picture) for picture in pictures]
        super().__init__(pictures=[describe(picture) for picture in whole], fallback=static_table(whole[0]))
