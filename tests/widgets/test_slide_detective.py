"""The table of a slide in Python: what is off, how each cell is written out, and the stand-in."""

import math
import re

import numpy as np
import pytest

from softlookup import reference
from softlookup_course.slide_audit import first_head, identity_head
from softlookup_course.slide_audit.slides_of_positions import PE, PE_AGAIN, TRUE_PE
from softlookup_course.widgets import SlideDetective
from softlookup_course.widgets.slide_detective import decimals_of, products_written, sinusoids_written, static_tables

NUMBER = r"\N{MINUS SIGN}?[\d.]+"


def value_of(text):
    return float(text.replace("\N{MINUS SIGN}", "-"))


@pytest.mark.parametrize(("a", "b"), [(first_head.X, first_head.W_K), (identity_head.X, identity_head.X.T)])
def test_sum_of_every_cell_is_the_product(a, b):
    for row, lines in zip(a @ b, products_written(a, b), strict=True):
        for true, line in zip(row, lines, strict=True):
            terms, _, total = line.partition(" = ")
            factors = [math.prod(map(value_of, term.split(" × "))) for term in terms.split(" + ")]
            assert math.fsum(factors) == pytest.approx(true) == value_of(total)


def test_sum_with_negative_numbers_has_true_minus_signs():
    assert products_written([[-1.5, 2]], [[2], [-0.5]]) == [["−1.5 × 2 + 2 × −0.5 = −4"]]


def test_every_sinusoid_is_the_one_that_the_library_computes():
    for row, lines in zip(reference.sinusoidal(8, 6), sinusoids_written(range(8), 6), strict=True):
        for true, line in zip(row, lines, strict=True):
            name, angle, total = re.fullmatch(rf"(sin|cos)\((.*)\) = ({NUMBER})", line).groups()
            top, _, below = angle.partition(" / ")
            assert getattr(math, name)(float(top) / float(below or 1)) == pytest.approx(true, abs=1e-3)
            assert value_of(total) == pytest.approx(true, abs=5.1e-5)


def test_decimals_are_as_many_as_the_numbers_need():
    assert [decimals_of(values) for values in ([1, 2], [1.5, 2], [0.25], [1 / 3])] == [0, 1, 2, 4]


def figure(**changes):
    settings = {"rows": [f"token {t}" for t in range(1, 6)], "hint": "Which?", "reason": "Because."} | changes
    x, w = first_head.X, first_head.W_K
    return SlideDetective({"K": first_head.KEYS}, x @ w, products_written(x, w), [(1, 2)], **settings)


def test_cells_are_off_where_rounding_explains_nothing():
    off = np.array(figure().printed[0]["off"])
    assert (off == (np.abs(np.array(first_head.KEYS) - first_head.X @ first_head.W_K) > 0.005 + 1e-9)).all()
    assert off.any() and not off.all()


def test_cell_in_which_one_of_two_copies_is_wrong_may_be_caught():
    copies = {"one": PE, "another": PE_AGAIN}
    rows = [f"position {t}" for t in range(8)]
    made = SlideDetective(copies, TRUE_PE, sinusoids_written(range(8), 4), [(4, 1)], rows=rows, hint="", reason="")
    assert [copy["off"][4][1] for copy in made.printed] == [True, False]


@pytest.mark.parametrize("spots", [[], [(3, 0)]])
def test_cell_that_is_right_cannot_be_caught(spots):
    x, w = first_head.X, first_head.W_K
    with pytest.raises(ValueError, match="every spot must be a cell that rounding does not explain"):
        SlideDetective({"K": first_head.KEYS}, x @ w, products_written(x, w), spots, rows=[""] * 5, hint="", reason="")


def test_stand_in_marks_every_wrong_cell_and_says_what_is_computed():
    made = figure(sources={"X": first_head.X, "W_K": first_head.W_K})
    off = np.array(made.printed[0]["off"])
    assert made.fallback == static_tables([*made.sources, *made.printed], made.rows, "Which?")
    marked = re.findall(rf"<mark>({NUMBER})</mark> \(({NUMBER})\)", made.fallback)
    expected = zip(np.array(first_head.KEYS)[off], (first_head.X @ first_head.W_K)[off], strict=True)
    assert [(value_of(a), value_of(b)) for a, b in marked] == [(a, pytest.approx(b, abs=5.1e-4)) for a, b in expected]
    assert "W<sub>K</sub>" in made.fallback and made.fallback.count("token 2") == 2
