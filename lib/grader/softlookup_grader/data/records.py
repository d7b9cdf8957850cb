"""What grading says about each submission, and the report that holds a class."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GRADED, REFUSED, MISSING = "graded", "refused", "missing"


@dataclass(frozen=True)
class TaskMark:
    """One task of one submission."""

    points: float  # what it earned, from the gradebook
    max: float  # what it is worth
    verdict: str  # pass, partial, wrong, blank, error, timeout or stopped
    diagnosis: tuple[str, ...] = ()  # names of the known mistakes that were recognised


@dataclass(frozen=True)
class HandMark:
    """One written answer of one submission."""

    points: float | None  # what a person gave for it, None while it waits
    max: float  # what it is worth
    waiting: bool  # whether a person still has to read it


@dataclass(frozen=True)
class Record:
    """One submission, graded or not."""

    student: str  # the student's id
    status: str  # graded, refused (the notebook cannot be graded) or missing (there is none)
    score: float  # points in all, what a person gave included
    max: float  # points there are
    tasks: dict[str, TaskMark] = field(default_factory=dict)  # by task id
    by_hand: dict[str, HandMark] = field(default_factory=dict)  # written answers, by id
    reason: str = ""  # why it was refused or is missing, one sentence
    seconds: float = 0.0  # how long grading took
    remarks: tuple[str, ...] = ()  # what was ignored, cut or stopped in it, and why
    penalty: float = 0.0  # points that a late penalty takes off the score
    group: tuple[str, ...] = ()  # for whom the same notebook counts, who handed it in first; empty without a group

    @property
    def waiting(self) -> int:
        """How many written answers a person still has to read."""
        return sum(mark.waiting for mark in self.by_hand.values())

    @property
    def grade(self) -> float | None:
        """What counts: the score without the late penalty, never below 0; None for what was not graded."""
        return max(0.0, self.score - self.penalty) if self.status == GRADED else None

    def as_json(self) -> dict[str, Any]:
        """The record as the report holds it; times are left out, so that equal gradings are equal files."""
        message: dict[str, Any] = {
            "score": self.score,
            "max": self.max,
            "status": self.status,
            "grade": self.grade,
            "tasks": {name: {**vars(m), "diagnosis": list(m.diagnosis)} for name, m in self.tasks.items()},
            "by_hand": {name: dict(vars(m)) for name, m in self.by_hand.items()},
        }
        if self.reason:
            message["reason"] = self.reason
        if self.remarks:
            message["remarks"] = list(self.remarks)
        if self.penalty:
            message["late_penalty"] = self.penalty
        if self.group:
            message["group"] = list(self.group)
        return message


@dataclass(frozen=True)
class Report:
    """A graded class."""

    assignment: str  # its name
    seed: int  # the seed that grading was asked to use
    records: tuple[Record, ...]  # one for each student, in the order of the class

    def as_json(self) -> dict[str, Any]:
        """The report of ``softlookup grade --json``."""
        submissions = {row.student: row.as_json() for row in self.records}
        return {"assignment": self.assignment, "seed": self.seed, "submissions": submissions}

    def write(self, path: Path) -> None:
        """Write the report as JSON, two spaces deep, whole or not at all; CourseError if the disk refuses it."""
        from softlookup_grader.data.disk import write_whole

        text = json.dumps(self.as_json(), indent=2, ensure_ascii=False) + "\n"
        write_whole(path, text.encode("utf-8", "replace"))

    @property
    def waiting(self) -> list[str]:
        """Students whose written answers a person still has to read."""
        return [row.student for row in self.records if row.waiting]

    def mistakes(self) -> Counter[tuple[str, str]]:
        """How many students made each known mistake, by task and name."""
        return Counter(
            (name, mistake_name)
            for row in self.records
            for name, mark in row.tasks.items()
            for mistake_name in mark.diagnosis
        )


def task_names(records: Iterable[Record]) -> list[str]:
    """Ids of the tasks that occur, in the order of the notebook."""
    names: dict[str, None] = {}
    for row in records:
        names.update(dict.fromkeys(row.tasks))
    return list(names)
