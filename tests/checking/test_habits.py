"""Habits: slips that are found by a walk over the published solution, told from chance and from known mistakes."""

import ast
import math

import numpy as np
import pytest
import torch

from softlookup_inside.asking.calm import calm_torch
from softlookup_judge import check, get_task, tasks
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import NoEdit, mutant_source, solution, with_earlier, with_habits
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.mistake_results import MistakeResults
from softlookup_judge.judging.questions import questions_at_home
from softlookup_judge.mistakes.errors import habit_of, meaning
from softlookup_judge.mistakes.habits import HABIT, is_slip, says
from softlookup_judge.mistakes.mutations import fitting_habits, make_mutant
from softlookup_judge.naming.diagnose import can_run_away, diagnose
from softlookup_judge.naming.verdict import SAME_AS_HABIT, SAME_AS_TWO

ANSWERS = {
    ("15.qk-norm", "reversed-axes"): """
def normed_scores(q, k, q_gain, k_gain, cos, sin, eps):
    def rotated(x):
        a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
    def normed(x, gain):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * gain
    return rotated(normed(q, q_gain)) @ rotated(normed(k, k_gain)).T / math.sqrt(q.shape[-1])
""",
    ("05.merge", "axes-one-and-two"): "def merge_heads(z): return z.transpose(1, 2).flatten(-2)",
    ("05.packed", "axis-1"): """
def unpack_heads(x, w_qkv, n_heads):
    parts = (x @ w_qkv).chunk(3, dim=1)
    return tuple(t.unflatten(-1, (n_heads, -1)).transpose(-3, -2) for t in parts)
""",
    ("10.next", "no-axis"): "def next_tokens(x, lengths): return x[torch.arange(len(x)), lengths - 1].argmax()",
    ("17.lens", "keepdim-missing"): """
def lens(states, gain, w_out, eps):
    return states / torch.sqrt((states**2).mean(-1) + eps) * gain @ w_out
""",
    ("17.attribute-heads", "row-for-column"): """
def head_contributions(z, w_o, x, gain, w_out, token, eps):
    parts = torch.einsum("nh,nhd->nd", z[:, -1], w_o.reshape(len(z), z.shape[-1], -1))
    return parts / torch.sqrt((x[-1] ** 2).mean() + eps) * gain @ w_out[token]
""",
    ("04.mix", "sides-swapped"): "def mix(weights, v): return v @ weights",
    ("04.scale", "remainder-dropped"): "def scale(scores, head_width): return scores // head_width**0.5",
    ("04.softmax-backward", "mean-for-sum"): """
def softmax_backward(a, da):
    return a * (da - (a * da).mean(axis=-1, keepdims=True))
""",
    ("04.spread", "for:sigma_q:sigma_k"): "def score_spread(h, q, k): return math.sqrt(h) * q**2",
    ("16.cost", "swapped:input_rate:output_rate"): """
def token_costs(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    second = price * machines / 3600 / utilisation
    i, o = second / output_rate * 1e6, second / input_rate * 1e6
    return i, o, (i * prompt + o * answer) / 1e6
""",
    ("16.small", "rounded-up"): """
def beside_small_weights(params, kept, bits, group, memory, sequence_bytes):
    held = 2 * kept + (params - kept) * bits // 8 + (params - kept) // group * 2
    return held, -(-(memory - held) // sequence_bytes)
""",
    ("10.draw", "inverted"): "def draw(p, u): return (p.cumsum(-1) > u[:, None]).sum(-1)",
    ("04.scale", "inputs-changed"): """
def scale(scores, head_width):
    scores /= math.sqrt(head_width)
    return scores
""",
    ("15.sinks", "axes-of-one"): """
def sink_attention(scores, values, sink):
    sink = sink[:, None, None].expand(-1, scores.shape[1], 1)
    a = torch.softmax(torch.cat([scores, sink], -1), -1)
    return a[..., :-1] @ values, a[..., -1:]
""",
    ("08.causal", "another-kind"): "def causal_mask(t, s): return torch.ones(t, s).tril(s - t)",
    ("04.mix", "sign-changed"): "def mix(weights, v): return -(weights @ v)",
    ("08.masked-softmax", "axis-not-said"): """
def masked_softmax(s, mask):
    return torch.nan_to_num(torch.softmax(s.masked_fill(~mask, -math.inf)))
""",
    ("04.scores", "two-axes-only"): "def scores(q, k): return torch.mm(q, k.transpose(0, 1))",
    ("05.split", "fixed-shape"): """
def split_heads(x, n_heads):
    b, t, d = x.shape
    return x.view(b, t, n_heads, -1).transpose(1, 2)
""",
}


def made(source, name):
    space = {"torch": torch, "np": np, "math": math}
    with_lines = f"<submission {name}>"
    exec(compile(source, with_lines, "exec"), space)
    return space[name]


@pytest.mark.parametrize(("task_id", "habit"), ANSWERS)
def test_habit_is_named(task_id, habit, tmp_path):
    source = ANSWERS[task_id, habit].strip() + "\n"
    path = tmp_path / "answer.py"  # where an exception comes from is read from the file
    path.write_text(source)
    space = {"torch": torch, "np": np, "math": math}
    exec(compile(source, str(path), "exec"), space)
    result = check(task_id, space[get_task(task_id).name])
    assert [name.partition("#")[0] for name in result.diagnosis] == [HABIT + habit], result.text()
    assert says(HABIT + habit) in result.message


@pytest.mark.parametrize(
    ("task_id", "source", "named"),
    [
        (
            "04.softmax-backward",
            "def softmax_backward(a, da): return a * ((a * da).sum(axis=0, keepdims=True) - da)",
            ("sign-flipped", "habit:axis-0"),
        ),
        (
            "07.rms-norm",
            "def rms_norm(x, gain, eps): return x / torch.sqrt(x.square().sum(-1) + eps) * gain",
            ("sum-of-squares", "habit:keepdim-missing"),
        ),
        (
            "04.softmax-backward",
            "def softmax_backward(a, da): return a * (da + (a * da).sum(axis=0, keepdims=True))",
            ("habit:axis-0", "habit:plus-for-minus"),
        ),
    ],
)
def test_two_slips_are_named_together(task_id, source, named):
    result = check(task_id, made(source, get_task(task_id).name))
    assert result.diagnosis == named
    assert SAME_AS_TWO in result.sentences


def test_what_the_code_does_is_not_claimed_of_a_single_slip():
    result = check("04.mix", lambda weights, v: v @ weights)
    assert result.sentences[0] == SAME_AS_HABIT


@pytest.mark.slow
@pytest.mark.one_in(6)
@pytest.mark.parametrize("task_id", ["04.softmax", "04.mix", "04.column", "04.softmax-backward", "07.rms-norm"])
def test_slips_that_are_rejected_are_named(task_id):
    """Each slip that fits a solution is named if an answer holds it: by its name, or by another that gives the same."""
    task = get_task(task_id)
    task_questions, unnamed, rejected = questions_at_home(variant_of(task)), [], 0
    with calm_torch():
        for slug in fitting_habits(solution(variant_of(task))):
            result = judge(
                variant_of(task),
                LocalStudent(variant_of(task), with_habits(variant_of(task), (slug,))),
                task_questions=task_questions,
            )
            if result.verdict in ("wrong", "partial") and _has_numbers(result.difference):
                rejected += 1
                unnamed += [slug] * (not result.diagnosis)
    assert rejected >= 5
    assert unnamed == []


def _has_numbers(difference):
    """Whether a wrong result is more than zeros, or a single number."""
    return difference is not None and np.unique(difference.got).size > 1


def test_every_slip_can_be_planted_and_said():
    for task in tasks(4) + tasks(15):
        source = with_earlier(variant_of(task))
        before = ast.unparse(ast.parse(source))
        for slug in fitting_habits(source):
            assert make_mutant(source, [slug], ast.unparse) != before, slug
            assert says(slug)
        assert make_mutant(source, [], ast.unparse) == before


def test_slips_that_leave_no_python_do_not_fit():
    task = get_task("14.rank")

    def fits(slug):
        try:
            with_habits(variant_of(task), (slug,))
        except NoEdit:
            return False
        return True

    fitting = [fits(slug) for slug in fitting_habits(with_earlier(variant_of(task)))]
    assert any(fitting) and not all(fitting)


def test_slips_reach_the_earlier_functions_that_a_solution_calls():
    def sublayer(x, w_1, b_1, w_2, b_2, gain, shift):
        y = x + torch.tanh(x @ w_1 + b_1) @ w_2 + b_2
        return (y - y.mean(-1, keepdim=True)) / (y.var(-1, keepdim=True, correction=0) + 1e-5).sqrt() * gain + shift

    assert check("07.sublayer", sublayer).diagnosis == ("habit:another-activation#2",)


def test_two_slips_in_one_place_are_refused():
    with pytest.raises(ValueError, match="the same place"):
        make_mutant("def f(a, b):\n    return a @ b", ["habit:sides-swapped", "habit:elementwise"], ast.unparse)


@pytest.mark.parametrize("slug", ["habit:none", "habit:for:a:<b>", "habit:for:a", "no-sqrt"])
def test_unknown_habits_have_no_sentence(slug):
    with pytest.raises(KeyError):
        says(slug)


def test_numbers_that_tell_nothing_name_no_slip():
    """Results of zeros alone are given by many slips."""

    def rate(step, peak, warmup, stable, decay):
        return peak * step / warmup if step < warmup else peak if step <= warmup + stable else 0.0

    assert not any(map(is_slip, check("15.schedule", rate).diagnosis))


def test_slips_are_not_looked_for_where_no_solution_is():
    task = get_task("04.mix")
    task_questions = questions_at_home(variant_of(task))
    student = LocalStudent(variant_of(task), lambda weights, v: v @ weights)
    answers = student.answers(task_questions.cases, 1)
    rows = list(zip(task_questions.cases, answers, task_questions.rights, strict=True))
    assert diagnose(variant_of(task), rows, MistakeResults(computes=False)) == []
    assert diagnose(variant_of(task), rows, MistakeResults()) == ["habit:sides-swapped"]


@pytest.mark.parametrize(
    ("source", "inputs", "runs"),
    [
        ("def f(n):\n    while n: n -= 1", [1], True),
        ("def f(n):\n    return sum(range(n))", [8_000_000_000], True),
        ("def f(n):\n    return torch.ones(n)", [{"n": [8_000_000_000]}], True),
        ("def f(n):\n    return sum(range(n))", [80], False),
        ("def f(n, m):\n    return max(math.ceil(n / m), 1)", [8_000_000_000, 3], False),
    ],
)
def test_what_may_run_for_long_is_left_out(source, inputs, runs):
    assert can_run_away(source, inputs) is runs


def test_slips_are_named_under_other_conventions():
    task = get_task("04.column")
    for variant in range(1, len(task.variants)):
        spoiled = with_habits(variant_of(task, variant), ("habit:largest-for-sum",))
        assert check("04.column", spoiled, variant=variant).diagnosis == ("habit:largest-for-sum",)


X, N = torch.ones(3, 4), np.ones((3, 4))


@pytest.mark.parametrize(
    ("line", "habit"),
    [
        ("torch.softmax(X)", "axis-not-said"),
        ("X.cumsum()", "axis-not-said"),
        ("torch.nn.functional.softmax(X, axis=-1)", "numpy-words"),
        ("np.sum(X, axis=-1)", "numpy-words"),
        ("N.sum(dim=0)", "numpy-words"),
        ("np.max(X, axis=-1, keepdims=True)", "numpy-function"),
        ("X - X.max(dim=-1)", "values-and-indices"),
        ("torch.exp(X.max(-1))", "values-and-indices"),
        ("torch.mm(X[None], X[None])", "two-axes-only"),
        ("X[None].t()", "two-axes-only"),
        ("torch.bmm(X, X)", "three-axes-only"),
        ("X.transpose(1, 2)", "fixed-axis"),
        ("N.sum(axis=2)", "fixed-axis"),
        ("X.permute(0, 2, 1)", "fixed-axes"),
        ("N.transpose(0, 2, 1)", "fixed-axes"),
        ("torch.sqrt(4)", "number-for-tensor"),
        ("X.size[-1]", "method-not-called"),
        ("X.shape(-1)", "shape-called"),
        ("1 if X > 0 else 2", "truth-of-many"),
        ("N and N", "truth-of-many"),
        ("X.astype(float)", "numpy-method"),
        ("N.unsqueeze(0)", "torch-method"),
        ("X.mT.view(12)", "view-for-reshape"),
        ("X @ X", ""),
        ("N @ N", ""),
        ("X + torch.ones(3)", ""),
        ("N + np.ones(3)", ""),
    ],
)
def test_exception_is_put_in_words(line, habit):
    with pytest.raises(Exception) as raised:
        eval(line)
    message = f"{type(raised.value).__name__}: {str(raised.value).splitlines()[0]}"
    assert habit_of(message, line) == habit
    assert meaning(message, line)


@pytest.mark.parametrize("line", ["undefined", "[][0]", "{}['a']", "int('x')", "1 / 0"])
def test_other_exceptions_are_left_as_they_are(line):
    with pytest.raises(Exception) as raised:
        eval(line)
    assert meaning(f"{type(raised.value).__name__}: {raised.value}", line) == ""


def test_mistakes_that_do_not_fit_in_together_are_refused():
    scale = get_task("04.scale")
    with pytest.raises(NoEdit, match="divided-by-width: .* which the solution does not hold"):
        mutant_source(variant_of(scale), ("no-sqrt", "divided-by-width"))
    with pytest.raises(NoEdit, match="together they are no Python"):
        mutant_source(variant_of(get_task("04.weights")), ("mask-renormalised", "nan-rows"))
