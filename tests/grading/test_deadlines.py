"""Due dates and extensions: what nbgrader then makes of them."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
from paper_class import enter, in_class
from small_class import NAME

from softlookup_grader import Course, CourseError
from softlookup_grader.course import deadlines as module
from softlookup_grader.course.deadlines import Deadlines, as_time, deadlines, deadlines_text, extend, settle
from softlookup_grader.course.grade_sheet import read_sheet
from softlookup_grader.course.terms import Extension

DUE = datetime(2026, 12, 1, 18)


def set_due(course: Course, assignment: str, text: str) -> Deadlines:
    return module.set_due(course, assignment, as_time(text, course.zone)[0])


def column(course: Course, student: str) -> timedelta | None:
    """What nbgrader itself holds."""
    with course.gradebook() as book:
        return book.find_submission(NAME, student).extension


def through_nbgrader(course: Course, student: str, **more: float) -> None:
    with course.gradebook() as book:
        book.update_or_create_student(student)
        with book.db.no_autoflush:
            book.update_or_create_submission(NAME, student)
        book.grant_extension(NAME, student, **more)


def berlin(course: Course) -> Course:
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write('c.NbGraderAPI.timezone = "Europe/Berlin"\n')
    return Course.at(course.root)


@pytest.fixture
def course(paper):
    in_class(paper, "ada")
    return paper


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("2026-12-01 18:00", DUE),
        ("1 Dec 2026", datetime(2026, 12, 1, 23, 59)),
        ("2026-12-01 Europe/Paris", datetime(2026, 12, 1, 22, 59)),
        ("none", None),
    ],
)
def test_a_due_date_is_kept_in_utc_where_nbgrader_looks(course, text, due):
    assert set_due(course, NAME, text).due == due
    with course.gradebook() as book:
        assert book.find_assignment(NAME).duedate == due


def test_a_date_without_a_time_is_the_end_of_the_day_and_says_so(course):
    when, words = as_time("2026-02-01", berlin(course).zone, now=DUE)
    assert when == datetime(2026, 2, 1, 22, 59)
    assert words == (
        "Sunday 2026-02-01 23:59 Europe/Berlin (UTC+01:00), the end of that day, since no time is named. "
        "Note: that was 9 months ago"
    )
    assert "no time" not in as_time("2026-02-01 18:00", now=DUE)[1]
    assert "ago" not in as_time("2026-12-01 18:01", now=DUE)[1]


def test_an_extension_is_nbgraders_for_who_has_handed_in_nothing_yet(course):
    set_due(course, NAME, "2026-12-01 18:00")
    dates = extend(course, NAME, "ada", Extension(2, 3))
    assert dates.due_for("ada") == datetime(2026, 12, 3, 21) == dates.last and dates.due_for("bo") == DUE
    with course.gradebook() as book:
        row = book.find_submission(NAME, "ada")
        assert row.duedate == datetime(2026, 12, 3, 21) and len(row.notebooks[0].grades) == 15
    assert read_sheet(course, NAME)[0].status == "missing", "a row for an extension is no submission"


def test_an_extension_takes_the_place_of_the_earlier_and_can_be_ended_and_grades_stay(course):
    set_due(course, NAME, "2026-12-01 18:00")
    enter(course, "ada", {"04-mix-check": 2.0}, written=1.5)
    extend(course, NAME, "ada", Extension(days=2))
    assert extend(course, NAME, "ada", Extension(hours=5)).extensions == {"ada": timedelta(hours=5)}
    assert extend(course, NAME, "ada", None).extensions == {} and column(course, "ada") is None
    assert read_sheet(course, NAME)[0].raw == 3.5


def test_days_keep_the_clock_on_the_wall_and_hours_are_elapsed(course):
    there = berlin(course)
    set_due(there, NAME, "2026-10-24 23:59")
    dates = extend(there, NAME, "ada", Extension(days=2))
    assert dates.due_for("ada") == datetime(2026, 10, 26, 22, 59) and column(there, "ada") == timedelta(hours=49)
    end = "Monday 2026-10-26 23:59 Europe/Berlin (UTC+01:00) (2 days on the calendar, 49 hours)"
    assert deadlines_text(dates).splitlines()[1:] == [f"  ada: {end}"]
    dates = extend(there, NAME, "ada", Extension(hours=48))
    end = "Monday 2026-10-26 22:59 Europe/Berlin (UTC+01:00) (48 hours)"
    assert deadlines_text(dates).splitlines()[1:] == [f"  ada: {end}"]


def test_an_end_as_given_is_the_end_whatever_the_due_date(course):
    set_due(course, NAME, "2026-12-01 18:00")
    end = datetime(2026, 12, 4, 12)
    assert extend(course, NAME, "ada", Extension(until=end)).due_for("ada") == end
    assert column(course, "ada") == timedelta(days=2, hours=18)
    assert set_due(course, NAME, "2026-12-03 12:00").due_for("ada") == end and column(course, "ada") == timedelta(1)
    assert set_due(course, NAME, "2026-12-08 12:00").due_for("ada") == datetime(2026, 12, 8, 12), "never before"
    assert column(course, "ada") is None
    assert set_due(course, NAME, "2026-12-01 18:00").due_for("ada") == end, "it is remembered all the same"


@pytest.mark.parametrize("through", [timedelta(hours=5), timedelta(minutes=1), -timedelta(hours=1)])
def test_an_extension_through_nbgrader_is_left_alone(course, through):
    set_due(course, NAME, "2026-12-01 18:00")
    through_nbgrader(course, "ada", minutes=through.total_seconds() / 60)
    assert deadlines(course, NAME).extensions == {"ada": through}
    for text in ("2026-12-03 18:00", "2026-12-01 18:00"):
        set_due(course, NAME, text)
        settle(course, NAME)
        assert column(course, "ada") == through
    through_nbgrader(course, "ada")
    assert settle(course, NAME).ends == {} and column(course, "ada") is None, "and its end, too"


def test_an_extension_through_nbgrader_takes_the_place_of_ours_and_ours_of_it(course):
    set_due(course, NAME, "2026-12-01 18:00")
    extend(course, NAME, "ada", Extension(days=2))
    through_nbgrader(course, "ada", hours=5)
    assert settle(course, NAME).ends["ada"].why == "5 hours, given through nbgrader"
    assert column(course, "ada") == timedelta(hours=5)
    assert extend(course, NAME, "ada", Extension(days=1)).extensions == {"ada": timedelta(days=1)}
    assert settle(course, NAME).ends["ada"].why == "1 day on the calendar, 24 hours"


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("killed_at", [1, 2, 3])
def test_a_kill_at_any_step_leaves_what_the_same_call_finishes(course, monkeypatch, killed_at):
    """Written are the file, the gradebook and the file again."""
    there = berlin(course)
    set_due(there, NAME, "2026-10-20 18:00")
    extend(there, NAME, "ada", Extension(days=2))
    steps = itertools.count(1)

    def until_killed(step: Callable) -> Callable:
        def taken(*args: object) -> None:
            if next(steps) == killed_at:
                raise Killed
            step(*args)

        return taken

    changing = module._changing

    @contextmanager
    def killed(course: Course, assignment: str) -> Iterator:
        with changing(course, assignment) as (book, rows, granted):
            book.db.commit = until_killed(book.db.commit)
            yield book, rows, granted

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(module, "keep_granted", until_killed(module.keep_granted))
        patch.setattr(module, "_changing", killed)
        set_due(there, NAME, "2026-10-24 18:00")
    assert settle(there, NAME).ends["ada"].why.startswith("2 days on the calendar"), "nobody takes it for nbgrader's"
    dates = set_due(there, NAME, "2026-10-24 18:00")
    assert column(there, "ada") == timedelta(hours=49) == dates.extensions["ada"]
    assert dates.ends["ada"].why == "2 days on the calendar, 49 hours"


def test_who_came_late_is_told_with_extensions_counted(course):
    set_due(course, NAME, "2026-12-01 18:00")
    for student in ("ada", "bo", "cy"):
        enter(course, student, {})
        with course.gradebook() as book:
            late = timedelta(hours=30) if student != "cy" else timedelta(hours=-1)
            book.update_or_create_submission(NAME, student, timestamp=DUE + late)
    dates = extend(course, NAME, "ada", Extension(days=1))
    assert dates.late == {"ada": 6 * 3600, "bo": 30 * 3600}
    with course.gradebook() as book:
        assert {s: book.find_submission(NAME, s).total_seconds_late for s in dates.late} == dates.late
    text = deadlines_text(dates)
    assert "ada: Wednesday 2026-12-02 18:00 UTC (1 day on the calendar, 24 hours)" in text
    assert "bo came late by 1 day 6 hours" in text


@pytest.mark.parametrize(
    ("student", "says"),
    [
        ("adda", "nobody in the class has the id 'adda'; did you mean ada?"),
        ("zzz", "nobody in the class has the id 'zzz': ids are those of the class list"),
        ("ada", "has no due date yet: give it one first, with --due"),
    ],
)
def test_an_extension_that_cannot_be_is_one_sentence(course, student, says):
    with pytest.raises(CourseError, match=says):
        extend(course, NAME, student, Extension(1))
    with course.gradebook() as book:
        assert [row.id for row in book.students] == ["ada"]


@pytest.mark.parametrize(
    ("extension", "says"),
    [
        (Extension(-1), "an extension must give more time, and this gives less"),
        (Extension(), r"must give more time: 04_one_head is due Tuesday 2026-12-01 18:00 UTC$"),
        (Extension(until=datetime(2026, 12, 1, 17)), "and Tuesday 2026-12-01 17:00 UTC is not later"),
        (Extension(days=3_000_000), "beyond the end of the calendar"),
    ],
)
def test_an_extension_that_gives_nothing_is_refused_and_leaves_the_earlier(course, extension, says):
    set_due(course, NAME, "2026-12-01 18:00")
    extend(course, NAME, "ada", Extension(days=1))
    with pytest.raises(CourseError, match=says):
        extend(course, NAME, "ada", extension)
    assert deadlines(course, NAME).extensions == {"ada": timedelta(days=1)} == {"ada": column(course, "ada")}


def test_a_due_date_with_extensions_cannot_be_taken_away(course):
    set_due(course, NAME, "2026-12-01 18:00")
    extend(course, NAME, "ada", Extension(days=1))
    with pytest.raises(CourseError, match=r"there are extensions of it \(ada\)"):
        set_due(course, NAME, "none")
    assert deadlines(course, NAME).due == DUE


def test_the_record_of_dates_is_the_owners_alone_and_named_where_it_is_damaged(course):
    set_due(course, NAME, "2026-12-01 18:00")
    enter(course, "ada", {})
    settle(course, NAME)
    record = course.root / ".dates.json"
    assert not record.exists(), "nobody has more time"
    extend(course, NAME, "ada", Extension(days=1))
    assert record.stat().st_mode & 0o777 == 0o600
    record.write_text('{"extensions": 3}')
    with pytest.raises(CourseError, match=r"\.dates\.json is damaged: put a backup in its place"):
        deadlines(course, NAME)


@pytest.mark.parametrize(("name", "says"), [("CET", "not one time zone for sure"), ("UTC+1", "name a place, such as")])
def test_a_time_zone_of_two_meanings_is_refused(course, name, says):
    """nbgrader's formgrader would take UTC+1 for an hour west."""
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f"c.NbGraderAPI.timezone = {name!r}\n")
    with pytest.raises(CourseError, match=says):
        set_due(Course.at(course.root), NAME, "2026-12-01 18:00")
