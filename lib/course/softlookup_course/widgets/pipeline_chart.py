"""A pipeline as a Gantt chart: what each stage does when, its bubble, and the activations that it holds."""

from collections.abc import Callable, Sequence
from typing import Any

import traitlets

from softlookup.ranks.schedules import gpipe, one_forward_one_backward, pipeline_times
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

SCHEDULES: dict[str, Callable[[int, int], list[list[str]]]] = {"GPipe": gpipe, "1F1B": one_forward_one_backward}
"""Orders of the stages' tasks, by name."""
STAGES = (2, 4, 8)
MICRO_BATCHES = (1, 2, 4, 8, 16)
FORWARD, BACKWARD = 1, 2
"""How long a forward and a backward of one stage and micro-batch take, in units of a forward."""


def describe(schedule: str, stages: int, micro_batches: int) -> dict[str, Any]:
    """Compute when each stage works under one of SCHEDULES, and what that costs; a forward takes one unit."""
    result = pipeline_times(SCHEDULES[schedule](stages, micro_batches), FORWARD, BACKWARD)
    return {
        "schedule": schedule,
        "stages": stages,
        "micro": micro_batches,
        "tasks": [" ".join(f"{task.name} {task.begin_s:g}" for task in stage) for stage in result.stages],
        "length": result.seconds,
        "idle": result.idle,
        "alive": list(result.alive),
    }


def static_table(runs: Sequence[dict[str, Any]]) -> str:
    """Write what each schedule costs as HTML, for readers whose browser runs no script."""
    head = ("schedule", "stages", "micro-batches", "time, in forwards", "idle", "most activations alive")
    rows = (
        (
            *(run[name] for name in ("schedule", "stages", "micro")),
            f"{run['length']:g}",
            f"{100 * run['idle']:.1f} %",
            max(run["alive"]),
        )
        for run in runs
    )
    sentence = (
        "<p>Pipelines of stages that take one unit for the forward of a micro-batch and two for its backward.</p>"
    )
    return sentence + plain_table(head, rows)


class PipelineChart(InteractiveFigure):
    """Show a pipeline as a Gantt chart: forwards, backwards, and the bubbles in which a stage waits."""

    runs = traitlets.List(traitlets.Dict(), help="what describe gives, for each choice").tag(sync=True)
    forward = traitlets.Int(FORWARD, help="how long a forward takes").tag(sync=True)
    backward = traitlets.Int(BACKWARD, help="how long a backward takes").tag(sync=True)

    def __init__(self) -> None:
        runs = [describe(name, some, many) for name in SCHEDULES for some in STAGES for many in MICRO_BATCHES]
        super().__init__(runs=runs, fallback=static_table(runs))
