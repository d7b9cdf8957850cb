"""Formulas in lines have about the width in a page that MathJax gives them."""

import formula_room
import pytest


@pytest.mark.parametrize(
    ("tex", "set_em"),  # as MathJax sets them
    [("H", 0.94), (r"\sqrt{H}", 1.83), (r"D = N H", 4.17), ("2BTNH + BNT^2", 8.18), (r"\sin^2 + \cos^2 = 1", 6.76)],
)
def test_width_of_a_formula_is_about_that_of_mathjax(tex, set_em):
    assert formula_room.width_em(tex) == pytest.approx(set_em, abs=0.8)


def test_formulas_of_a_page_get_their_width_and_stay_as_they_are():
    body = r'<p><span class="math notranslate nohighlight">\(a &lt; b\)</span></p>'
    written = formula_room.INLINE.sub(formula_room.with_room, body)
    assert 'style="--room:' in written and written.endswith(r'em">\(a &lt; b\)</span></p>')
