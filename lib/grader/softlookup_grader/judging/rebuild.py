"""The notebook that is graded, and that a check at home runs: the release, with the answers of the submission.

An answer gets what it needs of other cells and would not find; nothing that a submission says of itself counts.
"""

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from softlookup_grader.course.notebooks import (
    CONFLICT,
    MAX_CELLS,
    BadNotebook,
    cells_in,
    grade_id,
    is_graded,
    is_solution,
    task_id,
)
from softlookup_grader.judging.cleaning import NOT_SHOWN, safe_markdown
from softlookup_grader.judging.matching import (
    MAX_SOURCE,
    Handed,
    LooseCells,
    Matched,
    half_character,
    handed_in,
    mark_of,
    match,
    same_source,
    spread,
)
from softlookup_grader.judging.names import statements
from softlookup_grader.judging.outputs import attached
from softlookup_judge.checking.catalogue import CHAPTERS, Catalogue, UnknownTask
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant, variant_of


@dataclass(frozen=True)
class ReleasedCheck:
    """The check of a task, as the release holds it."""

    variant: Variant  # what it asks for
    expression: str  # what is handed to the check, as Python: the name of a function
    alone: bool  # whether the cell holds nothing but the check
    others: tuple[str, ...]  # the names of the functions of the notebook's other tasks

    @property
    def task(self) -> Task:
        """The task."""
        return self.variant.task


@dataclass(frozen=True)
class Rebuilt:
    """A submission put into the release."""

    notebook: NotebookNode  # the notebook to grade: the release, with solutions taken over and no outputs
    remarks: tuple[str, ...]  # what was left out or put back, sentences
    untouched: frozenset[str]  # grade_ids of the solution cells that are as released
    answers: Mapping[str, str]  # by grade_id, the source of each other solution cell as it was handed in


def released_check(cell: NotebookNode, catalogue: Catalogue) -> ReleasedCheck | None:
    """The task that a released cell checks, None if it checks none that is known."""
    if cell.cell_type != "code":
        return None
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "check":
            argument = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
            numbers = [k.value.value for k in node.keywords if k.arg == "variant" and isinstance(k.value, ast.Constant)]
            try:
                task = catalogue.task(str(argument))
            except UnknownTask:
                continue
            variant_number = numbers[0] if numbers else 0
            if type(variant_number) is int and 0 <= variant_number < len(task.variants):
                expression = ast.unparse(node.args[1]) if len(node.args) > 1 else task.name
                alone = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and tree.body[0].value is node
                others = tuple(other.name for other in catalogue.others(task))
                return ReleasedCheck(variant_of(task, variant_number), expression, alone, others)
    return None


def rebuild(release: NotebookNode, raw: bytes, name: str) -> Rebuilt:
    """Put a submission's solutions into the release: what of a notebook counts is decided here, and nowhere else."""
    cells = cells_in(raw, name)
    notebook = _copy(release)
    remarks: list[str] = []
    if len(cells) > MAX_CELLS:
        remarks.append(f"The notebook has {len(cells):,} cells; the first {MAX_CELLS:,} were read.")
        cells = cells[:MAX_CELLS]
    matched = match(release.cells, handed_in(cells))
    _require_answers(notebook, matched, cells, name)
    untouched, answers, gone, changed = set(), dict[str, str](), [], []
    loose_cells = list(matched.loose)
    for cell in notebook.cells:
        cell_name = grade_id(cell)
        handed = matched.cells.get(cell_name, [])
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if is_solution(cell):
            answer_text, sentences = _chosen(cell, handed, matched.unmarked_answers.get(cell_name))
            remarks += sentences
            loose_cells += [
                student_cell for student_cell in handed if student_cell.code and student_cell.text not in answer_text
            ]
            if same_source(answer_text, cell.source, cell.cell_type == "code"):
                untouched.add(cell_name)
                continue
            answers[cell_name] = answer_text
            if cell.cell_type == "markdown":
                remarks += _with_pictures(cell, answer_text, handed)
                answer_text, changed_text = safe_markdown(answer_text, cell.get("attachments", {}))
                if changed_text:
                    remarks.append(
                        f"The answer to {task_id(cell_name)} held {NOT_SHOWN}: they stand there as plain text."
                    )
            elif clash := CONFLICT.search(answer_text):
                line = answer_text.count("\n", 0, clash.start()) + 1
                remarks.append(
                    f"The cell of {task_id(cell_name)} holds the marks of a Git merge (line {line}): keep one of "
                    "the two versions, and delete the lines with <<<<<<<, ======= and >>>>>>>."
                )
            cell.source = answer_text
        elif cell_name and not handed and is_graded(cell):
            gone.append(task_id(cell_name))
        elif cell_name and cell.cell_type == "code":
            other = [student_cell for student_cell in handed if not same_source(student_cell.text, cell.source)]
            loose_cells += other
            if other:
                changed.append((cell, cell_name))
    remarks += matched.remarks
    along = _along(notebook, matched, LooseCells(loose_cells))
    remarks += spread(along)
    if gone:
        remarks.append(f"The check cell of {', '.join(gone)} was missing; the released one was used.")
    if those := [task_id(cell_name) for cell, cell_name in changed if is_graded(cell)]:
        remarks.append(f"The check cell of {', '.join(those)} was changed; the released one was used.")
    if those := [cell_name for cell, cell_name in changed if not is_graded(cell)]:
        remarks.append(f"The given cell {', '.join(those)} was changed; the released one was used.")
    used = {student_cell.at for names in along.values() for student_cell in names.values()}
    if strange := [student_cell for student_cell in matched.loose if student_cell.at not in used]:
        many = f"{len(strange):,} cells that are not in the released notebook were"
        many = "1 cell that is not in the released notebook was" if len(strange) == 1 else many
        which = ", ".join([student_cell.words for student_cell in strange[:3]] + ["..."] * (len(strange) > 3))
        remarks.append(f"{many} left out: {which}. What an answer needs belongs in its cell.")
    positions = [matched.position(grade_id(cell)) for cell in release.cells if grade_id(cell) in matched.cells]
    if positions != sorted(positions):
        remarks.append("Cells stand in another order than in the released notebook; that one's order was used.")
    return Rebuilt(notebook, tuple(remarks), frozenset(untouched), answers)


def _require_answers(notebook: NotebookNode, matched: Matched, cells: Sequence[dict[str, Any]], name: str) -> None:
    """Refuse a file without answers to this assignment: zero points would tell nobody what is wrong."""
    answer_names = [grade_id(cell) for cell in notebook.cells if is_solution(cell)]
    if not answer_names:
        return
    marks = Counter(mark[:2] for cell in cells if re.match(r"\d\d-", mark := mark_of(cell)))
    chapter_number = answer_names[0][:2]
    # Functions of the same name in another chapter's notebook are no answers to this one's tasks.
    if marks and chapter_number not in marks:
        other = marks.most_common(1)[0][0]
        chapter = CHAPTERS.get(int(other), "").rpartition(".ch")[2]
        other_assignment = f"assignment {chapter}" if chapter else f"chapter {other}"
        raise BadNotebook(f"{name} is the notebook of {other_assignment}: hand in that of this assignment")
    if not matched.unmarked_answers and not any(name in matched.cells for name in answer_names):
        raise BadNotebook(
            f"{name} has no answer cell of this assignment: put the answers into the notebook that was handed out, and "
            "hand that in"
        )


def _along(notebook: NotebookNode, matched: Matched, pool: LooseCells) -> dict[str, dict[str, Handed]]:
    """Put before each answer what it needs of cells that are not taken; which names that was, from which cells."""
    copied_names: dict[str, dict[str, Handed]] = {}
    if not pool:
        return copied_names
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    known = frozenset(name for cell in code for part in statements(cell.source) for name in part.defines)
    for cell in code:
        cell_name = grade_id(cell)
        if is_solution(cell) and len(cell.source) <= MAX_SOURCE:
            text, names = pool.for_answer(cell.source, known, matched.position(f"{cell_name}-check"))
            if names and len(text) <= MAX_SOURCE:
                cell.source, copied_names[cell_name] = text, names
    return copied_names


def _copy(release: NotebookNode) -> NotebookNode:
    """A notebook whose cells can be filled in; their metadata are the release's own, and stay as they are."""
    return NotebookNode({**release, "cells": [NotebookNode(cell) for cell in release.cells]})


def _chosen(
    cell: NotebookNode, handed: Sequence[Handed], unmarked_answer: tuple[Handed, str] | None
) -> tuple[str, list[str]]:
    """The source that counts for one solution cell, and what is to be said about it."""
    task = task_id(grade_id(cell))
    if not handed and unmarked_answer is None:
        return cell.source, [f"The cell of {task} is missing; it counts as not filled in."]
    texts = [student_cell.text for student_cell in handed]
    filled = [text for text in texts if text.strip() and not same_source(text, cell.source)]
    remarks = []
    if unmarked_answer is not None:
        text = unmarked_answer[1]
    elif filled:
        text = filled[-1]
    else:
        text = cell.source if any(same_source(candidate, cell.source) for candidate in texts) else texts[-1]
    same = next((student_cell for student_cell in reversed(handed) if student_cell.text == text), None)
    if len(handed) > 1:
        which = same.words if same is not None else "the last one that is filled in"
        remarks.append(
            f"The cell of {task} occurs {len(handed)} times; {which} was graded, the last that is filled in."
        )
    if len(text) > MAX_SOURCE:
        remarks.append(
            f"The cell of {task} has {len(text):,} characters, more than are read; it counts as not filled in."
        )
        return cell.source, remarks
    if "\x00" in text:
        remarks.append(f"The cell of {task} holds a null character; it counts as not filled in.")
        return cell.source, remarks
    source_cell = same if unmarked_answer is None else unmarked_answer[0]
    if source_cell is not None and (half := half_character(source_cell.content)):
        says = f"holds the character {half}, which is half of a surrogate pair and no text"
        remarks.append(f"The cell of {task} {says}: it was read as a question mark; delete it.")
    return text, remarks


def _with_pictures(cell: NotebookNode, answer_text: str, handed: Sequence[Handed]) -> list[str]:
    """Put the pictures of a text answer into its cell, and say what was left out."""
    pictures, left_out = attached(
        next((student_cell.content for student_cell in reversed(handed) if student_cell.text == answer_text), {})
    )
    if pictures:
        cell.attachments = NotebookNode({name: NotebookNode(kinds) for name, kinds in pictures.items()})
    task = task_id(grade_id(cell))
    attachments = "1 attachment" if left_out == 1 else f"{left_out:,} attachments"
    return [f"{attachments} of {task} left out: only PNG and JPEG pictures below 1.5 MB are taken."] if left_out else []
