"""Help that was asked for at home, and what it costs where a course says so; students' notebooks say it: no proof."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from softlookup_grader.course.folder import Course
from softlookup_grader.course.grade_sheet import SheetRow
from softlookup_grader.course.hand_ins import HandIns
from softlookup_grader.course.inbox import notebooks_in
from softlookup_grader.course.notebooks import BadNotebook, help_of, notebook_json, task_id
from softlookup_judge.checking.catalogue import catalogue_of
from softlookup_judge.data.result import HELP_STEPS


def helped(course: Course, assignment: str, students: Iterable[str]) -> dict[str, dict[str, int]]:
    """How much help these students' submitted notebooks say was asked for: steps by student and task."""
    chapter = assignment.partition("_")[0]
    known = {task.id for task in catalogue_of(course.root).tasks(int(chapter))} if chapter.isdecimal() else set()
    help_by_student, hand_ins = {}, HandIns(course, assignment)
    for student in students:
        content = hand_ins.read(student).content
        if content is not None and b'"help"' in content:
            with contextlib.suppress(BadNotebook):
                student_help = dict[str, int]()
                for name, raw in notebooks_in(course, assignment, content).items():
                    steps_by_task = help_of(notebook_json(raw, f"{name}.ipynb").get("cells"))
                    student_help |= {task: steps for task, steps in steps_by_task.items() if task in known}
                if student_help:
                    help_by_student[student] = student_help
    return help_by_student


def less_help(
    rows: Sequence[SheetRow], help_steps: Mapping[str, Mapping[str, int]], costs: Mapping[str, float]
) -> tuple[list[SheetRow], list[str]]:
    """Take points for help that was asked for; the gradebook keeps the points that were earned."""
    reduced_rows, losses = [], []
    for row in rows:
        student_help = help_steps.get(row.student, {})
        cells = {}
        for name, cell in row.cells.items():
            steps = HELP_STEPS[: student_help.get(task_id(name), 0)]
            percent = max((costs.get(step, 0.0) for step in steps), default=0.0)
            cells[name] = replace(cell, points=round(cell.points * (1 - percent / 100), 4))
        lost = sum(cell.points for cell in row.cells.values()) - sum(cell.points for cell in cells.values())
        reduced_rows.append(replace(row, cells=cells, raw=row.raw - lost))
        losses += [lost] * (lost > 0)
    if not losses:
        return reduced_rows, ["no points were taken for help: no notebook says that it was asked for"]
    many = "1 student" if len(losses) == 1 else f"{len(losses)} students"
    return reduced_rows, [f"help cost {many} {sum(losses):g} points together; the gradebook keeps what they earned"]
