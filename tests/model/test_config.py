"""The description of a model: the paper's by default, copied with changes, refused where it makes no model."""

import dataclasses
import math

import pytest
import torch
from lively_weights import lively

from softlookup.live import pack
from softlookup.model.decoding.fast_step import FastStep
from softlookup.model.parts.config import Config
from softlookup.model.parts.layers import norm_of
from softlookup.model.parts.norms import LayerNorm, RMSNorm
from softlookup.model.published.translator import Translator, load_translator
from softlookup.model.published.writer import Writer, load_writer
from softlookup.model.whole.language import DecoderLM, EncoderLM
from softlookup.model.whole.transformer import Transformer
from softlookup.serving import Blocks, ModelRunner
from softlookup.training.fast import FastLoss

V, D, N, L = 11, 16, 4, 2
SMALL = Config(vocab_size=V, d_model=D, n_heads=N, n_layers=L, d_hidden=20, max_length=24, dropout=0.0)


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
        ({"activation": "mish"}, "activation is 'mish'; wanted one of relu, relu2, gelu"),
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


@pytest.fixture(scope="module")
def special_paths():
    """Every way that computes a model beside its own code: its name, a model that it takes, and how it is asked."""
    config = Config(vocab_size=10, d_model=8, n_heads=2, d_hidden=4, n_layers=1)
    writer, translator = load_writer(), load_translator()
    return {
        "FastLoss": (Transformer(config), FastLoss),
        "FastStep": (Transformer(config).eval(), FastStep),
        "pack writer": (writer.model, lambda model: pack(Writer(model, writer.tokenizer))),
        "pack translator": (translator.model, lambda model: pack(Translator(model, translator.tokenizer))),
        "ModelRunner": (DecoderLM(config).eval(), lambda model: ModelRunner(model, Blocks(model.config, 2, 2))),
    }


PATHS = ["FastLoss", "FastStep", "pack writer", "pack translator", "ModelRunner"]


@pytest.mark.parametrize("name", PATHS)
def test_special_paths_refuse_a_field_and_values_that_nobody_has_allowed(special_paths, name, unchecked):
    model, ask = special_paths[name]
    ask(model)
    before = model.config
    newer = dataclasses.make_dataclass("Newer", [("swirl", float, 0.0)], bases=(Config,), frozen=True)
    try:
        model.config = newer(**dataclasses.asdict(before))
        ask(model)  # the field is there and says nothing
        model.config = newer(**dataclasses.asdict(before), swirl=0.5)
        with pytest.raises(ValueError, match=r"knows swirl in \(0.0,\); the model has 0.5"):
            ask(model)
        for field in ("activation", "norm", "positions", "qk_norm", "pre_norm", "latent_width", "window"):
            model.config = before.but()
            object.__setattr__(model.config, field, "another")
            with pytest.raises(ValueError, match=f"knows {field} in .*; the model has 'another'"):
                ask(model)
    finally:
        model.config = before


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("pack writer", {"activation": "geglu_tanh"}),
        ("pack writer", {"norm": "layer"}),
        ("pack writer", {"pre_norm": False}),
        ("pack writer", {"attention_scale": 1.0}),
        ("pack translator", {"activation": "gelu"}),
        ("pack translator", {"pre_norm": False}),
        ("pack translator", {"positions": "learned"}),
        ("pack translator", {"n_kv_heads": 2}),
        ("FastLoss", {"no_rotary_every": 4, "positions": "rotary"}),
    ],
)
def test_special_paths_refuse_parts_that_their_code_does_not_compute(special_paths, name, changes):
    model, ask = special_paths[name]
    with pytest.raises(ValueError, match=f"knows ({'|'.join(changes)}) in"):
        ask(type(model)(model.config.but(**changes)).eval())


def test_norms_take_their_kind_and_eps_from_the_description():
    config = Config(vocab_size=10, d_model=4, n_heads=2, norm_eps=3.0)
    norm = norm_of(config)
    assert isinstance(norm, LayerNorm)
    x = torch.tensor([[1.0, -1.0, 1.0, -1.0]])
    torch.testing.assert_close(norm(x), x / 2)  # variance 1, eps 3
    norm = norm_of(config.but(norm="rms"))
    assert isinstance(norm, RMSNorm)
    torch.testing.assert_close(norm(2 * x), 2 * x / math.sqrt(4 + 3))


@pytest.mark.parametrize(
    ("changes", "extra"),
    [
        ({}, 0),
        ({"attention_bias": True}, L * 4 * D),
        ({"hidden_bias": False}, -L * (20 + D)),
        ({"n_kv_heads": 1}, -L * 2 * D * (D - 4)),
        ({"activation": "swiglu"}, L * (D * 20 + 20)),
        ({"norm": "rms"}, -L * 2 * D),
        ({"pre_norm": True}, 2 * D),
        ({"qk_norm": "head"}, L * 2 * D // N),
        ({"qk_norm": "width"}, L * 2 * D),
        ({"attention_sinks": True}, L * N),
        ({"embedding_norm": True}, 2 * D),
        ({"positions": "learned"}, 24 * D),
        ({"positions": "rotary"}, 0),
        ({"positions": "alibi"}, 0),
        ({"positions": "t5"}, 32 * N),
        ({"positions": "shaw"}, L * (2 * 24 + 1) * 4),
        ({"positions": "transformer_xl"}, L * (D * D + 2 * D)),
        ({"tied": False}, D * V),
        ({"output_bias": True}, V),
        ({"n_segments": 3}, 3 * D),
        ({"mlm_transform": True}, D * D + D + 2 * D),
        ({"head_width": 5}, L * 4 * D * (20 - D)),
    ],
    ids=str,
)
def test_each_switch_adds_the_weights_it_should(changes, extra):
    plain = V * D + L * (4 * D * D + 2 * D * 20 + 20 + D + 4 * D)
    model = EncoderLM(SMALL.but(**changes))
    assert sum(weight.numel() for weight in model.parameters()) == plain + extra


@pytest.mark.parametrize(
    ("config", "moved"),
    [
        (SMALL.but(attention_scale=1.0), "attention_scale"),
        (SMALL.but(tied_scale=0.3), "tied_scale"),
        (SMALL.but(scale_embeddings=False), "scale_embeddings"),
        (SMALL.but(positions="sinusoidal_halves"), "positions"),
        (SMALL.but(norm_eps=0.5), "norm_eps"),
        (SMALL.but(activation="gelu"), "activation"),
        (SMALL.but(window=2), "window"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_switches_without_weights_change_the_numbers(config, moved):
    plain = lively(DecoderLM(SMALL))
    other = DecoderLM(config).double().eval()
    other.load_state_dict(plain.state_dict())
    ids = torch.randint(V, (2, 6))
    assert (plain(ids) - other(ids)).abs().max() > 1e-4, moved


def test_tied_scale_and_rotary_base_do_what_they_say():
    plain = lively(DecoderLM(SMALL.but(positions="rotary")))
    ids = torch.randint(V, (2, 6))
    scaled = DecoderLM(plain.config.but(tied_scale=0.3)).double().eval()
    scaled.load_state_dict(plain.state_dict())
    torch.testing.assert_close(scaled(ids), 0.3 * plain(ids), rtol=1e-10, atol=1e-10)
    # All pairs but the first stand still where the base is endless: the first alone tells places apart.
    still = DecoderLM(plain.config.but(rotary_base=1e300, head_width=4)).double().eval()
    still.load_state_dict(plain.state_dict())
    assert still.decoder.rotary.base == 1e300 and plain.decoder.rotary.base == 10000.0
    assert (still(ids) - plain(ids)).abs().max() > 1e-6
