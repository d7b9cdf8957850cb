"""What each chapter promises of its tasks as a whole: how many, which listed mistakes they know, and variants."""

import re

import pytest

from published import ROOT, constants_of
from softlookup_judge import get_task, tasks
from softlookup_judge.authoring import assignments
from softlookup_judge.checking.catalogue import CHAPTERS

LISTED = {
    5: {*range(15, 27)},
    6: {*range(27, 39), 70, 71},
    7: {*range(39, 48), 57, 58, 85},
    8: {*range(48, 61)},
    9: {*range(61, 70)},
    10: {*range(70, 78), 82, 83},
    11: {78, 80, 81},
    12: {*range(78, 85)},
    13: {85},
}
"""The numbers, in the course's list of misconceptions, of those that some task of a chapter knows."""
LEAST = {9: 16, 11: 8, 12: 10, 14: 9}
"""How many tasks a chapter has at least."""
VARIED = {4: 2, 5: 2, 6: 3, 7: 3, 8: 2, 9: 2, 10: 2, 11: 2, 12: 2, 13: 2, 14: 2, 18: 6, 19: 6}
"""How many of its tasks have variants at least."""


@pytest.mark.parametrize("chapter", LISTED)
def test_every_listed_mistake_is_known_to_some_task(chapter):
    assert LISTED[chapter] <= {mistake.number for task in tasks(chapter) for mistake in task.mistakes}


@pytest.mark.parametrize("chapter", LEAST)
def test_chapter_has_so_many_tasks(chapter):
    assert len(tasks(chapter)) >= LEAST[chapter]


@pytest.mark.parametrize("chapter", sorted(CHAPTERS))
def test_variants_differ_in_what_their_text_says(chapter):
    name = next(name for name in assignments(ROOT) if name.startswith(f"{chapter:02d}_"))
    source = (ROOT / "solutions" / f"{name}.py").read_text(encoding="utf-8")
    varied = [task for task in tasks(chapter) if len(constants_of(task)) > 1]
    assert len(varied) >= VARIED.get(chapter, 0)
    for task in varied:
        keys = re.findall(rf"\[\[{re.escape(task.id)}:(\w+)\]\]", source)
        texts = {tuple(str(constants[key]) for key in keys) for constants in constants_of(task)}
        assert len(texts) == len(constants_of(task)), task.id


def test_mistake_of_published_weights_is_known_to_two_tasks():
    for task_id in ("13.kernel", "13.published"):
        assert 85 in {mistake.number for mistake in get_task(task_id).mistakes}


def test_tasks_that_ask_for_a_test_come_last():
    tests = ["09.find-leak", "09.find-shift", "09.find-padding", "09.find-dropout"]
    assert [task.id for task in tasks(9)][-4:] == tests
