"""Questions on answers that hang or end their process once a line is changed: bounded in time, and said what is cut."""

import time
from dataclasses import replace

import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, ROOT

from softlookup_course.samples.handins import answers, filled
from softlookup_course.viva.running import VivaExaminer
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_judge.authoring import read_solution

pytestmark = NEEDS_SANDBOX
TOTAL_S = 16.0
BEFORE = "    n = 0\n    while n < 3:\n        n = n + 1\n    if n > 3:\n        {}\n    return "
HANGS, ENDS = BEFORE.format("__import__('time').sleep(500)"), BEFORE.format("__import__('os')._exit(0)")
SHORT = ("04-scores", "04-scale", "04-softmax")
"""Answers with one return."""


@pytest.fixture(scope="module")
def release():
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def examiner(release):
    limits = Limits(cell_s=2, answer_s=1, total_s=TOTAL_S)
    with VivaExaminer(RunSettings(NAME, nbformat.writes(release), 7, limits=limits)) as examiner:
        yield examiner


def run(examiner, release, spoilt, before):
    """The tasks that can be asked about, what is said of the others, and the seconds that it took."""
    right = answers(read_solution(ROOT / "solutions" / f"{NAME}.py"))
    texts = {name: right[name] for name in SHORT}
    for name in spoilt:
        assert texts[name].count("    return ") == 1
        texts[name] = texts[name].replace("    return ", before)
    sentences, begun = [], time.monotonic()
    submission = nbformat.writes(filled(release, texts)).encode()
    trials = examiner.trials("eve", submission, 14, say=sentences.append)
    return {trial.check.task.id for trial in trials}, sentences, time.monotonic() - begun


def test_nothing_is_said_of_answers_that_come_to_an_end(examiner, release):
    tasks, sentences, _ = run(examiner, release, (), "")
    assert tasks == {"04.scores", "04.scale", "04.softmax"} and sentences == []


@pytest.mark.slow
def test_answers_that_hang_once_they_are_edited_are_bounded_in_time(examiner, release):
    tasks, sentences, seconds = run(examiner, release, SHORT, HANGS)
    assert seconds < TOTAL_S + 10
    assert all(name.replace("-", ".") in {*tasks, *" ".join(sentences).replace(",", "").split()} for name in SHORT)


def test_each_task_that_a_students_time_did_not_reach_is_named(examiner, release, monkeypatch):
    settings = examiner.assignment.settings
    short = replace(settings, limits=replace(settings.limits, total_s=2.0))
    monkeypatch.setattr(examiner.assignment, "settings", short)
    tasks, sentences, seconds = run(examiner, release, SHORT, HANGS)
    assert seconds < 2.0 + 10 and any("the time for one student, 2 s for two runs" in text for text in sentences)
    assert all(name.replace("-", ".") in {*tasks, *" ".join(sentences).replace(",", "").split()} for name in SHORT)


def test_an_answer_that_ends_its_process_when_it_is_edited_takes_no_other_one_along(examiner, release):
    tasks, _, seconds = run(examiner, release, ("04-scale",), ENDS)
    assert {"04.scores", "04.softmax"} <= tasks and seconds < TOTAL_S + 10


def test_an_answer_that_always_hangs_is_named_with_the_reason(examiner, release):
    slow = "    __import__('time').sleep(500)\n    return "
    tasks, sentences, _ = run(examiner, release, ("04-scale",), slow)
    assert "04.scale" not in tasks and {"04.scores", "04.softmax"} & tasks
    assert any("04.scale is left out" in text and "did not come to an end in time" in text for text in sentences)


def test_a_notebook_that_ends_its_process_is_said_to(examiner, release):
    ends = "    return 0\n\n\n__import__('os')._exit(0)\n\n\ndef rest():\n    return "
    tasks, sentences, _ = run(examiner, release, ("04-scale",), ends)
    assert not tasks and "a cell of the notebook ended its process" in " ".join(sentences)
