"""An answer that ignores an argument, or takes its usual value for granted, is wrong in some question of every task."""

import inspect
import math
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from published import ALL_TASKS
from softlookup_inside.asking.calm import gradients_as_before
from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.data.compare import same
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant, variant_of
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.judging.questions import HOME_SEED, draw

USUAL = (0, 1, None, True, False, 0.5)
"""Values that somebody takes for granted."""

MOST_S = 1.0
"""Seconds for the right answer to a question with a replaced argument: it may be a loop over a number gone wrong."""

Replacement = Callable[[Case], Any]


@dataclass(frozen=True)
class Gap:
    """An argument that answers may replace by something else without being noticed."""

    task_id: str
    argument: str
    by: str


def gaps(task: Task) -> Iterator[Gap]:
    """The replacements of single numbers among the arguments under which all right answers of a check stay the same.

    The sizes of a kernel's arrays and tiles are not replaced, nor those of a layer, which are its weights'.

    Args:
        task: The task; its published variant is looked at, with the questions of a check at home.
    """
    variant = variant_of(task)
    rounds = [(case, expected_results(variant, case)) for case in draw(variant, HOME_SEED)]
    for at, (name, parameter) in enumerate(task.parameters.items()):
        some = [pair for pair in rounds if len(pair[0].args) > at >= pair[0].sizes]
        if not some or parameter.kind is parameter.VAR_POSITIONAL:
            continue
        cases = [case for case, _ in some]
        if not all(_is_number(case.args[at]) and not (case.grid and type(case.args[at]) is int) for case in cases):
            continue
        ways = _replacements(cases, at, parameter, list(task.parameters))
        yield from (Gap(task.id, name, by) for by, new in ways if _goes_unnoticed(variant, some, at, new))


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float)


def _replacements(
    cases: Sequence[Case], at: int, parameter: inspect.Parameter, names: Sequence[str]
) -> Iterator[tuple[str, Replacement]]:
    """Each value that a number has somewhere, its default, usual values, and what other arguments come to."""
    constants = {repr(value): value for value in [*(case.args[at] for case in cases[:12]), *USUAL]}
    if parameter.default is not parameter.empty:
        constants[repr(parameter.default)] = parameter.default
    for words, value in constants.items():
        yield words, lambda case, value=value: value
    related = [_related(case, at, names) for case in cases]
    for words in sorted(set.intersection(*map(set, related))):
        values = {id(case): numbers[words] for case, numbers in zip(cases, related, strict=True)}
        yield words, lambda case, values=values: values[id(case)]


def _related(case: Case, at: int, names: Sequence[str]) -> dict[str, float]:
    """Numbers that the other arguments of a question have: values, lengths, and one over the roots of lengths."""
    numbers: dict[str, float] = {"the number of ranks": case.world} if case.world else {}
    for position, (name, value) in enumerate(zip(names, case.args, strict=False)):
        if position == at:
            continue
        if isinstance(value, np.ndarray):
            numbers |= {f"{name}.shape[{axis - value.ndim}]": n for axis, n in enumerate(value.shape)}
        elif isinstance(value, list | str | tuple):
            numbers[f"len({name})"] = len(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers[name] = value
    roots = {f"1 / sqrt({words})": 1 / math.sqrt(n) for words, n in numbers.items() if n > 0}
    less = {f"{words} - 1": n - 1 for words, n in numbers.items()}
    return numbers | roots | less


def _goes_unnoticed(variant: Variant, rounds: Sequence[tuple[Case, Arrays]], at: int, replacement: Replacement) -> bool:
    """Whether no question has another right answer with a number replaced."""
    for case, right in rounds:
        new = replacement(case)
        if type(new) is type(case.args[at]) and new == case.args[at]:
            continue
        try:
            with _in_time():
                got = expected_results(variant, replace(case, args=(*case.args[:at], new, *case.args[at + 1 :])))
            if not same(got, right, case):
                return False
        except (Exception, _TimeIsUp):
            return False  # an answer with that number fails, which is noticed
    return True


class _TimeIsUp(BaseException):
    pass


@contextmanager
def _in_time() -> Iterator[None]:
    def ring(signum: int, frame: Any) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    # Again and again: an alarm that falls into a callback of the garbage collector is lost.
    signal.setitimer(signal.ITIMER_REAL, MOST_S, 0.1)
    with gradients_as_before():
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


LENGTH = "by contract a length of another argument"
SIZE = "a model's size, which is that of the weights that it is handed"
UNUSED = "what the right answer leaves aside, which the task asks to see"
RANGE = "ids below which a test may draw its own"
REDUNDANT = {
    ("05.cache", "n_heads"): UNUSED,
    ("09.find-leak", "n_words"): RANGE,
    ("09.find-padding", "n_words"): RANGE,
    ("09.find-shift", "n_words"): RANGE,
    ("10.cache-bytes", "n_heads"): UNUSED,
    ("10.step", "n_kv_heads"): LENGTH,
    ("12.cache", "n_heads"): UNUSED,
    ("15.layers", "n_layers"): LENGTH,
    **{("90.greedy", name): SIZE for name in ("vocab_size", "d_model", "n_heads", "d_hidden", "n_layers")},
    **{("90.train", name): SIZE for name in ("vocab_size", "d_model", "d_hidden")},
}
"""Arguments that may be replaced by something else, and why."""


@pytest.mark.one_in(14)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an alarm in a callback
@pytest.mark.parametrize("task", ALL_TASKS, ids=lambda task: task.id)
def test_no_number_can_be_replaced(task):
    assert [gap for gap in gaps(task) if (gap.task_id, gap.argument) not in REDUNDANT] == []
