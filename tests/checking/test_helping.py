"""Help in steps: every task has its texts, steps come in their order, and what was asked for is kept."""

import ast
import re
import sys

import numpy as np
import pytest
import torch

from published import ALL_MISTAKES, ALL_TASKS, constant_variants, world
from softlookup import check, hint
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge import get_task
from softlookup_judge.checking.catalogue import UnknownTask
from softlookup_judge.checking.judge import ask
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import answer, in_variant, solution
from softlookup_judge.data.variant import variant_of
from softlookup_judge.helping.example import work_through
from softlookup_judge.helping.helping import HELP_MIME, SETTING, TITLES, Attempts, HelpOnTask, step_for_command
from softlookup_judge.home import Checker
from softlookup_judge.judging.questions import draw, questions_at_home
from softlookup_judge.naming.nudge import nudge


def by_id(value):
    return value.id


@pytest.mark.one_in(18)
@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_every_task_has_its_texts_and_another_right_answer(task):
    texts = task.notebook.help_texts(task.id)
    assert 5 <= len(texts.formula) <= 160 and "\n" not in texts.formula
    assert 120 <= len(texts.explained) <= 500 and texts.explained.endswith(".")
    assert bool(texts.other) == bool(texts.differs) and len(texts.differs) <= 240
    if texts.other:
        assert_is_another_right_answer(variant_of(task))


def assert_is_another_right_answer(variant):
    task = variant.task
    cell = in_variant(variant, task.notebook.help_texts(task.id).other)
    assert ast.dump(ast.parse(cell)) != ast.dump(ast.parse(solution(variant)))
    result = check(task.id, world(task.chapter, {task.slug: cell})[task.name], variant=variant.number)
    assert result.verdict == "pass", result.text()


@pytest.mark.one_in(24)
@pytest.mark.parametrize("task", [task for task in ALL_TASKS if len(task.variants) > 1], ids=by_id)
def test_another_right_answer_is_right_in_other_variants(task):
    under_conventions = [number for number, convention in enumerate(task.conventions) if convention is not None]
    if task.notebook.help_texts(task.id).other:
        for number in (*constant_variants(task)[1:], *under_conventions[:2]):
            assert_is_another_right_answer(variant_of(task, number))


def test_nine_of_ten_tasks_have_another_way():
    assert sum(bool(task.notebook.help_texts(task.id).other) for task in ALL_TASKS) >= 0.9 * len(ALL_TASKS)


@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_every_task_can_be_worked_through(task):
    valued = [case for case in questions_at_home(variant_of(task)).cases if not case.gradients]
    for case in valued[:1]:
        text = "\n".join(work_through(variant_of(task), case))
        assert text.startswith("Question: ") and "Result:" in text and len(text) < 6000
        assert "return " not in text and "def " not in text


def test_example_shows_the_numbers_on_the_way():
    task = get_task("04.softmax")
    case = draw(variant_of(task), 4)[0]
    text = "\n".join(work_through(variant_of(task), case))
    way = text.partition("On the way:\n")[2].partition("Result:")[0]
    assert re.findall(r"^  (\w+) = ", way, re.M) == ["top", "e"]
    assert sys.gettrace() is None or "softlookup" not in repr(sys.gettrace())


def wrong(scores, head_width):
    return scores / head_width**0.4


def test_steps_come_in_order_and_the_solution_has_to_be_asked_for_twice():
    first = check("04.scale", wrong)
    assert not first.nudge and not first.help
    assert hint("04.scale").title == "What can be seen of your answer"
    second = check("04.scale", wrong)
    assert "questions" in second.nudge and 'hint("04.scale")' in second.nudge and second.help == 1
    assert second.nudge in second.text()
    texts = [str(hint("04.scale")) for _ in range(4)]
    assert [text.partition(" (")[0] for text in texts] == [
        "The formula",
        "A worked example",
        "One more step",
        "One solution",
    ]
    assert "return " not in "".join(texts[:3]) and "math.sqrt(head_width)" in texts[3]
    right = check("04.scale", lambda scores, head_width: scores / head_width**0.5)
    assert right.help == 4 and right.record()["help"] == 4
    assert [way.title for way in right.ways] == ["The published answer", "Another way"]
    assert "other ways to write it" in right._repr_mimebundle_()["text/html"]
    assert hint("04.scale").title == "Other ways to write it"


def test_before_any_check_it_begins_with_the_formula():
    step = hint("04.mix")
    assert step.title == "The formula" and step.step == 2
    assert step._repr_mimebundle_()[HELP_MIME] == {"task": "04.mix", "help": 2}
    assert check("04.mix", lambda w, v: v).record()["help"] == 2


def test_a_right_answer_without_help_says_nothing_of_help():
    assert "help" not in check("04.mix", lambda w, v: w @ v).record()


@pytest.mark.parametrize(("last", "titles"), [("none", ["Help"]), ("formula", ["The formula"] * 2)])
def test_a_course_can_stop_before_the_last_step(monkeypatch, last, titles):
    monkeypatch.setenv(SETTING, last)
    check("04.mix", lambda w, v: v)
    check("04.mix", lambda w, v: v)
    assert [hint("04.mix").title for _ in titles] == titles
    assert check("04.mix", lambda w, v: w @ v).ways == ()
    assert "weights @ v" not in str(hint("04.mix"))


def test_where_the_value_is_the_answer_the_example_has_other_numbers():
    task = get_task("04.by-hand")
    shown = [str(hint(task.id)) for _ in range(2)][-1]
    (expected,) = questions_at_home(variant_of(task)).rights[0]
    assert "other numbers" in shown
    assert np.array2string(np.round(expected, 2), separator=", ") not in shown


def test_the_command_line_gives_a_step_for_each_answer_in_the_variant_that_is_asked():
    task, checker = get_task("04.scale"), Checker()
    number = next(n for n, constants in enumerate(task.variants) if constants.get("tau", 1) != 1)
    checker.check(task.id, wrong, number)
    steps = [
        checker.hint_for_command(task.id, number, HelpOnTask(steps), again)
        for steps, again in ((0, False), (1, True), (1, False), (2, False), (3, False), (3, True), (4, False))
    ]
    assert [step.step for step in steps] == [1, 1, 2, 3, 3, 3, 4]
    assert [step.title for step in steps[:4]] == [TITLES[name] for name in ("nudge", "nudge", "formula", "example")]
    assert {step.title for step in steps[3:]} == {TITLES["example"]}
    assert f"tau = {task.variants[number]['tau']:g}" in steps[3].text() and "return " not in str(steps)
    checker.check(task.id, solved(task.id), 0)
    assert checker.hint_for_command(task.id, 0, HelpOnTask(), False).title == "No help is needed"


@pytest.mark.one_in(10)
@pytest.mark.parametrize("task", ALL_TASKS, ids=by_id)
def test_no_step_of_the_command_line_holds_a_line_of_the_solution(task):
    lines = {line.strip() for line in solution(variant_of(task)).splitlines()}
    lines = {line for line in lines if line.startswith("return ") and len(line) > 14}
    for steps in range(4):
        attempts = Attempts(failures=1, student=LocalStudent(variant_of(task), lambda *args: None, {}))
        text = step_for_command(attempts, variant_of(task), HelpOnTask(steps), False).text()
        assert not [line for line in lines if line in text or line.removeprefix("return ") in text.splitlines()]


def test_unknown_tasks_and_variants_are_said_to_be_such():
    with pytest.raises(UnknownTask):
        hint("04.scael")
    with pytest.raises(ValueError, match="variant 17"):
        hint("04.scale", variant=17)


def solved(task_id):
    return answer(variant_of(get_task(task_id)), ())


def squared_softmax(x):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return (e / e.sum(-1, keepdim=True)) ** 2


@pytest.mark.parametrize(
    ("task_id", "obj", "words"),
    [
        ("04.scale", lambda s, h: s, "is the input `scores` unchanged"),
        (
            "04.scale",
            lambda s, h: s / h,
            "In all questions where your result is wrong, it is the right one times 1/√`head_width`",
        ),
        (
            "04.scale",
            lambda s, h: s / h**0.5 * 3,
            "In all questions where your result is wrong, it is the right one times 3.",
        ),
        # The first prompt has 1,000 tokens, which is not where the factor comes from.
        (
            "16.cost",
            lambda *a: [n / 1000 for n in solved("16.cost")(*a)],
            "`a million inputs` is wrong, it is the right one times 0.001.",
        ),
        ("04.scale", lambda s, h: -s / h**0.5, "sign changed"),
        ("04.scores", lambda q, k: (q @ k.transpose(-2, -1)).transpose(-2, -1), "last two axes exchanged"),
        ("04.scores", lambda q, k: 1 / (q @ k.transpose(-2, -1)), "one over the right one"),
        ("04.project", lambda x, q, k, v: (x @ k, x @ q, x @ v), "where `q` is wrong, it is what `k` should be"),
        ("04.mix", lambda w, v: w @ v + 1, "plus 1 everywhere"),
        ("04.mix", lambda w, v: (w @ v).flip(-2), "in reverse order along axis"),
        ("04.softmax", lambda x: x, "is the input `x` unchanged"),
        ("04.softmax", squared_softmax, "is the square of the right one"),
        ("04.softmax", lambda x: torch.sigmoid(x), "do not sum to 1"),
        ("08.causal", lambda t, s: ~torch.ones(t, s).bool().tril(s - t), "True where it should be False"),
        ("08.causal", lambda t, s: torch.ones(t + 1, s).bool().tril(s - t), "too many"),
    ],
)
def test_nudges_say_what_can_be_seen(task_id, obj, words):
    task = get_task(task_id)
    for _ in range(2):
        result = check(task_id, obj)
    assert words in result.nudge, result.nudge
    assert task.reveals


def test_a_factor_is_looked_for_in_questions_with_and_without_a_default():
    rounds = [
        (Case("short", (4, 0.5), frame="plain"), Answer((np.array(8.0),)), (np.array(2.0),)),
        (Case("long", (9, 0.5, 1.0), frame="plain"), Answer((np.array(27.0),)), (np.array(3.0),)),
        (Case("longer", (16, 0.5), frame="plain"), Answer((np.array(64.0),)), (np.array(4.0),)),
    ]
    assert "times `head_width`" in nudge(variant_of(get_task("04.spread")), rounds)


@pytest.mark.parametrize(
    ("task_id", "obj"),
    [
        ("13.contrastive", lambda i, t, s: (i @ t.T).square().mean()),
        ("04.scale", lambda s, h: s / h**0.5 * s.shape[0] / 3),  # right where there are three rows
    ],
)
def test_a_factor_of_one_question_alone_is_not_told(task_id, obj):
    for _ in range(2):
        result = check(task_id, obj)
    assert result.verdict == "wrong" and result.nudge and "right one times" not in result.nudge, result.nudge


@pytest.mark.one_in(18)
@pytest.mark.parametrize("pair", ALL_MISTAKES[::7], ids=lambda pair: f"{pair[0].id}:{pair[1].slug}")
def test_every_known_mistake_gets_a_nudge(pair):
    task, mistake = pair
    task_questions = questions_at_home(variant_of(task))
    obj = answer(variant_of(task), (mistake.slug,))
    rounds = ask(variant_of(task), LocalStudent(variant_of(task), obj), task_questions)
    message = nudge(variant_of(task), rounds[: len(task_questions.cases)])
    if task.reveals or len(task_questions.cases) > 1:
        assert message.endswith((".", "?")) and len(message) < 900
