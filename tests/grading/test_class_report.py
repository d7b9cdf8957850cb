"""The class at a glance: the numbers fit what was entered, and the text says what matters."""

import json
import shutil

import nbformat
import pytest
from paper_class import (
    BY_HAND,
    TASKS,
    enter,
    full,
    hand_in,
    in_class,
    paper_course,
    record,
    write_report,
    write_submission,
)
from small_class import NAME

from softlookup_course.samples.handins import answers, rewritten
from softlookup_grader import Course, CourseError, Record
from softlookup_grader.commands import shared
from softlookup_grader.course.grade_sheet import CellGrade, SheetRow
from softlookup_grader.course.notebooks import help_of
from softlookup_grader.reports.class_report import ClassReport, MistakeCost, class_report, read_report
from softlookup_grader.reports.class_table import report_text
from softlookup_grader.reports.help_asked import less_help
from softlookup_grader.reports.known_answers import PUBLISHED
from softlookup_grader.reports.side_by_side import pages_naming, students_on, write_page
from softlookup_judge.data.result import HELP_MIME, HELP_STEPS, MIME

BEST = sum(task.points for task in TASKS) + 3
MISTAKE = next(task for task in TASKS if task.id == "04.scale").mistakes[0]


@pytest.fixture(scope="module")
def course(tmp_path_factory, source):
    made = paper_course(tmp_path_factory, source)
    rows = {
        "ada": (full(), 2.0, 0.0),
        "bo": (full(scale=2), None, 0.0),
        "cy": (full(scale=2, softmax=3), None, 5.0),
        "di": (full(scale=1, mix=2), 0.0, 0.0),
        "ed": ({}, None, 0.0),
    }
    diagnosis = {
        "bo": {"04.scale": (MISTAKE.slug,)},
        "cy": {"04.scale": (MISTAKE.slug,), "04.softmax": ("unheard-of",)},
        "di": {"04.scale": (MISTAKE.slug, "other-variant")},
    }
    for student, (points, written, penalty) in rows.items():
        enter(made, student, points, penalty, written)
    enter(made, "fay", {})
    in_class(made, "guy")
    records = [record(s, points, diagnosis.get(s)) for s, (points, _, _) in rows.items()]
    refused = Record("fay", "refused", 0, BEST, reason="04_one_head.ipynb is empty\x1b[2J")
    write_report(made, *records, refused, Record("hal", "missing", 0, BEST))
    right = answers(source)
    for number, student in enumerate(rows):
        texts = {name: f"{text}\n    pass  # {number}" for name, text in right.items() if name != BY_HAND}
        hand_in(made, student, {**texts, BY_HAND: f"Because number {number}."})
    return made


@pytest.fixture
def copied(course, tmp_path):
    """The course, to be changed."""
    return Course.at(shutil.copytree(course.root, tmp_path / "course"))


@pytest.fixture(scope="module")
def report(course):
    return class_report(course, NAME)


def test_who_handed_in_comes_from_the_class_list_too_and_points_from_the_gradebook(report):
    assert report.graded == ("ada", "bo", "cy", "di", "ed")
    assert list(report.refused) == ["fay"] and report.missing == ("guy", "hal")
    assert report.waiting == ("bo", "cy", "ed") and report.late == 1
    scores = [0.0, BEST - 3 - 2 - 3 - 5, BEST - 3 - 1 - 2, BEST - 3 - 2, BEST - 1]
    assert list(report.scores) == scores and report.max == BEST
    assert report.quartiles == (scores[1], scores[2], scores[3])


def test_the_histogram_counts_everybody_once_and_full_marks_in_the_last_bar(report):
    bars = report.histogram()
    assert sum(count for _, _, count in bars) == 5 and len(bars) == 10
    assert bars[0][2] == 1 and (bars[0][0], bars[-1][1]) == (0, BEST)
    for score in report.scores:
        assert any(low <= score < high or score == high == BEST for low, high, count in bars if count)
    some, nobody, single = (ClassReport("x", 10.0, (), {}, (), s, 0, (), ()) for s in ((10.0, 9.0, 0.0), (), (4.0,)))
    assert [count for _, _, count in some.histogram()] == [1] + [0] * 8 + [2]
    assert nobody.quartiles is None and single.quartiles == (4.0, 4.0, 4.0)


def test_tasks_tell_what_was_right_and_what_was_lost(report):
    scale = next(task for task in report.tasks if task.task == "04.scale")
    assert [task.task for task in report.tasks] == [task.id for task in TASKS]
    assert scale.pass_rate == 1 / 5 and scale.lost == 2 + 2 + 1 + 2 and scale.mean == pytest.approx(3 / 5)
    assert report.costliest is not None and report.costliest.lost == max(task.lost for task in report.tasks)


def test_mistakes_cost_what_their_tasks_lost_and_pairs_share(report):
    assert report.mistakes[0] == MistakeCost("04.scale", MISTAKE.slug, 3, 2 + 2 + 0.5, MISTAKE.says)
    others = {cost.name: cost for cost in report.mistakes[1:]}
    assert others["unheard-of"].says == "" and others["unheard-of"].points == 3
    assert others["other-variant"].points == 0.5 and "another variant" in others["other-variant"].says


def test_a_persons_points_count_after_grading(copied, report):
    with copied.gradebook() as book:
        book.find_grade("04-scale-check", NAME, NAME, "bo").manual_score = 1.5
        book.db.commit()
    after = class_report(copied, NAME)
    assert sum(after.scores) == sum(report.scores) + 1.5
    assert next(t.lost for t in after.tasks if t.task == "04.scale") == 7 - 1.5


def test_text_says_what_matters_without_colours_or_control_signs(report):
    text = report_text(report)
    assert "\x1b" not in text and text.isprintable() is False and not text.endswith("\n\n")
    for sentence in (
        f"{NAME}: 8 in the class",
        "graded 5, refused 1, missing 2",
        "refused: fay, 04_one_head.ipynb is empty\N{REPLACEMENT CHARACTER}[2J",
        "nothing handed in: guy, hal",
        "1 with a late penalty",
        f"{MISTAKE.slug} (3)",
        f"the task that cost the most: {report.costliest.task}",
        f"{MISTAKE.slug} in 04.scale: 4.5 points, 3 students. {MISTAKE.says}",
        "written answers to grade by hand: 3 (bo, cy, ed)",
    ):
        assert sentence in text, sentence
    assert all(len(line) <= 110 or "students" in line or ":" in line for line in text.splitlines())


def test_published_answers_are_named_and_nobodys_hint(report):
    assert {(match.student, match.source) for match in report.known} == {(s, PUBLISHED) for s in report.graded}
    text = report_text(report)
    assert "longer answers as in the published solution" in text and "never a grade" in text
    assert report.pairs == () and "no two submissions are more alike" in text
    data = json.loads(json.dumps(report.as_json()))
    assert data["alike"]["known"][0]["source"] == PUBLISHED
    assert data["tasks"]["04.scale"]["mistakes"][MISTAKE.slug]["students"] == 3
    assert data["graded"] == 5 and data["missing"] == ["guy", "hal"] and data["quartiles"][1] == report.quartiles[1]


def test_an_earlier_year_is_compared_and_shown_side_by_side(copied, tmp_path):
    odd = {
        f"04-{name}": f"def {name}(x):\n" + "".join(f"    w{n} = x.{word}({n}) * {n}\n" for n in range(20))
        for name, word in (("scale", "sum"), ("weights", "amax"), ("mix", "mean"))
    }
    hand_in(copied, "ada", odd)
    last_year = copied.notebook("submitted", "ada", NAME).replace(tmp_path / f"{NAME}.ipynb")
    hand_in(copied, "ed", {name: rewritten(text) + "    '</pre><script>'\n" for name, text in odd.items()})
    hand_in(copied, "ada", {})
    report = class_report(copied, NAME, [last_year])
    (earlier,) = (match for match in report.known if match.source == str(last_year))
    assert earlier.student == "ed" and set(earlier.cells) == set(odd)
    page = copied.root / "reports" / f"{NAME}-alike.html"
    assert write_page(page, NAME, report.side_by_side)
    shown = page.read_text()
    assert "<script" not in shown and "&lt;script&gt;" in shown and "04.weights" in shown and str(last_year) in shown
    assert "ed" in students_on(page) and list(pages_naming(page.parent, "ed")) == [page]
    assert list(pages_naming(page.parent, "nobody")) == []
    assert not write_page(page, NAME, []) and not page.exists()


def test_a_copy_is_hinted_at_with_its_cells(copied):
    odd = "def attention_weights(q, k, mask=None):\n" + "".join(f"    w{n} = q.sum({n}) * {n}\n" for n in range(20))
    hand_in(copied, "ada", {"04-weights": odd})
    hand_in(copied, "ed", {"04-weights": rewritten(odd + "    return w19")})
    report = class_report(copied, NAME)
    assert [(pair.first, pair.second, pair.cells) for pair in report.pairs] == [("ada", "ed", ("04-weights",))]
    text = report_text(report)
    assert "ada and ed:" in text and "never a grade" in text and "04.weights" in text
    alike = report.as_json()["alike"]
    assert alike["pairs"][0]["students"] == ["ada", "ed"] and "never a grade" in alike["hint"]


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, '{"cells": [], "nbformat": 4}', "\x00" * 100])
def test_hostile_files_are_left_out_of_the_comparison(copied, content):
    write_submission(copied, "ada", content)
    path = copied.notebook("submitted", "bo", NAME)
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert class_report(copied, NAME).graded == ("ada", "bo", "cy", "di", "ed")


def test_the_report_is_read_back_as_it_was_written(course):
    path = course.root / "reports" / f"{NAME}.json"
    report = read_report(path)
    assert report.as_json() == json.loads(path.read_text())
    assert report.records[1].tasks["04.scale"].diagnosis == (MISTAKE.slug,)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"assignment": 1, "seed": 2, "submissions": {"a": 3}}'])
def test_a_report_that_is_none_is_one_sentence(tmp_path, text):
    path = tmp_path / "04_one_head.json"
    with pytest.raises(CourseError, match="there is no .*'softlookup grade 04_one_head' writes it"):
        read_report(path)
    path.write_text(text)
    with pytest.raises(CourseError, match="is not a grade report"):
        read_report(path)


def test_an_empty_class_has_a_report(tmp_path_factory, source):
    made = paper_course(tmp_path_factory, source)
    in_class(made, "ada")
    write_report(made)
    text = report_text(class_report(made, NAME))
    assert "1 in the class" in text and "nothing handed in: ada" in text


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


NO_STEPS = (0, 5, -1, True, 2.0, "3", None, [1], {})


@pytest.mark.parametrize(
    "cells",
    [[cell(MIME, {"task": "04.mix", "help": steps})] for steps in NO_STEPS]
    + [None, 4, "cells", [None, 3], [{"outputs": 3}], [{"outputs": [None]}], [{"outputs": [{"data": []}]}]]
    + [[{"outputs": [{"data": {MIME: content}}]}] for content in (None, [], "x", {"task": 3, "help": 1}, {"help": 1})],
)
def test_anything_in_the_place_of_a_notebook_or_a_step_says_nothing(cells):
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
    left, _ = less_help(rows[1:], {"ben": {"04.mix": 4}}, {"example": 25.0})
    assert left[0].raw == 3.0, "a step costs those who went further, too"
    left, notes = less_help(rows[1:], {}, {"solution": 50.0})
    assert left[0].raw == 4.0 and "no points were taken" in notes[0]


def test_commands_know_the_steps():
    assert shared.HELP_STEPS == HELP_STEPS
