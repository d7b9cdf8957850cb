"""The loss without logits: torch's cross-entropy and its gradients, on every device."""

import pytest
import torch
import torch.nn.functional as F

from softlookup.model import Config, DecoderLM, Transformer
from softlookup.training.data import Batch
from softlookup.training.loop import summed_loss
from softlookup.training.plain_loss import PlainLoss
from softlookup.training.vocabulary_loss import vocabulary_loss

SMALL = Config(29, d_model=16, n_heads=2, n_layers=1, d_hidden=24, max_length=12, dropout=0.0, pre_norm=True)


def some(device, dtype=torch.float64):
    """States, a table, and labels of which some do not count."""
    torch.manual_seed(0)
    states = torch.randn(3, 7, 8, dtype=dtype, device=device, requires_grad=True)
    table = torch.randn(11, 8, dtype=dtype, device=device, requires_grad=True)
    labels = torch.randint(1, 11, (3, 7), device=device)
    labels[0, :3] = labels[2, -1] = 0
    return states, table, labels


def torchs(states, table, labels, epsilon):
    logits = (states @ table.mT).flatten(0, 1)
    return F.cross_entropy(logits, labels.flatten(), ignore_index=0, label_smoothing=epsilon, reduction="sum")


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("chunk", [4, 100, None])
def test_it_is_the_cross_entropy_with_its_gradients(epsilon, chunk, device):
    states, table, labels = some(device)

    def loss_of(states, table, labels):
        return vocabulary_loss(states, table, labels, ignored=0, epsilon=epsilon, chunk=chunk)

    expected = torchs(states, table, labels, epsilon)
    got = loss_of(states, table, labels)
    torch.testing.assert_close(got, expected)
    expected_grads = torch.autograd.grad(3 * expected, (states, table))
    for a, b in zip(torch.autograd.grad(3 * got, (states, table)), expected_grads, strict=True):
        torch.testing.assert_close(a, b)
    with torch.no_grad():
        torch.testing.assert_close(loss_of(states.detach(), table.detach(), labels), expected.detach())


def test_rows_that_do_not_count_leave_no_trace(device):
    states, table, labels = some(device)
    with torch.no_grad():
        spoilt = states.detach().clone()
        spoilt[labels == 0] = torch.inf
    spoilt.requires_grad_()
    loss = vocabulary_loss(spoilt, table, labels, ignored=0, chunk=4)
    torch.testing.assert_close(loss, torchs(states, table, labels, 0.0))
    gradient = torch.autograd.grad(loss, spoilt)[0]
    assert gradient[labels == 0].eq(0).all() and gradient[labels != 0].isfinite().all()


def test_under_autocast_products_are_in_bfloat16_and_sums_are_not(device):
    states, table, labels = some(device, torch.float32)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        loss = vocabulary_loss(states, table, labels, ignored=0)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, torchs(states, table, labels, 0.0), rtol=2e-2, atol=0.0)
    grads = torch.autograd.grad(loss, (states, table))
    expected = torch.autograd.grad(torchs(states, table, labels, 0.0), (states, table))
    for a, b in zip(grads, expected, strict=True):
        assert (a - b).norm() < 0.02 * b.norm()


@pytest.mark.parametrize("kind", ["language model", "untied", "encoder-decoder"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_a_plain_model_has_the_loss_of_its_logits(kind, epsilon, device):
    torch.manual_seed(0)
    changes = {"tied": False} if kind == "untied" else {"tied_scale": 0.5} if kind == "language model" else {}
    model = (Transformer if kind == "encoder-decoder" else DecoderLM)(SMALL.but(**changes)).to(device)
    target = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]], device=device)
    source = torch.tensor([[5, 6, 3], [7, 3, 0]], device=device) if kind == "encoder-decoder" else None
    batch = Batch(target, source, pad_id=0)
    got, expected = PlainLoss(model, epsilon=epsilon, chunk=2).summed(batch), summed_loss(model, batch, epsilon)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-4)
    for a, b in zip(
        torch.autograd.grad(got, list(model.parameters()), allow_unused=True),
        torch.autograd.grad(expected, list(model.parameters()), allow_unused=True),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_what_it_cannot_do_is_refused(unchecked):
    states, table, labels = some("cpu")
    with pytest.raises(ValueError, match=r"shapes \(3, 7, 8\), \(8, 11\), \(3, 7\)"):
        vocabulary_loss(states, table.mT, labels, ignored=0)
    with pytest.raises(ValueError, match="epsilon is 2, chunk 4"):
        vocabulary_loss(states, table, labels, ignored=0, epsilon=2, chunk=4)
    with pytest.raises(ValueError, match="adds a bias to its logits"):
        PlainLoss(DecoderLM(SMALL.but(output_bias=True)))
    with pytest.raises(TypeError, match="model is a Linear"):
        PlainLoss(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="the batch is padded with id 1, the model takes 0"):
        PlainLoss(DecoderLM(SMALL)).summed(Batch(torch.tensor([[2, 5, 3]]), pad_id=1))
