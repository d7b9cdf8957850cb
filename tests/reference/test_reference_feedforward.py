"""The reference's feed-forward network: against torch's activations and products written out."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from softlookup.reference.feedforward import feed_forward, gelu, gelu_tanh, relu, silu

D, HIDDEN = 4, 7
TORCH = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}
TORCH |= {"swiglu": TORCH["silu"], "geglu_tanh": TORCH["gelu_tanh"]}


def draw(seed):
    rng = np.random.default_rng(seed)
    shapes = {"x": (2, 3, D), "w_1": (D, HIDDEN), "w_2": (HIDDEN, D), "b_1": (HIDDEN,), "b_2": (D,)}
    shapes |= {"w_gate": (D, HIDDEN), "b_gate": (HIDDEN,)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


@pytest.mark.parametrize(
    ("activation", "name"), [(relu, "relu"), (gelu, "gelu"), (gelu_tanh, "gelu_tanh"), (silu, "silu")]
)
def test_activations_equal_torch_far_out_too(activation, name):
    x = np.concatenate([np.linspace(-6, 6, 97), [-1e4, -50.0, 50.0, 1e4]])
    np.testing.assert_allclose(activation(x), TORCH[name](torch.from_numpy(x)), rtol=1e-12, atol=1e-12)
    assert activation(np.array([[1, -1]])).shape == (1, 2)


@given(st.integers(0, 10**6), st.sampled_from(list(TORCH)), st.booleans())
def test_network_equals_products_in_torch(seed, activation, bias):
    numbers = draw(seed)
    gated = activation in ("swiglu", "geglu_tanh")
    dropped = ([] if gated else ["w_gate", "b_gate"]) + ([] if bias else ["b_1", "b_2", "b_gate"])
    given_numbers = {name: value for name, value in numbers.items() if name not in dropped}
    t = {name: torch.from_numpy(value) for name, value in numbers.items()}
    if not bias:
        t |= {name: torch.zeros(()) for name in ("b_1", "b_2", "b_gate")}
    hidden = torch.einsum("btd,df->btf", t["x"], t["w_1"]) + t["b_1"]
    gate = torch.einsum("btd,df->btf", t["x"], t["w_gate"]) + t["b_gate"]
    hidden = TORCH[activation](gate) * hidden if gated else TORCH[activation](hidden)
    expected = torch.einsum("btf,fd->btd", hidden, t["w_2"]) + t["b_2"]
    got = feed_forward(**given_numbers, activation=activation)
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11)


def test_relu_is_the_default():
    numbers = draw(3)
    arguments = [numbers[name] for name in ("x", "w_1", "w_2", "b_1", "b_2")]
    np.testing.assert_array_equal(feed_forward(*arguments), feed_forward(*arguments, activation="relu"))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"activation": "tanh"}, "'tanh'; wanted one of relu, gelu"),
        ({"activation": "swiglu"}, "swiglu needs a w_gate"),
        ({"w_gate": np.ones((D, HIDDEN))}, "relu has no gate"),
        ({"b_gate": np.ones(HIDDEN)}, "relu has no gate"),
        ({"b_1": np.ones(D)}, r"b has shape \(4,\); w has 7 columns"),
        ({"w_2": np.ones((D, D))}, r"w has \(4, 4\)"),
    ],
)
def test_what_does_not_fit_is_named(changes, message):
    numbers = {name: value for name, value in draw(0).items() if name in ("x", "w_1", "w_2")}
    with pytest.raises(ValueError, match=message):
        feed_forward(**(numbers | changes))
