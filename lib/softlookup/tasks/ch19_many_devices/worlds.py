"""Questions to all ranks of a world, and the task that asks them."""

from collections.abc import Callable, Sequence
from typing import Any

from softlookup.checking.inside.case import CORE, Case
from softlookup.checking.notebook import Description
from softlookup.checking.published import described

TRAFFIC = "traffic"
"""The part of questions that look at the messages."""

MESSAGES = ("send", "recv", "isend", "irecv")
"""What a collective is made of."""

_SUMS = 1e-4
"""Tolerance for sums in float32, in any order."""

_FINISHED = ("softlookup.ranks.inside.collectives",)
"""Collectives that are finished: a task that offers messages alone forbids them."""


def ask_world(
    label: str,
    args: Sequence[Any],
    world: int,
    *,
    offers: Sequence[str] = MESSAGES,
    limits: tuple[int | None, ...] | None = None,
) -> Case:
    """A question to all ranks of a world.

    Args:
        label: What is special about it.
        args: What a rank is called with, before ``dist``; a list holds one entry for each rank.
        world: How many ranks there are.
        offers: What ``dist`` has beside the rank and the size of the world.
        limits: Bytes on the busiest link, messages, steps, and bytes that one rank may send or receive; None looks at
            the values alone.
    """
    part = CORE if limits is None else TRAFFIC
    return Case(label, tuple(args), part, "numpy", world=world, offers=tuple(offers), limits=limits, tolerance=_SUMS)


def rank_task(
    task_id: str, cases: Callable[..., list[Case]], results: Callable[..., Any], *, finished: bool = False, **facts: Any
) -> Description:
    """A task whose answer is one rank of a program: 70 % for values, 30 % for messages.

    Args:
        task_id: The task.
        cases: Draws its questions.
        results: The right results (see ``on_all_ranks``) for its arguments, by name: lists of all ranks' inputs.
        finished: Whether ``dist`` offers finished collectives.
        **facts: Other attributes of ``Task``.
    """
    return described(
        task_id,
        cases=cases,
        oracle=results,
        frame="numpy",
        cuts=False,
        parts={CORE: 0.7, TRAFFIC: 0.3},
        forbids=() if finished else _FINISHED,
        **facts,
    )
