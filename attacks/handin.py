"""What a hostile hand-in is, and the bench on which they are made: an honest notebook with one thing wrong in it.

Nothing here runs what it writes. The texts are made to be run in a sandbox alone.
"""

import ast
import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from string import Template

import nbformat
from nbformat import NotebookNode

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution, task_id
from softlookup_inside.asking.case import CORE
from softlookup_judge.checking.catalogue import STANDARD, Catalogue
from softlookup_judge.data.task import Task

CELL, EXTRA, ANSWER = "cell", "extra", "answer"
"""Where an attack's code stands: before a wrong answer in its cell, in a cell of its own, or as the answer."""

OTHERS, EARLIER, ALL, NOTHING = "others", "earlier", "all", "nothing"
"""Which tasks are honestly right: all but one, those before it, all of them, none."""

LEAK = "softlookup-leak:"
"""What an attack prints before something that it should not have been able to read."""

TRACE = "softlookup-was-here"
"""In the name of every file that an attack leaves, and of every process (there: its first 15 characters)."""

WRONG = "def $NAME(*given, **named):\n    return 0.0\n"


@dataclass(frozen=True)
class HostileHandIn:
    """What one student hands in who means harm, or to whom an accident happened.

    Attributes:
        student: Name of the student's folder.
        row: Its number in the list of attacks; 0 for one that is not in the list.
        does: What it tries, one sentence.
        files: What lies in the submitted folder, by path in it.
        deserves: The points that its honest code deserves, by task id; written answers are left out.
        remark: A regular expression that a remark, a message or the reason has to match; empty where there is
            nothing to report.
        stops: It cannot be graded at all, and is refused with a reason.
        links: Symbolic links in that folder, and what each points to.
        pipes: Named pipes in that folder.
        archive: Files as a learning platform delivers them, for zip_collect; there are no other files then.
        group: Submissions of one group only make sense in one batch, in the order of their names.
    """

    student: str
    row: int
    does: str
    files: Mapping[str, bytes]
    deserves: Mapping[str, float]
    remark: str = ""
    stops: bool = False
    links: Mapping[str, str] = field(default_factory=dict)
    pipes: tuple[str, ...] = ()
    archive: Mapping[str, bytes] = field(default_factory=dict)
    group: str = ""


@dataclass(frozen=True)
class Attack:
    """An attack that is nothing but code in an otherwise honest notebook.

    In the code, $NAME is the function that is asked for, $TASK its task's id, $SLUG its cell's name, $POINTS what it is
    worth, $RIGHT the right answer's text, $WRONG a wrong one's, and $LEAK and $TRACE the two words above.

    Attributes:
        name: What follows the row's number in the student's name.
        row: Its number in the list of attacks.
        does: What it tries, one sentence.
        code: The text.
        place: CELL, EXTRA or ANSWER.
        earns: OTHERS, EARLIER or ALL.
        last: It stands in the last task, so that nothing after it hangs on how it is stopped.
        remark: See HostileHandIn.
        group: See HostileHandIn.
    """

    name: str
    row: int
    does: str
    code: str
    place: str = CELL
    earns: str = OTHERS
    last: bool = False
    remark: str = ""
    group: str = ""


@dataclass(frozen=True)
class AnswerAttack:
    """An attack that is the answer to one task, in a notebook that is right everywhere else.

    The code has the same names in it as an ``Attack``'s.

    Attributes:
        name: What follows the task's name in the student's name.
        task: The task's id.
        does: What it tries, one sentence.
        code: The text of the answer.
        part: The part of the task's points that it deserves.
        remark: See HostileHandIn.
    """

    name: str
    task: str
    does: str
    code: str
    part: float = 0.0
    remark: str = ""


class Bench:
    """An assignment to attack: a notebook with solutions, and as students get it.

    Without a name it is the page of its first task. Fewer than two tasks with a check are a ValueError.
    """

    def __init__(
        self,
        source: NotebookNode,
        release: NotebookNode,
        assignment: str | None = None,
        catalogue: Catalogue = STANDARD,
    ) -> None:
        self.source, self.release = source, release
        self.right = answers(source)
        self.tasks = tuple(
            catalogue.task(task_id(grade_id(cell)))
            for cell in release.cells
            if cell.cell_type == "code" and is_graded(cell) and not is_solution(cell)
        )
        if len(self.tasks) < 2:
            raise ValueError(f"the release has {len(self.tasks)} tasks with a check; wanted two or more to attack one")
        self.file = f"{assignment or self.tasks[0].page}.ipynb"

    @cached_property
    def target(self) -> Task:
        """The task that is attacked: in the middle, worth points for plain values, and called by no other answer."""
        texts = [(task, self.called(self.right[task.slug])) for task in self.tasks]
        alone = [
            task
            for task in self.tasks[1:-1]
            if task.frame == "torch"
            and set(task.parts) == {CORE}
            and not any(task.name in called for other, called in texts if other is not task)
        ]
        return min(alone or self.tasks[:-1], key=lambda task: abs(self.tasks.index(task) - len(self.tasks) // 2))

    @property
    def last(self) -> Task:
        """The last task: nothing is asked after it."""
        return self.tasks[-1]

    @staticmethod
    def called(text: str) -> set[str]:
        """Names of the functions that an answer calls."""
        return {
            n.func.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }

    def fill(self, code: str, task: Task) -> str:
        """Put a task's names into an attack's code."""
        words = {"NAME": task.name, "TASK": task.id, "SLUG": task.slug, "POINTS": f"{task.points:g}"}
        words |= {"RIGHT": self.right[task.slug], "LEAK": LEAK, "TRACE": TRACE}
        words["WRONG"] = Template(WRONG).substitute(words)
        return Template(code).safe_substitute(words)

    def deserves(self, earns: str, task: Task | None = None) -> dict[str, float]:
        """The points of each task where one is attacked."""
        at = len(self.tasks) if task is None else self.tasks.index(task)
        right = {
            ALL: lambda i: True,
            NOTHING: lambda i: False,
            OTHERS: lambda i: i != at,
            EARLIER: lambda i: i < at,
        }[earns]
        return {t.id: float(t.points) if right(i) else 0.0 for i, t in enumerate(self.tasks)}

    def notebook(self, **texts: str) -> NotebookNode:
        """A right notebook; named cells (with _ for -) hold other texts."""
        replacements = {f"{name.replace('_', '-')}": text for name, text in texts.items()}
        return filled(self.release, {**self.right, **replacements})

    def wrong(self, task: Task | None = None, before: str = "") -> NotebookNode:
        """A right notebook with one wrong answer."""
        task = task or self.target
        return filled(self.release, {**self.right, task.slug: self.fill(before + WRONG, task)})

    def add_cell(self, notebook: NotebookNode, code: str, metadata: Mapping[str, object] | None = None) -> NotebookNode:
        """Put a cell after the first code cell, where things are imported."""
        at = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        cell = nbformat.v4.new_code_cell(code)
        cell.id = f"added-{len(notebook.cells)}"
        cell.metadata = dict(metadata or {})
        notebook.cells.insert(at + 1, cell)
        return notebook

    def whole(
        self, name: str, row: int, does: str, notebook: NotebookNode | bytes, earns: str, **more: object
    ) -> HostileHandIn:
        """A hand-in that is a file made by hand.

        ``name`` follows the row's number, in the list of attacks, in the student's name; ``earns`` is OTHERS (all but
        the target), ALL or NOTHING; ``more`` are other attributes of the hand-in, and "files" are added to the
        notebook.
        """
        raw = notebook if isinstance(notebook, bytes) else as_bytes(notebook)
        others: dict[str, bytes] = more.pop("files", {})  # type: ignore[assignment]
        student = f"attack-{row:02d}-{name}"
        deserves = self.deserves(earns, self.target)
        return HostileHandIn(student, row, does, {self.file: raw, **others}, deserves, **more)  # type: ignore[arg-type]

    def coded(self, attack: Attack) -> HostileHandIn:
        """The hand-in of an attack that is nothing but code."""
        task = self.last if attack.last else self.target
        code = self.fill(attack.code, task)
        if attack.place == EXTRA:
            notebook = self.wrong(task) if attack.earns != ALL else self.notebook()
            notebook = self.add_cell(notebook, code)
        elif attack.place == ANSWER:
            notebook = filled(self.release, {**self.right, task.slug: code})
        else:
            notebook = self.wrong(task, code.rstrip() + "\n\n\n")
        if attack.earns == EARLIER:
            self._blank_after(notebook, task)
        student = f"attack-{attack.row:02d}-{attack.name}"
        files = {self.file: as_bytes(notebook)}
        deserves = self.deserves(attack.earns, task)
        return HostileHandIn(student, attack.row, attack.does, files, deserves, attack.remark, group=attack.group)

    def answering(self, attack: AnswerAttack) -> HostileHandIn | None:
        """The hand-in of an attack on one task; None where the notebook does not ask for it."""
        task = next((task for task in self.tasks if task.id == attack.task), None)
        if task is None:
            return None
        files = {self.file: as_bytes(filled(self.release, {**self.right, task.slug: self.fill(attack.code, task)}))}
        deserves = {**self.deserves(OTHERS, task), task.id: round(task.points * attack.part, 2)}
        return HostileHandIn(f"attack-00-{task.slug}-{attack.name}", 0, attack.does, files, deserves, attack.remark)

    def _blank_after(self, notebook: NotebookNode, task: Task) -> None:
        """Leave the tasks after one as released: they earn nothing, however a submission is stopped before them."""
        later = {t.slug for t in self.tasks[self.tasks.index(task) + 1 :]}
        released = {grade_id(cell): cell.source for cell in self.release.cells}
        for cell in notebook.cells:
            if grade_id(cell) in later:
                cell.source = released[grade_id(cell)]


def as_bytes(notebook: NotebookNode) -> bytes:
    """The file of a notebook, sound or not; lone surrogates stay escaped."""
    return json.dumps(notebook, indent=1).encode("utf-8")


def changed(notebook: NotebookNode, name: str) -> NotebookNode:
    """The cell of that name, to be changed in place; KeyError if there is none."""
    for cell in notebook.cells:
        if grade_id(cell) == name:
            return cell
    raise KeyError(f"the notebook has no cell {name!r}")


def copied(notebook: NotebookNode) -> NotebookNode:
    """A copy that may be changed."""
    return copy.deepcopy(notebook)
