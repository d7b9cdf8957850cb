"""The bench of strangers' answers: it counts right, and every answer of its set defines what its task asks for."""

import ast
from collections import Counter

import pytest
from click.testing import CliRunner

from benchmarks.strangers import ANSWERS, bench_strangers, read_answers, tally, verdict_on
from softlookup_command.commands import main
from softlookup_judge import get_task
from softlookup_judge.mistakes import habits
from softlookup_judge.naming.diagnose import OTHER_VARIANT

SET = """\
# %% 04.softmax | right | subtracts the largest score
def softmax(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


# %% 04.softmax | wrong | subtracts nothing, and overflows | names=no-max
def softmax(x):
    e = torch.exp(x)
    return e / e.sum(-1, keepdim=True)


# %% 04.softmax | wrong | it is said to have no mistake that has a name | names=
def softmax(x):
    e = torch.exp(x)
    return e / e.sum(-1, keepdim=True)


# %% 04.scale | wrong | it is said to be wrong, and is right
def scale(scores, head_width):
    return scores / head_width**0.5


# %% 04.scale | right | it is said to be right, for |scores| | variant=0, names=
def scale(scores, head_width):
    return scores / head_width


# %% 04.mix | wrong | it leaves the process
import os


def mix(weights, v):
    os._exit(1)
"""


@pytest.fixture
def answers(tmp_path):
    (tmp_path / "set.py").write_text(SET, encoding="utf-8")
    return tmp_path


def test_answers_of_known_outcome_are_counted(answers):
    *others, leaving = read_answers([answers])
    verdicts = [verdict_on(answer) for answer in others]
    assert [each.verdict for each in verdicts] == ["pass", "partial", "partial", "pass", "wrong"]
    assert [each.shortfalls for each in verdicts] == [
        (),
        (),
        ("false name",),
        ("wrong answer passed",),
        ("right answer refused", "false name"),
    ]
    together = tally(verdicts)
    assert (together.wrong, together.wrong_passed, together.right, together.right_refused) == (3, 1, 2, 1)
    assert (together.named, together.named_share, together.names_known, together.false_names) == (2, 1.0, 2, 2)
    assert leaving.place == "set.py:29"


def test_answer_that_ends_its_process_takes_no_other_verdict_with_it(answers):
    record = bench_strangers([answers], quick=True)
    assert [row["verdict"] for row in record["verdicts"]] == ["none", "wrong", "partial"]
    assert record["verdicts"][0]["shortfalls"] == ["no verdict"]
    assert record["ratio"] == pytest.approx(1 / 3) and list(record["chapters"]) == ["04"]


def test_line_that_says_neither_wrong_nor_right_is_refused(tmp_path):
    (tmp_path / "set.py").write_text("# %% 04.scale | perhaps | who knows\n", encoding="utf-8")
    result = CliRunner().invoke(main, ["bench", "strangers", str(tmp_path)])
    assert result.exit_code != 0 and "set.py:1 begins with" in result.output
    (tmp_path / "set.py").write_text("", encoding="utf-8")
    result = CliRunner().invoke(main, ["bench", "strangers", str(tmp_path)])
    assert result.exit_code != 0 and "no answer" in result.output
    result = CliRunner().invoke(main, ["bench", "grid", str(tmp_path)])
    assert result.exit_code != 0 and "goes with strangers" in result.output


def test_each_answer_of_the_set_defines_what_its_task_asks_for():
    every = read_answers([ANSWERS])
    for answer in every:
        task = get_task(answer.task)
        defined = {getattr(node, "name", "") for node in ast.parse(answer.source).body}
        assert task.name in defined, answer.place
        for name in answer.names or ():
            known = {OTHER_VARIANT, *(mistake.slug for mistake in task.mistakes)}
            assert name in known or habits.says(name), answer.place
    assert Counter(answer.right for answer in every)[False] > 250
    assert len({get_task(answer.task).chapter for answer in every}) > 20
    assert len({(answer.task, answer.variant, answer.source) for answer in every}) == len(every)
