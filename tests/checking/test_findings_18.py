"""Chapter 18: kernels that ignored an argument and passed, and what is said of mistakes as students write them."""

import pytest

from published import edited
from softlookup_judge import check


@pytest.mark.slow
@pytest.mark.parametrize("task_id", [pytest.param("18.attention", marks=pytest.mark.slow), "18.causal"])
def test_tiles_of_another_size_than_asked_for_are_wrong(task_id):
    assert check(task_id, edited(task_id, [("    rows =", "    B = 16\n    rows =")])).verdict == "wrong"


@pytest.mark.one_in(6)
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
