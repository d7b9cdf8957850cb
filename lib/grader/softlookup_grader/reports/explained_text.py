"""An explanation in words and numbers: per task the points, the mistake, and what was asked, got and wanted."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from softlookup_command.plain_text import one_line, plain
from softlookup_grader.data.errors import CourseError
from softlookup_grader.reports.explaining import Explained, Explanation
from softlookup_inside.asking import texts
from softlookup_judge.data.result import CheckResult
from softlookup_judge.data.words import number_text, shape

FOR_YOU = "For the instructor only: this shows the wanted numbers, which students do not see."
SIDE = 12  # a table with no more numbers than so many rows of as many columns is shown in full

MANY = 48  # an array with more axes is shown in full up to so many numbers

FIRST = 8  # of a larger one so many differing cells are shown


def explanation_text(explanation: Explanation, task: str | None = None) -> str:
    """The explanation in words and numbers, for a terminal or a letter."""
    chosen = [explained for explained in explanation.tasks if task in (None, explained.mark.task)]
    if not chosen:
        has = ", ".join(explained.mark.task for explained in explanation.tasks)
        raise CourseError(f"{explanation.assignment} has no task {task!r} (it has: {has})")
    lines = [
        FOR_YOU,
        f"{one_line(explanation.student)}, {explanation.assignment}, seed {explanation.seed}",
        *_about_files(explanation),
    ]
    lines += [f"ignored or stopped: {plain(remark)}" for remark in explanation.remarks]
    for explained in chosen:
        lines += ["", *_task_lines(explained)]
    return "\n".join(lines) + "\n"


def _about_files(explanation: Explanation) -> list[str]:
    sentences = []
    if explanation.given_by:
        sentences.append(f"the notebook is that of the group: {one_line(explanation.given_by)} handed it in")
    if explanation.changed is None:
        sentences.append("the submitted file is gone; the graded answers were asked again")
    elif explanation.changed:
        sentences.append("the submitted file has changed since it was graded; the graded answers were asked again")
    else:
        sentences.append("the submitted file is the one that was graded")
    if explanation.other_release:
        sentences.append("the release has changed since then: questions and points may differ")
    if not explanation.agrees:
        sentences.append("asking again gives OTHER points than the ledger holds: see below")
    return sentences


def _task_lines(explained: Explained) -> list[str]:
    mark = explained.mark
    points = "graded by hand" if mark.points is None else f"{mark.points:g} of {mark.max:g} points"
    lines = [f"{mark.task}: {mark.verdict}, {points}" + (f", variant {mark.variant}" if mark.variant else "")]
    if not explained.agrees:
        was = "none" if explained.then is None else f"{explained.then:g}"
        lines.append(f"  in the ledger: {was} (task, release or library have changed since)")
    now = explained.in_gradebook
    by_person = now is not None and now.by_hand is not None
    if now is not None and now.entered and (by_person or now.points != mark.points):
        lines.append(f"  in the gradebook: {now.points:g}" + ", given by a person" * by_person)
    if mark.verdict in ("pass", "by hand"):
        return lines
    if mark.diagnosis:
        lines.append(f"  known mistake: {', '.join(mark.diagnosis)}")
    if mark.message:
        lines.append(f"  {plain(mark.message, 2000)}")
    if explained.result is not None:
        lines += [f"  {line}" for line in _evidence(explained.result)]
    return lines


def _evidence(result: CheckResult) -> Iterator[str]:
    """Inputs, got and wanted of the first case that failed."""
    if result.case:
        yield f"first case that failed: {result.case}"
    for name, value in zip(result.input_names, result.inputs, strict=False):
        yield from _block(f"input {name}", value)
    difference = result.difference
    if difference is None:
        return
    which = result.names[difference.result] if difference.result < len(result.names) else "the result"
    got, expected, lead = difference.got, difference.expected, (difference.index or ())[:-2]
    if difference.kind == "text":
        where, (got_text, expected_text) = texts.together([got, expected])
        begins = f", {where}" * bool(where)
        yield f"got {which}{begins}: {got_text}"
        yield f"wanted {which}{begins}: {expected_text}"
    elif difference.costs:
        costs = (f"{int(over):,} {cost}" for over, cost in zip(got, difference.costs, strict=True))
        yield f"{which} beyond the limits: {', '.join(costs)}"
    elif difference.kind == "shape" or (not lead and _is_small(got) and _is_small(expected)):
        yield from _block(f"got {which}", got)
        yield from _block(f"wanted {which}", expected)
    elif lead and _is_small(got[lead]):
        location = f"[{', '.join(map(str, lead))}, :, :] of {which}, shape {shape(got)}"
        yield f"the first cell that differs is in {location}; {difference.count} differ in all"
        yield from _block("got there", got[lead])
        yield from _block("wanted there", expected[lead])
    else:
        yield f"{which}: shape {shape(got)}, {difference.count} cells differ; the first of them:"
        for index in _off(got, expected, difference.tolerance)[:FIRST]:
            pair = (number_text(array[tuple(index)]) for array in (got, expected))
            yield "  {}: got {}, wanted {}".format([int(i) for i in index], *pair)
    if result.printed:
        yield f"the code printed: {plain(result.printed.strip())}"


def _block(title: str, value: Any) -> Iterator[str]:
    """An array in full if it is small, else its shape and its corners."""
    if not isinstance(value, np.ndarray):
        yield f"{title}: {value!r}"
    elif value.ndim == 0:
        yield f"{title} ({value.dtype}): {number_text(float(value))}"
    else:
        yield f"{title}, shape {shape(value)}, {value.dtype}:"
        most = value.size + 1 if _is_small(value) else 0
        array_text = np.array2string(
            value, precision=6, max_line_width=100, threshold=most, edgeitems=1 if value.ndim > 2 else 3
        )
        yield from (f"  {line}" for line in array_text.splitlines())


def _is_small(array: np.ndarray) -> bool:
    """Whether an array is shown in full: a table of a few rows and columns, or no more numbers than that."""
    return array.ndim <= 2 and array.size <= SIDE * SIDE or array.size <= MANY


def _off(got: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """Indices of the cells that differ."""
    with np.errstate(all="ignore"):
        near = np.abs(got.astype(np.float64) - expected) <= tolerance
    return np.argwhere(~(near | (got == expected) | (np.isnan(got.astype(np.float64)) & np.isnan(expected))))
