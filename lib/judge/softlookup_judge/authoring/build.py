"""Reading solutions, making releases, keeping exercises/ in step with solutions/."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    IncludeHeaderFooter,
    LockCells,
)

from softlookup_judge.authoring import fill
from softlookup_judge.authoring.library_cell import addresses, library_cell, nbgrader_marks
from softlookup_judge.authoring.variants import draw_variants
from softlookup_judge.checking.catalogue import STANDARD, Catalogue
from softlookup_judge.data.notebook import named_cells, without_marks
from softlookup_judge.data.own import OwnTasksError
from softlookup_judge.data.task import Task

# nbgrader's own list for `nbgrader generate_assignment`, less the two that need a database or a kernel.
STEPS = (
    IncludeHeaderFooter,
    LockCells,
    ClearSolutions,
    ClearOutput,
    CheckCellMetadata,
    ComputeChecksums,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    CheckCellMetadata,
)

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


UNGRADED = Path("solutions", "ungraded")
"""Sources of notebooks that are given out as they stand: no tasks in them, no assignments, nothing for nbgrader."""


class NoCheckout(FileNotFoundError):
    """The command needs a checkout of the course, and there is none above the current folder."""


def find_root(start: Path | None = None) -> Path:
    """The nearest folder upwards with ``_config.yml`` and ``solutions/``, else the library's checkout."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if (folder / "_config.yml").is_file() and (folder / "solutions").is_dir():
            return folder
    raise NoCheckout(
        f"no checkout of the course above {here}: run this in the folder that holds _config.yml and solutions/"
    )


def assignments(root: Path) -> list[str]:
    """Names of the assignments, in order: ``04_one_head``; without those of a course's own."""
    return sorted(p.stem for p in (root / "solutions").glob("[0-9][0-9]_*.py"))


def with_own(root: Path, catalogue: Catalogue) -> list[str]:
    """Names of the assignments, in order, with those of a course's own."""
    return sorted(
        {*assignments(root), *(assignment.name for assignment in catalogue.course_tasks.assignments.values())}
    )


def ungraded(root: Path) -> list[Path]:
    """Sources of the notebooks that are not graded, in order."""
    return sorted((root / UNGRADED).glob("*.py"))


def read_solution(
    path: Path,
    variants: Mapping[str, int] | None = None,
    last_help: str = "",
    catalogue: Catalogue = STANDARD,
    web_addresses: Mapping[str, str] | None = None,
) -> NotebookNode:
    """Read a jupytext percent file of solutions as the notebook that nbgrader calls the source.

    The title of a cell is its name there: the answer to a task ("04-scale"), behind which its check is put; a written
    answer, with its points; any other is locked. Without ``variants`` every task is the public one; ``last_help``: the
    last step of help that the course allows, empty for all; ``web_addresses`` as ``addresses`` gives them.
    """
    web_addresses = addresses(path.resolve().parents[1]) if web_addresses is None else web_addresses
    chosen = draw_variants(None, catalogue=catalogue) if variants is None else dict(variants)
    chapter = int(path.stem.split("_")[0])
    tasks = catalogue.tasks(chapter)
    notebook, sources = _with_own_cells(path, chapter, catalogue)
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL), language_info=NotebookNode(name="python"))
    notebook.cells = [new_cell for cell in notebook.cells for new_cell in _for_nbgrader(cell, tasks, sources)]
    for index, cell in enumerate(notebook.cells):
        grader = cell.metadata.get("nbgrader")
        task_id = fill.task_of(cell.source)
        cell.id = grader["grade_id"] if grader else fill.cell_of(task_id) if task_id else f"cell-{index:02d}"
        if cell.cell_type == "markdown":
            cell.source = fill.markdown(cell.source, chapter, chosen, catalogue, book=web_addresses["book"])
        else:
            answered = next((task for task in tasks if grader and task.slug == grader.grade_id), None)
            cell.source = fill.code(cell.source, chosen, catalogue, answered).rstrip("\n")
            cell.outputs, cell.execution_count = [], None
    first = next(index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code")
    notebook.cells.insert(first, library_cell(chapter, **web_addresses, last_help=last_help))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _with_own_cells(
    path: Path, chapter: int, catalogue: Catalogue
) -> tuple[NotebookNode, Mapping[str, tuple[str, str]]]:
    """A notebook with a course's own cells where they belong, and its named cells."""
    assignment, code_cells = catalogue.course_tasks.assignments.get(chapter), catalogue.notebook(chapter).code_cells
    if assignment is None or assignment.name != path.stem:
        return jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent"), named_cells(path)
    added = jupytext.reads(assignment.cells, fmt="py:percent")
    source_path = f"{catalogue.course_tasks.folder}/{assignment.name}.py"
    known = [task.slug for task in catalogue.tasks(chapter)]
    for cell in added.cells:
        name = cell.metadata.get("title", "").partition(" from ")[0]
        if "### BEGIN SOLUTION" in cell.source and name not in known:
            raise OwnTasksError(
                f"{source_path} has a solution in the cell {name or 'without a name'}, which answers no task: name it "
                f"after one ({', '.join(known)}), or describe its task in {assignment.name}_tasks.py"
            )
    text = "".join(cell.source for cell in added.cells if cell.cell_type == "markdown")
    for task in catalogue.own_tasks(chapter):
        if f"[[task {task.id}]]" not in text:
            raise OwnTasksError(
                f"{source_path} has no text with [[task {task.id}]], from which the task's heading is made"
            )
        if "### BEGIN SOLUTION" not in code_cells[task.slug][0]:
            raise OwnTasksError(
                f"{source_path}: the answer in {task.slug} needs the lines ### BEGIN SOLUTION and ### END SOLUTION: "
                "what stands between them is removed for students"
            )
    if not path.is_file():
        if not any(cell.cell_type == "code" for cell in added.cells):
            raise OwnTasksError(f"{source_path} has no code cell")
        return added, code_cells
    notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    titles = [cell.metadata.get("title", "").partition(" from ")[0] for cell in notebook.cells]
    at = titles.index(assignment.after.replace(".", "-", 1)) + 1 if assignment.after else len(titles)
    notebook.cells[at:at] = added.cells
    return notebook, code_cells


def _for_nbgrader(
    cell: NotebookNode, tasks: Sequence[Task], sources: Mapping[str, tuple[str, str]]
) -> list[NotebookNode]:
    """A cell with nbgrader's metadata, and the check that belongs behind an answer."""
    name, points = cell.metadata.get("title", "").partition(" from ")[0], cell.metadata.get("points")
    # jupytext's own notes on a cell, and its random ids, would make every rebuild another file.
    cell.metadata = NotebookNode()
    if not name:
        return [cell]
    if cell.cell_type == "markdown":
        cell.metadata.nbgrader = nbgrader_marks(name, points=points, grade=True, solution=True)
        return [cell]
    cell.source = sources[name][0].rstrip("\n")
    task = next((task for task in tasks if task.slug == name), None)
    cell.metadata.nbgrader = nbgrader_marks(name, solution=task is not None)
    if task is None:
        return [cell]
    check = new_code_cell(f'check("{task.id}", {task.name})')
    check.metadata.nbgrader = nbgrader_marks(f"{name}-check", points=task.points, grade=True)
    return [cell, check]


def read_ungraded(path: Path) -> NotebookNode:
    """Read the source of a notebook that is not graded: nothing is filled in or taken out."""
    notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL), language_info=NotebookNode(name="python"))
    for index, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = NotebookNode(), f"cell-{index:02d}"
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def make_release(source: NotebookNode, config: Any = None) -> NotebookNode:
    """Take the solutions out of a copy with nbgrader's own preprocessors and a course's configuration."""
    notebook = copy.deepcopy(source)
    resources: dict[str, Any] = {"nbgrader": {"assignment": "", "notebook": "", "student": "."}}
    for step in STEPS:
        notebook, resources = step(config=config).preprocess(notebook, resources)
    return notebook


def solution_cells(source: NotebookNode) -> dict[str, str]:
    """Source of every solution cell, by grade id, without the marks that nbgrader cuts at."""
    return {
        cell.metadata.nbgrader.grade_id: without_marks(cell.source).rstrip() + "\n"
        for cell in source.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
    }


def notebook_text(notebook: NotebookNode) -> str:
    """A notebook as the bytes that are committed: sorted keys, one space, a newline at the end."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"


def build_exercises(root: Path, check: bool = False) -> list[Path]:
    """Bring exercises/ up to date with solutions/, unless ``check``; gives those that were stale or have no source."""
    stale: list[Path] = []
    targets: set[Path] = set()
    for source in [*(root / "solutions" / f"{name}.py" for name in assignments(root)), *ungraded(root)]:
        target = root / "exercises" / source.stem / f"{source.stem}.ipynb"
        targets.add(target)
        graded = source.parent.name != UNGRADED.name
        text = notebook_text(make_release(read_solution(source)) if graded else read_ungraded(source))
        if target.is_file() and target.read_text(encoding="utf-8") == text:
            continue
        stale.append(target)
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    orphans = [p for p in sorted((root / "exercises").glob("*/*.ipynb")) if p not in targets]
    if not check:
        for orphan in orphans:
            orphan.unlink()
    return stale + orphans
