"""Right tasks make a right whole: whatever passes alone passes where the notebook composes it, with nothing lent."""

from functools import cache

import pytest
import torch

from mutants import right_mutants
from published import RIGHT, solutions, world
from softlookup import check
from softlookup_inside.asking.answers import to_arrays
from softlookup_judge import get_task, tasks
from softlookup_judge.checking.catalogue import CHAPTERS
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import variant_of
from softlookup_judge.whole import _Alone, compositions, first_failing, parts
from test_mutation import mutants_of

COARSE = "weights_float32_list"
"""Its weights have seven digits, and a lookup in float64 goes on with them."""

COMPOSING = [chapter for chapter in sorted(CHAPTERS) if compositions(tasks(chapter))]


pytestmark = pytest.mark.usefixtures("verdicts_alone")


@cache
def published_functions(chapter):
    """The published functions, by task."""
    space = world(chapter)
    return {task.id: space[task.name] for task in tasks(chapter)}


def in_its_place(task_id, obj):
    """The first composition that goes wrong with one function in the place of the published one."""
    chapter = get_task(task_id).chapter
    return first_failing(tasks(chapter), {**published_functions(chapter), task_id: obj}, _Alone)


def as_judged(task, obj):
    """Lists and other kinds of numbers are welcome as results; whoever goes on with them needs arrays."""
    if isinstance(obj, type) or task.frame == "text":
        return obj

    def call(*args, **named):
        result = obj(*args, **named)
        if isinstance(result, torch.Tensor):
            floats = [arg.dtype for arg in args if isinstance(arg, torch.Tensor) and arg.is_floating_point()]
            return result.to(floats[0]) if floats and result.is_floating_point() else result
        many = [result] if len(task.returns) == 1 else result
        arrays = tuple(array if isinstance(array, torch.Tensor) else to_arrays(array, 1)[0] for array in many)
        return arrays if len(task.returns) > 1 else arrays[0]

    return call


def used(chapter):
    return {part.id for task in compositions(tasks(chapter)) for part in parts(task)}


def test_the_whole_head_is_made_of_its_parts():
    assert [task.id for task in compositions(tasks(4))] == ["04.head"]
    assert [part.id for part in parts(get_task("04.head"))] == ["04.project", "04.attention"]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("chapter", COMPOSING)
def test_published_functions_make_a_right_whole(chapter):
    assert first_failing(tasks(chapter), published_functions(chapter), _Alone) is None


@pytest.mark.slow
@pytest.mark.one_in(6)
@pytest.mark.parametrize("chapter", COMPOSING)
def test_every_mutant_that_passes_makes_a_right_whole(chapter):
    """One that does not was called right by a check that asks too little: a stand-in would be needed behind it."""
    passing = {(task_id, line) for task_id, line, _ in right_mutants(chapter)}
    tried = [m for m in mutants_of(chapter) if (m.task_id, m.line) in passing and m.task_id in used(chapter)]
    for mutant in tried:
        obj = world(chapter, {get_task(mutant.task_id).slug: mutant.source})[get_task(mutant.task_id).name]
        failing = in_its_place(mutant.task_id, obj)
        assert failing is None, f"{mutant.task_id}, {mutant.line}\n{failing.text()}"


@pytest.mark.slow
@pytest.mark.one_in(16)
@pytest.mark.parametrize("task_id", sorted(task_id for chapter in COMPOSING for task_id in used(chapter)))
def test_right_answers_in_other_words_make_a_right_whole(task_id):
    task = get_task(task_id)
    other = task.notebook.help_texts(task_id).other
    answers = [*RIGHT.get(task_id, ()), *([world(task.chapter, {task.slug: other})[task.name]] if other else [])]
    for obj in (answer for answer in answers if answer.__name__ != COARSE):
        failing = in_its_place(task_id, as_judged(task, obj))
        assert failing is None, f"{getattr(obj, '__name__', obj)}\n{failing.text()}"


def test_a_part_that_is_wrong_is_seen_in_the_whole():
    failing = in_its_place("04.attention", lambda q, k, v, mask=None: torch.softmax(q @ k.mT, -1) @ v)
    assert failing.task_id == "04.head" and failing.verdict != "pass"


def test_the_last_right_task_says_that_all_work_together():
    space = world(4)
    messages = [check(task.id, space[task.name]).message for task in tasks(4)]
    assert not any("work together" in message for message in messages[:-1])
    assert messages[-1].endswith(
        f"All {len(messages)} tasks of this notebook are right, and your functions work together."
    )


@pytest.mark.slow
def test_what_is_right_is_never_said_to_need_a_stand_in():
    """Only functions whose own task has failed are lent, so no panel can call a task right and lend its function."""
    for task in (composition for chapter in COMPOSING for composition in compositions(tasks(chapter))):
        student = LocalStudent(variant_of(task), world(task.chapter)[task.name])
        assert set(student.lendable(sound_too=True)) >= {part.id for part in parts(task) if part.lends and part.reveals}
        assert student.lendable() == ()
    broken = world(4, {"04-softmax": solutions(4)["04-softmax"].replace("/ e.sum", "* e.sum")})
    lent = LocalStudent(variant_of(get_task("04.head")), broken["one_head"]).lendable()
    assert all(check(task_id, broken[get_task(task_id).name]).verdict != "pass" for task_id in lent)
