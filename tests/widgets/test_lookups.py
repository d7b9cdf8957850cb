"""What Python sends to the two figures of a soft lookup: its numbers against the reference, and every refusal."""

import numpy as np
import pytest

from softlookup import reference
from softlookup_course.widgets import FirstLookup, LookupPlane, Store
from softlookup_course.widgets.first_lookup import TAUS, mix_in_words, static_table
from softlookup_course.widgets.lookup_plane import look_up

FIELDS = {
    "keys": ["a", "b"],
    "k": [[1.0, 0.0], [0.0, 2.0]],
    "values": ["A", "B"],
    "v": [[3.0, 0.0], [0.0, 3.0]],
    "queries": {"first": (1.0, 1.0), "second": (0.0, 0.0)},
}


@pytest.mark.parametrize("tau", [0.0, 0.3, 1.0, 100.0])
def test_dot_product_lookup_is_the_references(tau):
    k, v, query = (np.random.default_rng(8).normal(size=shape) for shape in ((3, 2), (3, 2), (2,)))
    lookup = look_up(k, v, query, tau)
    np.testing.assert_allclose(lookup["answer"], reference.soft_lookup(query[None], k, v, tau)[0], rtol=1e-12)
    np.testing.assert_allclose(lookup["scores"], np.einsum("sh,h->s", k, query), rtol=1e-12)


def test_all_points_lie_within_the_planes():
    store = LookupPlane(Store(**FIELDS)).store
    assert max(np.abs(store["k"]).max(), 1.0) < store["reach"][0]
    assert np.abs(store["v"]).max() < store["reach"][1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"keys": ["a"]}, "1 keys and 2 values; wanted 2 to 3 pairs"),
        ({"keys": list("abcd"), "values": list("ABCD")}, "4 keys and 4 values; wanted 2 to 3 pairs"),
        ({"k": [[1.0, 0.0]]}, r"k has shape \(1, 2\), wanted \(2, 2\)"),
        ({"v": [[1.0], [2.0]]}, r"v has shape \(2, 1\), wanted \(2, 2\)"),
        ({"v": [[1.0, np.nan], [2.0, 0.0]]}, "v holds a number that is not finite"),
        ({"queries": {}}, "there is no query to begin with"),
        ({"queries": {"far": (np.inf, 0.0)}}, "the query 'far' is"),
        ({"queries": {"long": (1.0, 0.0, 2.0)}}, "the query 'long' is"),
    ],
)
def test_store_that_does_not_fit_is_refused_by_name(changed, message):
    with pytest.raises(ValueError, match=message):
        LookupPlane(Store(**{**FIELDS, **changed}))


def test_static_table_cannot_be_broken_by_a_name():
    html = LookupPlane(Store(**{**FIELDS, "keys": ["<script>", "b"], "queries": {"<b>": (1, 1)}})).fallback
    assert "<script>" not in html and "<b>" not in html and "&lt;script&gt;" in html


STORE = {
    "keys": ["a", "b"],
    "k": [[1.0, 0.0], [0.0, 2.0]],
    "values": ["A", "B"],
    "v": [[1.0, 0.0], [0.0, 1.0]],
    "queries": {"a": (1.0, 0.0), "<c>": (1.0, 1.0)},
}


def test_weights_of_every_query_and_temperature_are_the_references():
    record = FirstLookup(Store(**STORE)).record
    for lookup, point in zip(record["asked"], STORE["queries"].values(), strict=True):
        assert len(lookup["weights"]) == len(TAUS)
        for tau, weights in zip(record["taus"], lookup["weights"], strict=True):
            expected = reference.soft_lookup(np.array([point]), np.array(STORE["k"]), np.eye(2), tau)[0]
            np.testing.assert_allclose(weights, expected, rtol=1e-12)


def test_a_dictionary_finds_the_keys_and_nothing_else():
    assert [lookup["found"] for lookup in FirstLookup(Store(**STORE)).record["asked"]] == ["A", None]


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
