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
    """What one of P ranks holds at a stage, 0 to 3, and what it sends in a step.

    ``stage``, ``world``, ``bytes`` (for each of KINDS), ``sharded`` (which of them are) and ``sent`` (bytes that a rank
    sends in a step). Weights and gradients take 2 bytes for each parameter, the optimizer 12: Adam's two states and a
    float32 copy of the weights. All-reduce, reduce-scatter and all-gather are rings. A ValueError if there is no such
    stage, or the world or the model is empty.

    Source: Rajbhandari et al. 2020, ZeRO, figure 1 and section 7.
    """
    if stage not in STAGES or world < 1 or parameters < 1:
        raise ValueError(f"wanted a stage from 0 to 3, ranks and parameters, got {stage}, {world} and {parameters}")
    whole = state_bytes(parameters, "master")
    whole["optimizer"] += whole.pop("master")
    sharded = [stage >= first for first in (3, 2, 1)]
    sizes = [whole[kind] / world if is_cut else whole[kind] for kind, is_cut in zip(KINDS, sharded, strict=True)]
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
    """Show who holds what in data-parallel training: everything on every rank, or shards, by the stage of ZeRO.

    A model without parameters is a ValueError.
    """

    parameters = traitlets.Int(help="of the model").tag(sync=True)
    stages = traitlets.List(traitlets.Unicode(), help="what each stage does").tag(sync=True)
    rows = traitlets.List(traitlets.Dict(), help="what describe gives, for each choice").tag(sync=True)

    def __init__(self, parameters: int = PARAMETERS) -> None:
        rows = [describe(parameters, stage, world) for stage in STAGES for world in WORLDS]
        super().__init__(parameters=parameters, stages=list(STAGES.values()), rows=rows, fallback=static_table(rows))
