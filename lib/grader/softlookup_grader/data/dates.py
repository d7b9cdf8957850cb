"""Dates, times and zones as people write them: what has one reading is read, the rest is refused with its readings.

Months and weekdays may be in any language of ``_LANGUAGES``, as Unicode's CLDR spells them. ``UTC+1`` is an hour ahead
of UTC, as people mean it; POSIX turns that sign.
"""

import contextlib
import itertools
import re
import unicodedata
import zoneinfo
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache

from softlookup_command.plain_text import one_line
from softlookup_grader.data.errors import CourseError

DAY_END = time(23, 59)  # when a day ends that is named without a time of day; 24:00 would be shown as the day after

_EXAMPLE = "give one such as '2026-12-01 18:00 Europe/London'"
_MOST = 120
_YEARS = range(1900, 9999)
_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_GERMAN = {"mez": "cet", "mesz": "cest", "oez": "eet", "oesz": "eest", "wez": "wet", "wesz": "west"}
"""German names of Europe's times, as the time zones' database calls them."""

_BESIDE = frozenset("at on the of am um uhr de del à a le la o kl 年 月 日 년 월 일".split())
"""Words that may stand beside date and time and mean nothing."""

_LANGUAGES = (
    "ar bg bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu id is it ja ka kk ko lt lv mk ms nb nl nn pl pt "
    "ro ru sk sl sq sr sv th tr uk vi zh"
).split()
"""Those into which learning platforms are translated whole; a rarer one would make short names ambiguous."""

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_TIMES = (
    # 18:00, 6:00:30.5 PM, T18:00 and 18h00; T180000; T18; 6 PM
    re.compile(
        r"(?:(?<=\d)t|(?<![-+\d:.]))(?P<h>\d{1,2})[:h](?P<m>\d{2})(?::(?P<s>\d{2})(?:[.,](?P<f>\d{1,9}))?)?(?![\d:])"
        r"(?:\s*(?P<half>[ap])\.?\s?m\b\.?)?"
    ),
    re.compile(r"(?<=\d)t(?P<h>\d{2})(?:(?P<m>\d{2})(?P<s>\d{2})?)?(?![\d:])"),
    re.compile(r"(?<![\d:.])(?P<h>\d{1,2})\s*(?P<half>[ap])\.?\s?m\b\.?"),
)
_OFFSET = r"(?P<sign>[-+])(?P<hours>\d{1,2})(?::?(?P<minutes>[0-5]\d))?(?![\d:])"
_NAMED_OFFSET = re.compile(rf"\(?\b(?:utc|gmt)\s?{_OFFSET}\)?")
_BARE_OFFSET = re.compile(rf"(?:^|(?<=\s)){_OFFSET}")
_UNIVERSAL = re.compile(r"\(?(?<![^\W\d_])(?:utc|gmt|z)\b\)?")
_PLACE = re.compile(r"(?<![\w/])[^\W\d_]\w*(?:/[^\W\d]\w*(?:[-+]\w+)*)+")


def zone_named(name: str) -> tzinfo:
    """A time zone by its name ("Europe/London", "UTC"), or by how far it is ahead of UTC ("UTC+1", "+05:30").

    >>> str(zone_named("europe/paris"))
    'Europe/Paris'
    """
    key = name.strip().translate({0x2212: "-"}).casefold()
    key = _GERMAN.get(key, key)
    if _UNIVERSAL.fullmatch(key):
        return UTC
    offset = _NAMED_OFFSET.fullmatch(key) or _BARE_OFFSET.fullmatch(key)
    if offset:
        return _ahead(offset)
    text = one_line(name.strip())
    posix = re.fullmatch(r"etc/gmt([-+])(\d{1,2})", key)
    if posix and int(posix[2]):
        turned = "-" if posix[1] == "+" else "+"
        raise CourseError(
            f"the time zone {text!r} has a turned sign, and means UTC{turned}{posix[2]}: write UTC{turned}{posix[2]} "
            f"or UTC{posix[1]}{posix[2]}, whichever you mean"
        )
    zone_name = _zones().get(key, "")
    if re.fullmatch(r"[A-Z]{3,4}", zone_name) or key in _GERMAN.values():
        raise CourseError(
            f"{text!r} is not one time zone for sure: give one such as Europe/London, or an offset such as UTC+1"
        )
    if not zone_name:
        raise CourseError(f"there is no time zone {text!r}: give one such as Europe/London, or an offset such as UTC+1")
    return zoneinfo.ZoneInfo(zone_name)


def read_time(text: str, zone: tzinfo = UTC) -> datetime:
    """Read a date, without a time of day as the day's beginning; a zone by name, or an offset, may stand behind it."""
    return _read(text, zone, None)[0]


def read_end(text: str, zone: tzinfo = UTC) -> tuple[datetime, bool]:
    """Read when something ends: a date without a time of day means the end of that day, at ``DAY_END``.

    >>> str(read_end("13.02.2026")[0]), str(read_end("13.02.2026 6 pm")[0])
    ('2026-02-13 23:59:00+00:00', '2026-02-13 18:00:00+00:00')
    """
    return _read(text, zone, DAY_END)


def _read(text: str, zone: tzinfo, ends: time | None) -> tuple[datetime, bool]:
    """The time that a text means, and whether it names only the day, which then ends at a time or has its beginning."""
    quotation = repr(one_line(text.strip(), 60))
    if len(text) > _MOST:
        raise CourseError(f"{quotation} is too long for a date: {_EXAMPLE}")
    # Wide and small forms become plain ones, and a typographer's minus sign a hyphen.
    whole = " ".join(unicodedata.normalize("NFKC", text).translate({0x2212: "-"}).split())
    remaining, zone_matches = _taken(_PLACE, whole)
    remaining, offsets = _taken(_NAMED_OFFSET, remaining.casefold())
    remaining, clock, tail = _clock(remaining, quotation)
    if not offsets and clock is not None:
        after, offsets = _taken(_BARE_OFFSET, remaining[tail:])
        remaining = remaining[:tail] + after
    if offsets:
        remaining = re.sub(r"\([^()\d]*\)\s*$", " ", remaining)  # the name of the zone behind it, in words
    remaining, universal = _taken(_UNIVERSAL, remaining)
    zones = [zone_named(match[0]) for match in zone_matches]
    ahead = [*map(_ahead, offsets), *(UTC for _ in universal)]
    if len(zones) > 1 or len(ahead) > 1:
        raise CourseError(f"{quotation} names several time zones: {_EXAMPLE}")
    text_zone = (*zones, *ahead, zone)[0]
    days, zone_word = _days(remaining, quotation)
    if clock is None and ends is not None:
        moments = [later_reading(datetime.combine(day, ends), text_zone)[0] for day in days]
    else:
        moments = [at for day in days for at in _moments(day, clock or timedelta(), text_zone)]
    if ahead:
        moments = [at for at in moments if at.utcoffset() == ahead[0].utcoffset(None)]
    if zone_word:
        moments = [at for at in moments if (at.tzname() or "").casefold() == _GERMAN.get(zone_word, zone_word)]
        if not moments:
            raise CourseError(f"{quotation} is not an unambiguous date, because of {one_line(zone_word)!r}: {_EXAMPLE}")
    if zones and ahead and not moments:
        raise CourseError(
            f"{quotation} names {text_zone} and an offset that is not its own at that time: leave out one of them"
        )
    if not moments:
        raise CourseError(
            f"{quotation} is a time that {text_zone} skips, when clocks are set forward: give an earlier or a later one"
        )
    if len(days) > 1:
        first, second = (f"{day.day} {_MONTHS[day.month - 1].capitalize()} {day.year}" for day in days[:2])
        raise CourseError(
            f"{quotation} can be read in two ways, as {first} or as {second}: write {' or '.join(map(str, days[:2]))}"
        )
    if len(moments) > 1:
        ways = " or ".join(at.isoformat(" ", "minutes") for at in moments)
        raise CourseError(f"{quotation} comes twice in {text_zone}, when clocks are set back: write {ways}")
    return moments[0], clock is None


def later_reading(local: datetime, zone: tzinfo) -> tuple[datetime, str]:
    """The moment, the later of two, at which a clock of a zone shows a time, and a clause if clocks move then.

    >>> later_reading(datetime(2026, 10, 25, 2, 30), zone_named("Europe/Berlin"))[1]
    'clocks show 02:30 twice that day, and the later one counts'
    """
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first, ""
    # In a gap, the first reading goes by the clock before it and is the later one.
    when = max(first, second, key=lambda at: at.astimezone(UTC)).astimezone(UTC).astimezone(zone)
    if when.replace(tzinfo=None, fold=0) == local:
        return when, f"clocks show {local:%H:%M} twice that day, and the later one counts"
    return when, f"clocks skip {local:%H:%M} that day, and {when:%H:%M} counts"


def days_later(when: datetime, days: int, zone: tzinfo) -> tuple[datetime, str]:
    """The same time of day on a later day of the zone's calendar; a time that is not aware of its zone is in UTC.

    >>> saturday = datetime(2026, 10, 24, 21, 59)  # 23:59 in Berlin, where clocks are set back that night
    >>> str(days_later(saturday, 2, zone_named("Europe/Berlin"))[0])
    '2026-10-26 23:59:00+01:00'
    """
    at = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(zone)
    return (at, "") if days == 0 else later_reading(at.replace(tzinfo=None, fold=0) + timedelta(days=days), zone)


def time_since(when: datetime, now: datetime) -> str:
    """How long ago something was, in its largest unit, in UTC where no zone is known; empty if it is to come."""
    past, present = (at if at.tzinfo else at.replace(tzinfo=UTC) for at in (when, now))
    seconds = (present - past).total_seconds()
    for unit, length in (("year", 365.25 * 86400), ("month", 30.44 * 86400), ("day", 86400), ("hour", 3600)):
        if (count := int(seconds // length)) > 0:
            return f"{count} {unit}{'s' * (count > 1)} ago"
    return "less than an hour ago" if seconds > 0 else ""


def shown_time(when: datetime, zone: tzinfo) -> str:
    """A time, in UTC where it names no zone, in a zone, with its offset; :func:`read_time` reads it back.

    >>> shown_time(datetime(2026, 7, 1, 17), zone_named("Europe/London"))
    'Wednesday 2026-07-01 18:00 Europe/London (UTC+01:00)'
    """
    local = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(zone)
    day = f"{local:%A} {local.date().isoformat()} {local:%H:%M}"
    offset = f"{local:%z}"
    if zone is UTC or str(zone) == "UTC":
        return f"{day} UTC"
    ahead = f"UTC{offset[:3]}:{offset[3:5]}"
    return f"{day} {zone} ({ahead})" if isinstance(zone, zoneinfo.ZoneInfo) else f"{day} {ahead}"


def naive_utc(when: datetime) -> datetime:
    """A time as nbgrader's gradebook keeps it: in UTC, and not aware of it."""
    return when.astimezone(UTC).replace(tzinfo=None)


def _taken(pattern: re.Pattern[str], text: str) -> tuple[str, list[re.Match[str]]]:
    """A text with blanks for all that fits a pattern, and what fitted."""
    matches = list(pattern.finditer(text))
    return pattern.sub(lambda match: " " * len(match[0]), text), matches


def _ahead(offset: re.Match[str]) -> timezone:
    hours, minutes = int(offset["hours"]), int(offset["minutes"] or 0)
    if hours > 15:
        raise CourseError(f"{offset[0].strip()!r} is no offset of a time zone: {_EXAMPLE}")
    return timezone((1 if offset["sign"] == "+" else -1) * timedelta(hours=hours, minutes=minutes))


@cache
def _zones() -> dict[str, str]:
    return {name.casefold(): name for name in zoneinfo.available_timezones()}


def _clock(text: str, quotation: str) -> tuple[str, timedelta | None, int]:
    """The text without its time of day, the time since midnight, and where the rest behind it begins."""
    for pattern in _TIMES:
        match = pattern.search(text)
        if match:
            break
    else:
        return text, None, 0
    part = {"m": "0", "s": "0", "half": "", **{name: group for name, group in match.groupdict().items() if group}}
    hour, minute, second = int(part["h"]), int(part["m"]), int(part["s"])
    half = part["half"]
    if half and hour <= 12:
        hour = hour % 12 + 12 * (half == "p")
    elif half or (hour, minute, second) > (24, 0, 0) or minute > 59 or second > 59:
        raise CourseError(f"{quotation} has no time of day that a clock shows: {_EXAMPLE}")
    seconds = float(f"{second}.{part.get('f', 0)}")
    start, end = match.span()
    return text[:start] + " " * (end - start) + text[end:], timedelta(hours=hour, minutes=minute, seconds=seconds), end


def _moments(day: date, clock: timedelta, zone: tzinfo) -> Iterator[datetime]:
    """When a clock of a zone shows a time: twice when clocks are set back, never when they are set forward over it."""
    local = datetime.combine(day, time()) + clock
    either = [local.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    if either[0].utcoffset() == either[1].utcoffset():
        either.pop()
    for at in either:
        if at.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == local:
            yield at


_Names = Mapping[str, frozenset[tuple[str, int]]]


def _days(text: str, quotation: str) -> tuple[list[date], str]:
    """The days that a text without time and zone may mean, and a word that is left, which may be a zone's."""
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th|er|o|a)\b", " ", text)
    short = re.search(r"(?<!\S)(?:\d{4}-?w\d\d-?\d|\d{8}|\d{4}-\d{3})(?![^\s,])", plain)
    if short:
        plain = plain[: short.start()] + " " + plain[short.end() :]
    numbers, words = re.findall(r"\d+", plain), _WORD.findall(re.sub(r"\d", " ", plain))
    other = set(re.sub(r"\d", "", _WORD.sub("", plain))) - set(" .,/-()'’")
    off_day = False
    for names, most in ((_english, 0), (_of_many_languages, 0), (_of_many_languages, 1)):
        known = names()
        meant = [known.get(word, frozenset()) for word in words]
        unknown_words = [word for word, means in zip(words, meant, strict=True) if not means and word not in _BESIDE]
        choices = [
            (*means, *([("beside", 0)] if word in _BESIDE or word in unknown_words else []))
            for word, means in zip(words, meant, strict=True)
        ]
        if other or len(unknown_words) > most or len(words) > 8:
            continue
        days: dict[date, None] = {}
        for chosen in itertools.product(*choices):
            months = [value for unit, value in chosen if unit == "month"]
            weekdays = [value for unit, value in chosen if unit == "day"]
            if len(months) > 1 or len(weekdays) > 1:
                continue
            for day in _short(short[0]) if short and not numbers and not months else _written(numbers, *months):
                fits = not weekdays or day.weekday() == weekdays[0]
                off_day |= not fits
                if fits and day.year in _YEARS:
                    days[day] = None
        if days:
            return list(days), "".join(unknown_words)
    if off_day:
        raise CourseError(f"{quotation} is not on the day of the week that it names: correct one of the two")
    if _lacks_only_the_year(text, numbers):
        raise CourseError(
            f"{quotation} is not an unambiguous date, because the year is missing: add it, with its four digits"
        )
    raise CourseError(f"{quotation} is not an unambiguous date: {_EXAMPLE}")


def _lacks_only_the_year(text: str, numbers: list[str]) -> bool:
    """Whether a text would be a date if it named a year: weekdays and 29 February fit in some of 28 years."""
    if not 0 < len(numbers) <= 2 or any(len(digits) > 2 for digits in numbers):
        return False
    for year in range(2024, 2052):
        with contextlib.suppress(CourseError):
            return bool(_days(f"{text} {year}", ""))
    return False


def _short(text: str) -> Iterator[date]:
    """ISO 8601 without hyphens, by week, or by the day of the year."""
    try:
        by_day = re.fullmatch(r"(\d{4})-(\d{3})", text)
        yield datetime.strptime(text, "%Y-%j").date() if by_day else date.fromisoformat(text.upper())
    except ValueError:
        return


def _written(numbers: list[str], *month: int) -> Iterator[date]:
    """The days that two or three numbers may mean, in their order, with or without a month in words."""
    years = [at for at, digits in enumerate(numbers) if len(digits) == 4]
    remaining = [int(digits) for digits in numbers if len(digits) < 3]
    if len(years) != 1 or len(remaining) != len(numbers) - 1 or len(remaining) + len(month) != 2:
        return
    pairs = (
        [(*month, *remaining)]
        if month or years == [0]
        else [(remaining[1], remaining[0]), (remaining[0], remaining[1])]
    )
    for month_of_year, day in pairs if month or years != [1] else []:
        try:
            yield date(int(numbers[years[0]]), month_of_year, day)
        except ValueError:
            continue


@cache
def _english() -> _Names:
    """Names in English, and their first three letters."""
    each = [(name, ("month", at)) for at, name in enumerate(_MONTHS, 1)]
    each += [(name, ("day", at)) for at, name in enumerate(_DAYS)]
    both = [(short, means) for name, means in each for short in (name, name[:3], {"september": "sept"}.get(name, name))]
    return {name: frozenset([means]) for name, means in both}


@cache
def _of_many_languages() -> _Names:
    """Names of months and weekdays in many languages, as CLDR has them: a word of several meanings has them all."""
    from babel import Locale

    meanings: dict[str, set[tuple[str, int]]] = {name: set(means) for name, means in _english().items()}
    for language in _LANGUAGES:
        locale = Locale(language)
        for unit, contexts in (("month", locale.months), ("day", locale.days)):
            for context, width in itertools.product(("format", "stand-alone"), ("wide", "abbreviated")):
                for value, name in contexts[context][width].items():
                    word = unicodedata.normalize("NFKC", name).casefold().strip(". ")
                    if _WORD.fullmatch(word):
                        meanings.setdefault(word, set()).add((unit, value))
    return {name: frozenset(means) for name, means in meanings.items()}
