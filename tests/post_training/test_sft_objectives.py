"""Losses of fine-tuning and distillation: torch's own numbers and gradients, and what they refuse."""

import math

import pytest
import torch
import torch.nn.functional as F

from softlookup.post_training import IGNORED, distillation_loss, sft_loss


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


@pytest.mark.parametrize("tau", [1, 2.0, 0.5, 10.0])
def test_distillation_loss_and_its_gradient_are_torchs_kl_div(tau):
    torch.manual_seed(2)
    student = (3 * torch.randn(2, 4, 6, dtype=torch.float64)).requires_grad_()
    teacher = (3 * torch.randn(2, 4, 6, dtype=torch.float64)).requires_grad_()
    loss = distillation_loss(student, teacher, tau)
    log_q, p = (student / tau).log_softmax(-1), (teacher.detach() / tau).softmax(-1)
    expected = tau**2 * F.kl_div(log_q, p, reduction="none").sum(-1).mean()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(torch.autograd.grad(loss, student), torch.autograd.grad(expected, student))
    assert not distillation_loss(student.detach(), teacher, tau).requires_grad


def test_gradients_of_distillation_keep_their_size_at_high_temperatures():
    """Equation 4 of Hinton et al.: without the factor they would shrink with the square of the temperature."""
    torch.manual_seed(3)
    student, teacher = torch.randn(2, 5, 8, dtype=torch.float64).unbind()
    student.requires_grad_()
    sizes = [torch.autograd.grad(distillation_loss(student, teacher, tau), student)[0].norm() for tau in (50, 500)]
    assert sizes[1] / sizes[0] == pytest.approx(1.0, rel=0.05)
    moved = (student - student.mean(-1, keepdim=True)) - (teacher - teacher.mean(-1, keepdim=True))
    (gradient,) = torch.autograd.grad(distillation_loss(student, teacher, 1e4), student)
    torch.testing.assert_close(gradient, moved / (5 * 8), rtol=1e-2, atol=1e-4)


def test_a_token_that_the_teacher_rules_out_costs_nothing():
    teacher = torch.tensor([[0.0, 0.0, -math.inf]])
    student = torch.tensor([[0.0, 0.0, 0.0]], requires_grad=True)
    loss = distillation_loss(student, teacher, 1)
    loss.backward()
    assert loss.item() == pytest.approx(math.log(1.5)) and student.grad.isfinite().all()
    assert distillation_loss(teacher, teacher, 2).item() == 0.0


@pytest.mark.parametrize(
    ("student", "teacher", "tau", "error", "sentence"),
    [
        (torch.zeros(2, 3), torch.zeros(2, 4), 1, ValueError, r"shape \(2, 3\), the teacher's \(2, 4\)"),
        (torch.zeros(0, 3), torch.zeros(0, 3), 1, ValueError, "at least one token"),
        (torch.zeros(2, 3), torch.zeros(2, 3), 0, ValueError, "tau is 0; wanted a finite number above 0"),
        (torch.zeros(2, 3), torch.zeros(2, 3), math.nan, ValueError, "tau is nan"),
        (torch.zeros(2, 3).long(), torch.zeros(2, 3), 1, TypeError, "torch.int64 and torch.float32"),
    ],
)
def test_distillation_loss_refuses_what_does_not_fit(unchecked, student, teacher, tau, error, sentence):
    with pytest.raises(error, match=sentence):
        distillation_loss(student, teacher, tau)


def test_distillation_loss_is_that_of_trl():
    """TRL's generalised divergence with beta 0 is KL(teacher || student), without the factor tau squared."""
    pytest.importorskip("trl")
    gkd = pytest.importorskip("trl.experimental.gkd")
    torch.manual_seed(4)
    student, teacher = torch.randn(2, 2, 5, 7).unbind()
    loss = gkd.GKDTrainer.generalized_jsd_loss(student, teacher, beta=0.0, temperature=2.0, reduction="sum")
    torch.testing.assert_close(distillation_loss(student, teacher, 2.0), 4 * loss / 10)
