"""``check``: judge an answer in the student's own process, at once."""

import operator
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

from softlookup.checking.catalogue import Catalogue, UnknownTask, here
from softlookup.checking.help_file import HelpOnTask
from softlookup.checking.helping import Attempts, Hint, next_step, step_for_command, take_note
from softlookup.checking.inside.limits import Clock, calm_torch
from softlookup.checking.inside.probe import TimeIsUp, inputs_for
from softlookup.checking.inside.source import cell_hash, shortcut
from softlookup.checking.judge import judge
from softlookup.checking.local import LocalStudent
from softlookup.checking.own import BAKED, OwnTasks, OwnTasksError
from softlookup.checking.questions import questions_at_home
from softlookup.checking.result import CheckResult
from softlookup.checking.task import Task
from softlookup.checking.variant import Variant, variant_of
from softlookup.checking.verdict import no_points, used_shortcut
from softlookup.checking.whole import compositions, first_failing

STAGES = ("draw", "ask", "score", "diagnose", "word")
"""The stages of a check in which the judge works: functions of these names."""

TIME_LIMIT_S = 10.0
"""How long a student's code may take in one check at home, where the system can tell (not on Windows)."""


def not_callable(variant: Variant, kind: str) -> CheckResult:
    """The result where something else than a function was handed over."""
    sentence = f"Hand over the function `{variant.task.name}` itself, without calling it: check got {kind}."
    return no_points(variant, "wrong", sentence)


def too_slow(variant: Variant, seconds: float) -> CheckResult:
    """The result where an answer did not come back."""
    sentence = f"Your function was still running after {seconds:g} s and was stopped. Is there a loop that never ends?"
    return no_points(variant, "timeout", sentence)


def our_mistake(error: Exception) -> str:
    """What to say where the judge itself failed: the student did nothing wrong, and somebody has to know."""
    return (
        "The grader made a mistake while it judged this task, and the task has no verdict: tell your instructor. "
        f"It ended with {type(error).__name__}{in_stage(error)}."
    )


def in_stage(error: Exception) -> str:
    """In which stage of a check the judge failed, as words for a sentence; empty if it was in none."""
    names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    stage = next((name for name in names if name in STAGES), "")
    return f" in the stage {stage}" if stage else ""


def _number(variant: Any, task: Task) -> int | None:
    """The variant as a number, None if there is no such variant."""
    try:
        number = operator.index(variant)
    except TypeError:
        return None
    return number if 0 <= number < len(task.variants) else None


class Checker:
    """Checks answers and gives help, and knows what happened before: there is one for each kernel.

    Args:
        catalogue: The tasks that it knows; None finds those of this process at the first check.
    """

    def __init__(self, catalogue: Catalogue | None = None) -> None:
        self._catalogue = catalogue
        self._attempts: dict[str, Attempts] = {}

    @property
    def catalogue(self) -> Catalogue:
        """The tasks that it knows.

        Raises:
            OwnTasksError: If a course's own tasks cannot be read.
        """
        return here() if self._catalogue is None else self._catalogue

    def attempts(self, task_id: str) -> Attempts:
        """What happened with a task until now."""
        return self._attempts.setdefault(task_id, Attempts())

    def check(self, task_id: str, obj: Any, variant: int = 0) -> CheckResult:
        """Check an answer (see ``check``)."""
        try:
            task = self.catalogue.task(task_id)
        except UnknownTask as error:
            sentences = [f"Did you mean {error.near}?"]
            if self.catalogue.course_tasks == OwnTasks():
                needs = f"A task of your instructor's own needs the release's file {BAKED} beside this notebook."
                sentences.append(needs)
            return CheckResult(str(task_id), "", 0.0, 0.0, "unknown", sentences=tuple(sentences))
        except OwnTasksError as error:
            return CheckResult(str(task_id), "", 0.0, 0.0, "error", sentences=(f"{error}.",))
        number = _number(variant, task)
        if number is None:
            sentence = f"There is no variant {variant!r} of this task; it has {len(task.variants)}, counted from 0."
            return no_points(variant_of(task), "error", sentence)
        task_variant = variant_of(task, number)
        if not callable(obj):
            return not_callable(task_variant, type(obj).__name__)
        tasks = self.catalogue.tasks(task.chapter)
        known = {**self._known(tasks), task.id: task_variant}
        result = _judged(task_variant, obj, tasks, known)
        named = f", variant={number}" if number else ""
        again = f'inputs("{task.id}", {result.question}{named})' if result.asked else ""
        result = replace(result, again=again, answer=cell_hash(obj))
        try:
            student = LocalStudent(task_variant, obj, known)
            return self._whole(tasks, known, take_note(self.attempts(task.id), task_variant, student, result))
        except (Exception, TimeIsUp):  # what is added must not take the verdict with it
            return result

    def hint(self, task_id: str, variant: int | None = None) -> Hint:
        """Give the next step of help on a task (see ``hint``)."""
        task, attempts = self.catalogue.task(task_id), self.attempts(task_id)
        number = attempts.number if variant is None else _number(variant, task)
        if number is None:
            raise ValueError(f"{task_id} has no variant {variant!r}; it has {len(task.variants)}, counted from 0")
        return next_step(attempts, variant_of(task, number))

    def hint_for_command(self, task_id: str, variant: int, shown: HelpOnTask, again: bool) -> Hint:
        """Give the next step of help on the command line (see ``helping.step_for_command``)."""
        return step_for_command(self.attempts(task_id), self.catalogue.variant(task_id, variant), shown, again)

    def inputs(self, task_id: str, number: int, variant: int = 0) -> tuple[Any, ...]:
        """The inputs of one of the questions that ``check`` asks (see ``inputs``)."""
        questions = questions_at_home(self.catalogue.variant(task_id, variant))
        return tuple(inputs_for(questions.cases[number]))

    def _known(self, tasks: Sequence[Task]) -> dict[str, Variant]:
        """Which variants the notebook asks for, as its checks have said."""
        every = {task: self.attempts(task.id) for task in tasks}
        return {task.id: variant_of(task, tried.number) for task, tried in every.items() if tried.student is not None}

    def _whole(self, tasks: Sequence[Task], known: Mapping[str, Variant], result: CheckResult) -> CheckResult:
        """Where this was the last task of its notebook to be right, the same with a sentence on all functions."""
        every = {other.id: self.attempts(other.id) for other in tasks}
        if not compositions(tasks) or not all(tried.passed for tried in every.values()):
            return result
        students = {name: tried.student for name, tried in every.items()}
        answers = {name: student.obj for name, student in students.items() if isinstance(student, LocalStudent)}
        with calm_torch():
            failing = first_failing(tasks, answers, partial(_Alone, clock=Clock(TIME_LIMIT_S)), known)
        if failing is None:
            sentence = f"All {len(every)} tasks of this notebook are right, and your functions work together."
        else:
            sentence = (
                "Each task is right by itself, but your functions do not work together. The published solution of task "
                f"{failing.task_id}, with your functions in it: {failing.message}"
            )
        return replace(result, sentences=(*result.sentences, sentence))


def _judged(variant: Variant, obj: Any, tasks: Sequence[Task], known: Mapping[str, Variant]) -> CheckResult:
    """The verdict on an answer that can be called.

    Args:
        variant: What is asked.
        obj: The answer.
        tasks: The tasks of its notebook.
        known: Which variants the notebook asks for, as far as that is known.
    """
    others = frozenset(other.name for other in tasks if other is not variant.task)
    if used := shortcut(obj, variant.task.barred, others):
        return used_shortcut(variant, used)
    started = time.monotonic()
    try:
        with calm_torch():
            student = LocalStudent(variant, obj, known, Clock(TIME_LIMIT_S))
            return judge(variant, student, task_questions=questions_at_home(variant))
    except TimeIsUp:
        return too_slow(variant, TIME_LIMIT_S)
    except KeyboardInterrupt:
        sentence = f"You interrupted it after {time.monotonic() - started:.0f} s, while your function was running."
        return no_points(variant, "stopped", sentence)
    except Exception as error:  # an exception of the student's is an answer; what comes up to here is ours
        return no_points(variant, "error", our_mistake(error))


@cache
def kernel_checker() -> Checker:
    """The checker of this kernel."""
    return Checker()


class _Alone(LocalStudent):
    """A student to whom nothing is lent."""

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        return ()


def check(task_id: str, obj: Any, *, variant: int = 0) -> CheckResult:
    """Check an answer and say what is right, what is not, and which mistake it was.

    Args:
        task_id: The task, "04.scale".
        obj: Your function (or class), not the result of calling it.
        variant: Which variant of the task your notebook asks for; it is in the notebook already.

    Returns:
        The result. In a notebook it shows itself; in a terminal ``print(result.text())`` does. A wrong answer, an
        exception in it, an interruption or an unknown task gives a result too, never an exception.

    Book: 00_before_you_start_running.html#before-check.

    >>> check("04.spread", lambda head_width, sigma_q, sigma_k: head_width**0.5 * sigma_q * sigma_k).verdict
    'pass'
    """
    return kernel_checker().check(task_id, obj, variant)


def hint(task_id: str, *, variant: int | None = None) -> Hint:
    """Give the next step of help on a task: a nudge, the formula, a worked example, one solution.

    Args:
        task_id: The task, "04.scale".
        variant: Which variant of the task your notebook asks for; None takes that of the last check.

    Returns:
        The step, which shows itself in a notebook. What was asked for is kept with the next verdict. Once the task is
        right, it shows the published answer and another way to write it.

    Raises:
        UnknownTask: If there is no such task.
        ValueError: If the task has no such variant.

    Book: 00_before_you_start_running.html#before-check.
    """
    return kernel_checker().hint(task_id, variant)


def inputs(task_id: str, number: int, variant: int = 0) -> tuple[Any, ...]:
    """The inputs of one of the questions that ``check`` asks, as a student's function gets them.

    Args:
        task_id: The task, "04.scale".
        number: Which question, counted from 0; a verdict on an answer without a known mistake names it.
        variant: Which variant of the task.

    Returns:
        The arguments: tensors, arrays, numbers or text.

    Raises:
        UnknownTask: If there is no such task.
        IndexError: If there is no such question.

    Book: 00_before_you_start_running.html#before-check.
    """
    return kernel_checker().inputs(task_id, number, variant)
