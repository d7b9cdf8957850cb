"""Reading notebooks that people hand in: one clear sentence where a file is not what it should be."""

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import nbformat
from nbformat import NotebookNode

from softlookup_command.plain_text import plain
from softlookup_inside.untrusted_files import count_items
from softlookup_judge.data.result import HELP_MIME, HELP_STEPS, MIME, VERDICTS

MAX_BYTES = 50_000_000
MAX_CELLS = 10_000
MAX_ITEMS = 2_000_000
"""Lists, objects, commas and colons of a file, outside of text: each may take 80 bytes of memory and more."""

CONFLICT = re.compile(r"(?m)^(?:<{7}|={7}|>{7})(?: |\r?$)")
"""What Git writes into a file where two versions could not be merged."""
_OF_TASK = re.compile(r"\d\d-")
Kind = TypeVar("Kind")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class BadNotebook(ValueError):
    """A file that cannot be taken as a notebook; the message is one sentence for its owner."""


class NoNotebook(BadNotebook):
    """There is no file at all."""


def read_file(path: Path) -> bytes:
    """Read the file of a notebook that somebody else wrote."""
    if path.is_symlink():
        raise BadNotebook(f"{path.name} is a link, not a file: hand in the notebook itself")
    if not path.exists():
        raise NoNotebook(f"there is no file {path.name}{look_alike(path)}")
    if not path.is_file():
        raise BadNotebook(f"{path.name} is not a file")
    require_size(path.name, path.stat().st_size)
    return path.read_bytes()


def require_size(name: str, size: int, most: int = MAX_BYTES) -> None:
    """Hold that a file does not have more bytes than are read: else it is a BadNotebook."""
    if size > most:
        raise BadNotebook(f"{name} has {size:,} bytes, more than the {most:,} that are read: clear its outputs")


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook that somebody else wrote, in nbformat 4; NoNotebook if there is none, BadNotebook if unsound."""
    content = notebook_json(read_file(path), path.name)
    cells = content.get("cells")
    if isinstance(cells, list) and len(cells) > MAX_CELLS:
        raise BadNotebook(f"{path.name} has {len(cells):,} cells, more than the {MAX_CELLS:,} that are read")
    try:
        # Cells without ids and the like are mended by nbformat; its warnings are for authors of tools.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook = nbformat.reader.reads(json.dumps(content))
            if notebook.nbformat != 4:
                notebook = nbformat.convert(notebook, 4)
            _, notebook = nbformat.validator.normalize(notebook)
            nbformat.validate(notebook)
    except Exception as error:
        first = plain(str(error).strip().partition("\n")[0], 200) or type(error).__name__
        raise BadNotebook(f"{path.name} is not a sound notebook: {first}") from None
    return notebook


def notebook_json(raw: bytes, name: str) -> dict[str, Any]:
    """Read the text of a notebook that somebody else wrote; what is in it may still be anything."""
    require_size(name, len(raw))
    if not raw.strip():
        raise BadNotebook(f"{name} is empty")
    if count_items(raw, MAX_ITEMS) > MAX_ITEMS:
        raise BadNotebook(f"{name} holds more than {MAX_ITEMS:,} items, more than are read: clear its outputs")
    try:
        text = raw.decode(json.detect_encoding(raw))  # with a byte order mark or without
    except UnicodeDecodeError:
        raise BadNotebook(f"{name} is not a notebook: it is not text in UTF-8") from None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        if clash := CONFLICT.search(text):
            line = text.count("\n", 0, clash.start()) + 1
            raise BadNotebook(
                f"{name} holds the marks of a Git merge (line {line}): keep one of the two versions, delete the lines "
                "with <<<<<<<, ======= and >>>>>>>, and open it in Jupyter to see that it is whole"
            ) from None
        if re.match(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", text[:5000], re.I | re.S):
            raise BadNotebook(
                f"{name} is a web page (HTML), not a notebook: hand in the .ipynb file itself, without an export"
            ) from None
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadNotebook(f"{name} is not a notebook: it is not JSON, or its JSON breaks off{where}") from None
    if not (isinstance(content, dict) and "nbformat" in content and ("cells" in content or "worksheets" in content)):
        raise BadNotebook(f"{name} is JSON, but not a notebook: it has no cells")
    return content


def cells_in(raw: bytes, name: str) -> list[dict[str, Any]]:
    """The cells of a file that may hold anything; BadNotebook if it is no notebook of format 4."""
    content = notebook_json(raw, name)
    version = content.get("nbformat")
    if version != 4:
        version_text = version if type(version) is int else "something else than a number"
        raise BadNotebook(
            f"{name} is a notebook of format {version_text}: save it in format 4, which all versions since 2014 write"
        )
    cells = content.get("cells")
    if not isinstance(cells, list):
        raise BadNotebook(f"{name} is not a sound notebook: its cells are no list")
    return [cell for cell in cells if isinstance(cell, dict)]


def look_alike(path: Path) -> str:
    """Name a notebook that lies where another one was expected."""
    others = sorted(p.name for p in path.parent.glob("*.ipynb")) if path.parent.is_dir() else []
    return f" (there is {others[0]!r})" if others else ""


def grade_id(cell: Mapping[str, Any]) -> str:
    """The nbgrader name of a cell, empty if it has none."""
    return str(_marks(cell).get("grade_id", ""))


def is_graded(cell: Mapping[str, Any]) -> bool:
    """Whether points hang on this cell, by a test or by hand."""
    return bool(_marks(cell).get("grade", False))


def is_solution(cell: Mapping[str, Any]) -> bool:
    """Whether the student fills in this cell."""
    return bool(_marks(cell).get("solution", False))


def _marks(cell: Mapping[str, Any]) -> dict[str, Any]:
    """What nbgrader wrote into a cell, empty if that is nothing."""
    return _of(cell.get("metadata", {}).get("nbgrader"), dict)


def is_hand_graded_task(cell: Mapping[str, Any]) -> bool:
    """Whether this is one of nbgrader's cells of type "task", which a person gives points for."""
    return bool(_marks(cell).get("task", False))


def is_locked(cell: Mapping[str, Any]) -> bool:
    """Whether nbgrader puts the instructor's text of this cell back: a test, or a cell that is read-only."""
    return not is_solution(cell) and (is_graded(cell) or bool(_marks(cell).get("locked", False)))


def worth(cell: NotebookNode) -> float:
    """The points that a graded cell may earn; 0 for a cell without nbgrader's mark."""
    return float(cell.metadata.get("nbgrader", {}).get("points", 0))


def task_id(name: str) -> str:
    """The task that a cell belongs to: "04.softmax-backward" for "04-softmax-backward-check"; else the cell itself."""
    if not _OF_TASK.match(name):
        return name
    return name.removesuffix("-check").replace("-", ".", 1)


def verdict_of(cell: NotebookNode) -> dict[str, Any] | None:
    """The verdict that a check left in a cell's output, if any; the student's process wrote it: it proves nothing."""
    for output in cell.get("outputs", []):
        verdict = output.get("data", {}).get(MIME)
        if isinstance(verdict, dict) and isinstance(verdict.get("task"), str) and verdict.get("verdict") in VERDICTS:
            mistake_names = verdict.get("diagnosis")
            mistake_names = (
                [str(mistake_name) for mistake_name in mistake_names] if isinstance(mistake_names, list) else []
            )
            return {**verdict, "diagnosis": mistake_names, "message": str(verdict.get("message", ""))}
    return None


def help_of(cells: Any) -> dict[str, int]:
    """How much help a notebook says was asked for, in steps by task."""
    steps_by_task: dict[str, int] = {}
    for cell in _of(cells, list):
        for output in _of(_of(cell, dict).get("outputs"), list):
            data = _of(_of(output, dict).get("data"), dict)
            for about in (_of(data.get(mime_type), dict) for mime_type in (MIME, HELP_MIME)):
                task, steps = about.get("task"), about.get("help")
                if isinstance(task, str) and type(steps) is int and 0 < steps <= len(HELP_STEPS):
                    steps_by_task[task] = max(steps, steps_by_task.get(task, 0))
    return steps_by_task


def _of(value: Any, expected_type: type[Kind]) -> Kind:
    """The value if it is of that kind, else an empty one."""
    return value if isinstance(value, expected_type) else expected_type()


def error_of(cell: NotebookNode) -> str | None:
    """The exception that a cell ended with, in one line, None if it ended well."""
    for output in cell.get("outputs", []):
        if output.get("output_type") == "error":
            says = _COLOURS.sub("", f"{output.get('ename', 'error')}: {output.get('evalue', '')}")
            return says.strip().splitlines()[0].rstrip(": ")[:300]
    return None


def verdict_without_check(cell: NotebookNode) -> str:
    """The verdict on a cell whose check left none: "timeout" by an interrupt, "error", or "stopped"."""
    for output in cell.get("outputs", []):
        if output.get("output_type") == "error":
            return "timeout" if output.get("ename") in ("CellTimeoutError", "KeyboardInterrupt") else "error"
    return "stopped"


def verdict_cells(notebook: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    """The cells that should hold a verdict, each with its task's id, in order."""
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        verdict = verdict_of(cell)
        if is_graded(cell) and not is_solution(cell):
            yield task_id(grade_id(cell)), cell
        elif verdict is not None:
            yield verdict["task"], cell
