"""Rotary positions for long texts: the speeds and the factor of `transformers`, alone and in whole models."""

import dataclasses
import json
import math

import pytest
import torch
from modern_twins import EXACT, OURS, V, all_in_float64, made, step_by_step
from transformers import Qwen3Config
from transformers.modeling_rope_utils import _compute_dynamic_ntk_parameters, _compute_yarn_parameters

from softlookup.model.decoding.fast_step import FastStep
from softlookup.model.parts.positions import RotaryPositions
from softlookup.model.parts.rotary_scaling import RotaryScaling
from softlookup.model.published._folders import read_folder
from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.weights import save_weights
from softlookup.text.bpe import BytePairTokenizer
from tests.refusing import refused

YARN = RotaryScaling("yarn", 4.0, trained_length=16, fast_turns=2.0, slow_turns=0.25)


@pytest.fixture(autouse=True)
def _all_in_float64():
    with all_in_float64():
        yield


def rope(scaling, base=10000.0):
    """Describe a scaling of ours as theirs."""
    return {
        "rope_type": "yarn", "rope_theta": base, "factor": scaling.factor, "beta_fast": scaling.fast_turns,
        "beta_slow": scaling.slow_turns, "attention_factor": scaling.attention_factor, "truncate": scaling.truncate,
        "original_max_position_embeddings": scaling.trained_length,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("width", "base", "scaling"),
    [
        (64, 1e4, RotaryScaling("yarn", 4.0, 2048)),
        (64, 150000.0, RotaryScaling("yarn", 32.0, 4096, truncate=False)),  # gpt-oss
        (128, 1e6, RotaryScaling("yarn", 40.0, 4096, attention_factor=0.7, fast_turns=16.0)),
        (6, 1e4, YARN),
        (8, 1e4, RotaryScaling("yarn", 8.0, 3)),  # all pairs are slow
        (2, 1e4, RotaryScaling("yarn", 1.0, 100)),
    ],
    ids=str,
)
def test_yarn_has_the_speeds_and_the_factor_of_transformers(width, base, scaling):
    description = Qwen3Config(head_dim=width, rope_parameters=rope(scaling, base))
    speeds, factor = _compute_yarn_parameters(description)
    torch.testing.assert_close(scaling.speeds(width, base), speeds.double(), rtol=1e-9, atol=0)
    assert scaling.amplitude == pytest.approx(factor, rel=1e-12)


def test_pairs_that_all_turn_often_in_training_stay_as_they_were():
    scaling = RotaryScaling("yarn", 8.0, 10**6)  # each turns over 10,000 times: a ramp that falls would slow them all
    torch.testing.assert_close(scaling.speeds(8, 4.0), 4.0 ** -(torch.arange(4) / 4), **EXACT)


@pytest.mark.parametrize("factor", [1.0, 2.0, 8.0])
@pytest.mark.parametrize("width", [4, 64])
def test_ntk_has_the_speeds_of_transformers(width, factor):
    # Theirs follows the length: at twice the trained one, a factor of f - 1 is ours of f.
    ropes = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": factor - 1}
    description = Qwen3Config(head_dim=width, rope_parameters=ropes)
    expected, _ = _compute_dynamic_ntk_parameters(description, seq_len=2 * description.max_position_embeddings)
    speeds, plain = RotaryScaling("ntk", factor).speeds(width), RotaryScaling("ntk", 1.0).speeds(width)
    torch.testing.assert_close(speeds, expected.double(), rtol=1e-9, atol=0)
    torch.testing.assert_close(plain / speeds, factor ** torch.linspace(0, 1, width // 2), **EXACT)


def test_yarn_slows_the_slow_pairs_alone_and_the_scores_grow_by_the_factor_squared():
    scaling, plain = RotaryScaling("yarn", 4.0, 2048), RotaryScaling("ntk", 1.0)
    ratio = plain.speeds(64) / scaling.speeds(64)
    assert ratio[0] == 1 and ratio[-1] == pytest.approx(4.0)  # with the ramp reversed: 4 and 1
    assert (ratio.diff() >= -1e-12).all() and ((ratio > 1.01) & (ratio < 3.99)).any()
    turns = 2048 * plain.speeds(64) / (2 * torch.pi)
    assert (ratio[turns > 40] == 1).all() and ratio[turns < 0.7].min() == pytest.approx(4.0)
    x = torch.randn(1, 1, 5, 64)
    grown = RotaryPositions(64, scaling=scaling)(x).square().sum(dim=-1) / x.square().sum(dim=-1)
    torch.testing.assert_close(grown, torch.full_like(grown, (0.1 * math.log(4.0) + 1) ** 2), **EXACT)


@pytest.mark.parametrize("positions", ["rotary", "rotary_halves"])
def test_the_fast_step_and_generation_know_the_scaling(positions):
    model = made(rotary_scaling=YARN, positions=positions)
    ids = torch.randint(4, V, (2, 15))
    expected = model(ids)[:, 6:]
    for step in (model, FastStep(model)):
        torch.testing.assert_close(step_by_step(step, ids)[0], expected, **EXACT)
    model.decoder.rotary.scaling = None
    model.decoder.rotary._tables.clear()
    assert (model(ids)[:, 6:] - expected).abs().max() > 1e-3


def test_a_description_with_a_scaling_is_read_back_from_a_folder(tmp_path):
    model = made(rotary_scaling=YARN).float()
    (tmp_path / "config.json").write_text(json.dumps(dataclasses.asdict(model.config)), encoding="utf-8")
    save_weights(model, tmp_path / "model.safetensors")
    BytePairTokenizer.train(["a text to learn from"], vocab_size=20).save(tmp_path / "merges.txt")
    read, _ = read_folder(tmp_path, DecoderLM, "nobody")
    assert read.config == model.config and read.decoder.rotary.scaling == YARN


test_scalings_that_make_no_angles_are_refused = refused(
    (lambda: RotaryScaling("longrope", 2.0), "kind is 'longrope'; wanted one of ntk, yarn, llama3, linear"),
    (lambda: RotaryScaling("ntk", 0.5), "factor must be at least 1 and finite; got 0.5"),
    (lambda: RotaryScaling("ntk", math.nan), "factor must be at least 1 and finite; got nan"),
    (lambda: RotaryScaling("yarn", 2.0), "trained_length must be at least 1 for yarn; got None"),
    (lambda: RotaryScaling("yarn", 2.0, 0), "trained_length must be at least 1 for yarn; got 0"),
    (lambda: RotaryScaling("yarn", 2.0, 9, 1.0, 2.0), "slow_turns is 2.0, fast_turns is 1.0; wanted 0 < slow"),
    (lambda: RotaryScaling("ntk", 2.0, attention_factor=0.0), "attention_factor must be above 0, or None; got 0"),
    (lambda: RotaryPositions(2, scaling=RotaryScaling("ntk", 2.0)), "head_width must be at least 4 for ntk; got 2"),
    (lambda: RotaryPositions(4, base=1.0, scaling=YARN), "base must be above 1 for yarn; got 1.0"),
    (lambda: OURS.but(rotary_scaling=YARN, positions="none"), "rotary_scaling is .*yarn.* are 'none'; wanted"),
)
