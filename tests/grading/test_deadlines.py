"""Due dates and extensions: what nbgrader then makes of them."""

from datetime import datetime, timedelta

import pytest
from paper_class import enter, in_class, paper_course
from small_class import NAME

from softlookup.grading import Course, CourseError
from softlookup.grading.course import deadlines as module
from softlookup.grading.course.deadlines import Deadlines, as_text, as_time, deadlines, deadlines_text, extend, in_words
from softlookup.grading.course.grade_sheet import read_sheet

DUE = datetime(2026, 12, 1, 18)


def set_due(course: Course, assignment: str, text: str) -> Deadlines:
    return module.set_due(course, assignment, as_time(text, course.zone))


@pytest.fixture
def course(tmp_path_factory: pytest.TempPathFactory, source: object) -> Course:
    made = paper_course(tmp_path_factory, source)
    in_class(made, "ada")
    return made


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("2026-12-01 18:00", DUE),
        ("2026-12-01T18:00", DUE),
        ("1 Dec 2026 18:00", DUE),
        ("1 Dec 2026", datetime(2026, 12, 1)),
        ("2026-12-01 19:00 Europe/Paris", DUE),
        ("2026-07-01 20:00 Europe/Paris", datetime(2026, 7, 1, 18)),
        ("2026-12-01 18:00 UTC", DUE),
        ("2026-12-01 20:00+02:00", DUE),
        ("2026-12-01 19:00 UTC+1", DUE),
        ("2026-12-01 19:00 GMT+0100", DUE),
        ("none", None),
    ],
)
def test_a_due_date_is_kept_in_utc_where_nbgrader_looks(course: Course, text: str, due: datetime | None) -> None:
    assert set_due(course, NAME, text).due == due
    with course.gradebook() as book:
        assert book.find_assignment(NAME).duedate == due


@pytest.mark.parametrize("text", ["soon", "18:00", "", "12-31", "2026-13-40", "2026-12-01 18:00 XYZ", "1 Dec 99999999"])
def test_what_is_no_date_for_sure_is_refused(course: Course, text: str) -> None:
    with pytest.raises(CourseError, match="is not an unambiguous date"):
        set_due(course, NAME, text)


def test_an_unknown_time_zone_is_refused(course: Course) -> None:
    with pytest.raises(CourseError, match="there is no time zone 'Europe/Nowhere'"):
        set_due(course, NAME, "2026-12-01 18:00 Europe/Nowhere")


def test_an_extension_is_nbgraders_for_who_has_handed_in_nothing_yet(course: Course) -> None:
    set_due(course, NAME, "2026-12-01 18:00")
    dates = extend(course, NAME, "ada", timedelta(days=2, hours=3))
    assert dates.due_for("ada") == datetime(2026, 12, 3, 21) and dates.due_for("bo") == DUE
    with course.gradebook() as book:
        row = book.find_submission(NAME, "ada")
        assert row.duedate == datetime(2026, 12, 3, 21) and len(row.notebooks[0].grades) == 15
    assert read_sheet(course, NAME)[0].status == "missing", "a row for an extension is no submission"


def test_an_extension_takes_the_place_of_the_earlier_and_can_be_ended(course: Course) -> None:
    set_due(course, NAME, "2026-12-01 18:00")
    extend(course, NAME, "ada", timedelta(days=2))
    assert extend(course, NAME, "ada", timedelta(hours=5)).extensions == {"ada": timedelta(hours=5)}
    assert extend(course, NAME, "ada", timedelta()).extensions == {}


def test_an_extension_keeps_the_grades_that_are_there(course: Course) -> None:
    set_due(course, NAME, "2026-12-01 18:00")
    enter(course, "ada", {"04-mix-check": 2.0}, written=1.5)
    extend(course, NAME, "ada", timedelta(days=1))
    assert read_sheet(course, NAME)[0].raw == 3.5


def test_who_came_late_is_told_with_extensions_counted(course: Course) -> None:
    set_due(course, NAME, "2026-12-01 18:00")
    for student in ("ada", "bo", "cy"):
        enter(course, student, {})
        with course.gradebook() as book:
            late = timedelta(hours=30) if student != "cy" else timedelta(hours=-1)
            book.update_or_create_submission(NAME, student, timestamp=DUE + late)
    dates = extend(course, NAME, "ada", timedelta(days=1))
    assert dates.late == {"ada": 6 * 3600, "bo": 30 * 3600}
    with course.gradebook() as book:
        assert {s: book.find_submission(NAME, s).total_seconds_late for s in dates.late} == dates.late
    text = deadlines_text(dates)
    assert "ada: Wednesday 2026-12-02 18:00 UTC (1 day more)" in text and "bo came late by 1 day 6 hours" in text


@pytest.mark.parametrize(
    ("student", "days", "says"),
    [
        ("adda", 1, "nobody in the class is called 'adda'; did you mean ada?"),
        ("zzz", 1, "nobody in the class is called 'zzz'$"),
        ("ada", -1, "an extension must give more time, but this is 1 day less"),
        ("ada", 1, "has no due date yet: give it one first, with --due"),
    ],
)
def test_an_extension_that_cannot_be_is_one_sentence(course: Course, student: str, days: int, says: str) -> None:
    with pytest.raises(CourseError, match=says):
        extend(course, NAME, student, timedelta(days=days))
    with course.gradebook() as book:
        assert [row.id for row in book.students] == ["ada"]


def test_a_due_date_with_extensions_cannot_be_taken_away(course: Course) -> None:
    set_due(course, NAME, "2026-12-01 18:00")
    extend(course, NAME, "ada", timedelta(days=1))
    with pytest.raises(CourseError, match=r"there are extensions of it \(ada\)"):
        set_due(course, NAME, "none")
    assert deadlines(course, NAME).due == DUE


def test_a_course_has_a_time_zone_of_its_own(course: Course) -> None:
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write('c.NbGraderAPI.timezone = "Europe/Berlin"\n')
    there = Course.at(course.root)
    assert set_due(there, NAME, "2026-07-01 18:00").due == datetime(2026, 7, 1, 16)
    dates = extend(there, NAME, "ada", timedelta(days=150))
    assert deadlines_text(dates).splitlines()[:2] == [
        f"{NAME}: Wednesday 2026-07-01 18:00 Europe/Berlin (UTC+02:00)",
        "  ada: Saturday 2026-11-28 17:00 Europe/Berlin (UTC+01:00) (150 days more)",
    ]


@pytest.mark.parametrize(("name", "says"), [("CET", "not one time zone for sure"), ("UTC+1", "name a place, such as")])
def test_a_time_zone_of_two_meanings_is_refused(course: Course, name: str, says: str) -> None:
    """nbgrader's formgrader would take UTC+1 for an hour west."""
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f"c.NbGraderAPI.timezone = {name!r}\n")
    with pytest.raises(CourseError, match=says):
        deadlines(Course.at(course.root), NAME)


def test_an_unknown_assignment_is_one_sentence(course: Course) -> None:
    with pytest.raises(CourseError, match="knows no assignment '05_x'"):
        deadlines(course, "05_x")
    with pytest.raises(CourseError, match="knows no assignment '05_x'"):
        set_due(course, "05_x", "2026-12-01")


def test_times_in_words() -> None:
    assert in_words(timedelta(days=1, hours=1)) == "1 day 1 hour" and as_text(None) == "no due date"
    assert as_text(DUE) == "Tuesday 2026-12-01 18:00 UTC"
