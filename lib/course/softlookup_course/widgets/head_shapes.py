"""The shapes of multi-head attention at any sizes: tensors as blocks, parameters, operations, bytes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

LARGEST = {"B": 64, "T": 8192, "D": 16384, "N": 128, "K": 128, "H": 512}
"""The largest size that the figure takes; all counts stay whole numbers that JavaScript holds exactly."""


@dataclass(frozen=True)
class Sizes:
    """One setting of the figure; tokens look at themselves, so S = T.

    Attributes:
        title: A few words for the chooser.
        B: Sequences.
        T: Tokens of a sequence.
        D: Model width.
        N: Query heads.
        K: Key-value heads, a divisor of N.
        H: Head width; N*H need not be D.
    """

    title: str
    B: int
    T: int
    D: int
    N: int
    K: int
    H: int

    def checked(self) -> "Sizes":
        """Give these sizes, and refuse those that fit no layer.

        If a size is below 1 or beyond the figure, or K is no divisor of N, a ValueError names it.
        """
        for letter, largest in LARGEST.items():
            if not 1 <= getattr(self, letter) <= largest:
                raise ValueError(f"{self.title!r}: {letter} is {getattr(self, letter)}, wanted 1 to {largest}")
        if self.N % self.K:
            raise ValueError(f"{self.title!r}: {self.N} query heads cannot share {self.K} key-value heads evenly")
        return self


def describe(sizes: Sizes, bytes_per_number: int = 4) -> dict[str, Any]:
    """Work out every number that the figure shows at one setting; one that fits no layer is a ValueError.

    shapes (name -> sizes of its axes), parameters (matrix -> count, and total), flops (result -> operations of the
    product that makes it, and total; a multiply-add is two), score_bytes, and cache_bytes of one layer.
    """
    s = sizes.checked()
    wide, narrow = s.N * s.H, s.K * s.H
    shapes = {
        "x": [s.B, s.T, s.D],
        "w_q": [s.D, wide],
        "w_k": [s.D, narrow],
        "w_v": [s.D, narrow],
        "q": [s.B, s.N, s.T, s.H],
        "k": [s.B, s.K, s.T, s.H],
        "v": [s.B, s.K, s.T, s.H],
        "a": [s.B, s.N, s.T, s.T],
        "z": [s.B, s.N, s.T, s.H],
        "merged": [s.B, s.T, wide],
        "w_o": [wide, s.D],
        "y": [s.B, s.T, s.D],
    }
    parameters = {"w_q": s.D * wide, "w_k": s.D * narrow, "w_v": s.D * narrow, "w_o": wide * s.D}
    rows = s.B * s.T
    flops = {
        "q": 2 * rows * s.D * wide,
        "k": 2 * rows * s.D * narrow,
        "v": 2 * rows * s.D * narrow,
        "a": 2 * rows * s.T * wide,
        "z": 2 * rows * s.T * wide,
        "y": 2 * rows * wide * s.D,
    }
    return {
        "shapes": shapes,
        "parameters": {**parameters, "total": sum(parameters.values())},
        "flops": {**flops, "total": sum(flops.values())},
        "score_bytes": bytes_per_number * s.B * s.N * s.T * s.T,
        "cache_bytes": bytes_per_number * 2 * s.B * s.K * s.T * s.H,
    }


def static_table(sizes: Sizes) -> str:
    """Write the shapes of one setting as HTML, a table and a sentence, for readers whose browser runs no script."""
    described = describe(sizes)
    rows = ((name, " × ".join(f"{n:,}" for n in shape)) for name, shape in described["shapes"].items())
    sentence = (
        f"<p>{escape(sizes.title)}: {described['parameters']['total']:,} parameters, {described['flops']['total']:,} "
        "operations. With scripts switched on, you can change every size.</p>"
    )
    return sentence + plain_table((), rows, "Shapes")


class HeadShapes(InteractiveFigure):
    """Change the sizes of a multi-head layer, and see what happens to its shapes and its cost.

    The script computes the counts, since sizes can be chosen freely; tests compare them with ``describe`` and with the
    layers of ``softlookup.model``. A ValueError if there is no preset to begin with, or sizes fit no layer.
    """

    presets = traitlets.List(traitlets.Dict(), help="settings to choose from: title, B, T, D, N, K, H").tag(sync=True)
    largest = traitlets.Dict(help="the largest size of each letter").tag(sync=True)
    chosen = traitlets.Int(0, help="which preset was chosen last").tag(sync=True)
    bytes_per_number = traitlets.Int(4, help="bytes of a number in the scores and the cache").tag(sync=True)

    def __init__(self, presets: Sequence[Sizes]) -> None:
        if not presets:
            raise ValueError("HeadShapes needs at least one preset, got none")
        records = [preset.checked() for preset in presets]
        super().__init__(
            presets=[asdict(record) for record in records],
            largest=dict(LARGEST),
            fallback=static_table(records[0]),
        )
