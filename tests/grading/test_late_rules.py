"""When something ends for a student, and what a late rule takes, against clocks that are looked at minute by minute."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.preprocessors import AssignLatePenalties
from paper_class import enter, full
from small_class import NAME
from traitlets.config import Config

from softlookup_grader import Course, CourseError
from softlookup_grader.course.deadlines import extend, set_due
from softlookup_grader.course.late_rules import PerDay, PerHour
from softlookup_grader.course.terms import Accommodation, Extension, end_for
from softlookup_grader.data.dates import read_end, zone_named
from softlookup_grader.run.writer import GradebookWriter

MINUTE = timedelta(minutes=1)
# What clocks show, found by looking at each minute: an oracle that knows nothing of fold or of adding days.


def shows(when: datetime, zone: str) -> datetime:
    """What a clock shows at a time in UTC."""
    return when.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)


def last_moment(clock: datetime, zone: str) -> datetime:
    """The last minute, in UTC, at which a clock shows a time; where it jumps over it, as long after as the jump is."""
    around = [clock + minutes * MINUTE for minutes in range(-16 * 60, 16 * 60)]
    shown = [shows(when, zone) for when in around]
    if clock in shown:
        return max(when for when, wall in zip(around, shown, strict=True) if wall == clock)
    before = max(at for at, wall in enumerate(shown) if wall < clock)
    jump = shown[before + 1] - shown[before] - MINUTE
    return last_moment(clock + jump, zone)


def days_after(due: datetime, days: int, zone: str) -> datetime:
    """The same time on a clock some days later, in UTC."""
    return last_moment(shows(due, zone) + timedelta(days=days), zone) if days else due


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
def test_a_day_begun_ends_when_clocks_show_the_due_time_again(due, late, zone):
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
def test_a_rule_takes_a_share_for_each_step_begun(kind, late, traits, share):
    assert rule(kind, **traits).penalty(40.0, DUE, DUE + late) == pytest.approx(40 * share)


def test_seconds_alone_are_enough():
    assert PerDay().late_submission_penalty("ada", 10.0, 86_400.0) == pytest.approx(1.0)
    assert PerDay().late_submission_penalty("ada", 10.0, 86_401.0) == pytest.approx(2.0)
    assert PerHour().late_submission_penalty("ada", 10.0, 3_601.0) == pytest.approx(0.2)


def configured(course: Course, *lines: str) -> Course:
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write("\n".join(["", 'c.NbGraderAPI.timezone = "Europe/Berlin"', *lines, ""]))
    return Course.at(course.root)


@pytest.fixture
def course(paper):
    plugin = 'c.AssignLatePenalties.plugin_class = "softlookup_grader.course.late_rules.PerDay"'
    there = configured(paper, plugin)
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


def test_ours_and_stock_nbgrader_count_from_the_students_own_end(course):
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


def test_a_share_above_one_is_refused(course):
    with pytest.raises(CourseError, match=r"late penalties of nbgrader_config\.py cannot be set up .*share"):
        GradebookWriter(configured(course, "c.PerDay.share = 10"), NAME).__enter__()


ZONES = (
    *("Europe/Berlin", "Europe/London", "America/New_York", "America/St_Johns", "America/Nuuk", "America/Havana"),
    *("Australia/Sydney", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Chatham", "America/Santiago"),
    *("Africa/Casablanca", "Asia/Kolkata", "Asia/Tokyo", "America/Sao_Paulo", "UTC"),
)
"""With clock changes at many hours and of half an hour, in both hemispheres, and without any."""


def end(due: datetime, zone: str, extension: Extension | None, standing: Accommodation | None = None, start=None):
    ends = end_for(due, zone_named(zone), extension, standing, start)
    return due if ends is None else ends.when


@pytest.mark.slow
@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2028, 1, 1)),
    st.integers(0, 200),
    st.integers(0, 60),
    st.sampled_from(ZONES),
)
@settings(max_examples=150, deadline=None)
def test_days_are_those_of_the_wall_and_hours_are_elapsed(due, days, hours, zone):
    due = due.replace(second=0, microsecond=0)
    expected = days_after(due, days, zone) + timedelta(hours=hours)
    assert end(due, zone, Extension(days, hours)) == expected
    assert end(due, zone, None, Accommodation(days)) == days_after(due, days, zone)


@pytest.mark.parametrize(
    ("zone", "due", "days", "wall", "hours"),
    [
        ("Europe/Berlin", "2026-10-24 23:59", 2, "2026-10-26 23:59", 49),
        ("Europe/Berlin", "2026-03-28 23:59", 1, "2026-03-29 23:59", 23),
        ("America/New_York", "2026-10-31 18:00", 3, "2026-11-03 18:00", 73),
        ("Australia/Sydney", "2026-04-04 18:00", 1, "2026-04-05 18:00", 25),
        ("Australia/Sydney", "2026-10-03 18:00", 1, "2026-10-04 18:00", 23),
        ("Australia/Lord_Howe", "2026-04-04 18:00", 1, "2026-04-05 18:00", 24.5),
        ("Asia/Tokyo", "2026-10-24 23:59", 2, "2026-10-26 23:59", 48),
        ("America/Sao_Paulo", "2026-10-17 23:59", 2, "2026-10-19 23:59", 48),
        ("Europe/Berlin", "2026-12-30 23:59", 3, "2027-01-02 23:59", 72),
        # A time that comes twice: the later one; one that is skipped: the later reading of it.
        ("Europe/Berlin", "2026-10-24 02:30", 1, "2026-10-25 02:30", 25),
        ("Europe/Berlin", "2026-03-28 02:30", 1, "2026-03-29 03:30", 24),
    ],
)
def test_days_over_a_change_of_clocks_and_of_the_year(zone, due, days, wall, hours):
    utc = last_moment(datetime.fromisoformat(due), zone)
    assert end(utc, zone, Extension(days)) - utc == timedelta(hours=hours)
    assert shows(end(utc, zone, Extension(days)), zone) == datetime.fromisoformat(wall)


@pytest.mark.parametrize("first", [True, False])
def test_what_is_due_in_the_hour_that_comes_twice_ends_by_the_wall(first):
    due = datetime(2026, 10, 25, 0, 30) if first else datetime(2026, 10, 25, 1, 30)
    assert shows(due, "Europe/Berlin") == datetime(2026, 10, 25, 2, 30)
    assert end(due, "Europe/Berlin", Extension(days=1)) == datetime(2026, 10, 26, 1, 30)
    assert end(due, "Europe/Berlin", Extension(hours=24)) == due + timedelta(hours=24)


def test_what_clocks_do_on_that_day_is_said():
    berlin = zone_named("Europe/Berlin")
    twice = end_for(datetime(2026, 10, 24, 0, 30), berlin, Extension(days=1), None, None).why
    assert twice == "1 day on the calendar, 25 hours; clocks show 02:30 twice that day, and the later one counts"
    skipped = end_for(datetime(2026, 3, 28, 1, 30), berlin, None, Accommodation(1), None).why
    assert skipped == "standing, 1 day on the calendar, 24 hours; clocks skip 02:30 that day, and 03:30 counts"


@given(st.dates(datetime(2024, 1, 1).date(), datetime(2028, 1, 1).date()), st.sampled_from(ZONES))
@settings(max_examples=60, deadline=None)
def test_a_day_ends_at_the_last_2359_that_clocks_show(day, zone):
    when, whole_day = read_end(day.isoformat(), zone_named(zone))
    clock = datetime(day.year, day.month, day.day, 23, 59)
    assert whole_day and when.astimezone(UTC).replace(tzinfo=None) == last_moment(clock, zone)


@pytest.mark.parametrize(
    ("factor", "start", "more"),
    [
        (1.5, "2026-10-10 21:59", timedelta(days=7)),
        (1.25, "2026-10-24 20:59", timedelta(minutes=15)),
        (1.1, "2026-10-24 21:49", timedelta(minutes=1)),
        (1.1, "2026-10-24 21:48", timedelta(minutes=2)),  # 1.1 minutes, and a minute begun counts
        (1.5, "2026-10-24 21:59", timedelta()),
        (1.5, "2026-10-25 21:59", timedelta()),
        (1.0, "2026-10-10 21:59", timedelta()),
    ],
)
def test_a_factor_multiplies_the_time_since_the_start(factor, start, more):
    due = datetime(2026, 10, 24, 21, 59)
    standing = Accommodation(time=factor)
    assert end(due, "Europe/Berlin", None, standing, datetime.fromisoformat(start)) - due == more
    assert end(due, "Europe/Berlin", None, standing) == due, "nobody knows the start"


@pytest.mark.parametrize(
    ("extension", "standing", "hours"),
    [
        (Extension(days=1), Accommodation(days=3), 73),
        (Extension(days=4), Accommodation(days=3), 97),
        (Extension(hours=1), Accommodation(days=1, time=1.5), 168),
        (Extension(hours=1), Accommodation(days=8, time=1.5), 193),
        (Extension(until=datetime(2026, 11, 1, 21, 59)), Accommodation(time=1.5), 192),
        (Extension(days=1), Accommodation(days=3, until=datetime(2026, 10, 24, 21, 58)), 25),
        (Extension(days=1), Accommodation(days=3, until=datetime(2026, 10, 24, 21, 59)), 73),
    ],
)
def test_what_gives_most_counts_and_not_the_sum(extension, standing, hours):
    due, start = datetime(2026, 10, 24, 21, 59), datetime(2026, 10, 10, 21, 59)
    assert end(due, "Europe/Berlin", extension, standing, start) - due == timedelta(hours=hours)
