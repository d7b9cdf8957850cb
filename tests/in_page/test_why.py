"""Questions on a reader's right answer in a page: both programs are run, and the key is what came out."""

import json
import re

import numpy as np
import pytest

from softlookup_course.in_page.why import (
    EFFECTS,
    MOST,
    OTHER,
    SAME,
    SHAPE,
    STOPS,
    can_ask,
    why_questions,
)
from softlookup_inside.asking.probe import run
from softlookup_judge.checking.catalogue import get_task
from softlookup_judge.data.published import answer, solution
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.kernels import settled, without_numbers
from softlookup_judge.judging.questions import questions_at_home

SCORES = "def scores(q, k):\n    return q @ np.swapaxes(k, -1, -2)"
SOFTMAX = (
    "def softmax(x):\n    e = np.exp(x - x.max(axis=-1, keepdims=True))\n    return e / e.sum(axis=-1, keepdims=True)"
)


def in_numpy(task_id):
    from softlookup_course.in_page.packing import _in_numpy

    variant = variant_of(get_task(task_id))
    return variant, [case for each in questions_at_home(variant).cases if (case := _in_numpy(each))]


def drawn(task_id, source, seed=0):
    variant, cases = in_numpy(task_id)
    world = {"np": np}
    exec(source, world)
    return why_questions(variant, source, world, cases, np.random.default_rng(seed))


def line_changed(source, code):
    """The cell whose lines are those that a question shows."""
    rows = [row[5:] for row in code.split("\n") if row[3:4] != "-"]
    return "\n".join(rows)


@pytest.mark.parametrize(("task_id", "source"), [("04.scores", SCORES), ("04.softmax", SOFTMAX)])
def test_the_key_is_what_the_shown_line_gives_on_an_input_of_the_check(task_id, source):
    variant, cases = in_numpy(task_id)
    effects = set()
    for seed in range(4):
        questions = drawn(task_id, source, seed)
        assert 0 < len(questions) <= MOST and questions == drawn(task_id, source, seed)
        for question in questions:
            assert sorted(question["options"]) == sorted(EFFECTS)
            case = next(case for case in cases if f"“{case.label}”" in question["asks"])
            results = []
            for text in (source, line_changed(source, question["code"])):
                world = {"np": np}
                exec(text, world)
                results.append(run(world[variant.task.name], case, 1).arrays)
            before, after = results
            if after is None:
                effect = STOPS
            elif after[0].shape != before[0].shape:
                effect = SHAPE
            else:
                effect = SAME if np.allclose(*before, *after, equal_nan=True) else OTHER
            assert question["options"][question["key"]] == effect
            assert "Before: " in question["right"] and "Changed: " in question["right"]
            effects.add(effect)
        assert len({question["options"][question["key"]] for question in questions}) == len(questions)
    assert len(effects) > 1
    json.dumps(questions)


def test_what_has_no_line_to_change_gives_no_question_and_no_fold():
    for source in (
        "scores = lambda q, k: q @ np.swapaxes(k, -1, -2)",
        "@decorated\ndef scores(q, k):\n    return q @ np.swapaxes(k, -1, -2)",
        "def scores(q, key):\n    return np.exp(q)",
    ):
        assert not can_ask(source, "scores")
    assert can_ask(SCORES, "scores") and drawn("04.scores", "scores = lambda q, k: q @ np.swapaxes(k, -1, -2)") == []


ENDLESS = """
def scores(q, k):
    n = 0
    while n < 1:
        n = n + 1
        n = n * 1
    return n * q @ np.swapaxes(k, -1, -2)
""".strip()


def test_a_change_that_makes_a_loop_endless_is_no_question():
    lines = {
        row
        for seed in range(8)
        for question in drawn("04.scores", ENDLESS, seed)
        for row in question["code"].split("\n")
    }
    assert any(row[3:4] == "+" for row in lines)
    assert not any(row.startswith(" 4 +") and row.endswith("n = n - 1") for row in lines), (
        "it would not come to its end"
    )


@pytest.mark.parametrize("task_id", ["18.add", "18.softmax", "18.product"])
def test_kernels_are_run_and_their_results_compared(task_id):
    variant = variant_of(get_task(task_id))
    source = solution(variant).strip()
    world = dict(answer(variant).function.__globals__)
    exec(compile(source, "<submission>", "exec"), world)
    cases = [case for case in questions_at_home(variant).cases if case.part == "core"][:2]
    effects = set()
    for seed in range(2):
        for question in why_questions(variant, source, world, cases, np.random.default_rng(seed)):
            case = next(case for case in cases if f"“{case.label}”" in question["asks"])
            space = dict(world)
            exec(compile("@jit\n" + line_changed(source, question["code"]), "<changed>", "exec"), space)
            names = variant.input_names(case)
            before, after = (
                settled(case, run(function, without_numbers(case), 2), names).arrays
                for function in (world[variant.task.name], space[variant.task.name])
            )
            same = after is not None and all(map(np.allclose, before, after))
            expected = STOPS if after is None else SAME if same else OTHER
            assert question["options"][question["key"]] == expected
            effects.add(expected)
    assert effects


WORDS = "def words(text):\n    found = text.split()\n    return [word.lower() for word in found if len(word) > 1]"
DOUBLED = "def words(text):\n    start = 40 * text\n    tail = text.upper()\n    return start + tail"


def texts_drawn(source, name, seeds=6):
    variant, cases = in_numpy("03.words")
    source = source.replace("def words", f"def {variant.task.name}")
    world = {"np": np}
    exec(source, world)
    known = questions_at_home(variant).mistake_results
    for seed in range(seeds):
        yield from (
            (variant, cases, world, question)
            for question in why_questions(variant, source, world, cases, np.random.default_rng(seed), known)
        )


def test_options_of_a_question_on_an_answer_of_text_are_texts_that_programs_gave():
    count = 0
    for variant, cases, world, question in texts_drawn(WORDS, "words"):
        count += 1
        options, key = question["options"], question["key"]
        assert 3 <= len(options) <= 4 and len({*options}) == len(options) and options.count(STOPS) == 1
        assert question["codes"] == [at for at, option in enumerate(options) if option != STOPS]
        says = question["right"] + question["asks"] + "".join(options)
        assert "shape" not in says and "numbers" not in says and "text = " in says
        case = next(case for case in cases if f"“{case.label}”" in question["asks"])
        changed = {"np": np}
        exec(line_changed(WORDS, question["code"]), changed)
        try:
            expected = repr(changed[variant.task.name](*case.args))
        except Exception:
            expected = STOPS
        assert options[key] == expected
        assert repr(world[variant.task.name](*case.args)) in options
        assert f"Changed: {expected}" in question["right"] or expected == STOPS
    assert count >= 6


def test_long_texts_that_differ_late_are_offered_from_there():
    late = [question for *_, question in texts_drawn(DOUBLED, "words") if "from character" in question["asks"]]
    assert late
    for question in late:
        texts = [question["options"][at] for at in question["codes"]]
        assert all(text[:3] in ("… '", '… "') and len(text) < 90 for text in texts) and len({*texts}) == len(texts)
        assert re.search(r"What comes out, from character \d+ on\?$", question["asks"])
