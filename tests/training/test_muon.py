"""Muon's direction is torch's; the schedule that holds its rate is transformers'."""

import pytest
import torch

from softlookup.training.muon import orthogonalise


@pytest.mark.parametrize("shape", [(12, 12), (24, 6), (6, 24)])
def test_directions_are_those_of_torchs_steps(shape):
    weight = torch.nn.Parameter(torch.randn(shape))
    before = weight.detach().clone()
    torchs = torch.optim.Muon([weight], lr=0.02, weight_decay=0.0)
    weight.grad = torch.randn(shape)
    torchs.step()
    rate = 0.02 * max(1.0, shape[0] / shape[1]) ** 0.5
    average = 0.05 * weight.grad
    direction = orthogonalise(0.95 * average + 0.05 * weight.grad).float()
    # bfloat16 keeps 8 bits: a last bit of the average may become a last bit of the direction.
    torch.testing.assert_close(before - weight.detach(), rate * direction, rtol=0, atol=0.01 * rate)


@pytest.mark.parametrize("shape", [(8, 8), (20, 5), (5, 20)])
def test_singular_values_come_near_one_and_directions_stay(shape):
    u, _, vt = torch.linalg.svd(torch.randn(shape, dtype=torch.float64), full_matrices=False)
    matrix = u @ torch.diag(torch.logspace(0, -2, min(shape), dtype=torch.float64)) @ vt
    direction = orthogonalise(matrix, dtype=torch.float64)
    inner = u.mT @ direction @ vt.mT
    torch.testing.assert_close(inner, torch.diag(inner.diagonal()), rtol=0, atol=1e-9)
    assert ((inner.diagonal() > 0.6) & (inner.diagonal() < 1.25)).all()
    torch.testing.assert_close(orthogonalise(7 * matrix, dtype=torch.float64), direction)
    assert not orthogonalise(torch.zeros(shape)).any()


def test_what_muon_cannot_do_is_refused(unchecked):
    with pytest.raises(ValueError, match=r"matrix has shape \(3,\); wanted two axes"):
        orthogonalise(torch.zeros(3))
    with pytest.raises(ValueError, match="steps must be at least 1; got 0"):
        orthogonalise(torch.zeros(3, 3), steps=0)
