"""What lateness costs, ready-made: a share of the points for each day or hour begun, from the student's own end on."""

import math
from datetime import UTC, datetime, timedelta, tzinfo

from nbgrader.plugins import BasePlugin
from traitlets import Float

from softlookup_grader.data.dates import days_later, naive_utc, zone_named


class LateRule(BasePlugin):
    """A share of the points for each step begun; what a step is, a subclass says."""

    share = Float(0.0, min=0, max=1, help="The share of the points that each step costs.").tag(config=True)
    grace_minutes = Float(0.0, min=0, help="Minutes forgiven, at the due time and after each step.").tag(config=True)
    most = Float(1.0, min=0, max=1, help="The largest share of the points that lateness costs.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """The penalty as nbgrader's ``autograde`` asks for it; where it has no gradebook open, a day has 24 hours."""
        book = getattr(self.parent, "gradebook", None)
        if book is not None:
            submission = book.find_submission(self.parent.assignment_id, student_id)
            return self.penalty(score, submission.duedate, submission.timestamp)
        due = datetime(2000, 1, 1)
        return score * self._share(due, due + timedelta(seconds=total_seconds_late), UTC)

    def penalty(self, score: float, due: datetime, came: datetime) -> float:
        """The penalty of a submission with a score: when it was due for this student, and when it came, in UTC."""
        return score * self._share(due, came, zone_named(str(self.config.NbGraderAPI.get("timezone", "UTC"))))

    def _share(self, due: datetime, came: datetime, zone: tzinfo) -> float:
        return min(self.most, self.share * self.steps(due, came - timedelta(minutes=self.grace_minutes), zone))

    def steps(self, due: datetime, came: datetime, zone: tzinfo) -> int:
        """How many steps were begun after the due time, both in UTC; days are those of the course's zone."""
        raise NotImplementedError


class PerDay(LateRule):
    """A tenth of the points for each day begun: it ends when clocks show the due time again."""

    share = Float(0.1, min=0, max=1, help="The share of the points that a day costs.").tag(config=True)

    def steps(self, due: datetime, came: datetime, zone: tzinfo) -> int:
        """How many days on the calendar were begun."""
        # Clocks move by less than a day, so that counting begins one before what the elapsed time would give.
        days = max(0, (came - due) // timedelta(days=1) - 1)
        while came > naive_utc(days_later(due, days, zone)[0]):
            days += 1
        return days


class PerHour(LateRule):
    """A hundredth of the points for each hour begun."""

    share = Float(0.01, min=0, max=1, help="The share of the points that an hour costs.").tag(config=True)

    def steps(self, due: datetime, came: datetime, zone: tzinfo) -> int:
        """How many hours were begun."""
        return max(0, math.ceil((came - due) / timedelta(hours=1)))
