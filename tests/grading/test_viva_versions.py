"""Versions of a function: they give the same, and none looks more like the student's than another."""

import ast
import difflib
import json
import math
import time

import numpy as np
import pytest
import torch

from softlookup_course.viva.cases import TASKS
from softlookup_course.viva.choosing import choose
from softlookup_course.viva.forms import families, in_one_spelling, marks_of
from softlookup_course.viva.questions import RESULT, YOURS, VivaQuestion
from softlookup_course.viva.versions import (
    MOST_LINES,
    STEPS,
    WIDEST,
    joined,
    operands_of,
    split,
    split_at,
    used_once,
    version_sets,
)
from softlookup_course.viva.vivas import Viva
from softlookup_judge.checking.catalogue import get_task
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import answer, solution
from softlookup_judge.data.variant import variant_of
from softlookup_judge.mistakes.edits import function_in

WEIGHTS = '''
def attention_weights(q, k, mask=None):
    """weights"""
    raw_scores = q @ k.mT / math.sqrt(q.shape[-1])  # a comment
    if mask is not None:
        raw_scores = raw_scores.masked_fill(~mask, -math.inf)
    return raw_scores.softmax(-1)
'''.strip()


def sets_of(cell, name, frame="torch", seed=0, others=()):
    return version_sets(function_in(cell, name), frame, np.random.default_rng(seed), others)


@pytest.fixture(scope="module")
def published():
    """The sets of versions of the published answers, by task."""
    sets = {}
    for number, task_id in enumerate(TASKS):
        task = get_task(task_id)
        sets[task_id] = sets_of(solution(variant_of(task)), task.name, task.frame, number)
    return {task_id: made for task_id, made in sets.items() if made}


def tree(source):
    return ast.parse(source).body[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("q @ k.mT", "q @ k.transpose(-2, -1)"),
        ("q @ k.mT", "torch.einsum('...th,...sh->...ts', q, k)"),
        ("torch.einsum('...ij,...kj->...ik', q, k)", "q @ k.transpose(-2, -1)"),
        ("torch.softmax(x, dim=-1)", "x.softmax(dim=-1)"),
        ("x / math.sqrt(d)", "x * d ** (-0.5)"),
        ("x.masked_fill(~m, -math.inf)", "torch.where(m, x, -math.inf)"),
        ("x.masked_fill(m, 0.0)", "torch.where(m, 0.0, x)"),
        ("keys[None, :] <= queries[:, None]", "keys.unsqueeze(0) <= queries.unsqueeze(1)"),
        ("a <= b", "b >= a"),
        ("torch.exp(x - m)", "(x - m).exp()"),
        ("x.sort(dim=-1, descending=True)", "torch.sort(x, dim=-1, descending=True)"),
        ("y + [x]", "[*y, x]"),
    ],
)
def test_a_form_is_written_in_another_and_back(before, after):
    function = in_one_spelling(tree(f"def f(q, k, x, m, d, a, b, y):\n    return {before}"))
    texts = {
        ast.unparse(family.written(function, form)).partition("return ")[2]
        for family in families("torch")
        for form in range(family.count)
    }
    assert after in texts
    if "einsum" not in before:
        there = in_one_spelling(tree(f"def f(q, k, x, m, d, a, b, y):\n    return {after}"))
        back = {ast.dump(family.written(there, form)) for family in families("torch") for form in range(family.count)}
        assert ast.dump(function) in back or "einsum" in after


def test_an_equation_that_is_no_matrix_product_is_left_alone():
    for equation in ("h,sh->s", "...s,...s->...", "btd,dnh->bnth", "ij,jk->ki", "ij,ij->ij", "ii,ij->ij", "x"):
        function = tree(f"def f(a, b):\n    return torch.einsum({equation!r}, a, b)")
        assert ast.unparse(next(families("torch")).written(function, 0)) == ast.unparse(function), equation


def test_steps_are_joined_and_split_with_the_same_result():
    cell = (
        "def f(x, y):\n    m = x.amax(dim=-1, keepdim=True)\n    e = torch.exp(x - m)\n"
        "    unused = y.sum()\n    return e / e.sum(dim=-1, keepdim=True) + y * (x @ y.mT).sum()"
    )
    x, y = torch.randn(2, 3, 3, dtype=torch.float64)
    results = []
    for rewrite in (lambda tree: tree, joined, split):
        space = {"torch": torch}
        exec(ast.unparse(rewrite(tree(cell))), space)
        results.append(space["f"](x, y))
    assert torch.allclose(results[0], results[1]) and torch.allclose(results[0], results[2])
    assert len(joined(tree(cell)).body) == 3 and len(split(tree(cell)).body) > 5
    assert joined(tree("def f(x):\n    a = x + 1\n    x = 2\n    return a * x")) is None, "its value would be another"


def test_a_single_step_is_varied_where_some_values_have_names_and_some_have_none():
    cell = (
        "def top_p(p, limit):\n    largest, order = p.sort(dim=-1, descending=True)\n"
        "    before = largest.cumsum(dim=-1) - largest\n    kept = before < limit\n"
        "    return kept.scatter(1, order, kept) * (p - p.mean())"
    )
    original = tree(cell)
    assert used_once(original) == ["before"]
    assert len(operands_of(original)) == 3
    for operand in operands_of(original):
        assert len(split_at(original, operand).body) == len(original.body) + 1
    assert split_at(original, "nothing of it") is None
    first, *_ = sets_of(cell, "top_p")
    assert first.varies == () and STEPS in first.shows


@pytest.mark.one_in(3)
@pytest.mark.parametrize("task_id", ["04.softmax", "04.weights", "08.masked-softmax", "10.top-k", "10.beam-step"])
def test_every_version_of_a_published_answer_passes_the_check(published, task_id):
    variant = variant_of(get_task(task_id))
    space = answer(variant).__globals__
    for versions in published[task_id]:
        for source in versions.sources:
            names = dict(space)
            exec(source, names)
            student = LocalStudent(variant, names[variant.task.name])
            assert judge(variant, student, names=False).verdict == "pass", source


def test_four_versions_are_short_and_differ_in_two_choices(published):
    assert len(published) > 20
    for sets in published.values():
        for versions in sets:
            assert len(set(versions.texts)) == len(versions.texts) == len(versions.sources) == 4
            assert all(len(text.split("\n")) <= MOST_LINES for text in versions.texts)
            assert all(len(line) <= WIDEST for text in versions.texts for line in text.split("\n"))
            assert not set(versions.varies) & set(versions.shows)


def test_names_comments_and_docstrings_do_not_tell():
    for versions in sets_of(WEIGHTS, "attention_weights"):
        assert not any(word in text for text in versions.texts for word in ("raw_scores", "comment", "weights", "#"))


def test_no_way_to_guess_by_looks_is_much_better_than_drawing(published):
    hits = {"shortest": [], "longest": [], "most alike": [], "least alike": []}
    for sets in published.values():
        for versions in sets:
            lengths = [len(text) for text in versions.texts]
            alike = [
                sum(difflib.SequenceMatcher(None, text, other).ratio() for other in versions.texts)
                for text in versions.texts
            ]
            for name, values in (("shortest", lengths), ("longest", lengths), ("most alike", alike)):
                best = (min if name == "shortest" else max)(values)
                hits[name].append((values[0] == best) / values.count(best))
            hits["least alike"].append((alike[0] == min(alike)) / alike.count(min(alike)))
    for name, each in hits.items():
        assert 0.1 < sum(each) / len(each) < 0.45, (name, sum(each) / len(each), len(each))


def test_another_answer_is_an_option_with_the_arguments_of_the_student():
    cell = "def softmax(numbers):\n    return torch.softmax(numbers - numbers.max(dim=-1, keepdim=True).values, dim=-1)"
    other = "def softmax(x):\n    e = (x - x.max()).exp()\n    return e / e.sum(dim=-1, keepdim=True)"
    texts = [
        text for seed in range(8) for each in sets_of(cell, "softmax", seed=seed, others=[other]) for text in each.texts
    ]
    assert any("numbers.max()" in text for text in texts) and not any("x - x" in text for text in texts)


NESTED = "x"
for _ in range(18):
    NESTED = f"({NESTED}) ** 2"


@pytest.mark.parametrize(
    "cell",
    [
        f"def f(x):\n    return {NESTED}.exp()",
        "def f(*x):\n    return torch.exp(*x).sum(*x, **x[0])",
        "def f(x):\n    global y\n    y = torch.exp(x)\n    return y.softmax(-1)",
        "def f(x):\n    try:\n        return x.exp().softmax(-1)\n    except ValueError as y:\n        return y",
        "def f(a, b):\n    return [c := a.exp(), (yield), lambda b: b.exp(), f'{a!r:>{b}}'.sum(-1)]",
        "def f(x):\n    return torch.einsum('...ij,...jk->...ik', *x).exp().sum(-1)",
        "async def f(x):\n    return await x.exp().softmax(-1)",
    ],
)
def test_what_students_may_write_costs_no_time_and_raises_nothing(cell):
    function = function_in(cell, "f")
    start = time.monotonic()
    if function is not None:
        version_sets(function, "torch", np.random.default_rng(0))
    assert time.monotonic() - start < 20


def question(task, kind, varies=(), shows=(), difficulty=2, about=""):
    texts = ("", "", (), "", "")
    return VivaQuestion(
        *(kind, task, False, *texts, ("a", "b", "c", "d"), 0, "", "", 2, 2 * (difficulty - 1), (task, about or kind)),
        varies=varies,
        shows=shows,
    )


def test_no_question_of_a_sheet_shows_what_another_asks_for():
    asked_for = [question(f"t{n}", YOURS, varies=(".mT",), shows=(STEPS,)) for n in range(4)]
    telling = [question(f"t{n}", RESULT, shows=(STEPS, ".mT")) for n in range(4, 12)]
    silent = [question(f"t{n}", RESULT, shows=(STEPS, ".exp")) for n in range(12, 16)]
    sheet = choose([*asked_for, *telling, *silent], 5)
    assert [q.kind for q in sheet].count(YOURS) == 2 and len(sheet) == 5
    assert not any(".mT" in q.shows for q in sheet)
    few = choose([*asked_for, *telling], 5)
    assert len(few) == 5 and not any(q.kind == YOURS for q in few), "a full sheet comes first"


def test_versions_of_single_steps_are_asked_for_before_those_of_forms():
    forms = [question(f"t{n}", YOURS, varies=(".mT",)) for n in range(3)]
    steps = [question(f"t{n}", YOURS) for n in range(3, 6)]
    sheet = choose([*forms, *steps, *(question(f"t{n}", RESULT) for n in range(6, 12))], 5)
    assert [q.varies for q in sheet if q.kind == YOURS] == [()] * 2 and len(sheet) == 5


def test_a_task_that_is_asked_about_in_versions_is_not_shown():
    both = [question("t1", YOURS, varies=(".mT",)), *(question("t1", RESULT, about=str(n)) for n in range(5))]
    sheet = choose([*both, question("t2", RESULT), question("t3", "edit")], 3)
    assert not ({q.kind for q in sheet if q.task == "t1"} > {YOURS})


def test_a_viva_of_an_earlier_version_is_read():
    viva = Viva("ada", "04_one_head", (question("04.scale", RESULT),), 3)
    values = json.loads(json.dumps(viva.as_json()))
    for each in values["questions"]:
        del each["varies"], each["shows"]
    assert Viva.from_json(values) == viva


def test_marks_name_what_shows_a_writer():
    marks = marks_of(ast.parse("y = torch.softmax(x[:, None] @ k.mT, dim=-1).sum(-1, keepdim=True)"))
    assert {"torch.softmax", "[None]", "MatMult", ".mT", ".sum", "keepdim"} <= set(marks) and math.inf not in marks
