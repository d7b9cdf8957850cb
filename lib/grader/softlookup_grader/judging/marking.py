"""The stage mark: points, the graded notebook and its summary are made of the verdicts."""

from collections.abc import Sequence

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution, task_id, worth
from softlookup_grader.data.work import Mark
from softlookup_grader.judging.outputs import as_outputs
from softlookup_grader.judging.plain_tests import Tested
from softlookup_grader.judging.running import SubmissionRun
from softlookup_judge.data.result import HEADLINES


def mark(run: SubmissionRun) -> tuple[Mark, ...]:
    """What each graded cell came to, once all have been run."""
    return tuple(_mark_of(run, cell) for cell in run.cells if is_graded(cell))


def _mark_of(run: SubmissionRun, cell: NotebookNode) -> Mark:
    name, best = grade_id(cell), worth(cell)
    if name in run.assignment.plain:
        test = run.tested.get(name) or Tested(0.0, "stopped", "It was not reached.")
        return Mark(task_id(name), name, round(best * test.fraction, 4), best, test.verdict, message=test.message)
    if is_solution(cell) or run.checks.get(name) is None:
        # nbgrader's rule: a written answer that nobody touched earns nothing, any other waits for a person.
        empty = is_solution(cell) and name in run.rebuilt.untouched
        message = "No response." if empty else ""
        return Mark(task_id(name), name, 0.0 if empty else None, best, "by hand", message=message)
    if name in run.failed_on:
        return Mark(task_id(name), name, None, best, "by hand", message=run.failed_on[name])
    result = run.results.get(name)
    if result is None:
        return Mark(task_id(name), name, 0.0, best, "stopped", message="It was not reached.")
    fraction = result.points / result.max_points if result.max_points else 0.0
    points = round(best * fraction, 4)
    return Mark(result.task_id, name, points, best, result.verdict, result.diagnosis, result.message, result.variant)


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
        "id": "about-this-submission",
        "metadata": {},
        "source": _summary(run, marks),
    }
    run.rebuilt.notebook.cells.insert(0, nbformat.from_dict(summary_cell))
    return run.rebuilt.notebook


def _summary(run: SubmissionRun, marks: Sequence[Mark]) -> str:
    """What stands above the notebook: each task in a line, and what was left out or stopped."""
    lines = []
    for each in marks:
        verdict = HEADLINES.get(each.verdict, "Read by a person")
        points = "" if each.points is None else f", {each.points:g} of {each.max:g} points"
        mistake_names = f" ({', '.join(each.diagnosis)})" if each.diagnosis else ""
        lines.append(f"* `{each.task}` {verdict}{points}{mistake_names}")
    remark_lines = ["", "What was left out or stopped:", "", *(f"* {_plain(remark)}" for remark in run.remarks)]
    return "\n".join(["**About this submission**", "", *lines, *(remark_lines if run.remarks else [])])


def _plain(text: str) -> str:
    """Text for a markdown cell: no HTML, no links."""
    for sign in "\\`*_{}[]<>#|":
        text = text.replace(sign, "\\" + sign)
    return text
