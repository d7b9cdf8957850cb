"""The examiner, in a worker: takes one submission after the other through the stages rebuild, run, judge and mark."""

import json
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

import nbformat

from softlookup_grader.course.inbox import REMARKS
from softlookup_grader.course.notebooks import BadNotebook, grade_id, is_graded, is_hand_graded_task, task_id, worth
from softlookup_grader.course.personal import whose
from softlookup_grader.data.records import GRADED, REFUSED
from softlookup_grader.data.work import Graded, Mark, RunSettings, cell_key, digest_of, parted, unpacked
from softlookup_grader.judging.forks import Sandbox
from softlookup_grader.judging.marking import graded_notebook, mark
from softlookup_grader.judging.rebuild import Rebuilt, rebuild
from softlookup_grader.judging.running import Assignment, ReleasedRun, SubmissionRun, Witness
from softlookup_grader.judging.stock import as_handed_in
from softlookup_grader.sandbox import cgroups
from softlookup_grader.sandbox.bubble import Zygote


@dataclass(frozen=True)
class Parts:
    """What comes for a student, taken apart."""

    notebooks: Mapping[str, bytes]  # by the names of the released ones; without those that were not handed in
    released: list[ReleasedRun]  # what they are put into
    files: Mapping[str, bytes] = field(default_factory=dict)  # what else was handed in, by paths
    remarks: tuple[str, ...] = ()  # what of it was not taken, and why
    personal: bytes = b""  # the student's own release, where the settings say that there is one


class AssignmentSandbox:
    """An assignment, and the sandbox that submissions to it run in; a context."""

    def __init__(
        self,
        settings: RunSettings,
        zygote: socket.socket | None = None,
        start: Callable[..., Zygote] | None = None,
    ) -> None:
        self.assignment = Assignment(settings)
        releases = [book.release for book in self.assignment.notebooks]
        self.sandbox = Sandbox(settings, releases, self.assignment.catalogue, zygote, start)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sandbox.close()
        cgroups.sweep(patience_s=1.0)

    def parts(self, submission: bytes) -> Parts:
        """Take apart what comes for a student: with the student's own release where the settings say so."""
        settings, released = self.assignment.settings, self.assignment.notebooks
        if settings.packed:
            files = unpacked(submission)
            remarks = tuple(json.loads(files.pop(REMARKS, b"[]")))
            notebooks = {book.name: files.pop(f"{book.name}.ipynb", None) for book in released}
            fixed = {path for path, _ in settings.stock.files} if settings.stock else set(files)
            beside = {path: content for path, content in files.items() if path not in fixed}
            return Parts({name: raw for name, raw in notebooks.items() if raw is not None}, released, beside, remarks)
        name = released[0].name
        if not settings.personal:
            return Parts({name: submission}, released)
        personal_release, submission = parted(submission)
        release = nbformat.reads(personal_release.decode(), as_version=4)
        book = ReleasedRun(name, release, self.assignment.catalogue, tuple(released[0].hidden.items()))
        return Parts({name: submission}, [book], personal=personal_release)


class SandboxExaminer(AssignmentSandbox):
    """Grades submissions of one assignment, one after the other."""

    def examine(self, student: str, submission: bytes, witness: Witness | None = None) -> Graded:
        """Grade one submission, as ``parts`` takes it apart. Nothing that a student handed in makes it raise."""
        start_s, settings = time.monotonic(), self.assignment.settings
        parts = self.parts(submission)
        digest = digest_of(submission if not parts.personal else parts.notebooks[parts.released[0].name])
        try:
            rebuilt = {book.name: self._rebuilt(book, parts) for book in parts.released if book.name in parts.notebooks}
        except BadNotebook as error:
            return Graded(student, REFUSED, digest, reason=str(error), seconds=time.monotonic() - start_s)
        runs, marks, notebooks = list[SubmissionRun](), list[Mark](), list[tuple[str, str]]()
        files = parts.files
        for book in parts.released:
            if book.name not in rebuilt:
                marks += self._missing(book)
                continue
            run = SubmissionRun(self.assignment, self.sandbox, book, rebuilt[book.name], files, witness)
            run.hands_on = settings.stock is not None and book is not parts.released[-1]
            if parts.personal:
                run.remarks += whose(parts.personal, parts.notebooks[book.name], student)
            run.play(start_s + settings.limits.total_s * (len(runs) + 1))
            runs.append(run)
            files = run.files
            of_notebook = mark(run)
            text = json.dumps(graded_notebook(run, of_notebook), sort_keys=True, ensure_ascii=False) + "\n"
            notebooks.append((book.name, text))
            marks += of_notebook
        slowest, slowest_s = max(
            (pair for run in runs for pair in run.seconds.items()), key=lambda pair: pair[1], default=("", 0.0)
        )
        gone = [book.name for book in parts.released if book.name not in rebuilt]
        return Graded(
            student,
            GRADED,
            digest,
            tuple(marks),
            remarks=(
                *parts.remarks,
                *(remark for run in runs for remark in run.remarks),
                *(f"{name}.ipynb was not handed in: it earns nothing." for name in gone),
            ),
            notebooks=tuple(notebooks),
            seconds=time.monotonic() - start_s,
            slowest=slowest,
            slowest_s=slowest_s,
            crowded=any(run.crowded for run in runs),
        )

    def _rebuilt(self, book: ReleasedRun, parts: Parts) -> Rebuilt:
        """What is run of a notebook that was handed in; BadNotebook if it is none of this assignment."""
        put_together = rebuild if self.assignment.settings.stock is None else as_handed_in
        return put_together(book.release, parts.notebooks[book.name], f"{book.name}.ipynb")

    def _missing(self, book: ReleasedRun) -> list[Mark]:
        """The marks of a notebook that was not handed in."""
        cells = [cell for cell in book.release.cells if is_graded(cell) or is_hand_graded_task(cell)]
        keys = [cell_key(book.name, grade_id(cell), len(self.assignment.notebooks)) for cell in cells]
        message = f"{book.name}.ipynb was not handed in."
        return [
            Mark(task_id(key), key, 0.0, worth(cell), "blank", message=message)
            for key, cell in zip(keys, cells, strict=True)
        ]
