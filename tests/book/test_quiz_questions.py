"""Chapters' questions become options to press."""

import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html" / "book"
CHAPTERS = sorted(path.stem for path in (ROOT / "book").glob("[0-9][0-9]_*.md"))


@pytest.fixture(scope="module")
def quiz_questions():
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    try:
        import quiz_questions
    finally:
        sys.path.pop(0)
    return quiz_questions


def test_options_are_split_at_their_letters_and_formulas_stay(quiz_questions):
    parts = [
        nodes.strong("", "1. What?"),
        nodes.Text(" (a) the root of "),
        nodes.math("", "H"),
        nodes.Text(", (b) f(a) of it, (c) none (b) at all"),
    ]
    found = quiz_questions.split_options(parts)
    told = {letter: "".join(part.astext() for part in one) for letter, one in found.items()}
    assert told == {"": "1. What? ", "a": "the root of H", "b": "f(a) of it", "c": "none (b) at all"}


def test_an_answer_without_its_letter_is_refused(quiz_questions):
    with pytest.raises(Exception, match="begins with its letter"):
        quiz_questions.right_letter(nodes.container("", nodes.paragraph("", "It is b.")))


def questions(page):
    soup = BeautifulSoup((HTML / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    return soup.select("form.slq"), soup.select(".slq-choice")


@pytest.mark.book
@pytest.mark.parametrize("page", CHAPTERS)
def test_every_question_with_options_is_one_to_press(page):
    _, chosen = questions(page)
    assert len(chosen) == (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8").count("{dropdown} Answer\n**(")
    for box in chosen:
        options = box.select(".slq-options > li")
        right = next(name for name in box["class"] if name.startswith("slq-right-"))[-1]
        letters = [chr(ord("a") + i) for i in range(len(options))]
        assert len(options) >= 2 and right in letters
        told = [item.get_text().strip()[1] for item in box.select(".sd-summary-content li")]
        assert sorted([*told, right]) == letters, box.get_text()


@pytest.mark.book
def test_every_chapter_asks_at_least_four_questions():
    asked = {}
    for page in CHAPTERS:
        typed, chosen = questions(page)
        asked[page[:2]] = asked.get(page[:2], 0) + len(typed) + len(chosen)
    assert {chapter: count for chapter, count in asked.items() if count < 4} == {}
