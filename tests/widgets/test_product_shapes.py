"""What Python sends to the figure of matrix products: every product, and every refusal."""

import json

import numpy as np

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


def test_readers_without_scripts_get_the_product_only_where_there_is_one():
    fitting = static_tables(A, B, (2, 3), (3, 4))
    assert "A @ B, 2 × 4" in fitting and f"<td>{(A[:2, :3] @ B[:3, :4])[1, 3]}</td>" in fitting
    assert "A @ B" not in static_tables(A, B, (2, 3), (4, 3))
