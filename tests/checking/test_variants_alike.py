"""A variant is graded as variant 0 is: the same answer earns the same, and one mistake costs no more."""

from functools import cache

import pytest

from published import ROOT
from softlookup_inside.asking.calm import calm_torch
from softlookup_judge import get_task, tasks
from softlookup_judge.authoring import assignments, draw_variants, read_solution
from softlookup_judge.checking.catalogue import CHAPTERS
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import NoEdit, mutant_source, names_used
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import HOME_SEED, questions

SEEDS = (None, "spring", "summer", "autumn")
"""The public course, and three with a secret."""


@cache
def asked_by(seed):
    return draw_variants(seed)


@cache
def cells(chapter, seed):
    """The graded code cells of a course's notebook, in order, by grade_id."""
    name = next(name for name in assignments(ROOT) if name.startswith(f"{chapter:02d}_"))
    source = read_solution(ROOT / "solutions" / f"{name}.py", asked_by(seed))
    return [
        (cell.metadata.nbgrader.grade_id, cell.source)
        for cell in source.cells
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {"grade": True})["grade"]
    ]


def world(chapter, seed, replaced=None):
    """Everything that a course's notebook defines, with one answer replaced."""
    space = {"__name__": "__main__"}
    for name, source in cells(chapter, seed):
        source = (replaced or {}).get(name, source)
        exec(compile(source, f"<{name} {hash(source)}>", "exec"), space)
    return space


@cache
def questions_of(variant):
    return questions(variant, HOME_SEED)


def points(task_id, seed, space):
    known = {other_id: variant_of(get_task(other_id), number) for other_id, number in asked_by(seed).items()}
    variant = known[task_id]
    student = LocalStudent(variant, space[variant.task.name], known)
    with calm_torch():
        return judge(variant, student, task_questions=questions_of(variant), names=False).points


@cache
def leaning_on(task_id):
    """The later tasks of the notebook whose published solutions call a task's function, directly or through others."""
    used, chapter = {get_task(task_id).name}, tasks(get_task(task_id).chapter)
    later_ids = []
    for task in chapter[[other.id for other in chapter].index(task_id) + 1 :]:
        if used & names_used(task):
            used.add(task.name)
            later_ids.append(task.id)
    return tuple(later_ids)


EARLY = [task for chapter in sorted(CHAPTERS) for task in tasks(chapter) if leaning_on(task.id)]


@pytest.mark.one_in(36)
@pytest.mark.parametrize("seed", SEEDS[1:])
@pytest.mark.parametrize("chapter", sorted(CHAPTERS))
def test_the_solution_of_a_variant_earns_everything(chapter, seed):
    space = world(chapter, seed)
    for task in tasks(chapter):
        assert points(task.id, seed, space) == task.points, task.id


def lost(task, slug, seed):
    """What a known mistake costs, by task: its own and all that lean on it; None where it does not fit in."""
    try:
        wrong = mutant_source(variant_of(task, asked_by(seed)[task.id]), (slug,))
    except NoEdit:
        return None
    space = world(task.chapter, seed, {task.slug: wrong})
    return {
        task_id: get_task(task_id).points - points(task_id, seed, space) for task_id in (task.id, *leaning_on(task.id))
    }


def assert_costs_the_same(task, slugs, seeds):
    for slug in slugs:
        public = lost(task, slug, None)
        for seed in seeds:
            assert lost(task, slug, seed) in (public, None), f"{slug} under {seed!r}"


@pytest.mark.one_in(24)
@pytest.mark.parametrize("task", EARLY, ids=lambda task: task.id)
def test_a_mistake_in_an_early_task_costs_what_it_costs_in_variant_0(task):
    assert_costs_the_same(task, [task.mistakes[0].slug], SEEDS[1:2])


@pytest.mark.slow
@pytest.mark.parametrize("task", EARLY, ids=lambda task: task.id)
def test_every_mistake_in_an_early_task_costs_what_it_costs_in_variant_0(task):
    assert_costs_the_same(task, [mistake.slug for mistake in task.mistakes], SEEDS[1:])
