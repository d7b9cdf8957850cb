"""A known mistake is an edit of the published solution, which then gives what the mistake's switch gives.

``published.py`` here is the tests' own module of that name; the library's is ``softlookup.checks.published``.
"""

import contextlib
import io
import warnings

import numpy as np
import pytest

from published import ALL_TASKS
from softlookup.checks import get_task
from softlookup.checks import published as library
from softlookup.checks.answers import to_arrays
from softlookup.checks.compare import same
from softlookup.checks.home import HOME_SEED
from softlookup.checks.judge import draw
from softlookup.checks.limits import calm_torch
from softlookup.checks.oracle import mistaken, wanted
from softlookup.checks.probe import called, inputs_for
from softlookup.checks.texts import to_texts

OTHERWISE = {
    **dict.fromkeys(
        [
            ("05.heads", "sqrt-of-heads"),
            ("05.heads", "sqrt-of-all-widths"),
            ("05.multi-head", "sqrt-of-share"),
            ("05.multi-head", "sqrt-of-exact-share"),
            ("05.multi-head", "sqrt-of-heads"),
        ],
        "the switch turns float32 into float64, which the edited solution keeps",
    ),
    **dict.fromkeys(
        [("08.cross-attention", "causal-too"), ("90.cross-attention", "causal-too")],
        "a query that sees nothing gives NaN in the edited solution, and zeros with the switch",
    ),
    ("10.write", "log-probabilities"): "the switch takes the logarithm of a share that has lost its digits in float32",
    ("07.encoder", "norm-before-the-stack"): "two ways round differently in float32, by twice the tolerance on a seed",
    **dict.fromkeys(
        [
            ("05.init", "variance-itself"),
            ("13.patches", "channels-last"),
            ("13.contrastive", "scale-inverted"),
            ("13.published", "other-gelu"),
        ],
        "the switch knows the mistake in the public variant alone, where its name is meant",
    ),
}
"""Mistakes for which the two differ, and why; the edited solution is what somebody hands in."""


def by_id(task):
    return task.id


def given(task, function, case):
    """What a function gives for a case; None where it raises an exception."""
    inputs = inputs_for(case)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            result = called(function, case, inputs)
            return (to_texts if case.frame == "text" else to_arrays)(result, len(task.returns))
    except Exception:
        return None


def differing(task, seeds, variants):
    """The slugs of mistakes whose edit gives something else than their switch, on some case."""
    found = set()
    for number in variants:
        constants = task.variants[number]
        cases = [case for seed in seeds for case in draw(task, seed, number) if not case.gradients]
        for mistake in task.mistakes:
            if mistake.symptom is not None:
                continue
            try:
                function = library.answer(task, (mistake.slug,), constants)
            except library.NoEdit:
                assert number > 0, f"{mistake.slug} cannot be planted"
                continue
            for case in cases:
                edited, switched = given(task, function, case), mistaken(task, {mistake.slug}, case, constants)
                agree = edited is not None and switched is not None and same(edited, switched, case)
                if agree and case.keeps_dtype:
                    agree = edited[0].dtype == switched[0].dtype
                if not agree and not (edited is None and switched is None):
                    found.add(mistake.slug)
    return found


@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_published_solution_gives_what_the_oracle_gives(task):
    for number, constants in enumerate(task.variants):
        function = library.answer(task, (), constants)
        for case in draw(task, HOME_SEED, number):
            if not case.gradients:
                with calm_torch():
                    answer = given(task, function, case)
                assert answer is not None and same(answer, wanted(task, case, constants), case), case.label


@pytest.mark.parametrize("task", ALL_TASKS[::5], ids=by_id)
def test_planted_mistake_gives_what_its_switch_gives(task):
    with calm_torch():
        assert {one for one in differing(task, [HOME_SEED], [0]) if (task.id, one) not in OTHERWISE} == set()


@pytest.mark.slow
@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_planted_mistake_gives_what_its_switch_gives_in_every_variant(task):
    with calm_torch():
        found = differing(task, [HOME_SEED, 1, 2], range(len(task.variants)))
    assert found == {slug for task_id, slug in OTHERWISE if task_id == task.id}


def test_mistakes_that_do_not_fit_in_together_are_refused():
    scale = get_task("04.scale")
    with pytest.raises(library.NoEdit, match="which is not there"):
        library.planted(scale, ("no-sqrt", "divided-by-width"))
    with pytest.raises(library.NoEdit, match="together are no Python"):
        library.planted(get_task("00.error"), ("root", "halved"))
