"""Questions on a learner's own answers in the terminal: its code runs as a check at home, without a sandbox."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from arriving import released
from click.testing import CliRunner
from small_class import NAME, ROOT

from softlookup_command.commands import main
from softlookup_course.at_home import quiz_at_home
from softlookup_course.at_home.quiz_at_home import home_questions
from softlookup_course.samples.handins import answers, filled
from softlookup_course.viva.questions import LETTERS
from softlookup_judge.authoring import read_solution
from softlookup_judge.helping.kept import read_kept

RIGHT = answers(read_solution(ROOT / "solutions" / f"{NAME}.py"))


def notebook_of(folder, texts):
    path = folder / f"{NAME}.ipynb"
    nbformat.write(filled(released(), texts), path)
    return path


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    texts = {f"04-{name}": RIGHT[f"04-{name}"] for name in ("mix", "weights", "attention")}
    texts |= {"04-scores": "def scores(q, k):\n    return q", "04-scale": "1 / 0"}
    texts["04-softmax"] = "print('printed by a cell')\n" + RIGHT["04-softmax"]
    return notebook_of(tmp_path_factory.mktemp("home"), texts)


@pytest.mark.slow
def test_questions_are_on_answers_that_pass_and_the_same_for_a_seed(notebook, capsys):
    questions = home_questions(notebook, 3, 5)
    assert questions == home_questions(notebook, 3, 5) and len({question.task for question in questions}) == 3
    assert not {"04.scores", "04.scale"} & {question.task for question in questions}
    assert "printed" not in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_asks_one_at_a_time_gives_the_reason_and_keeps_what_was_answered(notebook, monkeypatch):
    first, *_ = questions = home_questions(notebook, 2, 5, "04.softmax")
    wrong = next(letter for letter in LETTERS if letter != first.letter)
    calls = []
    monkeypatch.setattr(
        "softlookup_course.at_home.quiz_at_home.home_questions", lambda *a: calls.append(a[:4]) or questions
    )
    for _ in range(2):
        command = ["quiz", "04.softmax", str(notebook), "--seed", "5", "--questions", "2"]
        result = CliRunner().invoke(main, command, input=f"x\n{wrong}\n{questions[1].letter.lower()}\n")
        assert result.exit_code == 0, result.output
        assert calls.pop() == (notebook, 2, 5, "04.softmax")
        assert f"It is {first.letter}: {first.why}" in result.output and f"Right: {questions[1].why}" in result.output
        assert "1 of 2 right" in result.output and result.output.index(first.why) < result.output.index("2 of 2  (")
        keys = read_kept(notebook.parent).tasks["04.softmax"].questions
        assert sorted(keys.values()) == [False, True], "the same question again is no other one"


@pytest.mark.slow
def test_the_command_refuses_in_one_sentence(notebook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.ipynb").write_text("no notebook")
    for arguments, words in (
        (["77_nothing"], "there is no 77_nothing"),
        (["bad.ipynb"], "bad.ipynb"),
        ([str(notebook), "04.scores"], "no questions on 04.scores: they are on answers that pass"),
    ):
        result = CliRunner().invoke(main, ["quiz", *arguments])
        assert result.exit_code == 2 and words in result.output and "Traceback" not in result.output, result.output


ENDS = """
import os, subprocess
def softmax(x):
    n = 0
    while n < 3:
        n = n + 1
    if n > 3:
        open("left.pid", "w").write(str(subprocess.Popen(["sleep", "300"]).pid))
        os._exit(3)
    e = torch.exp(x - x.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)
"""
KILLS = ENDS.replace("os._exit(3)", "os.kill(0, 9)")
HANGS = """
def softmax(x):
    n = 0
    while True:
        try:
            while n < 3:
                n = n + 1
            break
        except BaseException:
            n = 0
    e = torch.exp(x - x.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "says"),
    [(ENDS, "ended the process"), pytest.param(HANGS, "was still running after", marks=pytest.mark.slow)],
    ids=["ends", "hangs"],
)
def test_an_edit_that_does_not_come_back_costs_its_task_and_a_sentence(tmp_path, source, says):
    sentences, path = [], notebook_of(tmp_path, {"04-softmax": source, "04-scale": RIGHT["04-scale"]})
    questions = home_questions(path, 1, 5, say=sentences.append)
    assert {question.task for question in questions} == {"04.scale"}
    [sentence] = sentences
    assert sentence.startswith(f"04.softmax is left out: your answer, or a copy of it with one line changed, {says}")
    if source == ENDS:
        pid = int((tmp_path / "left.pid").read_text())
        assert not is_running(pid), "what an edit has started ends with the quiz"


def is_running(pid):
    """Whether a process runs; one that has ended may wait for somebody to ask how."""
    path = Path(f"/proc/{pid}/stat")
    return path.exists() and path.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
def test_an_edit_that_kills_its_group_does_not_kill_the_quiz(tmp_path):
    path = notebook_of(tmp_path, {"04-softmax": KILLS, "04-scale": RIGHT["04-scale"]})
    command = [sys.executable, "-m", "softlookup_command", "quiz", path, "--questions", "1", "--seed", "5"]
    alone = {"timeout": 300, "start_new_session": True}
    done = subprocess.run(command, input="A\n", capture_output=True, text=True, **alone)
    assert done.returncode == 0 and "ended the process that ran it" in done.stdout, done.stdout + done.stderr
    assert "1 of 1  (04.scale)" in done.stdout and done.stdout.endswith("of 1 right\n")


@pytest.mark.slow
def test_nothing_begins_after_the_time_of_a_quiz_and_it_is_said(notebook, monkeypatch):
    monkeypatch.setattr(quiz_at_home, "_TOTAL_S", 0.0)
    sentences = []
    assert home_questions(notebook, 1, 5, say=sentences.append) == [] and len(sentences) == 1


def test_the_time_of_a_quiz_is_over_without_a_word_where_enough_tasks_were_tried(notebook):
    sentences = []
    work = quiz_at_home._prepared(notebook, 5)
    for tasks, says in ((quiz_at_home.SPARE + 1, 1), (quiz_at_home.SPARE, 0)):
        search = quiz_at_home._Search(quiz_at_home.Job(notebook, tasks, 5), sentences.append, work, until=0.0)
        assert search.is_over("04.mix") and len(sentences) == says
        assert all(sentence.endswith("and what follows are left out.") for sentence in sentences)
        sentences.clear()
        search.until = float("inf")
        assert not search.is_over("04.mix") and not sentences
