"""Pipelines: in which order each stage works on its micro-batches, and when.

A task is written "F3" (forward of micro-batch 3) or "B3" (its backward).
"""

from collections.abc import Sequence
from dataclasses import dataclass

MOST_PIPELINE = 256
"""Stages, and micro-batches, that a pipeline may have."""


@dataclass(frozen=True)
class StageTask:
    """One task of a stage.

    Attributes:
        name: "F3" or "B3".
        begin_s: When it begins.
        end_s: When it ends.
    """

    name: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class PipelineTimes:
    """When each stage of a pipeline works.

    Attributes:
        stages: The tasks of each stage, in their order.
        alive: For each stage the most micro-batches whose activations it holds at a time: from the beginning of the
            forward to the end of the backward.
    """

    stages: tuple[tuple[StageTask, ...], ...]
    alive: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """How long all of it takes."""
        return max(task.end_s for stage in self.stages for task in stage)

    @property
    def idle(self) -> float:
        """The bubble: the fraction of all stages' time in which they wait."""
        busy_s = sum(task.end_s - task.begin_s for stage in self.stages for task in stage)
        return 1 - busy_s / (len(self.stages) * self.seconds)


def gpipe(stages: int, micro_batches: int) -> list[list[str]]:
    """All forwards, then all backwards, the last micro-batch first.

    Gives the tasks of each stage. ValueError if there are no stages or micro-batches, or more than MOST_PIPELINE.

    Source: Huang et al. 2019, GPipe.
    """
    _check(stages, micro_batches)
    forwards = [f"F{i}" for i in range(micro_batches)]
    return [forwards + [f"B{i}" for i in reversed(range(micro_batches))] for _ in range(stages)]


def one_forward_one_backward(stages: int, micro_batches: int) -> list[list[str]]:
    """1F1B: forwards until the first backward can come, then one of each by turns, then the remaining backwards.

    Gives the tasks of each stage. ValueError if there are no stages or micro-batches, or more than MOST_PIPELINE.

    Source: Narayanan et al. 2021, Memory-efficient pipeline-parallel DNN training (PipeDream-flush).
    """
    _check(stages, micro_batches)
    orders = []
    for stage in range(stages):
        ahead = min(stages - stage - 1, micro_batches)
        order = [f"F{i}" for i in range(ahead)]
        for i in range(micro_batches - ahead):
            order += [f"F{ahead + i}", f"B{i}"]
        orders.append(order + [f"B{i}" for i in range(micro_batches - ahead, micro_batches)])
    return orders


def pipeline_times(orders: Sequence[Sequence[str]], forward_s: float, backward_s: float) -> PipelineTimes:
    """When each task begins: as soon as its stage is free and what it needs is there.

    A forward needs that of the stage before, a backward that of the stage behind, the last stage's its own forward.
    Messages between stages take no time.

    ``orders`` are the tasks of each stage; times are for one stage. ValueError if a time is not positive, stages do not
    have the same tasks, each once, or they wait for each other for ever.
    """
    if not (forward_s > 0 and backward_s > 0):
        raise ValueError(f"a task takes more than 0 s, got {forward_s} s and {backward_s} s")
    _check_orders(orders)
    ends: dict[tuple[int, str], float] = {}
    stages: list[list[StageTask]] = [[] for _ in orders]
    is_moving = True
    while is_moving:
        is_moving = False
        for stage, order in enumerate(orders):
            while len(stages[stage]) < len(order):
                name = order[len(stages[stage])]
                needed = _needs(stage, name, len(orders))
                if any(each not in ends for each in needed):
                    break
                free = stages[stage][-1].end_s if stages[stage] else 0.0
                begin = max([free, *(ends[each] for each in needed)])
                ends[stage, name] = begin + (forward_s if name[0] == "F" else backward_s)
                stages[stage].append(StageTask(name, begin, ends[stage, name]))
                is_moving = True
    waiting = [
        f"stage {stage} at {order[len(tasks)]}"
        for stage, (order, tasks) in enumerate(zip(orders, stages, strict=True))
        if len(tasks) < len(order)
    ]
    if waiting:
        raise ValueError(f"these stages wait for each other for ever: {', '.join(waiting)}")
    return PipelineTimes(tuple(map(tuple, stages)), tuple(map(_most_alive, orders)))


def _needs(stage: int, name: str, count: int) -> list[tuple[int, str]]:
    forward = f"F{name[1:]}"
    if name[0] == "F":
        return [(stage - 1, name)] if stage else []
    return [(stage, forward), *([(stage + 1, name)] if stage + 1 < count else [])]


def _most_alive(order: Sequence[str]) -> int:
    alive = most = 0
    for name in order:
        alive += 1 if name[0] == "F" else -1
        most = max(most, alive)
    return most


def _check(stages: int, micro_batches: int) -> None:
    if not (1 <= stages <= MOST_PIPELINE and 1 <= micro_batches <= MOST_PIPELINE):
        raise ValueError(
            f"a pipeline has 1 to {MOST_PIPELINE} stages and as many micro-batches at most, "
            f"got {stages} and {micro_batches}"
        )


def _check_orders(orders: Sequence[Sequence[str]]) -> None:
    if not orders or not orders[0]:
        raise ValueError("there are no tasks: wanted at least one stage with a forward and a backward")
    count = len(orders[0]) // 2
    expected = sorted(f"{direction}{i}" for direction in "FB" for i in range(count))
    for stage, order in enumerate(orders):
        if sorted(order) != expected:
            raise ValueError(
                f"stage {stage} has the tasks {', '.join(order)}: "
                f"wanted F0 to F{count - 1} and B0 to B{count - 1}, each once"
            )
