"""Questions on a learner's own answers in the terminal: its code runs as a check at home, without a sandbox."""

import nbformat
import pytest
from click.testing import CliRunner
from small_class import NAME, ROOT

from softlookup.authoring import read_solution
from softlookup.cli import main
from softlookup.grading.quiz_at_home import home_questions
from softlookup.grading.samples.handins import answers, filled
from softlookup.grading.viva.questions import LETTERS


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    release = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
    right = answers(read_solution(ROOT / "solutions" / f"{NAME}.py"))
    texts = {f"04-{name}": right[f"04-{name}"] for name in ("mix", "weights", "attention")}
    texts |= {"04-scores": "def scores(q, k):\n    return q", "04-scale": "1 / 0"}
    texts["04-softmax"] = "print('printed by a cell')\n" + right["04-softmax"]
    path = tmp_path_factory.mktemp("home") / f"{NAME}.ipynb"
    nbformat.write(filled(release, texts), path)
    return path


def test_questions_are_on_answers_that_pass_and_the_same_for_a_seed(notebook, capsys):
    questions = home_questions(notebook, 3, 5)
    assert questions == home_questions(notebook, 3, 5) and len({question.task for question in questions}) == 3
    assert not {"04.scores", "04.scale"} & {question.task for question in questions}
    assert not any(question.published for question in questions)
    assert "printed" not in capsys.readouterr().out


def test_the_command_asks_one_at_a_time_and_gives_the_reason(notebook):
    first, *_ = questions = home_questions(notebook, 2, 5)
    wrong = next(letter for letter in LETTERS if letter != first.letter)
    command = ["quiz", "--mine", str(notebook), "--seed", "5", "--questions", "2"]
    result = CliRunner().invoke(main, command, input=f"x\n{wrong}\n{questions[1].letter.lower()}\n")
    assert result.exit_code == 0, result.output
    assert f"It is {first.letter}: {first.why}" in result.output and f"Right: {questions[1].why}" in result.output
    assert "1 of 2 right" in result.output and result.output.index(first.why) < result.output.index("2 of 2  (")


def test_the_command_refuses_in_one_sentence(notebook, tmp_path):
    (tmp_path / "bad.ipynb").write_text("no notebook")
    release = ROOT / "exercises" / NAME / f"{NAME}.ipynb"
    for arguments, words in (
        ([str(notebook)], "--mine"),
        (["--mine", "77_nothing"], "there is no 77_nothing"),
        (["--mine", str(tmp_path / "bad.ipynb")], "bad.ipynb"),
        (["--mine", str(release)], "they are on answers that pass"),
    ):
        result = CliRunner().invoke(main, ["quiz", *arguments])
        assert result.exit_code == 2 and words in result.output and "Traceback" not in result.output, result.output
