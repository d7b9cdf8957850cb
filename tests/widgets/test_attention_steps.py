"""What Python sends to the figure: every number, checked against the reference, and every refusal."""

import numpy as np
import pytest

from softlookup import reference
from softlookup_course.widgets import Example
from softlookup_course.widgets.attention_steps import SAFE_LOGIT, compute, static_tables


def example(rng, tokens=4, width=3, value_width=3, mask=None, size=1.0):
    q, k = rng.normal(size=(2, tokens, width)) * size
    v = rng.normal(size=(tokens, value_width))
    return Example("drawn", [f"t{i}" for i in range(tokens)], q, k, v, mask)


@pytest.fixture
def rng():
    return np.random.default_rng(4)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("tokens", "width", "value_width"), [(1, 1, 1), (4, 3, 2), (6, 64, 5)])
def test_record_holds_the_references_numbers(rng, tokens, width, value_width, masked):
    mask = np.tri(tokens, dtype=bool) if masked else None
    inputs = example(rng, tokens, width, value_width, mask)
    record = compute(inputs)
    scores = np.einsum("th,sh->ts", inputs.q, inputs.k)
    assert np.allclose(record["scores"], scores, rtol=1e-13, atol=1e-13)
    assert np.allclose(record["scaled"], scores / width**0.5, rtol=1e-13, atol=1e-13)
    assert np.array_equal(record["weights"], reference.attention_weights(inputs.q, inputs.k, mask))
    assert np.array_equal(record["output"], reference.scaled_dot_product_attention(inputs.q, inputs.k, inputs.v, mask))


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_shown_powers_divided_by_their_sum_are_the_weights(rng, size):
    record = compute(example(rng, mask=np.tri(4, dtype=bool), size=size))
    assert np.isfinite(record["exps"]).all()
    quotient = np.array(record["exps"]) / np.array(record["sums"])[:, None]
    assert np.allclose(quotient, record["weights"], rtol=1e-12, atol=1e-300)


def test_small_scores_are_not_shifted_and_large_ones_are(rng):
    assert compute(example(rng))["shift"] == [0.0] * 4
    large = compute(example(rng, size=1e3))
    assert max(np.abs(large["scaled"]).max(axis=1)) > SAFE_LOGIT
    assert np.array_equal(large["shift"], np.max(large["scaled"], axis=1))


def projected(rng, **changed):
    x, (w_q, w_k) = rng.normal(size=(2, 4)), rng.normal(size=(2, 4, 3))
    w_v = rng.normal(size=(4, 2))
    fields = {"q": x @ w_q, "k": x @ w_k, "v": x @ w_v, "x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v}
    return Example("p", ["a", "b"], **{**fields, **changed})


def test_record_says_where_queries_keys_and_values_come_from(rng):
    inputs = projected(rng, w_k=None)
    record = compute(inputs)
    assert record["x"] == inputs.x.tolist()
    assert record["w"] == {"q": inputs.w_q.tolist(), "k": None, "v": inputs.w_v.tolist()}
    x, same = rng.normal(size=(2, 3)), np.eye(3)
    record = compute(Example("i", ["a", "b"], x, x, x, x=x, w_q=same, w_k=same, w_v=same))
    assert record["w"] == {"q": "identity", "k": "identity", "v": "identity"}
    assert compute(example(rng))["x"] is None and set(compute(example(rng))["w"].values()) == {None}


def test_static_tables_cannot_be_broken_by_a_token(rng):
    inputs = example(rng, tokens=1)
    html = static_tables(compute(Example("<b>", ["<script>"], inputs.q, inputs.k, inputs.v)))
    assert "<script>" not in html and "<b>" not in html and "&lt;script&gt;" in html
