"""Short routes lead to sections that are there, and take the time that they state."""

from pathlib import Path

import pytest

from softlookup_course.curriculum import PageError
from softlookup_course.curriculum.short_routes import (
    QUESTIONS,
    TWO_HOURS,
    find_section,
    minutes_of,
    questions_table,
    stops_table,
)

BOOK = Path(__file__).resolve().parents[2] / "book"


@pytest.mark.parametrize(("question", "chapter", "label"), QUESTIONS, ids=[label for _, _, label in QUESTIONS])
def test_each_question_leads_to_a_section_and_says_its_minutes(question, chapter, label):
    section = find_section(BOOK, chapter, label)
    row = questions_table(BOOK, [(question, chapter, label)]).splitlines()[-1]
    assert row == f"| {question} | [{section.title}](#{label}) | {section.minutes} |"


def test_two_hours_leave_room_for_figures_and_tasks():
    assert 35 <= minutes_of(BOOK, TWO_HOURS) <= 90
    rows = stops_table(BOOK, TWO_HOURS).splitlines()[2:]
    assert len(rows) == len(TWO_HOURS)
    assert sum(int(row.split("|")[2]) for row in rows) == minutes_of(BOOK, TWO_HOURS)


def test_a_section_that_is_not_there_is_named():
    with pytest.raises(PageError, match="chapter 4 has no section 'nowhere'"):
        find_section(BOOK, 4, "nowhere")
