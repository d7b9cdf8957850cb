"""What clocks show, found by looking at each minute: an oracle that knows nothing of fold or of adding days."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)


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
