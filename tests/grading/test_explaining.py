"""An appeal answered: what was graded is asked again, with its own seed, and told in numbers."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from fake_grader import SecondExaminer
from paper_class import enter, hand_in, in_class
from small_class import NAME, lay

from softlookup_grader import Course, CourseError
from softlookup_grader.course.inbox import read_submission
from softlookup_grader.data.work import Graded, Mark
from softlookup_grader.judging.settings import identity, settings_for
from softlookup_grader.reports.explained_text import FOR_YOU, explanation_text
from softlookup_grader.reports.explaining import explain, last_graded
from softlookup_grader.run.ledger import Ledger
from softlookup_inside.asking.texts import to_bytes
from softlookup_judge.data.compare import Difference
from softlookup_judge.data.result import CheckResult

SCORES = np.arange(6.0).reshape(2, 3)
DIFFERENCE = Difference("value", 0, SCORES, SCORES / 2, (0, 1), 1e-5, 5)
RESULT = CheckResult(
    *("04.scale", "The scale", 0.0, 2.0, "wrong"),
    diagnosis=("no-sqrt",),
    case="unequal sizes",
    inputs=(SCORES, 4),
    input_names=("scores", "head_width"),
    difference=DIFFERENCE,
    names=("scaled",),
    printed="hello\x1b[2J",
)
MARKS = (
    Mark("04.mix", "04-mix-check", 2.0, 2.0, "pass", message="Every case agrees."),
    Mark("04.scale", "04-scale-check", 0.0, 2.0, "wrong", ("no-sqrt",), "No square\x1b root."),
    Mark("04.uniform", "04-uniform", None, 3.0, "by hand"),
)


def fake(marks: tuple[Mark, ...] = MARKS, results: tuple[CheckResult, ...] = (RESULT,), **more: str) -> SecondExaminer:
    return SecondExaminer(marks, results, **more)


@pytest.fixture
def course(paper):
    hand_in(paper, "ada", {"04-mix": "def mix(w, v):\n    return w @ v"})
    write_ledger(paper, 7, Graded("ada", "graded", read_submission(paper, NAME, "ada").digest, MARKS))
    enter(paper, "ada", {"04-mix-check": 2.0}, written=2.5)
    return paper


def write_ledger(course: Course, seed: int | None, *lines: Graded) -> None:
    release = identity(settings_for(course, NAME))
    with Ledger(course.root / ".grading" / NAME, release=release, seed=seed) as ledger:
        for line in lines:
            ledger.add(line)


def shown(course: Course, result: CheckResult = RESULT, task: str = "", **changed: object) -> str:
    """The text for an instructor, of a result whose difference is another one."""
    if changed:
        result = replace(result, difference=replace(DIFFERENCE, **changed))
    return explanation_text(explain(course, NAME, "ada", fake(results=(result,))), *([task] if task else []))


def change(course: Course, student: str = "ada") -> bytes:
    """Hand in another file; the autograded one is what was handed in before."""
    path = lay(course.notebook("autograded", student, NAME), read_submission(course, NAME, student).content or b"")
    hand_in(course, student, {"04-mix": "def mix(w, v):\n    return v"})
    return path.read_bytes()


def test_the_submitted_file_is_asked_with_the_ledgers_seed_and_nothing_changes(course):
    before = {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()}
    examiner = fake()
    explanation = explain(course, NAME, "ada", examiner)
    (settings, student, submission), *rest = examiner.calls
    assert (settings.seed, settings.sandbox, settings.assignment) == (7, "bubblewrap", NAME) and rest == []
    assert settings.notebooks[0].text == course.notebook("release", ".", NAME).read_text()
    assert student == "ada" and submission == course.notebook("submitted", "ada", NAME).read_bytes()
    assert (explanation.changed, explanation.other_release, explanation.agrees) == (False, False, True)
    assert examiner.closed and explanation.remarks == ("a cell was doubled",)
    mix, scale, uniform = explanation.tasks
    assert scale.result is RESULT and mix.result is None
    assert (mix.then, mix.in_gradebook.points, mix.in_gradebook.by_hand) == (2.0, 2.0, None)
    assert (uniform.then, uniform.in_gradebook.points, uniform.in_gradebook.by_hand) == (None, 2.5, 2.5)
    assert {p: p.read_bytes() for p in course.root.rglob("*") if p.is_file()} == before


def test_a_file_that_is_changed_or_gone_is_named_and_the_graded_answers_are_asked(course):
    examiner, before = fake(), change(course)
    explanation = explain(course, NAME, "ada", examiner)
    assert explanation.changed is True and examiner.calls[0][2] == before
    assert "has changed since it was graded" in explanation_text(explanation)
    course.notebook("submitted", "ada", NAME).unlink()
    explanation = explain(course, NAME, "ada", fake())
    assert explanation.changed is None and "the submitted file is gone" in explanation_text(explanation)


def test_the_last_line_counts_and_so_does_an_earlier_run(course):
    write_ledger(course, 7, Graded("ada", "graded", "other", MARKS))
    assert last_graded(course, NAME, "ada")[0].digest == "other"
    for seed in range(20, 31):
        write_ledger(course, seed, Graded("bo", "graded", f"bo {seed}"))
    assert last_graded(course, NAME, "ada")[1].seed == 7, "it is in an earlier run's ledger alone"
    assert last_graded(course, NAME, "bo")[1].seed == 30
    assert len(list((course.root / ".grading" / NAME).glob("ledger-*.jsonl"))) == 11
    (course.root / ".grading" / NAME / "ledger.jsonl").unlink()
    assert last_graded(course, NAME, "bo")[1].seed == 29, "the youngest, not the first by name"


def test_torn_and_strange_lines_of_a_ledger_are_passed_over(course):
    path = course.root / ".grading" / NAME / "ledger.jsonl"
    line = json.dumps(Graded("ada", "graded", "torn", MARKS).as_json()).encode()
    with open(path, "ab") as file:
        file.write(b'\x00\x00\n[1]\n"x"\nnot json\n' + line)
    assert last_graded(course, NAME, "ada")[0].digest != "torn"


def test_another_release_is_told(course):
    path = course.notebook("release", ".", NAME)
    path.write_text(path.read_text().replace("def scale", "def scale ", 1))
    explanation = explain(course, NAME, "ada", fake())
    assert explanation.other_release and "the release has changed since then" in explanation_text(explanation)


def test_other_points_than_in_the_ledger_are_told(course):
    now = (MARKS[0], replace(MARKS[1], points=2.0, verdict="pass", diagnosis=()), MARKS[2])
    text = explanation_text(explain(course, NAME, "ada", fake(now)))
    assert "asking again gives OTHER points" in text
    assert "04.scale: pass, 2 of 2 points\n  in the ledger: 0 (task" in text and "in the gradebook: 0" in text


@pytest.mark.parametrize(
    ("student", "says"),
    [("nobody", "'nobody' has not been graded in 04_one_head yet"), ("bo", "no points to explain: refused, is empty")],
)
def test_who_has_no_points_gets_one_sentence(course, student, says):
    in_class(course, "nobody")
    write_ledger(course, 7, Graded("bo", "refused", "x", reason="is empty"))
    with pytest.raises(CourseError, match=says):
        explain(course, NAME, student, fake())


def test_what_cannot_be_asked_again_is_one_sentence(course):
    with pytest.raises(CourseError, match=r"has no task '04.x' \(it has: 04.mix, 04.scale, 04.uniform\)"):
        shown(course, task="04.x")
    with pytest.raises(CourseError, match="asking the questions again failed: refused, bubblewrap is gone"):
        explain(course, NAME, "ada", fake(status="refused"))
    hand_in(course, "ada", {"04-mix": "def mix(w, v):\n    return v"})
    with pytest.raises(CourseError, match="'softlookup grade 04_one_head --student ada' grades it again"):
        explain(course, NAME, "ada", fake())


def test_text_shows_inputs_got_and_wanted_in_full(course):
    text = shown(course)
    assert text.startswith(FOR_YOU) and "ada, 04_one_head, seed 7" in text and "\x1b" not in text
    for passage in (
        "the submitted file is the one that was graded",
        "ignored or stopped: a cell was doubled",
        "04.mix: pass, 2 of 2 points\n\n",
        "04.scale: wrong, 0 of 2 points\n  known mistake: no-sqrt\n  No square\N{REPLACEMENT CHARACTER} root.",
        "first case that failed: unequal sizes",
        "input scores, shape (2, 3), float64:\n    [[0. 1. 2.]\n     [3. 4. 5.]]\n  input head_width: 4",
        "got scaled, shape (2, 3), float64:\n    [[0. 1. 2.]",
        "wanted scaled, shape (2, 3), float64:\n    [[0.  0.5 1. ]",
        "the code printed: hello\N{REPLACEMENT CHARACTER}[2J",
        "04.uniform: by hand, graded by hand\n  in the gradebook: 2.5, given by a person",
    ):
        assert passage in text, passage


def test_large_arrays_are_cut_to_the_first_cells_that_differ(course):
    got = np.zeros((40, 30))
    expected = got.copy()
    expected[7, 3:20] = np.arange(1, 18)
    got[9, 9] = np.nan
    large = replace(RESULT, inputs=(np.zeros((500, 500)), 4))
    text = shown(course, large, "04.scale", got=got, expected=expected, index=(7, 3), count=18)
    assert "scaled: shape (40, 30), 18 cells differ; the first of them:\n    [7, 3]: got 0, wanted 1" in text
    assert text.count(": got ") == 8 and "..." in text and len(text) < 3000 and "04.mix" not in text


def test_texts_are_shown_as_python_writes_them(course):
    words = Difference("text", 0, to_bytes(["don't\x1b[2J"]), to_bytes(["don", "'", "t"]), None, 0.0, 1)
    result = replace(RESULT, difference=words, inputs=("don't", {("a", "b"): 2}))
    text = shown(course, result, "04.scale")
    assert 'got scaled: ["don\'t\\x1b[2J"]' in text and """wanted scaled: ['don', "'", 't']""" in text
    assert 'input scores: "don\'t"' in text and "input head_width: {('a', 'b'): 2}" in text
    late = replace(words, got=to_bytes(3000 * "x" + "got"), expected=to_bytes(3000 * "x" + "right"))
    text = shown(course, replace(result, difference=late))
    assert re.search(r"got scaled, from character \d+ on: … 'x+got'\n", text)
    assert re.search(r"wanted scaled, from character \d+ on: … 'x+right'\n", text)
    unread = replace(result, difference=replace(words, got=np.array([250, 3], np.uint8)))
    assert "got scaled: what came back cannot be read" in shown(course, unread)


def test_of_many_axes_the_slice_with_the_first_difference_is_shown(course):
    got = np.zeros((2, 3, 4, 6))
    expected = got.copy()
    expected[1, 2, 3, 5] = 9
    deep = replace(RESULT, inputs=(np.ones((2, 3, 4, 6)),))
    text = shown(course, deep, "04.scale", got=got, expected=expected, index=(1, 2, 3, 5), count=1)
    assert "the first cell that differs is in [1, 2, :, :] of scaled, shape (2, 3, 4, 6); 1 differ in all" in text
    assert text.count("[0. 0. 0. 0. 0. 0.]") == 4 + 3 and "[0. 0. 0. 0. 0. 9.]]" in text
    assert "input scores, shape (2, 3, 4, 6), float64:" in text and len(text.splitlines()) < 45


@pytest.mark.parametrize(
    ("got", "expected"),
    [(np.zeros((2, 2)), np.zeros(3)), (np.float64(3), np.array(2.0)), (np.zeros((0, 3)), np.zeros((1, 3)))],
)
def test_shapes_that_differ_and_single_numbers_are_shown(course, got, expected):
    kind = "shape" if np.shape(got) != expected.shape else "value"
    text = shown(course, kind=kind, got=np.asarray(got), expected=expected, index=None)
    assert "got scaled" in text and "wanted scaled" in text


def test_infinities_and_booleans_in_large_answers_are_compared(course):
    got = np.ones((20, 20), bool)
    expected = np.ones((20, 20))
    expected[0, 0] = -np.inf
    text = shown(course, got=got, expected=expected, index=(0, 0), count=1)
    assert "[0, 0]: got 1, wanted -inf" in text and text.count(": got ") == 1
