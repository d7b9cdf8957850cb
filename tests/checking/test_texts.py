"""Answers of text, ids, lists and dictionaries: what counts as equal, what is refused, the words for a difference."""

import re
import time
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from softlookup_inside.asking import texts
from softlookup_inside.asking.answers import Refused
from softlookup_judge import check, get_task
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.result import panel
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import questions_at_home

KEYS = st.text(max_size=3) | st.integers(-9, 9) | st.tuples(st.text(max_size=2), st.integers(0, 3))
VALUES = st.recursive(
    st.text(max_size=6) | st.integers(-(2**62), 2**62),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def equal(first, second):
    return np.array_equal(texts.to_bytes(first), texts.to_bytes(second))


@given(VALUES)
def test_values_come_back_as_they_were(value):
    try:
        written = texts.to_bytes(value)
    except Refused as refused:
        assert "deep" in str(refused)
        return
    assert written.dtype == np.uint8 and written.ndim == 1
    assert texts.to_value(written) == value


@given(VALUES, VALUES)
def test_bytes_are_equal_where_values_are(first, second):
    try:
        assert equal(first, second) == (first == second)
    except Refused:
        pass


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["a", "b"], ("a", "b")),
        ([1, 2], np.array([1, 2])),
        ([[1], [2]], torch.tensor([[1], [2]])),
        ([1, 0], [True, False]),
        ([3], [3.0]),
        ({"a": 1, "b": 2}, OrderedDict([("b", 2), ("a", 1)])),
        ({("a", "b"): 2}, Counter([("a", "b")] * 2)),
        ({"a": 1}, defaultdict(int, a=np.int64(1))),
        ("é", np.str_("é")),
    ],
)
def test_the_same_answer_in_another_type_is_equal(first, second):
    assert equal(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [("1", 1), ("a", ["a"]), (["ab"], ["a", "b"]), ({}, []), ([], [[]]), ({"1": 2}, {1: 2}), ("é", "e\u0301")],
)
def test_different_answers_are_not_equal(first, second):
    assert not equal(first, second)


def _endless():
    inside: list = []
    inside.append(inside)
    return inside


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "without `return`"),
        ([None], "holds None"),
        ({"a"}, "no order"),
        (0.5, "the number 0.5"),
        (float("nan"), "the number nan"),
        (b"a", "type bytes"),
        (object(), "type object"),
        ((c for c in "ab"), "generator, which gives its items one by one"),
        (10**30, "18 digits"),
        ("a" * (texts.MAX_CHARACTERS + 1), "more than"),
        ([0] * (texts.MAX_ITEMS + 1), "more than"),
        (np.zeros(texts.MAX_ITEMS + 1, int), "more than"),
        (_endless(), "deep"),
        ([1j], "type complex"),
    ],
)
def test_what_no_task_asks_for_is_refused_in_words(value, says):
    with pytest.raises(Refused, match=says):
        texts.to_bytes(value)


def test_several_results_are_taken_apart():
    first, second = texts.to_texts((["a"], 2), 2)
    assert texts.to_value(first) == ["a"] and texts.to_value(second) == 2
    with pytest.raises(Refused, match="3 results, where 2"):
        texts.to_texts([1, 2, 3], 2)
    with pytest.raises(Refused, match="one str, where 2"):
        texts.to_texts("ab", 2)


@pytest.mark.parametrize(
    ("got", "expected", "says"),
    [
        (["a", "b"], ["a", "c"], "item 1 is 'b', wanted is 'c'"),
        (["a"], ["a", "c"], "the result ends after 1 items, too early: 'c' is wanted as item 1"),
        (["a", "c", 5], ["a", "c"], "the result goes on with 5 as item 2, where it should have ended"),
        ([["a", "b"]], [["a", "x"]], "item 0, item 1 is 'b', wanted is 'x'"),
        ({"a": 1}, {"a": 2}, "the value of 'a' is 1, wanted is 2"),
        ({"a": 1}, {"a": 1, "b": 2}, "the result lacks the key 'b'"),
        ({"a": 1, ("x", "y"): 2}, {"a": 1}, "the result has the key ('x', 'y'), which should not be there"),
        (
            "x" * 70 + "b",
            "x" * 70 + "cd",
            f"the result, from character 50 on, is … '{20 * 'x'}b', wanted is … '{20 * 'x'}cd'",
        ),
        ("x" * 70, "x" * 71, f"the result, from character 50 on, is … '{20 * 'x'}', wanted is … '{21 * 'x'}'"),
        ("1", 1, "the result is '1' (text), wanted is 1 (a number)"),
        ([], {}, "the result is [] (a list), wanted is {} (a dictionary)"),
    ],
)
def test_a_difference_is_told_where_it_begins(got, expected, says):
    message = texts.difference(texts.to_bytes(got), texts.to_bytes(expected))
    assert message.startswith(says)
    hidden = texts.difference(texts.to_bytes(["zz1", 7]), texts.to_bytes(["yy2", 8]), reveals=False)
    assert "yy2" not in hidden and "zz1" in hidden


@pytest.mark.parametrize(
    "sent",
    [
        np.array([200, 1, 7], np.uint8),
        np.array([np.nan, 1e300]),
        np.zeros((2, 2)),
        np.frombuffer(b"[" * 100_000, np.uint8),
        np.frombuffer(b'{"":[[[{}],1]]}', np.uint8),
        np.frombuffer(b'{"a":1}', np.uint8),
        np.frombuffer(b"9" * 5000, np.uint8),
    ],
)
def test_bytes_that_are_no_answer_have_words_too(sent):
    assert texts.difference(sent, texts.to_bytes(["a"])) == "what came back cannot be read"
    assert texts.chips_side_by_side(sent, texts.to_bytes(["a"])) is None


def test_what_is_shown_holds_nothing_that_a_page_or_terminal_obeys():
    result = check("03.words", lambda text: ["<script>\x1b[2J\u202e" + "a" * 500])
    assert result.verdict == "wrong"
    html = panel(result)
    for text in (html, result.text()):
        assert "\x1b" not in text and "\u202e" not in text and "a" * 100 not in text
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_panel_frames_the_first_piece_that_differs():
    html = panel(check("03.words", str.split))
    assert '<code class="sl-off">&#x27;cat,&#x27;</code>' in html
    assert html.count('class="sl-off"') == 2, "one in what came, one in what was wanted"


def test_wanted_text_is_not_shown_where_a_course_hides_it():
    task = get_task("03.words")
    result = judge(variant_of(task), LocalStudent(variant_of(task), str.split), reveals=False)
    assert "wanted is" not in result.text() and "wanted" not in panel(result)


def test_an_answer_that_changes_its_lists_is_told_so():
    def merge(symbols, pair):
        symbols.append("x")
        return symbols

    result = check("03.merge", merge)
    assert result.verdict == "wrong" and "changes its inputs" in result.message


def test_a_changed_input_never_reaches_the_next_question():
    task = get_task("03.pair-counts")
    seen = []

    def count_pairs(words):
        seen.append(repr(words))
        for symbols, _ in words:
            symbols.clear()
        return {}

    check(task.id, count_pairs)
    again = len(questions_at_home(variant_of(task)).cases)
    first, again = seen[0], seen[again]
    assert first == again, "the first question comes once more at the end, as it was"


def test_keys_that_all_have_one_hash_are_not_read():
    entries = ",".join(f"[[{n * (2**61 - 1)}],0]" for n in range(40_000))
    forged = np.frombuffer(f'{{"":[{entries}]}}'.encode(), np.uint8)
    begun = time.monotonic()
    assert texts.difference(forged, texts.to_bytes({"a": 1})) == "what came back cannot be read"
    assert time.monotonic() - begun < 5


def test_long_texts_are_shown_from_shortly_before_they_differ():
    got, expected = 100 * "x" + "b" + 100 * "y", 100 * "x" + "c" + 100 * "y"
    for rows in (
        texts.chips_side_by_side(texts.to_bytes(got), texts.to_bytes(expected)),
        texts.chips_side_by_side(texts.to_bytes(["a", got]), texts.to_bytes(["a", expected])),
    ):
        assert rows is not None
        assert "xb" in rows[0][-1] and "xc" in rows[1][-1] and rows[0][-1].startswith("…")
    assert "x" * 20 + "b" in texts.difference(texts.to_bytes(got), texts.to_bytes(expected))


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ("a" * 100 + "b", "a" * 100 + "c"),
        ("\u200b" * 50 + "b" + "y" * 90, "\u200b" * 50 + "c" + "y" * 90),
        ([["a" * 50 + "b"], 1], [["a" * 50 + "c"], 1]),
        ({"k": ["a" * 80 + "b"]}, {"k": ["a" * 80 + "c"]}),
        ({"k" * 90 + "a": 1}, {"k" * 90 + "b": 1}),
        ([1] * 60 + [3], [1] * 60 + [4]),
        ("line\r\nend", "line\nend"),
        ("end ", "end"),
        ("a\tb", "a b"),
        ("a\xa0b", "a b"),
        (["a\u00adb"], ["ab"]),
        ("caf\u0435", "cafe"),
        ("cafe\u0301", "caf\xe9"),
        ({"\u0430bc": 1}, {"abc": 1}),
    ],
)
def test_what_came_never_looks_like_the_right_text(got, expected):
    both = texts.to_bytes(got), texts.to_bytes(expected)
    says, rows = texts.difference(*both), texts.chips_side_by_side(*both)
    came, right = re.split(", wanted is ", says)
    assert came.rpartition(" is ")[2].rpartition("on ")[2] != right and rows is not None and rows[0] != rows[1]
    characters = {character for text in (says, *rows[0], *rows[1]) for character in text}
    assert not characters & set("\r\t\xa0\u200b\u00ad")
    assert ("U+" in says) is not says.replace("…", "").isascii()


def test_texts_that_differ_behind_the_first_third_are_shown_from_there():
    """Both would be cut behind their difference by a few characters, and look alike."""
    got, expected = 50 * "x" + " a" + 60 * "y", 50 * "x" + "a" + 60 * "y"
    assert "from character 30 on" in texts.difference(texts.to_bytes(got), texts.to_bytes(expected))


@pytest.mark.parametrize(
    ("answers", "where", "shown"),
    [
        (
            ["a" * 50 + "b", "a" * 50 + "c", "a" * 50],
            "from character 44 on",
            ["… 'aaaaaab'", "… 'aaaaaac'", "… 'aaaaaa'"],
        ),
        (["a" * 50], "", ["'aaaaaaaaaaaaaaaaaa…"]),
        ([[*range(90), 7], [*range(90), 8]], "from item 89 on", ["… [89, 7]", "… [89, 8]"]),
        (
            [["a", "x" * 80 + "b"], ["a", "x" * 80 + "c"]],
            "in item 1, from character 74 on",
            ["… 'xxxxxxb'", "… 'xxxxxxc'"],
        ),
        ([{"k": 1, "m" * 30: 2}, {"k": 1}], f"at the key '{'m' * 30}'", ["2", "nothing"]),
        ([{"k": 1}, [2] * 30], "", ["{'k': 1}", "[2, 2, 2, 2, 2, 2, …"]),
    ],
)
def test_answers_are_shown_beside_each_other_from_shortly_before_they_differ(answers, where, shown):
    assert texts.side_by_side(answers, 20) == (where, shown)
