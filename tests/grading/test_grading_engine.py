"""Grading a class side by side: order, workers, and processes that die."""

import shutil
from pathlib import Path

import pytest
from fake_grader import Fake
from small_class import NAME, STUDENTS, regrade, write_course

from softlookup.grading import Course, CourseError, grade_class


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, source: object) -> Course:
    return write_course(tmp_path_factory.mktemp("engine") / "course", source, STUDENTS)


@pytest.mark.parametrize("workers", [1, 3])
def test_report_is_in_the_order_of_the_class_with_any_number_of_workers(course: Course, workers: int) -> None:
    report = grade_class(course, NAME, Fake(), workers=workers, seed=5)
    assert [r.student for r in report.records] == course.students()
    assert report.seed == 5


def test_progress_counts_every_submission_once(course: Course) -> None:
    seen: list[tuple[int, int, str]] = []
    grade_class(course, NAME, Fake(), workers=2, done=lambda n, of, r: seen.append((n, of, r.student)))
    assert [n for n, _, _ in seen] == list(range(1, len(seen) + 1))
    assert sorted(s for _, _, s in seen) == sorted(course.students()) and {of for _, of, _ in seen} == {len(seen)}


def test_a_killed_process_costs_only_the_one_who_kills_it(course: Course) -> None:
    killers = ("half-done", "not-json")
    report = grade_class(course, NAME, Fake(kills=killers), workers=2)
    refused = {r.student for r in report.records if r.status == "refused"}
    assert refused == set(killers) and len(report.records) == len(STUDENTS)


def test_a_failure_of_grading_is_told_and_the_others_go_on(course: Course) -> None:
    report = grade_class(course, NAME, Fake(fails=("half-done",)), workers=2)
    by_name = {r.student: r for r in report.records}
    assert "the disk is full" in by_name["half-done"].reason
    assert sum(r.status == "graded" for r in report.records) == len(report.records) - 1


def test_unknown_assignment_is_one_sentence(course: Course) -> None:
    with pytest.raises(CourseError, match=r"knows no assignment '05_many_heads' \(it has: 04_one_head\)"):
        grade_class(course, "05_many_heads", Fake())


def test_regrading_gives_the_same_report_with_any_number_of_workers(own_copy: Course, report: dict) -> None:
    for student in own_copy.students():
        if student not in ("mistake-2", "half-done", "not-json"):
            shutil.rmtree(own_copy.root / "submitted" / student, ignore_errors=True)
            with own_copy.gradebook() as book:
                book.remove_student(student)
    one, two = regrade(own_copy, 1).as_json(), regrade(own_copy, 2).as_json()
    assert one == two
    assert all(one["submissions"][s] == report["submissions"][s] for s in one["submissions"])


def test_course_needs_a_folder_with_a_config(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="there is no folder"):
        Course.at(tmp_path / "nowhere")
    with pytest.raises(CourseError, match="no nbgrader_config.py"):
        Course.at(tmp_path)
