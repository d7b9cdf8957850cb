"""Published answers are recognised in other clothes, and independent right answers are not taken for them."""

import inspect
import re
import textwrap

import nbformat
import pytest

from published import RIGHT, strangers
from softlookup_course.samples.handins import rewritten
from softlookup_grader.reports.known_answers import (
    LONG,
    MANY,
    PUBLISHED,
    SHOWN,
    alike,
    known_answers,
    public_answers,
    public_texts,
)
from softlookup_grader.reports.similarity import code_tokens, given_by, own_tokens
from softlookup_judge import get_task
from softlookup_judge.authoring import find_root
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.data.published import solution
from softlookup_judge.data.variant import variant_of

ROOT = find_root()
RELEASES = sorted((ROOT / "exercises").glob("[0-9]*/*.ipynb"))
GIVEN = {cell: tokens for path in RELEASES for cell, tokens in given_by(nbformat.read(path, as_version=4)).items()}


def slug(task_id):
    return task_id.replace(".", "-", 1)


def student_tokens(task_id, text):
    return own_tokens(code_tokens(textwrap.dedent(text)), GIVEN[slug(task_id)])


def long_tasks():
    """Tasks whose published answer is long enough to count."""
    return [
        task_id for task_id in RIGHT if len(student_tokens(task_id, solution(variant_of(get_task(task_id))))) >= LONG
    ]


def other_numbers(text):
    """The same code with other numbers, as another variant of a task has them."""
    return re.sub(r"(?<![\w.])\d+(?![\w.])", lambda match: str(int(match[0]) + 3), text)


def test_most_tasks_have_an_answer_that_counts():
    assert len(long_tasks()) > len(RIGHT) / 2


@pytest.mark.parametrize(("change", "share"), [(str, 1), (other_numbers, 1), (rewritten, 0.8)])
def test_published_answers_in_other_names_and_numbers_are_known(change, share):
    cells = {
        slug(task_id): student_tokens(task_id, change(solution(variant_of(get_task(task_id)))))
        for task_id in long_tasks()
    }
    finding = {known.source: known for known in known_answers({"ada": cells}, GIVEN, STANDARD)}[PUBLISHED]
    assert finding.of == len(cells)
    assert len(finding.cells) >= share * finding.of


def test_independent_right_answers_are_not_taken_for_published_ones():
    """The rate of false alarms: these answers were written in other ways than the published solution."""
    counted = wrong = 0
    for task_id, answers in RIGHT.items():
        public = public_answers(task_id, GIVEN[slug(task_id)], STANDARD)
        sources = [*map(inspect.getsource, answers), *(each.source for each in strangers().get(task_id, ()))]
        for source in sources:
            tokens = student_tokens(task_id, source)
            if len(tokens) >= LONG and PUBLISHED in public:
                counted += 1
                wrong += alike(tokens, public[PUBLISHED])
    print(f"taken for the published solution: {wrong} of {counted} independent right answers")
    assert counted > 300
    assert wrong <= counted / 200


def test_an_answer_that_the_check_shows_is_known():
    shown = {
        task_id: public_texts(task_id, STANDARD)[SHOWN] for task_id in RIGHT if SHOWN in public_texts(task_id, STANDARD)
    }
    cells = {
        slug(task_id): student_tokens(task_id, text)
        for task_id, text in shown.items()
        if len(student_tokens(task_id, text)) >= LONG
    }
    assert len(cells) >= MANY
    findings = {finding.source: finding for finding in known_answers({"ada": cells}, GIVEN, STANDARD)}
    assert set(findings[SHOWN].cells) == set(cells)


def test_fewer_answers_than_many_are_no_finding():
    cells = {
        slug(task_id): student_tokens(task_id, solution(variant_of(get_task(task_id))))
        for task_id in long_tasks()[: MANY - 1]
    }
    assert known_answers({"ada": cells}, GIVEN, STANDARD) == []
