"""Grades what arrives in a course's folder: looks, collects, grades, again and again.

All that it knows of grades stands in the ledgers: a kill at any moment loses nothing.
"""

import contextlib
import os
import time
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from softlookup_grader.course.folder import Course
from softlookup_grader.course.inbox import SECRET
from softlookup_grader.course.notebooks import BadNotebook, notebook_json, read_file
from softlookup_grader.data.changes import Changes
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import MISSING, Record
from softlookup_grader.data.work import Graded
from softlookup_grader.platforms.collecting import collect
from softlookup_grader.platforms.dropped import collect_dropped, dropped_zips
from softlookup_grader.platforms.exchanging import exchange_folder, release_feedback
from softlookup_grader.platforms.sources import Ways
from softlookup_grader.run.engine import grade_assignment, shared_by
from softlookup_grader.run.interrupts import kept_interrupts
from softlookup_grader.run.keeping import NOTHING_NEW
from softlookup_grader.run.request import GradeRequest, Watcher
from softlookup_grader.sandbox.cgroups import memory_held

if TYPE_CHECKING:
    from softlookup_grader.judging.zygotes import ZygotePool

_PAUSE_S, _REST = 1.0, 5
"""Seconds between two looks, and how many times the processor time of a look they are at least."""

_AGAIN_S = 5.0  # seconds after which what failed is tried again
_MOST_ROUNDS = 20  # rounds after which one that is to end does not wait for what is still being written

Job = tuple[str, Callable[[], None]]  # what it is about, an assignment or a file, and what does it


@dataclass
class _Released:
    """An assignment that was released, and what is handed in for it."""

    changes: Changes
    folders: dict[str, Path] = field(default_factory=dict)  # by student
    is_due: bool = False  # whether it is graded although no file has changed


class _Steps(Watcher):
    """Remembers who was graded."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self.students = say, set[str]()

    def step(self, name: str, graded: Graded | None = None) -> None:
        if graded is not None:
            self.students.add(name)

    def say(self, sentence: str) -> None:
        if sentence not in (NOTHING_NEW, memory_held()):  # 'softlookup doctor' says the latter
            self._say(sentence)


class CourseWatch:
    """Grades what arrives in one course; a context, since it keeps sandboxes warm from round to round."""

    def __init__(
        self, root: Path, show: Callable[[str, Record], None], say: Callable[[str], None], returns_feedback: bool
    ) -> None:
        """``show`` gets each graded submission with its assignment, ``say`` each sentence for the instructor, once."""
        self._root, self._show, self._say, self._returns_feedback = root, show, say, returns_feedback
        self._assignments: dict[str, _Released] = {}
        self._releases = Changes(lambda folder: False)
        self._zips = Changes(lambda path: not zipfile.is_zipfile(path))
        self._exchange = Changes(lambda folder: not (folder / SECRET).is_file())
        self._sentences: set[str] = set()
        self._failed: dict[str, tuple[str, float]] = {}  # why, and when to try again
        self._warm = contextlib.ExitStack()
        self._zygotes: ZygotePool | None = None

    def __enter__(self) -> "CourseWatch":
        return self

    def __exit__(self, *_: object) -> None:
        self._warm.close()

    def run(self, once: bool = False) -> None:
        """Look and grade until a Ctrl-C; with ``once`` until all that is there is graded, or was refused."""
        with kept_interrupts() as check_interrupt:
            rounds = 0
            while not once or rounds < _MOST_ROUNDS:
                began_s = time.process_time()
                jobs: list[Job] = []
                self._try("", lambda: jobs.extend(self._jobs()))  # noqa: B023 - called at once
                looked_s = time.process_time() - began_s
                for about, do in jobs:
                    self._try(about, do)
                    check_interrupt()
                check_interrupt()
                rounds += 1
                if once and not jobs and not self._is_arriving():
                    return
                time.sleep(max(_PAUSE_S, _REST * looked_s))

    def _is_arriving(self) -> bool:
        every = (self._releases, self._zips, self._exchange, *(a.changes for a in self._assignments.values()))
        return any(changes.arriving for changes in every)

    def _jobs(self) -> list[Job]:
        """Look at everything, and list what is to be done: what is to be collected comes first."""
        course = Course.at(self._root)
        self._look_at_releases(course)
        names = [name for name in self._assignments if name not in self._releases.arriving]
        jobs: list[Job] = []
        zips = dropped_zips(course)
        self._zips.poll(zips)
        jobs += [(name, partial(self._collect_zip, course, zips[name], names)) for name in sorted(self._zips.ready)]
        self._exchange.poll(_hand_ins(course))
        for name in names:
            if hand_ins := [hand_in for hand_in in self._exchange.ready if f"+{name}+" in hand_in]:
                jobs.append((f"{name} in the exchange", partial(self._collect_exchange, course, name, hand_ins)))
        students = course.submitters()
        for name in names:
            assignment = self._assignments[name]
            for student in students:
                if student not in assignment.folders:
                    assignment.folders[student] = course.folder("submitted", student, name)
            assignment.changes.poll({student: assignment.folders[student] for student in students})
            if assignment.changes.ready or (assignment.is_due and not assignment.changes.arriving):
                jobs.append((name, partial(self._grade, course, name, assignment)))
        return jobs

    def _look_at_releases(self, course: Course) -> None:
        """Learn which assignments are released; all of one that was released again is graded again."""
        names = [entry.name for entry in _listed(course.folder("release", ".", "-").parent)]
        folders = {name: course.folder("release", ".", name) for name in names}
        folders = {name: folder for name, folder in folders.items() if any(folder.glob("*.ipynb"))}
        self._releases.poll(folders)
        gone = self._assignments.keys() - folders.keys()
        if self._releases.ready or gone:
            self._warm.close()
            self._zygotes = None
            old = {name: about for name, about in self._assignments.items() if name not in gone}
            new = {name: course.layout(name).notebooks for name in sorted(self._releases.ready)}
            self._assignments = old | {
                name: _Released(Changes(partial(_is_incomplete, notebooks))) for name, notebooks in new.items()
            }
            self._zygotes = self._warm.enter_context(shared_by(course, [*self._assignments], keeps=True))
            self._releases.mark_done(self._releases.ready)

    def _collect_zip(self, course: Course, path: Path, names: list[str]) -> None:
        self._assignments[collect_dropped(course, path, names)].is_due = True

    def _collect_exchange(self, course: Course, name: str, hand_ins: list[str]) -> None:
        collect(course, name, [], Ways(exchange=True, force=True))
        self._exchange.mark_done(hand_ins)
        self._assignments[name].is_due = True

    def _grade(self, course: Course, name: str, assignment: _Released) -> None:
        """Grade what is new, show it when its feedback lies there, and give that back."""
        changes, steps = assignment.changes, _Steps(self._say_once)
        request = GradeRequest(name, arriving=changes.arriving)
        report = grade_assignment(course, request, watch=steps, zygotes=self._zygotes)
        rows = [row for row in report.records if row.status != MISSING]
        for row in rows:
            if row.student in steps.students:
                self._show(name, row)
        if self._returns_feedback:
            release_feedback(course, name, [row.student for row in rows])
        changes.mark_done(changes.ready)
        assignment.is_due = False

    def _try(self, about: str, do: Callable[[], None]) -> None:
        """Do what may fail: that is said once, tried again later, and no trouble of anything else."""
        before, until_s = self._failed.get(about, ("", 0.0))
        if time.monotonic() < until_s:
            return
        try:
            do()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one assignment, the others are graded
            sentence = str(error) if isinstance(error, CourseError) else f"{type(error).__name__}: {error}"
            if sentence != before:
                self._say(f"{about}: {sentence}" if about else sentence)
            self._failed[about] = sentence, time.monotonic() + _AGAIN_S
        else:
            self._failed.pop(about, None)

    def _say_once(self, sentence: str) -> None:
        if sentence not in self._sentences:
            self._sentences.add(sentence)
            self._say(sentence)


def _listed(folder: Path) -> list["os.DirEntry[str]"]:
    """What lies in a folder, but for what is hidden; nothing if there is no folder."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as listing:
        return sorted((entry for entry in listing if not entry.name.startswith(".")), key=lambda entry: entry.name)
    return []


def _hand_ins(course: Course) -> dict[str, Path]:
    """The folders of hand-ins in the course's exchange, if it has one."""
    exchange = exchange_folder(course)
    return {entry.name: Path(entry.path) for entry in _listed(exchange / "inbound")} if exchange else {}


def _is_incomplete(notebooks: Iterable[str], folder: Path) -> bool:
    """Whether a notebook of a hand-in is not there, or cannot be read."""
    try:
        for name in notebooks:
            notebook_json(read_file(folder / f"{name}.ipynb"), name)
    except (BadNotebook, OSError):
        return True
    return False
