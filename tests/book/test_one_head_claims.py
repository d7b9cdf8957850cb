"""What chapter 4 says of scores, weights and Jacobians holds, on its pages and in its exam questions."""

import re

import numpy as np
import pytest
from built_book import ROOT

from softlookup import reference

PAGE = (ROOT / "book" / "04_one_head.md").read_text(encoding="utf-8")


def _drawn(width, divisor, rows=600, keys=8):
    rng = np.random.default_rng(width)
    q, k = rng.normal(size=(rows, width)), rng.normal(size=(rows, keys, width))
    return reference.softmax((k @ q[:, :, None])[:, :, 0] / divisor)


def _jacobian_size(weights):
    jacobians = weights[:, :, None] * (np.eye(weights.shape[1]) - weights[:, None, :])
    return np.median(np.linalg.norm(jacobians, axis=(1, 2)))


def test_divided_scores_keep_the_size_of_the_jacobian_over_the_widths_and_undivided_ones_do_not():
    divided = [_jacobian_size(_drawn(width, width**0.5)) for width in (16, 64, 512)]
    bare = [_jacobian_size(_drawn(width, 1.0)) for width in (16, 64, 512)]
    assert max(divided) < 1.05 * min(divided) and bare[0] > 3 * bare[1] > 100 * bare[2]


def test_without_a_divisor_wider_heads_saturate_more_rows_and_narrow_ones_few():
    """As the exam's question on the root says, for each width that it draws."""
    shares = [(_drawn(width, 1.0).max(axis=1) > 0.99).mean() for width in (16, 64, 100, 256)]
    assert shares == sorted(shares) and shares[0] < 0.2 and shares[-1] > 0.5


def test_rounded_weights_of_the_softmax_question_sum_to_1_as_printed():
    row = re.search(r"log_TS = np\.log\(\[\[([\d, ]+)\]", PAGE)[1].split(",")
    powers = np.array([float(entry) for entry in row])
    decimals = int(re.search(r"\(log_TS,\),\s+Row\(\(0,\), decimals=(\d)\)", PAGE)[1])
    printed = [float(f"{weight:.{decimals}f}") for weight in powers / powers.sum()]
    assert sum(printed) == pytest.approx(1, abs=1e-9)


def test_a_column_of_weights_sums_to_anything_from_0_to_the_number_of_queries():
    one_key_for_all = reference.attention_weights(np.full((5, 1), 100.0), np.array([[9.0], [0.0]]))
    assert one_key_for_all.sum(axis=0) == pytest.approx([5, 0])
    assert "its sum can lie anywhere between 0 and $T$" in PAGE
