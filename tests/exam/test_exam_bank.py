"""The bank of exam questions: right, drawn anew, and without flaws, over many seeds."""

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from second_ways import SECOND
from statements import TRIED

from softlookup_course.exam.bank import QUESTIONS
from softlookup_course.exam.notes import exact, logs, same, tex
from softlookup_course.exam.question import KINDS, Chapter, Drawn, ExamQuestion, known, mistake

SEEDS = range(25)
MATH = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", re.DOTALL)


@cache
def drawn(question: ExamQuestion) -> list[Drawn]:
    return [question.draw(seed) for seed in SEEDS]


every_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)


def test_bank_has_questions_of_every_kind_on_every_chapter():
    per_chapter = Counter(question.chapter for question in QUESTIONS)
    assert len(QUESTIONS) >= 45
    assert set(per_chapter) == {*range(1, 14), 15, 16, 17, 18, 19, 20} and min(per_chapter.values()) >= 3
    assert {question.question_type for question in QUESTIONS} == set(KINDS)
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)


def test_bank_has_a_second_way_to_each_answer_and_no_more():
    words = {"explanation", "sketch", "true-false"}
    assert set(SECOND) == {question.id for question in QUESTIONS if question.question_type not in words}


@pytest.mark.one_in(6)
@every_question
def test_answer_is_what_another_computation_gives(question: ExamQuestion):
    for instance in drawn(question):
        if question.id in SECOND:
            assert same(instance.value, SECOND[question.id](**instance.given)), instance.given
        elif question.question_type == "true-false":
            assert bool(TRIED[instance.given["statement"]]()) is instance.value
        else:
            assert instance.value is None


@every_question
def test_text_has_no_flaws(question: ExamQuestion):
    for instance in drawn(question):
        for part in (
            instance.text,
            instance.answer,
            *(what for _, what in instance.marks),
            *(s.words for s in instance.expected),
        ):
            rest = MATH.sub("x", part)
            assert part.strip() and part.count("$") % 2 == 0
            if part in (instance.text, instance.answer):
                assert not re.search(r"[\\{}$]|\bnan\b|\bNone\b|  ", rest.replace("\n\n", " ")), rest
            assert not re.search(r"\bnan\b|array\(|e[+-]\d\d", part)
            assert all(span.count("{") == span.count("}") for span in MATH.findall(part))
        assert not instance.gives_away() and "Answer" not in instance.text


@every_question
def test_no_mistake_gives_the_right_answer(question: ExamQuestion):
    for instance in drawn(question):
        assert not any(s.value is not None and same(s.value, instance.value) for s in instance.expected)
        assert sum(points for points, _ in instance.marks) == question.points


@every_question
def test_numbers_of_the_question_are_those_that_were_drawn(question: ExamQuestion):
    for instance in drawn(question):
        for name, value in instance.given.items():
            if (
                isinstance(value, int)
                and value > 1
                and name not in ("one", "label", "hidden", "size", "square", "back")
            ):
                shown = {str(value), tex(value), f"{value // 1000}", str(1 - value), str(value + 1)} | (
                    {str(2**value)} if value < 40 else set()
                )
                numbers = set(re.findall(r"\d+(?:\{,\}\d+)*", instance.text))
                spellings = {f"{value:,}", f"{value / 1e9:g}"} | shown
                assert any(s in numbers or s in instance.text for s in spellings), (name, value)


@pytest.mark.parametrize(
    "question", [question for question in QUESTIONS if question.id in SECOND], ids=lambda question: question.id
)
def test_other_seeds_give_other_numbers(question: ExamQuestion):
    assert len({instance.text for instance in drawn(question)}) >= 3


def test_statements_are_all_met_and_of_both_kinds():
    seen = {}
    for question in (question for question in QUESTIONS if question.question_type == "true-false"):
        for seed in range(60):
            instance = question.draw(seed)
            seen[instance.given["statement"]] = instance.value
    assert set(seen) == set(TRIED) and 10 < sum(seen.values()) < len(seen) - 10


def test_question_refuses_marks_that_are_not_its_points():
    ask = Chapter(4)

    @ask("wrong", "number", points=3, minutes=2)
    def wrong(rng: np.random.Generator) -> Drawn:
        return Drawn("How many?", 7, "Seven.", ((2, "all"),))

    with pytest.raises(ValueError, match="04/wrong has 3 points"):
        ask.questions[0].draw(0)


@pytest.mark.parametrize(
    "text, value, expected",
    [("Is it 7 or 8?", 7, ()), ("How many?", 7, (mistake(7.0, "by luck"),)), ("See $(1,\\ 2)$.", (1, 2), ())],
)
def test_question_without_a_good_version_is_refused(text: str, value: object, expected: tuple):
    ask = Chapter(4)
    ask("poor", "number", points=1, minutes=1)(lambda rng: Drawn(text, value, "so", ((1, "all"),), {}, expected))
    with pytest.raises(ValueError, match="04/poor: .* draws"):
        ask.questions[0].draw(0)


def test_slip_of_no_task_is_refused():
    with pytest.raises(LookupError, match="04.scale knows no mistake 'no-such'"):
        _ = known("04.scale", "no-such").words


def test_numbers_are_written_exactly():
    assert tex(0.125) == r"\tfrac{1}{8}" and tex(-1.5) == r"-\tfrac{3}{2}" and tex(12345) == "12{,}345"
    assert tex(2**0.5) == "1.414" and tex(float("-inf")) == r"-\infty" and tex(True) == r"\text{true}"
    assert tex(1.2e21) == r"\tfrac{6}{5} \cdot 10^{21}"
    assert tex(np.array([[1, 2], [3, 4]])) == r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}"
    assert logs([1, 3]) == r"(0,\ \ln 3)" and exact(1 / 3) is not None and exact(np.pi) is None
