"""Questions in the page: answers and names come from the tasks' descriptions, on every page."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from softlookup import reference
from softlookup_course import quiz
from softlookup_course.figures.page import grid
from softlookup_course.quiz import Cell, Guess, Number, Row, Shape, ask
from softlookup_judge import get_task

ROOT_OF_FOUR = ("04.scale", "12 at H = 16?", ([[12]], 16), Number((0, 0)))


def written(question):
    html = question._repr_html_()
    return json.loads(unescape(re.search(r'data-quick="([^"]*)"', html)[1])), html


def test_a_number_has_its_right_answer_and_the_answers_of_known_mistakes():
    question = ask(*ROOT_OF_FOUR)
    assert question.right == [3.0]
    says = {answer[0]: says for answer, says in question.wrong}
    task = get_task("04.scale")
    assert task.mistake("no-sqrt").says in says[12.0]
    assert all(sentence in {m.says for m in task.mistakes} for many in says.values() for sentence in many)
    assert 3.0 not in says


def test_mistakes_that_give_the_same_answer_are_told_together():
    question = ask(*ROOT_OF_FOUR)
    assert max(len(says) for _, says in question.wrong) > 1


def test_a_row_a_shape_and_a_cell():
    scores = np.log([[1, 2, 5], [1, 1, 1]])
    row = ask("04.softmax", "?", (scores,), Row((0,)))
    assert row.right == pytest.approx(reference.softmax(scores)[0])
    shape = ask("04.scores", "?", (np.zeros((2, 5, 8)), np.zeros((2, 7, 8))), Shape())
    assert shape.right == [2, 5, 7] and [2, 7, 5] in [answer for answer, _ in shape.wrong]
    map_TS = np.array([[2.0, 0, 1], [0, 3, 1], [1, 1.5, 0]])
    cell = ask("04.softmax", "?", (map_TS,), Cell(map_TS, tuple("abc"), tuple("xyz"), row=2))
    assert cell.right == [2, 1] and cell.kind.written(cell.right) == "row c, column y"


def test_the_page_is_told_everything_and_works_without_a_script():
    question, html = written(
        ask("04.scale", "A $x^2$, **now** `here` & there?", ([[12]], 16), Number((0, 0), unit="m"))
    )
    assert question["right"] == [3.0] and question["kind"] == "number" and question["tolerance"] == pytest.approx(0.006)
    assert "\\(x^2\\)" in html and "<strong>now</strong>" in html and "<code>here</code> &amp; there?" in html
    assert "<summary>Answer</summary><p>3.00 m</p>" in html


def test_a_question_that_changes_has_another_key():
    keys = {ask("04.scale", text, ([[12]], 16), Number((0, 0))).key for text in ("one?", "two?", "one?")}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("inputs", "want", "why"),
    [
        (([[0]], 16), Number((0, 0)), "no known mistake gives another answer"),
        (([[12.0]], 16), Row((0, 0)), "a row is asked for"),
        (([[1.0, 1.0]], 16), Cell([[1.0, 1.0]], ("a",), ("x", "y")), "2 cells are equally far out"),
        (([[1.0, 2.0]], 16), Cell([[1.0, 2.0, 3.0]], ("a",), ("x", "y", "z")), "the map has the shape"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(inputs, want, why):
    with pytest.raises(ValueError, match=why):
        ask("04.scale", "?", inputs, want)


def test_a_map_needs_names_for_its_rows_and_columns():
    with pytest.raises(ValueError, match="1 rows and 1 columns have names"):
        Cell([[1.0, 2.0]], ("a",), ("x",))


def test_neighbouring_whole_numbers_are_different_answers():
    question = ask(
        "14.place", "?", ([[1, 1]], [[2, 0], [0.5, 0.5], [1, 2], [0, 0.5]], np.array([1])), Number((0,), decimals=0)
    )
    assert question.right == [3.0] and [2.0] in [answer for answer, _ in question.wrong]


def test_a_guess_is_good_within_a_factor_of_two_and_named_only_near_a_mistake():
    question, html = written(ask("12.states", "?", (10**9, "master"), Guess((0, 1, 2, 3), unit="GB", scale=1e9)))
    assert 2 ** question["right"][0] == pytest.approx(16) and question["kind"] == "guess"
    assert question["tolerance"] == 1 and question["alike"] < 0.2
    assert "<p>16.0 GB</p>" in html and "<strong>Guess first.</strong>" in html and 'aria-label="your guess"' in html
    assert all(abs(wrong["answer"][0] - question["right"][0]) > 1 for wrong in question["wrong"])


@pytest.mark.parametrize(("number", "words"), [(0.0065, "0.00650"), (13.214, "13.2"), (786.4, "786"), (6738, "6,740")])
def test_a_guessed_number_is_written_with_three_digits(number, words):
    guess = Guess()
    assert guess.written(guess.answer((np.array(number),))) == words


def test_a_guess_needs_a_number_above_zero():
    with pytest.raises(ValueError, match="above zero"):
        Guess().answer((np.array(0.0),))


PAGES = sorted((Path(__file__).resolve().parents[2] / "book").glob("[0-9][0-9]_*.md"))
CELL = re.compile(
    r"^```\{code-cell\} python3\n:tags: \[remove-input\]\n\n(?P<code>(?:(?!^```).)*?^ask\(.*?)^```", re.M | re.S
)
ASKED = [(page.stem, cell["code"]) for page in PAGES for cell in CELL.finditer(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "code"), ASKED, ids=[f"{page}-{i}" for i, (page, _) in enumerate(ASKED)])
def test_question_has_an_answer_and_names_a_mistake(page, code):
    questions = []
    names = {name: getattr(quiz, name) for name in quiz.__all__}
    names |= {"np": np, "grid": grid, "ask": lambda *a, **k: questions.append(quiz.ask(*a, **k))}
    exec(code, names)  # noqa: S102  (the page's own cell)
    assert len(questions) == 1
    question = questions[0]
    assert question.task_id[:2] == page[:2] and question.wrong
    assert np.isfinite(question.right).all()
    assert not quiz.asking.near(question.right, question.wrong[0][0], question.kind.tolerance)


def test_chapters_ask_what_is_typed_or_pointed_at():
    chapters = {page[:2] for page, _ in ASKED}
    assert chapters >= {f"{chapter:02}" for chapter in range(15)}
