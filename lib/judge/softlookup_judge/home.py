"""``check``: judge an answer in the student's own process, at once."""

import time
import traceback
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from softlookup_inside.asking.calling import inputs_for
from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.probe import Clock, TimeIsUp
from softlookup_inside.asking.source import cell_hash, screen
from softlookup_judge.checking.catalogue import Catalogue, UnknownTask, here
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.own import BAKED, OwnTasks, OwnTasksError
from softlookup_judge.data.result import CheckResult
from softlookup_judge.data.variant import Variant, variant_at, variant_of
from softlookup_judge.helping.helping import Attempts, Hint, next_step, step_for_command, take_note
from softlookup_judge.helping.kept import HelpOnTask
from softlookup_judge.judging.questions import questions_at_home
from softlookup_judge.naming.verdict import no_points, used_shortcut
from softlookup_judge.whole import together

STAGES = ("draw", "ask", "score", "diagnose", "word")
"""The stages of a check in which the judge works: functions of these names."""

TASKS_NEED = ("safetensors", "softlookup", "torch")
"""The modules that Soft Lookup's own tasks are judged with; the extra ``[tasks]`` of this part brings them."""

TIME_LIMIT_S = 10.0
"""How long a student's code may take in one check at home, where the system can tell (not on Windows)."""


def not_callable(variant: Variant, type_name: str) -> CheckResult:
    """The result where something else than a function was handed over."""
    sentence = f"Hand over the function `{variant.task.name}` itself, without calling it: check got {type_name}."
    return no_points(variant, "wrong", sentence)


def too_slow(variant: Variant, seconds: float) -> CheckResult:
    """The result where an answer did not come back."""
    sentence = f"Your function was still running after {seconds:g} s and was stopped. Is there a loop that never ends?"
    return no_points(variant, "timeout", sentence)


def our_mistake(error: Exception) -> str:
    """What to say where the judge itself failed: the student did nothing wrong, and somebody has to know."""
    if isinstance(error, ModuleNotFoundError) and error.name in TASKS_NEED:
        return (
            f"This task is judged with {error.name}, which is not installed here: run "
            '`pip install "softlookup-judge[tasks]"`, then restart Python.'
        )
    return (
        "The grader made a mistake while it judged this task, and the task has no verdict: tell your instructor. "
        f"It ended with {type(error).__name__}{in_stage(error)}."
    )


def in_stage(error: Exception) -> str:
    """In which stage of a check the judge failed, as words for a sentence; empty if it was in none."""
    names = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    stage = next((name for name in names if name in STAGES), "")
    return f" in the stage {stage}" if stage else ""


class Checker:
    """Checks answers and gives help, and knows what happened before: there is one for each kernel."""

    def __init__(
        self,
        catalogue: Catalogue | None = None,
        seconds: float = TIME_LIMIT_S,
        judge: Callable[..., CheckResult] = judge,
    ) -> None:
        self._catalogue, self._seconds, self._judge = catalogue, seconds, judge
        self.attempts: dict[str, Attempts] = defaultdict(Attempts)

    @property
    def catalogue(self) -> Catalogue:
        """The tasks that it knows; an OwnTasksError if a course's own tasks cannot be read."""
        return here() if self._catalogue is None else self._catalogue

    def check(self, task_id: str, obj: Any, variant: int = 0) -> CheckResult:
        """Check an answer (see ``check``)."""
        chosen = self._find(task_id, variant)
        if isinstance(chosen, CheckResult):
            return chosen
        task = chosen.task
        if not callable(obj):
            return not_callable(chosen, type(obj).__name__)
        every = {other: self.attempts[other.id] for other in self.catalogue.tasks(task.chapter)}
        known = {other.id: variant_of(other, tried.variant_number) for other, tried in every.items() if tried.student}
        known[task.id] = chosen
        used = screen(obj, task.barred, frozenset(other.name for other in every if other is not task))
        answer, started = cell_hash(obj), time.monotonic()
        try:
            if used:
                result = used_shortcut(chosen, used)
            else:
                with calm_torch():
                    student = LocalStudent(chosen, obj, known, Clock(self._seconds))
                    result = self._judge(chosen, student, task_questions=questions_at_home(chosen))
        except TimeIsUp:
            result = too_slow(chosen, self._seconds)
        except KeyboardInterrupt:
            sentence = f"You interrupted it after {time.monotonic() - started:.0f} s, while your function was running."
            result = no_points(chosen, "stopped", sentence)
        except Exception as error:  # an exception of the student's is an answer; what comes up to here is ours
            result = no_points(chosen, "error", our_mistake(error))
        variant_text = f", variant={chosen.number}" if chosen.number else ""
        again = f'inputs("{task.id}", {result.question}{variant_text})' if result.asked else ""
        result = replace(result, again=again, answer=answer)
        try:
            with_help = take_note(every[task], chosen, LocalStudent(chosen, obj, known), result)
            sentence = together(every, known, self._seconds) if with_help.verdict == "pass" else ""
            return replace(with_help, sentences=(*with_help.sentences, sentence)) if sentence else with_help
        except (Exception, TimeIsUp):  # what is added must not take the verdict with it
            return result

    def _find(self, task_id: str, index: int) -> Variant | CheckResult:
        """What is asked: the variant of that number, or the result where there is none."""
        try:
            task = self.catalogue.task(task_id)
        except (UnknownTask, OwnTasksError) as error:
            return self._not_to_be_had(task_id, error)
        except ModuleNotFoundError as error:
            return CheckResult(str(task_id), "", 0.0, 0.0, "error", sentences=(our_mistake(error),))
        if (variant := variant_at(task, index)) is not None:
            return variant
        sentence = f"There is no variant {index!r} of this task; it has {len(task.variants)}, counted from 0."
        return no_points(variant_of(task), "error", sentence)

    def _not_to_be_had(self, task_id: str, error: UnknownTask | OwnTasksError) -> CheckResult:
        """The result where there is no such task, or where a course's own tasks cannot be read."""
        if isinstance(error, OwnTasksError):
            return CheckResult(str(task_id), "", 0.0, 0.0, "error", sentences=(f"{error}.",))
        sentences = [f"Did you mean {error.near}?"]
        if self.catalogue.course_tasks == OwnTasks():
            sentences.append(f"A task of your instructor's own needs the release's file {BAKED} beside this notebook.")
        return CheckResult(str(task_id), "", 0.0, 0.0, "unknown", sentences=tuple(sentences))

    def hint(self, task_id: str, variant: int | None = None) -> Hint:
        """Give the next step of help on a task (see ``hint``)."""
        task, attempts = self.catalogue.task(task_id), self.attempts[task_id]
        chosen = variant_at(task, attempts.variant_number if variant is None else variant)
        if chosen is None:
            raise ValueError(f"{task_id} has no variant {variant!r}; it has {len(task.variants)}, counted from 0")
        return next_step(attempts, chosen)

    def hint_for_command(self, task_id: str, variant: int, previous_help: HelpOnTask, again: bool) -> Hint:
        """Give the next step of help on the command line (see ``helping.step_for_command``)."""
        return step_for_command(self.attempts[task_id], self.catalogue.variant(task_id, variant), previous_help, again)

    def inputs(self, task_id: str, index: int, variant: int = 0) -> tuple[Any, ...]:
        """The inputs of one of the questions that ``check`` asks (see ``inputs``)."""
        questions = questions_at_home(self.catalogue.variant(task_id, variant))
        return tuple(inputs_for(questions.cases[index]))


@cache
def kernel_checker() -> Checker:
    """The checker of this kernel."""
    return Checker()


def check(task_id: str, obj: Any, *, variant: int = 0) -> CheckResult:
    """Check an answer and say what is right, what is not, and which mistake it was.

    Args:
        task_id: The task, "04.scale".
        obj: Your function (or class), not the result of calling it.
        variant: Which variant of the task your notebook asks for; it is in the notebook already.

    Returns:
        The result. In a notebook it shows itself; in a terminal ``print(result.text())`` does. A wrong answer, an
        exception in it, an interruption or an unknown task gives a result too, never an exception.

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
    """
    return kernel_checker().inputs(task_id, number, variant)
