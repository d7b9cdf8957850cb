"""The mask builder's numbers in Python: checked against torch's softmax and the model's masks."""

import re

import numpy as np
import pytest
import torch

from softlookup import model
from softlookup_course.widgets import Look, MaskBuilder
from softlookup_course.widgets.mask_builder import PRESETS, describe, preset, static_table

REAL = (True, True, True, True, False, False)
SCORES = np.random.default_rng(4).normal(size=(6, 6))
LOOK = Look("six", tuple("abcdef"), tuple(map(tuple, SCORES.tolist())), REAL)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_the_models_masks(name):
    causal, real = model.causal_mask(6), torch.tensor(REAL)
    expected = {
        "everything": torch.ones(6, 6, dtype=torch.bool),
        "causal": causal,
        "padding": real.expand(6, 6),
        "combined": causal & real,
        "window": model.window_mask(6, 2),
        "prefix": causal | (torch.arange(6) < 4),
    }[name]
    assert np.array_equal(preset(name, REAL, width=2, prefix=4), expected.numpy())


@pytest.mark.parametrize("name", PRESETS)
def test_described_weights_and_outputs_are_those_of_torch(name):
    mask = preset(name, REAL)
    description = describe(LOOK, mask)
    scores = torch.tensor(SCORES).masked_fill(~torch.tensor(mask), -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0.0).numpy()
    np.testing.assert_allclose(description["weights"], weights, atol=1e-12)
    np.testing.assert_allclose(description["outputs"][:, 0], weights @ np.arange(6), atol=1e-12)
    np.testing.assert_allclose(description["outputs"][:, 1], weights[:, 4:].sum(-1), atol=1e-12)
    assert description["allowed"] == mask.sum() and description["future"] == np.triu(mask, 1).sum()


def test_blind_rows_are_named_and_give_zeros():
    mask = preset("causal", REAL).copy()
    mask[[0, 3]] = False
    description = describe(LOOK, mask)
    assert description["blind"] == [0, 3]
    assert not description["weights"][[0, 3]].any() and not description["outputs"][[0, 3]].any()


def test_stand_in_of_the_mask_builder_holds_causal_weights_and_no_markup_of_a_title():
    html = static_table(Look("<b>", *list(vars(LOOK).values())[1:]))
    assert "<b>" not in html
    shown = [float(cell) for cell in re.findall(r"<td>([\d.]+)</td>", html)]
    expected = describe(LOOK, preset("causal", REAL))["weights"]
    np.testing.assert_allclose(np.reshape(shown, (6, 6)), expected, atol=0.006)


def test_script_of_the_mask_builder_knows_the_same_masks():
    named = re.search(r"const MASKS = \{(.*?)\};", str(MaskBuilder._esm), re.S)[1]
    assert tuple(re.findall(r"(\w+): \"", named)) == PRESETS
