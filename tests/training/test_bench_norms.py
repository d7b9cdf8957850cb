"""The bench of norms: both orders get the same draws. Losses are not tested."""

import pytest
import torch

from benchmarks import norms as bench
from benchmarks.norms import ORDERS, guessing, model_of


def test_a_seed_draws_the_same_weights_for_both_orders():
    plan = bench._QUICK
    post, pre = (dict(model_of(plan, order == "pre", 2, 1).named_parameters()) for order in ORDERS)
    assert set(pre) - set(post) == {"encoder.norm.gain", "encoder.norm.shift"}
    for name, weight in post.items():
        assert torch.equal(weight, pre[name]), name


def test_guessing_knows_the_place_alone():
    plan = bench._Plan(values=4, length=1)
    assert guessing(plan) == pytest.approx(torch.tensor(4.0).log().item(), abs=1e-3)
    assert guessing(bench._Plan(values=4, length=9)) < guessing(plan)


def test_a_run_can_be_repeated_to_the_last_digit():
    again = [bench._run(bench._QUICK, "pre", 1, 2, 1e-2, 5, torch.device("cpu")) for _ in range(2)]
    assert again[0] == again[1]
