"""First weights: their ranges, which fan is counted, and what becomes of the variance."""

import math

import pytest
import torch
from torch import nn

from softlookup.model.parts.initialise import he_, xavier_


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


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("function", [xavier_, he_])
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (0, 3)])
def test_what_is_no_matrix_is_refused(function, shape):
    with pytest.raises(ValueError, match=r"w has shape .*; wanted a matrix, \(in, out\)"):
        function(torch.empty(shape))
