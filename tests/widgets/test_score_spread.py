"""The figure of random scores: its numbers against another computation, and what grows and what stays."""

import json

import numpy as np
import pytest
import torch

from softlookup_course.widgets import ScoreSpread
from softlookup_course.widgets.score_spread import DIVISORS, HEAD_WIDTHS, KEYS, ROWS, describe, example_scores


@pytest.mark.parametrize("width", HEAD_WIDTHS)
def test_weights_are_the_softmax_of_scores_and_scores_sums_of_the_first_products(width):
    shown = describe(width)
    rng = np.random.default_rng(9)
    q_H, k_SH = rng.normal(size=512), rng.normal(size=(KEYS, 512))
    sums_S = (q_H * k_SH).cumsum(axis=1)[:, width - 1]
    assert np.allclose(sums_S, example_scores(width))
    for name, divisor in (("raw", 1.0), ("divided", width**0.5)):
        scores_S = torch.tensor(sums_S / divisor)
        assert np.allclose(shown[name]["scores"], scores_S) and np.allclose(shown[name]["weights"], scores_S.softmax(0))


def test_gradient_is_the_median_size_of_the_jacobian_that_autograd_gives():
    rng = np.random.default_rng(8)
    q_BH, k_BSH = rng.normal(size=(ROWS, 8)), rng.normal(size=(ROWS, KEYS, 8))
    scores_BS = torch.tensor(np.einsum("bh,bsh->bs", q_BH, k_BSH))
    for name, divisor in DIVISORS.items():
        jacobian = torch.vmap(torch.func.jacrev(lambda row: row.softmax(0)))(scores_BS / divisor(8))
        sizes_B = torch.linalg.matrix_norm(jacobian).numpy()
        assert describe(8)[name]["gradient"] == pytest.approx(np.median(sizes_B))


def test_spread_grows_with_the_root_of_the_width_and_rows_saturate_unless_divided():
    runs = [describe(width) for width in HEAD_WIDTHS]
    assert np.allclose([run["raw"]["spread"] for run in runs], np.sqrt(HEAD_WIDTHS), rtol=0.06)
    assert np.allclose([run["divided"]["spread"] for run in runs], 1, rtol=0.06)
    assert not any(run["divided"]["sure"] for run in runs) and runs[-1]["raw"]["sure"] > 0.7
    assert all(abs(run["divided"]["gradient"] - 0.36) < 0.02 for run in runs) and runs[-1]["raw"]["gradient"] < 0.001
    assert np.abs(example_scores(HEAD_WIDTHS[-1])).max() < 62, "within the axis of the drawing"
    figure = ScoreSpread()
    assert figure.runs == runs and figure.fallback.count("<tr>") == 1 + len(runs) and len(json.dumps(runs)) < 10_000
