"""Every question that a page asks has its answer, and names at least one known mistake."""

import re
from pathlib import Path

import numpy as np
import pytest

from softlookup_course import quiz
from softlookup_course.figures.page import grid

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
