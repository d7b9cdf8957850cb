"""What a course released: enough to refuse another secret word, and to notice a source that was changed by hand.

Of the secret only a slow, salted fingerprint is stored (scrypt): to guess by it costs as much as by the variants.
"""

import hashlib
import hmac
import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.folder import Course
from softlookup_grader.data.dates import naive_utc
from softlookup_grader.data.disk import read_record

RECORD = ".release.json"
REPLACED = "replaced"  # the folder that keeps sources which a release replaced although they had been changed


@dataclass(frozen=True)
class Choices:
    """What an instructor chose for one assignment; a later release repeats it."""

    drop: tuple[str, ...] = ()  # tasks that are left out
    # points by task, where they differ from the published ones
    points: Mapping[str, float] = field(default_factory=dict)
    last_help: str = ""  # the last step of help; empty for all
    per_student: bool = False  # whether everybody gets a notebook of their own, with other variants
    assistants: str = ""  # whether coding assistants are asked to teach, not to solve: "tutor", or empty


class Released:
    """A course's record of its releases, in ``.release.json``."""

    def __init__(self, course: Course) -> None:
        """Read the record, empty where there is none; CourseError if the file is damaged."""
        self.course = course
        self._path = course.root / RECORD

        def parse(content: dict[str, Any]) -> dict[str, Any]:
            content["seed"], content["assignments"].items()
            return content

        remedy = "put a backup in its place, or delete it to go on without it"
        self._record = read_record(self._path, parse, remedy) or {"seed": None, "assignments": {}}

    def other_words(self, secret: str | None) -> str:
        """Why this secret word is not the one of the course; empty if it is, or if nothing was released yet."""
        if not self._record["assignments"]:
            return ""
        secret_hash = self._record["seed"]
        if secret_hash is None:
            return "" if secret is None else "this course was released without a secret word"
        if secret is None:
            return "this course was released with a secret word, and none was given"
        if hmac.compare_digest(
            _scrypt(secret, bytes.fromhex(secret_hash["salt"])), bytes.fromhex(secret_hash["scrypt"])
        ):
            return ""
        return "this is not the secret word with which this course was released"

    @property
    def assignments(self) -> list[str]:
        """The assignments that were released, by name."""
        return sorted(self._record["assignments"])

    def first(self, assignment: str) -> datetime | None:
        """When an assignment was first released, in UTC; None where nothing was noted."""
        first = self._record["assignments"].get(assignment, {}).get("first")
        return datetime.fromisoformat(first) if first else None

    @property
    def dropped(self) -> set[str]:
        """The tasks that were left out of them."""
        return {task for name in self.assignments for task in self.choices(name).drop}

    def choices(self, assignment: str) -> Choices:
        """What was chosen for an assignment at its last release."""
        choices = self._record["assignments"].get(assignment, {}).get("choices", {})
        drop, points = tuple(choices.get("drop", ())), dict(choices.get("points", {}))
        assistants = "tutor" if choices.get("assistants") == "tutor" else ""
        return Choices(drop, points, choices.get("last_help", ""), bool(choices.get("per_student")), assistants)

    @property
    def book(self) -> str:
        """The address of the rendered book that the notebooks were released with; empty if there was none."""
        return str(self._record.get("book") or "")

    def book_from(self, folder: Path) -> str:
        """Where the book is, seen from a folder; empty where none is known."""
        built = (above / "_build" / "html" for above in self.course.root.resolve().parents)
        book = next((path for path in built if (path / "index.html").is_file()), None)
        return self.book.rstrip("/") or (
            "" if book is None else Path(os.path.relpath(book, folder.resolve())).as_posix()
        )

    def changed(self, assignment: str, fresh: NotebookNode) -> list[str]:
        """The cells of a source that were changed since its release, by name; without a record, since ``fresh``."""
        path = self.course.notebook("source", ".", assignment)
        if not path.is_file():
            return []
        try:
            fingerprints = _cells(nbformat.read(path, as_version=4))
        except Exception:  # noqa: BLE001 - whatever is wrong with it, it is not what was written
            return ["the whole file"]
        wrote = self._record["assignments"].get(assignment, {}).get("cells") or _cells(fresh)
        return [name for name in {**wrote, **fingerprints} if wrote.get(name) != fingerprints.get(name)]

    def copy_of(self, assignment: str) -> tuple[Path, bytes]:
        """Where a copy of a source belongs before it is written over, and the copy."""
        path = self.course.notebook("source", ".", assignment)
        target = self.course.root / REPLACED / f"{assignment}-{time.strftime('%Y%m%d-%H%M%S')}.ipynb"
        return target, path.read_bytes()

    def record_release(
        self, assignment: str, source: NotebookNode, choices: Choices, secret: str | None, book: str = ""
    ) -> None:
        """Note what is released: the secret's fingerprint, the source's cells, choices, the book's address."""
        if self.other_words(secret) or not self._record["assignments"]:
            self._record["seed"] = None
            if secret is not None:
                salt = os.urandom(16)
                self._record["seed"] = {"salt": salt.hex(), "scrypt": _scrypt(secret, salt).hex()}
        self._record["book"] = book
        first = self.first(assignment) or naive_utc(datetime.now(UTC)).replace(microsecond=0)
        about = {"cells": _cells(source), "choices": asdict(choices), "first": first.isoformat()}
        self._record["assignments"][assignment] = about

    def content(self) -> dict[Path, bytes]:
        """The record's file with all that was noted, to be written together with the release."""
        return {self._path: (json.dumps(self._record, indent=1) + "\n").encode()}


def _scrypt(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, n=2**14, r=8, p=1)


def _cells(notebook: NotebookNode) -> dict[str, str]:
    """A fingerprint of each cell's kind, text and points, by the cell's name."""
    fingerprints: dict[str, str] = {}
    for at, cell in enumerate(notebook.cells):
        about = cell.metadata.get("nbgrader", {})
        name = about.get("grade_id") or cell.get("id") or f"cell {at}"
        content = json.dumps([cell.cell_type, cell.source, float(about.get("points") or 0)])
        fingerprints[name] = hashlib.sha256(content.encode()).hexdigest()[:16]
    return fingerprints
