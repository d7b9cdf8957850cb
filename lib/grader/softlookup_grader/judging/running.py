"""The stages run and judge: a submission's cells in the sandbox, and the judge, who has the points, outside."""

import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cached_property, partial

from nbformat import NotebookNode

from softlookup_grader.course.inbox import MAX_BESIDE
from softlookup_grader.course.notebooks import grade_id, is_solution, task_id, worth
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.forks import Sandbox
from softlookup_grader.judging.names import Leaning
from softlookup_grader.judging.outputs import as_outputs, outputs_and_cut, weight
from softlookup_grader.judging.plain_tests import Hidden, Tested, plain_tests, score_test
from softlookup_grader.judging.rebuild import Rebuilt, ReleasedCheck
from softlookup_grader.judging.remote import Before, Remote, RemoteApart, about
from softlookup_grader.judging.zygotes import asked_by, catalogue_for, read_release
from softlookup_grader.sandbox.ends import RunEnd
from softlookup_grader.sandbox.lender import LenderError
from softlookup_grader.sandbox.session import Dead, Held, OutOfTime, SubmissionSession
from softlookup_judge.checking.catalogue import Catalogue
from softlookup_judge.checking.judge import judge
from softlookup_judge.data.copies import code_of, is_copy
from softlookup_judge.data.protocols import Student
from softlookup_judge.data.result import CheckResult
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant
from softlookup_judge.home import in_stage, not_callable, our_mistake, too_slow
from softlookup_judge.judging.apart import WorldsApart
from softlookup_judge.judging.questions import TaskQuestions, questions
from softlookup_judge.naming.verdict import no_points, used_shortcut

Witness = Callable[[str, CheckResult], None]

MAX_NOTEBOOK = 2_000_000  # characters of output that are kept of all cells of a submission together

_MOST_LEFT = 15_000_000  # bytes of files that a notebook may leave to the next one

_AGAIN_S = 1.0  # how long a cell may take that was stopped before: what it defines at its beginning is there

_ROUNDS = 4  # how often a submission is begun: anew after each cell that ended its process, without that cell


class ReleasedRun:
    """A notebook of an assignment, as it is run and asked in for every submission, or for one that has its own."""

    def __init__(self, name: str, release: NotebookNode, catalogue: Catalogue, hidden: Hidden = ()) -> None:
        self.name, self.release, self.hidden = name, release, dict(hidden)
        self.checks = asked_by(release, catalogue)
        self.plain = frozenset(plain_tests(release))


class Assignment:
    """What is asked of every submission to one assignment."""

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.catalogue = catalogue_for(settings)
        self.notebooks = [
            ReleasedRun(book.name, read_release(book), self.catalogue, book.hidden) for book in settings.notebooks
        ]
        self._questions: dict[Variant, TaskQuestions] = {}

    def questions(self, check: ReleasedCheck) -> TaskQuestions:
        """The questions of a task: the same for the whole class, so they are answered once."""
        if check.variant not in self._questions:
            self._questions[check.variant] = questions(check.variant, self.settings.seed, shuffled=True)
        return self._questions[check.variant]


class SubmissionRun:
    """One notebook of a submission on its way through the sandbox, with the files beside it."""

    def __init__(
        self,
        assignment: Assignment,
        sandbox: Sandbox,
        released: ReleasedRun,
        rebuilt: Rebuilt,
        files: Mapping[str, bytes],
        witness: Witness | None = None,
    ) -> None:
        self.assignment, self.sandbox, self.released, self.rebuilt = assignment, sandbox, released, rebuilt
        self.checks, self.files, self.witness = released.checks, files, witness
        self.hands_on = False  # whether another notebook gets the files that it leaves
        self.limits = assignment.settings.limits
        self.cells: list[NotebookNode] = rebuilt.notebook.cells
        self.known = {check.task.id: check.variant for check in self.checks.values() if check is not None}
        self.remarks = list(rebuilt.remarks)
        self.outputs: dict[int, list[NotebookNode]] = {}
        self.results: dict[str, CheckResult] = {}
        self.tested: dict[str, Tested] = {}
        self.seconds: dict[str, float] = {}
        self.left_out: dict[int, str] = {}
        self.crowded = False
        self.failed_on: dict[str, str] = {}  # checks that the judge itself failed on, and the remark on each
        self.output_size = 0
        self._until = 0.0
        self._stopped: set[int] = set()  # places of cells that ran too long
        self._parallel: dict[int, RemoteApart] = {}  # parallel programs still to be judged, by their checks' places

    @cached_property
    def leaning(self) -> Leaning:
        """Which earlier tasks answers lean on; nobody asks where all are right."""
        return Leaning(self.rebuilt.notebook)

    def play(self, until: float) -> None:
        """Run all cells and judge all tasks."""
        self._until = until
        if any(self._code_cells()):  # else there is nothing to run
            self._run_cells(until)
            self._judge_parallel()

    def _run_cells(self, until: float) -> None:
        """Run all cells; begin anew, without it, where one ends the process."""
        for _ in range(_ROUNDS):
            self.output_size = 0
            at = 0
            with self._session() as session:
                try:
                    for at, cell in self._code_cells():
                        self._cell(session, at, cell)
                    if self.hands_on:
                        with suppress(Dead):  # all of it was run: what cannot be read is left behind
                            self.files = {**self.files, **session.read_files(MAX_BESIDE, _MOST_LEFT)}
                    return
                except Dead as dead:
                    if self.sandbox.lives():
                        self._died(at, dead)
                    else:  # not the submission's doing: all of it once more
                        self.sandbox.renew()
            if time.monotonic() > until:
                break
        self.remarks.append("The rest was not run: its process ended too often, or the time was over.")

    def _died(self, at: int, dead: Dead) -> None:
        cell, why = self.cells[at], str(dead)
        name = grade_id(cell)
        check = self.checks.get(name)
        self.left_out[at] = why
        if check is not None:
            self._judged(name, no_points(check.variant, _verdict_of(dead.end), _ended(why)))
            self.remarks.append(f"While task {check.task.id} was judged, {why}.")
        else:
            if name in self.released.plain:
                self.tested[name] = Tested(0.0, _verdict_of(dead.end), _ended(why))
            self.outputs[at] = as_outputs([{"output_type": "stream", "name": "stderr", "text": _ended(why) + "\n"}])
            what = f"the cell of {task_id(name)}" if name else f"cell {at + 1}"
            self.remarks.append(f"In {what}, {why}; it was left out, and the rest was run without it.")

    def _cell(self, session: SubmissionSession, at: int, cell: NotebookNode) -> None:
        name = grade_id(cell)
        check = self._asked_in(cell)
        if check is None:
            ran = session.run(self._source(cell))
            most = min(self.limits.output_kb * 1024, max(0, MAX_NOTEBOOK - self.output_size))
            self.outputs[at], cut = outputs_and_cut(ran.outputs, most)
            self.output_size += sum(map(weight, self.outputs[at]))
            self._took(name or f"cell {at + 1}", ran.seconds)
            if name in self.released.plain:
                stock = self.assignment.settings.stock
                self.tested[name] = score_test(worth(cell), ran, stock.ignored_stderr if stock else "")
            if ran.cut or cut:
                self.remarks.append(f"The output of a cell ({name or at + 1}) was longer than is kept, and was cut.")
            if ran.end is RunEnd.TIME:
                self._stopped.add(at)
                self.remarks.append(
                    f"A cell ({name or at + 1}) ran longer than {self.limits.cell_s:g} s and was stopped."
                )
        elif name not in self.results and name not in self.failed_on:
            self._judge(name, check, partial(self._check, session, at, check))

    def _judge_parallel(self) -> None:
        """Judge parallel programs in processes that each end before the next begins: what one hears, none passes on."""
        self._ask_parallel(WorldsApart.ask_worlds, list(self._parallel))
        for rank in range(max((student.worlds.ranks for student in self._parallel.values()), default=0)):
            positions = [at for at, student in self._parallel.items() if student.worlds.has_rank(rank)]
            self._ask_parallel(partial(WorldsApart.ask_rank, rank=rank), positions)
        for at, student in sorted(self._parallel.items()):
            check = self._check_at(at)
            try:
                with closing(student):
                    self._judge(grade_id(self.cells[at]), check, partial(self._result, check, student))
            except Dead as dead:
                self._died(at, dead)

    def _ask_parallel(self, ask: Callable[[WorldsApart, Student], None], waiting: list[int]) -> None:
        """Put questions to parallel programs in a new process; in another one to those behind one that ended it."""
        waiting.sort()
        while waiting:
            at = 0
            try:
                with self._session() as session:
                    for at, cell in self._code_cells():
                        if at in waiting:
                            self._ask_at(session, at, ask)
                            waiting.remove(at)
                        elif waiting and at < waiting[-1] and self._asked_in(cell) is None:
                            self._run_again(session, at, cell)
            except Dead as dead:
                is_over = time.monotonic() > self._until
                if is_over:
                    self._leave_parallel("the time for the whole submission was over")
                elif self.sandbox.lives():
                    self._died(at, dead)
                    self._parallel.pop(at, None)
                else:  # not the submission's doing
                    self.sandbox.renew()
                waiting = [position for position in waiting if position in self._parallel]

    def _run_again(self, session: SubmissionSession, at: int, cell: NotebookNode) -> None:
        """Run a cell in a process that judges parallel programs; one that was stopped is stopped earlier now."""
        session.run(self._source(cell), _AGAIN_S if at in self._stopped else None)

    def _leave_parallel(self, why: str) -> None:
        """Leave the points of all parallel programs that have no result yet to a person."""
        if self._parallel:
            self.remarks.append(f"Parallel programs were not judged to the end: {why}.")
        for at in self._parallel:
            self.failed_on[grade_id(self.cells[at])] = (
                f"This task has no verdict, since parallel programs could not be judged to the end: {why}. Tell your "
                "instructor, who gives its points. Cells that take long are run several times in grading."
            )
        self._parallel.clear()

    def _ask_at(self, session: SubmissionSession, at: int, ask: Callable[[WorldsApart, Student], None]) -> None:
        """Put questions to the parallel program that a check is handed."""
        check, student, cell = self._check_at(at), self._parallel[at], self.cells[at]

        def result_of() -> CheckResult | None:
            check_input = session.check("" if check.alone else cell.source, about(check))
            if not check_input.there:
                return self._no_answer(check, check_input)
            try:
                ask(student.worlds, student.process(session))
            except OutOfTime:
                return too_slow(check.variant, self.limits.answer_s)
            return None

        name = grade_id(cell)
        self._judge(name, check, result_of)
        if name in self.results or name in self.failed_on:
            del self._parallel[at]

    def _check_at(self, at: int) -> ReleasedCheck:
        check = self._asked_in(self.cells[at])
        if check is None:
            raise AssertionError(f"cell {at + 1} is no check")
        return check

    def _judge(self, name: str, check: ReleasedCheck, result_of: Callable[[], CheckResult | None]) -> None:
        """Judge a task, and record its result if there is one yet."""
        start_s = time.monotonic()
        try:
            result = result_of()
            if result is not None:
                self._judged(name, result)
        except (Dead, CourseError, LenderError):
            raise
        except Exception as error:  # no answer costs more than its own verdict; a person gives the points
            self.failed_on[name] = our_mistake(error)
            self.remarks.append(_log_failure(check.task, error))
        self._took(name, time.monotonic() - start_s)

    def _took(self, name: str, seconds: float) -> None:
        self.seconds[name] = max(seconds, self.seconds.get(name, 0.0))

    def _judged(self, name: str, result: CheckResult) -> None:
        self.results[name] = result
        if self.witness is not None:
            self.witness(result.task_id, result)

    def _check(self, session: SubmissionSession, at: int, check: ReleasedCheck) -> CheckResult | None:
        """Judge one task; a parallel program has no result yet."""
        variant, cell = check.variant, self.cells[at]
        check_input = session.check("" if check.alone else cell.source, about(check))
        if not check_input.there:
            return self._no_answer(check, check_input)
        if not check_input.callable:
            return not_callable(variant, check_input.kind)
        if check_input.shortcut is not None and check_input.shortcut in check.task.barred:
            return used_shortcut(variant, check_input.shortcut)
        if any(case.world for case in self.assignment.questions(check).cases):
            task_questions, count = self.assignment.questions(check), len(variant.task.returns) - 1
            worlds = WorldsApart([*zip(task_questions.cases, task_questions.rights, strict=True)], count)
            self._parallel[at] = RemoteApart(worlds, partial(self._anew, at, check), self.limits.answer_s)
            return None
        before = partial(self._before, check)
        return self._result(check, Remote(session, check, before, self.limits.answer_s, self.known))

    def _result(self, check: ReleasedCheck, student: Student) -> CheckResult:
        """What a student's answers come to."""
        task_questions, copied = self.assignment.questions(check), partial(self._copied, check)
        try:
            return judge(check.variant, student, task_questions=task_questions, reveals=False, copied=copied)
        except OutOfTime:
            return too_slow(check.variant, self.limits.answer_s)

    @contextmanager
    def _anew(self, check_at: int, check: ReleasedCheck) -> Iterator[SubmissionSession]:
        """A new process of the submission, in which the cells before a check were run and nothing was asked."""
        with self._session() as session:
            for at, cell in self._code_cells():
                if at < check_at and self._asked_in(cell) is None:
                    self._run_again(session, at, cell)
            session.check("" if check.alone else self.cells[check_at].source, about(check))
            yield session

    @contextmanager
    def _session(self) -> Iterator[SubmissionSession]:
        """A new process of the submission; while parallel programs wait, nothing of it outlives the context."""
        session = self.sandbox.session(self._until)
        try:
            if self.files:
                with suppress(Dead):  # the first cell finds out
                    session.write_files(self.files)
            yield session
        finally:
            if self._parallel and not session.end():
                self._leave_parallel("a process of the submission could not be ended")
            session.close()
            self.crowded = self.crowded or session.watch.crowded

    def _code_cells(self) -> Iterator[tuple[int, NotebookNode]]:
        """The cells to run, with their places; without those that ended a process."""
        for at, cell in enumerate(self.cells):
            if cell.cell_type == "code" and at not in self.left_out:
                yield at, cell

    def _asked_in(self, cell: NotebookNode) -> ReleasedCheck | None:
        """The check of a cell that the judge asks in place of running it."""
        return None if is_solution(cell) else self.checks.get(grade_id(cell))

    def _source(self, cell: NotebookNode) -> str:
        """What is run of a cell: its hidden tests, too."""
        return self.released.hidden.get(grade_id(cell), cell.source)

    def _copied(self, check: ReleasedCheck) -> bool:
        """Whether the cell of a task holds the published answer to another variant."""
        source = next((cell.source for cell in self.cells if grade_id(cell) == check.task.slug), "")
        return is_copy(check.variant, code_of(source, check.task.name))

    def _before(self, check: ReleasedCheck) -> dict[str, Before]:
        """The earlier tasks that an answer leans on, by id."""
        earlier = {}
        for earlier_id in self.leaning.on(check.task):
            name = next((name for name, each in self.checks.items() if each and each.task.id == earlier_id), "")
            result = self.results.get(name)
            before = self.checks.get(name) or self._not_asked(earlier_id)
            answers = result is not None and result.verdict not in ("stopped", "timeout")
            earlier[earlier_id] = Before(before, result is None or result.verdict != "pass", answers)
        return earlier

    def _not_asked(self, task_id: str) -> ReleasedCheck:
        """A check that the release has not, of a task whose function may be lent all the same."""
        variant = self.assignment.catalogue.variant(task_id)
        others = tuple(task.name for task in self.assignment.catalogue.others(variant.task))
        return ReleasedCheck(variant, variant.task.name, True, others)

    def _no_answer(self, check: ReleasedCheck, check_input: Held) -> CheckResult:
        """The result where the check was handed nothing; the reason is mostly in the answer's own cell."""
        if check_input.ran.end is RunEnd.TIME:
            return too_slow(check.variant, self.limits.cell_s)
        answer_at = next((at for at, cell in enumerate(self.cells) if grade_id(cell) == check.task.slug), -1)
        why = check_input.ran.trouble
        if answer_at in self.left_out:
            why = self.left_out[answer_at]
        for output in self.outputs.get(answer_at, []):
            if output.output_type == "error":
                why = f"its cell ended with {output.ename}: {output.evalue[:200]}"
        message = f"There was no function `{check.task.name}` to check: {why}."
        return no_points(check.variant, "error", message)


def _log_failure(task: Task, error: Exception) -> str:
    """Write into the workers' log how the judge failed, since its lines may hold right answers, and give the remark."""
    print(f"The judge failed on task {task.id}:", *traceback.format_exception(error), file=sys.stderr)
    what = f"The grader made a mistake while it judged task {task.id} ({type(error).__name__}{in_stage(error)})"
    return f"{what}: a person has to give its points; the workers' log says where it happened."


def _verdict_of(end: RunEnd) -> str:
    return "timeout" if end is RunEnd.TIME else "stopped"


def _ended(why: str) -> str:
    return f"Your code was stopped here: {why}."
