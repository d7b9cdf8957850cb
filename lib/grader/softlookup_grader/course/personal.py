"""Notebooks of one's own, ``release/NN_topic/personal/STUDENT.ipynb``: everybody is asked other variants.

Which ones follows from the course's secret and the id; grading reads them from the notebook and needs no secret.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from softlookup_grader.course.folder import Course

FOLDER = "personal"
KEY = "softlookup"
"""What the notebook's metadata call the student whom it was made for, and the mark that binds it to the id."""


def personal_folder(course: Course, assignment: str) -> Path:
    """Where the notebooks of an assignment lie that are made for single students."""
    return course.notebook("release", ".", assignment).parent / FOLDER


def is_personal(course: Course, assignment: str) -> bool:
    """Whether an assignment was released for each student."""
    return personal_folder(course, assignment).is_dir()


def own_release(course: Course, assignment: str, student: str) -> bytes | None:
    """The notebook that a student was given, None where none was made."""
    path = personal_folder(course, assignment) / f"{student}.ipynb"
    return path.read_bytes() if path.is_file() else None


def bind(notebook: NotebookNode, assignment: str, student: str, secret: str) -> None:
    """Write into a notebook's metadata whom it was made for, with a mark that only the secret can make."""
    message = f"{assignment}\0{student}".encode()
    mark = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()[:32]
    notebook.metadata[KEY] = {"student": student, "bound": mark}


def whose(released: bytes, submitted: bytes, student: str) -> Iterator[str]:
    """Say what does not fit in a submission's metadata: sentences for the remarks, none where all is as it was made."""
    released_mark, came = _bound(released), _bound(submitted)
    owner = str(came.get("student", ""))[:100]
    if owner and owner != student:
        yield f"The notebook says that it was made for {owner!r}; it was graded as {student}'s."
    elif came != released_mark:
        yield "The mark that binds the notebook to the student is missing or changed."


def unbound(raw: bytes, student: str) -> bytes:
    """A notebook that does not say any more that it was made for a student; the same bytes where it did not."""
    if made_for(raw) != student:
        return raw
    content = json.loads(raw)
    del content["metadata"][KEY]
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def made_for(raw: bytes) -> str:
    """Whom a notebook says that it was made for; empty where it says nothing."""
    return str(_bound(raw).get("student", ""))


def _bound(raw: bytes) -> dict[str, Any]:
    try:
        binding = json.loads(raw)["metadata"][KEY]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return binding if isinstance(binding, dict) else {}
