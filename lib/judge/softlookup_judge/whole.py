"""The functions of a notebook together, in the published solutions that compose them, with no stand-ins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial, wraps
from typing import Any

from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.numpy_answers import as_tensors
from softlookup_inside.asking.probe import Clock
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.protocols import Student
from softlookup_judge.data.published import composed, names_used
from softlookup_judge.data.result import CheckResult
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant, variant_of
from softlookup_judge.helping.helping import Attempts
from softlookup_judge.judging.questions import TaskQuestions, questions_at_home


@lru_cache(maxsize=4096)
def parts(task: Task) -> tuple[Task, ...]:
    """The earlier tasks whose functions the published solution of a task calls."""
    if task.prepared is not None:
        return ()
    used = names_used(task)
    return tuple(earlier for earlier in task.earlier if earlier.name in used)


def compositions(tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Those of a notebook's tasks whose published solutions call functions of earlier ones."""
    return tuple(task for task in tasks if parts(task))


class _Alone(LocalStudent):
    """A student to whom nothing is lent."""

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        return ()


def together(attempts: Mapping[Task, Attempts], known: Mapping[str, Variant], seconds: float) -> str:
    """What is said of all functions of a notebook once each is right; empty before, and where none calls another."""
    tasks = tuple(attempts)
    if not all(tried.passed for tried in attempts.values()) or not compositions(tasks):
        return ""
    students = {task.id: tried.student for task, tried in attempts.items()}
    answers = {name: student.obj for name, student in students.items() if isinstance(student, LocalStudent)}
    with calm_torch():
        failing = first_failing(tasks, answers, partial(_Alone, clock=Clock(seconds)), known)
    if failing is None:
        return f"All {len(tasks)} tasks of this notebook are right, and your functions work together."
    return (
        "Each task is right by itself, but your functions do not work together. The published solution of task "
        f"{failing.task_id}, with your functions in it: {failing.message}"
    )


def first_failing(
    tasks: Sequence[Task],
    student_functions: Mapping[str, Any],
    student: Callable[[Variant, Any], Student],
    known: Mapping[str, Variant] | None = None,
) -> CheckResult | None:
    """The verdict on the first composition that is not right with a student's functions in it, on values."""
    for task in compositions(tasks):
        variant = (known or {}).get(task.id) or variant_of(task)
        functions = {
            earlier.name: student_functions[earlier.id] for earlier in task.earlier if earlier.id in student_functions
        }
        if task.frame == "torch":
            functions = {name: _in_torch(function) for name, function in functions.items()}
        composition = composed(variant, functions)
        result = judge(variant, student(variant, composition), task_questions=_values(variant))
        if result.verdict != "pass":
            return result
    return None


@lru_cache(maxsize=8)
def _values(variant: Variant) -> TaskQuestions:
    """The questions of a check at home that ask for values, whatever the way to them."""
    questions = questions_at_home(variant)
    valued = [
        (case, expected) for case, expected in zip(questions.cases, questions.rights, strict=True) if not case.gradients
    ]
    return TaskQuestions(
        tuple(replace(case, fed=None) for case, _ in valued), tuple(expected for _, expected in valued)
    )


def _in_torch(student_function: Any) -> Any:
    """A student's function whose numpy arrays come back as tensors."""
    if isinstance(student_function, type):
        return student_function

    @wraps(student_function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return as_tensors(student_function(*args, **kwargs), (*args, *kwargs.values()))

    return call
