"""What grading passes around: the settings of a run, and what grading one submission came to. Plain data alone.

These travel between processes and machines, and into the ledger, so they hold nothing but text, numbers and tuples.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from softlookup_grader.data.records import GRADED, MISSING, REFUSED

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Environment variables that give a process one thread for its arithmetic."""


ENDING_S = 10.0
"""Seconds by which a submission may overrun its time: until it is seen and killed, and what it answered is judged."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Attributes:
        cell_s: Seconds that one cell may take; for which it waits for a processor does not count.
        answer_s: Seconds that all questions of one task may take, counted in the same way.
        total_s: Seconds that a whole submission may take by the clock.
        cpu_s: Seconds of processor time of each of its processes.
        memory_mb: Megabytes that all its processes together may hold beside what they share with the grader's.
        disk_mb: Megabytes of files that it may write.
        processes: Processes and threads that it may have at once.
        output_kb: Kilobytes of output that are kept of one cell.
        answer_mb: Megabytes that one answer may have.
        call_s: Seconds of processor time that one lent call may take; those that honest answers make take milliseconds.
    """

    cell_s: float = 20.0
    answer_s: float = 20.0
    total_s: float = 120.0
    cpu_s: int = 120
    memory_mb: int = 2048
    disk_mb: int = 64
    processes: int = 64
    output_kb: int = 64
    answer_mb: int = 16
    call_s: int = 5

    @property
    def once_s(self) -> float:
        """Seconds that one submission may take, whatever it does."""
        return self.total_s + ENDING_S

    @property
    def worst_s(self) -> float:
        """Seconds that one submission may cost a class: one that had to wait for a processor is graded once more."""
        return 2 * self.once_s


@dataclass(frozen=True)
class RunSettings:
    """What is the same for all submissions of one assignment.

    Attributes:
        assignment: Its name, "04_one_head".
        release: The notebook as students got it, as JSON text; it comes from the instructor and is trusted.
        seed: Draws the inputs of all questions.
        sandbox: "bubblewrap", or "none" for code that one trusts.
        limits: What a submission may use.
        hidden: Test cells with what the release hides, by name; pairs, since this travels.
        own_tasks: Names and contents of the files of the course's own tasks; the instructor's, and trusted.
        personal: Whether each submission comes with the notebook that its student was given (``with_release``).
    """

    assignment: str
    release: str
    seed: int
    sandbox: str = "bubblewrap"
    limits: Limits = field(default_factory=Limits)
    hidden: tuple[tuple[str, str], ...] = ()
    own_tasks: tuple[tuple[str, str], ...] = ()
    personal: bool = False


@dataclass(frozen=True)
class Mark:
    """What one graded cell came to.

    Attributes:
        task: The task's id, "04.scale".
        cell: The grade_id of the graded cell, "04-scale-check".
        points: What it earned; None where a person has to read it, or where the judge itself failed.
        max: What it is worth.
        verdict: pass, partial, wrong, blank, error, timeout or stopped; "by hand" where a person gives the points.
        diagnosis: Slugs of the known mistakes that were recognised.
        message: What the student reads, a few sentences.
        variant: Which variant of the task was asked.
    """

    task: str
    cell: str
    points: float | None
    max: float
    verdict: str
    diagnosis: tuple[str, ...] = ()
    message: str = ""
    variant: int = 0


@dataclass(frozen=True)
class Graded:
    """What grading one submission came to.

    Attributes:
        student: The student's id.
        status: graded, refused (it cannot be graded) or missing (nothing was handed in).
        digest: SHA-256 of the submitted file, hexadecimal; empty where there is none.
        marks: One for each graded cell, in the order of the notebook; empty unless it is graded.
        reason: Why it was refused or is missing, one sentence.
        remarks: What was ignored, cut or stopped, and why: sentences for the student and the instructor.
        notebook: The notebook for autograded/, as JSON text, with outputs; empty unless it is graded.
        seconds: How long grading took.
        slowest: The grade_id (or number) of the cell that took longest.
        slowest_s: How long that one took.
        crowded: Whether something was stopped that had waited for a processor: it is graded once more, alone.
        given_by: Who handed in the notebook, where it is another one of the student's group.
    """

    student: str
    status: str
    digest: str = ""
    marks: tuple[Mark, ...] = ()
    reason: str = ""
    remarks: tuple[str, ...] = ()
    notebook: str = ""
    seconds: float = 0.0
    slowest: str = ""
    slowest_s: float = 0.0
    crowded: bool = False
    given_by: str = ""

    def __post_init__(self) -> None:
        if self.status not in (GRADED, REFUSED, MISSING):
            raise ValueError(f"status is {self.status!r}; wanted {GRADED!r}, {REFUSED!r} or {MISSING!r}")

    def as_json(self) -> dict[str, Any]:
        """What the ledger holds: all but the notebook, which lies in autograded/."""
        record = {**vars(self), "marks": tuple(dict(vars(mark)) for mark in self.marks)}
        del record["notebook"]
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Graded":
        """Read back what as_json gave; TypeError if a field is unknown or one that is needed is not there."""
        marks = tuple(Mark(**{**mark, "diagnosis": tuple(mark["diagnosis"])}) for mark in record["marks"])
        return cls(**{**record, "marks": marks, "remarks": tuple(record["remarks"])})


def with_release(release: bytes, submission: bytes) -> bytes:
    """A submission with the notebook that its student was given, as one piece that travels to a worker."""
    return len(release).to_bytes(8, "big") + release + submission


def parted(both: bytes) -> tuple[bytes, bytes]:
    """The notebook that a student was given, and the submission, from what ``with_release`` made."""
    end = 8 + int.from_bytes(both[:8], "big")
    return both[8:end], both[end:]


def digest_of(submission: bytes) -> str:
    """Name a submitted file by its content."""
    return hashlib.sha256(submission).hexdigest()
