"""Tasks of chapter 18: variants change code, and kernels that are no function of their inputs are refused."""

import itertools
import random

import pytest

from published import ROOT, constants_of
from softlookup.tiles import jit, tl
from softlookup.tiles.costs import JUDGED_WORK_NS
from softlookup_grader.data.work import Limits
from softlookup_inside.tiles.tracing import record
from softlookup_judge import tasks
from softlookup_judge.authoring import read_solution
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import solution
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.kernels import results, without_numbers
from softlookup_judge.judging.questions import questions_at_home

VARIED = [task for task in tasks(18) if len(constants_of(task)) > 1]


def _text(task, number):
    cells = read_solution(ROOT / "solutions" / "18_kernels.py", {task.id: number}).cells
    return next(cell.source for cell in cells if f"### Task {task.id} ·" in cell.source)


def test_an_expression_stands_in_the_code_as_it_is():
    (product,) = (task for task in VARIED if task.id == "18.product")
    assert "a_at = across * m + rows\n" in solution(variant_of(product, 1))
    assert "stored **column after column**" in _text(product, 1)


def _variant(task_id):
    return variant_of(next(task for task in tasks(18) if task.id == task_id))


def _add(x, y, out, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, a * tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


def _copied(x, y, out, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)


def _without_text(function):
    """A kernel whose text is not to be had: nothing that Triton's compiler refuses is refused of it."""
    function.__code__ = function.__code__.replace(co_filename="<nowhere>")
    return jit(function)


def _with_turn(is_right):
    """A kernel that is right where a function of its arguments, of a list of all launches and a generator says so."""
    launches, rng = [], random.Random(1)

    def kernel(x, y, out, a, n, BLOCK: tl.constexpr):
        launches.append((int(n), int(tl.program_id(0))))
        (_add if is_right(launches, rng) else _copied)(x, y, out, a, n, BLOCK)

    return _without_text(kernel)


def _judged(task_id, kernel):
    variant = _variant(task_id)
    return judge(variant, LocalStudent(variant, kernel))


UNSTEADY_TURNS = {
    "right in 12 programs of 64": lambda launches, rng: len(launches) % 64 < 12,
    "wrong in one launch of ten": lambda launches, rng: rng.random() < 0.97,
    "right when it is first launched": lambda launches, rng: launches.count(launches[-1]) == 1,
    "wrong after a while": lambda launches, rng: len(launches) < 50,
}


@pytest.mark.parametrize("is_right", UNSTEADY_TURNS.values(), ids=list(UNSTEADY_TURNS))
def test_kernel_that_does_something_else_each_time_earns_nothing(is_right):
    result = _judged("18.add", _with_turn(is_right))
    assert (result.verdict, result.points) == ("wrong", 0)
    assert "launched several times, the kernel does something else each time" in result.text()


def test_kernel_that_counts_its_programs_is_refused():
    count = itertools.count()

    def kernel(x, y, out, a, n, BLOCK: tl.constexpr):
        at = next(count) % int(tl.num_programs(0)) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        tl.store(out + at, a * tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)

    result = _judged("18.add", _without_text(kernel))
    assert result.points == 0 and "needs its programs to run in their order" in result.text()


def test_kernel_that_keeps_a_log_is_as_right_as_any():
    assert _judged("18.add", _with_turn(lambda launches, rng: True)).verdict == "pass"


def test_programs_recorded_in_any_order_make_the_same_record():
    case = questions_at_home(_variant("18.add")).cases[0]
    expected = record(jit(_add), case.grid, case.args)
    for _ in range(5):
        got = record(jit(_add), case.grid, case.args, in_any_order=True)
        assert [part.tobytes() for part in got] == [part.tobytes() for part in expected]


def _scalar_by_scalar(x, y, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * n
    numbers = [tl.load(x + first + j) + 0.0 for j in range(n)]
    top, total = numbers[0], 0.0
    for number in numbers:
        top = tl.maximum(top, number)
    for number in numbers:
        total = total + tl.exp(number - top)
    for j in range(n):
        tl.store(y + first + j, tl.exp(numbers[j] - top) / total)


def test_row_on_the_chip_as_scalars_is_too_much_for_it():
    cases = [case for case in questions_at_home(_variant("18.online")).cases if case.limits]
    for case in cases:
        *_, over = results(case, record(_without_text(_scalar_by_scalar), case.grid, without_numbers(case).args))
        assert over[0] == over[1] == 0 < over[2]


def test_all_launches_of_a_notebook_leave_half_of_its_time():
    """A submission whose kernels are as much work as the judge does is graded to its end."""
    launches = sum(len(questions_at_home(_variant(task.id)).cases) for task in tasks(18) if task.id != "18.tile")
    assert launches * JUDGED_WORK_NS / 1e9 < Limits().total_s / 2
