"""The feed-forward network: against the float64 reference, torch's own layers, and those of published models."""

import numpy as np
import pytest
import torch
from torch import nn

from softlookup.model.parts.feedforward import FeedForward
from softlookup.reference import feedforward as reference
from tests.refusing import refused

D, HIDDEN = 5, 8
PLAIN = {"relu": nn.ReLU(), "gelu": nn.GELU(), "gelu_tanh": nn.GELU(approximate="tanh"), "silu": nn.SiLU()}
GATED = ["swiglu", "geglu_tanh"]


def make(activation, bias=True, device="cpu", dtype=torch.float64, **options):
    layer = FeedForward(D, HIDDEN, activation=activation, bias=bias, **options).to(device, dtype)
    for weight in layer.parameters():
        nn.init.normal_(weight)
    return layer


def tokens(device, dtype=torch.float64):
    return torch.randn(2, 3, D, dtype=torch.float64).to(device, dtype)


def gradients(layer, x, grad):
    x = x.clone().requires_grad_()
    layer.zero_grad()
    layer(x).backward(grad)
    return x.grad


@pytest.mark.parametrize("activation", [*PLAIN, *GATED])
@pytest.mark.parametrize("bias", [True, False])
def test_output_equals_the_reference(device, activation, bias):
    layer = make(activation, bias, device)
    x = tokens(device)
    weights = {name: w.detach().cpu().numpy() for name, w in layer.named_parameters()}
    expected = reference.feed_forward(x.cpu().numpy(), **weights, activation=activation)
    np.testing.assert_allclose(layer(x).detach().cpu(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("activation", PLAIN)
@pytest.mark.parametrize("bias", [True, False])
def test_plain_kinds_equal_torch_layers_in_values_and_gradients(device, activation, bias):
    layer = make(activation, bias, device)
    torch_layers = nn.Sequential(
        nn.Linear(D, HIDDEN, bias=bias), PLAIN[activation], nn.Linear(HIDDEN, D, bias=bias)
    ).to(device, torch.float64)
    with torch.no_grad():
        for linear, number in ((torch_layers[0], 1), (torch_layers[2], 2)):
            linear.weight.copy_(getattr(layer, f"w_{number}").mT)
            if bias:
                linear.bias.copy_(getattr(layer, f"b_{number}"))
    x, grad = tokens(device), tokens(device)
    torch.testing.assert_close(layer(x), torch_layers(x), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(gradients(layer, x, grad), gradients(torch_layers, x, grad), rtol=1e-12, atol=1e-12)
    for linear, number in ((torch_layers[0], 1), (torch_layers[2], 2)):
        w = getattr(layer, f"w_{number}")
        torch.testing.assert_close(w.grad, linear.weight.grad.mT, rtol=1e-12, atol=1e-12)
        assert w.grad.is_contiguous()
        if bias:
            torch.testing.assert_close(getattr(layer, f"b_{number}").grad, linear.bias.grad, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("activation", [*PLAIN, *GATED])
def test_other_dtypes_stay_close_to_float64(device, dtype, activation):
    layer = make(activation, device=device, dtype=dtype)
    x = tokens(device, dtype)
    got = layer(x)
    assert got.dtype == dtype
    expected = layer.double()(x.double())
    tolerance = {torch.float32: 1e-5, torch.bfloat16: 4e-2}[dtype] * expected.abs().max().item()
    torch.testing.assert_close(got.double(), expected, rtol=0, atol=tolerance)


def test_under_autocast_the_biased_sum_stays_in_the_product_dtype(device):
    layer = make("relu", device=device, dtype=torch.float32)
    x = tokens(device, torch.float32)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        got = layer(x)
    assert got.dtype == torch.bfloat16
    expected = layer(x)
    torch.testing.assert_close(got.float(), expected, rtol=0, atol=4e-2 * expected.abs().max().item())


def test_tokens_do_not_see_each_other_and_leading_axes_are_free():
    layer = make("gelu")
    x = tokens("cpu")
    whole = layer(x)
    torch.testing.assert_close(layer(x[1, 2]), whole[1, 2])
    torch.testing.assert_close(layer(x[None]), whole[None])


def test_dropout_is_off_by_default_and_falls_on_the_hidden_numbers_while_training():
    x = torch.ones(1, 1, 1)
    plain = FeedForward(1, 4)
    assert plain.training and torch.equal(plain(x), plain(x))
    layer = FeedForward(1, 1000, bias=False, dropout=0.25)
    with torch.no_grad():
        layer.w_1.fill_(1.0)
        layer.w_2.fill_(1.0)
    n_kept = layer(x).item() * 0.75
    assert n_kept == pytest.approx(round(n_kept), abs=1e-2)  # so many of the 1000, each times 1 / 0.75
    assert 690 < n_kept < 810
    assert layer.eval()(x).item() == 1000


def test_reset_draws_xavier_and_zero_biases():
    layer = FeedForward(64, 192, activation="swiglu")
    limit = (6 / (64 + 192)) ** 0.5
    for _ in range(2):
        for w in (layer.w_1, layer.w_2, layer.w_gate):
            assert 0.95 * limit < w.abs().max().item() <= limit
        for b in (layer.b_1, layer.b_2, layer.b_gate):
            assert (b == 0).all()
        for weight in layer.parameters():
            nn.init.normal_(weight)
        layer.reset_parameters()


test_what_does_not_fit_is_named = refused(
    (lambda: FeedForward(0, 4), "d_model 0, d_hidden 4"),
    (lambda: FeedForward(4, 0), "d_model 4, d_hidden 0"),
    (lambda: FeedForward(4, 4, activation="tanh"), "'tanh'; wanted one of relu, relu2, gelu, .*geglu_tanh"),
    (lambda: FeedForward(4, 4, dropout=1.0), "below 1; got 1.0"),
    (lambda: FeedForward(4, 4, dropout=-0.1), "got -0.1"),
    (lambda: FeedForward(4, 8)(torch.zeros(2, 3, 8)), r"x has shape \(2, 3, 8\); wanted .* D = 4"),
    (lambda: FeedForward(4, 8)(torch.zeros(2, 3, 4).int()), TypeError, "int32; wanted a floating-point"),
    (lambda: FeedForward(4, 8)(torch.zeros(2, 3, 4).double()), TypeError, "float64, the layer's weights torch.float32"),
    (lambda: FeedForward(4, 8)(torch.zeros(2, 3, 4, device="meta")), "x is on meta"),
)
