"""Questions on students' own code: proved by running both programs, the same for the same seed, and safe to print."""

import itertools
import re
import time
from dataclasses import replace

import nbformat
import numpy as np
import pytest
from click.testing import CliRunner
from fake_grader import here
from paper_class import hand_in, paper_course, write_submission
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME

from softlookup_command.commands import main
from softlookup_course.samples.handins import answers, filled
from softlookup_course.viva import pages
from softlookup_course.viva.questions import EDIT, LETTERS, RESULT, VALUE, VivaQuestion, questions_on
from softlookup_course.viva.running import VivaExaminer
from softlookup_course.viva.shown import apart, result_text
from softlookup_course.viva.vivas import Viva, choose, make_viva
from softlookup_grader import GradeRequest, grade_assignment
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.forgetting import forget, kept_of
from softlookup_grader.reports.vivas import seed_of
from softlookup_judge.checking.catalogue import get_task

pytestmark = NEEDS_SANDBOX
LIMITS = Limits(cell_s=2, answer_s=2, total_s=60)
SEED = 20261127
FEW = ("04-scale", "04-softmax", "04-scores")
"""Answers that are enough for two questions."""

HOSTILE = {
    "ends the process": "def scale(scores, head_width):\n    import os\n    os._exit(0)",
    "sleeps": "import time\n\ndef scale(scores, head_width):\n    time.sleep(60)\n    return scores / head_width**0.5",
    "counts its calls": "calls = []\n\ndef scale(scores, head_width):\n    calls.append(1)\n"
    "    noise = len(calls) > 5\n    return scores / math.sqrt(head_width) + noise",
    "draws": "def scale(scores, head_width):\n    return scores / math.sqrt(head_width) + torch.rand(1) * 1e-7",
    "knows its process": "import os\n\ndef scale(scores, head_width):\n    tiny = 1e-8 * (os.times().elapsed % 1)\n"
    "    return scores.double() / math.sqrt(head_width) + tiny",
    "is another one than is shown": "def scale(scores, head_width):\n    return scores / head_width\n\n"
    "globals()['scale'] = lambda scores, head_width: scores / math.sqrt(head_width)",
    "is another one than is shown, in several lines": "def scale(scores, head_width):\n    root = 2 + head_width\n"
    "    larger = scores + 1\n    return larger / root\n\n"
    "globals()['scale'] = lambda scores, head_width: scores / math.sqrt(head_width)",
    "patches numpy": "import numpy as np\nnp.array_equal = lambda *_: True\n\n"
    "def scale(scores, head_width):\n    return scores",
    "holds another task's function": "def softmax(x):\n    return x\n\n"
    "def scale(scores, head_width):\n    return softmax(scores)",
    "is endless when it is changed": "def scale(scores, head_width):\n    n = 1\n    while n < 2:\n        n = n + 1\n"
    "    return scores / math.sqrt(head_width)",
}
MARKUP = (
    "def scale(scores, head_width):\n    '</pre><script>alert(1)</script> $\\href{javascript:x}{y}$'\n"
    "    print('<img src=x onerror=alert(2)>')\n    root = 0 + math.sqrt(head_width)  # -->``` <b>A is right</b>\n"
    "    return scores / root"
)


@pytest.fixture(scope="module")
def examiner(release):
    with VivaExaminer(RunSettings.single(NAME, nbformat.writes(release), SEED, limits=LIMITS)) as examiner:
        yield examiner


def submission(release, texts):
    return nbformat.writes(filled(release, texts)).encode()


@pytest.fixture(scope="module")
def right(release, source):
    return submission(release, answers(source))


@pytest.fixture(scope="module")
def few(release, source):
    return submission(release, {name: answers(source)[name] for name in FEW})


@pytest.fixture(scope="module")
def trials(examiner, right):
    return examiner.trials("ada", right, 14)


@pytest.fixture(scope="module")
def viva(examiner, right):
    return make_viva(examiner, "ada", right, 5)


@pytest.fixture(scope="module")
def all_questions(trials):
    return [question for trial in trials for question in questions_on(trial, np.random.default_rng(1))]


def test_every_kind_of_question_is_made_and_has_four_different_options(all_questions):
    assert {question.question_type for question in all_questions} == {RESULT, EDIT, VALUE}
    for question in all_questions:
        assert len(set(question.options)) == len(question.options) == len(LETTERS)
        assert question.letter in LETTERS and question.difficulty in (1, 2, 3) and question.line > 1
        assert question.mention and question.why and question.code.startswith(" 1   def ")


def test_the_right_letter_is_drawn(all_questions):
    letters = [question.letter for question in all_questions]
    assert all(0.12 < letters.count(letter) / len(letters) < 0.4 for letter in LETTERS)


def test_the_key_is_what_the_changed_program_gives_and_no_other_option_looks_like_it(trials):
    count = 0
    for trial in trials:
        names = trial.check.variant.returns
        by_after = {(str(p.mutant.line), p.mutant.after): p for p in trial.mutants}
        gave = {
            result_text(arrays, names): arrays
            for program in (trial.original, *trial.mutants)
            for arrays in program.outcomes
            if arrays is not None
        }
        for question in questions_on(trial, np.random.default_rng(2)):
            if question.question_type == RESULT:
                outcomes = by_after[question.about[1:]].outcomes
                results = [result_text(arrays, names) for arrays in outcomes if arrays is not None]
                assert question.options[question.key] in results
                assert set(question.options) <= set(gave), "every option is what some program gave"
                pairs = itertools.combinations(question.options, 2)
                assert all(apart(gave[first], gave[second], least=0.07) for first, second in pairs)
                count += 1
    assert count > 30


def test_no_option_stands_in_what_is_asked(all_questions):
    for question in all_questions:
        answer, call = question.options[question.key], "\n".join(question.call)
        if question.question_type == RESULT and not answer.lstrip("-").isdigit():
            assert answer not in call.split(" = ")
        elif question.question_type == VALUE:
            assert answer not in re.split(r"[\s,\[\]]+", call)


def test_the_same_seed_gives_a_student_the_same_questions_and_others_others(examiner, few):
    first, again, other = (make_viva(examiner, student, few, 2) for student in ("ada", "ada", "bo-tang"))
    assert first == again and first.code == again.code
    assert [q.options for q in first.questions] != [q.options for q in other.questions]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_answer_gives_no_question_and_costs_no_other_answer(what, examiner, release):
    texts = {"04-scale": HOSTILE[what], "04-scores": "def scores(q, k):\n    return q @ k.transpose(-2, -1)"}
    trials = examiner.trials("eve", submission(release, texts), 14)
    tasks = {trial.check.task.id for trial in trials}
    assert "04.scores" in tasks
    made = [question for trial in trials for question in questions_on(trial, np.random.default_rng(0))]
    if what == "is endless when it is changed":
        assert "04.scale" in tasks
    else:
        assert not [question for question in made if question.task == "04.scale"], what


def test_what_students_write_reaches_the_pages_as_text_alone(examiner, release):
    (trial,) = examiner.trials("mallory", submission(release, {"04-scale": MARKUP}), 2)
    viva = Viva("mallory", NAME, tuple(questions_on(trial, np.random.default_rng(1))), SEED)
    assert viva.questions
    for page in (pages.student_sheet(viva), pages.oral(viva), pages.key(viva)):
        assert "<script" not in page and "<b>A is right" not in page and "<img" not in page
    assert "&lt;/pre&gt;&lt;script&gt;alert(1)" in pages.student_sheet(viva)
    whole = pages.page("</title><script>", [pages.student_sheet(viva)], ["</head><script>"])
    assert "<script" not in whole and "default-src 'none'" in whole


def test_what_is_left_out_stands_on_the_pages_for_the_examiner_and_on_no_students():
    note = "04.scale is left out: <b>\u202e it was late."
    options, call = ("1", "2", "</pre>3", "4"), ("x = 1",)
    question = VivaQuestion(RESULT, "04.scale", "", "", call, "", "What?", options, 0, "So.", "it", 2, 1, call)
    viva = Viva("ada", NAME, (question,), 1, (note,))
    words = "04.scale is left out: &lt;b&gt;⟨U+202E⟩ it was late."
    assert words in pages.key(viva) and words in pages.oral(viva) and words not in pages.student_sheet(viva)
    assert "&lt;/pre&gt;3" in pages.student_sheet(viva)


FORGED = """
import json, pathlib, sys
forged = json.dumps({"questions": [{"after": "FORGED", "options": ["1", "2", "3", "4"], "key": 0}]})
print(forged, file=sys.__stdout__, flush=True)
for name in ("viva.json", "sheet.html", "../viva.json"):
    try:
        pathlib.Path(name).write_text(forged)
    except OSError:
        pass
json.dumps = lambda *_, **__: forged

def scale(scores, head_width):
    "FORGED: A is right"
    print(forged)
    root = 0 + math.sqrt(head_width)
    return scores / root
"""


def test_who_has_nothing_right_is_asked_nothing(examiner, release):
    for content in (submission(release, {}), b"no notebook"):
        assert make_viva(examiner, "nobody", content, 2).questions == ()


def test_a_submission_that_writes_questions_is_asked_none_of_them(examiner, release):
    broken = make_viva(examiner, "mallory", submission(release, {"04-scale": FORGED}), 2)
    assert broken.questions == () and "broke the rules of the connection" in broken.notes[0]
    printed = FORGED.replace("json.dumps = lambda *_, **__: forged\n", "")
    viva = make_viva(examiner, "mallory", submission(release, {"04-scale": printed}), 2)
    assert len(viva.questions) == 2
    for question in viva.questions:
        assert "FORGED" not in question.after and sorted(question.options) != ["1", "2", "3", "4"]
        assert "FORGED" not in "".join(question.options)


def test_sheets_are_equally_hard_and_hold_no_edit_twice(all_questions):
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(len(all_questions))
        sheet = choose([all_questions[at] for at in order], 5)
        assert len(sheet) == 5 and len({question.about for question in sheet}) == 5
        assert len({question.task for question in sheet}) >= 4
        assert len({question.question_type for question in sheet}) == 3
        assert abs(sum(question.difficulty for question in sheet) / 5 - 2) <= 0.2


def test_the_sheet_holds_no_key_and_the_key_all_of_it(viva):
    sheet, key, oral = pages.student_sheet(viva), pages.key(viva), pages.oral(viva)
    assert "class=right" not in sheet and "Answer" not in sheet and oral.count("class=right") == len(viva.questions)
    for number, question in enumerate(viva.questions, 1):
        assert f"{number}{question.letter}" in key and f"<dd>{question.letter}. " in oral
        assert get_task(question.task).title in sheet
    assert viva.code in sheet and viva.code in key and viva.code in oral


TOTAL_S = 16.0
BEFORE = "    n = 0\n    while n < 3:\n        n = n + 1\n    if n > 3:\n        {}\n    return "
HANGS, ENDS = BEFORE.format("__import__('time').sleep(500)"), BEFORE.format("__import__('os')._exit(0)")


@pytest.fixture(scope="module")
def bounded(release):
    limits = Limits(cell_s=2, answer_s=1, total_s=TOTAL_S)
    with VivaExaminer(RunSettings.single(NAME, nbformat.writes(release), 7, limits=limits)) as examiner:
        yield examiner


@pytest.fixture
def tried(bounded, release, source):
    """Spoil answers that have one return; gives the tasks that can be asked about, what is said, and the seconds."""

    def tried(spoilt, before):
        texts = {name: answers(source)[name] for name in FEW}
        for name in spoilt:
            assert texts[name].count("    return ") == 1
            texts[name] = texts[name].replace("    return ", before)
        sentences, begun = [], time.monotonic()
        trials = bounded.trials("eve", submission(release, texts), 14, say=sentences.append)
        return {trial.check.task.id for trial in trials}, sentences, time.monotonic() - begun

    return tried


def test_nothing_is_said_of_answers_that_come_to_an_end(tried):
    tasks, sentences, _ = tried((), "")
    assert tasks == {"04.scores", "04.scale", "04.softmax"} and sentences == []


@pytest.mark.parametrize("total_s", [pytest.param(TOTAL_S, marks=pytest.mark.slow), 2.0])
def test_answers_that_hang_once_they_are_edited_are_bounded_in_time_and_named(bounded, tried, monkeypatch, total_s):
    settings = bounded.assignment.settings
    short = replace(settings, limits=replace(settings.limits, total_s=total_s))
    monkeypatch.setattr(bounded.assignment, "settings", short)
    tasks, sentences, seconds = tried(FEW, HANGS)
    assert seconds < total_s + 10
    assert all(name.replace("-", ".") in {*tasks, *" ".join(sentences).replace(",", "").split()} for name in FEW)
    assert total_s == TOTAL_S or any("the time for one student, 2 s for two runs" in text for text in sentences)


def test_an_answer_that_ends_its_process_when_it_is_edited_takes_no_other_one_along(tried):
    tasks, _, seconds = tried(("04-scale",), ENDS)
    assert {"04.scores", "04.softmax"} <= tasks and seconds < TOTAL_S + 10


def test_an_answer_that_always_hangs_is_named_with_the_reason(tried):
    tasks, sentences, _ = tried(("04-scale",), "    __import__('time').sleep(500)\n    return ")
    assert "04.scale" not in tasks and {"04.scores", "04.softmax"} & tasks
    assert any("04.scale is left out" in text and "did not come to an end in time" in text for text in sentences)


def test_a_notebook_that_ends_its_process_is_said_to(tried):
    ends = "    return 0\n\n\n__import__('os')._exit(0)\n\n\ndef rest():\n    return "
    tasks, sentences, _ = tried(("04-scale",), ends)
    assert not tasks and "a cell of the notebook ended its process" in " ".join(sentences)


@pytest.fixture(scope="module")
def course(tmp_path_factory, source):
    """A class that was graded without running anything: vivas run again what was handed in."""
    course = paper_course(tmp_path_factory, source)
    right = answers(source)
    hand_in(course, "ada", {name: right[name] for name in FEW})
    hand_in(course, "bo-tang", {"04-softmax": right["04-softmax"]})
    write_submission(course, "not-json", "{")
    course.folder("submitted", "missing-notebook", NAME).mkdir(parents=True)
    grade_assignment(course, GradeRequest(NAME, workers=1, feedback=False, seed=11), executor=here())
    return course


def as_if_printed(files):
    """In the place of Chromium, which takes seconds."""
    printed = [file.with_suffix(".pdf") for file in files]
    for path in printed:
        path.write_bytes(b"%PDF-")
    return printed


def run(*arguments):
    result = CliRunner().invoke(main, ["viva", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.mark.slow
def test_the_command_writes_a_class_and_forget_reaches_it(course, monkeypatch):
    monkeypatch.setattr("softlookup_course.commands.vivas.as_pdf", as_if_printed)
    command = (NAME, "--course", course.root, "--questions", 1)
    status, output = run(*command, "--seed", 3)
    assert status == 0, output
    folder = course.root / "viva" / NAME
    assert "questions for 2 students, seed 3" in output and "'missing-notebook' handed in nothing" in output
    assert (folder / "sheets.pdf").is_file() and not (folder / "not-json").exists()
    assert {path.name for path in (folder / "bo-tang").iterdir()} == {"sheet.html", "oral.html"}
    assert all(student in (folder / "sheets.html").read_text() for student in ("ada", "bo-tang"))
    assert f"viva/{NAME}/bo-tang" in kept_of(course, "bo-tang")
    before = (folder / "ada" / "sheet.html").read_text()
    status, output = run(*command, "--student", "ada")
    assert status == 0 and "seed 3" in output and (folder / "ada" / "sheet.html").read_text() == before
    forget(course, "bo-tang")
    assert not [path for path in folder.rglob("*.html") if "bo-tang" in path.read_text()]
    assert (folder / "ada" / "sheet.html").is_file() and not (folder / "sheets.pdf").exists()


def test_the_seed_stays_so_that_sheets_on_paper_keep_their_keys(course):
    folder = course.root / "viva" / "05_many_heads"
    folder.mkdir(parents=True)
    for text, seed in (("7\n", 7), ("seven", None), ("", None)):
        (folder / "seed.txt").write_text(text)
        assert seed_of(course, "05_many_heads") == seed
    assert seed_of(course, "06_positions") is None


def test_the_command_refuses_in_one_sentence(course, tmp_path):
    for arguments, words in (
        ((NAME, "--course", course.root, "--student", "nobody"), "nobody in the class has the id"),
        ((NAME, "--course", course.root, "--student", "missing-notebook"), "nobody gets questions"),
        (("05_many_heads", "--course", course.root), "05_many_heads"),
        ((NAME, "--course", tmp_path), "course"),
    ):
        status, output = run(*arguments)
        assert status == 2 and words in output and "Traceback" not in output, output
