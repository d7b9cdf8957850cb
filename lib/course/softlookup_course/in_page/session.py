"""Python in a page of the book: runs the reader's code and judges answers with numpy alone.

The page's script hands over one request after the other as JSON and reads one line of JSON back (``answer``). All that
a reader writes runs in here; there is no server, and nothing here knows a solution.
"""

import ast
import copy
import json
import linecache
import math
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from softlookup_course.in_page.missing import Absent, NotHere
from softlookup_course.in_page.playing import figure_of, is_playable
from softlookup_course.in_page.sealed import opened
from softlookup_course.in_page.why import can_ask, why_questions
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.explained import explained
from softlookup_inside.asking.printed import caught_output, first_characters
from softlookup_inside.asking.probe import Answer
from softlookup_inside.asking.source import screen
from softlookup_judge.checking.baked import Baked, read
from softlookup_judge.checking.catalogue import Catalogue
from softlookup_judge.checking.judge import ask, judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.compare import Asked
from softlookup_judge.data.facts import by_table, task_from
from softlookup_judge.data.result import CheckResult, Way, panel
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant, variant_of
from softlookup_judge.judging.kernels import settled
from softlookup_judge.judging.questions import TaskQuestions
from softlookup_judge.naming.nudge import relation
from softlookup_judge.naming.verdict import no_points, used_shortcut

MOST_PRINTED = 10_000
"""Characters of output that a page shows; the rest is counted."""

OLDEST = (3, 11)
"""The Python that notebooks may be graded with: newer syntax is an error in a page, too."""

_KEPT = (
    *("builtins", "json", "math", "numpy", "warnings"),
    *("softlookup", "softlookup_course", "softlookup_inside", "softlookup_judge"),
)
"""Packages that are put back as they were before each check."""


class PageSession:
    """What a page has loaded, and the answers that it judges."""

    def __init__(self) -> None:
        self.chapters: dict[int, Baked] = {}
        self.catalogue = Catalogue()
        self._saved: dict[str, tuple[Any, dict[str, Any]]] = {}
        self._warned = np.geterr()

    def keep(self) -> None:
        """Note what modules hold, so that no answer changes the judge, or numpy, for the next one."""
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in _KEPT and name not in self._saved:
                self._saved[name] = module, dict(vars(module))

    def restore(self) -> None:
        """Put back what an answer has changed in the modules."""
        for module, values in self._saved.values():
            vars(module).update(values)
        np.seterr(**self._warned)

    def load(self, chapter: int, file: bytes) -> list[str]:
        """Take up a notebook's tasks, and give their ids."""
        baked = read(file)
        self.chapters[chapter] = baked
        self.catalogue = self.catalogue.with_prepared(chapter, _in_order(baked))
        self.keep()
        return [*baked.more]

    def check(self, task_id: str, cells: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """Run the reader's answers to a notebook's tasks, and judge the last of the cells.

        ``cells`` have the task's id ("" where a cell is given) and source. It gives ``printed``, ``error`` (a
        traceback), ``hints`` (``title``, and ``text`` or ``code``), and where the answer runs ``html``, ``text``,
        ``record``, ``why`` (whether it has lines to change) and ``plays`` (whether it is a parallel program).
        """
        task = self.catalogue.task(task_id)
        world, outcome = self._run_up_to(task_id, cells)
        if outcome["error"]:
            return outcome | {"hints": self._hints(task, "")}
        function = world.get(task.name)
        with np.errstate(all="ignore"):  # a warning is noise, never a verdict
            result, remark = self._judged(task, function)
        hints = [] if result.verdict == "pass" else self._hints(task, remark)
        asks = result.verdict == "pass" and can_ask(cells[-1]["source"], task.name)
        verdict = {"html": panel(result), "text": result.text(), "record": result.record()}
        plays = result.verdict != "blank" and any(map(is_playable, self.questions(task).cases))
        return outcome | verdict | {"hints": hints, "why": asks, "plays": plays}

    def play(self, task_id: str, cells: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """Give a reader's parallel program for the figure that plays it; cells are as for ``check``."""
        task = self.catalogue.task(task_id)
        world, outcome = self._run_up_to(task_id, cells)
        if outcome["error"] or not callable(world.get(task.name)):
            return {"says": f"There is no function `{task.name}` to play."}
        with caught_output():
            return figure_of(world[task.name], self.questions(task).cases)

    def why(self, task_id: str, cells: Sequence[Mapping[str, str]], seed: int) -> list[dict[str, Any]]:
        """Draw questions on the reader's answer to a task, none where it does not run; cells are as for ``check``."""
        task = self.catalogue.task(task_id)
        world, outcome = self._run_up_to(task_id, cells)
        if outcome["error"] or not callable(world.get(task.name)):
            return []
        questions = self.questions(task)
        variant, rng = variant_of(task), np.random.default_rng(seed)
        return why_questions(variant, cells[-1]["source"], world, questions.cases, rng, questions.mistake_results)

    def _run_up_to(self, task_id: str, cells: Sequence[Mapping[str, str]]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Run the cells before an answer and the answer; give the names that there are then, and what came of it."""
        world = _world()
        for cell in cells[:-1]:
            run_what_runs(cell["source"], f"<submission {cell['task'] or 'a given cell'}>", world)
        return world, _ran(cells[-1]["source"], f"<submission {task_id}>", world, self)

    def _hints(self, task: Task, remark: str) -> list[dict[str, str]]:
        """Help in steps: what can be seen of the answer, and the formula; a notebook has more."""
        formula = self.chapters[task.chapter].more[task.id]["formula"]
        hints = [{"title": "Hint", "text": remark}] * bool(remark)
        hints += [{"title": "Hint: the formula", "code": formula}] * bool(formula)
        return hints

    def _way(self, task: Task) -> tuple[Way, ...]:
        """Another right answer, which a right answer opens."""
        way = self.chapters[task.chapter].more[task.id]["way"]
        if not way:
            return ()
        code, says = json.loads(opened(way, self.questions(task).rights))
        return (Way("Another way, in torch" if task.frame == "torch" else "Another way", code, says),)

    def run(self, cells: Sequence[str]) -> dict[str, Any]:
        """Run the last of a chapter's cells after the others; ``tables`` are rows of cells, the headings first."""
        *before, cell = cells
        world = _world()
        for index, source in enumerate(before):
            run_what_runs(source, f"<submission cell {index}>", world)
        _SHOWN.clear()
        outcome = _ran(cell, "<submission this cell>", world, self)
        return outcome | {"tables": [table for item in _SHOWN if (table := _table(str(item)))]}

    def _judged(self, task: Task, function: Any) -> tuple[CheckResult, str]:
        """The verdict on an answer, and what can be seen of it where it is wrong."""
        variant = variant_of(task)
        if not callable(function):
            what = f"it holds {type(function).__name__}" if function is not None else "there is nothing of that name"
            sentence = f"The answer is a function called `{task.name}`: {what}."
            return no_points(variant, "wrong", sentence), ""
        others = frozenset(other.name for other in self.catalogue.others(task))
        if used := screen(function, task.barred, others):
            return used_shortcut(variant, used), ""
        student, questions = PageStudent(variant, function, self), self.questions(task)
        result = judge(variant, student, task_questions=questions)
        if result.verdict == "pass":
            return replace(result, ways=self._way(task)), ""
        unknown = [(earlier, student.functions.get(earlier.id)) for earlier in student.unknown.values()]
        wrong = [
            earlier
            for earlier, earlier_function in unknown
            if not student.passes(variant_of(earlier), earlier_function)
        ]
        more = [
            f"Your `{earlier.name}` (task {earlier.id}) is not right yet, and the page has no stand-in for this call: "
            f"correct {earlier.id} first."
            for earlier in wrong
        ]
        if any(_is_large(expected) for rights in questions.rights for expected in rights):
            more.append(_LARGE)
        remark = relation(variant, self._rounds(variant, student, questions))
        return replace(result, sentences=(*result.sentences, *more)), remark

    def _rounds(self, variant: Variant, student: "PageStudent", questions: TaskQuestions) -> Asked:
        """A task's questions with a student's answers and the right ones, without functions that stand in."""
        if any(case.world for case in questions.cases):  # each rank has answered several times: all are asked anew
            return ask(variant, student, questions)
        rounds = zip(questions.cases, student.answered, questions.rights, strict=False)
        return [(case, settled(case, got, variant.input_names(case)), expected) for case, got, expected in rounds]

    def questions(self, task: Task) -> TaskQuestions:
        """A task's questions with their right answers."""
        return self.chapters[task.chapter].questions[task.id, 0]

    def calls(self, task: Task) -> Sequence[Sequence[Any]]:
        """What a task's questions ask of earlier functions, and what sound ones give."""
        calls: Sequence[Sequence[Any]] = self.chapters[task.chapter].more[task.id]["calls"]
        return calls


def _in_order(baked: Baked) -> list[Task]:
    """The tasks that were written down, each of which knows those before it."""
    tasks: list[Task] = []
    for facts in baked.more.values():
        tasks.append(replace(task_from(facts), before=tuple(tasks)))
    return tasks


class PageStudent(LocalStudent):
    """Answers from a function in the page; what stands in for earlier ones is looked up."""

    def __init__(self, variant: Variant, obj: Callable[..., Any], session: PageSession) -> None:
        super().__init__(variant, obj)
        self.task, self.session = variant.task, session
        self.unknown: dict[str, Task] = {}
        self.answered: list[Answer] = []

    def ask(self, case: Case, results: int, lent: tuple[str, ...] = ()) -> Answer:
        """Call the function on one case, and note the answer: the first ones are those without lent functions."""
        answer = super().ask(case, results, lent)
        self.answered.append(answer)
        return answer

    def passes(self, variant: Variant, function: Any) -> bool:
        """Whether an earlier function is right by itself."""
        if not callable(function):
            return False
        student = PageStudent(variant, function, self.session)
        return judge(variant, student, task_questions=self.session.questions(variant.task)).verdict == "pass"

    def reference_function(self, variant: Variant, case: Case) -> Callable[..., Any]:
        """A function that looks up what a sound one gives in the questions of this task."""
        task = variant.task
        return by_table(task, self.session.calls(self.task), lambda: self.unknown.setdefault(task.id, task))


_LARGE = (
    "In a page numpy's whole numbers have 32 bits, so that counts above 2,147,483,647 overflow without a word: "
    "use Python's own numbers, or `dtype=np.int64`."
)


def _is_large(expected: np.ndarray) -> bool:
    """Whether a count is too large for the whole numbers that numpy has in a page."""
    return (
        expected.dtype.kind in "if"
        and expected.size > 0
        and bool((np.abs(expected[np.isfinite(expected)]) >= 2**31).any())
    )


def _world() -> dict[str, Any]:
    """The names that code in a page begins with."""
    return {"__name__": "__main__", "np": np, "math": math}


def _parsed(source: str, name: str) -> list[ast.stmt]:
    """A cell's statements; its lines are kept for tracebacks."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return ast.parse(source, name, feature_version=OLDEST).body


def _run(source: str, name: str, world: dict[str, Any]) -> Any:
    """Run a cell and return the value of its last line, if that is an expression."""
    body = _parsed(source, name)
    last_line = body.pop().value if body and isinstance(body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    exec(compile(ast.Module(body, []), name, "exec"), world)
    return eval(compile(ast.Expression(last_line), name, "eval"), world) if last_line else None


def run_what_runs(source: str, name: str, world: dict[str, Any]) -> bool:
    """Run a cell's statements, each by itself, and say whether all ran: a set-up cell brings in torch beside numpy."""
    try:
        statements = [part for statement in _parsed(source, name) for part in _apart(statement)]
    except SyntaxError:
        return False
    all_ran = True
    for statement in statements:
        try:
            with caught_output():
                exec(compile(ast.Module([statement], []), name, "exec"), world)
        except BaseException as error:
            all_ran = False
            if isinstance(statement, ast.Import | ast.ImportFrom) and isinstance(error, ImportError):
                world[(statement.names[0].asname or statement.names[0].name).partition(".")[0]] = Absent(str(error))
    return all_ran


def _apart(statement: ast.stmt) -> list[ast.stmt]:
    """An import of several names as imports of one each; other statements as they are."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return [statement]
    parts = []
    for name in statement.names:
        part = copy.copy(statement)
        part.names = [name]
        parts.append(part)
    return list(parts)


def _ran(source: str, name: str, world: dict[str, Any], session: PageSession) -> dict[str, Any]:
    """Run a cell, and tell what it printed, the value of its last line, and the traceback if there is one."""
    values: list[str] = []

    def run() -> None:
        try:
            value = _run(source, name, world)
            if value is not None:
                values.append(repr(value))
        finally:
            session.restore()

    with caught_output() as out:
        error = _error(run)
    printed = "\n".join(filter(None, (out.getvalue().rstrip("\n"), *values)))
    return {"printed": first_characters(printed, MOST_PRINTED), "error": first_characters(error, MOST_PRINTED)}


def _error(run: Callable[[], Any]) -> str:
    """The traceback of what was raised, less the lines that are not the reader's; empty if nothing was."""
    try:
        run()
    except BaseException as error:
        trace = traceback.TracebackException.from_exception(error)
        trace.stack = traceback.StackSummary.from_list(
            [frame for frame in trace.stack if frame.filename.startswith("<submission")]
        )
        text = re.sub(r'File "<submission ([^>]*)>"', r"In \1", "".join(trace.format(chain=False)).strip())
        return "\n\n".join(filter(None, [text, explained(error, lambda name: name.startswith("<submission"))]))
    return ""


_SHOWN: list[Any] = []
"""What a cell has displayed: tables, as text in Markdown."""


class _Kind(type):
    """A kind of array in annotations, which nothing reads in a page."""

    def __getitem__(cls, item: Any) -> Any:
        return Any


def _put_stand_ins() -> None:
    """Put in place what cells and the library import beside numpy: displays, numbers for sentences, annotations."""
    names = ("IPython", "IPython.display", "myst_nb", "jaxtyping")
    whole, page, glue, kinds = modules = [ModuleType(name) for name in names]
    vars(whole)["display"] = page
    vars(page).update(display=_SHOWN.append, Markdown=str, HTML=str)
    vars(glue)["glue"] = lambda *args, **kwargs: None
    vars(kinds)["__getattr__"] = lambda name: _Kind(name, (), {})
    sys.modules.update(zip(names, modules, strict=True))


def _table(text: str) -> list[list[str]]:
    """The rows of a table in Markdown, headings first; empty for another text."""
    lines = [line.strip() for line in text.strip().splitlines()]
    if len(lines) < 2 or not all(line.startswith("|") for line in lines):
        return []
    rows = [re.split(r"(?<!\\)\|", line.strip("|")) for line in lines]
    return [[cell.strip().replace("\\|", "|") for cell in row] for index, row in enumerate(rows) if index != 1]


_session = PageSession()


def answer(request: str) -> str:
    """Do what the page asks, in JSON: ``do`` and what that takes; give ``result``, or ``failed`` with the reason."""
    try:
        args = json.loads(request)
        do = args.pop("do")
        if do == "begin":
            os.environ["SOFTLOOKUP_BOOK"] = args["book"]
            sys.meta_path.insert(0, NotHere())
            _put_stand_ins()
            _session.keep()
            for name in {"random", "numpy.random"} & sys.modules.keys():  # all pages begin with the same memory
                sys.modules[name].seed()
            result: Any = f"Python {sys.version.split()[0]}, numpy {np.__version__}"
        elif do == "load":
            result = _session.load(args["chapter"], Path(args["path"]).read_bytes())
        elif do == "run":
            result = _session.run(**args)
        elif do == "play":
            result = _session.play(**args)
        elif do == "why":
            result = _session.why(**args)
        else:
            result = _session.check(**args)
        _session.restore()
        return json.dumps({"result": result})
    except BaseException as error:  # an answer may raise anything, at any time
        _session.restore()
        return json.dumps({"failed": f"{type(error).__name__}: {error}"[:1000]})
