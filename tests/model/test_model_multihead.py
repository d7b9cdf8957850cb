"""Many heads in torch: against the float64 reference, against torch's own layer, and head by head."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from softlookup import model, reference
from softlookup.model import MultiHeadAttention

B, T, S, D, N = 2, 3, 5, 12, 4
WIDTHS = [(None, None), (None, 2), (None, 1), (5, None), (5, 2), (1, 1)]


def tokens(device, dtype=torch.float64):
    return (torch.randn(B, length, D, dtype=dtype).to(device) for length in (T, S))


def numbers(x):
    return x.detach().double().cpu().numpy()


@pytest.mark.parametrize(("head_width", "n_kv_heads"), WIDTHS)
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("return_weights", [False, True])
def test_output_equals_the_reference(device, head_width, n_kv_heads, cross, return_weights):
    layer = MultiHeadAttention(D, N, head_width=head_width, n_kv_heads=n_kv_heads).to(device, torch.float64)
    x, x_kv = tokens(device)
    mask = torch.rand(B, N, T, S if cross else T) < 0.6
    mask[0, :, 1] = False
    got = layer(x, x_kv if cross else None, mask.to(device), return_weights=return_weights)
    expected = reference.multi_head_attention(
        *map(numbers, (x, layer.w_q, layer.w_k, layer.w_v, layer.w_o)),
        N,
        n_kv_heads,
        numbers(x_kv) if cross else None,
        mask.numpy(),
    )
    if return_weights:
        got, weights = got
        torch.testing.assert_close(weights.sum(-1), mask.any(-1).double().to(device))
    np.testing.assert_allclose(numbers(got), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("head_width", "n_kv_heads"), WIDTHS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_open_and_fused_paths_have_equal_values_and_gradients(device, head_width, n_kv_heads, dtype):
    layer = MultiHeadAttention(D, N, head_width=head_width, n_kv_heads=n_kv_heads, bias=True)
    layer.to(device, dtype)
    for _, b in (item for item in layer.named_parameters() if item[0].startswith("b_")):
        nn.init.normal_(b)
    x, x_kv = tokens(device, dtype)
    mask = (torch.rand(B, 1, T, S) < 0.6).to(device)
    mask[1, :, 0] = False
    grad = torch.randn(B, T, D).to(device, dtype)
    results = []
    for open_path in (True, False):
        leaves = [x.clone().requires_grad_(), x_kv.clone().requires_grad_()]
        layer.zero_grad()
        out = layer(*leaves, mask, return_weights=open_path)
        out = out[0] if open_path else out
        out.backward(grad)
        results.append([out, *(leaf.grad for leaf in (*leaves, *layer.parameters()))])
    tolerance = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 4e-2}[dtype]
    # One scale for all: the gradient of b_k is a sum that cancels to 0, and keeps the rounding of its terms.
    scale = max(a.abs().max().item() for a in results[0])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize(("bias", "cross", "masked"), list(itertools.product([False, True], repeat=3)))
def test_copied_weights_equal_torch_layer_in_values_and_gradients(device, bias, cross, masked):
    torch_layer = nn.MultiheadAttention(D, N, bias=bias, batch_first=True, dtype=torch.float64, device=device)
    if bias:
        nn.init.normal_(torch_layer.in_proj_bias)
        nn.init.normal_(torch_layer.out_proj.bias)
    layer = MultiHeadAttention.from_torch(torch_layer)
    x, x_kv = tokens(device)
    x_kv = x_kv if cross else x
    mask = torch.ones(T, x_kv.shape[1], dtype=torch.bool, device=device).tril() if masked else None
    expected, expected_weights = torch_layer(
        x, x_kv, x_kv, attn_mask=None if mask is None else ~mask, average_attn_weights=False
    )
    got, weights = layer(x, x_kv if cross else None, mask, return_weights=True)
    torch.testing.assert_close(weights, expected_weights, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(layer(x, x_kv if cross else None, mask), expected, rtol=1e-10, atol=1e-12)
    expected.square().sum().backward()
    got.square().sum().backward()
    stacked = torch.cat([layer.w_q.grad.mT, layer.w_k.grad.mT, layer.w_v.grad.mT])
    torch.testing.assert_close(stacked, torch_layer.in_proj_weight.grad, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(layer.w_o.grad.mT, torch_layer.out_proj.weight.grad, rtol=1e-9, atol=1e-11)
    if bias:
        torch.testing.assert_close(layer.b_o.grad, torch_layer.out_proj.bias.grad, rtol=1e-9, atol=1e-11)
        both = torch.cat([layer.b_q.grad, layer.b_k.grad, layer.b_v.grad])
        torch.testing.assert_close(both, torch_layer.in_proj_bias.grad, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("shape", [(T, S), (1, S), (B, 1, 1, S), (B, 1, T, S), (1, N, T, 1), (B, N, T, S)])
@pytest.mark.parametrize("return_weights", [False, True])
def test_masks_of_every_accepted_shape_equal_the_mask_written_out(device, shape, return_weights):
    layer = MultiHeadAttention(D, N).to(device, torch.float64)
    x, x_kv = tokens(device)
    mask = (torch.rand(shape) < 0.5).to(device)
    got = layer(x, x_kv, mask, return_weights=return_weights)
    expected = layer(x, x_kv, mask.expand(B, N, T, S).contiguous(), return_weights=return_weights)
    torch.testing.assert_close(got, expected)


def test_a_batch_with_nothing_to_see_gives_zeros_and_zero_gradients(device):
    layer = MultiHeadAttention(D, N, n_kv_heads=2).to(device)
    x, x_kv = tokens(device, torch.float32)
    blind = torch.zeros(T, S, dtype=torch.bool, device=device)
    for open_path in (True, False):
        layer.zero_grad()
        out = layer(x, x_kv, blind, return_weights=open_path)
        out = out[0] if open_path else out
        assert (out == 0).all()
        out.sum().backward()
        assert all((p.grad == 0).all() for p in layer.parameters())


@pytest.mark.parametrize("return_weights", [False, True])
@pytest.mark.parametrize("sinks", [False, True])
def test_a_row_hidden_by_mask_and_bias_together_gives_zeros_with_a_cache_too(device, return_weights, sinks):
    layer = MultiHeadAttention(D, N, n_kv_heads=2, sinks=sinks).to(device, torch.float64)
    x = torch.randn(B, T, D, dtype=torch.float64).to(device).requires_grad_()
    mask = torch.ones(T, T, dtype=torch.bool, device=device).tril()
    bias = torch.zeros(N, T, T, dtype=torch.float64, device=device)
    bias[:, 1, :2] = float("-inf")  # the mask hides the third key
    cache, parts = model.LayerCache(), []
    for start, end in ((0, 1), (1, 2), (2, 3)):
        more = {"bias": bias[:, start:end, :end], "return_weights": return_weights, "cache": cache}
        parts.append(layer(x[:, start:end], None, mask[start:end, :end], **more))
    whole = layer(x, None, mask, bias=bias, return_weights=return_weights)
    if return_weights:
        parts, whole = [part[0] for part in parts], whole[0]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)
    assert (whole[:, 1] == 0).all() and (whole[:, [0, 2]].abs().sum(-1) > 0).all()
    whole.sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in (x, *layer.parameters()))


def test_initialisation_is_xavier_with_zero_biases():
    layer = MultiHeadAttention(96, 4, n_kv_heads=1, bias=True)
    for w in (layer.w_q, layer.w_k, layer.w_v, layer.w_o):
        bound = (6 / sum(w.shape)) ** 0.5
        assert w.abs().max() <= bound
        assert w.std().item() == pytest.approx(bound / 3**0.5, rel=0.05)
    assert all((getattr(layer, f"b_{letter}") == 0).all() for letter in "qkvo")
    before = layer.w_q.clone()
    layer.reset_parameters()
    assert not torch.equal(layer.w_q, before)


def test_split_heads_gives_head_i_its_own_columns_and_merge_undoes_it(device):
    x = torch.randn(B, T, N * 3, device=device)
    split = model.split_heads(x, N)
    assert split.shape == (B, N, T, 3)
    for i in range(N):
        assert torch.equal(split[:, i], x[..., i * 3 : (i + 1) * 3])
    assert torch.equal(model.merge_heads(split), x)


def test_from_torch_keeps_dtype_and_mode_and_shares_nothing():
    torch_layer = nn.MultiheadAttention(D, N, dtype=torch.float64, dropout=0.1).eval()
    layer = MultiHeadAttention.from_torch(torch_layer)
    assert layer.w_q.dtype == torch.float64 and not layer.training
    before = layer.w_q.clone()
    with torch.no_grad():
        torch_layer.in_proj_weight.zero_()
    assert torch.equal(layer.w_q, before)


def test_the_layer_runs_on_meta_tensors_so_that_operations_can_be_counted_without_numbers():
    layer = MultiHeadAttention(D, N, n_kv_heads=2).to("meta")
    x = torch.empty(B, T, D, device="meta")
    mask = torch.empty(T, T, dtype=torch.bool, device="meta")
    out, weights = layer(x, mask=mask, return_weights=True)
    assert out.shape == layer(x, mask=mask).shape == (B, T, D)
    assert weights.shape == (B, N, T, T)
