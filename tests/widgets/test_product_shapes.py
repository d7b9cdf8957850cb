"""What Python sends to the figure of matrix products: every product, and every refusal."""

import json

import numpy as np
import pytest

from softlookup_course.widgets import ProductShapes
from softlookup_course.widgets.product_shapes import MOST, products, static_tables

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


def test_numbers_survive_json_as_whole_numbers():
    figure = ProductShapes(A, B)
    for sent in (figure.a, figure.b, figure.products):
        assert json.loads(json.dumps(sent)) == sent
    assert isinstance(figure.a[0][0], int)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"a": A[:4]}, r"a has shape \(4, 5\), wanted \(5, 5\)"),
        ({"b": B * 1.0}, "b holds float64 from"),
        ({"b": np.full((5, 5), 12)}, "b holds int64 from 12 to 12, wanted -9 to 9, whole"),
        ({"shape_a": (0, 3)}, r"shape_a is \(0, 3\), wanted two sizes from 1 to 5"),
        ({"shape_b": (2, 6)}, r"shape_b is \(2, 6\)"),
        ({"shape_b": (2, 2, 2)}, r"shape_b is \(2, 2, 2\)"),
    ],
)
def test_other_numbers_and_shapes_are_refused_by_name(changed, message):
    with pytest.raises(ValueError, match=message):
        ProductShapes(**{"a": A, "b": B, **changed})


def test_readers_without_scripts_get_the_product_only_where_there_is_one():
    fitting = static_tables(A, B, (2, 3), (3, 4))
    assert "A @ B, 2 × 4" in fitting and f"<td>{(A[:2, :3] @ B[:3, :4])[1, 3]}</td>" in fitting
    assert "A @ B" not in static_tables(A, B, (2, 3), (4, 3))
