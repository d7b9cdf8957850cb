"""load_grown: a larger model that computes what a smaller one did, and learns from the first step on."""

from dataclasses import replace

import pytest
import torch
from tiny_translation import TINY, run

from softlookup.model.parts.config import Config
from softlookup.model.whole.transformer import Transformer
from softlookup.model.whole.weights import CheckpointError, model_tensors, save_weights
from softlookup.training.growing import load_grown

SMALL = Config(vocab_size=11, d_model=8, n_heads=2, n_layers=2, d_hidden=6, max_length=20, pre_norm=True)
SOURCE = torch.tensor([[5, 6, 7, 3], [8, 3, 0, 0]])
TARGET = torch.tensor([[2, 9, 10], [2, 4, 6]])


def made(config, seed):
    torch.manual_seed(seed)
    model = Transformer(config).eval()
    with torch.no_grad():  # gains and biases that a training has moved
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model


def saved_model(config, path, seed=1):
    """A smaller model, and the file of its weights."""
    model = made(config, seed)
    save_weights(model, path)
    return model


@pytest.mark.parametrize(
    "larger", [{"n_layers": 4}, {"d_hidden": 9}, {"n_layers": 3, "d_hidden": 16}], ids=["more layers", "wider", "both"]
)
@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_a_grown_model_computes_what_the_smaller_one_did(tmp_path, larger, activation):
    config = replace(SMALL, activation=activation)
    small = saved_model(config, tmp_path / "weights")
    torch.manual_seed(2)
    large = Transformer(replace(config, **larger)).eval()
    assert load_grown(large, tmp_path / "weights")
    with torch.no_grad():
        torch.testing.assert_close(large(SOURCE, TARGET), small(SOURCE, TARGET))


def test_what_is_new_learns_within_two_steps(tmp_path):
    saved_model(SMALL, tmp_path / "weights")
    torch.manual_seed(2)
    large = Transformer(replace(SMALL, n_layers=3, d_hidden=9))
    load_grown(large, tmp_path / "weights")
    before = {name: tensor.clone() for name, tensor in model_tensors(large).items()}
    optimizer = torch.optim.SGD(large.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        large(SOURCE, TARGET).logsumexp(-1).sum().backward()
        optimizer.step()
    new = [name for name in before if ".layers.2." in name]
    still = [name for name in new if torch.equal(before[name], model_tensors(large)[name])]
    assert len(new) > 20 and still == []
    wide = "encoder.layers.0.feed_forward.w_2"
    assert (model_tensors(large)[wide][6:] != 0).any()


def test_weights_of_the_same_size_are_read_as_they_are(tmp_path):
    small = saved_model(SMALL, tmp_path / "weights")
    other = made(SMALL, seed=5)
    assert not load_grown(other, tmp_path / "weights")
    pairs = zip(model_tensors(other).values(), model_tensors(small).values(), strict=True)
    assert all(torch.equal(first, second) for first, second in pairs)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"n_layers": 1}, r"unexpected (de|en)coder\.layers\.1"),
        ({"d_hidden": 4}, r"feed_forward\.w_1 has shape \(8, 6\), wanted \(8, 4\)"),
        ({"d_model": 12}, r"has shape \(11, 8\), wanted \(11, 12\)"),
        ({"pre_norm": False, "n_layers": 3}, "only a pre-LN model can be grown"),
    ],
    ids=["fewer layers", "narrower", "another width", "post-LN"],
)
def test_what_cannot_be_grown_is_refused_and_nothing_is_changed(tmp_path, other, says):
    saved_model(SMALL, tmp_path / "weights")
    model = made(replace(SMALL, **other), seed=3)
    before = {name: tensor.clone() for name, tensor in model_tensors(model).items()}
    with pytest.raises(CheckpointError, match=says):
        load_grown(model, tmp_path / "weights")
    assert all(torch.equal(before[name], tensor) for name, tensor in model_tensors(model).items())


@pytest.mark.slow
def test_a_stage_of_a_training_may_be_larger_than_the_one_before(tmp_path):
    first = run(tmp_path / "first", TINY)
    notes = []
    larger = replace(TINY, n_layers=2, d_hidden=32, dropout=0.0)
    second = run(tmp_path / "second", larger, begin=tmp_path / "first", note=notes.append)
    assert f"beginning with the weights of {tmp_path / 'first'}, in a larger model" in notes
    assert second.losses[0] < 0.9 * first.losses[0]
