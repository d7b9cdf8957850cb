"""Two mistakes in one answer: a page, which has pairs as numbers, names them as ``check`` does at home."""

from itertools import combinations

import numpy as np
import pytest
from packs import packed

from softlookup_course.in_page.packing import chosen
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge import get_task
from softlookup_judge.checking.baked import read
from softlookup_judge.data.prints import fits, printed
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import mistaken
from softlookup_judge.judging.questions import questions_at_home
from softlookup_judge.naming.diagnose import diagnose


def rounds(task, slugs, questions):
    """The cases that a page asks, with what code with these mistakes answers."""
    home = questions_at_home(variant_of(task)).cases
    results = [mistaken(variant_of(task), slugs, case) for case in home if not case.gradients]
    pairs = [(case, right) for case, right in zip(questions.cases, questions.rights, strict=True) if not case.gradients]
    return [(case, Answer(arrays), right) for (case, right), arrays in zip(pairs, results, strict=True)]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("chapter", [2, 4, 12])
def test_pairs_of_mistakes_have_the_names_that_they_have_at_home(chapter):
    baked, same, count = read(packed(chapter)), 0, 0
    for task in chosen(chapter):
        page, home = baked.questions[task.id, 0], questions_at_home(variant_of(task))
        known = [mistake.slug for mistake in task.mistakes if mistake.symptom is None]
        for slugs in list(combinations(known, 2))[::9]:
            rows = rounds(task, slugs, page)
            if page.mistake_results.touch(variant_of(task), *slugs):
                continue  # they change the same place, and are no pair
            if all(answer.arrays is None for _, answer, _ in rows):
                continue
            here = diagnose(variant_of(task), rows, page.mistake_results)
            there = diagnose(variant_of(task), rounds(task, slugs, home), home.mistake_results)
            assert here in (there, []), (task.id, slugs)
            same, count = same + (here == there), count + 1
    assert count > 45 and same > 0.85 * count


def test_number_of_results_tells_values_their_order_and_shapes_apart():
    case, rng = Case("", ()), np.random.default_rng(1)
    array = rng.standard_normal((3, 4))
    results = [
        (array,),
        (array + 1e-6,),
        (array.reshape(4, 3),),
        (array[::-1],),
        (np.where(array > 0, np.nan, array),),
        (np.where(array > 0, np.inf, array),),
        (array, np.array(2)),
        (np.array(2), array),
    ]
    numbers = np.array([printed(arrays) for arrays in results])
    for at, arrays in enumerate(results):
        assert fits(arrays, numbers, case).tolist() == [at == other for other in range(len(results))]
    assert fits((array + 1e-13,), numbers, case)[0]
    assert not fits((array,), np.array([np.nan]), case)[0]


@pytest.mark.slow
def test_second_mistake_is_named_after_the_first():
    """An answer that has one mistake wherever there is no mask, and another one where there is."""
    task = get_task("04.attention")
    questions = questions_at_home(variant_of(task))
    known = [mistake.slug for mistake in task.mistakes if mistake.symptom is None]
    named = []
    for first, second in list(combinations(known, 2))[::4]:
        rows = []
        for case, right in zip(questions.cases, questions.rights, strict=True):
            if case.gradients:
                continue
            arrays = mistaken(variant_of(task), (first if case.part == "core" else second,), case)
            rows.append((case, Answer(arrays), right))
        if any(answer.arrays is None for _, answer, _ in rows):
            continue
        named_here = diagnose(variant_of(task), rows, questions.mistake_results)
        named.append(named_here == [first, second])
    assert sum(named) > 3
