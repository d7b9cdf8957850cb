"""What is asked in an assignment, as a course's folder says it: the releases, hidden tests, the course's own tasks."""

import json
from typing import Any

import nbformat

from softlookup_grader.course.folder import Course
from softlookup_grader.course.personal import is_personal
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import Limits, ReleasedNotebook, RunSettings
from softlookup_grader.judging.plain_tests import hidden_tests
from softlookup_grader.judging.stock import limits_of, stock_run
from softlookup_judge.checking.baked import read
from softlookup_judge.checking.catalogue import catalogue_of
from softlookup_judge.data.own import BAKED, FOLDER

_PYTHON = "python"


def settings_for(
    course: Course, assignment: str, seed: int = 0, sandbox: str = "bubblewrap", limits: Limits | None = None
) -> RunSettings:
    """Read what an assignment of a course asks of every submission."""
    course.require(assignment)
    notebooks = []
    for name, text in release_texts(course, assignment).items():
        _require_python(text, f"{assignment}/{name}.ipynb")
        notebooks.append(ReleasedNotebook(name, text, hidden_tests(course, assignment, name, text)))
    stock = stock_run(course, assignment) if course.layout(assignment).stock else None
    return RunSettings(
        assignment,
        tuple(notebooks),
        seed,
        sandbox,
        limits or (Limits() if stock is None else limits_of(course, stock)),
        own_tasks=_own_tasks(course, assignment),
        personal=is_personal(course, assignment),
        stock=stock,
    )


def release_texts(course: Course, assignment: str) -> dict[str, str]:
    """Read the notebooks that students got, by name; CourseError if there is none, or one cannot be read."""
    texts = {}
    for path in course.notebooks("release", ".", assignment):
        try:
            text = path.read_text(encoding="utf-8")
            json.loads(text)
        except FileNotFoundError:
            raise CourseError(
                f"there is no release of {assignment} ({path}): 'softlookup release {assignment}' makes it, "
                f"or 'nbgrader generate_assignment {assignment}'"
            ) from None
        except (OSError, ValueError) as error:
            raise CourseError(
                f"the release of {assignment} cannot be read ({path.name}: {error}): release it again"
            ) from None
        texts[path.stem] = text
    return texts


def _require_python(text: str, name: str) -> None:
    """Refuse a notebook in another language by the name of its kernel."""
    about = json.loads(text).get("metadata", {})
    kernel, language = about.get("kernelspec", {}), about.get("language_info", {})
    spoken = str(kernel.get("language") or language.get("name") or _PYTHON)
    if spoken.casefold() not in (_PYTHON, "ipython", "python3"):
        raise CourseError(
            f"{name} is for the kernel {kernel.get('name', spoken)!r} ({spoken}): Python is the only language that is "
            "graded here; 'nbgrader autograde' runs other kernels, without a sandbox"
        )


def identity(settings: RunSettings) -> str:
    """A text that changes whenever what is run or asked changes: submissions are graded again then.

    Points are left out: where they alone change, what was earned is reckoned anew.
    """
    notebooks = [[book.name, without_points(book.text), book.hidden] for book in settings.notebooks]
    files = [[path, content.hex()] for path, content in settings.stock.files] if settings.stock else []
    return json.dumps([notebooks, settings.own_tasks, files])


def without_points(text: str) -> Any:
    """What a released notebook says, but for its cells' points and the checksums that hold them."""
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        for name in ("points", "checksum"):
            cell.metadata.get("nbgrader", {}).pop(name, None)
    return notebook


def _own_tasks(course: Course, assignment: str) -> tuple[tuple[str, str], ...]:
    """The files of a course's own tasks of one assignment, which travel to all who judge."""
    catalogue = catalogue_of(course.root)
    chapter = assignment.partition("_")[0]
    there = {task.id for task in catalogue.own_tasks(int(chapter))} if chapter.isdecimal() else set()
    handed_out = course.folder("release", ".", assignment) / BAKED
    released_ids = read(handed_out.read_bytes()).more.keys() if handed_out.is_file() else set()
    if gone := sorted(released_ids - there):
        raise CourseError(
            f"the release of {assignment} asks {', '.join(gone)}, and {course.root / FOLDER} does not describe that: "
            f"bring the files back, or release {assignment} again"
        )
    return tuple(file for file in catalogue.course_tasks.texts if file[0].startswith(f"{chapter}_"))
