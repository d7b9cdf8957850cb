"""What nbgrader makes of a source: the notebook that students get, and its cells in the gradebook.

nbgrader's own converter deletes the release when it fails, and commits cell by cell; here nothing of it stays then.
"""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution, task_id
from softlookup_grader.data.errors import CourseError

STRUCTURE = "{nbgrader_step}/{student_id}/{assignment_id}"


def convert(directory: Any, config: Any, assignment: str, source: Path, release: Path) -> dict[str, NotebookNode]:
    """Have nbgrader make the students' version of a source; the gradebook is left as it is."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import NbGraderPreprocessor, SaveCells
    from nbgrader.utils import capture_log, temp_attrs

    entered: dict[str, NotebookNode] = {}

    class Keep(NbGraderPreprocessor):
        """Stands where the cells would be saved."""

        def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
            entered[resources["nbgrader"]["notebook"]] = nbformat.from_dict(nb)
            return nb, resources

    steps = [str(folder.relative_to(directory.root)) for folder in (source, release)]
    with temp_attrs(
        directory,
        assignment_id=assignment,
        source_directory=steps[0],
        release_directory=steps[1],
        directory_structure=STRUCTURE,
    ):
        converter = GenerateAssignment(coursedir=directory, config=config)
        converter.force = converter.no_database = True
        converter.preprocessors = [Keep() if step is SaveCells else step for step in converter.preprocessors]
        result = capture_log(converter)
    log = f"{result.get('log', '')} {result.get('error', '')}"
    print(log)
    if not result["success"]:
        full = " (there is no room left on the disk)" if "No space left on device" in log else ""
        raise CourseError(f"nbgrader could not make the release of {assignment}{full}")
    return entered


@contextlib.contextmanager
def one_transaction(book: Any) -> Iterator[Any]:
    """Let an open gradebook commit nothing by itself, and give what commits it all."""
    session = book.db()
    commit = session.commit
    session.commit = session.flush
    try:
        yield commit
    finally:
        del session.commit
        session.rollback()


def enter(book: Any, assignment: str, notebooks: Mapping[str, NotebookNode]) -> None:
    """Enter notebooks, as ``convert`` gave them, into an open gradebook, as nbgrader's converter does."""
    from nbgrader.preprocessors import SaveCells

    class Enter(SaveCells):
        """nbgrader's own, on a gradebook that is open."""

        def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
            self.gradebook, self.assignment_id, self.notebook_id = book, assignment, resources
            for cell_role in ("grade", "solution", "task", "source"):
                setattr(self, f"new_{cell_role}_cells", {})
            for at, cell in enumerate(nb.cells):
                self.preprocess_cell(cell, {}, at)
            self._create_notebook(nb)
            return nb, resources

    page = book.update_or_create_assignment(assignment)
    known = {notebook.name: notebook for notebook in page.notebooks}
    if known.keys() != notebooks.keys() and page.submissions:
        raise CourseError(
            f"{assignment} has submissions in the gradebook, so no notebook can be added to its source or removed"
        )
    for name in known.keys() & notebooks.keys():
        if known[name].submissions:
            _refuse_other_cells(assignment, known[name], notebooks[name])
    for name in known.keys() - notebooks.keys():
        book.remove_notebook(name, assignment)
    step = Enter()
    for name, notebook in notebooks.items():
        step.preprocess(notebook, name)


def _refuse_other_cells(assignment: str, known: Any, notebook: NotebookNode) -> None:
    """Refuse as nbgrader does, in words that say what to do instead."""
    from nbgrader.utils import is_locked, is_task

    def names(which: Any) -> set[str]:
        return {grade_id(cell) for cell in notebook.cells if which(cell)}

    pairs = (
        (known.grade_cells, names(is_graded)),
        (known.solution_cells, names(is_solution)),
        (known.task_cells, names(is_task)),
        (known.source_cells, names(lambda cell: is_graded(cell) or is_solution(cell) or is_locked(cell))),
    )
    gone, new = set(), set()
    for rows, cells in pairs:
        before = {row.name for row in rows}
        gone |= before - cells
        new |= cells - before
    if not gone | new:
        return
    graded = {cell.name for cell in known.grade_cells}
    tasks = sorted({task_id(name) for name in gone & graded})
    says = f"{assignment} was graded already, so no task or other named cell can be added to it or removed"
    if tasks:
        options = " ".join(f"--points {task}=0" for task in tasks)
        says += f": to leave out {', '.join(tasks)}, give no points with {options}"
    elif new:
        added = sorted({task_id(name) for name in new})
        says += f" ({', '.join(added[:5])} would be new): put new tasks into another assignment"
    else:
        says += f" ({', '.join(sorted(gone)[:5])} would be gone)"
    raise CourseError(says)
