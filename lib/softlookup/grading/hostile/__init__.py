"""Hand-ins that try to fool, read, stop or harm a grader, and accidents that look like it.

They are the test of the sandbox and of the judge outside it. This package only writes them down: nothing in it
is ever run but in a sandbox.
"""

from collections.abc import Iterator

from nbformat import NotebookNode

from softlookup.grading.hostile import (
    answering,
    channel,
    fooling,
    passing,
    process,
    raw_answers,
    reaching,
    shapes,
    stopping,
    words,
)
from softlookup.grading.hostile.handin import LEAK, TRACE, Bench, HostileHandIn

__all__ = ["LEAK", "ROWS", "TRACE", "HostileHandIn", "hostile_ones"]

ROWS = 47
"""How many kinds of attack and accident are numbered; further ones have number 0."""


def hostile_ones(source: NotebookNode, release: NotebookNode, assignment: str | None = None) -> Iterator[HostileHandIn]:
    """Hand-ins for one assignment, by rank of their rows within each kind.

    Args:
        source: The notebook with solutions.
        release: The notebook as students get it; its test cells say which tasks there are.
        assignment: Its name, "04_one_head"; None takes the page of its first task.

    Yields:
        The hand-ins. Some are large: keep one at a time.

    Raises:
        ValueError: If the release has fewer than two tasks with a check.
    """
    bench = Bench(source, release, assignment)
    for module in (fooling, reaching, stopping, channel, process, passing, raw_answers):
        yield from map(bench.coded, module.ATTACKS)
    for made in (channel, answering, words, shapes, raw_answers):
        yield from made.hand_ins(bench)
