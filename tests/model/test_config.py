"""The description of a model: the paper's by default, copied with changes, refused where it makes no model."""

import dataclasses
import math

import pytest
import torch

from softlookup.model.config import Config
from softlookup.model.layers import norm_of
from softlookup.model.norms import LayerNorm, RMSNorm
from softlookup.model.transformer import Transformer


def test_config_is_the_papers_base_model_by_default():
    config = Config(vocab_size=37000)
    assert (config.n_layers, config.d_model, config.d_hidden, config.n_heads) == (6, 512, 2048, 8)
    assert (config.dropout, config.pre_norm, config.activation, config.positions) == (0.1, False, "relu", "sinusoidal")
    assert (config.tied, config.scale_embeddings, config.norm) == (True, True, "layer")


def test_but_changes_what_it_is_told_and_leaves_the_first_as_it_was():
    config = Config(vocab_size=10)
    other = config.but(d_model=8, n_heads=2)
    assert (other.vocab_size, other.d_model, other.n_heads, config.d_model) == (10, 8, 2, 512)
    assert dataclasses.asdict(other) == dataclasses.asdict(config) | {"d_model": 8, "n_heads": 2}
    with pytest.raises(TypeError, match="width"):
        config.but(width=8)
    with pytest.raises(ValueError, match="dropout must be at least 0 and below 1; got 1.5"):
        config.but(dropout=1.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.d_model = 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({name: 0}, f"{name} must be at least 1; got 0") for name in ("d_model", "n_heads", "n_layers", "d_hidden")),
        ({"vocab_size": 0}, "vocab_size must be at least 1; got 0"),
        ({"max_length": -1}, "max_length must be at least 1; got -1"),
        *(
            ({name: 0}, f"{name} must be at least 1, or None; got 0")
            for name in ("n_decoder_layers", "head_width", "n_kv_heads", "window")
        ),
        ({"n_segments": -1}, "n_segments must be at least 0; got -1"),
        ({"positions": "spiral"}, "positions is 'spiral'; wanted one of sinusoidal, sinusoidal_halves, learned"),
        ({"activation": "mish"}, "activation is 'mish'; wanted one of relu, gelu"),
        ({"norm": "batch"}, "norm is 'batch'; wanted one of layer, rms"),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1; got -0.1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1; got 1.0"),
        *(({name: 10}, f"{name} is 10; the vocabulary has ids 0 to 9") for name in ("pad_id", "start_id", "end_id")),
        ({"pad_id": -1}, "pad_id is -1; the vocabulary has ids 0 to 9"),
    ],
)
def test_descriptions_that_make_no_model_are_refused(unchecked, changes, message):
    with pytest.raises(ValueError, match=message):
        Config(**({"vocab_size": 10} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_heads": 3}, "d_model 8 cannot be cut into 3 heads"),
        ({"n_kv_heads": 2, "n_heads": 4, "head_width": 2, "d_model": 8, "n_layers": 1} | {"n_kv_heads": 3}, "4 query"),
        ({"d_model": 9, "n_heads": 3}, "d_model must be even"),
        ({"positions": "rotary", "head_width": 3}, "head_width must be even"),
        ({"rotary_base": 0.0, "positions": "rotary"}, "base must be positive; got 0.0"),
        ({"norm_eps": -1.0}, "eps must be at least 0; got -1.0"),
    ],
)
def test_sizes_that_do_not_go_together_are_refused_when_the_model_is_made(changes, message):
    with pytest.raises(ValueError, match=message):
        Transformer(Config(**({"vocab_size": 10, "d_model": 8, "n_heads": 2, "d_hidden": 4} | changes)))


def test_norms_take_their_kind_and_eps_from_the_description():
    config = Config(vocab_size=10, d_model=4, n_heads=2, norm_eps=3.0)
    norm = norm_of(config)
    assert isinstance(norm, LayerNorm)
    x = torch.tensor([[1.0, -1.0, 1.0, -1.0]])
    torch.testing.assert_close(norm(x), x / 2)  # variance 1, eps 3
    norm = norm_of(config.but(norm="rms"))
    assert isinstance(norm, RMSNorm)
    torch.testing.assert_close(norm(2 * x), 2 * x / math.sqrt(4 + 3))
