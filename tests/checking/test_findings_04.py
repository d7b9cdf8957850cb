"""Chapter 4: answers that are wrong on some input only, and slips that must get their own, true words."""

import math

import pytest
import torch

from published import everywhere
from softlookup_judge import check


def softmax_with_a_millionth(x):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / (e.sum(-1, keepdim=True) + 1e-6)


def attention_whose_hidden_scores_overflow(q, k, v, mask=None):
    """Right numbers: what exp makes infinite is cut off, but its gradient is 0 times infinity."""
    s = q @ k.mT / math.sqrt(q.shape[-1])
    seen = s if mask is None else s.masked_fill(~mask, -torch.inf)
    top = seen.amax(-1, keepdim=True).detach()
    e = (s - top.masked_fill(top == -torch.inf, 0.0)).exp()
    if mask is not None:
        e = torch.where(mask, e, 0.0)
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0) @ v


def head_whose_hidden_scores_overflow(x, w_q, w_k, w_v, mask=None):
    return attention_whose_hidden_scores_overflow(x @ w_q, x @ w_k, x @ w_v, mask)


def masked_after_exp(q, k, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    e = (s - s.amax(-1, keepdim=True)).exp()
    if mask is not None:
        e = e * mask
    return torch.nan_to_num(e / e.sum(-1, keepdim=True))


WRONG = {
    "softmax: a millionth in the sum": ("04.softmax", softmax_with_a_millionth),
    "attention: infinity cut off": ("04.attention", attention_whose_hidden_scores_overflow),
    "head: infinity cut off": ("04.head", head_whose_hidden_scores_overflow),
}


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize("name", WRONG)
def test_answers_of_chapter_4_that_are_wrong_somewhere_do_not_pass(name):
    for result in everywhere(*WRONG[name]):
        assert result.verdict != "pass", result.text()


@pytest.mark.usefixtures("verdicts_alone")
def test_gradients_that_overflow_cost_the_gradients_alone():
    result = check("04.attention", attention_whose_hidden_scores_overflow)
    assert result.points == pytest.approx(0.9 * result.max_points), result.text()


def exponentials(q, k):
    return torch.exp(q @ k.mT / math.sqrt(q.shape[-1]))


def test_a_mask_after_exp_is_not_called_one_after_the_softmax_alone():
    result = check("04.weights", masked_after_exp)
    assert result.diagnosis == ("mask-renormalised",) and "after exp or after the whole softmax" in result.text()


def test_a_thousand_subtracted_from_masked_scores_is_not_called_a_late_mask():
    def attention_weights(q, k, mask=None):
        s = q @ k.mT / math.sqrt(q.shape[-1])
        return s.softmax(-1) if mask is None else (s - 1000.0 * ~mask).softmax(-1) * mask

    result = check("04.weights", attention_weights)
    assert result.diagnosis == ("mask-renormalised",) and "is subtracted from masked scores" in result.text()


def test_exp_times_mask_with_nan_where_nothing_is_seen_is_both_mistakes():
    def attention_weights(q, k, mask=None):
        e = exponentials(q, k)
        e = e if mask is None else e * mask
        return e / e.sum(dim=-1, keepdim=True)

    assert check("04.weights", attention_weights).diagnosis == ("nan-rows", "mask-after-exp")


def with_infinity(q, k, v, mask, hidden):
    """Attention whose fully masked rows become zeros at the end, by two ways to hide a score."""
    s = q @ k.mT / math.sqrt(q.shape[-1])
    return (s if mask is None else hidden(s, mask)).softmax(-1).nan_to_num() @ v


def test_nan_that_flows_back_from_a_query_that_sees_nothing_is_wrong_and_explained():
    def added(q, k, v, mask=None):
        return with_infinity(
            q, k, v, mask, lambda s, m: s + torch.zeros(m.shape, dtype=s.dtype).masked_fill(~m, -torch.inf)
        )

    def filled(q, k, v, mask=None):
        return with_infinity(q, k, v, mask, lambda s, m: s.masked_fill(~m, -torch.inf))

    for result in everywhere("04.attention", added):
        assert (result.verdict, result.points) == ("partial", 3.6), result.text()
    assert "A query sees nothing, and gradients are NaN" in check("04.attention", added).text()
    for result in everywhere("04.attention", filled):
        assert result.verdict == "pass", result.text()


def test_one_query_alone_may_have_large_scores_too():
    def one_token(q, k, v):
        e = torch.exp(k @ q / math.sqrt(len(q)))
        return e / e.sum() @ v

    for result in everywhere("04.column", one_token):
        assert (result.verdict, result.points) == ("partial", 1.8), result.text()
