"""The loss of fine-tuning: torch's own numbers and gradients, and what it refuses."""

import pytest
import torch
import torch.nn.functional as F

from softlookup.post_training import IGNORED, sft_loss


@pytest.fixture
def batch():
    torch.manual_seed(1)
    logits = (3 * torch.randn(3, 5, 7, dtype=torch.float64)).requires_grad_()
    labels = torch.randint(7, (3, 5))
    labels[0, :3] = labels[1, 1:] = labels[2] = IGNORED  # two labels, one label, none
    labels[0, 4] = 0
    return logits, labels


def test_sft_loss_and_its_gradient_are_torchs_cross_entropy(batch):
    logits, labels = batch
    loss = sft_loss(logits, labels)
    expected = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
    torch.testing.assert_close(loss, expected)
    (gradient,) = torch.autograd.grad(loss, logits)
    torch.testing.assert_close(gradient, torch.autograd.grad(expected, logits)[0])
    assert (gradient[labels == IGNORED] == 0).all()


def test_sft_loss_weighs_every_label_alike(batch):
    logits, labels = batch
    rows = [F.cross_entropy(logits[i], labels[i], ignore_index=IGNORED, reduction="sum") for i in range(2)]
    torch.testing.assert_close(sft_loss(logits, labels), (rows[0] + rows[1]) / 3)


def test_sft_loss_of_large_logits_is_finite():
    logits = torch.tensor([[[1e4, 0.0], [-1e4, 0.0]]])
    assert sft_loss(logits, torch.tensor([[1, IGNORED]])).item() == 1e4
    assert sft_loss(logits, torch.tensor([[0, 1]])).item() == 0.0


def test_sft_loss_of_half_precision_is_summed_in_float32(batch):
    logits, labels = batch
    half = sft_loss(logits.bfloat16(), labels)
    assert half.dtype == torch.float32 and half.item() == pytest.approx(sft_loss(logits, labels).item(), rel=0.02)


def test_sft_loss_refuses_a_batch_without_a_label(batch):
    logits, labels = batch
    with pytest.raises(ValueError, match="all 15 labels are -100: no token of the batch is the assistant's"):
        sft_loss(logits, torch.full_like(labels, IGNORED))
    with pytest.raises(ValueError, match="7"):
        sft_loss(logits, labels.where(labels == IGNORED, 7))
