"""What Python sends to the book's first figure: every weight against the reference, words, and every refusal."""

import json

import numpy as np
import pytest

from softlookup import reference
from softlookup_course.widgets import FirstLookup, Store
from softlookup_course.widgets.first_lookup import TAUS, mix_in_words, static_table

STORE = {
    "keys": ["a", "b"],
    "k": [[1.0, 0.0], [0.0, 2.0]],
    "values": ["A", "B"],
    "v": [[1.0, 0.0], [0.0, 1.0]],
    "queries": {"a": (1.0, 0.0), "<c>": (1.0, 1.0)},
}


def test_weights_of_every_query_and_temperature_are_the_references():
    record = FirstLookup(Store(**STORE)).record
    assert json.loads(json.dumps(record)) == record
    for lookup, point in zip(record["asked"], STORE["queries"].values(), strict=True):
        assert len(lookup["weights"]) == len(TAUS)
        for tau, weights in zip(record["taus"], lookup["weights"], strict=True):
            expected = reference.soft_lookup(np.array([point]), np.array(STORE["k"]), np.eye(2), tau)[0]
            np.testing.assert_allclose(weights, expected, rtol=1e-12)


def test_a_dictionary_finds_the_keys_and_nothing_else():
    assert [lookup["found"] for lookup in FirstLookup(Store(**STORE)).record["asked"]] == ["A", None]


def test_temperatures_begin_with_the_hard_lookup_and_have_one_among_them():
    assert TAUS[0] == 0 and 1.0 in TAUS and list(TAUS) == sorted(set(TAUS))


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ((0.1, 0.2, 0.7), "0.70 z + 0.20 y + 0.10 x"),
        ((0.25, 0.25, 0.5), "0.50 z + 0.25 x + 0.25 y"),
        ((1.0, 0.0, 0.004), "1.00 x"),
    ],
)
def test_an_answer_in_words_begins_with_its_largest_part_and_leaves_out_what_shows_as_nothing(weights, words):
    assert mix_in_words(["x", "y", "z"], weights) == words


def test_stand_in_shows_every_query_and_escapes_names():
    figure = FirstLookup(Store(**STORE))
    assert figure.fallback == static_table(figure.record, TAUS.index(1.0))
    assert "&lt;c&gt;" in figure.fallback and "<c>" not in figure.fallback
    assert figure.fallback.count("<tr>") == 1 + len(STORE["queries"])


def test_figure_begins_with_the_query_that_it_is_told():
    figure = FirstLookup(Store(**STORE), asked="<c>")
    assert (figure.asked, figure.place) == (1, TAUS.index(1.0))
