"""The stage mark: points, the graded notebook and its summary are made of the verdicts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution, task_id, worth
from softlookup_grader.data.work import BY_HAND, Graded, Mark, cell_key
from softlookup_grader.judging.outputs import as_outputs
from softlookup_grader.judging.plain_tests import Tested, partial_credit
from softlookup_grader.judging.running import SubmissionRun
from softlookup_judge.data.result import HEADLINES, MIME

SUMMARY = "about-this-submission"  # the id of the cell in front of a graded notebook


def mark(run: SubmissionRun) -> tuple[Mark, ...]:
    """What each graded cell came to, once all have been run."""
    return tuple(_mark_of(run, cell) for cell in run.cells if is_graded(cell))


def _mark_of(run: SubmissionRun, cell: NotebookNode) -> Mark:
    name, best = grade_id(cell), worth(cell)
    key = cell_key(run.released.name, name, len(run.assignment.notebooks))
    if name in run.released.plain:
        test = run.tested.get(name) or Tested(0.0, "stopped", "It was not reached.")
        ended_in = test.ended_in
        return Mark(task_id(key), key, test.points, best, test.verdict, message=test.message, ended_in=ended_in)
    if is_solution(cell) or run.checks.get(name) is None:
        # nbgrader's rule: a written answer that nobody touched earns nothing, any other waits for a person.
        empty = is_solution(cell) and name in run.rebuilt.untouched
        message = "No response." if empty else ""
        return Mark(task_id(key), key, 0.0 if empty else None, best, BY_HAND, message=message)
    if name in run.failed_on:
        return Mark(task_id(key), key, None, best, BY_HAND, message=run.failed_on[name])
    result = run.results.get(name)
    if result is None:
        return Mark(task_id(key), key, 0.0, best, "stopped", message="It was not reached.")
    fraction = result.points / result.max_points if result.max_points else 0.0
    points = round(best * fraction, 4)
    return Mark(result.task_id, key, points, best, result.verdict, result.diagnosis, result.message, result.variant)


def graded_notebook(run: SubmissionRun, marks: Sequence[Mark]) -> NotebookNode:
    """The notebook with its outputs, and what the judge said where the checks stand."""
    count = 0
    for at, cell in enumerate(run.cells):
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        result = run.results.get(grade_id(cell))
        if result is None:
            cell.outputs = run.outputs.get(at, [])
            if grade_id(cell) in run.failed_on:
                cell.outputs = as_outputs([{"output_type": "stream", "text": run.failed_on[grade_id(cell)]}])
            continue
        # No kernel runs here, and nbgrader reads the points.
        data = {**result._repr_mimebundle_(), "text/plain": repr(result)}
        best = worth(cell)
        if result.max_points != best and result.max_points:
            data["text/plain"] = repr(round(best * result.points / result.max_points, 4))
        output = {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": count}
        cell.outputs = [nbformat.from_dict(output)]
    summary_cell = {
        "cell_type": "markdown",
        "id": SUMMARY,
        "metadata": {},
        "source": _summary(marks, run.remarks),
    }
    run.rebuilt.notebook.cells.insert(0, nbformat.from_dict(summary_cell))
    return run.rebuilt.notebook


def _summary(marks: Sequence[Mark], remarks: Sequence[str]) -> str:
    """What stands above the notebook: each task in a line, and what was left out or stopped."""
    lines = []
    for each in marks:
        verdict = HEADLINES.get(each.verdict, "Read by a person")
        points = "" if each.points is None else f", {each.points:g} of {each.max:g} points"
        mistake_names = f" ({', '.join(each.diagnosis)})" if each.diagnosis else ""
        lines.append(f"* `{each.task}` {verdict}{points}{mistake_names}")
    remark_lines = ["", "What was left out or stopped:", "", *(f"* {_plain(remark)}" for remark in remarks)]
    return "\n".join(["**About this submission**", "", *lines, *(remark_lines if remarks else [])])


def worth_changed(graded: Graded, worths: Mapping[str, float]) -> bool:
    """Whether a cell has other points now than when a submission was graded."""
    return any(mark.max != worths.get(mark.cell, mark.max) for mark in graded.marks)


def reckoned(
    graded: Graded, notebooks: Sequence[tuple[str, str]], worths: Mapping[str, float], releases: Mapping[str, Any]
) -> Graded | None:
    """What grading came to with other points, and the graded notebooks with them; None where it has to be run again."""
    marks = [_with_worth(mark, worths.get(mark.cell, mark.max)) for mark in graded.marks]
    if None in marks:
        return None
    new_marks = tuple(mark for mark in marks if mark is not None)
    texts = []
    for name, text in notebooks:
        notebook = nbformat.reads(text, as_version=4)
        about = {grade_id(cell): cell.metadata for cell in releases[name].cells if grade_id(cell)}
        points = {mark.cell: mark.points for mark in new_marks}
        for cell in notebook.cells:
            key = cell_key(name, grade_id(cell), len(releases))
            cell.metadata = about.get(grade_id(cell), cell.metadata)
            for output in cell.get("outputs", ()):
                if MIME in output.get("data", {}) and points.get(key) is not None:
                    output.data["text/plain"] = repr(points[key])
            if cell.get("id") == SUMMARY:
                cell.source = _summary(_of_notebook(new_marks, name, len(releases)), graded.remarks)
        texts.append((name, json.dumps(notebook, sort_keys=True, ensure_ascii=False) + "\n"))
    return replace(graded, marks=new_marks, notebooks=tuple(texts))


def _of_notebook(marks: Sequence[Mark], name: str, notebooks: int) -> list[Mark]:
    return [mark for mark in marks if notebooks == 1 or mark.cell.startswith(f"{name}/")]


def _with_worth(mark: Mark, best: float) -> Mark | None:
    """A mark where its cell is worth something else; None where only another run can tell."""
    if mark.max == best or mark.points is None:
        return replace(mark, max=best)
    if mark.ended_in is not None:
        test = partial_credit(best, mark.ended_in)
        return replace(mark, max=best, points=test.points, verdict=test.verdict)
    if mark.verdict == "pass":
        return replace(mark, max=best, points=best)
    if not mark.max:  # what part of the points a partial answer earned is not known
        return None if mark.verdict == "partial" else replace(mark, max=best)
    return replace(mark, max=best, points=round(best * mark.points / mark.max, 4))


def _plain(text: str) -> str:
    """Text for a markdown cell: no HTML, no links."""
    for sign in "\\`*_{}[]<>#|":
        text = text.replace(sign, "\\" + sign)
    return text
