"""Pictures cut into patches and put together again, and the vision transformer over them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lively_weights import lively
from torch import nn

from softlookup.model.parts.trace import Trace
from softlookup.model.whole.vision import ViT, patchify, unpatchify

SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_hidden": 24, "dropout": 0.0}


def test_patches_are_cut_in_reading_order_channel_by_channel():
    image = torch.arange(2 * 4 * 6.0).reshape(1, 2, 4, 6)
    patches = patchify(image, 2)
    assert patches.shape == (1, 6, 8)
    assert patches[0, 0].tolist() == [0, 1, 6, 7, 24, 25, 30, 31]
    assert patches[0, 1].tolist() == [2, 3, 8, 9, 26, 27, 32, 33]  # to the right
    assert patches[0, 3].tolist() == [12, 13, 18, 19, 36, 37, 42, 43]  # the next row


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4))
def test_patchify_equals_torchs_unfold_and_unpatchify_undoes_it(b, c, down, across, patch):
    images = torch.randn(b, c, down * patch, across * patch)
    patches = patchify(images, patch)
    assert torch.equal(patches, nn.functional.unfold(images, patch, stride=patch).mT)
    assert torch.equal(unpatchify(patches, patch, down * patch, across * patch), images)


def test_pictures_that_cannot_be_cut_or_put_together_are_refused(unchecked):
    image = torch.ones(1, 3, 8, 6)
    with pytest.raises(ValueError, match="images of 8 x 6 cannot be cut into patches of 4 x 4"):
        patchify(image, 4)
    with pytest.raises(ValueError, match="sizes must be at least 1; got patch 0"):
        patchify(image, 0)
    for wrong in (image[0], image[:0]):
        with pytest.raises(ValueError, match=r"wanted \(B, C, height, width\), none empty"):
            patchify(wrong, 2)
    patches = torch.ones(1, 12, 12)
    for wrong, height, width in (
        (patches[:, :11], 8, 6),
        (patches[..., :11], 8, 6),
        (patches, 9, 6),
        (patches[0], 8, 6),
    ):
        with pytest.raises(
            ValueError, match=rf"pictures of {height} x {width} in patches of 2 x 2 want \(B, 12, C \* 4"
        ):
            unpatchify(wrong, 2, height, width)


def test_the_published_size_has_the_published_number_of_weights():
    with torch.device("meta"):
        assert sum(weight.numel() for weight in ViT().parameters()) == 86_567_656  # ViT-B/16


@pytest.mark.parametrize("pooling", ["class", "mean"])
def test_vit_is_the_encoder_over_projected_patches(pooling, device):
    model = lively(ViT(8, 4, 5, channels=2, pooling=pooling, **SMALL)).to(device)
    images = torch.randn(3, 2, 8, 8, dtype=torch.float64, device=device)
    # A projection of patches is a convolution that steps from patch to patch.
    kernel = model.w_patch.mT.unflatten(1, (2, 4, 4))
    x = nn.functional.conv2d(images, kernel, model.b_patch, stride=4).flatten(2).mT
    if pooling == "class":
        x = torch.cat((model.class_token.expand(3, 1, -1), x), dim=1)
    states = model.encoder(x + model.positions.table)
    pooled = states[:, 0] if pooling == "class" else states.mean(dim=1)
    expected = nn.functional.linear(pooled, model.w_out.mT, model.b_out)
    torch.testing.assert_close(model(images), expected, rtol=1e-10, atol=1e-10)
    trace = Trace()
    model(images, trace=trace)
    tokens = 5 if pooling == "class" else 4
    assert [tuple(weights.shape) for weights in trace.weights] == [(3, 2, tokens, tokens)] * 2
    model(images).sum().backward()
    assert all(weight.grad is not None for weight in model.parameters())


def test_without_classes_a_picture_becomes_a_vector():
    model = lively(ViT(8, 4, None, channels=1, **SMALL))
    images = torch.randn(2, 1, 8, 8, dtype=torch.float64)
    assert model(images).shape == (2, 16) == (2, model.d_model)
    torch.testing.assert_close(model(images), model.states(images)[:, 0])
    assert "w_out" not in model.state_dict()


def test_a_fresh_model_finds_every_class_as_likely():
    logits = ViT(8, 4, 5, channels=1, **SMALL)(torch.randn(2, 1, 8, 8))
    assert torch.equal(logits, torch.zeros(2, 5))


def test_dropout_acts_while_training_alone():
    model = ViT(8, 4, None, channels=1, **(SMALL | {"dropout": 0.5}))
    images = torch.randn(2, 1, 8, 8)
    assert not torch.equal(model(images), model(images))
    model.eval()
    assert torch.equal(model(images), model(images))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"patch": 3}, "images of 8 x 8 cannot be cut into patches of 3 x 3"),
        ({"patch": 0}, "sizes must be at least 1; got image_size 8, patch 0"),
        ({"n_classes": 0}, "n_classes 0"),
        ({"channels": 0}, "channels 0"),
        ({"pooling": "max"}, "pooling is 'max'; wanted class or mean"),
        ({"n_heads": 3}, "d_model 16 cannot be cut into 3 heads"),
    ],
)
def test_sizes_that_make_no_vit_are_refused(unchecked, options, message):
    with pytest.raises(ValueError, match=message):
        ViT(**({"image_size": 8, "patch": 4} | SMALL | options))


def test_pictures_that_do_not_fit_are_refused(unchecked):
    model = ViT(8, 4, 2, channels=1, **SMALL)
    for shape in ((2, 3, 8, 8), (2, 1, 8, 4), (2, 1, 4, 8), (1, 8, 8), (0, 1, 8, 8)):
        with pytest.raises(ValueError, match=r"images have shape .*; wanted \(B, 1, 8, 8\)"):
            model(torch.ones(shape))
    with pytest.raises(TypeError, match="images has dtype torch.float64, the layer's weights torch.float32"):
        model(torch.ones(2, 1, 8, 8, dtype=torch.float64))
    with pytest.raises(TypeError, match="images has dtype torch.uint8"):
        model(torch.ones(2, 1, 8, 8, dtype=torch.uint8))
