"""Dates as people write them: what has one reading is read, and nothing else is."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup_grader import CourseError
from softlookup_grader.data.dates import naive_utc, read_time, shown_time, time_since, zone_named

BERLIN = zone_named("Europe/Berlin")
SIX = datetime(2026, 12, 1, 17)  # six in the evening in Berlin, in UTC


@pytest.mark.parametrize(
    "text",
    [
        "2026-12-01 18:00",
        "2026-12-01T18:00:00.000",
        "20261201T180000",
        "2026-W49-2 18:00",
        "2026-335T18:00",
        "2026-12-01T17:00Z",
        "2026-12-01 17:00:00.123456 UTC",
        "2026-12-01 22:30 +05:30",
        "2026-12-01 12:00\u221205:00",
        "2026-12-01 18:00 UTC+1",
        "2026-12-01 18:00 GMT+0100",
        "2026-12-01 18:00 CET",
        "2026-12-01 18:00 MEZ",
        "1. Dezember 2026, 18:00 Uhr MEZ",
        "2026-12-01 12:00 America/New_York",
        "Tuesday 2026-12-01 18:00 Europe/Berlin (UTC+01:00)",
        "2026/12/1 6 pm",
        "1 December 2026, 6:00 PM",
        "December 1st, 2026 at 6:00 p.m.",
        "1-Dec-2026 18h00",
        "Tue, 01 Dec 2026 18:00:00 +0100",
        "Tue Dec 1 18:00:00 2026 +0100",
        "Tue Dec 01 2026 18:00:00 GMT+0100 (Central European Standard Time)",
        "Tuesday, 1 December 2026, 6:00\u202fPM",
        "Dienstag, 1. Dezember 2026, 18:00 Uhr",
        "mar. 1 déc. 2026, 18:00",
        "martes, 1 de diciembre de 2026, 18:00",
        "wtorek, 1 grudnia 2026, 18:00",
        "2026. december 1., kedd, 18:00",
        "2026年12月1日(星期二) 18:00",
        "Tuesday 1/12/2026 18:00",
    ],
)
def test_a_form_with_one_reading_is_read(text: str) -> None:
    assert naive_utc(read_time(text, BERLIN)).replace(microsecond=0) == SIX


@pytest.mark.parametrize(
    ("zone", "winter", "summer"),
    [("Europe/Berlin", "MEZ", "MESZ"), ("Europe/Helsinki", "OEZ", "OESZ"), ("Europe/Lisbon", "WEZ", "WESZ")],
)
def test_german_names_of_time_zones_are_read_like_the_english_ones(zone: str, winter: str, summer: str) -> None:
    for day, name in (("2026-12-01", winter), ("2026-07-01", summer)):
        assert read_time(f"{day} 18:00 {name}", zone_named(zone)) == read_time(f"{day} 18:00 {zone}")


@pytest.mark.parametrize(
    ("days", "says"),
    [
        (0, ""),
        (-1, ""),
        (1 / 48, "less than an hour ago"),
        (1 / 24, "1 hour ago"),
        (2.5, "2 days ago"),
        (250, "8 months ago"),
        (370, "1 year ago"),
    ],
)
def test_how_long_ago_something_was_is_said_in_its_largest_unit(days: float, says: str) -> None:
    now = datetime(2026, 11, 29, 12)
    assert time_since(now - timedelta(days=days), now) == says
    assert time_since((now - timedelta(days=days)).replace(tzinfo=UTC).astimezone(BERLIN), now) == says


@pytest.mark.parametrize(("text", "day"), [("13.02.2026", 13), ("2/13/2026", 13), ("2.2.2026", 2), ("2026-02-13", 13)])
def test_figures_are_read_where_one_alone_can_be_the_month(text: str, day: int) -> None:
    assert read_time(text) == datetime(2026, 2, day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("01.02.2026", "as 1 February 2026 or as 2 January 2026: write 2026-02-01 or 2026-01-02"),
        ("3/4/2026 18:00", "as 3 April 2026 or as 4 March 2026"),
        ("1 listopada 2026", "as 1 (October|November) 2026 or as 1 (October|November) 2026"),
        ("Monday 2026-12-01", "not on the day of the week that it names"),
        ("2026-10-25 02:30", r"comes twice in Europe/Berlin.*02:30\+02:00 or 2026-10-25 02:30\+01:00"),
        ("2026-03-29 02:30", "a time that Europe/Berlin skips"),
        ("2026-07-01 18:00 CET", "because of 'cet'"),
        ("2026-07-01 18:00 MEZ", "because of 'mez'"),
        ("2026-12-01 18:00 MESZ", "because of 'mesz'"),
        ("1 Feb", "'1 Feb' is not an unambiguous date, because the year is missing"),
        ("29. Februar 18:00", "because the year is missing"),
        ("Monday 1/2", "because the year is missing"),
        ("12-31", "because the year is missing"),
        ("2026-12-01 18:00 EST", "because of 'est'"),
        ("2026-12-01 18:00 Europe/London UTC+3", "an offset that is not its own"),
        ("2026-12-01 18:00 Europe/London Asia/Tokyo", "several time zones"),
        ("2026-12-01 18:00 Europe/Nowhere", "there is no time zone 'Europe/Nowhere'"),
        ("2026-12-01 18:00 Etc/GMT+1", r"turned sign, and means UTC-1: write UTC-1 or UTC\+1"),
        ("2026-12-01 25:00", "no time of day that a clock shows"),
        ("2026-12-01 18:00 PM", "no time of day"),
        ("2026-12-01 18:00 UTC+16", "no offset"),
        *((text, "is not an unambiguous date") for text in ("", "soon", "18:00", "12-31", "2026-13-40", "01/02/26")),
        *(
            (text, "is not an unambiguous date")
            for text in ("1764612000", "0001-01-01", "1 Dec 99999999", "1 + 2026-12-01")
        ),
        ("9" * 199, "too long"),
    ],
)
def test_what_is_no_date_or_two_is_refused_with_its_readings(text: str, says: str) -> None:
    with pytest.raises(CourseError, match=says):
        read_time(text, BERLIN)


def test_a_weekday_decides_between_two_readings() -> None:
    assert read_time("Sunday 01.02.2026").date().isoformat() == "2026-02-01"
    assert read_time("Friday 01.02.2026").date().isoformat() == "2026-01-02"
    assert read_time("niedziela, 1 listopada 2026").month == 11


def test_midnight_at_the_end_of_a_day_is_the_next_days_beginning() -> None:
    assert read_time("2026-12-01 24:00") == datetime(2026, 12, 2, tzinfo=UTC)
    assert read_time("2026-12-01 12:00 AM") == datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "hours"), [("UTC+1", 1), ("gmt-0330", -3.5), ("+05:30", 5.5), ("UTC", 0), ("Japan", 9)]
)
def test_a_zone_by_name_or_offset(name: str, hours: float) -> None:
    assert datetime(2026, 12, 1, tzinfo=zone_named(name)).utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("name", "says"),
    [("CET", "not one time zone for sure"), ("MEZ", "for sure"), ("CEST", "for sure"), ("../x", "no time zone")],
)
def test_a_zone_with_two_meanings_or_none_is_refused(name: str, says: str) -> None:
    with pytest.raises(CourseError, match=says):
        zone_named(name)


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)),
    st.sampled_from(["Europe/London", "UTC", "UTC-3", "Asia/Kathmandu"]),
)
def test_what_is_shown_is_read_back(when: datetime, name: str) -> None:
    zone, when = zone_named(name), when.replace(second=0, microsecond=0)
    assert naive_utc(read_time(shown_time(when, zone))) == when


@given(st.text(max_size=40) | st.text("0123456789:./-+ TZUTCGMTapm()", max_size=30))
def test_any_other_text_is_refused_in_one_sentence(text: str) -> None:
    try:
        assert 1900 <= read_time(text).year < 10_000
    except CourseError as error:
        assert "\n" not in str(error)
