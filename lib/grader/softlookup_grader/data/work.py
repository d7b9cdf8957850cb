"""The settings of a run, and what grading one submission came to: text, numbers and tuples, which travel anywhere."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from softlookup_grader.data.records import GRADED, MISSING, REFUSED

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Environment variables that give a process one thread for its arithmetic."""


BY_HAND = "by hand"
"""The verdict where a person gives the points."""

ENDING_S = 10.0
"""Seconds by which a submission may overrun its time: until it is seen and killed, and what it answered is judged."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    cell_s: float = 20.0  # seconds that one cell may take; for which it waits for a processor does not count
    answer_s: float = 20.0  # seconds that all questions of one task may take, counted in the same way
    total_s: float = 120.0  # seconds that a whole submission may take by the clock
    cpu_s: int = 120  # seconds of processor time of each of its processes
    memory_mb: int = 2048  # megabytes that all its processes together may hold beside what they share with the grader's
    disk_mb: int = 64  # megabytes of files that it may write
    processes: int = 64  # processes and threads that it may have at once
    output_kb: int = 64  # kilobytes of output that are kept of one cell
    answer_mb: int = 16  # megabytes that one answer may have
    call_s: int = 5  # seconds of processor time that one lent call may take

    @property
    def once_s(self) -> float:
        """Seconds that one submission may take, whatever it does."""
        return self.total_s + ENDING_S

    @property
    def worst_s(self) -> float:
        """Seconds that one submission may cost a class: one that had to wait for a processor is graded once more."""
        return 2 * self.once_s


@dataclass(frozen=True)
class ReleasedNotebook:
    """One notebook of an assignment; it comes from the instructor and is trusted."""

    name: str  # its file's name without the suffix
    text: str  # as students got it, JSON
    hidden: tuple[tuple[str, str], ...] = ()  # test cells with what the release hides, by grade_id


@dataclass(frozen=True)
class StockRun:
    """What notebooks need that are run as nbgrader runs them."""

    preload: tuple[str, ...] = ()  # modules that are imported once, before all submissions
    files: tuple[tuple[str, bytes], ...] = ()  # the instructor's files beside the notebooks, by their paths
    ignored_stderr: str = ""  # a regular expression: what it finds on stderr is no failure


@dataclass(frozen=True)
class RunSettings:
    """What is the same for all submissions of one assignment."""

    assignment: str  # its name, "04_one_head"
    notebooks: tuple[ReleasedNotebook, ...]  # in the order in which they are run
    seed: int  # draws the inputs of all questions
    sandbox: str = "bubblewrap"  # "bubblewrap", or "none" for code that one trusts
    limits: Limits = field(default_factory=Limits)  # what each notebook of a submission may use
    own_tasks: tuple[tuple[str, str], ...] = ()  # names and contents of the files of the course's own tasks
    personal: bool = False  # whether each submission comes with the notebook that its student was given
    stock: StockRun | None = None  # None where the judge asks: the answers are put into the release then

    @classmethod
    def single(cls, assignment: str, release: str, seed: int, **others: Any) -> "RunSettings":
        """An assignment of one notebook that is named like it."""
        return cls(assignment, (ReleasedNotebook(assignment, release),), seed, **others)

    @property
    def packed(self) -> bool:
        """Whether a submission comes as several files, packed; else as the bytes of its notebook."""
        return self.stock is not None or len(self.notebooks) > 1

    @property
    def total_s(self) -> float:
        """Seconds that a whole submission may take by the clock."""
        return self.limits.total_s * len(self.notebooks)


@dataclass(frozen=True)
class Mark:
    """What one graded cell came to."""

    task: str  # the task's id, "04.scale"
    cell: str  # the graded cell's key (``cell_key``), "04-scale-check"
    points: float | None  # what it earned; None where a person has to read it, or where the judge itself failed
    max: float
    verdict: str  # pass, partial, wrong, blank, error, timeout or stopped; "by hand" where a person gives the points
    diagnosis: tuple[str, ...] = ()  # names of the known mistakes that were recognised
    message: str = ""  # what the student reads, a few sentences
    variant: int = 0  # which variant of the task was asked
    ended_in: float | None = None  # the number that a test cell of nbgrader's ended with, for partial credit


@dataclass(frozen=True)
class Graded:
    """What grading one submission came to."""

    student: str
    status: str  # graded, refused (it cannot be graded) or missing (nothing was handed in)
    digest: str = ""  # SHA-256 of the submitted file, hexadecimal; empty where there is none
    marks: tuple[Mark, ...] = ()  # one for each graded cell, in the order of the notebook; empty unless it is graded
    reason: str = ""  # why it was refused or is missing, one sentence
    # what was ignored, cut or stopped, and why: sentences for the student and the instructor
    remarks: tuple[str, ...] = ()
    # the notebooks for autograded/, with outputs: names and JSON texts; empty unless it is graded
    notebooks: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0  # how long grading took
    slowest: str = ""  # the grade_id (or number) of the cell that took longest
    slowest_s: float = 0.0  # how long that one took
    # whether something was stopped that had waited for a processor: it is graded once more, alone
    crowded: bool = False
    given_by: str = ""  # who handed in the notebook, where it is another one of the student's group

    def __post_init__(self) -> None:
        if self.status not in (GRADED, REFUSED, MISSING):
            raise ValueError(f"status is {self.status!r}; wanted {GRADED!r}, {REFUSED!r} or {MISSING!r}")

    def as_json(self) -> dict[str, Any]:
        """What the ledger holds: all but the notebooks, which lie in autograded/."""
        content = {**vars(self), "marks": tuple(dict(vars(mark)) for mark in self.marks)}
        del content["notebooks"]
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Graded":
        """Read back what as_json gave; TypeError if a field is unknown or one that is needed is not there."""
        marks = tuple(Mark(**{**mark, "diagnosis": tuple(mark["diagnosis"])}) for mark in content["marks"])
        notebooks = tuple((name, text) for name, text in content.get("notebooks", ()))
        return cls(**{**content, "marks": marks, "remarks": tuple(content["remarks"]), "notebooks": notebooks})


def cell_key(notebook: str, grade_id: str, notebooks: int) -> str:
    """Name a cell in its assignment: by its grade_id, with its notebook where there are several notebooks."""
    return f"{notebook}/{grade_id}" if notebooks > 1 else grade_id


def packed(files: Mapping[str, bytes]) -> bytes:
    """Several files as one piece that travels to a worker."""
    head = json.dumps([[path, len(content)] for path, content in files.items()]).encode()
    return len(head).to_bytes(8, "big") + head + b"".join(files.values())


def unpacked(content: bytes) -> dict[str, bytes]:
    """The files that ``packed`` put together."""
    begin = 8 + int.from_bytes(content[:8], "big")
    files = {}
    for path, size in json.loads(content[8:begin]):
        files[path], begin = content[begin : begin + size], begin + size
    return files


def with_release(release: bytes, submission: bytes) -> bytes:
    """A submission with the notebook that its student was given, as one piece."""
    return packed({"release": release, "submission": submission})


def parted(both: bytes) -> tuple[bytes, bytes]:
    """The notebook that a student was given, and the submission, from what ``with_release`` made."""
    files = unpacked(both)
    return files["release"], files["submission"]


def digest_of(submission: bytes) -> str:
    """Name a submitted file by its content."""
    return hashlib.sha256(submission).hexdigest()
