"""Objectives: against torch's own cross-entropy, against sums written out, and on input that means nothing."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from softlookup.model.whole.objectives import (
    contrastive_loss,
    cross_entropy,
    label_smoothing,
    perplexity,
    teacher_forcing,
)
from tests.refusing import refused

PAD = 2
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-6, torch.bfloat16: 2e-6}


def draw(seed, device, dtype=torch.float64, b=3, t=5, v=7):
    """Give logits, and targets some of which are padding."""
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(b, t, v, generator=generator, dtype=torch.float64)
    targets = torch.randint(v, (b, t), generator=generator)
    targets[0, 0], targets[-1, -1] = 1, PAD
    return logits.to(device, dtype).requires_grad_(), targets.to(device)


@given(
    st.integers(0, 10**6),
    st.sampled_from([torch.float64, torch.float32]),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from(["mean", "sum"]),
)
def test_cross_entropy_equals_torch_in_value_and_gradient(device, seed, dtype, epsilon, reduction):
    logits, targets = draw(seed, device, dtype)
    loss = cross_entropy(logits, targets, pad_id=PAD, epsilon=epsilon, reduction=reduction)
    (gradient,) = torch.autograd.grad(loss, logits)
    torch_loss = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, label_smoothing=epsilon, reduction=reduction
    )
    (torch_gradient,) = torch.autograd.grad(torch_loss, logits)
    torch.testing.assert_close(loss, torch_loss, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    torch.testing.assert_close(gradient, torch_gradient, rtol=0, atol=TOLERANCE[dtype])
    assert loss.dtype == dtype and (gradient[targets == PAD] == 0).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_cross_entropy_of_half_precision_logits_is_counted_in_float32(device, dtype):
    logits, targets = draw(3, device, dtype, t=400, v=1000)
    loss = cross_entropy(logits, targets, pad_id=PAD, epsilon=0.1)
    expected = F.cross_entropy(logits.double().flatten(0, 1), targets.flatten(), ignore_index=PAD, label_smoothing=0.1)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss.double(), expected, rtol=1e-6, atol=0)


def test_padded_positions_cannot_spoil_anything(device):
    logits, targets = draw(5, device)
    spoiled = logits.detach().clone()
    spoiled[targets == PAD] = math.nan
    spoiled.requires_grad_()
    loss = cross_entropy(spoiled, targets, pad_id=PAD)
    torch.testing.assert_close(loss, cross_entropy(logits, targets, pad_id=PAD))
    (gradient,) = torch.autograd.grad(loss, spoiled)
    assert gradient.isfinite().all()


def test_an_impossible_class_costs_nothing_where_nothing_is_spread(device):
    logits = torch.tensor([[[0.0, 0.0, -math.inf]]], device=device)
    target = torch.tensor([[0]], device=device)
    assert cross_entropy(logits, target, pad_id=PAD).item() == pytest.approx(math.log(2))
    assert cross_entropy(logits, target, pad_id=PAD, epsilon=0.1).item() == math.inf


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_targets_may_be_of_either_integer_width_and_padding_of_any_id(device, dtype):
    logits, targets = draw(6, device)
    expected = cross_entropy(logits, targets, pad_id=PAD)
    outside = targets.masked_fill(targets == PAD, -100).to(dtype)
    torch.testing.assert_close(cross_entropy(logits, outside, pad_id=-100), expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_label_smoothing_spreads_over_all_classes_the_right_one_too(device, dtype):
    smoothed = label_smoothing(torch.tensor([[0, 3]], device=device, dtype=dtype), 4, 0.2)
    expected = torch.tensor([[[0.85, 0.05, 0.05, 0.05], [0.05, 0.05, 0.05, 0.85]]], device=device)
    torch.testing.assert_close(smoothed, expected)
    assert label_smoothing(torch.tensor([[0]], device=device, dtype=dtype), 1, 0.3).tolist() == [[[1.0]]]


def test_perplexity_of_k_equal_choices_is_k():
    assert perplexity(math.log(50)) == pytest.approx(50)
    assert perplexity(torch.tensor(math.log(3.0))) == pytest.approx(3, rel=1e-6)
    assert perplexity(-1e-8) == pytest.approx(1)
    assert perplexity(1000.0) == math.inf


@pytest.mark.parametrize("loss", [-0.1, math.nan])
def test_perplexity_refuses_what_is_no_cross_entropy(loss):
    with pytest.raises(ValueError, match=rf"loss is {loss}; wanted a cross-entropy"):
        perplexity(loss)


def test_teacher_forcing_shifts_by_one(device):
    ids = torch.tensor([[8, 4, 5, 6, 9], [8, 9, PAD, PAD, PAD]], device=device)
    inputs, labels = teacher_forcing(ids, PAD)
    assert inputs.tolist() == [[8, 4, 5, 6], [8, 9, PAD, PAD]]
    assert labels.tolist() == [[4, 5, 6, 9], [9, PAD, PAD, PAD]]
    shortest = teacher_forcing(torch.tensor([[8, 9]], device=device), PAD)
    assert [side.tolist() for side in shortest] == [[[8]], [[9]]]


def test_contrastive_loss_equals_that_of_transformers(device):
    from transformers.models.clip.modeling_clip import image_text_contrastive_loss

    image, text = (torch.randn(5, 8).to(device) for _ in range(2))
    similarity = F.normalize(text, dim=-1) @ F.normalize(image, dim=-1).T * math.exp(2.0)
    expected = image_text_contrastive_loss(similarity)
    torch.testing.assert_close(contrastive_loss(image, text, -2.0), expected)


def test_contrastive_temperature_may_be_learned_and_lengths_do_not_matter(device):
    image, text = (torch.randn(3, 4, dtype=torch.float64).to(device) for _ in range(2))
    temperature = torch.tensor(-1.0, dtype=torch.float64, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: contrastive_loss(image, text, t), [temperature])
    torch.testing.assert_close(
        contrastive_loss(image, text, temperature), contrastive_loss(7 * image, 0.1 * text, -1.0)
    )
    equal = torch.ones(8, 4, dtype=torch.bfloat16, device=device)
    assert contrastive_loss(equal, equal, 0.0).item() == pytest.approx(math.log(8))


def ids(*rows):
    return torch.tensor(rows)


test_values_and_kinds_that_mean_nothing_are_named = refused(
    (lambda: cross_entropy(torch.zeros(1, 2, 4), ids([PAD, PAD]), pad_id=PAD), "all 2 targets are padding .id 2"),
    (lambda: cross_entropy(torch.zeros(1, 2, 4), ids([1, 4]), pad_id=PAD), "id 4 is out of range.* 4 ids, 0 to 3"),
    (lambda: cross_entropy(torch.zeros(1, 2, 4), ids([-1, 3]), pad_id=PAD), "id -1 is out of range"),
    (lambda: cross_entropy(torch.zeros(1, 3, 4), ids([1, 3]), pad_id=PAD), r"\(1, 3, 4\), targets \(1, 2\)"),
    (lambda: cross_entropy(torch.zeros(2, 4), torch.tensor([1, 3]), pad_id=PAD), r"wanted \(B, T, V\)"),
    (lambda: cross_entropy(torch.zeros(1, 1, 4, device="meta"), ids([1]), pad_id=PAD), "on meta, targets on cpu"),
    (lambda: cross_entropy(torch.zeros(1, 1, 4), ids([1]), pad_id=PAD, epsilon=1.1), "epsilon is 1.1"),
    (lambda: cross_entropy(torch.zeros(1, 1, 4), ids([1]), pad_id=PAD, epsilon=-0.1), "epsilon is -0.1"),
    (lambda: cross_entropy(torch.zeros(1, 1, 4), ids([1]), pad_id=PAD, reduction="max"), "'max'; wanted \"mean\""),
    (lambda: label_smoothing(ids([0, 4]), 4, 0.1), "id 4 is out of range"),
    (lambda: label_smoothing(ids([-1, 4]), 4, 0.1), "id -1 is out of range"),
    (lambda: label_smoothing(ids([-1]), 4, 0.1), "id -1 is out of range"),
    (lambda: label_smoothing(ids([0]), 0, 0.1), "vocab_size is 0"),
    (lambda: label_smoothing(ids([0]), 4, 2.0), "epsilon is 2.0"),
    (lambda: label_smoothing(torch.zeros(0, 3, dtype=torch.long), 4, 0.1), r"\(0, 3\); wanted at least one id"),
    (lambda: teacher_forcing(torch.zeros(0, 3, dtype=torch.long), 0), r"\(0, 3\); wanted \(B, T\)"),
    (lambda: teacher_forcing(ids([1]), 0), r"\(1, 1\)"),
    (lambda: teacher_forcing(torch.tensor([1, 5, 2]), 0), r"shape \(3,\)"),
    (lambda: teacher_forcing(ids([1, 5, 2], [1, 0, 0]), 0), "row 1 .* fewer than two tokens"),
    (lambda: teacher_forcing(ids([1, 5, 2], [0, 1, 2]), 0), r"row 1 .* padding before a token \(padding is id 0\)"),
    (lambda: teacher_forcing(ids([1, 5, 0, 2]), 0), "row 0 .* padding before"),
    (lambda: contrastive_loss(torch.ones(2, 3), torch.ones(3, 3), 0.0), r"\(2, 3\), texts \(3, 3\)"),
    (lambda: contrastive_loss(torch.ones(0, 3), torch.ones(0, 3), 0.0), r"B at least 1"),
    (lambda: contrastive_loss(torch.ones(2), torch.ones(2), 0.0), r"\(2,\)"),
    (lambda: contrastive_loss(torch.ones(2, 3), torch.ones(2, 3, device="meta"), 0.0), "on cpu, texts on meta"),
    (
        lambda: cross_entropy(torch.zeros(1, 1, 4).long(), ids([1]), pad_id=PAD),
        TypeError,
        "logits have dtype torch.int64",
    ),
    (
        lambda: cross_entropy(torch.zeros(1, 1, 4), torch.ones(1, 1), pad_id=PAD),
        TypeError,
        "targets have dtype torch.float32",
    ),
    (lambda: label_smoothing(torch.ones(1, 1, dtype=torch.bool), 4, 0.1), TypeError, "targets have dtype torch.bool"),
    (lambda: teacher_forcing(torch.ones(1, 3), 0), TypeError, "target_ids have dtype torch.float32"),
    (
        lambda: contrastive_loss(torch.ones(2, 3), torch.ones(2, 3).double(), 0.0),
        TypeError,
        "float32, texts torch.float64",
    ),
    (lambda: contrastive_loss(ids([1]), ids([1]), 0.0), TypeError, "torch.int64"),
)
