"""Archives of what a course gives out, and whether a release is what its source says."""

import contextlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import grade_id, read_notebook, worth
from softlookup_grader.data.errors import CourseError
from softlookup_judge.authoring import make_release

_SKIPPED = (".ipynb_checkpoints", "__pycache__")


def packed(files: Mapping[str, bytes]) -> bytes:
    """Make a zip of files, by the names that they have in it; the same files give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, inside in sorted(files.items()):
            entry = zipfile.ZipInfo(name)  # dated 1980, the earliest that a zip can say
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, inside, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def files_in(folder: Path, besides: str = "") -> dict[str, bytes]:
    """Read all files of a folder, by their path in it; a link is a CourseError."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] == besides or not {*_SKIPPED}.isdisjoint(name.parts):
            continue
        if path.is_symlink():
            raise CourseError(f"{path} is a link, which leads nowhere for students: put the file itself in its place")
        if path.is_file():
            files[name.as_posix()] = path.read_bytes()
    return files


@contextlib.contextmanager
def nbgrader_refuses(path: Path) -> Iterator[None]:
    """Turn what nbgrader refuses in a source that somebody changed into one sentence."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        raise CourseError(f"nbgrader refuses {path}: {one_line(str(error))}") from error


def require_one_notebook(course: Course, assignment: str) -> None:
    """Hold that an assignment is one notebook that is named like it, as those of this course are."""
    names = course.layout(assignment).notebooks
    if names != (assignment,):
        raise CourseError(
            f"{assignment} has other notebooks than {assignment}.ipynb ({', '.join(map(one_line, names))}), and only "
            f"that would be packed: 'nbgrader release_assignment {assignment}' gives out all"
        )


def changed_since(course: Course, assignment: str) -> list[str]:
    """Names of cells and files that a released assignment's source has otherwise; none without a source."""
    source, release = (course.folder(step, ".", assignment) for step in ("source", "release"))
    notebook = course.notebook("source", ".", assignment)
    if not notebook.is_file():
        return []
    written = read_notebook(notebook)
    with nbgrader_refuses(notebook):
        in_source = _cells(make_release(written, course.config))
    in_release = _cells(read_notebook(course.notebook("release", ".", assignment)))
    changed = {name for name in in_source.keys() | in_release.keys() if in_source.get(name) != in_release.get(name)}
    files = {name: content for name, content in files_in(source).items() if not name.endswith((".ipynb", ".pyc"))}
    released = files_in(release)
    return sorted(changed | {name for name, content in files.items() if released.get(name) != content})


def _cells(notebook: NotebookNode) -> dict[str, tuple[str, str, float]]:
    """Each cell's kind, text and points, by its name."""
    return {
        grade_id(cell) or cell.get("id") or f"cell {at}": (cell.cell_type, cell.source.strip(), worth(cell))
        for at, cell in enumerate(notebook.cells)
    }
