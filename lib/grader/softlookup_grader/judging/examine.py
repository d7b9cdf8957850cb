"""The examiner, in a worker: takes one submission after the other through the stages rebuild, run, judge and mark."""

import json
import socket
import time
from collections.abc import Callable
from typing import Self

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.notebooks import BadNotebook
from softlookup_grader.course.personal import whose
from softlookup_grader.data.records import GRADED, REFUSED
from softlookup_grader.data.work import Graded, RunSettings, digest_of, parted
from softlookup_grader.judging.forks import Sandbox
from softlookup_grader.judging.marking import graded_notebook, mark
from softlookup_grader.judging.rebuild import ReleasedCheck, rebuild
from softlookup_grader.judging.running import Assignment, SubmissionRun, Witness
from softlookup_grader.judging.zygotes import asked_by
from softlookup_grader.sandbox import cgroups
from softlookup_grader.sandbox.bubble import Zygote


class AssignmentSandbox:
    """An assignment, and the sandbox that submissions to it run in; a context."""

    def __init__(
        self,
        settings: RunSettings,
        zygote: socket.socket | None = None,
        start: Callable[..., Zygote] | None = None,
    ) -> None:
        self.assignment = Assignment(settings)
        self.sandbox = Sandbox(settings, self.assignment.release, self.assignment.catalogue, zygote, start)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sandbox.close()
        cgroups.sweep(patience_s=1.0)

    def unpacked(self, submission: bytes) -> tuple[NotebookNode, dict[str, ReleasedCheck | None], bytes, bytes]:
        """Take apart what comes for a student: with the student's own release where the settings say so."""
        if not self.assignment.settings.personal:
            return self.assignment.release, self.assignment.checks, submission, b""
        personal_release, submission = parted(submission)
        release = nbformat.reads(personal_release.decode(), as_version=4)
        return release, asked_by(release, self.assignment.catalogue), submission, personal_release


class SandboxExaminer(AssignmentSandbox):
    """Grades submissions of one assignment, one after the other."""

    def examine(self, student: str, submission: bytes, witness: Witness | None = None) -> Graded:
        """Grade one submission, as ``unpacked`` takes it apart. Nothing that a student handed in makes it raise."""
        start_s, settings = time.monotonic(), self.assignment.settings
        release, checks, submission, personal_release = self.unpacked(submission)
        digest = digest_of(submission)
        try:
            rebuilt = rebuild(release, submission, f"{settings.assignment}.ipynb")
        except BadNotebook as error:
            return Graded(student, REFUSED, digest, reason=str(error), seconds=time.monotonic() - start_s)
        run = SubmissionRun(self.assignment, self.sandbox, rebuilt, checks, witness)
        if personal_release:
            run.remarks += whose(personal_release, submission, student)
        run.play(start_s + settings.limits.total_s)
        marks = mark(run)
        notebook = graded_notebook(run, marks)
        slowest, slowest_s = max(run.seconds.items(), key=lambda item: item[1], default=("", 0.0))
        return Graded(
            student,
            GRADED,
            digest,
            marks,
            remarks=tuple(run.remarks),
            notebook=json.dumps(notebook, sort_keys=True, ensure_ascii=False) + "\n",
            seconds=time.monotonic() - start_s,
            slowest=slowest,
            slowest_s=slowest_s,
            crowded=run.crowded,
        )
