"""Written answers: shared out evenly and for good, and comments that are kept and used again."""

import csv

import pytest
from paper_class import enter, full
from small_class import NAME

from softlookup_grader import CourseError
from softlookup_grader.course.by_hand import COMMENTS, comment, saved_comments, share_out
from softlookup_grader.forgetting import forget


@pytest.fixture
def course(paper):
    for student in ("ada", "ben", "cleo", "dan", "eve"):
        enter(paper, student, full())
    return paper


def of(shares):
    return {share.student: share.grader for share in shares}


def test_shares_are_even_and_stay_when_more_come_in(course):
    first = of(share_out(course, NAME, ["ana", "bo"]))
    assert sorted(map(list(first.values()).count, ("ana", "bo"))) == [2, 3]
    enter(course, "aaron", full())
    later = of(share_out(course, NAME, ["ana", "bo"]))
    assert {student: later[student] for student in first} == first
    assert sorted(map(list(later.values()).count, ("ana", "bo"))) == [3, 3]
    without = of(share_out(course, NAME, ["ana", "cy"]))
    assert all(without[student] == "ana" for student, grader in later.items() if grader == "ana")
    assert set(without.values()) == {"ana", "cy"}


def test_shares_lead_to_the_formgrader_and_forget_reaches_them(course, run):
    result = run("share", NAME, "--between", "ana,bo")
    assert result.exit_code == 0 and "ana: 3 submissions" in result.output, result.output
    path = course.root / "reports" / f"{NAME}-shares.csv"
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    with course.gradebook() as book:
        assert rows[0]["formgrader"].endswith(book.find_submission(NAME, "ada").notebooks[0].id)
    # A spreadsheet may have saved it in its own form; everybody keeps what they have all the same.
    path.write_text("\ufeff" + path.read_text().replace(",", ";"), encoding="utf-8")
    assert run("share", NAME, "--between", "bo,ana").exit_code == 0
    with open(path, newline="") as file:
        assert list(csv.DictReader(file)) == rows
    forget(course, "ada")
    assert "ada," not in path.read_text()


@pytest.mark.parametrize("graders", [[], ["ana", "ana"], ["ana", " "]])
def test_graders_are_named_once(course, graders):
    with pytest.raises(CourseError, match="named once"):
        share_out(course, NAME, graders)


def test_a_comment_is_saved_and_used_again(course, run):
    result = run("comment", NAME, "ada", "04.uniform", "Say why.", "--save", "why")
    assert result.exit_code == 0, result.output
    for _ in range(2):
        assert run("comment", NAME, "ben", "04.uniform", "--use", "why").exit_code == 0
    comment(course, NAME, "ben", "04.uniform", "And what follows?")
    with course.gradebook() as book:
        notebook = book.find_submission(NAME, "ben").notebooks[0]
        text = next(row.comment for row in notebook.comments if row.name == "04-uniform")
    assert text == "Say why.\n\nAnd what follows?"
    assert saved_comments(course) == {"04.uniform": {"why": "Say why."}}
    assert "why: Say why." in run("comment", NAME).output


def test_comments_that_cannot_be_made_are_refused_in_a_sentence(course, run):
    for words, says in {
        ("ada", "04.uniform", "--use", "nope"): "no comment nope is saved",
        ("ada", "04.nope", "x"): "has no graded answer",
        ("aad", "04.nope", "x"): "the id 'aad'; did you mean ada?",
        ("ada",): "needs a student",
    }.items():
        assert says in run("comment", NAME, *words).output
    (course.root / COMMENTS).write_text("[")
    with pytest.raises(CourseError, match="is damaged"):
        saved_comments(course)
