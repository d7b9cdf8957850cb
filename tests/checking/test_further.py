"""Further questions: a name holds on inputs from another seed, too, and an ignored argument is known by a trial."""

import numpy as np
import pytest
import torch

from published import edited
from softlookup_inside.asking.probe import TimeIsUp
from softlookup_judge import check, get_task
from softlookup_judge.checking.judge import ask, judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.mistake_results import MistakeResults
from softlookup_judge.judging.questions import HOME_SEED, questions, questions_at_home
from softlookup_judge.mistakes.habits import is_slip, says
from softlookup_judge.naming.diagnose import MOST_RECORDED
from softlookup_judge.naming.further import ignored_argument
from softlookup_judge.naming.verdict import SAME_AS_HABIT

LIMIT = "budget, most)\n        tokens"


@pytest.mark.parametrize("limit", ["3", "99", "many", "len(requests)"])
def test_an_argument_that_is_ignored_is_named_and_no_slip_that_gives_the_same_by_chance(limit):
    result = check("16.simulate", edited("16.simulate", [(LIMIT, f"budget, {limit})\n        tokens")]))
    assert result.diagnosis == ("habit:ignored:most",), result.text()
    assert result.sentences[0] == says("habit:ignored:most") and SAME_AS_HABIT not in result.sentences


def test_what_stays_the_same_is_no_slip_in_code():
    assert not is_slip("habit:ignored:most") and is_slip("habit:root-missing#2")


@pytest.mark.parametrize("task_id", ["04.scale", "04.softmax-backward", "10.draw", "16.cost"])
def test_an_argument_that_is_used_is_not_called_ignored(task_id):
    """A right answer uses all its arguments, and so does one whose result is changed at the end."""
    task, solution = get_task(task_id), answer(variant_of(get_task(task_id)), ())

    def changed(*args):
        results = solution(*args)
        return tuple(2 * r + 1 for r in results) if isinstance(results, tuple) else 2 * results + 1

    variant, task_questions = variant_of(task), questions_at_home(variant_of(task))
    for function in (solution, changed):
        student = LocalStudent(variant, function)
        rounds = ask(variant, student, task_questions)
        assert ignored_argument(variant, student, rounds, MistakeResults()) == []


def test_an_answer_that_depends_on_nothing_ignores_no_argument_by_name():
    assert not any("ignored" in slug for slug in check("04.mix", lambda weights, v: torch.zeros(1)).diagnosis)


def like_a_mistake_at_home(task_id, slug, elsewhere):
    """An answer that gives what a mistake gives in the questions that a check asks, and something else elsewhere."""
    variant = variant_of(get_task(task_id))
    wrong = answer(variant, (slug,))
    asked_inputs = {case.args[0].tobytes() for case in questions_at_home(variant).cases}

    def student(x, *args):
        return wrong(x, *args) if x.detach().numpy().tobytes() in asked_inputs else elsewhere(x, *args)

    return student


def test_a_mistake_is_not_named_where_further_answers_differ():
    student = like_a_mistake_at_home("04.scale", "no-sqrt", lambda scores, head_width: scores / head_width**0.25)
    result = check("04.scale", student)
    assert result.verdict == "wrong" and "no-sqrt" not in result.diagnosis, result.text()


def test_points_are_the_same_where_further_questions_raise_or_take_too_long():
    def ends(*_):
        raise TimeIsUp

    def raises(*_):
        raise ZeroDivisionError

    for elsewhere in (ends, raises):
        result = check("04.scale", like_a_mistake_at_home("04.scale", "no-sqrt", elsewhere))
        assert (result.verdict, result.points) == ("wrong", 0.0) and "no-sqrt" not in result.diagnosis, result.text()


def test_mistakes_that_change_the_same_place_are_no_pair():
    variant, results = variant_of(get_task("18.paged")), MistakeResults()
    assert results.touch(variant, "sum-not-rescaled", "neither-rescaled")
    assert results.touch(variant, "scale-forgotten", "scaled-twice")
    assert not results.touch(variant, "sum-not-rescaled", "scale-forgotten")


@pytest.mark.slow
def test_the_search_among_parallel_programs_ends_after_so_many_runs():
    variant = variant_of(get_task("19.two-by-two"))
    task_questions = questions(variant, HOME_SEED)
    solution = answer(variant, ())

    def student(*args):
        losses, *weights = solution(*args)
        return (1.37 * losses + 0.011, *weights)

    result = judge(variant, LocalStudent(variant, student), task_questions=task_questions)
    tried = {slugs for slugs, _ in task_questions.mistake_results.mistakes}
    assert result.verdict == "wrong" and not result.diagnosis
    assert len([slugs for slugs in tried if len(slugs) == 2]) <= MOST_RECORDED
    assert len([slugs for slugs in tried if slugs[0].startswith("habit:")]) <= MOST_RECORDED


@pytest.mark.slow
def test_the_same_is_named_in_grading_as_at_home():
    """Further questions have a seed of their own, whatever seed a run has."""
    variant = variant_of(get_task("16.simulate"))
    function = edited("16.simulate", [(LIMIT, "budget, 99)\n        tokens")])
    for seed in (1, 2):
        drawn = questions(variant, seed, shuffled=True)
        result = judge(variant, LocalStudent(variant, function), task_questions=drawn, reveals=False)
        assert result.diagnosis == ("habit:ignored:most",), result.text()


def test_a_place_in_the_row_is_not_called_a_position_below_zero():
    def positions(real, n_new):
        return torch.from_numpy(np.broadcast_to(np.arange(real.shape[1]), real.shape)[:, -n_new:].copy())

    result = check("10.positions", positions)
    assert result.diagnosis == ("place-in-row",) and "-1" not in result.sentences[0], result.text()
