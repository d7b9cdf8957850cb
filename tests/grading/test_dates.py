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
        *("2026-12-01 18:00", "2026-12-01T18:00:00.000", "20261201T180000", "2026-W49-2 18:00", "2026-335T18:00"),
        *("2026-12-01T17:00Z", "2026-12-01 17:00:00.123456 UTC", "2026-12-01 22:30 +05:30"),
        *("2026-12-01 12:00\u221205:00", "2026-12-01 18:00 UTC+1", "2026-12-01 18:00 GMT+0100"),
        *("2026-12-01 18:00 CET", "2026-12-01 18:00 MEZ", "1. Dezember 2026, 18:00 Uhr MEZ"),
        *("2026-12-01 12:00 America/New_York", "Tuesday 2026-12-01 18:00 Europe/Berlin (UTC+01:00)"),
        *("2026/12/1 6 pm", "1 December 2026, 6:00 PM", "December 1st, 2026 at 6:00 p.m.", "1-Dec-2026 18h00"),
        *("Tue, 01 Dec 2026 18:00:00 +0100", "Tue Dec 1 18:00:00 2026 +0100"),
        "Tue Dec 01 2026 18:00:00 GMT+0100 (Central European Standard Time)",
        *("Tuesday, 1 December 2026, 6:00\u202fPM", "Dienstag, 1. Dezember 2026, 18:00 Uhr"),
        *("mar. 1 déc. 2026, 18:00", "martes, 1 de diciembre de 2026, 18:00", "wtorek, 1 grudnia 2026, 18:00"),
        *("2026. december 1., kedd, 18:00", "2026年12月1日(星期二) 18:00", "Tuesday 1/12/2026 18:00"),
    ],
)
def test_a_form_with_one_reading_is_read(text):
    assert naive_utc(read_time(text, BERLIN)).replace(microsecond=0) == SIX


@pytest.mark.parametrize(
    ("zone", "winter", "summer"),
    [("Europe/Berlin", "MEZ", "MESZ"), ("Europe/Helsinki", "OEZ", "OESZ"), ("Europe/Lisbon", "WEZ", "WESZ")],
)
def test_german_names_of_time_zones_are_read_like_the_english_ones(zone, winter, summer):
    for day, name in (("2026-12-01", winter), ("2026-07-01", summer)):
        assert read_time(f"{day} 18:00 {name}", zone_named(zone)) == read_time(f"{day} 18:00 {zone}")


@pytest.mark.parametrize(
    ("days", "says"),
    [
        *((0, ""), (-1, ""), (1 / 48, "less than an hour ago"), (1 / 24, "1 hour ago")),
        *((2.5, "2 days ago"), (250, "8 months ago"), (370, "1 year ago")),
    ],
)
def test_how_long_ago_something_was_is_said_in_its_largest_unit(days, says):
    now = datetime(2026, 11, 29, 12)
    assert time_since(now - timedelta(days=days), now) == says
    assert time_since((now - timedelta(days=days)).replace(tzinfo=UTC).astimezone(BERLIN), now) == says


@pytest.mark.parametrize(
    ("text", "when"),
    [
        *(("13.02.2026", "2026-02-13"), ("2/13/2026", "2026-02-13"), ("2.2.2026", "2026-02-02")),
        *(("Sunday 01.02.2026", "2026-02-01"), ("Friday 01.02.2026", "2026-01-02")),
        ("niedziela, 1 listopada 2026", "2026-11-01"),
        *(("2026-12-01 24:00", "2026-12-02"), ("2026-12-01 12:00 AM", "2026-12-01")),
    ],
)
def test_figures_a_weekday_and_midnight_are_read_where_there_is_one_reading(text, when):
    assert read_time(text) == datetime.fromisoformat(when).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("01.02.2026", "as 1 February 2026 or as 2 January 2026: write 2026-02-01 or 2026-01-02"),
        ("3/4/2026 18:00", "as 3 April 2026 or as 4 March 2026"),
        ("1 listopada 2026", "as 1 (October|November) 2026 or as 1 (October|November) 2026"),
        ("Monday 2026-12-01", "not on the day of the week that it names"),
        ("2026-10-25 02:30", r"comes twice in Europe/Berlin.*02:30\+02:00 or 2026-10-25 02:30\+01:00"),
        ("2026-03-29 02:30", "a time that Europe/Berlin skips"),
        *(("2026-07-01 18:00 CET", "because of 'cet'"), ("2026-07-01 18:00 MEZ", "because of 'mez'")),
        *(("2026-12-01 18:00 MESZ", "because of 'mesz'"), ("2026-12-01 18:00 EST", "because of 'est'")),
        ("1 Feb", "'1 Feb' is not an unambiguous date, because the year is missing"),
        *((text, "because the year is missing") for text in ("29. Februar 18:00", "Monday 1/2", "12-31")),
        ("2026-12-01 18:00 Europe/London UTC+3", "an offset that is not its own"),
        ("2026-12-01 18:00 Europe/London Asia/Tokyo", "several time zones"),
        ("2026-12-01 18:00 Europe/Nowhere", "there is no time zone 'Europe/Nowhere'"),
        ("2026-12-01 18:00 Etc/GMT+1", r"turned sign, and means UTC-1: write UTC-1 or UTC\+1"),
        ("2026-12-01 25:00", "no time of day that a clock shows"),
        ("2026-12-01 18:00 PM", "no time of day"),
        ("2026-12-01 18:00 UTC+16", "no offset"),
        *((text, "is not an unambiguous date") for text in ("", "soon", "18:00", "12-31", "2026-13-40", "01/02/26")),
        *((text, "is not an unambiguous date") for text in ("1764612000", "0001-01-01", "1 + 2026-12-01")),
        *((text, "is not an unambiguous date") for text in ("1 Dec 99999999", "2026-12-01 18:00 XYZ")),
        ("9" * 199, "too long"),
    ],
)
def test_what_is_no_date_or_two_is_refused_with_its_readings(text, says):
    with pytest.raises(CourseError, match=says):
        read_time(text, BERLIN)


@pytest.mark.parametrize(
    ("name", "hours"), [("UTC+1", 1), ("gmt-0330", -3.5), ("+05:30", 5.5), ("UTC", 0), ("Japan", 9)]
)
def test_a_zone_by_name_or_offset(name, hours):
    assert datetime(2026, 12, 1, tzinfo=zone_named(name)).utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("name", "says"), [("MEZ", "not one time zone for sure"), ("CEST", "for sure"), ("../x", "no time zone")]
)
def test_a_zone_with_two_meanings_or_none_is_refused(name, says):
    with pytest.raises(CourseError, match=says):
        zone_named(name)


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)),
    st.sampled_from(["Europe/London", "UTC", "UTC-3", "Asia/Kathmandu"]),
)
def test_what_is_shown_is_read_back(when, name):
    zone, when = zone_named(name), when.replace(second=0, microsecond=0)
    assert naive_utc(read_time(shown_time(when, zone))) == when


@given(st.text(max_size=40) | st.text("0123456789:./-+ TZUTCGMTapm()", max_size=30))
def test_any_other_text_is_refused_in_one_sentence(text):
    try:
        assert 1900 <= read_time(text).year < 10_000
    except CourseError as error:
        assert "\n" not in str(error)
