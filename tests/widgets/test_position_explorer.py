"""The position explorer's numbers in Python: checked against the parts of the model."""

import re

import numpy as np
import pytest
import torch

from softlookup.model import RotaryPositions, sinusoidal
from softlookup_course.widgets import PositionExplorer
from softlookup_course.widgets.position_explorer import (
    FARTHEST,
    WIDTHS,
    describe_rotary,
    describe_sinusoids,
    static_table,
)

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


def test_score_stays_when_both_move_on_and_tells_before_from_behind():
    scores = [describe_rotary(QUERY, KEY, m, m + 3, 100.0)["score"] for m in (0, 10, 37)]
    assert np.ptp(scores) < 1e-12
    assert abs(scores[0] - describe_rotary(QUERY, KEY, 3, 0, 100.0)["score"]) > 0.1


def test_table_without_scripts_holds_the_slides_sizes():
    html = static_table()
    rows = re.findall(r'<tr><th scope="row">(\d)</th>(.*?)</tr>', html)
    shown = [[float(x) for x in re.findall(r"<td>(.*?)</td>", cells)] for _, cells in rows]
    np.testing.assert_allclose(shown, sinusoidal(8, 4, dtype=torch.float64), atol=0.00501)
    assert PositionExplorer().fallback == html


def test_explorers_classes_all_begin_with_its_own_prefix():
    script, sheet = str(PositionExplorer._esm), str(PositionExplorer._css)
    rules = sheet[sheet.index(".pse-bar {") :]
    assert all(name.startswith("pse") for name in re.findall(r"\.([a-z][\w-]*)", re.sub(r"\d\.\d\w*", "", rules)))
    assert 'class: "slf pse", role: "group"' in script
