"""Token embeddings: against one-hot products, torch's own layer and the float64 reference."""

import numpy as np
import pytest
import torch
from torch import nn

from softlookup.model.parts.embeddings import TokenEmbedding
from softlookup.reference import embeddings as reference
from tests.refusing import refused

V, D = 11, 6


def make(device="cpu", **options):
    layer = TokenEmbedding(V, D, **options).to(device, torch.float64)
    with torch.no_grad():
        layer.table.normal_()
    return layer


def draw_ids(device, dtype=torch.int64):
    ids = torch.tensor([[0, 3, 10, 3], [10, 1, 0, 0]], dtype=dtype)  # the first and the last id, and repeats
    return ids.to(device)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("scale", [None, 2.5, D**0.5])
def test_lookup_equals_one_hot_times_table_and_the_reference(device, dtype, scale):
    layer, ids = make(device, scale=scale), draw_ids(device, dtype)
    one_hot = torch.eye(V, dtype=torch.float64, device=device)[ids.long()]
    factor = 1.0 if scale is None else scale
    torch.testing.assert_close(layer(ids), factor * one_hot @ layer.table, rtol=1e-12, atol=1e-12)
    expected = reference.embed(ids.cpu().numpy(), layer.table.detach().cpu().numpy(), factor)
    np.testing.assert_allclose(layer(ids).detach().cpu(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("pad_id", [None, 3])
def test_gradient_equals_torch_layer_and_spares_the_row_of_padding(device, pad_id):
    library_layer, ids = make(device, pad_id=pad_id), draw_ids(device)
    torch_layer = nn.Embedding(V, D, padding_idx=pad_id, device=device, dtype=torch.float64)
    with torch.no_grad():
        torch_layer.weight.copy_(library_layer.table)
    grad = torch.randn(2, 4, D, dtype=torch.float64).to(device)
    for layer in (library_layer, torch_layer):
        layer(ids).backward(grad)
    torch.testing.assert_close(library_layer.table.grad, torch_layer.weight.grad, rtol=1e-12, atol=1e-12)
    assert (library_layer.table.grad[3] == 0).all() == (pad_id == 3)


def test_logits_equal_dot_products_with_every_row_whatever_the_scale(device):
    layer = make(device, scale=3.0, pad_id=2)
    x = torch.randn(2, 4, D, dtype=torch.float64).to(device)
    logits = layer.logits(x)
    for b, t, v in ((0, 0, 0), (1, 3, 10), (0, 2, 2)):
        assert logits[b, t, v].item() == pytest.approx((x[b, t] @ layer.table[v]).item(), rel=1e-12)
    expected = reference.tied_logits(x.cpu().numpy(), layer.table.detach().cpu().numpy())
    np.testing.assert_allclose(logits.detach().cpu(), expected, rtol=0, atol=1e-12)
    logits.sum().backward()
    assert (layer.table.grad[2] != 0).all()  # as an output, padding's row learns to be unlikely
    torch.testing.assert_close(layer.logits(x[0, 0]), logits[0, 0])


@pytest.mark.parametrize(("scale", "deviation"), [(None, 0.02), (8.0, 64**-0.5)])
def test_table_begins_normal_with_the_deviation_that_fits_the_scale(scale, deviation):
    layer = TokenEmbedding(500, 64, scale=scale, pad_id=7)
    for _ in range(2):
        rest = torch.cat([layer.table[:7], layer.table[8:]])
        assert rest.std().item() == pytest.approx(deviation, rel=0.02)
        assert rest.mean().item() == pytest.approx(0, abs=deviation / 50)
        assert (layer.table[7] == 0).all() and not (layer.table[[6, 8]] == 0).any()
        nn.init.ones_(layer.table)
        layer.reset_parameters()
    assert (TokenEmbedding(3, 4).table != 0).all()
    assert (TokenEmbedding(3, 4, scale=0.5, pad_id=0).table == 0).all(dim=1).tolist() == [True, False, False]


def test_padding_row_can_be_cleared_alone():
    layer = make(pad_id=V - 1)
    before = layer.table.detach().clone()
    layer.clear_pad_row()
    assert (layer.table[-1] == 0).all() and torch.equal(layer.table[:-1], before[:-1])
    plain = make()
    plain.clear_pad_row()
    assert (plain.table != 0).all()


def ids_of(*rows, dtype=torch.int64):
    return torch.tensor(rows, dtype=dtype)


test_what_does_not_fit_is_named = refused(
    (lambda: TokenEmbedding(0, 4), "vocab_size 0, d_model 4"),
    (lambda: TokenEmbedding(4, 0), "vocab_size 4, d_model 0"),
    (lambda: TokenEmbedding(4, 4, scale=0.0), "scale must be a positive number, or None; got 0.0"),
    (lambda: TokenEmbedding(4, 4, scale=float("inf")), "got inf"),
    (lambda: TokenEmbedding(4, 4, pad_id=4), "pad_id is 4; the vocabulary has ids 0 to 3"),
    (lambda: TokenEmbedding(4, 4, pad_id=-1), "pad_id is -1"),
    (lambda: TokenEmbedding(4, 2)(ids_of([0, 4])), "4.* ids 0 to 3"),
    (lambda: TokenEmbedding(4, 2)(ids_of([0, -1])), "-1.* ids 0 to 3"),
    (lambda: TokenEmbedding(4, 2)(ids_of(0, 1)), r"ids has shape \(2,\); wanted .*\(B, T\)"),
    (lambda: TokenEmbedding(4, 2)(torch.zeros(0, 3, dtype=torch.int64)), r"\(0, 3\).* empty"),
    (lambda: TokenEmbedding(4, 2)(torch.zeros(3, 0, dtype=torch.int64)), r"\(3, 0\).* empty"),
    (lambda: TokenEmbedding(4, 2)(torch.zeros(1, 2)), TypeError, "float32; wanted .*torch.int64 or torch.int32"),
    (lambda: TokenEmbedding(4, 2)(ids_of([0, 1], dtype=torch.int16)), TypeError, "int16; wanted"),
    (lambda: TokenEmbedding(4, 2)(ids_of([0, 1], dtype=torch.bool)), TypeError, "bool; wanted"),
    (lambda: TokenEmbedding(4, 2)(ids_of([0]).to("meta")), "ids is on meta, the table on cpu"),
    (lambda: TokenEmbedding(4, 2).logits(torch.zeros(3, 4)), r"x has shape \(3, 4\); wanted .* D = 2"),
    (lambda: TokenEmbedding(4, 2).logits(torch.zeros(3, 2).double()), TypeError, "float64, the layer's weights"),
    (lambda: TokenEmbedding(4, 2).logits(torch.zeros(3, 2, device="meta")), "x is on meta"),
)
