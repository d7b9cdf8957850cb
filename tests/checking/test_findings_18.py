"""Chapter 18: kernels that ignored an argument and passed, and what is said of mistakes as students write them."""

import pytest

from published import edited
from softlookup_judge import check

SCORES = 'tl.where(cols[None, :] < S, scale * tl.dot(q_tile, k_tile), -float("inf"))'
UNMASKED = (SCORES, "scale * tl.dot(q_tile, k_tile)")
LATE = "        scores = tl.where(cols[None, :] < S, scores, -float('inf'))\n        fade ="
KEEPS_SCALE = "scale = 1 / H**0.5\n    "


@pytest.mark.parametrize(
    ("task_id", "edits", "name"),
    [
        ("18.attention", [("rows = tl", KEEPS_SCALE + "rows = tl")], "scale-of-width"),
        ("18.causal", [("rows = i", KEEPS_SCALE + "rows = i")], "scale-of-width"),
        ("18.paged", [("wide = tl", KEEPS_SCALE + "wide = tl")], "scale-of-width"),
        ("18.attention", [UNMASKED, ("        fade =", LATE)], "masked-after-maximum"),
        (
            "18.attention",
            [("        top = new\n", ""), ("        fade =", "        top = new\n        fade =")],
            "neither-rescaled",
        ),
        (
            "18.softmax",
            [(") / tau\n", ")\n"), ("tl.exp(a - tl.max(a, 0))", "tl.exp(a - tl.max(a, 0)) / tau")],
            "temperature-forgotten",
        ),
        ("18.softmax", [(") / tau\n", ")\n"), ("tl.exp(a - ", "tl.exp(a / tau - ")], "maximum-not-divided"),
        (
            "18.tile",
            [("m * k * cdiv(n, tile)", "m * k * n // tile"), ("k * n * cdiv(m, tile)", "k * n * m // tile")],
            "fractions-of-tiles",
        ),
        ("18.quantised", [("both >> 4", "both & 0xF0")], "high-bits-not-shifted"),
    ],
)
def test_natural_mistakes_have_their_own_name(task_id, edits, name):
    result = check(task_id, edited(task_id, edits))
    assert result.diagnosis == (name,), result.text()


@pytest.mark.parametrize("task_id", ["18.attention", "18.causal"])
def test_tiles_of_another_size_than_asked_for_are_wrong(task_id):
    assert check(task_id, edited(task_id, [("    rows =", "    B = 16\n    rows =")])).verdict == "wrong"


@pytest.mark.parametrize(
    ("task_id", "edits", "false"),
    [
        (
            "18.softmax",
            [
                ('other=-float("inf")', "other=0.0"),
                ("e = tl.exp(a - tl.max(a, 0))", "e = tl.exp(a - tl.max(tl.abs(a), 0))"),
            ],
            "loaded twice",
        ),
        ("18.norm", [("    tl.store(total + at, a, mask=there)\n", "")], "`y` is used"),
        ("18.paged", [("total * fade", "total"), ("out * fade", "out")], "but the output is"),
        ("18.add", [("at < n", "at <= n")], "needs a mask"),
        ("18.causal", [("        top = new\n", "")], "is read."),
    ],
)
def test_sentences_hold_for_what_was_written(task_id, edits, false):
    result = check(task_id, edited(task_id, edits))
    assert result.verdict == "wrong" and false not in result.text(), result.text()


def test_a_smaller_number_for_minus_infinity_is_right():
    """Triton's own tutorials mask with numbers such as -1e6; one that no score reaches does no harm."""
    kernel = edited("18.softmax", [('-float("inf")', "-1e9")])
    assert check("18.softmax", kernel).verdict == "pass"
