"""What Python sends to the soft lookup in the plane: its numbers against the reference, and every refusal."""

import json

import numpy as np
import pytest

from softlookup import reference
from softlookup_course.widgets import LookupPlane, Store
from softlookup_course.widgets.lookup_plane import TAUS, look_up, static_table

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


def test_cosine_lookup_does_not_feel_lengths():
    k, v = np.array([[1.0, 1.0], [0.0, 4.0]]), np.eye(2)
    short, long = (look_up(k, v, query, 0.5, cosine=True) for query in ([1.0, 0.5], [3.0, 1.5]))
    np.testing.assert_allclose(short["weights"], long["weights"], rtol=1e-12)
    assert short["weights"][0] > short["weights"][1]


def test_hard_lookup_shares_among_keys_that_tie():
    assert look_up([[1, 0], [1, 0], [0, 1]], np.eye(3)[:, :2], [1, 0], 0.0)["weights"] == [0.5, 0.5, 0.0]


def test_slider_begins_at_the_hard_lookup_and_has_one_in_its_middle():
    assert TAUS[0] == 0 and TAUS[21] == 1 and TAUS[-1] == 100
    assert list(TAUS) == sorted(set(TAUS))
    np.testing.assert_allclose(np.diff(np.log10(TAUS[1:])), 0.1, atol=0.03)


def test_figure_starts_with_its_first_query_and_temperature_one():
    figure = LookupPlane(Store(**FIELDS))
    assert figure.query == [1.0, 1.0] and TAUS[figure.place] == 1 and not figure.cosine
    assert figure.fallback == static_table(figure.store, [1.0, 1.0], 1.0)
    assert json.loads(json.dumps(figure.store)) == figure.store


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
