"""First weights: their ranges, which fan is counted, and what becomes of the variance."""

import math

import pytest
import torch
from torch import nn

from softlookup.model.embeddings import TokenEmbedding
from softlookup.model.feedforward import FeedForward
from softlookup.model.initialise import gpt2_, he_, xavier_
from softlookup.model.multihead import MultiHeadAttention
from softlookup.model.norms import LayerNorm


def test_xavier_is_uniform_within_the_range_of_the_paper(device):
    w = torch.empty(300, 100, device=device)
    assert xavier_(w) is w
    limit = math.sqrt(6 / 400)
    assert 0.99 * limit < w.abs().max().item() <= limit
    assert w.std().item() == pytest.approx(math.sqrt(2 / 400), rel=0.02)
    assert w.mean().item() == pytest.approx(0, abs=1e-3)


def test_he_counts_the_rows_where_torch_counts_the_columns(device):
    w = torch.empty(1000, 40, device=device)
    assert he_(w) is w
    assert w.std().item() == pytest.approx(math.sqrt(2 / 1000), rel=0.02)
    assert w.mean().item() == pytest.approx(0, abs=1e-3)
    assert w.abs().max().item() > 3.5 * math.sqrt(2 / 1000)  # normal, not uniform
    read_as_out_in = nn.init.kaiming_normal_(torch.empty(1000, 40))
    assert read_as_out_in.std().item() == pytest.approx(math.sqrt(2 / 40), rel=0.02)
    transposed = nn.init.kaiming_normal_(torch.empty(40, 1000)).mT
    assert transposed.std().item() == pytest.approx(w.std().item(), rel=0.03)


def test_he_keeps_the_size_of_numbers_through_relu_layers_of_changing_width():
    x = torch.randn(200, 256)
    start = x.square().mean().item()
    for width in (512, 128, 512, 128, 256):
        x = torch.relu(x @ he_(torch.empty(x.shape[1], width)))
    assert x.square().mean().item() == pytest.approx(start, rel=0.3)


@pytest.mark.parametrize("function", [xavier_, he_])
def test_drawing_needs_no_leaf_without_gradients_and_keeps_the_dtype(function):
    w = nn.Parameter(torch.empty(3, 4, dtype=torch.float64))
    function(w)
    assert w.dtype == torch.float64 and w.requires_grad and w.is_leaf
    assert w.unique().numel() == 12


class Block(nn.Module):
    """A layer as models have it: an embedding, attention with biases, a norm and a feed-forward network."""

    def __init__(self):
        super().__init__()
        self.embedding = TokenEmbedding(400, 64, pad_id=5)
        self.attention = MultiHeadAttention(64, 4, bias=True)
        self.norm = LayerNorm(64)
        self.feed_forward = FeedForward(64, 256)


@pytest.mark.parametrize(("n_layers", "residual"), [(None, 0.02), (8, 0.02 / 4), (2, 0.01)])
def test_gpt2_draws_matrices_small_and_those_of_the_residual_stream_smaller(n_layers, residual):
    block = Block()
    for weight in block.parameters():
        nn.init.constant_(weight, 9.0)
    assert gpt2_(block, n_layers) is block
    for w in (block.attention.w_q, block.attention.w_k, block.attention.w_v, block.feed_forward.w_1):
        assert w.std().item() == pytest.approx(0.02, rel=0.05) and abs(w.mean().item()) < 2e-3
    for w in (block.attention.w_o, block.feed_forward.w_2):
        assert w.std().item() == pytest.approx(residual, rel=0.05)
    for b in (block.attention.b_q, block.attention.b_o, block.feed_forward.b_1, block.norm.shift):
        assert (b == 0).all()
    assert (block.norm.gain == 1).all()
    assert (block.embedding.table[5] == 0).all()
    assert block.embedding.table.std().item() == pytest.approx(0.02, rel=0.05)


def test_gpt2_takes_another_deviation():
    assert gpt2_(FeedForward(64, 64), std=0.5).w_1.std().item() == pytest.approx(0.5, rel=0.05)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("function", [xavier_, he_])
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (0, 3)])
def test_what_is_no_matrix_is_refused(function, shape):
    with pytest.raises(ValueError, match=r"w has shape .*; wanted a matrix, \(in, out\)"):
        function(torch.empty(shape))


def test_no_layers_are_refused():
    with pytest.raises(ValueError, match="n_layers must be at least 1, or None; got 0"):
        gpt2_(FeedForward(2, 2), 0)
