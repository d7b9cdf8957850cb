"""Variants with conventions: the published answer is wrong there and known as that, the carried-over one is right."""

import itertools
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from published import ROOT
from softlookup_inside.asking.calm import calm_torch
from softlookup_judge import check, get_task, tasks
from softlookup_judge.authoring import read_solution
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.conventions import MOST, Convention, conventions
from softlookup_judge.data.copies import is_copy
from softlookup_judge.data.published import answer, in_variant, mutant_source, solution
from softlookup_judge.data.rewriting import NotCarriedOver, carried_over
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import HOME_SEED

VARIED = [pytest.param(task, id=task.id) for task in tasks() if task.conventions]


def verdict(task, variant, function, seed=HOME_SEED):
    task_variant = variant_of(task, variant)
    with calm_torch():
        return judge(
            task_variant,
            LocalStudent(task_variant, function),
            seed=seed,
            copied=partial(is_copy, task_variant, function.__code__),
        )


def numbers(task):
    return [number for number, convention in enumerate(task.conventions) if convention is not None]


@pytest.mark.one_in(44)
@pytest.mark.parametrize(
    ("task", "variant"),
    [pytest.param(task, number, id=f"{task.id}-{number}") for task in tasks() for number in numbers(task)],
)
def test_published_answer_is_wrong_under_a_convention_and_its_own_answer_right(task, variant):
    result = verdict(task, variant, answer(variant_of(task, variant), ()))
    assert (result.verdict, result.points) == ("pass", task.points), result.text()
    copied = verdict(task, variant, answer(variant_of(task)))
    assert copied.verdict != "pass" and copied.diagnosis == ("other-variant",), copied.text()


@pytest.mark.slow
@pytest.mark.parametrize("task", VARIED)
def test_known_mistakes_are_rejected_under_a_convention(task):
    for variant, mistake in itertools.product(numbers(task)[:2], task.mistakes):
        try:
            wrong = answer(variant_of(task, variant), (mistake.slug,))
        except (ValueError, SyntaxError):
            continue
        result = verdict(task, variant, wrong)
        assert result.verdict != "pass", f"{mistake.slug}: {result.text()}"


def test_at_least_120_tasks_have_eight_variants_besides_the_published_one():
    assert sum(len(task.variants) > 8 for task in tasks()) >= 120


def test_variants_of_a_task_differ_from_each_other():
    for task in tasks():
        both = zip(task.variants, task.conventions or [None] * len(task.variants), strict=True)
        assert len({(str(constants), convention) for constants, convention in both}) == len(task.variants), task.id


def test_conventions_are_the_same_on_every_machine():
    got = conventions("04.mix", 2, ["weights", "v"], 1, {"turned": ["weights", "v"], "results": [0]})
    assert len(got) == MOST and got[:2] == get_task("04.mix").conventions[1:3]
    assert got[0] == Convention(order=(1, 0), turned=(1,), results=(), turned_results=(0,), times=1)


def test_a_question_is_asked_under_the_convention_and_read_back():
    task = get_task("04.backward")
    for variant in range(1, len(task.variants)):
        convention = task.conventions[variant]
        for case in task.cases(np.random.default_rng(1)):
            back = convention.plain(convention.convert_case(case))
            for before, after in zip(case.args, back.args, strict=True):
                np.testing.assert_array_equal(before, after)
        results = tuple(np.full((2, 3), at) for at in range(3))
        for before, after in zip(results, convention.read(convention.returned(results)), strict=True):
            np.testing.assert_array_equal(before, after)


def test_carried_over_source_stays_readable():
    source = 'def mix(weights, v):\n    """Mix."""\n    ### BEGIN SOLUTION\n    return weights @ v\n'
    made = carried_over(source, "mix", Convention((1, 0), (1,), (), (0,)), torch=True)
    assert made == (
        'def mix(v, weights):\n    """Mix. Your notebook changes this: see the text above."""\n'
        "    ### BEGIN SOLUTION\n    v = v.transpose(-2, -1)\n"
        "    return (weights @ v).transpose(-2, -1)\n"
    )


def test_carried_over_results_come_in_their_order():
    source = "def two(a, b):\n    if a:\n        return a, b\n    return pair(a, b)\n"
    made = carried_over(source, "two", Convention(results=(1, 0)), torch=False)
    assert made == (
        "def two(a, b):\n    if a:\n        return b, a\n"
        "    result_1, result_2 = pair(a, b)\n    return result_2, result_1\n"
    )
    assert carried_over("def f(a):\n    return a + 1\n", "f", Convention(times=3), torch=False).endswith(
        "3 * (a + 1)\n"
    )


@pytest.mark.parametrize(
    "source", ["x = 1\n", "def f(a):\n    return f(a)\n", "def f(a):\n    if a: return g(a)\n    return a, a\n"]
)
def test_carrying_over_refuses_what_it_cannot_read(source):
    with pytest.raises(NotCarriedOver):
        carried_over(source, "f", Convention(results=(1, 0)), torch=False)


def test_a_mistake_is_planted_before_its_answer_is_carried_over():
    task = get_task("04.head")
    variant = next(n for n, convention in enumerate(task.conventions) if convention and convention.turned)
    assert ".transpose(-2, -1)" in mutant_source(variant_of(task, variant), (task.mistakes[0].slug,))
    assert (
        solution(variant_of(task, variant))
        != solution(variant_of(task))
        == in_variant(variant_of(task), solution(variant_of(task)))
    )


def test_notebook_says_what_the_variant_asks_for_and_its_first_line_shows_it():
    task = get_task("04.mix")
    for variant in range(1, len(task.variants)):
        cells = read_solution(ROOT / "solutions" / "04_one_head.py", {task.id: variant}).cells
        text = next(cell.source for cell in cells if "### Task 04.mix ·" in cell.source)
        code = next(cell.source for cell in cells if "def mix(" in cell.source)
        assert text.endswith(variant_of(task, variant).in_words()) and "In your notebook" in text
        names = list(variant_of(task, variant).parameters)
        assert f"def mix({', '.join(names)}):" in code
    public = read_solution(ROOT / "solutions" / "04_one_head.py").cells
    assert not any("In your notebook" in cell.source for cell in public)


def test_a_sound_function_is_lent_under_the_convention_that_was_asked():
    """An answer may call an earlier function that failed: the one that stands in takes what the notebook says."""
    mix = get_task("04.mix")
    variant = next(
        n
        for n, convention in enumerate(mix.conventions)
        if convention and convention.order == (1, 0) and not convention.turned
    )
    turns = bool(mix.conventions[variant].turned_results)
    head = (
        "def one_head(x, w_q, w_k, w_v, mask=None):\n"
        "    q, k, v = x @ w_q, x @ w_k, x @ w_v\n"
        "    s = q @ k.mT / math.sqrt(q.shape[-1])\n"
        "    if mask is not None:\n        s = s.masked_fill(~mask, -math.inf)\n"
        "    a = torch.softmax(s, dim=-1)\n"
        "    if mask is not None:\n        a = a.masked_fill(~mask, 0.0)\n"
        f"    return mix(v, a){'.mT' if turns else ''}\n"
    )
    space = {"math": math, "torch": torch}
    exec(compile("def mix(v, weights):\n    return v\n", "<one cell>", "exec"), space)
    exec(compile(head, "<another>", "exec"), space)
    assert check("04.mix", space["mix"], variant=variant).verdict != "pass"
    result = check("04.head", space["one_head"])
    assert result.verdict == "pass" and "04.mix" in result.text(), result.text()


def test_an_answer_that_overlooks_one_of_several_changes_is_named_as_that():
    """The axes are exchanged as the notebook asks, and the arguments come in the published order."""
    task = get_task("10.top-k")
    several = [
        convention
        for convention in task.conventions
        if convention is not None and convention.order and convention.body != Convention().body
    ]
    convention, variant = several[0], task.conventions.index(several[0])
    partly = carried_over(solution(variant_of(task)), task.name, replace(convention, order=()), torch=True)
    space = {"torch": torch, "math": math}
    exec(partly, space)
    result = check(task.id, space[task.name], variant=variant)
    assert result.verdict != "pass" and result.diagnosis == ("other-variant",), result.text()
