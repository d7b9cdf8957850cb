"""Keeps what grading comes to: ledger, autograded/, gradebook, feedback, in this order and by one process."""

import dataclasses
import datetime
import json
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from softlookup_grader.course.autograded import Autograded
from softlookup_grader.course.folder import Course
from softlookup_grader.course.hand_ins import HandIns
from softlookup_grader.course.personal import is_personal
from softlookup_grader.data.disk import Shelf
from softlookup_grader.data.errors import CourseError, GradebookError
from softlookup_grader.data.records import GRADED, MISSING, REFUSED, Record, Report
from softlookup_grader.data.work import Graded, with_release
from softlookup_grader.feedback.pages import make_pages, pages_of, points_page, remove_page
from softlookup_grader.judging.marking import reckoned, worth_changed
from softlookup_grader.run.interrupts import kept_interrupts
from softlookup_grader.run.ledger import Ledger
from softlookup_grader.run.request import GradeRequest, Watcher
from softlookup_grader.run.writer import GradebookWriter
from softlookup_grader.workers.making import Executor
from softlookup_grader.workers.pool import processors

NOTHING_NEW = "nothing has changed since the last grading: 'softlookup grade --again' grades all again"
_TOGETHER, _TOGETHER_S = 32, 1.0
"""How many submissions are entered in one commit at most, and how many seconds the first of them waits for others."""


@dataclass
class Keeper:
    """One call's work, with everything that it writes to."""

    course: Course
    request: GradeRequest
    ledger: Ledger
    writer: GradebookWriter
    shelf: Shelf
    watch: Watcher
    releases: Mapping[str, NotebookNode]  # the notebooks that students got, by name

    def __post_init__(self) -> None:
        self.autograded = Autograded(self.course, self.request.assignment)
        self.personal = is_personal(self.course, self.request.assignment)
        self.hand_ins = HandIns(self.course, self.request.assignment)
        self.reckoned = 0  # how many submissions have other points, since their cells have
        self.not_entered: GradebookError | None = None
        self.aside: deque[Graded] = deque()
        self.waiting: list[tuple[Graded, datetime.datetime | None]] = []
        self.since = 0.0
        self.marks: dict[str, str] = {}
        self.about = ""  # a sentence for the instructor on how submissions are held here
        for sentence in (*self.course.left_out(self.request.assignment), *self.course.names_as_markup()):
            self.watch.say(sentence)
        if self.ledger.set_aside is not None:
            self.shelf.clear()
            self.watch.say(f"a new run begins; the ledger of the previous run is kept as {self.ledger.set_aside.name}")

    def grade(self, students: list[str], executor: Executor) -> None:
        """Grade what needs it, and enter all that is graded."""
        todo = self._plan(students)
        if not todo and not self.reckoned:
            self.watch.say(NOTHING_NEW)
        elif self.about:
            self.watch.say(self.about)
        everybody = len({*students, *todo})
        self.watch.begin("grading", everybody, everybody - len(todo))
        crowded = self._graded_by(executor, todo, again=True)
        if crowded:
            self.watch.say(f"graded again, one at a time, since the machine was too busy: {', '.join(crowded)}")
        for student in crowded:
            self._graded_by(executor, [student], again=False)
        self._enter_the_rest()
        if groups := self.hand_ins.sharing.groups:
            for sentence in self.writer.enter_for_groups(groups):
                self.watch.say(sentence)
        self.writer.refresh_penalties(lambda student: self.hand_ins.came(student)[0])

    def _graded_by(self, executor: Executor, todo: list[str], again: bool) -> list[str]:
        """Have submissions graded, and keep what it came to; give those that are to be graded again, where asked."""
        digests: dict[str, str] = {}
        crowded = []
        results = executor.run(self._submissions(todo, digests))
        try:
            with kept_interrupts() as check_interrupt:
                for graded in results:
                    digest = digests.pop(graded.student, None)
                    if digest is not None and again and graded.crowded:
                        crowded.append(graded.student)
                    elif digest is not None:  # a cluster that lost sight of a worker may answer twice
                        self._keep(dataclasses.replace(graded, digest=digest, crowded=False))
                    self._keep_the_rest()
                    check_interrupt()
        finally:
            close = getattr(results, "close", None)
            if close:
                close()
            self._enter_waiting()  # after a Ctrl-C as well
        self._keep_the_rest()
        self._enter_waiting()
        if digests:
            raise CourseError(f"no result came back for some submissions ({len(digests)}): run the same command again")
        return crowded

    def _plan(self, students: list[str]) -> list[str]:
        """Who has to be graded, with all of the same group; what only waits for the gradebook is entered here."""
        holds = {
            student: self.writer.holds(self.ledger.graded(student), row)
            for student, row in self.writer.rows()
            if (entry := self.ledger.of(student)) and entry.entered
        }
        todo = []
        worths = {cell.name: cell.max for cell in self.writer.cells.values()}
        for student in students:
            entry = self.ledger.of(student)
            if self.request.arriving and self._is_arriving(student):
                continue
            if self.request.students or entry is None:
                todo.append(student)
                continue
            came = self.hand_ins.read(student)
            graded = self.ledger.graded(student)
            same = (entry.digest, graded.given_by) == (came.digest, self.hand_ins.given_by(student))
            if came.content is None:
                same = (graded.status, graded.reason) == (came.status, came.reason)
            waits = same and not entry.entered and (graded.status != GRADED or self.shelf.get(student) is not None)
            stands = same and entry.entered and holds.get(student, graded.status != GRADED)
            if not waits and not (stands and (graded.status != GRADED or self.autograded.has(student))):
                todo.append(student)
            elif worth_changed(graded, worths):
                notebooks = self.autograded.read(student) if stands else self._shelved(graded).notebooks
                changed = reckoned(graded, notebooks, worths, self.releases)
                if changed is None:
                    todo.append(student)
                else:
                    self._record(changed, self.hand_ins.came(student)[0])
                    self.reckoned += 1
            elif waits:
                self._wait(self._shelved(graded), self.hand_ins.came(student)[0])
        self._enter_waiting()
        if self.reckoned:
            which = "1 submission was" if self.reckoned == 1 else f"{self.reckoned} submissions were"
            self.watch.say(f"points were changed: {which} given new ones, without being run again")
        return list(dict.fromkeys(other for student in todo for other in self.hand_ins.sharing.sharers(student)))

    def _is_arriving(self, student: str) -> bool:
        """Whether a file that counts for a student, or counted when it was graded, is still being written."""
        before = self.ledger.graded(student).given_by if self.ledger.of(student) else ""
        return not self.request.arriving.isdisjoint((before, *self.hand_ins.sharing.sharers(student)))

    def _submissions(self, todo: list[str], digests: dict[str, str]) -> Iterator[tuple[str, bytes]]:
        """Read submissions as they are needed, maybe in another thread: nothing is written, what cannot run waits."""
        for student in todo:
            if self.hand_ins.given_by(student):
                continue  # graded with the one who handed it in
            came = self.hand_ins.read(student)
            content, why = came.content, came.reason
            if content is not None and self.personal:
                release = self.hand_ins.release(student)
                content = None if release is None else with_release(release, content)
                why = (
                    f"no notebook was made for {student}: 'softlookup release {self.request.assignment} --per-student' "
                    "makes it"
                )
            if content is None:
                status = REFUSED if came.content is not None else came.status
                self.aside.append(Graded(student, status, came.digest, reason=why))
            else:
                digests[student] = came.digest
                yield student, content

    def _keep_the_rest(self) -> None:
        while self.aside:
            self._keep(self.aside.popleft())

    def _keep(self, graded: Graded) -> None:
        """Write down what grading came to, for everybody for whom the notebook counts."""
        for student in self.hand_ins.sharing.sharers(graded.student):
            self._keep_one(dataclasses.replace(graded, student=student, given_by=self.hand_ins.given_by(student)))

    def _keep_one(self, graded: Graded) -> None:
        """Write down the notebook and the line; the gradebook gets it with the next ones."""
        came, remark = self.hand_ins.came(graded.student)
        if remark:
            graded = dataclasses.replace(graded, remarks=(*graded.remarks, remark))
        self._record(graded, came)
        self.watch.step(graded.student, graded)

    def _record(self, graded: Graded, came: datetime.datetime | None) -> None:
        # The notebooks first: a line in the ledger without them could not be entered.
        if graded.status == GRADED:
            self.shelf.store(graded.student, json.dumps(graded.notebooks))
        self.ledger.add(graded)
        self._wait(graded, came)

    def _wait(self, graded: Graded, came: datetime.datetime | None) -> None:
        """Have a submission entered, in one commit with others: a commit takes longer than all that is in it."""
        # A gradebook that refused once would let every submission wait for it: it is asked again at the end.
        if self.not_entered is not None:
            return
        if not self.waiting:
            self.since = time.monotonic()
        self.waiting.append((graded, came))
        if len(self.waiting) == _TOGETHER or time.monotonic() - self.since > _TOGETHER_S:
            self._enter_waiting()

    def _enter_waiting(self) -> None:
        """Enter what waits. Where one cannot be entered, each is tried by itself, so those before it are."""
        group, self.waiting = self.waiting, []
        if not group:
            return
        try:
            try:
                self._enter(group)
            except CourseError:
                if len(group) == 1:
                    raise
                for submission in group:
                    self._enter([submission])
        except GradebookError as error:
            self.not_entered = error
            self.watch.say(f"{error}; grading continues, and its results are kept in the ledger")

    def _shelved(self, graded: Graded) -> Graded:
        """What the ledger holds, with the notebook."""
        text = self.shelf.get(graded.student) if graded.status == GRADED else "[]"
        if text is None:
            raise CourseError(f"the graded notebook of {graded.student} was removed: run the same command again")
        return dataclasses.replace(graded, notebooks=tuple((name, notebook) for name, notebook in json.loads(text)))

    def _enter(self, group: Sequence[tuple[Graded, datetime.datetime | None]]) -> None:
        """Enter graded submissions into the gradebook and autograded/; doing it twice changes nothing."""
        self.writer.enter_all([(graded, came if graded.status == GRADED else None) for graded, came in group])
        for graded, _ in group:
            if graded.status == GRADED:
                self.autograded.write(graded.student, graded.notebooks)
            else:
                self.autograded.remove(graded.student)
                remove_page(self.course, self.request.assignment, graded.student)
            self.ledger.mark_entered(graded.student)
            self.shelf.drop(graded.student)

    def _enter_the_rest(self) -> None:
        """Ask a gradebook that refused once more; GradebookError if it still refuses."""
        if self.not_entered is None:
            return
        waiting = [s for s in self.ledger.students() if not self.ledger.of(s).entered]  # type: ignore[union-attr]
        for index, student in enumerate(waiting):
            try:
                came, _ = self.hand_ins.came(student)
                self._enter([(self._shelved(self.ledger.graded(student)), came)])
            except GradebookError as error:
                remaining = len(waiting) - index
                raise GradebookError(
                    f"{error}; {remaining} graded submissions are kept in the ledger: run the same command again to "
                    "enter them"
                ) from error

    def report(self, students: list[str]) -> Report:
        """Put the report together, for everybody who has been graded in this run."""
        known = [student for student in students if self.ledger.of(student)]
        if self.request.students:
            known = [student for student in self.course.students() if self.ledger.of(student)]
        records: dict[str, Record] = {}
        known_students = set(known)
        for student, row in self.writer.rows():
            if student in known_students:
                records[student] = self.writer.report_row(self.ledger.graded(student), row)
                self.marks[student] = row.mark
        for student in known_students - records.keys():
            records[student] = self.writer.report_row(self.ledger.graded(student), None)
        for student, report_row in records.items():
            sharers, remarks = self.hand_ins.sharing.sharers(student), self.hand_ins.sharing.remarks.get(student, ())
            group = sharers if len(sharers) > 1 else ()
            records[student] = dataclasses.replace(report_row, remarks=(*report_row.remarks, *remarks), group=group)
        return Report(self.request.assignment, self.ledger.run.seed, tuple(records[student] for student in known))

    def pages(self, report: Report) -> None:
        """Make the feedback pages that are not there yet, or show what is no longer so."""
        reasons: dict[str, str] = {}
        for row in report.records:
            entry = self.ledger.of(row.student)
            pages = pages_of(self.course, report.assignment, row.student, row.status == REFUSED)
            there = all(page.is_file() for page in pages)
            if row.status != MISSING and entry and not (entry.page == self._shown(row) and there):
                reasons[row.student] = row.reason if row.status == REFUSED else ""
        if not reasons:
            return
        self.watch.begin("feedback pages", len(reasons))
        page_marks = {row.student: self._shown(row) for row in report.records if row.student in reasons}
        workers = min(self.request.workers or processors(), len(reasons))
        for answer in make_pages(self.course, report.assignment, reasons.items(), workers=workers):
            if answer.failure:
                row = next(row for row in report.records if row.student == answer.name)
                points_page(self.course, report.assignment, row)
                log = self.course.log("feedback")
                self.watch.say(f"{answer.name} has a feedback page with the points alone ({answer.failure}): see {log}")
            else:
                self.ledger.mark_page(answer.name, page_marks[answer.name])
            self.watch.step(answer.name)

    def _shown(self, row: Record) -> str:
        """What a record's page is made from, in short."""
        entry = self.ledger.of(row.student)
        return f"{self.marks.get(row.student, '')} {entry.digest if entry else ''}{row.reason}"
