"""A mutation run over the solutions: whatever survives must be equal to the solution, with the reason written down."""

import random
from functools import cache

import pytest

from mutants import Mutant, mutants, right_mutants
from published import solutions, world
from softlookup_judge import check, get_task, tasks
from softlookup_judge.checking.catalogue import CHAPTERS
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import variant_of

pytestmark = pytest.mark.usefixtures("verdicts_alone", "no_nudges", "earlier_answers_judged_once")

SEED = 300
SAMPLE = 10
EQUAL = [entry for chapter in sorted(CHAPTERS) for entry in right_mutants(chapter)]


@pytest.fixture
def no_nudges(monkeypatch: pytest.MonkeyPatch) -> None:
    """A nudge asks all questions again; what it says is tested elsewhere."""
    monkeypatch.setattr("softlookup_judge.helping.helping._nudge", lambda *args: "")


@cache
def mutants_of(chapter: int) -> list[Mutant]:
    return [m for task in tasks(chapter) for m in mutants(task.id, solutions(chapter)[task.slug])]


def survives(mutant: Mutant) -> bool:
    """Whether a mutant earns full points at home and in grading."""
    task = get_task(mutant.task_id)
    try:
        obj = world(task.chapter, {task.slug: mutant.source})[task.name]
    except Exception:
        return False  # it does not even define the function
    if check(task.id, obj).verdict != "pass":
        return False
    return all(
        judge(variant_of(task), LocalStudent(variant_of(task), obj), seed=seed).verdict == "pass" for seed in range(3)
    )


def unexplained(chosen: list[Mutant]) -> list[str]:
    known = {(task_id, line) for task_id, line, _ in EQUAL}
    by_task = sorted(chosen, key=lambda mutant: mutant.task_id)  # whose questions are drawn once, but not kept for long
    return [f"{m.task_id}, {m.what}\n{m.source}" for m in by_task if survives(m) and (m.task_id, m.line) not in known]


@pytest.mark.one_in(24)
@pytest.mark.parametrize("chapter", sorted(CHAPTERS), ids="{:02d}".format)
def test_some_mutants_of_each_chapter_are_killed_or_equal(chapter):
    everything = mutants_of(chapter)
    chosen = random.Random(SEED).sample(everything, min(SAMPLE, len(everything)))
    left = unexplained(chosen)
    assert chosen and not left, f"{len(left)} of {len(chosen)} mutants survive:\n" + "\n\n".join(left)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", sorted(CHAPTERS), ids="{:02d}".format)
def test_all_mutants_are_killed_or_equal(chapter):
    everything = mutants_of(chapter)
    left = unexplained(everything)
    assert not left, f"{len(left)} of {len(everything)} mutants survive:\n" + "\n\n".join(left)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_every_explained_mutant_still_exists_and_survives(part):
    """An explanation that explains nothing any more is dropped from the list."""
    by_key: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in (m for chapter in sorted(CHAPTERS) for m in mutants_of(chapter)):
        by_key.setdefault((mutant.task_id, mutant.line), []).append(mutant)
    for task_id, line, reason in EQUAL:
        assert len(reason) > 10
        assert (task_id, line) in by_key, f"{task_id}, {line}: no such mutant"
    for task_id, line, _ in sorted(EQUAL)[part::8]:
        assert any(map(survives, by_key[task_id, line])), f"{task_id}, {line}: it is killed now"
