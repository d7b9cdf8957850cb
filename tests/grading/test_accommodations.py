"""Standing accommodations: over all assignments, those to come too, and seen by the instructor alone."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from click.testing import Result
from fake_grader import here
from paper_class import enter, hand_in, in_class
from small_class import NAME

from softlookup_grader import Course
from softlookup_grader.course.deadlines import accommodate, deadlines, extend, set_due, set_start
from softlookup_grader.course.releasing import Choices, Released
from softlookup_grader.course.terms import Accommodation, Extension
from softlookup_grader.forgetting import forget, kept_of
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest

DUE, OTHER = datetime(2126, 12, 1, 18), "05_other"
Run = Callable[..., Result]


@pytest.fixture
def course(paper):
    for student in ("00123", "bo"):
        in_class(paper, student)
    set_due(paper, NAME, DUE)
    return paper


def more(course: Course, assignment: str = NAME) -> dict[str, timedelta]:
    return deadlines(course, assignment).extensions


def column(course: Course, student: str) -> timedelta | None:
    with course.gradebook() as book:
        rows = [row for row in book.assignment_submissions(NAME) if row.student_id == student]
        return rows[0].extension if rows else None


def test_an_accommodation_reaches_due_dates_there_are_and_those_to_come(course):
    accommodate(course, "00123", Accommodation(days=3))
    assert more(course) == {"00123": timedelta(days=3)}
    with course.gradebook() as book:
        book.update_or_create_assignment(OTHER)
    assert more(course, OTHER) == {}
    set_due(course, OTHER, DUE + timedelta(days=14))
    assert more(course, OTHER) == {"00123": timedelta(days=3)}
    set_due(course, OTHER, None)
    assert more(course, OTHER) == {}, "an accommodation keeps no due date"
    accommodate(course, "00123", None)
    assert more(course) == {}


def late(course: Course, student: str) -> None:
    """Hand in two days after the due date."""
    hand_in(course, student, {})
    (course.folder("submitted", student, NAME) / "timestamp.txt").write_text("2126-12-03 18:00:00 UTC\n")


def test_an_accommodation_counts_once_a_submission_is_graded(course):
    """Nobody needs a row before: the row gets the end when it is made."""
    accommodate(course, "00123", Accommodation(days=3))
    assert column(course, "00123") is None
    late(course, "00123")
    grade_assignment(course, GradeRequest(NAME, seed=1, feedback=False), executor=here())
    assert column(course, "00123") == timedelta(days=3) and deadlines(course, NAME).late == {}
    accommodate(course, "00123", Accommodation(days=1))
    assert column(course, "00123") == timedelta(days=1)
    assert deadlines(course, NAME).late == {"00123": 86_400}
    accommodate(course, "00123", None)
    assert column(course, "00123") is None and deadlines(course, NAME).ends == {}


def test_what_gives_most_counts_whichever_comes_last(course):
    accommodate(course, "00123", Accommodation(days=3))
    extend(course, NAME, "00123", Extension(days=1))
    assert column(course, "00123") == timedelta(days=3) and deadlines(course, NAME).ends["00123"].standing
    extend(course, NAME, "00123", Extension(days=5))
    assert column(course, "00123") == timedelta(days=5) and not deadlines(course, NAME).ends["00123"].standing
    extend(course, NAME, "00123", None)
    assert column(course, "00123") == timedelta(days=3)
    accommodate(course, "00123", None)
    assert column(course, "00123") is None


def test_an_extension_through_nbgrader_comes_back_when_the_accommodation_ends(course):
    enter(course, "bo", {})
    with course.gradebook() as book:
        book.grant_extension(NAME, "bo", hours=5)
    accommodate(course, "bo", Accommodation(days=3))
    assert column(course, "bo") == timedelta(days=3)
    accommodate(course, "bo", None)
    assert column(course, "bo") == timedelta(hours=5)


def test_a_factor_counts_from_the_first_release_or_the_start_that_is_said(course, source):
    accommodate(course, "bo", Accommodation(time=1.5))
    (note,) = deadlines(course, NAME).notes
    assert more(course) == {} and "is not known, so --time gives bo nothing" in note
    _release(course, source)
    start = Released(course).first(NAME)
    assert start is not None and start.year < 2126
    half = (DUE - start) / 2
    assert timedelta() <= more(course)["bo"] - half < timedelta(minutes=1) and deadlines(course, NAME).notes == ()
    record = course.root / ".release.json"
    record.write_text(record.read_text().replace(start.isoformat(), "2126-11-21T18:00:00"))
    _release(course, source)
    assert more(course) == {"bo": timedelta(days=5)}, "a later release is not the first"
    set_start(course, NAME, DUE - timedelta(days=14))
    assert more(course) == {"bo": timedelta(days=7)}
    set_start(course, NAME, DUE)
    assert more(course) == {} and "is not before it is due" in deadlines(course, NAME).notes[0]


def _release(course: Course, source: object) -> None:
    released = Released(course)
    released.record_release(NAME, source, Choices(), None)
    for path, content in released.content().items():
        path.write_bytes(content)


def test_forgetting_a_student_takes_the_terms_too(course):
    accommodate(course, "bo", Accommodation(days=3))
    extend(course, NAME, "bo", Extension(days=1))
    extend(course, NAME, "00123", Extension(days=1))
    assert "an entry in .dates.json" in forget(course, "bo")
    text = (course.root / ".dates.json").read_text()
    assert '"bo"' not in text and '"00123"' in text and kept_of(course, "bo") == []
    assert more(course) == {"00123": timedelta(days=1)}


@pytest.mark.slow
def test_nothing_that_students_get_knows_of_it(course, run):
    for student in ("00123", "bo"):
        late(course, student)
    texts = []
    for terms in (None, Accommodation(days=3)):
        if terms:
            accommodate(course, "bo", terms)
        grade_assignment(course, GradeRequest(NAME, seed=1, again=True), executor=here())
        assert run("export", NAME).exit_code == 0
        places = ("autograded", "feedback", "release", "submitted")
        files = sorted(path for place in places for path in (course.root / place).rglob("*") if path.is_file())
        files.append(course.root / "reports" / f"{NAME}-csv.csv")
        texts.append({path: path.read_bytes() for path in files})
    assert len(texts[0]) > 6 and texts[0] == texts[1]


def test_accommodate_says_what_was_understood_and_lists(run):
    assert run("accommodate").output == "nobody has a standing accommodation\n"
    words = "3 days on the calendar, or 1.5 times the time, whichever ends later"
    run("extension", NAME, "--start", "2126-11-29 18:00")
    printed = run("accommodate", "00123", "--days", "3", "--time", "1.5").output
    assert printed.splitlines() == [
        f"the accommodation: {words}",
        f"00123: {words}",
        "  04_one_head: Wednesday 2126-12-04 18:00 UTC (standing, 3 days on the calendar, 72 hours)",
    ]
    until = run("accommodate", "bo", "--days", "1", "--until", "2127-01-31").output
    assert until.startswith("read '2127-01-31' as: Friday 2127-01-31 23:59 UTC, the end of that day")
    both = run("accommodate").output
    assert f"00123: {words}\n" in both and "bo: 1 day on the calendar, for what is due until Friday 2127" in both
    assert run("accommodate", "bo").output == both[both.index("bo:") :]
    assert run("accommodate", "bo", "--end").output == "bo has no standing accommodation\n"
    assert "00123: " in run("extension", NAME).output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("123", "--days", "3"), "nobody in the class has the id '123'; did you mean 00123?"),
        (("123",), "nobody in the class has the id '123'; did you mean 00123?"),
        (("b0", "--end"), "there is no standing accommodation to end: nobody in the class has the id 'b0'"),
        (("bo", "--end"), "there is no standing accommodation to end: bo has none"),
        (("--days", "3"), "an accommodation is for one student: give STUDENT"),
        (("bo", "--days", "3", "--end"), "--end removes the accommodation"),
        (("bo", "--until", "2127-01-01"), "what the accommodation gives is missing"),
        (("bo", "--days", "3", "--until", "1 Feb"), "because the year is missing"),
        (("bo", "--time", "0.5"), "Invalid value for '--time'"),
    ],
)
def test_accommodate_refuses_what_makes_no_sense_and_writes_nothing(course, run, words, says):
    result = run("accommodate", *words)
    assert result.exit_code == 2 and says in result.output
    assert not (course.root / ".dates.json").exists()
