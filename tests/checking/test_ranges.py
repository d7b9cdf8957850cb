"""Ranges of numbers: a sentence in a task's text, and questions at both ends."""

import math
from dataclasses import replace

import numpy as np
import pytest

from published import ALL_TASKS
from softlookup_inside.asking.case import Case
from softlookup_judge import get_task
from softlookup_judge.data.ranges import at_ends, in_words
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import HOME_SEED, draw

CASES = [
    Case("gradients", (np.array([1.0]), 1.0), gradients=(0,), upstream=np.ones(1)),
    Case("zeros", (np.zeros(2), 1.0)),
    Case("plain", (np.array([-2.0, 0.5], "float32"), 3, [1.0, [4.0]])),
]


def test_the_sentence_says_both_ends():
    assert in_words({}) == ""
    ranges = {"scores": 1e4, "tau": [0.01, 100], "k": [1, math.inf]}
    says = "`scores` up to 10,000 in size; `tau` from 0.01 to 100; `k` 1 or more."
    assert in_words(ranges) == f"Numbers that may come: {says}"


def test_questions_at_the_ends():
    questions = list(at_ends({"x": 1e4, "k": [1, 7], "rows": [1e-3, math.inf]}, ["x", "k", "rows"], False, CASES))
    assert [case.label for case in questions] == [
        "numbers in `x` up to 10,000",
        "`k` = 1",
        "`k` = 7",
        "numbers in `rows` up to 0.001",
    ]
    assert questions[0].args[0].tolist() == [-10_000.0, 2_500.0]
    assert questions[0].args[0].dtype == np.float32
    assert questions[0].tolerance > 1e-3
    assert [case.args[1] for case in questions] == [3, 1, 7, 3]
    assert questions[3].args[2] == [0.00025, [0.001]]


def test_large_arrays_belong_to_the_part_of_that_name():
    (question,) = at_ends({"x": 1e4}, ["x"], True, CASES)
    assert question.part == "large"


def test_a_range_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no core question hands over numbers as 'x'"):
        list(at_ends({"x": 1e4}, ["x"], False, CASES[:2]))
    with pytest.raises(ValueError, match="which are none of"):
        replace(get_task("04.scale"), ranges={"tau": [1, 2]})


@pytest.mark.parametrize("task", [task for task in ALL_TASKS if task.ranges], ids=lambda task: task.id)
def test_every_range_is_asked(task):
    labels = [case.label for case in draw(variant_of(task), HOME_SEED)]
    assert all(any(f"`{name}`" in label for label in labels) for name in task.ranges)
