"""When something ends for a student who has more time, against clocks that are looked at minute by minute."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wall_clock import days_after, last_moment, shows

from softlookup_grader import CourseError
from softlookup_grader.course.terms import (
    Accommodation,
    Extension,
    accommodation_in_words,
    end_for,
)
from softlookup_grader.data.dates import read_end, zone_named

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
def test_days_are_those_of_the_wall_and_hours_are_elapsed(due: datetime, days: int, hours: int, zone: str) -> None:
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
def test_days_over_a_change_of_clocks_and_of_the_year(zone: str, due: str, days: int, wall: str, hours: float) -> None:
    utc = last_moment(datetime.fromisoformat(due), zone)
    assert end(utc, zone, Extension(days)) - utc == timedelta(hours=hours)
    assert shows(end(utc, zone, Extension(days)), zone) == datetime.fromisoformat(wall)


@pytest.mark.parametrize("first", [True, False])
def test_what_is_due_in_the_hour_that_comes_twice_ends_by_the_wall(first: bool) -> None:
    due = datetime(2026, 10, 25, 0, 30) if first else datetime(2026, 10, 25, 1, 30)
    assert shows(due, "Europe/Berlin") == datetime(2026, 10, 25, 2, 30)
    assert end(due, "Europe/Berlin", Extension(days=1)) == datetime(2026, 10, 26, 1, 30)
    assert end(due, "Europe/Berlin", Extension(hours=24)) == due + timedelta(hours=24)


def test_what_clocks_do_on_that_day_is_said() -> None:
    berlin = zone_named("Europe/Berlin")
    twice = end_for(datetime(2026, 10, 24, 0, 30), berlin, Extension(days=1), None, None)
    assert twice is not None and twice.why == (
        "1 day on the calendar, 25 hours; clocks show 02:30 twice that day, and the later one counts"
    )
    skipped = end_for(datetime(2026, 3, 28, 1, 30), berlin, None, Accommodation(1), None)
    assert skipped is not None and skipped.why == (
        "standing, 1 day on the calendar, 24 hours; clocks skip 02:30 that day, and 03:30 counts"
    )


@given(st.dates(datetime(2024, 1, 1).date(), datetime(2028, 1, 1).date()), st.sampled_from(ZONES))
@settings(max_examples=60, deadline=None)
def test_a_day_ends_at_the_last_2359_that_clocks_show(day, zone: str) -> None:
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
def test_a_factor_multiplies_the_time_since_the_start(factor: float, start: str, more: timedelta) -> None:
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
def test_what_gives_most_counts_and_not_the_sum(extension: Extension, standing: Accommodation, hours: float) -> None:
    due, start = datetime(2026, 10, 24, 21, 59), datetime(2026, 10, 10, 21, 59)
    assert end(due, "Europe/Berlin", extension, standing, start) - due == timedelta(hours=hours)


def test_more_time_than_the_calendar_has_is_one_sentence() -> None:
    with pytest.raises(CourseError, match="beyond the end of the calendar"):
        end(datetime(9995, 1, 1), "Europe/Berlin", Extension(days=3650))


def test_an_accommodation_in_words() -> None:
    until = datetime(2027, 3, 31, 21, 59)
    assert accommodation_in_words(Accommodation(days=1), UTC) == "1 day on the calendar"
    assert accommodation_in_words(Accommodation(time=1.25, until=until), UTC) == (
        "1.25 times the time, for what is due until Wednesday 2027-03-31 21:59 UTC"
    )
