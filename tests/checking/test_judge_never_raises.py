"""Whatever a submission sends as its answers, the judge has a verdict, words and a picture, and never a warning."""

import json
import random
import time
import tracemalloc

import numpy as np
import pytest

from published import ALL_TASKS
from raw_answers import JSON_TEXTS, KINDS, WORDS, Sends, sender
from softlookup_inside.asking import texts
from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.probe import Answer, Failure
from softlookup_judge import get_task
from softlookup_judge.checking.judge import judge
from softlookup_judge.data.result import VERDICTS, panel
from softlookup_judge.data.variant import variant_of
from softlookup_judge.home import Checker
from softlookup_judge.judging.oracle import mistaken
from softlookup_judge.judging.questions import questions, questions_at_home

TEXT_TASKS = [task for task in ALL_TASKS if task.frame == "text"]


def judged(task, answers, task_questions, reveals=True):
    """Judge, and make everything that is made of a result."""
    student = answers if isinstance(answers, Sends) else Sends(answers)
    result = judge(variant_of(task), student, task_questions=task_questions, reveals=reveals)
    assert result.verdict in VERDICTS and 0 <= result.points <= task.points
    html = panel(result)
    assert len(html) < 100_000 and "<script" not in html
    assert result._repr_mimebundle_()["text/html"] == html
    json.dumps(result.record(), ensure_ascii=False, allow_nan=False).encode()
    result.text().encode()
    return result


def everywhere(task, arrays, task_questions):
    """The same arrays as the answer to every question."""
    return judged(task, [Answer(arrays)] * (len(task_questions.cases) + 1), task_questions)


def fuzzed(task, count, seed):
    rng = random.Random(f"{task.id} {seed}")
    with calm_torch():
        task_questions = questions_at_home(variant_of(task))  # for which other tests have made known mistakes already
        for number in range(count):
            judged(task, sender(task, task_questions, rng), task_questions, reveals=number % 2 == 0)


@pytest.mark.one_in(48)
@pytest.mark.parametrize("task", ALL_TASKS, ids=lambda task: task.id)
def test_judge_has_a_verdict_on_whatever_is_sent(task):
    fuzzed(task, 16 if task.frame == "text" or task.properties else 2, 0)


@pytest.mark.slow
@pytest.mark.parametrize("task", ALL_TASKS, ids=lambda task: task.id)
def test_judge_has_a_verdict_on_whatever_is_sent_in_the_long_run(task):
    fuzzed(task, 150, 1)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("task", TEXT_TASKS, ids=lambda task: task.id)
def test_text_that_is_written_in_another_way_is_a_wrong_answer_and_has_words(task):
    task_questions = questions(variant_of(task), 3)
    for text in JSON_TEXTS:
        result = everywhere(task, (np.frombuffer(text, np.uint8),) * len(task.returns), task_questions)
        assert result.verdict == "wrong"


def test_text_that_says_the_right_thing_in_other_bytes_cannot_be_read():
    task = get_task("03.words")
    task_questions = questions(variant_of(task), 3)
    for change in (
        lambda raw: raw.replace(b",", b", "),
        lambda raw: raw + b"\n",
        lambda raw: raw.replace(b"a", b"\\u0061"),
    ):
        others = [
            Answer((np.frombuffer(change(right[0].astype(np.uint8).tobytes()), np.uint8),))
            for right in task_questions.rights
        ]
        result = judged(task, [*others, others[0]], task_questions)
        assert result.verdict == "wrong" and "what came back cannot be read" in result.message


def test_text_comes_as_bytes_and_not_as_numbers_near_them():
    task = get_task("03.words")
    task_questions = questions(variant_of(task), 3)
    for dtype, off in ((np.float64, 0.0), (np.float32, 1e-4), (np.int64, 0)):
        others = [Answer(((right[0].astype(dtype) + dtype(off)),)) for right in task_questions.rights]
        assert judged(task, [*others, others[0]], task_questions).verdict == "wrong"


@pytest.mark.parametrize("task", [task for task in ALL_TASKS if task.properties], ids=lambda task: task.id)
def test_properties_of_an_answer_without_cells_say_nothing(task):
    task_questions = questions(variant_of(task), 3)
    for shape in ((0, 3), (3, 0), (0,), (0, 0, 2)):
        assert everywhere(task, (np.zeros(shape),) * len(task_questions.rights[0]), task_questions).verdict == "wrong"


def test_judge_takes_a_lost_dtype_where_none_was_asked_for():
    task = get_task("05.parameters")
    task_questions = questions(variant_of(task), 3)
    known = (mistaken(variant_of(task), (mistake.slug,), task_questions.cases[0]) for mistake in task.mistakes)
    wrong = next(
        results
        for results in known
        if results is not None and not np.array_equal(results[0], task_questions.rights[0][0])
    )
    rest = [Answer(None, Failure("dtype", "lost"))] * len(task_questions.cases)
    assert judged(task, [Answer(wrong), *rest], task_questions).verdict == "wrong"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task_id", ["04.scale", "04.softmax-backward", "03.bpe", "05.shapes"])
def test_judge_has_words_for_every_failure(task_id, kind):
    task = get_task(task_id)
    task_questions = questions(variant_of(task), 3)
    for words in WORDS:
        result = judged(
            task, [Answer(None, Failure(kind, words, words), words)] * (len(task_questions.cases) + 1), task_questions
        )
        assert result.verdict in ("wrong", "blank", "error") and result.points == 0


@pytest.mark.one_in(12)
@pytest.mark.parametrize("task_id", ["04.scale", "04.weights", "13.rollout", "01.recurrent", "03.bpe", "05.shapes"])
def test_judge_is_quick_and_small_with_answers_of_sixteen_megabytes(task_id):
    task = get_task(task_id)
    with calm_torch():
        task_questions = questions(variant_of(task), 3, shuffled=True)
        judged(task, [Answer(None, Failure("raised", "x"))] * (len(task_questions.cases) + 1), task_questions)
        count = len(task_questions.rights[0])
        share = 16_000_000 // count // (len(task_questions.cases) + 1)
        for large in (
            np.full(share, 91, np.uint8),
            np.frombuffer(b"[" + b"1," * (share // 2 - 1) + b"1]", np.uint8),
            np.zeros((2, share // 2), np.int8),
            np.zeros((0, 10**7), np.float64),
            np.zeros((share // 2, 1, 2), bool),
        ):
            tracemalloc.start()
            begun = time.process_time()
            everywhere(task, (large,) * count, task_questions)
            took, (_, most) = time.process_time() - begun, tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert most < 64_000_000 and took < 20, (large.shape, large.dtype, most, took)


def test_largest_text_that_can_be_read_is_dealt_with_in_a_second_or_two():
    inner = ["a" * 40] * 60
    most = texts.to_bytes([inner] * 80)
    begun = time.process_time()
    assert len(texts.difference(most, texts.to_bytes(["b"]))) < 500
    rows = texts.chips_side_by_side(most, texts.to_bytes([["b"]]))
    assert rows is not None and len(rows[0]) == 41 and len(texts.whole(most)) == 2000
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("error", [IndexError("list index"), MemoryError(), RecursionError("deep"), StopIteration()])
def test_check_tells_that_the_judge_failed_and_does_not_raise(error):
    def failing(*args, **named):
        raise error

    result = Checker(judge=failing).check("04.scale", lambda scores, width: scores)
    assert result.verdict == "error" and type(error).__name__ in result.message
    assert "The grader made a mistake" in result.message and "Traceback" not in result.text()
