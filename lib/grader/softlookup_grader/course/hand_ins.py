"""What counts as a student's hand-in: an own notebook, that of the group, or a reason why nothing can be graded."""

import datetime

from softlookup_grader.course.arrived import UNREADABLE, arrivals
from softlookup_grader.course.folder import Course
from softlookup_grader.course.groups import sharing
from softlookup_grader.course.inbox import HandedIn, handed_in_at, read_submission
from softlookup_grader.course.personal import own_release
from softlookup_grader.data.records import MISSING, REFUSED


class HandIns:
    """The hand-ins of one assignment; who shares one is found out once."""

    def __init__(self, course: Course, assignment: str) -> None:
        self._course, self._assignment = course, assignment
        self.sharing = sharing(course, assignment)
        self._arrivals = arrivals(course, assignment).by_student

    def read(self, student: str) -> HandedIn:
        """Read the notebook that counts for a student, or say why there is none."""
        if why := self.sharing.undecided.get(student):
            return HandedIn(None, REFUSED, why)
        came = read_submission(self._course, self._assignment, self.sharing.holder(student))
        arrival = self._arrivals.get(student)
        if came.status == MISSING and arrival is not None and arrival.state == UNREADABLE:
            return HandedIn(None, REFUSED, arrival.why or "what came in cannot be graded")
        return came

    def came(self, student: str) -> tuple[datetime.datetime | None, str]:
        """When a student's hand-in came, in UTC, and a remark; where several handed in one file, the first time."""
        holder = self.sharing.holder(student)
        when, remark = handed_in_at(self._course, self._assignment, holder)
        for other in self.sharing.sharers(student):
            if other in self.sharing.copies:
                known = handed_in_at(self._course, self._assignment, other)[0]
                when = known if when is None or (known is not None and known < when) else when
        return when, remark

    def given_by(self, student: str) -> str:
        """Who handed in the notebook that counts for a student; empty if the student did."""
        holder = self.sharing.holder(student)
        return "" if holder == student else holder

    def release(self, student: str) -> bytes | None:
        """The notebook that a hand-in was begun from, where each student was given another one; None if none was."""
        return own_release(self._course, self._assignment, self.sharing.holder(student))
