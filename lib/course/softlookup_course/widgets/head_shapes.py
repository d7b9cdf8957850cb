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
    """One setting of the figure; tokens look at themselves, so S = T."""

    title: str  # a few words for the chooser
    B: int  # sequences
    T: int  # tokens of a sequence
    D: int  # model width
    N: int  # query heads
    K: int  # key-value heads, a divisor of N
    H: int  # head width; N*H need not be D


def describe(sizes: Sizes, bytes_per_number: int = 4) -> dict[str, Any]:
    """Compute what the figure shows at one setting; a multiply-add is two operations."""
    wide, narrow = sizes.N * sizes.H, sizes.K * sizes.H
    shapes = {
        "x": [sizes.B, sizes.T, sizes.D],
        "w_q": [sizes.D, wide],
        "w_k": [sizes.D, narrow],
        "w_v": [sizes.D, narrow],
        "q": [sizes.B, sizes.N, sizes.T, sizes.H],
        "k": [sizes.B, sizes.K, sizes.T, sizes.H],
        "v": [sizes.B, sizes.K, sizes.T, sizes.H],
        "a": [sizes.B, sizes.N, sizes.T, sizes.T],
        "z": [sizes.B, sizes.N, sizes.T, sizes.H],
        "merged": [sizes.B, sizes.T, wide],
        "w_o": [wide, sizes.D],
        "y": [sizes.B, sizes.T, sizes.D],
    }
    parameters = {"w_q": sizes.D * wide, "w_k": sizes.D * narrow, "w_v": sizes.D * narrow, "w_o": wide * sizes.D}
    rows = sizes.B * sizes.T
    flops = {
        "q": 2 * rows * sizes.D * wide,
        "k": 2 * rows * sizes.D * narrow,
        "v": 2 * rows * sizes.D * narrow,
        "a": 2 * rows * sizes.T * wide,
        "z": 2 * rows * sizes.T * wide,
        "y": 2 * rows * wide * sizes.D,
    }
    return {
        "shapes": shapes,
        "parameters": {**parameters, "total": sum(parameters.values())},
        "flops": {**flops, "total": sum(flops.values())},
        "score_bytes": bytes_per_number * sizes.B * sizes.N * sizes.T * sizes.T,
        "cache_bytes": bytes_per_number * 2 * sizes.B * sizes.K * sizes.T * sizes.H,
    }


def static_table(sizes: Sizes) -> str:
    """Write the shapes of one setting as HTML, a table and a sentence, for readers whose browser runs no script."""
    facts = describe(sizes)
    rows = ((name, " × ".join(f"{n:,}" for n in shape)) for name, shape in facts["shapes"].items())
    sentence = (
        f"<p>{escape(sizes.title)}: {facts['parameters']['total']:,} parameters, {facts['flops']['total']:,} "
        "operations. With scripts switched on, you can change every size.</p>"
    )
    return sentence + plain_table((), rows, "Shapes")


class HeadShapes(InteractiveFigure):
    """Change the sizes of a multi-head layer, and see what happens to its shapes and its cost."""

    presets = traitlets.List(traitlets.Dict(), help="settings to choose from: title, B, T, D, N, K, H").tag(sync=True)
    largest = traitlets.Dict(default_value=LARGEST, help="the largest size of each letter").tag(sync=True)
    chosen = traitlets.Int(0, help="which preset was chosen last").tag(sync=True)
    bytes_per_number = traitlets.Int(4, help="bytes of a number in the scores and the cache").tag(sync=True)

    def __init__(self, presets: Sequence[Sizes]) -> None:
        super().__init__(presets=[asdict(preset) for preset in presets], fallback=static_table(presets[0]))
