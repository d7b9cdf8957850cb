"""Hand-ins that try to fool, read, stop or harm a grader, and accidents that look like it.

They are the test of the sandbox and of the judge outside it. This package only writes them down: nothing in it
is ever run but in a sandbox.
"""

from collections.abc import Container, Iterator

from nbformat import NotebookNode

from attacks import (
    answering,
    channel,
    fooling,
    kernels,
    lent,
    markup,
    neighbours,
    passing,
    process,
    ranks,
    raw_answers,
    reaching,
    shapes,
    shortcuts,
    stopping,
    unseen_memory,
    words,
)
from attacks.handin import LEAK, TRACE, Bench, HostileHandIn
from softlookup_judge.checking.catalogue import STANDARD, Catalogue

__all__ = ["LEAK", "OF_CHAPTERS", "ROWS", "TRACE", "HostileHandIn", "hostile_by_kind", "hostile_ones"]

OF_CHAPTERS = {"18_kernels": ("kernels",), "19_many_devices": ("ranks",)}
"""Kinds that attack tasks of one chapter, by its assignment; all others fit any."""

ROWS = 47
"""How many kinds of attack and accident are numbered; further ones have number 0."""

_MODULES = (
    fooling,
    reaching,
    stopping,
    channel,
    process,
    passing,
    neighbours,
    unseen_memory,
    lent,
    shortcuts,
    answering,
    raw_answers,
    words,
    markup,
    shapes,
    kernels,
    ranks,
)


def hostile_ones(
    source: NotebookNode, release: NotebookNode, assignment: str | None = None, catalogue: Catalogue = STANDARD
) -> Iterator[HostileHandIn]:
    """Hand-ins for one assignment, by rank of their rows within each kind. Some are large: keep one at a time.

    ``source`` has the solutions; ``release`` is the notebook as students get it, whose test cells say which tasks there
    are: fewer than two with a check are a ValueError. Without a name the assignment is the page of its first task.
    """
    for _, hand_in in hostile_by_kind(source, release, assignment, catalogue):
        yield hand_in


def hostile_by_kind(
    source: NotebookNode,
    release: NotebookNode,
    assignment: str | None = None,
    catalogue: Catalogue = STANDARD,
    kinds: Container[str] | None = None,
) -> Iterator[tuple[str, HostileHandIn]]:
    """The same hand-ins as ``hostile_ones``, each with its kind: "stopping", "reaching" and so on; None takes all."""
    bench = Bench(source, release, assignment, catalogue)
    for module in _MODULES:
        kind = module.__name__.rpartition(".")[2]
        if kinds is not None and kind not in kinds:
            continue
        for attack in getattr(module, "ATTACKS", ()):
            yield kind, bench.coded(attack)
        for answer in getattr(module, "ANSWERS", ()):
            if (answering := bench.answering(answer)) is not None:
                yield kind, answering
        if hasattr(module, "hand_ins"):
            for hand_in in module.hand_ins(bench):
                yield kind, hand_in
