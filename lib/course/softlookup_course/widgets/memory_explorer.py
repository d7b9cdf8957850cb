"""Does it fit? A model's memory, while it writes and while it learns, beside a device's."""

from collections.abc import Sequence
from html import escape
from typing import Any

import traitlets

from softlookup import roofline as rl
from softlookup_course.widgets.batching_explorer import machine_record, sizes_record
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

BATCHES = tuple(2**power for power in range(11))
LENGTHS = (128, 512, 1024, 2048, 4096, 8192, 16_384, 32_768)
NUMBER_BYTES = {"half precision": 2, "float32": 4, "8 bits": 1}
"""Kinds of numbers while a model writes, weights and cache alike."""
PARTS = ("weights", "gradients", "master", "optimizer", "activations", "logits", "cache")


def describe_writing(model: str, batch: int, length: int, number_bytes: int = 2) -> dict[str, int]:
    """Count bytes in memory while one of ``roofline.MODELS`` writes B sequences, by part."""
    memory = rl.inference_memory(rl.MODELS[model], batch, length, number_bytes=number_bytes)
    return dict.fromkeys(PARTS, 0) | memory


def describe_learning(
    model: str, batch: int, length: int, recipe: str = "master", *, fused: bool = True, recompute: bool = False
) -> dict[str, int]:
    """Count bytes in memory while one of ``roofline.MODELS`` learns from B sequences, by part."""
    memory = rl.training_memory(rl.MODELS[model], batch, length, recipe=recipe, fused=fused, recompute=recompute)
    return dict.fromkeys(PARTS, 0) | memory


def largest_batch(model: str, memory_bytes: float, length: int, number_bytes: int = 2) -> int:
    """Compute how many sequences of ``length`` tokens fit beside the weights while a model writes."""
    memory = describe_writing(model, 1, length, number_bytes)
    return max(0, int((memory_bytes - memory["weights"]) // memory["cache"]))


def static_table(models: Sequence[str], machine: str, length: int) -> str:
    """Write how many sequences fit as HTML, for readers whose browser runs no script."""
    memory_bytes = rl.hardware(machine).memory_bytes
    rows = (
        (
            name,
            f"{describe_writing(name, 1, length)['weights'] / 1e9:.1f} GB",
            largest_batch(name, memory_bytes, length),
        )
        for name in models
    )
    sentence = (
        f"<p>In half precision, sequences of {length} tokens that fit into the memory of {escape(machine)} beside the "
        "weights. With scripts switched on, you can choose model, device and sizes.</p>"
    )
    return sentence + plain_table(("model", "weights", "sequences"), rows)


class MemoryExplorer(InteractiveFigure):
    """Choose a model, a use and a device, and see what is in memory and whether it fits."""

    models = traitlets.List(traitlets.Dict(), help="models: sizes and counts").tag(sync=True)
    machines = traitlets.List(traitlets.Dict(), help="machines: peak, bandwidth, memory").tag(sync=True)
    batches = traitlets.List(traitlets.Int(), list(BATCHES), help="batches to choose from").tag(sync=True)
    lengths = traitlets.List(traitlets.Int(), list(LENGTHS), help="lengths to choose from").tag(sync=True)
    recipes = traitlets.Dict(help="recipes: bytes for each parameter, by part").tag(sync=True)
    numbers = traitlets.List(traitlets.List(), help="kinds of numbers while writing, with their bytes").tag(sync=True)

    def __init__(self, models: Sequence[str], machines: Sequence[str]) -> None:
        records: list[dict[str, Any]] = [
            sizes_record(name) | {"gated": rl.MODELS[name].gated, "positions": rl.MODELS[name].positions}
            for name in models
        ]
        recipes = {
            name: {part: getattr(recipe, part) for part in ("weights", "gradients", "master", "optimizer")}
            for name, recipe in rl.RECIPES.items()
        }
        super().__init__(
            models=records,
            machines=[machine_record(name) for name in machines],
            recipes=recipes,
            numbers=[list(format_bytes) for format_bytes in NUMBER_BYTES.items()],
            fallback=static_table(models, machines[0], 1024),  # a length that all models have positions for
        )
