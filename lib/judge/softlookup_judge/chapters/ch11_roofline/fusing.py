"""The task that counts the bytes of a few steps, apart and fused."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

Steps = list[list[Any]]


def _cases(rng: Rng) -> list[Case]:
    chain = [["x", ["a", "b"]], ["y", ["x", "c"]], ["e", ["y", "d"]]]
    square = [["s", ["a", "a"]], ["t", ["s", "b"]]]
    again = [["u", ["a", "b"]], ["v", ["u", "a"]], ["w", ["v", "u"]]]
    norm = [["c", ["x", "m"]], ["q", ["c", "c"]], ["n", ["c", "r"]], ["y", ["n", "g"]]]
    n = int(rng.integers(50, 900))
    named = [["tmp1", ["A", "B"]], ["tmp2", ["tmp1", "C"]], ["AB", ["tmp2", "AC"]]]
    unused = [["u", ["a", "d"]], ["v", ["a", "b"]], ["w", ["v", "c"]]]
    rows: tuple[tuple[str, tuple[Any, ...]], ...] = (
        ("the three steps of the chapter", (chain, ["e"], 10, 4)),
        ("arrays with longer names", (named, ["AB"], 20, 8)),
        ("a result that nobody wants", (unused, ["w"], 30, 2)),
        ("a number used twice in one step", (square, ["t"], 100, 2)),
        ("an operand used in two steps, two results kept", (again, ["u", "w"], n, 4)),
        ("another two to be kept", (norm, ["q", "y"], n, 2)),
        ("nothing to be kept", (again, [], 40, 1)),
        ("one step", ([["z", ["a", "b", "c"]]], ["z"], 7, 8)),
    )
    return [Case(label, args, frame="plain") for label, args in rows]


def _oracle(steps: Steps, keep: list[str], n: int, bytes_per_number: int) -> tuple[np.ndarray, np.ndarray]:
    """By carrying it out: a memory that counts every array that passes."""
    passed = 0
    for _, inputs in steps:
        fast: set[str] = set()
        for name in inputs:
            passed += name not in fast
            fast.add(name)
        passed += 1
    apart, passed, fast = passed, 0, set()
    for output, inputs in steps:
        for name in inputs:
            passed += name not in fast
            fast.add(name)
        fast.add(output)
        passed += output in keep
    return np.array(apart * n * bytes_per_number), np.array(passed * n * bytes_per_number)


FUSE = described("11.fuse", cases=_cases, oracle=_oracle, frame="plain")
