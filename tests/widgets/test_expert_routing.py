"""The figure of a token routed through experts: its numbers against the layer itself, and its stand-in."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch

from softlookup_course.widgets import ExpertRouting, expert_routing

RECORD = json.loads((Path(__file__).parents[2] / "book/measured/experts.json").read_text("utf-8"))
E, K = (RECORD["plan"][name] for name in ("n_experts", "per_token"))
each_model = pytest.mark.parametrize("run", RECORD["routers"].values(), ids=RECORD["routers"])


@each_model
def test_recorded_experts_are_those_that_the_router_chooses_on_the_rounded_vectors(run):
    shown = expert_routing.describe(run, K)
    assert shown["chosen"] == run["chosen"] and len(run["chosen"]) == len(RECORD["text"])
    np.testing.assert_allclose(np.sum(shown["weights"], axis=1), 1, atol=2e-4)
    assert all(e in np.argsort(sums)[-K:] for sums, es in zip(shown["raised"], run["chosen"], strict=True) for e in es)


@each_model
def test_residual_stream_grows_by_the_weighted_outputs(run):
    shown = expert_routing.describe(run, K)
    outputs = np.array([row.split() for row in run["outputs"]], float).reshape(len(RECORD["text"]), K, -1)
    gates = 1 / (1 + np.exp(-np.array(shown["logits"])))
    chosen = np.take_along_axis(gates, np.array(run["chosen"]), axis=1)
    added = ((chosen / chosen.sum(1, keepdims=True))[..., None] * outputs).sum(1)
    np.testing.assert_allclose(np.subtract(shown["after"], shown["before"]), added, atol=5e-4)


def test_mean_number_of_fetched_experts_is_that_of_all_draws():
    tokens = [(0, 1), (0, 2), (0, 1), (3, 1)]
    load = [sum(e in chosen for chosen in tokens) / len(tokens) for e in range(5)]
    pairs = [len({*first, *second}) for first in tokens for second in tokens]
    assert expert_routing.mean_fetched(load, 2) == pytest.approx([2, np.mean(pairs)])
    even = expert_routing.mean_fetched([K / E] * E, 3)
    each = list(combinations(range(E), K))
    assert even[1] == pytest.approx(np.mean([len({*first, *second}) for first in each for second in each]), abs=1e-4)


def test_bias_evens_the_load_that_differs_without_it():
    with_bias, without = (RECORD["routers"][name] for name in expert_routing.ROUTERS)
    assert any(with_bias["bias"]) and not any(without["bias"])
    for run in (with_bias, without):
        assert sum(run["load"]) == pytest.approx(K, abs=1e-3)
    assert max(with_bias["load"]) < 1.2 * K / E and max(without["load"]) > 2 * K / E


def test_figure_draws_no_random_numbers_and_its_table_has_all_tokens():
    before = torch.random.get_rng_state()
    figure = ExpertRouting(RECORD)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert figure.fallback.count("<tr>") == len(RECORD["text"]) + 1 and "8 of 8 with a bias" in figure.fallback
    odd = ExpertRouting({**RECORD, "text": ["<b>", *RECORD["text"][1:]]})
    assert "<b>" not in odd.fallback and "&lt;b&gt;" in odd.fallback
