"""Chapter 0: what a cold reader and an adversary found. Links, answers that passed, slips without words."""

import math
import re

import numpy as np
import pytest
import torch

from softlookup_judge import check, get_task, tasks
from softlookup_judge.naming.verdict import readings
from test_self_test import SECTIONS


def mean_square_error(x, w, y):
    return ((torch.tensor(x) @ w - torch.tensor(y)) ** 2).mean()


def hessian_only(x, w, y):
    second = torch.autograd.functional.hessian(lambda weights: mean_square_error(x, weights, y), torch.tensor(w))
    return second.numpy() @ w - 2 * x.T @ y / len(y)


def flagged(w, x, y, rate):
    w.requires_grad_()
    for _ in range(2):
        ((x @ w - y) ** 2).mean().backward()
        w = (w - rate * w.grad).detach().requires_grad_()
    return w


def flag_taken_back(w, x, y, rate):
    result = flagged(w, x, y, rate)
    w.requires_grad_(False)
    return result


def in_place(w, x, y, rate):
    for _ in range(2):
        w -= rate * 2 / len(y) * x.T @ (x @ w - y)
    return w


def on_an_alias(w, x, y, rate):
    v = w.detach().requires_grad_()
    for _ in range(2):
        ((x @ v - y) ** 2).mean().backward()
        with torch.no_grad():
            v -= rate * v.grad
        v.grad = None
    return v


@pytest.mark.parametrize(
    "answer", [flagged, flag_taken_back, in_place, on_an_alias], ids=lambda function: function.__name__
)
def test_descent_that_changes_the_given_w_or_its_record_does_not_pass(answer):
    result = check("00.descent", answer)
    assert (result.points, result.diagnosis) == (0, ("given-changed",)), result.text()


DIFFERENTIATED = {
    "jacfwd": lambda x, w, y: torch.func.jacfwd(lambda weights: mean_square_error(x, weights, y))(torch.tensor(w)),
    "hessian": hessian_only,
    "grad_and_value": lambda x, w, y: torch.func.grad_and_value(lambda weights: mean_square_error(x, weights, y))(
        torch.tensor(w)
    )[0],
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradient_by_hand_that_torch_differentiates_is_a_shortcut(name):
    assert check("00.gradient", DIFFERENTIATED[name]).diagnosis == ("forbidden-shortcut",)


def test_a_row_where_a_table_is_wanted_is_named_without_a_warning():
    result = check("00.error", torch.nn.functional.mse_loss)
    assert result.diagnosis == ("every-with-every",), result.text()
    assert "without a warning" not in result.message


@pytest.mark.usefixtures("verdicts_alone")
def test_numbers_turned_into_float32_are_not_the_same_numbers():
    assert check("00.transpose", lambda x: x.mT.float()).points == 0


@pytest.mark.parametrize("task", tasks(0), ids=lambda task: task.id)
def test_a_slip_of_chapter_0_links_to_the_refresher_that_it_names(task):
    assert len(task.mistakes) >= 5
    for mistake in task.mistakes:
        heading = re.search(r"Refresher: “(.+)”\.$", mistake.says)[1]
        assert SECTIONS[mistake.anchor] == heading
        assert readings(task, (mistake.slug,)) == (f"book/00_before_you_start.html#{mistake.anchor}",)


def test_a_verdict_links_to_what_it_names_and_else_to_its_tasks_own_section():
    forgotten = check("00.shares", lambda counts: counts / counts.sum(-1))
    assert forgotten.readings == ("book/00_before_you_start.html#before-broadcasting",)
    assert forgotten.text().endswith("Read: book/00_before_you_start.html#before-broadcasting")
    html = forgotten._repr_mimebundle_()["text/html"]
    assert re.findall(r'href="[^"]*#([a-z-]+)"', html) == ["before-broadcasting"]
    unnamed = check("00.shares", lambda counts: counts + 0.3)
    assert (unnamed.diagnosis, unnamed.readings) == ((), (get_task("00.shares").book_url,))
    assert check("00.shares", lambda counts: counts / counts.sum(-1, keepdim=True)).readings == ()


def test_two_slips_link_to_two_refreshers():
    two = check("00.error", lambda predicted, target: ((predicted - target) ** 2).sum())
    assert set(two.diagnosis) == {"every-with-every", "sum-for-mean"}
    html = two._repr_mimebundle_()["text/html"]
    assert re.findall(r'href="[^"]*#([a-z-]+)"', html) == ["before-broadcasting", "before-axes"]
    assert "and this one</a>" in html


def test_slips_of_other_chapters_lead_to_the_section_of_their_task():
    for task in tasks():
        for mistake in task.mistakes:
            if mistake.anchor is None:
                assert readings(task, (mistake.slug,)) == (task.book_url,)


def test_what_the_page_says_of_rebinding_is_true():
    """`w = w - …` makes a new tensor: without a gradient outside `no_grad`, without a record inside."""
    w = torch.ones(2, requires_grad=True)
    (w @ w).backward()
    outside = w - 0.1 * w.grad
    (outside @ outside).backward()
    with pytest.warns(UserWarning, match="not a leaf"):
        assert outside.grad is None
    with torch.no_grad():
        inside = w - 0.1 * w.grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        (inside @ inside).backward()


def test_softmax_along_the_wrong_axis_lies_between_0_and_1_as_well():
    u_S = torch.tensor([0.0, math.log(3)])
    wrong = torch.stack([u_S, -u_S]).softmax(dim=0)
    assert bool(((wrong > 0) & (wrong < 1)).all())
    assert not np.allclose(wrong.sum(dim=-1), 1)


@pytest.mark.parametrize(
    ("name", "divisor"),
    [
        ("first-axis", "counts.sum(axis=0)"),
        ("over-columns", "counts.sum(axis=-2, keepdims=True)"),
        ("mean-for-sum", "counts.mean(axis=-1, keepdims=True)"),
        ("by-the-largest", "counts.max(axis=-1, keepdims=True)"),
    ],
)
def test_shares_in_numpy_have_their_mistakes_named(name, divisor):
    """numpy divides whole numbers in float64, torch in float32: the mistake is the same."""
    divide = eval(f"lambda counts: (lambda counts: counts / {divisor})(counts.numpy())")
    assert check("00.shares", divide).diagnosis == (name,)
