"""Sentences that were said of answers for which they are not true."""

import math

import pytest
import torch

from softlookup.checking import check, get_task
from softlookup.checking.judge import SAME_AS_TWO
from softlookup.checking.published import answer


def positions(real, n_new):
    return torch.arange(real.shape[1]).expand(real.shape)[:, -n_new:]


def leak(masks):
    itself = torch.eye(masks.shape[-1], dtype=torch.bool)
    reached = itself.float()
    for mask in masks:
        reached = (mask | itself).float() @ reached
    seen = reached > 0
    return seen.T, seen.triu(1).any()


def init(d_model, n_heads, head_width):
    return math.sqrt(6 / (2 * d_model))


def scored(log_p, ids, end_id, counted, lengths, alpha):
    return torch.where(counted, log_p, 0.0).sum(dim=1) / ((5 + lengths) / 6) ** alpha


def one_end(log_p, ids, end_id, alpha):
    counted = ids != end_id
    return scored(log_p, ids, end_id, counted, counted.sum(dim=1) + 1, alpha)


def whole_steps(log_p, ids, end_id, alpha):
    ends = (ids == end_id).int()
    counted = ends.cumsum(dim=1) - ends == 0
    return torch.where(counted, log_p, 0.0).sum(dim=1) / ((5 + counted.sum(dim=1)) // 6) ** alpha


def heads(q, k, v, mask=None):
    e = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    if mask is not None:
        e = e * (mask[:, None] if mask.ndim == 3 else mask)
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30) @ v


@pytest.mark.parametrize(
    ("task_id", "answer", "false"),
    [
        ("10.positions", positions, "Padding gets position -1"),
        ("08.leak", leak, "counts the past as a leak"),
        ("05.init", init, "The numerator is half"),
        ("10.score", one_end, "as if the start token had been generated"),
        ("10.score", whole_steps, "not divided at all"),
        ("05.heads", heads, "have already underflowed"),
    ],
)
def test_sentence_is_not_said_where_it_is_not_true(task_id, answer, false):
    told = check(task_id, answer)
    assert told.verdict in ("wrong", "partial") and told.diagnosis
    assert false not in told.text() or SAME_AS_TWO in told.text(), told.text()


def test_two_mistakes_that_show_one_by_one_are_told_as_they_are():
    pair = ("no-eps", "summed-variance")
    told = check("07.layer-norm", answer(get_task("07.layer-norm"), pair))
    assert told.diagnosis == pair and SAME_AS_TWO not in told.text()
