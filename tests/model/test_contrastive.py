"""Pictures and texts in one space: lengths, scores, loss and temperature."""

import math

import pytest
import torch
from torch import nn

from softlookup.model.parts.config import Config
from softlookup.model.whole.contrastive import MAX_SCALE, ImageTextPair
from softlookup.model.whole.text_encoder import TextEncoder, mean_pool
from softlookup.model.whole.vision import ViT

SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_hidden": 24, "dropout": 0.0}


def pair(d_joint=6):
    config = Config(vocab_size=9, **(SMALL | {"d_model": 12}), max_length=6)
    return ImageTextPair(ViT(8, 4, None, channels=1, **SMALL), TextEncoder(config), d_joint)


def test_mean_pool_is_the_mean_of_the_real_tokens():
    states = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]])
    states[1, 1] = float("nan")  # whatever stands in the filling
    real = torch.tensor([[True, True, False], [False, False, True]])
    assert mean_pool(states, real).tolist() == [[2.0, 4.0], [3.0, 3.0]]
    assert mean_pool(states, torch.zeros_like(real)).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_mean_pool_refuses_shapes_that_do_not_fit(unchecked):
    with pytest.raises(ValueError, match=r"states have shape \(2, 3, 4\), real \(2, 2\); wanted"):
        mean_pool(torch.ones(2, 3, 4), torch.ones(2, 2, dtype=torch.bool))


def test_padding_changes_nothing_of_a_text():
    encoder = TextEncoder(Config(vocab_size=9, **SMALL, max_length=8)).double().eval()
    ids = torch.randint(1, 9, (2, 4))
    torch.testing.assert_close(encoder(nn.functional.pad(ids, (0, 3))), encoder(ids), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(encoder(ids), encoder.states(ids).mean(dim=1), rtol=1e-10, atol=1e-10)


def test_scores_are_cosines_over_the_temperature(device):
    model = pair().double().to(device)
    images = torch.randn(3, 1, 8, 8, dtype=torch.float64, device=device)
    ids = torch.randint(1, 9, (4, 5), device=device)
    for vectors, count in ((model.encode_images(images), 3), (model.encode_texts(ids), 4)):
        assert vectors.shape == (count, 6)
        torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(count, dtype=torch.float64, device=device))
    a = model.image_encoder(images) @ model.w_image
    b = model.text_encoder(ids) @ model.w_text
    expected = nn.functional.cosine_similarity(a[:, None], b[None], dim=-1) * model.scale()
    torch.testing.assert_close(model(images, ids), expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(model.classify(images, ids), expected.softmax(dim=-1), rtol=1e-10, atol=1e-10)


def test_loss_is_the_mean_of_both_choices():
    model = pair().double()
    images, ids = torch.randn(4, 1, 8, 8, dtype=torch.float64), torch.randint(1, 9, (4, 5))
    logits, labels = model(images, ids), torch.arange(4)
    expected = (nn.functional.cross_entropy(logits, labels) + nn.functional.cross_entropy(logits.mT, labels)) / 2
    torch.testing.assert_close(model.loss(images, ids), expected, rtol=1e-10, atol=1e-10)
    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(model.loss(images[order], ids[order]), expected, rtol=1e-10, atol=1e-10)
    model.loss(images, ids).backward()
    assert all(weight.grad is not None and bool(weight.grad.isfinite().all()) for weight in model.parameters())
    assert model.log_scale.grad != 0


def test_temperature_begins_at_007_and_is_held_at_a_hundredth():
    model = pair()
    assert model.scale().item() == pytest.approx(1 / 0.07, rel=1e-6)
    with torch.no_grad():
        model.log_scale.fill_(9.0)
    assert model.scale().item() == pytest.approx(MAX_SCALE, rel=1e-5)
    # The weight itself is held, so that it can come back, and the gradient is not cut off.
    assert model.log_scale.item() == pytest.approx(math.log(100), rel=1e-6)
    model.scale().backward()
    assert model.log_scale.grad.item() == pytest.approx(MAX_SCALE, rel=1e-5)


def test_losses_of_two_batches_may_be_summed_before_their_gradient():
    model = pair()
    losses = [model.loss(torch.randn(3, 1, 8, 8), torch.randint(1, 9, (3, 4))) for _ in range(2)]
    sum(losses).backward()
    assert model.log_scale.grad.isfinite()


def test_what_does_not_fit_is_refused(unchecked):
    model = pair()
    with pytest.raises(ValueError, match="2 pictures beside 3 texts: give one text for each picture"):
        model.loss(torch.randn(2, 1, 8, 8), torch.ones(3, 4, dtype=torch.int64))
    with pytest.raises(ValueError, match="sizes must be at least 1; got d_joint 0"):
        pair(0)
    with pytest.raises(TypeError, match="Linear has d_model None; wanted the width of its vectors, an int"):
        ImageTextPair(nn.Linear(2, 2), model.text_encoder, 4)
    with pytest.raises(ValueError, match=r"images have shape \(2, 3, 8, 8\); wanted \(B, 1, 8, 8\)"):
        model(torch.randn(2, 3, 8, 8), torch.ones(3, 4, dtype=torch.int64))
    with pytest.raises(ValueError, match="ids holds id 9"):
        model(torch.randn(2, 1, 8, 8), 9 * torch.ones(3, 4, dtype=torch.int64))
