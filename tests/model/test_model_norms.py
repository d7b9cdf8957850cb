"""LayerNorm and RMSNorm: against torch's layers, Llama's, and the float64 reference."""

import numpy as np
import pytest
import torch
from torch import nn
from transformers.models.llama.modeling_llama import LlamaRMSNorm

from softlookup.model.parts import norms
from softlookup.reference import norms as reference
from tests.refusing import refused

D = 7
SHAPES = [(D,), (3, D), (2, 3, D), (2, 1, 3, D)]


def draw(device, dtype=torch.float64, shape=(2, 3, D)):
    """Give x, gain, shift and a gradient of the output; x has a mean and a spread of its own."""
    x = 3 + 5 * torch.randn(shape, dtype=torch.float64)
    rest = [torch.randn(D), torch.randn(D), torch.randn(shape)]
    return [t.to(device, dtype) for t in (x, *rest)]


def run(function, *leaves, grad):
    leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    out = function(*leaves)
    out.backward(grad)
    return [out.detach(), *(leaf.grad for leaf in leaves)]


def loaded(layer, x, **weights):
    layer.to(x)
    with torch.no_grad():
        for name, value in weights.items():
            getattr(layer, name).copy_(value)
    return layer


def through(layer, names):
    """Give a function of x and the weights that runs the layer, so that gradients of all come back."""
    return lambda x, *weights: torch.func.functional_call(layer, dict(zip(names, weights, strict=True)), (x,))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", [1e-5, 0.3])
@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm_equals_torch_layer_in_values_and_gradients(device, shape, eps, bias):
    x, gain, shift, grad = draw(device, shape=shape)
    weights = (gain, shift) if bias else (gain,)
    torch_layer = nn.LayerNorm(D, eps=eps, bias=bias).to(x)
    layer = norms.LayerNorm(D, eps=eps, bias=bias).to(x)
    expected = run(through(torch_layer, ["weight", "bias"][: len(weights)]), x, *weights, grad=grad)
    in_the_open = run(lambda x, *w: norms.layer_norm(x, *w, eps=eps), x, *weights, grad=grad)
    as_layer = run(through(layer, ["gain", "shift"][: len(weights)]), x, *weights, grad=grad)
    for got in (in_the_open, as_layer):
        for g, w in zip(got, expected, strict=True):
            torch.testing.assert_close(g, w, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", [1e-6, 0.3])
def test_rms_norm_equals_torch_layer_in_values_and_gradients(device, shape, eps):
    x, gain, _, grad = draw(device, shape=shape)
    expected = run(through(nn.RMSNorm(D, eps=eps).to(x), ["weight"]), x, gain, grad=grad)
    got = run(through(norms.RMSNorm(D, eps=eps).to(x), ["gain"]), x, gain, grad=grad)
    for g, w in zip(got, expected, strict=True):
        torch.testing.assert_close(g, w, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_rms_norm_equals_llama_to_the_last_bit(device, dtype):
    x, gain, _, _ = draw(device, dtype)
    llama_norm = loaded(LlamaRMSNorm(D, eps=1e-6), x, weight=gain)
    assert torch.equal(loaded(norms.RMSNorm(D), x, gain=gain)(x), llama_norm(x))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", [{}, {"eps": 0.7}], ids=str)
def test_both_equal_the_reference(device, shape, eps):
    x, gain, shift, _ = draw(device, shape=shape)
    arrays = [t.cpu().numpy() for t in (x, gain, shift)]
    for got, expected in (
        (loaded(norms.LayerNorm(D, **eps), x, gain=gain, shift=shift)(x), reference.layer_norm(*arrays, **eps)),
        (norms.layer_norm(x, gain, shift, **eps), reference.layer_norm(*arrays, **eps)),
        (norms.layer_norm(x, gain, **eps), reference.layer_norm(*arrays[:2], **eps)),
        (loaded(norms.RMSNorm(D, **eps), x, gain=gain)(x), reference.rms_norm(*arrays[:2], **eps)),
        (norms.rms_norm(x, gain, **eps), reference.rms_norm(*arrays[:2], **eps)),
    ):
        np.testing.assert_allclose(got.detach().cpu(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_takes_its_statistics_in_float32(device, dtype):
    x = torch.tensor([[300.0, 400.0, 500.0, 600.0] * 2], device=device, dtype=dtype)  # squares overflow in float16
    gain, shift = torch.ones(8, device=device, dtype=dtype), torch.zeros(8, device=device, dtype=dtype)
    expected_layer = norms.layer_norm(x.double(), gain.double(), shift.double())
    expected_rms = norms.rms_norm(x.double(), gain.double())
    layer, rms = norms.LayerNorm(8).to(device, dtype), norms.RMSNorm(8).to(device, dtype)
    for got, expected in (
        (norms.layer_norm(x, gain, shift), expected_layer),
        (layer(x), expected_layer),
        (norms.rms_norm(x, gain), expected_rms),
        (rms(x), expected_rms),
    ):
        assert got.dtype == dtype
        torch.testing.assert_close(got.double(), expected, rtol=2 * torch.finfo(dtype).eps, atol=0)


def test_layers_begin_as_plain_normalising_with_the_defaults_of_the_papers():
    layer, rms = norms.LayerNorm(D), norms.RMSNorm(D)
    assert layer.eps == 1e-5 and rms.eps == 1e-6 and norms.RMSNorm(D, eps=0.0).eps == 0
    assert [name for name, _ in layer.named_parameters()] == ["gain", "shift"]
    assert [name for name, _ in norms.LayerNorm(D, bias=False).named_parameters()] == ["gain"]
    assert norms.LayerNorm(D, bias=False).shift is None
    for weight in layer.parameters():
        nn.init.normal_(weight)
    layer.reset_parameters()
    assert (layer.gain == 1).all() and (layer.shift == 0).all() and (rms.gain == 1).all()


def test_autocast_takes_half_inputs_beside_float32_weights(device):
    x = torch.randn(2, 3, D).to(device)
    for layer in (norms.LayerNorm(D), norms.RMSNorm(D)):
        layer.to(device)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            got = layer(x.bfloat16())
        torch.testing.assert_close(got.float(), layer(x), rtol=0, atol=3e-2)


test_what_does_not_fit_is_named = refused(
    (lambda: norms.LayerNorm(0), "d_model 0"),
    (lambda: norms.RMSNorm(0), "d_model 0"),
    (lambda: norms.LayerNorm(4, eps=-1e-5), "eps must be at least 0; got -1e-05"),
    (lambda: norms.RMSNorm(4, eps=float("nan")), "eps must be at least 0; got nan"),
    (lambda: norms.LayerNorm(4)(torch.zeros(2, 3)), r"x has shape \(2, 3\); wanted .* D = 4"),
    (lambda: norms.RMSNorm(4)(torch.zeros(2, 1)), r"x has shape \(2, 1\); wanted .* D = 4"),
    (lambda: norms.RMSNorm(4)(torch.zeros(())), r"x has shape \(\)"),
    (lambda: norms.LayerNorm(4)(torch.zeros(4).long()), TypeError, "int64; wanted a floating-point"),
    (lambda: norms.LayerNorm(4)(torch.zeros(4).double()), TypeError, "float64, the layer's weights torch.float32"),
    (lambda: norms.RMSNorm(4)(torch.zeros(4).half()), TypeError, "float16, the layer's weights torch.float32"),
    (lambda: norms.LayerNorm(4)(torch.zeros(4, device="meta")), "x is on meta, .* weights on cpu"),
    (lambda: norms.layer_norm(torch.zeros(2, 3), torch.ones(4)), r"\(2, 3\)"),
    (lambda: norms.layer_norm(torch.zeros(2, 4).half(), torch.ones(4)), TypeError, "float16"),
)
