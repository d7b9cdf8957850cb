"""The figure of a whispered change: its numbers against automatic gradients, and what it refuses."""

import json

import numpy as np
import pytest
import torch

from softlookup.model import attend
from softlookup_course.widgets import WhisperRow
from softlookup_course.widgets.whisper_row import CHILDREN, WEIGHTS, describe, hand_over

WORDS = "animal didn't cross the street because it".split()


@pytest.mark.parametrize("weight", WEIGHTS)
def test_what_is_left_is_the_gradient_of_each_state_with_respect_to_the_first_input(weight):
    layer = torch.nn.RNN(1, 1, batch_first=True, bias=False).double()
    layer.weight_ih_l0.data.fill_(1)
    layer.weight_hh_l0.data.fill_(weight)
    x_BTD = torch.eye(CHILDREN[0], dtype=torch.float64)[None, :, :1].requires_grad_()
    states_T = layer(x_BTD)[0][0, :, 0]
    slopes_T = [torch.autograd.grad(state, x_BTD, retain_graph=True)[0][0, 0, 0].item() for state in states_T]
    chain = describe(weight, CHILDREN[0])
    assert np.allclose(chain["states"], states_T.detach()) and np.allclose(chain["left"], slopes_T)
    assert np.allclose(np.cumprod(chain["factors"]), chain["left"])


@pytest.mark.parametrize("n", CHILDREN)
def test_attention_with_equal_weights_leaves_the_gradient_of_its_output_with_respect_to_a_value(n):
    v_SH = torch.randn(n, 1, dtype=torch.float64, requires_grad=True)
    z_TH, _ = attend(torch.zeros(1, 1).double(), torch.zeros(n, 1).double(), v_SH)
    z_TH.sum().backward()
    assert hand_over(n) == pytest.approx(v_SH.grad[0].item()) == pytest.approx(1 / n)
    assert all(describe(weight, n)["left"][-1] < hand_over(n) for weight in WEIGHTS)


def test_figure_has_every_setting_and_its_stand_in_the_row_of_the_chapter():
    figure = WhisperRow(WORDS)
    assert [run["weight"] for run in figure.runs] == list(WEIGHTS) and [row["n"] for row in figure.rows] == [*CHILDREN]
    for run in figure.runs:
        for name, numbers in describe(run["weight"], CHILDREN[-1]).items():
            assert np.allclose(run[name], numbers, rtol=1e-3, atol=0)
    assert figure.fallback.count("<tr>") == 1 + len(WORDS) and "14.3 %" in figure.fallback
    assert len(json.dumps(figure.runs)) < 60_000


def test_words_that_do_not_fit_the_shortest_row_are_refused():
    with pytest.raises(ValueError, match="got 2 words, wanted 7"):
        WhisperRow(WORDS[:2])
