"""The figure of benchmarks and luck: its probabilities against enumeration and simulation, and its stand-in."""

import json
from itertools import pairwise, product

import numpy as np
import pytest

from softlookup_course.widgets import BenchmarkLuck, benchmark_luck
from softlookup_course.widgets.benchmark_luck import GAINS, QUESTIONS, WORSE, describe, lead_probabilities, one_sided


@pytest.mark.parametrize("is_same", [False, True])
def test_each_model_has_its_true_accuracy(is_same):
    ahead, behind = one_sided(0.02, is_same)
    assert np.isclose(ahead - behind, 0.02)
    assert is_same or np.isclose(ahead, (WORSE + 0.02) * (1 - WORSE)), "two models that know nothing of each other"


def test_probabilities_of_leads_are_those_of_every_outcome():
    ahead, behind = one_sided(0.04, True)
    of_one = {1: ahead, 0: 1 - ahead - behind, -1: behind}
    expected = np.zeros(9)
    for outcome in product(of_one, repeat=4):
        expected[sum(outcome) + 4] += np.prod([of_one[each] for each in outcome])
    np.testing.assert_allclose(lead_probabilities(0.04, 4, True), expected, atol=1e-12)


@pytest.mark.parametrize("is_same", [False, True])
def test_worse_model_wins_as_often_as_in_a_simulation(is_same):
    rng = np.random.default_rng(20)
    luck = rng.random((2, 20_000, 200))
    shared = rng.random(luck.shape[1:]) < (benchmark_luck.SHARED if is_same else 0)
    luck[1] = np.where(shared, luck[0], luck[1])
    leads = (luck[1] < WORSE + 0.01).sum(axis=1) - (luck[0] < WORSE).sum(axis=1)
    shown = describe(0.01, 200, is_same)
    assert abs(shown["loses"] - 100 * (leads < 0).mean()) < 1.5
    assert abs(shown["ties"] - 100 * (leads == 0).mean()) < 1.5
    np.testing.assert_allclose([shown["low"], shown["high"]], np.quantile(leads / 2, [0.025, 0.975]), atol=0.5)


def test_columns_are_the_hundred_benchmarks_by_their_winner():
    for way in BenchmarkLuck().states:
        for state in (state for gain in way for state in gain):
            counts = dict(map(tuple, state["columns"]))
            assert sum(counts.values()) == 100 and counts.get(0, 0) == state["ties"]
            assert sum(count for k, count in counts.items() if k < 0) == state["loses"]
            assert max(map(abs, counts)) <= 29, "the picture has columns so far from the tie"


def test_luck_shrinks_with_questions_with_the_lead_and_on_the_same_questions():
    others, same = BenchmarkLuck().states
    for way, state in product((others, same), range(len(QUESTIONS))):
        assert all(b[state]["loses"] <= a[state]["loses"] for a, b in pairwise(way))
    for apart, paired in zip(others, same, strict=True):
        assert all(b["loses"] <= a["loses"] for a, b in zip(apart, paired, strict=True))
        for gain in (apart, paired):
            widths = [state["high"] - state["low"] for state in gain]
            assert widths == sorted(widths, reverse=True)


def test_figure_is_small_and_its_stand_in_has_its_numbers():
    figure = BenchmarkLuck()
    assert len(json.dumps(figure.states)) < 20_000
    assert figure.fallback.count("<tr>") == 1 + len(QUESTIONS)
    loses = [figure.states[way][gain][-1]["loses"] for way in (0, 1) for gain in range(len(GAINS))]
    assert f'<th scope="row">10,000</th>{"".join(f"<td>{count}</td>" for count in loses)}' in figure.fallback
