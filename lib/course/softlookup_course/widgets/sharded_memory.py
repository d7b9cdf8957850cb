"""Who holds what: weights, gradients and optimizer states of each rank in data-parallel training, by ZeRO's stages.

Letters of its own: P ranks of a world.
"""

from collections.abc import Sequence
from typing import Any

import traitlets

from softlookup.roofline import state_bytes
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

STAGES = {
    0: "every rank holds everything",
    1: "the optimizer states are sharded",
    2: "the optimizer states and the gradients are sharded",
    3: "everything is sharded",
}
"""What ZeRO's stages do."""
KINDS = ("weights", "gradients", "optimizer")
"""What training holds, in the order in which it is drawn; the last stage shards the first."""
WORLDS = (1, 2, 4, 8, 16, 32, 64)
PARAMETERS = 7_500_000_000
"""The model of figure 1 of the ZeRO paper."""


def describe(parameters: int, stage: int, world: int) -> dict[str, Any]:
    """Compute what one of P ranks holds at a stage of ZeRO, and the bytes that it sends in a step."""
    whole = state_bytes(parameters, "master")
    whole["optimizer"] += whole.pop("master")
    sharded = [stage >= first for first in (3, 2, 1)]
    sizes = [whole[part] / world if is_cut else whole[part] for part, is_cut in zip(KINDS, sharded, strict=True)]
    # Gradients are summed and what is updated comes back: two rounds; sharded weights are gathered twice.
    rounds = 3 if stage == 3 else 2
    sent = rounds * (world - 1) / world * whole["weights"]
    return {"stage": stage, "world": world, "bytes": sizes, "sharded": sharded, "sent": sent}


def static_table(rows: Sequence[dict[str, Any]]) -> str:
    """Write what a rank holds as HTML, for readers whose browser runs no script."""
    head = ("stage", "ranks", *KINDS, "a rank holds", "a rank sends in a step")
    lines = (
        (
            *(row["stage"], row["world"]),
            *(f"{size / 1e9:.1f} GB" for size in (*row["bytes"], sum(row["bytes"]), row["sent"])),
        )
        for row in rows
    )
    sentence = "<p>What a rank holds of a model's weights, gradients and optimizer states.</p>"
    return sentence + plain_table(head, lines)


class ShardedMemory(InteractiveFigure):
    """Show who holds what in data-parallel training: everything on every rank, or shards, by the stage of ZeRO."""

    parameters = traitlets.Int(help="of the model").tag(sync=True)
    stages = traitlets.List(traitlets.Unicode(), list(STAGES.values()), help="what each stage does").tag(sync=True)
    rows = traitlets.List(traitlets.Dict(), help="what describe gives, for each choice").tag(sync=True)

    def __init__(self, parameters: int = PARAMETERS) -> None:
        rows = [describe(parameters, stage, world) for stage in STAGES for world in WORLDS]
        super().__init__(parameters=parameters, rows=rows, fallback=static_table(rows))
