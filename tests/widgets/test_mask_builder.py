"""The mask builder's and the position explorer's numbers in Python: against torch's softmax and the model."""

import re

import numpy as np
import pytest
import torch

from softlookup import model
from softlookup.model import RotaryPositions, sinusoidal
from softlookup_course.widgets import Look, PositionExplorer
from softlookup_course.widgets.mask_builder import PRESETS, describe, preset, static_table
from softlookup_course.widgets.position_explorer import (
    FARTHEST,
    WIDTHS,
    describe_rotary,
    describe_sinusoids,
)
from softlookup_course.widgets.position_explorer import static_table as position_table

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


def test_stand_in_of_the_mask_builder_holds_causal_weights_and_no_markup_of_a_title():
    html = static_table(Look("<b>", *list(vars(LOOK).values())[1:]))
    assert "<b>" not in html
    shown = [float(cell) for cell in re.findall(r"<td>([\d.]+)</td>", html)]
    expected = describe(LOOK, preset("causal", REAL))["weights"]
    np.testing.assert_allclose(np.reshape(shown, (6, 6)), expected, atol=0.006)


QUERY, KEY = (1.6, 0.4, 1.0, -0.8), (0.9, 1.2, 1.1, 0.5)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("first", "second"), [(0, 0), (5, 8), (40, 3)])
def test_rows_and_product_are_those_of_the_models_sinusoids(first, second, width):
    description = describe_sinusoids(first, second, width)
    table = sinusoidal(FARTHEST + 1, width, dtype=torch.float64).numpy()
    np.testing.assert_allclose(description["rows"], table[[first, second]], atol=1e-12)
    assert description["dot"] == pytest.approx(table[first] @ table[second], abs=1e-12)
    assert description["length"] == pytest.approx(np.sqrt(width / 2))


def test_products_curve_holds_for_any_two_positions_so_far_apart():
    for first, second in ((0, 7), (20, 13), (33, 40)):
        description = describe_sinusoids(first, second, 16)
        assert description["curve"][7] == pytest.approx(description["dot"], abs=1e-12)


@pytest.mark.parametrize(("m", "n"), [(0, 0), (3, 10), (40, 0)])
def test_turned_query_and_key_are_those_of_the_models_rotary_positions(m, n):
    description = describe_rotary(QUERY, KEY, m, n, 100.0)
    turn = RotaryPositions(4, base=100.0)
    q, k = (torch.tensor(v, dtype=torch.float64).view(1, 1, 1, 4) for v in (QUERY, KEY))
    np.testing.assert_allclose(description["query"], turn(q, m).flatten(), atol=1e-6)
    np.testing.assert_allclose(description["key"], turn(k, n).flatten(), atol=1e-6)
    assert description["score"] == pytest.approx(sum(description["parts"]))
    assert description["curve"][FARTHEST + m - n] == pytest.approx(description["score"], abs=1e-9)


def test_table_without_scripts_holds_the_slides_sizes():
    html = position_table()
    rows = re.findall(r'<tr><th scope="row">(\d)</th>(.*?)</tr>', html)
    shown = [[float(x) for x in re.findall(r"<td>(.*?)</td>", cells)] for _, cells in rows]
    np.testing.assert_allclose(shown, sinusoidal(8, 4, dtype=torch.float64), atol=0.00501)
    assert PositionExplorer().fallback == html
