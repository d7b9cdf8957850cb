"""The encoder layer's tensors in Python: checked against the model's layer and torch's own."""

import numpy as np
import pytest
import torch

from softlookup_course.widgets import EncoderStepper, LayerExample
from softlookup_course.widgets.encoder_stepper import ORDERS, compute

RNG = np.random.default_rng(3)
WORDS = ["one", "two", "three", "four", "<pad>"]
REAL = np.array([True, True, True, True, False])
EXAMPLES = [
    LayerExample.drawn("no padding", WORDS[:3], RNG.normal(size=(3, 4)), 6, 2, RNG),
    LayerExample.drawn("padding", WORDS, RNG.normal(size=(5, 6)), 8, 3, RNG, REAL),
]


def tables_of(record):
    return {table["id"]: table for box in record["boxes"] for table in box["tables"]}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.title)
def test_last_box_is_what_torchs_own_layer_gives(example, order):
    w = {name: torch.from_numpy(array) for name, array in example.arrays().items()}
    d, f = w["w_1"].shape
    torch_layer = torch.nn.TransformerEncoderLayer(
        d, example.n_heads, f, dropout=0.0, batch_first=True, norm_first=order == "pre", dtype=torch.float64
    )
    weights = {
        "self_attn.in_proj_weight": torch.cat([w[name].T for name in ("w_q", "w_k", "w_v")]),
        "self_attn.in_proj_bias": torch.zeros(3 * d, dtype=torch.float64),
        "self_attn.out_proj.weight": w["w_o"].T,
        "self_attn.out_proj.bias": torch.zeros(d, dtype=torch.float64),
        "linear1.weight": w["w_1"].T,
        "linear1.bias": w["b_1"],
        "linear2.weight": w["w_2"].T,
        "linear2.bias": w["b_2"],
        **{f"norm{i + 1}.{kind}": w["norms"][2 * i + j] for i in (0, 1) for j, kind in enumerate(("weight", "bias"))},
    }
    padding = None if example.real is None else torch.from_numpy(~example.real)[None]
    expected = torch.func.functional_call(torch_layer, weights, (w["x"][None],), {"src_key_padding_mask": padding})
    got = tables_of(compute(example, order))["y"]["numbers"]
    np.testing.assert_allclose(got, expected[0].detach().numpy(), atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.title)
def test_cells_can_be_worked_out_from_the_tables_that_they_name(example, order):
    tables = tables_of(compute(example, order))
    numbers = {name: np.array(table["numbers"]) for name, table in tables.items()}
    kinds = set()
    for name, table in tables.items():
        if table["from"] is None:
            continue
        kind, *parts = table["from"]
        kinds.add(kind)
        operands = [numbers[part] for part in parts]
        if kind == "sum":
            expected = operands[0] + operands[1]
        elif kind == "same":
            expected = operands[0]
        elif kind == "relu":
            expected = np.maximum(operands[0], 0)
        else:
            x, measured, learned = operands
            expected = (x - measured[:, :1]) / np.sqrt(measured[:, 1:] + 1e-5) * learned[0] + learned[1]
        np.testing.assert_allclose(numbers[name], expected, atol=1e-12)
    assert kinds == {"sum", "same", "relu", "norm"}


def test_norms_stand_on_the_road_after_the_sum_and_on_the_branch_before_it():
    for order, on_road in (("post", True), ("pre", False)):
        boxes = compute(EXAMPLES[0], order)["boxes"]
        assert [box["road"] for box in boxes if box["id"] in ("n1", "n2")] == [on_road] * 2
        names = [box["id"] for box in boxes]
        assert (names.index("n1") > names.index("s1")) == on_road
        assert len(names) == len(set(names)) == 12


def test_fallback_shows_what_comes_in_and_what_goes_out():
    figure = EncoderStepper([EXAMPLES[0]])
    out = tables_of(compute(EXAMPLES[0], "post"))["y"]["numbers"]
    assert "post-LN" in figure.fallback and f"<td>{out[2][3]:.2f}</td>" in figure.fallback
    assert figure.fallback.count("<table>") == 2
