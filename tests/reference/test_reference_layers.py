"""Embeddings, feed-forward networks, norms and the recurrent layer of the reference.

Their numbers are those of the layers in torch: tests/model/test_model_embeddings.py and its neighbours.
"""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from softlookup.reference.embeddings import embed, one_hot, tied_logits
from softlookup.reference.feedforward import feed_forward, gelu, gelu_tanh, relu, silu
from softlookup.reference.norms import layer_norm, rms_norm
from softlookup.reference.recurrent import recurrent_states
from tests.refusing import refused

V, D, HIDDEN = 9, 4, 7
RNG = np.random.default_rng(0)
TABLE, X = RNG.normal(size=(V, D)), RNG.normal(size=(2, 3, D))
W_1, W_2, B_1, B_2 = (RNG.normal(size=shape) for shape in ((D, HIDDEN), (HIDDEN, D), HIDDEN, D))


def test_one_hot_rows_hold_a_single_one():
    ids = np.array([[0, V - 1], [3, 3]])
    rows = one_hot(ids, V)
    assert rows.shape == (2, 2, V) and (rows.sum(-1) == 1).all()
    np.testing.assert_array_equal(rows.argmax(-1), ids)


@pytest.mark.parametrize(
    ("activation", "expected"),
    [(relu, F.relu), (gelu, F.gelu), (gelu_tanh, lambda x: F.gelu(x, approximate="tanh")), (silu, F.silu)],
)
def test_activations_equal_torch_far_out_too(activation, expected):
    x = np.concatenate([np.linspace(-6, 6, 97), [-1e4, -50.0, 50.0, 1e4]])
    np.testing.assert_allclose(activation(x), expected(torch.from_numpy(x)), rtol=1e-12, atol=1e-12)
    assert activation(np.array([[1, -1]])).shape == (1, 2)


def test_defaults_are_relu_and_the_papers_eps():
    network = (X, W_1, W_2, B_1, B_2)
    np.testing.assert_array_equal(feed_forward(*network), feed_forward(*network, activation="relu"))
    np.testing.assert_array_equal(layer_norm(X, B_2, B_2), layer_norm(X, B_2, B_2, 1e-5))
    np.testing.assert_array_equal(rms_norm(X, B_2), rms_norm(X, B_2, 1e-6))


def test_equal_numbers_give_the_shift_and_float32_comes_back_as_float64():
    shift = np.arange(4.0)
    np.testing.assert_array_equal(layer_norm(np.full((1, 4), 5, dtype=np.float32), np.ones(4), shift), [shift])
    assert rms_norm(np.zeros((1, 4), dtype=np.float32), np.ones(4)).dtype == np.float64


@pytest.mark.parametrize(("tokens", "width", "state"), [(5, 3, 4), (1, 2, 2), (4, 6, 1)])
def test_states_equal_torchs_recurrent_layer(tokens, width, state):
    rng = np.random.default_rng(1)
    x, w_x, w_h = (rng.normal(size=shape) for shape in ((tokens, width), (width, state), (state, state)))
    b, start = rng.normal(size=(2, state))
    layer = torch.nn.RNN(width, state).double()
    with torch.no_grad():
        for name, array in (("weight_ih_l0", w_x.T), ("weight_hh_l0", w_h.T), ("bias_ih_l0", b)):
            getattr(layer, name).copy_(torch.from_numpy(array))
        layer.bias_hh_l0.zero_()
        for begun in (start, None):
            first = None if begun is None else torch.from_numpy(begun)[None]
            expected = layer(torch.from_numpy(x), first)[0]
            np.testing.assert_allclose(recurrent_states(x, w_x, w_h, b, start=begun), expected, rtol=1e-12, atol=1e-12)


ONES = {shape: np.ones(shape) for shape in ((5, 3), (3, 2), (2, 2))}

test_what_does_not_fit_is_named = refused(
    (lambda: embed(np.array([0, V]), TABLE), "ids holds 9; .* V = 9 words, ids 0 to 8"),
    (lambda: embed(np.array([0, -1]), TABLE), "ids holds -1"),
    (lambda: embed(np.array([0.0]), TABLE), TypeError, "ids has dtype float64; wanted integers"),
    (lambda: one_hot(np.array([True]), 2), TypeError, "ids has dtype bool"),
    (lambda: embed(np.array([0]), TABLE[0]), r"table has shape \(4,\); wanted a matrix"),
    (lambda: tied_logits(np.zeros((3, 5)), TABLE), r"x has shape \(3, 5\), table has \(9, 4\)"),
    (lambda: tied_logits(np.zeros((3, 4)), TABLE[0]), r"table has \(4,\)"),
    (lambda: feed_forward(X, W_1, W_2, activation="tanh"), "'tanh'; wanted one of relu, gelu"),
    (lambda: feed_forward(X, W_1, W_2, activation="swiglu"), "swiglu needs a w_gate"),
    (lambda: feed_forward(X, W_1, W_2, w_gate=W_1), "relu has no gate"),
    (lambda: feed_forward(X, W_1, W_2, b_gate=B_1), "relu has no gate"),
    (lambda: feed_forward(X, W_1, W_2, b_1=B_2), r"b has shape \(4,\); w has 7 columns"),
    (lambda: feed_forward(X, W_1, np.ones((D, D))), r"w has \(4, 4\)"),
    (lambda: layer_norm(np.zeros((2, 3)), np.ones(4)), r"gain has shape \(4,\), x has \(2, 3\)"),
    (lambda: layer_norm(np.zeros((2, 3)), np.ones((1, 3))), r"gain has shape \(1, 3\)"),
    (lambda: layer_norm(np.zeros((2, 3)), np.ones(3), np.ones(1)), r"shift has shape \(1,\)"),
    (lambda: rms_norm(np.zeros((2, 3)), np.ones(1)), r"gain has shape \(1,\).* one number for each of x's D"),
    (
        lambda: recurrent_states(ONES[5, 3], TABLE, ONES[2, 2]),
        r"x has shape \(5, 3\) and w_x \(9, 4\); wanted \(T, D\) and \(D, M\)",
    ),
    (lambda: recurrent_states(ONES[5, 3], ONES[3, 2], W_1), r"w_h has shape \(4, 7\); wanted \(2, 2\), from a state"),
    (lambda: recurrent_states(*ONES.values(), b=np.ones(3)), r"b has shape \(3,\); wanted \(2,\)"),
    (lambda: recurrent_states(*ONES.values(), start=np.ones(1)), r"start has shape \(1,\); wanted \(2,\)"),
)
