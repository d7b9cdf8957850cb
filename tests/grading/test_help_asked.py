"""Help that was asked for at home: read from what is handed in, shown in the report, costing what a course says."""

import nbformat
import pytest

from softlookup_grader.commands import shared
from softlookup_grader.course.grade_sheet import CellGrade, SheetRow
from softlookup_grader.course.notebooks import help_of
from softlookup_grader.reports.help_asked import less_help
from softlookup_judge.data.result import HELP_MIME, HELP_STEPS, MIME


def cell(kind, record):
    output = nbformat.v4.new_output("execute_result", data={kind: record, "text/plain": "0.0"})
    return nbformat.v4.new_code_cell("hint('04.mix')", outputs=[output])


def test_the_furthest_step_counts_whoever_says_it():
    cells = [
        cell(HELP_MIME, {"task": "04.mix", "help": 3}),
        cell(MIME, {"task": "04.mix", "help": 2}),
        cell(MIME, {"task": "04.scale", "help": 1}),
        cell(MIME, {"task": "04.scores"}),
    ]
    assert help_of(cells) == {"04.mix": 3, "04.scale": 1}


@pytest.mark.parametrize("steps", [0, 5, -1, True, 2.0, "3", None, [1], {}])
def test_only_steps_that_there_are_count(steps):
    assert help_of([cell(MIME, {"task": "04.mix", "help": steps})]) == {}


@pytest.mark.parametrize(
    "cells",
    [None, 4, "cells", [None, 3], [{"outputs": 3}], [{"outputs": [None]}], [{"outputs": [{"data": []}]}]]
    + [[{"outputs": [{"data": {MIME: content}}]}] for content in (None, [], "x", {"task": 3, "help": 1}, {"help": 1})],
    ids=repr,
)
def test_anything_in_the_place_of_a_notebook_says_nothing(cells):
    assert help_of(cells) == {}


def row(student, points):
    cells = {name: CellGrade(worth, 4.0) for name, worth in points.items()}
    return SheetRow(student, "", "", "", "", "graded", sum(points.values()), 0.0, 8.0, cells)


def test_help_costs_what_a_course_says_and_the_furthest_step_alone():
    rows = [row("ada", {"04-mix-check": 4.0, "04-scale-check": 2.0}), row("ben", {"04-mix-check": 4.0})]
    help_steps = {"ada": {"04.mix": 4, "04.scale": 2}}
    left, notes = less_help(rows, help_steps, {"solution": 50.0, "formula": 10.0})
    assert [sheet_row.raw for sheet_row in left] == [pytest.approx(2.0 + 1.8), 4.0]
    assert left[0].cells["04-mix-check"].points == 2.0
    assert notes == ["help cost 1 student 2.2 points together; the gradebook keeps what they earned"]
    assert [sheet_row.raw for sheet_row in rows] == [6.0, 4.0]


def test_a_step_costs_those_who_went_further_too():
    left, _ = less_help([row("ada", {"04-mix-check": 4.0})], {"ada": {"04.mix": 4}}, {"example": 25.0})
    assert left[0].raw == 3.0


def test_nothing_is_taken_where_nothing_was_asked_for():
    left, notes = less_help([row("ada", {"04-mix-check": 4.0})], {}, {"solution": 50.0})
    assert left[0].raw == 4.0 and "no points were taken" in notes[0]


def test_commands_know_the_steps():
    assert shared.HELP_STEPS == HELP_STEPS
