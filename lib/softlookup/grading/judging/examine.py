"""Grades one submission: rebuilds it, runs it in the sandbox, asks its functions, judges outside.

The judge holds tasks, oracles, seed and points. The sandbox holds the student's cells and the probe. Between them go
frames (sandbox/inside/frames.py).
"""

import json
import socket
import time
import zlib
from collections.abc import Callable
from functools import cached_property, partial
from types import TracebackType

import nbformat
from nbformat import NotebookNode

from softlookup.checking.copies import code_of, is_copy
from softlookup.checking.home import not_callable, our_mistake, too_slow
from softlookup.checking.judge import TaskQuestions, judge, no_points, questions, used_shortcut
from softlookup.checking.result import HEADLINES, CheckResult
from softlookup.checking.variant import Variant
from softlookup.grading.course.notebooks import BadNotebook, grade_id, is_graded, is_solution, task_id
from softlookup.grading.course.personal import whose
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.records import GRADED, REFUSED
from softlookup.grading.data.work import Graded, Mark, RunSettings, digest_of, parted
from softlookup.grading.judging.names import Leaning
from softlookup.grading.judging.outputs import CUT, as_outputs, weight
from softlookup.grading.judging.own_mistakes import log_failure
from softlookup.grading.judging.plain_tests import Tested, plain_tests, score_test
from softlookup.grading.judging.rebuild import Rebuilt, ReleasedCheck, rebuild
from softlookup.grading.judging.remote import Before, Remote, about
from softlookup.grading.judging.zygotes import asked_by, begin_zygote, catalogue_for, read_release
from softlookup.grading.sandbox.outside import cgroups
from softlookup.grading.sandbox.outside.bubble import Forking, SandboxError
from softlookup.grading.sandbox.outside.lender import LenderError
from softlookup.grading.sandbox.outside.place import Ahead
from softlookup.grading.sandbox.outside.session import Dead, Held, OutOfTime, SubmissionSession

Witness = Callable[[str, CheckResult], None]

MAX_NOTEBOOK = 2_000_000
"""Characters of output that are kept of all cells of a submission together."""

_ROUNDS = 4
"""How often a submission is begun: anew after each cell that ended its process, without that cell."""


class SandboxExaminer:
    """Grades submissions of one assignment, one after the other.

    Args:
        settings: The assignment, the seed, the limits.
        zygote: The connection to a copy of a zygote, made for this examiner by Shared; None starts a zygote.

    Raises:
        CourseError: If the sandbox does not start, or the release is no notebook.
    """

    def __init__(self, settings: RunSettings, zygote: socket.socket | None = None) -> None:
        self.settings = settings
        self.release = read_release(settings)
        self.catalogue = catalogue_for(settings)
        self.checks = asked_by(self.release, self.catalogue)
        self._from(begin_zygote(settings, [self.release], self.catalogue) if zygote is None else Forking(zygote))
        try:
            self._zygote.wait()
        except SandboxError:
            if zygote is None:
                raise
            self.new_sandbox()  # the zygote that was to be copied is gone
        self._questions: dict[Variant, TaskQuestions] = {}
        self.plain = frozenset(plain_tests(self.release))
        self.hidden = dict(settings.hidden)

    def __enter__(self) -> "SandboxExaminer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox."""
        self._places.close()
        self._zygote.close()
        cgroups.sweep(patience_s=1.0)

    def examine(self, student: str, submission: bytes, witness: Witness | None = None) -> Graded:
        """Grade one submission.

        Args:
            student: The student's id.
            submission: The submitted file; with the student's own release where the settings say so.
            witness: Told the result of each task, with everything in it.

        Returns:
            What it came to. Nothing that a student handed in makes it raise.
        """
        begun = time.monotonic()
        release, checks, remarks = self.release, self.checks, list[str]()
        if self.settings.personal:
            personal_release, submission = parted(submission)
            release = nbformat.reads(personal_release.decode(), as_version=4)
            checks, remarks = asked_by(release, self.catalogue), list(whose(personal_release, submission, student))
        digest = digest_of(submission)
        try:
            rebuilt = rebuild(release, submission, f"{self.settings.assignment}.ipynb")
        except BadNotebook as error:
            return Graded(student, REFUSED, digest, reason=str(error), seconds=time.monotonic() - begun)
        round_ = _Run(self, rebuilt, witness, checks)
        round_.remarks += remarks
        round_.play(begun + self.settings.limits.total_s)
        slowest, slowest_s = max(round_.seconds.items(), key=lambda item: item[1], default=("", 0.0))
        return Graded(
            student,
            GRADED,
            digest,
            round_.marks,
            remarks=tuple(round_.remarks),
            notebook=json.dumps(round_.notebook(), sort_keys=True, ensure_ascii=False) + "\n",
            seconds=time.monotonic() - begun,
            slowest=slowest,
            slowest_s=slowest_s,
            crowded=round_.crowded,
        )

    def questions(self, check: ReleasedCheck) -> TaskQuestions:
        """The questions of a task: the same for the whole class, so they are answered once."""
        if check.variant not in self._questions:
            self._questions[check.variant] = questions(check.variant, self.settings.seed, shuffled=True)
        return self._questions[check.variant]

    def session(self, until: float) -> SubmissionSession:
        """Begin a submission's process."""
        try:
            return SubmissionSession(self._places.take(), until)
        except SandboxError:
            self.new_sandbox()  # somebody killed it: one that starts at all may be tried once more
            return SubmissionSession(self._places.take(), until)

    def _from(self, zygote: Forking) -> None:
        """Have submissions forked from this zygote."""
        # A submission can read the seed, so nothing of the run's is in it: that draws the questions.
        seed = zlib.crc32(self.settings.assignment.encode())
        self._zygote, self._places = zygote, Ahead(zygote, self.settings.limits, seed)

    def sandbox_lives(self) -> bool:
        """Whether the sandbox is still there."""
        return self._zygote.lives()

    def new_sandbox(self) -> None:
        """Put a new sandbox in place of one that is gone."""
        for last in (False, True):  # one that starts at all may be tried once more
            self._places.close()
            self._zygote.close()
            self._from(begin_zygote(self.settings, [self.release], self.catalogue))
            try:
                self._zygote.wait()
                return
            except SandboxError:
                if last:
                    raise


class _Run:
    """One submission on its way through the sandbox."""

    def __init__(
        self,
        examiner: SandboxExaminer,
        rebuilt: Rebuilt,
        witness: Witness | None,
        checks: dict[str, ReleasedCheck | None],
    ) -> None:
        self.examiner, self.rebuilt, self.witness, self.checks = examiner, rebuilt, witness, checks
        self.limits = examiner.settings.limits
        self.cells: list[NotebookNode] = rebuilt.notebook.cells
        self.known = {check.task.id: check.variant for check in checks.values() if check is not None}
        self.remarks = list(rebuilt.remarks)
        self.outputs: dict[int, list[NotebookNode]] = {}
        self.results: dict[str, CheckResult] = {}
        self.tested: dict[str, Tested] = {}
        self.seconds: dict[str, float] = {}
        self.left_out: dict[int, str] = {}
        self.crowded = False
        self.failed_on: dict[str, str] = {}  # checks that the judge itself failed on, and the remark on each
        self.output_size = 0

    @cached_property
    def leaning(self) -> Leaning:
        """Which earlier tasks answers lean on; nobody asks where all are right."""
        return Leaning(self.rebuilt.notebook)

    def play(self, until: float) -> None:
        """Run all cells; begin anew, without it, where one ends the process."""
        for _ in range(_ROUNDS):
            self.output_size = 0
            session = self.examiner.session(until)
            at = 0
            try:
                for at, cell in enumerate(self.cells):
                    if cell.cell_type == "code" and at not in self.left_out:
                        self._cell(session, at, cell)
                return
            except Dead as dead:
                if self.examiner.sandbox_lives():
                    self._died(at, str(dead))
                else:  # not the submission's doing: all of it once more
                    self.examiner.new_sandbox()
            finally:
                session.close()
                self.crowded = self.crowded or session.watch.crowded
            if time.monotonic() > until:
                break
        self.remarks.append("The rest was not run: its process ended too often, or the time was over.")

    def _died(self, at: int, why: str) -> None:
        cell = self.cells[at]
        name = grade_id(cell)
        check = self.checks.get(name)
        self.left_out[at] = why
        if check is not None:
            self._judged(name, no_points(check.variant, _verdict_of(why), _ended(why)))
            self.remarks.append(f"While task {check.task.id} was judged, {why}.")
        else:
            self.outputs[at] = as_outputs([{"output_type": "stream", "name": "stderr", "text": _ended(why) + "\n"}])
            what = f"the cell of {task_id(name)}" if name else f"cell {at + 1}"
            self.remarks.append(f"In {what}, {why}; it was left out, and the rest was run without it.")

    def _cell(self, session: SubmissionSession, at: int, cell: NotebookNode) -> None:
        name = grade_id(cell)
        check = self.checks.get(name)
        if check is None or is_solution(cell):
            ran = session.run(self.examiner.hidden.get(name, cell.source))
            most = min(self.limits.output_kb * 1024, max(0, MAX_NOTEBOOK - self.output_size))
            self.outputs[at] = as_outputs(ran.outputs, most)
            self.output_size += sum(map(weight, self.outputs[at]))
            self._took(name or f"cell {at + 1}", ran.seconds)
            if name in self.examiner.plain:
                self.tested[name] = score_test(_worth(cell), ran.outputs, ran.trouble)
            if self.outputs[at] and CUT in self.outputs[at][-1].get("text", "")[-200:]:
                self.remarks.append(f"The output of a cell ({name or at + 1}) was longer than is kept, and was cut.")
            if ran.trouble == "time":
                self.remarks.append(
                    f"A cell ({name or at + 1}) ran longer than {self.limits.cell_s:g} s and was stopped."
                )
        elif name not in self.results and name not in self.failed_on:
            begun = time.monotonic()
            try:
                self._judged(name, self._check(session, cell, check))
            except (Dead, CourseError, LenderError):
                raise
            except Exception as error:  # no answer costs more than its own verdict; a person gives the points
                self.failed_on[name] = our_mistake(error)
                self.remarks.append(log_failure(check.task, error))
            self._took(name, time.monotonic() - begun)

    def _took(self, name: str, seconds: float) -> None:
        self.seconds[name] = max(seconds, self.seconds.get(name, 0.0))

    def _judged(self, name: str, result: CheckResult) -> None:
        self.results[name] = result
        if self.witness is not None:
            self.witness(result.task_id, result)

    def _check(self, session: SubmissionSession, cell: NotebookNode, check: ReleasedCheck) -> CheckResult:
        """Judge one task."""
        variant = check.variant
        check_input = session.check("" if check.alone else cell.source, about(check))
        if not check_input.there:
            return self._no_answer(check, check_input)
        if not check_input.callable:
            return not_callable(variant, check_input.kind)
        if check_input.shortcut is not None and check_input.shortcut in check.task.barred:
            return used_shortcut(variant, check_input.shortcut)
        drawn = self.examiner.questions(check)
        student = Remote(session, check, partial(self._before, check), self.limits.answer_s, self.known)
        try:
            return judge(variant, student, task_questions=drawn, reveals=False, copied=partial(self._copied, check))
        except OutOfTime:
            return too_slow(variant, self.limits.answer_s)

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
        variant = self.examiner.catalogue.variant(task_id)
        others = tuple(task.name for task in self.examiner.catalogue.others(variant.task))
        return ReleasedCheck(variant, variant.task.name, True, others)

    def _no_answer(self, check: ReleasedCheck, check_input: Held) -> CheckResult:
        """The result where the check was handed nothing; the reason is mostly in the answer's own cell."""
        if check_input.ran.trouble == "time":
            return too_slow(check.variant, self.limits.cell_s)
        answer_at = next((at for at, cell in enumerate(self.cells) if grade_id(cell) == check.task.slug), -1)
        why = check_input.ran.trouble
        if answer_at in self.left_out:
            why = self.left_out[answer_at]
        for output in self.outputs.get(answer_at, []):
            if output.output_type == "error":
                why = f"its cell ended with {output.ename}: {output.evalue[:200]}"
        record = f"There was no function `{check.task.name}` to check: {why}."
        return no_points(check.variant, "error", record)

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What each graded cell came to, once all have been run."""
        return tuple(self._mark(cell) for cell in self.cells if is_graded(cell))

    def _mark(self, cell: NotebookNode) -> Mark:
        name, best = grade_id(cell), _worth(cell)
        if name in self.examiner.plain:
            test = self.tested.get(name) or Tested(0.0, "stopped", "It was not reached, or ended its process.")
            return Mark(task_id(name), name, round(best * test.share, 4), best, test.verdict, message=test.message)
        if is_solution(cell) or self.checks.get(name) is None:
            # nbgrader's rule: a written answer that nobody touched earns nothing, any other waits for a person.
            empty = is_solution(cell) and name in self.rebuilt.untouched
            message = "No response." if empty else ""
            return Mark(task_id(name), name, 0.0 if empty else None, best, "by hand", message=message)
        if name in self.failed_on:
            return Mark(task_id(name), name, None, best, "by hand", message=self.failed_on[name])
        result = self.results.get(name)
        if result is None:
            return Mark(task_id(name), name, 0.0, best, "stopped", message="It was not reached.")
        share = result.points / result.max_points if result.max_points else 0.0
        points = round(best * share, 4)
        return Mark(
            result.task_id, name, points, best, result.verdict, result.diagnosis, result.message, result.variant
        )

    def notebook(self) -> NotebookNode:
        """The notebook with its outputs, and what the judge said where the checks stand."""
        count = 0
        for at, cell in enumerate(self.cells):
            if cell.cell_type != "code":
                continue
            count += 1
            cell.execution_count = count
            result = self.results.get(grade_id(cell))
            if result is None:
                cell.outputs = self.outputs.get(at, [])
                if grade_id(cell) in self.failed_on:
                    cell.outputs = as_outputs([{"output_type": "stream", "text": self.failed_on[grade_id(cell)]}])
                continue
            # No kernel runs here, and nbgrader reads the points.
            data = {**result._repr_mimebundle_(), "text/plain": repr(result)}
            best = _worth(cell)
            if result.max_points != best and result.max_points:
                data["text/plain"] = repr(round(best * result.points / result.max_points, 4))
            record = {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": count}
            cell.outputs = [nbformat.from_dict(record)]
        note = {"cell_type": "markdown", "id": "about-this-submission", "metadata": {}, "source": self._summary()}
        self.rebuilt.notebook.cells.insert(0, nbformat.from_dict(note))
        return self.rebuilt.notebook

    def _summary(self) -> str:
        """What stands above the notebook: each task in a line, and what was left out or stopped."""
        lines = []
        for mark in self.marks:
            verdict = HEADLINES.get(mark.verdict, "Read by a person")
            points = "" if mark.points is None else f", {mark.points:g} of {mark.max:g} points"
            named = f" ({', '.join(mark.diagnosis)})" if mark.diagnosis else ""
            lines.append(f"* `{mark.task}` {verdict}{points}{named}")
        remark_lines = ["", "What was left out or stopped:", "", *(f"* {_plain(remark)}" for remark in self.remarks)]
        return "\n".join(["**About this submission**", "", *lines, *(remark_lines if self.remarks else [])])


def _worth(cell: NotebookNode) -> float:
    return float(cell.metadata.nbgrader.get("points", 0))


def _verdict_of(why: str) -> str:
    return "timeout" if "time" in why else "stopped"


def _ended(why: str) -> str:
    return f"Your code was stopped here: {why}."


def _plain(text: str) -> str:
    """Text for a markdown cell: no HTML, no links."""
    for sign in "\\`*_{}[]<>#|":
        text = text.replace(sign, "\\" + sign)
    return text
