"""Ready-made late rules: their days are those of the wall, and stock nbgrader gives the same penalties as ours."""

from datetime import datetime, timedelta

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.preprocessors import AssignLatePenalties
from paper_class import enter, full, paper_course
from small_class import NAME
from traitlets.config import Config
from wall_clock import days_after

from softlookup_grader import Course, CourseError
from softlookup_grader.course.deadlines import extend, set_due
from softlookup_grader.course.late_rules import PerDay, PerHour
from softlookup_grader.course.terms import Extension
from softlookup_grader.data.dates import zone_named
from softlookup_grader.run.writer import GradebookWriter

DUE = datetime(2026, 10, 24, 21, 59)  # 23:59 in Berlin, where clocks are set back that night


def rule(kind: type, zone: str = "Europe/Berlin", **traits: float) -> PerDay | PerHour:
    config = Config()
    config.NbGraderAPI.timezone = zone
    config[kind.__name__].update(traits)
    return kind(config=config)


@pytest.mark.slow
@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 6, 1)),
    st.timedeltas(timedelta(seconds=1), timedelta(days=9)),
    st.sampled_from(["Europe/Berlin", "Australia/Sydney", "Australia/Lord_Howe", "Asia/Kolkata", "America/Nuuk"]),
)
@settings(max_examples=60, deadline=None)
def test_a_day_begun_ends_when_clocks_show_the_due_time_again(due: datetime, late: timedelta, zone: str) -> None:
    due = due.replace(second=0, microsecond=0)
    begun = next(days for days in range(1, 12) if due + late <= days_after(due, days, zone))
    assert rule(PerDay).steps(due, due + late, zone_named(zone)) == begun


@pytest.mark.parametrize(
    ("kind", "late", "traits", "share"),
    [
        (PerDay, timedelta(seconds=1), {}, 0.1),
        (PerDay, timedelta(hours=25), {}, 0.1),
        (PerDay, timedelta(hours=25, seconds=1), {}, 0.2),
        (PerDay, timedelta(hours=49, minutes=10), {"grace_minutes": 10}, 0.2),
        (PerDay, timedelta(minutes=10), {"grace_minutes": 10}, 0.0),
        (PerDay, timedelta(minutes=11), {"grace_minutes": 10, "share": 0.25}, 0.25),
        (PerDay, timedelta(days=30), {}, 1.0),
        (PerDay, timedelta(days=30), {"most": 0.5}, 0.5),
        (PerHour, timedelta(minutes=60), {}, 0.01),
        (PerHour, timedelta(minutes=61), {"share": 0.05}, 0.1),
        (PerHour, timedelta(hours=25), {}, 0.25),
    ],
)
def test_a_rule_takes_a_share_for_each_step_begun(kind: type, late: timedelta, traits: dict, share: float) -> None:
    assert rule(kind, **traits).penalty(40.0, DUE, DUE + late) == pytest.approx(40 * share)


def test_seconds_alone_are_enough() -> None:
    assert PerDay().late_submission_penalty("ada", 10.0, 86_400.0) == pytest.approx(1.0)
    assert PerDay().late_submission_penalty("ada", 10.0, 86_401.0) == pytest.approx(2.0)
    assert PerHour().late_submission_penalty("ada", 10.0, 3_601.0) == pytest.approx(0.2)


def configured(course: Course, *lines: str) -> Course:
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write("\n".join(["", 'c.NbGraderAPI.timezone = "Europe/Berlin"', *lines, ""]))
    return Course.at(course.root)


@pytest.fixture
def course(tmp_path_factory: pytest.TempPathFactory, source: object) -> Course:
    plugin = 'c.AssignLatePenalties.plugin_class = "softlookup_grader.course.late_rules.PerDay"'
    there = configured(paper_course(tmp_path_factory, source), plugin)
    set_due(there, NAME, DUE)
    for student, late in (("ada", timedelta(hours=24, minutes=30)), ("bo", timedelta(hours=74))):
        enter(there, student, full(), written=3)
        with there.gradebook() as book:
            book.update_or_create_submission(NAME, student, timestamp=DUE + late)
    extend(there, NAME, "bo", Extension(days=2))
    return there


def penalties(course: Course) -> dict[str, float]:
    with course.gradebook() as book:
        return {row.student_id: row.late_submission_penalty for row in book.assignment_submissions(NAME)}


def test_ours_and_stock_nbgrader_count_from_the_students_own_end(course: Course) -> None:
    """24.5 hours are a day on the wall that night; 74 hours are 25 past an extension of 49, and two days begun."""
    with course.gradebook() as book:
        score = book.find_submission(NAME, "ada").score
    expected = {"ada": pytest.approx(score / 10), "bo": pytest.approx(score / 5)}
    with GradebookWriter(course, NAME) as writer:
        writer.refresh_penalties(lambda _: None)
    assert penalties(course) == expected
    with course.gradebook() as book:
        for student in ("ada", "bo"):
            book.find_submission_notebook(NAME, NAME, student).late_submission_penalty = None
        book.db.commit()
    for student in ("ada", "bo"):
        about = {"notebook": NAME, "assignment": NAME, "student": student, "db_url": course.directory.db_url}
        AssignLatePenalties(config=course.config).preprocess(nbformat.v4.new_notebook(), {"nbgrader": about})
    assert penalties(course) == expected


def test_a_share_above_one_is_refused(course: Course) -> None:
    with pytest.raises(CourseError, match=r"late penalties of nbgrader_config\.py cannot be set up .*share"):
        GradebookWriter(configured(course, "c.PerDay.share = 10"), NAME).__enter__()
