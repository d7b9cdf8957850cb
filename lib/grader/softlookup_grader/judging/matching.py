"""Which cells of a submission are which cells of the release, also where an editor lost nbgrader's marks."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from nbformat import NotebookNode

from softlookup_command.plain_text import plain
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution, task_id
from softlookup_grader.judging.names import CellStatement, needed, parsed, statements

MAX_SOURCE = 200_000  # characters of one solution cell; no answer is so long

_WORD, _COMMENT = re.compile(r"[^\W\d]\w*"), re.compile(r"#.*")

_MOST_SAID = 5
MAX_LOOSE = 400_000  # characters of cells without a mark that are searched for answers, together


@dataclass(frozen=True, eq=False)
class Handed:
    """A cell of a submission."""

    at: int  # its place among the cells of the file, counted from 0
    code: bool  # whether it is a code cell
    text: str
    content: Mapping[str, Any]  # all that the file says of it, which may be anything

    @property
    def words(self) -> str:
        """What a person finds it by: its number, and how it begins."""
        first = next((line.strip() for line in self.text.split("\n") if line.strip()), "")
        begin = plain(first, 40).replace("`", "'")
        return f"cell {self.at + 1} (`{begin}`)" if begin else f"cell {self.at + 1}"


def handed_in(cells: Sequence[Mapping[str, Any]]) -> list[Handed]:
    """The cells of a file that may hold anything."""
    return [Handed(at, cell.get("cell_type") == "code", text_of(cell), cell) for at, cell in enumerate(cells)]


def text_of(cell: Mapping[str, Any]) -> str:
    """The source of a cell of a file that may hold anything, with one kind of line end."""
    # Half of a surrogate pair is no text: it could be neither written to a file nor compiled.
    text = _as_it_stands(cell).encode("utf-8", "replace").decode("utf-8")
    return text.replace("\r\n", "\n") if "\r" in text else text


def _as_it_stands(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return source if isinstance(source, str) else ""


def half_character(cell: Mapping[str, Any]) -> str:
    """Name the first half of a surrogate pair in the source of a cell, "U+D800 in line 1"; nothing if there is none."""
    for line_number, line in enumerate(_as_it_stands(cell).split("\n"), 1):
        if half := next((sign for sign in line if "\ud800" <= sign <= "\udfff"), ""):
            return f"U+{ord(half):X} in line {line_number}"
    return ""


def mark_of(cell: Mapping[str, Any]) -> str:
    """The name that nbgrader gave a cell, if the file says one."""
    about = cell.get("metadata")
    about = about.get("nbgrader") if isinstance(about, dict) else None
    name = about.get("grade_id") if isinstance(about, dict) else None
    return name if isinstance(name, str) else ""


def same_source(text: str, released_text: str, code: bool = True) -> bool:
    """Whether two cells say the same: white space at the ends of lines and the layout of code are no difference."""
    if text == released_text:
        return True
    if code and (_longest(released_text) not in text or len(text) > MAX_SOURCE):
        return False
    if _bare(text) == _bare_released(released_text):
        return True
    if not code:
        return False
    tree, released_tree = parsed(text), parsed(released_text)
    return bool(tree.body) and ast.dump(tree) == ast.dump(released_tree)


@lru_cache(maxsize=1024)
def _longest(text: str) -> str:
    """The longest word of a cell outside of comments: a cell without it is another one, and need not be read."""
    return max(_WORD.findall(_COMMENT.sub("", text)), key=len, default="")


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


_bare_released = lru_cache(maxsize=1024)(_bare)


@lru_cache(maxsize=1024)
def answer_name(check: str) -> str:
    """The name of the function that a released check cell hands over; empty if it hands over something else."""
    for node in ast.walk(parsed(check)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "check":
            if len(node.args) > 1 and isinstance(node.args[1], ast.Name):
                return node.args[1].id
    return ""


def defines(text: str, name: str) -> bool:
    """Whether a cell gives something to a global name."""
    if re.search(rf"(?m)^(?:(?:async\s+)?def|class)\s+{name}\b|^{name}\b\s*[:=]", text):
        return True
    return name in text and any(name in statement.defines for statement in statements(text))


@dataclass
class Matched:
    """The cells of a submission, by the cells of the release."""

    # the cells that are this released one, by its grade_id; several where it was copied
    cells: dict[str, list[Handed]] = field(default_factory=dict)
    loose: list[Handed] = field(default_factory=list)  # code cells that are none of the released ones
    # answers that were found without a mark: by grade_id, where they stand, and their text
    unmarked_answers: dict[str, tuple[Handed, str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)  # sentences about what was found, and about what was not

    def position(self, name: str) -> float:
        """Where a released cell stands in the submission; infinite if it is not there."""
        return min((cell.at for cell in self.cells.get(name, ())), default=float("inf"))


def match(release: Sequence[NotebookNode], cells: Sequence[Handed]) -> Matched:
    """Find out which cell is which: by mark, id or source, and an answer also by the function that it defines."""
    released = {grade_id(cell): cell for cell in release if grade_id(cell)}
    texts = {_bare_released(cell.source) for cell in release}
    result, unmarked = Matched(), list[Handed]()
    for student_cell in cells:
        mark = mark_of(student_cell.content)
        if mark in released:
            result.cells.setdefault(mark, []).append(student_cell)
        else:
            unmarked.append(student_cell)
    gone = {name: cell for name, cell in released.items() if name not in result.cells}
    by_source = {_bare(cell.source): name for name, cell in gone.items() if cell.cell_type == "code"}
    for student_cell in unmarked:
        name = str(student_cell.content.get("id"))
        if name not in gone or student_cell.code != (gone[name].cell_type == "code"):
            name = by_source.get(_bare(student_cell.text), "") if student_cell.code and by_source else ""
        if name:
            result.cells.setdefault(name, []).append(student_cell)
        elif student_cell.code and student_cell.text.strip() and _bare(student_cell.text) not in texts:
            result.loose.append(student_cell)
    if any(is_solution(cell) and cell.cell_type == "markdown" for cell in gone.values()):
        _find_written(release, cells, result)
    _find_answers(release, result)
    return result


def _find_written(release: Sequence[NotebookNode], cells: Sequence[Handed], result: Matched) -> None:
    """Find written answers without a mark: the text behind the released text that stands before the answer."""
    known = {student_cell.at for several in result.cells.values() for student_cell in several}
    texts = [None if student_cell.code else _bare(student_cell.text) for student_cell in cells]
    for before, cell in zip(release, release[1:], strict=False):
        name = grade_id(cell)
        if cell.cell_type == "markdown" and is_solution(cell) and name not in result.cells:
            question = _bare(before.source)
            at = texts.index(question) + 1 if question in texts else len(cells)
            if at < len(cells) and texts[at] is not None and at not in known:
                result.cells[name] = [cells[at]]


def _find_answers(release: Sequence[NotebookNode], result: Matched) -> None:
    """Find the answers that do not stand in their own cells, by the functions that they define."""
    checks = {task_id(grade_id(cell)): cell for cell in release if is_graded(cell) and cell.cell_type == "code"}
    answer_cells: dict[str, tuple[NotebookNode, str, str]] = {}
    for cell in release:
        check = checks.get(task_id(grade_id(cell))) if is_solution(cell) and cell.cell_type == "code" else None
        if check is not None and (name := answer_name(check.source)):
            answer_cells[grade_id(cell)] = cell, name, grade_id(check)
    lost = {}
    for cell_name, (cell, name, until) in answer_cells.items():
        filled = [
            student_cell
            for student_cell in result.cells.get(cell_name, [])
            if not same_source(student_cell.text, cell.source)
        ]
        if not any(defines(student_cell.text, name) for student_cell in filled if len(student_cell.text) <= MAX_SOURCE):
            lost[cell_name] = name, until, filled
    answered = {name: cell_name for cell_name, (_, name, _) in answer_cells.items() if cell_name not in lost}
    result.remarks += islice(_twice(answered, result.loose), _MOST_SAID)
    if not lost:
        return
    homes = _homes(result, {name for name, _, _ in lost.values()})
    names = {name for _, name, _ in answer_cells.values()}
    outside, doubtful = [], []
    for cell_name, (name, until, parts) in lost.items():
        several = _candidates(cell_name, name, until, homes, result)
        if len({text for _, text in several}) > 1:
            doubtful.append((cell_name, name, [student_cell for student_cell, _ in several]))
        elif several:
            student_cell, text = several[-1]
            alone = sum(any(other in part.defines for part in statements(student_cell.text)) for other in names) == 1
            text = student_cell.text if alone and student_cell in result.loose else text
            joined = sorted([*((part.at, part.text) for part in parts), (student_cell.at, text)])
            result.unmarked_answers[cell_name] = student_cell, "\n\n".join(part for _, part in joined)
            outside.append((cell_name, student_cell))
    for cell_name, name, doubtful_cells in doubtful:
        where = ", ".join(student_cell.words for student_cell in doubtful_cells[:3])
        result.remarks.append(
            f"The cell of {task_id(cell_name)} is not filled in, and several others define `{name}`: {where}. "
            "Copy the one that counts into the cell of the answer."
        )
    if outside:
        where = ", ".join(f"{task_id(cell_name)} in {student_cell.words}" for cell_name, student_cell in outside[:3])
        more = f" and {len(outside) - 3} more" if len(outside) > 3 else ""
        result.remarks.append(
            f"Answers were found outside of their own cells, by the names of their functions: {where}{more}. They "
            "count as if they stood in their cells."
        )
    whole = {
        student_cell for cell_name, (student_cell, text) in result.unmarked_answers.items() if student_cell.text in text
    }
    result.loose = [student_cell for student_cell in result.loose if student_cell not in whole]


def _twice(answered: Mapping[str, str], loose: Sequence[Handed]) -> Iterator[str]:
    """Sentences on functions that cells without a mark define once more; ``answered`` has the answers by name."""
    for cell in _within(loose):
        for part in statements(cell.text):
            if part.text.startswith(("def ", "async ", "class ", "@")):
                for cell_name in (answered[name] for name in part.defines if name in answered):
                    yield (
                        f"The answer to {task_id(cell_name)} was taken from its own cell. Another one stands in "
                        f"{cell.words}: if that is the better, copy it into the cell of the answer."
                    )


def _within(cells: Iterable[Handed]) -> Iterator[Handed]:
    """The cells that are read: those that together have at most MAX_LOOSE characters."""
    spare = MAX_LOOSE
    for cell in cells:
        if len(cell.text) <= spare:
            spare -= len(cell.text)
            yield cell


def _homes(result: Matched, names: set[str]) -> list[tuple[Handed, str, CellStatement]]:
    """Where functions are defined, in the submission's order: the cell, its grade_id if it has one, the statement."""
    marks = {cell: cell_name for cell_name, several in result.cells.items() for cell in several}
    cells = sorted([*result.loose, *marks], key=lambda cell: cell.at)
    return [
        (cell, marks.get(cell, ""), part)
        for cell in _within(cell for cell in cells if any(name in cell.text for name in names))
        for part in statements(cell.text)
        if part.callable and part.defines & names
    ]


def _candidates(
    cell_name: str, name: str, check: str, homes: Sequence[tuple[Handed, str, CellStatement]], result: Matched
) -> list[tuple[Handed, str]]:
    """Where an answer may stand: the last definition before its check, as for a kernel, else any in unmarked cells."""
    until = result.position(check)
    since = result.position(cell_name) if result.position(cell_name) < until else -1.0
    here: dict[Handed, tuple[str, list[str]]] = {}
    for cell, mark, part in homes:
        if name in part.defines and mark != cell_name:
            here.setdefault(cell, (mark, []))[1].append(part.text)
    before = [cell for cell in here if since < cell.at <= until]
    if before and until < float("inf"):
        return [(before[-1], "\n\n".join(here[before[-1]][1]))]
    loose = [cell for cell, (mark, _) in here.items() if not mark] or list(here)
    return [(cell, "\n\n".join(here[cell][1])) for cell in loose]


class LooseCells:
    """What stands in cells that are not taken, in the order of the submission: definitions that an answer may need."""

    def __init__(self, cells: Sequence[Handed]) -> None:
        in_order = _within(sorted(cells, key=lambda cell: cell.at))
        self._parts = [(cell, part) for cell in in_order for part in statements(cell.text)]
        self._homes: dict[str, list[int]] = {}
        for at, (_, part) in enumerate(self._parts):
            for name in part.defines:
                self._homes.setdefault(name, []).append(at)

    def __bool__(self) -> bool:
        return bool(self._parts)

    def for_answer(self, text: str, known: frozenset[str], until: float) -> tuple[str, dict[str, Handed]]:
        """An answer with what it needs of these cells before it, and which names were taken from which cells."""
        have, todo, copied_parts = set(known), [text], set[int]()
        names: dict[str, Handed] = {}
        while todo:
            want = needed(todo.pop()) - have
            have |= want
            for name in want:
                homes = self._homes.get(name, [])
                for at in [at for at in homes if self._parts[at][0].at <= until] or homes:
                    names[name] = self._parts[at][0]
                    if at not in copied_parts:
                        copied_parts.add(at)
                        todo.append(self._parts[at][1].text)
        more = "\n".join(self._parts[at][1].text for at in sorted(copied_parts))
        return (_before(text, more), names) if copied_parts else (text, {})


def _before(text: str, more: str) -> str:
    """Lines put before a cell's own, behind a magic that has to stand first."""
    if text.lstrip().startswith("%%"):
        first, _, remaining = text.lstrip().partition("\n")
        return f"{first}\n{more}\n\n{remaining}"
    return f"{more}\n\n{text}"


def spread(names: Mapping[str, Mapping[str, Handed]]) -> Iterator[str]:
    """Sentences about names that were copied into answers, one for each cell that they stand in."""
    by_cell: dict[Handed, tuple[dict[str, None], dict[str, None]]] = {}
    for cell_name, cell_by_name in names.items():
        for name, cell in cell_by_name.items():
            used_names, tasks = by_cell.setdefault(cell, ({}, {}))
            used_names[f"`{name[:40]}`"], tasks[task_id(cell_name)] = None, None
    for cell, (used_names, tasks) in sorted(by_cell.items(), key=lambda item: item[0].at):
        them = "it was" if len(used_names) == 1 else "they were"
        yield (
            f"The answer to {_listed(list(tasks))} uses {_listed(list(used_names))} from {cell.words}: {them} "
            "copied into the answer. What an answer needs belongs in its own cell: move it there."
        )


def _listed(words: list[str], most: int = 4) -> str:
    words = words if len(words) <= most else [*words[:most], f"{len(words) - most} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
