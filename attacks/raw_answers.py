"""Answers that no function returned: the process writes arrays and failures of its own into the judge's frames.

The probe takes care of what a function returns. These hand-ins put themselves behind it, so that the judge has to deal
with whatever a frame can carry.
"""

from collections.abc import Iterator

from attacks.handin import ANSWER, OTHERS, Attack, Bench, HostileHandIn, as_bytes
from softlookup_course.samples.handins import filled

_RAW = """
$RIGHT
import numpy as np

from softlookup_inside.sandbox import submission as inside

honest_ask_$NAME = inside.Inside._ask


def ask_$NAME(self, question, arrays):
    header, back = honest_ask_$NAME(self, question, arrays)
    if self.about["name"] != "$NAME":
        return header, back
    answers, back = header["answers"], [np.asarray(one) for one in back]
    CHANGE
    return {**header, "answers": answers}, back


inside.Inside._ask = ask_$NAME
"""

_EVERY = "back = [{} for one in back]"

_CHANGES = {
    "signals": (
        _EVERY.format("np.full(one.shape, 0x7FA00000, np.uint32).view(np.float32)"),
        "numbers that are no numbers and raise a floating-point signal when they are copied",
    ),
    "no-cells": (_EVERY.format("np.zeros((0, 10_000_000))"), "arrays without a cell and ten million columns"),
    "axes": (_EVERY.format("np.ones((1,) * 16, np.float16)"), "arrays of sixteen axes"),
    "large": (
        _EVERY.format("np.ones(15_000_000 // len(back), np.int8)"),
        "as many small numbers as an answer may have bytes",
    ),
    "least": (_EVERY.format("np.full(one.shape, -(2**63))"), "the least whole number, which has no absolute value"),
    "flags": (_EVERY.format("np.zeros(one.shape, bool)"), "truth values"),
    "lost": (
        "back = [back[0] + 1]\n"
        "    lost = {'failure': ['dtype', '%s {} {0} \\\\', '<b>'], 'there': False}\n"
        "    answers = [answers[0], *[lost] * (len(answers) - 1)]",
        "one wrong answer, and for the others a lost dtype that nobody asked for",
    ),
    "bytes": (
        _EVERY.format("np.frombuffer(b'[1, 2]', np.uint8)"),
        "the bytes of a text where numbers are asked for",
    ),
}

_TEXTS = {
    "blanks": ("b' ' + one.tobytes()", "the right text, behind a blank"),
    "doubled": ("b'{\"\":[],' + one.tobytes()[1:]", "a text in which a key stands twice"),
    "true": ("b'[true,1.0,' + one.tobytes()[1:]", "a list that begins with true and 1.0"),
    "endless": ("b'[1e999,NaN,-Infinity,' + b'9' * 4000 + b']'", "numbers that JSON does not have"),
    "keys": ('b\'{"":[[{"":[]},1],[[],2]]}\'', "a dictionary whose keys are dictionaries"),
    "deep": ("b'[' * 300_000", "300,000 lists inside each other"),
}

ATTACKS = tuple(
    Attack(f"raw-{name}", 0, f"sends {does}", _RAW.replace("CHANGE", change), ANSWER, OTHERS)
    for name, (change, does) in _CHANGES.items()
)


def hand_ins(bench: Bench) -> Iterator[HostileHandIn]:
    """The hand-ins that send other bytes where a text is asked for; none where the assignment asks for none."""
    task = next((t for t in reversed(bench.tasks) if t.frame == "text"), None)
    if task is None:
        return
    for name, (expression, does) in _TEXTS.items():
        change = _EVERY.format(f"np.frombuffer({expression}, np.uint8)")
        notebook = filled(bench.release, {**bench.right, task.slug: bench.fill(_RAW.replace("CHANGE", change), task)})
        deserves = bench.deserves(OTHERS, task)
        files = {bench.file: as_bytes(notebook)}
        yield HostileHandIn(f"attack-00-raw-text-{name}", 0, f"sends {does}", files, deserves)
