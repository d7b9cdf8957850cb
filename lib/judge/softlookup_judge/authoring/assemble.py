"""The capstone, filled with what a student wrote in earlier notebooks."""

import os
from dataclasses import dataclass
from pathlib import Path

import nbformat

from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.data.notebook import published, solutions

CHAPTER = 90
CAPSTONE = "90_capstone"
BLANK = "raise NotImplementedError()"


class AssembleError(ValueError):
    """A notebook is missing, or cannot be read; the message names it."""


@dataclass(frozen=True)
class Taken:
    """What became of one cell of the capstone: "brought", "kept", "blank" (none to bring) or "missing"."""

    cell: str
    source: str
    what: str


def origins() -> dict[str, tuple[str, str]]:
    """Cell of the capstone -> notebook and cell that it is taken from, by grade id."""
    answers = {task.slug for task in STANDARD.tasks(CHAPTER)}
    code_cells = published(CHAPTER).code_cells
    cell_origins = {name: origin for name, (_, origin) in code_cells.items() if name in answers and origin != name}
    return {name: (solutions(int(origin.partition("-")[0])).stem, origin) for name, origin in cell_origins.items()}


def assemble(folder: Path, *, again: bool = False) -> list[Taken]:
    """Fill the capstone's parts with the student's own answers.

    Args:
        folder: Where the notebooks are, each in a folder of its own name, as in ``exercises``.
        again: Whether answers that stand in the capstone already are written over.

    Returns:
        What became of each cell, in the capstone's order.

    Raises:
        AssembleError: If the capstone is not there, or a notebook cannot be read.
    """
    path = folder / CAPSTONE / f"{CAPSTONE}.ipynb"
    if not path.is_file():
        raise AssembleError(f"there is no capstone at {path}: name the folder that holds the notebooks' folders")
    capstone = _read(path)
    capstone_cells = _cells(capstone)
    sources: dict[str, dict[str, nbformat.NotebookNode]] = {}
    outcomes = []
    for cell, (notebook, from_cell) in origins().items():
        if notebook not in sources:
            source_path = folder / notebook / f"{notebook}.ipynb"
            sources[notebook] = _cells(_read(source_path)) if source_path.is_file() else {}
        answer = sources[notebook].get(from_cell)
        if cell not in capstone_cells or answer is None:
            what = "missing"
        elif BLANK in answer.source:
            what = "blank"
        elif BLANK not in capstone_cells[cell].source and not again:
            what = "kept"
        else:
            capstone_cells[cell].source, what = answer.source, "brought"
            capstone_cells[cell].outputs, capstone_cells[cell].execution_count = [], None
        outcomes.append(Taken(cell, f"{notebook}, {from_cell}", what))
    if any(outcome.what == "brought" for outcome in outcomes):
        beside = path.with_name(path.name + ".new")
        beside.write_text(nbformat.writes(capstone).rstrip("\n") + "\n", encoding="utf-8")
        os.replace(beside, path)
    return outcomes


def _read(path: Path) -> nbformat.NotebookNode:
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:
        raise AssembleError(f"{path} cannot be read as a notebook: {error}") from error


def _cells(notebook: nbformat.NotebookNode) -> dict[str, nbformat.NotebookNode]:
    marked = ((cell.metadata.get("nbgrader", {}).get("grade_id"), cell) for cell in notebook.cells)
    return {name: cell for name, cell in marked if name and cell.cell_type == "code"}
