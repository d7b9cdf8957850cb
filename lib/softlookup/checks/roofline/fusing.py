"""The task that counts the bytes of a few steps, apart and fused."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.roofline.page import PAGE
from softlookup.checks.task import Case, Task

Steps = list[list[Any]]


def _cases(rng: Rng) -> list[Case]:
    chain = [["x", ["a", "b"]], ["y", ["x", "c"]], ["e", ["y", "d"]]]
    square = [["s", ["a", "a"]], ["t", ["s", "b"]]]
    again = [["u", ["a", "b"]], ["v", ["u", "a"]], ["w", ["v", "u"]]]
    norm = [["c", ["x", "m"]], ["q", ["c", "c"]], ["n", ["c", "r"]], ["y", ["n", "g"]]]
    n = int(rng.integers(50, 900))
    named = [["tmp1", ["A", "B"]], ["tmp2", ["tmp1", "C"]], ["AB", ["tmp2", "AC"]]]
    unused = [["u", ["a", "b"]], ["v", ["a", "b"]], ["w", ["v", "c"]]]
    rows = (
        ("the three steps of the chapter", (chain, ["e"], 10, 4)),
        ("arrays with longer names", (named, ["AB"], 20, 8)),
        ("a result that nobody wants", (unused, ["w"], 30, 2)),
        ("a number used twice in one step", (square, ["t"], 100, 2)),
        ("an operand used in two steps, two results kept", (again, ["u", "w"], n, 4)),
        ("another two to be kept", (norm, ["q", "y"], n, 2)),
        ("one step", ([["z", ["a", "b", "c"]]], ["z"], 7, 8)),
    )
    return [Case(label, args, frame="plain") for label, args in rows]


def _oracle(steps: Steps, keep: list[str], n: int, width: int) -> tuple[np.ndarray, np.ndarray]:
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
    return np.array(apart * n * width), np.array(passed * n * width)


APART = "apart = sum(len(set(inputs)) + 1 for _, inputs in steps)"
MADE = "made = {output for output, _ in steps}"
GIVEN = "given = {name for _, inputs in steps for name in inputs} - made"
FUSED = "fused = len(given) + len(keep)"
SIZE = "size = n * bytes_per_number"
PAIR = "return apart * size, fused * size"

FUSE = Task(
    id="11.fuse",
    name="bytes_moved",
    title="Three passes, or one",
    points=4,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="roofline-fusing",
    returns=("apart", "fused"),
    cases=_cases,
    oracle=_oracle,
    frame="plain",
    mistakes=(
        known(
            "same-read-twice",
            (APART, APART.replace("set(inputs)", "inputs")),
            says="A step that uses an array twice reads it once: a * a moves one operand, not two.",
        ),
        known(
            "stores-forgotten",
            (APART, APART.replace(" + 1", "")),
            says="Apart, every step also writes its result: one more array for each step.",
        ),
        known(
            "fetched-before-stored",
            (APART, APART.replace(" + 1", " + 2")),
            says="Apart, every store is counted twice. A cache may fetch what it is about to overwrite, but what is "
            "asked for is what the program names.",
        ),
        known(
            "middle-written",
            (FUSED, "fused = len(given) + len(made)"),
            says="Fused, what lies in between is still written: it stays inside the processor. Only what is in `keep` "
            "reaches memory.",
        ),
        known(
            "middle-read",
            (MADE, "made = set()"),
            says="Fused, what lies in between is still read from memory: it never got there.",
        ),
        known(
            "given-read-again",
            (GIVEN, "given = [name for _, inputs in steps for name in set(inputs) - made]"),
            says="Fused, an operand that two steps use is read twice: the second time it is at hand already.",
        ),
        known(
            "unread-written",
            (FUSED, "fused = len(given) + len(made - {name for _, inputs in steps for name in inputs} | set(keep))"),
            says="Fused, a result that no step reads is written although nobody wants it: only what is in `keep` "
            "reaches memory.",
        ),
        known(
            "last-alone",
            (FUSED, "fused = len(given) + 1"),
            says="Fused, one result is written: all that are in `keep` have to be.",
        ),
        known(
            "results-forgotten",
            (FUSED, "fused = len(given)"),
            says="Fused, nothing is written: the results in `keep` have to reach memory.",
        ),
        known(
            "elements-for-bytes",
            (SIZE, "size = n"),
            says="Numbers are counted, not bytes: each has so many bytes as the last argument says.",
            number=80,
        ),
        known(
            "pair-swapped",
            (PAIR, "return fused * size, apart * size"),
            says="The two numbers have changed places: apart first, then fused.",
        ),
    ),
)
