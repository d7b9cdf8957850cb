"""The figures of shapes in Python: checked against layers, torch's own counter, and sums."""

import re

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from softlookup.model import LayerCache, MultiHeadAttention
from softlookup_course.widgets import Sizes
from softlookup_course.widgets.head_shapes import LARGEST, describe, static_table
from softlookup_course.widgets.product_shapes import MOST, products, static_tables

SETTINGS = [
    Sizes("unequal", B=2, T=7, D=10, N=6, K=3, H=5),
    Sizes("one of each", B=1, T=1, D=1, N=1, K=1, H=1),
    Sizes("base", B=3, T=20, D=512, N=8, K=8, H=64),
    Sizes("one key-value head", B=1, T=5, D=12, N=4, K=1, H=3),
]


@pytest.mark.parametrize("sizes", SETTINGS, ids=lambda s: s.title)
def test_describe_counts_what_a_layer_of_the_model_holds(sizes):
    layer = MultiHeadAttention(sizes.D, sizes.N, n_kv_heads=sizes.K, head_width=sizes.H)
    counts = describe(sizes)
    for name in ("w_q", "w_k", "w_v", "w_o"):
        weight = layer.get_parameter(name)
        assert counts["parameters"][name] == weight.numel()
        assert counts["shapes"][name] == list(weight.shape)
    assert counts["parameters"]["total"] == sum(p.numel() for p in layer.parameters())


@pytest.mark.parametrize("sizes", SETTINGS, ids=lambda s: s.title)
def test_describe_counts_the_operations_that_torch_counts(sizes):
    layer = MultiHeadAttention(sizes.D, sizes.N, n_kv_heads=sizes.K, head_width=sizes.H).to("meta")
    with FlopCounterMode(display=False) as counter:
        y, weights = layer(torch.empty(sizes.B, sizes.T, sizes.D, device="meta"), return_weights=True)
    counts = describe(sizes)
    assert counts["flops"]["total"] == counter.get_total_flops()
    assert counts["shapes"]["a"] == list(weights.shape) and counts["shapes"]["y"] == list(y.shape)
    assert counts["score_bytes"] == 4 * weights.numel()


@pytest.mark.parametrize("sizes", SETTINGS, ids=lambda s: s.title)
def test_describe_counts_the_bytes_that_a_cache_keeps(sizes):
    layer, cache = MultiHeadAttention(sizes.D, sizes.N, n_kv_heads=sizes.K, head_width=sizes.H), LayerCache()
    with torch.no_grad():
        layer(torch.randn(sizes.B, sizes.T, sizes.D), cache=cache)
    counts = describe(sizes)
    assert counts["shapes"]["k"] == list(cache.k.shape) and counts["shapes"]["v"] == list(cache.v.shape)
    assert counts["cache_bytes"] == 4 * (cache.k.numel() + cache.v.numel())
    assert describe(sizes, 2)["cache_bytes"] * 2 == counts["cache_bytes"]


def test_largest_counts_are_whole_numbers_that_a_script_holds_exactly():
    counts = describe(Sizes("largest", **LARGEST))
    assert max(counts["flops"]["total"], counts["score_bytes"], counts["cache_bytes"]) < 2**53


def test_stand_in_holds_the_same_shapes_and_cannot_be_broken_by_a_title():
    html = static_table(Sizes("<b>", B=2, T=7, D=10, N=6, K=3, H=5))
    counts = describe(SETTINGS[0])
    assert "<b>" not in html and f"{counts['parameters']['total']:,} parameters" in html
    rows = dict(re.findall(r'<th scope="row">(\w+)</th><td>([^<]+)</td>', html))
    assert {name: [int(n) for n in text.split(" × ")] for name, text in rows.items()} == counts["shapes"]


RNG = np.random.default_rng(0)
A, B = RNG.integers(-9, 10, size=(2, MOST, MOST))


def test_every_cell_of_every_product_is_a_row_times_a_column():
    sent = products(A, B)
    for turned, tables in sent.items():
        left, right = (A.T if "a" in turned else A), (B.T if "b" in turned else B)
        assert len(tables) == MOST
        for inner, table in enumerate(tables, start=1):
            for r in range(MOST):
                for c in range(MOST):
                    assert table[r][c] == sum(int(left[r, k]) * int(right[k, c]) for k in range(inner))


def test_readers_without_scripts_get_the_product_only_where_there_is_one():
    fitting = static_tables(A, B, (2, 3), (3, 4))
    assert "A @ B, 2 × 4" in fitting and f"<td>{(A[:2, :3] @ B[:3, :4])[1, 3]}</td>" in fitting
    assert "A @ B" not in static_tables(A, B, (2, 3), (4, 3))
