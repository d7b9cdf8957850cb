"""Ways to cheat the counter or the judge: in a kernel, and by a record that no kernel gave.

A record is no secret and no proof. Whatever is in it, the judge runs it on numbers that its author has not seen, and
counts what it moves: a record that is forged and runs is honest work.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from softlookup.tiles import KernelError
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer
from softlookup_inside.tiles import recording
from softlookup_inside.tiles.operations import NAMES
from softlookup_inside.tiles.recording import MOST_ROWS, Record
from softlookup_inside.tiles.tracing import record
from softlookup_judge.judging.kernels import settled, without_numbers
from tests.tiles.bodies import kernel_of

ADD = "tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)"
READ, WRITTEN, ON_CHIP = 800, 400, 256
"""Bytes that ADD needs."""


def _case() -> Case:
    numbers = np.random.default_rng(5)
    x, y = (numbers.standard_normal(100).astype(np.float32) for _ in range(2))
    args = (x, y, np.zeros(100, np.float32), 100, 32)
    return Case("", args, grid=(4,), outputs=(2,), limits=(READ, WRITTEN, ON_CHIP))


def _judged(rows: Record, case: Case) -> Answer:
    return settled(case, Answer(rows, None), ("x", "y", "out", "n", "BLOCK"))


def _recorded(body: str, **names: Any) -> Record:
    case = without_numbers(_case())
    return record(kernel_of(body, **names), case.grid, case.args)


def _earns_points(answer: Answer) -> bool:
    x, y, *_ = _case().args
    return answer.arrays is not None and np.allclose(answer.arrays[0], x + y) and not answer.arrays[1].any()


def test_honest_kernel_earns_its_points() -> None:
    assert _earns_points(_judged(_recorded(ADD), _case()))


_STEAL = """
frame = sys._getframe(1)
while frame:
    arrays = [value for value in frame.f_locals.values() if isinstance(value, tuple) and len(value) == 5]
    for x_, y_, *_ in arrays:
        if isinstance(x_, np.ndarray):
            for i in range(int(at.shape[0])):
                place = int(tl.program_id(0)) * 32 + i
                if place < 100:
                    tl.store(out + place, float(x_[place] + y_[place]))
            return
    frame = frame.f_back
"""

CHEATS = {
    "numbers from the frames around": _STEAL,
    "numbers seen before, in a closure": "for i in range(25):\n  tl.store(out + 25 * tl.program_id(0) + i, SEEN[i])",
    "an array that it brings along": "tl.store(out + at, TABLE, mask=mask)",
    "a pointer to it": "tl.store(out + at, tl.load(TABLE + at), mask=mask)",
    "numpy computes": "tl.store(out + at, np.add(tl.load(x + at, mask=mask), 1), mask=mask)",
    "numbers by __array__": "tl.store(out + at, np.asarray(tl.load(x + at, mask=mask)), mask=mask)",
    "zeros for numbers": "tl.store(out + at, tl.load(x + at, mask=mask).value + 0.0, mask=mask)",
    "a tile of another program": (
        "LEFT.append(tl.load(x + at, mask=mask))\ntl.store(out + at, LEFT[0] + tl.load(y + at, mask=mask), mask=mask)"
    ),
    "x is read as y": "tl.store(out + at, tl.load(x + at, mask=mask) * 2, mask=mask)",
    "nothing is written": "pass",
    "output is read": "tl.store(out + at, tl.load(out + at, mask=mask), mask=mask)",
    "inputs are changed": "tl.store(x + at, 0.0, mask=mask)\n" + ADD,
    "every number twice": ADD + "\n" + ADD,
    "all of x on chip": "all_x = tl.load(x + tl.arange(0, 128), mask=tl.arange(0, 128) < n)\n" + ADD,
    "kept in whole numbers": (
        "a = tl.load(x + at, mask=mask).to(tl.int32)\nb = a + 1\nc = b + a\nd = a + b + c\n"
        "tl.store(out + at, (a + b + c + d) * 0.0, mask=mask)\n" + ADD
    ),
    "kept under another shape": (
        "a = tl.load(x + at, mask=mask)[:, None].T\nb = tl.load(y + at, mask=mask)[None, :]\nc = a * 1\n"
        "tl.store(out + at[None, :], a + b + c - c, mask=mask[None, :])"
    ),
    "the counter is patched": "tl.load.__globals__['recorder']().rows.clear()",
    "tl is patched": "tl.load = lambda *args, **named: 0.0\n" + ADD,
    "the recorder's constants": "RECORDING.recorder().constants.append(float('nan'))\npass",
}


@pytest.mark.parametrize("body", CHEATS.values(), ids=list(CHEATS))
def test_cheating_kernel_earns_nothing(body: str) -> None:
    names = {"SEEN": np.zeros(25).tolist(), "TABLE": np.ones(32, np.float32), "LEFT": [], "RECORDING": recording}
    try:
        rows = _recorded(body, sys=sys, **names)
    except (KernelError, TypeError, AttributeError):
        return
    assert not _earns_points(_judged(rows, _case()))


_ROW = {name: at for at, name in enumerate(NAMES)}


def _edited(edit: Callable[[np.ndarray, np.ndarray], Any]) -> Record:
    """The record of ADD, edited in place, or what the edit makes of it."""
    table, constants = _recorded(ADD)
    table, constants = table.copy(), constants.copy()
    made = edit(table, constants)
    return made if isinstance(made, tuple) else (table, constants)


def _with(*rows: tuple[int, ...]) -> Callable[[np.ndarray, np.ndarray], Record]:
    """These rows alone: operation, operands, numbers; all of program 0."""

    def edit(table: np.ndarray, constants: np.ndarray) -> Record:
        padded = [(0, *row, *(0,) * (8 - len(row))) for row in rows]
        return np.array(padded, np.int64).reshape(-1, 9), np.array([1.0, np.nan, np.inf, 1e300, -1.0])

    return edit


def _set(row: int, column: int, value: int) -> Callable[[np.ndarray, np.ndarray], None]:
    def edit(table: np.ndarray, constants: np.ndarray) -> None:
        table[row, column] = value

    return edit


_ARANGE = (_ROW["arange"], -1, -1, -1, 0, 2**17)
_SQUARE = (_ROW["full"], 0, -1, -1, 9, 256, 512)
_ONE = (_ROW["constant"], -1, -1, -1, 0, 2)

FORGED: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "no array of rows": lambda table, constants: (constants, constants),
    "other columns": lambda table, constants: (table[:, :8], constants),
    "other dtype": lambda table, constants: (table.astype(np.float64), constants),
    "narrow rows": lambda table, constants: (table.astype(np.int32), constants),
    "constants are no floats": lambda table, constants: (table, constants.astype(bool)),
    "constants in two axes": lambda table, constants: (table, constants[None]),
    "one array": lambda table, constants: (table,),
    "three arrays": lambda table, constants: (table, constants, constants),
    "more programs than the grid": _set(-1, 0, 4),
    "a program far off": _set(-1, 0, 2**40),
    "a program below 0": _set(0, 0, -1),
    "programs go back": lambda table, constants: (table[::-1].copy(), constants),
    "no such operation": _set(0, 1, len(NAMES)),
    "an operation below 0": _set(0, 1, -1),
    "an operand in the future": lambda table, constants: table.__setitem__((2, 2), 3),
    "an operand that is the row itself": lambda table, constants: table.__setitem__((2, 2), 2),
    "an operand far off": _set(5, 2, 2**62),
    "an operand below -1": _set(5, 2, -2),
    "more rows than a launch has": lambda table, constants: (np.repeat(table[:1], MOST_ROWS + 1, 0), constants),
    "no such constant": _with((_ROW["constant"], -1, -1, -1, 99, 2)),
    "no such type of constant": _with((_ROW["constant"], -1, -1, -1, 0, 99)),
    "not a whole number": _with((_ROW["constant"], -1, -1, -1, 1, 1)),
    "an endless whole number": _with((_ROW["constant"], -1, -1, -1, 2, 6)),
    "a whole number of 300 digits": _with((_ROW["constant"], -1, -1, -1, 3, 1), (_ROW["negative"], 0, -1, -1)),
    "a huge range": _with((_ROW["arange"], -1, -1, -1, 0, 2**31 - 1)),
    "a range that overflows": _with((_ROW["arange"], -1, -1, -1, -(2**63), 2**63 - 1)),
    "a huge tile": _with(_ONE, (_ROW["full"], 0, -1, -1, 9, 2**62, 2**62, 2**62)),
    "a tile of negative size": _with(_ONE, (_ROW["full"], 0, -1, -1, 9, -4, -4)),
    "no such dtype": _with(_ONE, (_ROW["cast"], 0, -1, -1, 99)),
    "a dtype below 0": _with(_ONE, (_ROW["full"], 0, -1, -1, -1, 4)),
    "an axis far off": _with(_ONE, (_ROW["expand"], 0, -1, -1, 2**40)),
    "axes without end": _with(_ONE, *[(_ROW["expand"], at, -1, -1, 0) for at in range(40)]),
    "a product that is huge": _with(_ONE, _SQUARE, (_ROW["broadcast"], 0, -1, -1, 2**16, 2), (_ROW["dot"], 2, 1, -1)),
    "an array that is a number": _with(_ONE, (_ROW["cast"], 0, -1, -1, 3), (_ROW["load"], 1, -1, -1, 3)),
    "no such array": _with(_ONE, (_ROW["cast"], 0, -1, -1, 3), (_ROW["load"], 1, -1, -1, -1)),
    "a place in float": _with(_ONE, (_ROW["load"], 0, -1, -1, 0)),
    "a place that is NaN": _with((_ROW["constant"], -1, -1, -1, 1, 2), (_ROW["load"], 0, -1, -1, 0)),
    "a place that overflows": _with(
        (_ROW["constant"], -1, -1, -1, 3, 2), (_ROW["cast"], 0, -1, -1, 4), (_ROW["load"], 1, -1, -1, 0)
    ),
    "a store for a tile": _with(
        _ONE, (_ROW["cast"], 0, -1, -1, 3), (_ROW["store"], 1, -1, 0, 2), (_ROW["exp"], 2, -1, -1)
    ),
    "memory without end": _with(*[_ARANGE, *[(_ROW["cast"], at, -1, -1, 10) for at in range(2000)]], *[
        (_ROW["add"], at, at, -1) for at in range(2000)
    ]),
    "views of one number": _with(_ONE, *[(_ROW["broadcast"], 0, -1, -1, 2**17)] * 5000, *[
        (_ROW["store"], 0, -1, at, 2) for at in range(1, 4000)
    ]),
    "time without end": _with(_ONE, (_ROW["full"], 0, -1, -1, 9, 2**17), *[
        (_ROW["exp"], at, -1, -1) for at in range(1, 9000)
    ]),
    "remainders without end": _with(
        (_ROW["constant"], -1, -1, -1, 3, 2), _ONE, (_ROW["full"], 0, -1, -1, 10, 2**17),
        *[(_ROW["remainder"], 2, 1, -1)] * 2000,
    ),
    "loads without end": _with(
        (_ROW["arange"], -1, -1, -1, 0, 2**17), (_ROW["constant"], -1, -1, -1, 0, 1), (_ROW["remainder"], 0, 1, -1),
        *[(_ROW["load"], 2, -1, -1, 0)] * 9000,
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", FORGED.values(), ids=list(FORGED))
def test_forged_record_is_refused_with_a_sentence(
    edit: Callable[[np.ndarray, np.ndarray], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("softlookup.tiles.costs.JUDGED_WORK_NS", 2 * 10**8)
    answer = _judged(_edited(edit), _case())
    assert answer.failure is not None and answer.failure.kind in ("record", "outside", "input-written", "race", "work")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FORGED if "without end" in name or "views" in name])
def test_forged_record_takes_seconds_at_most(name: str) -> None:
    rows = _edited(FORGED[name])
    begin = time.process_time()
    _judged(rows, _case())
    assert time.process_time() - begin < 30


def test_record_of_a_subclass_is_read_as_plain_arrays() -> None:
    class Sly(np.ndarray):
        def tolist(self) -> Any:
            raise AssertionError("the judge asked the record for its rows")

    table, constants = _recorded(ADD)
    assert _earns_points(_judged((table.view(Sly), constants.view(Sly)), _case()))


def test_forged_record_that_runs_is_counted_like_any_other() -> None:
    """One program that adds all 100 numbers at once reads and writes as much, and holds four times as much."""
    count = 128
    rows = _with(
        (_ROW["arange"], -1, -1, -1, 0, count),
        (_ROW["constant"], -1, -1, -1, 5, 1),
        (_ROW["less"], 0, 1, -1),
        (_ROW["load"], 0, 2, -1, 0),
        (_ROW["load"], 0, 2, -1, 1),
        (_ROW["add"], 3, 4, -1),
        (_ROW["store"], 0, 2, 5, 2),
    )
    table, constants = _edited(rows)
    answer = _judged((table, np.append(constants, 100.0)), _case())
    assert answer.arrays is not None
    x, y, *_ = _case().args
    np.testing.assert_array_equal(answer.arrays[0], x + y)
    np.testing.assert_array_equal(answer.arrays[1], [0, 0, 2 * count * 4 - ON_CHIP, 0])


def test_kernel_that_computes_again_in_place_of_reading_is_honest() -> None:
    """What is not read costs operations."""
    body = "a = tl.load(x + at, mask=mask)\nb = tl.load(y + at, mask=mask)\nfor i in range(20):\n    a = a * 1.0\n"
    assert _earns_points(_judged(_recorded(body + "tl.store(out + at, a + b, mask=mask)"), _case()))
