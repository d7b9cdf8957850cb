"""A soft lookup in the plane: drag the query, turn the temperature, watch similarities, weights and the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from softlookup import reference
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

TAUS = (0.0, *(float(f"{10 ** (step / 10):.2g}") for step in range(-20, 21)))
"""Where the temperature can be set: 0 is the hard lookup, then equal steps of its logarithm from 0.01 to 100."""

MOST_PAIRS = 3
"""As many pairs have a colour of their own that all eyes can tell apart, besides the query's."""

GRAIN = 0.05
"""A dragged query snaps to multiples of this, so that the numbers shown are the numbers computed with."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Store:
    """What is looked up in: keys and values in two planes, and some queries to begin with."""

    keys: Sequence[str]  # names of the keys
    k: ArrayLike  # their points, shape (S, 2)
    values: Sequence[str]  # names of the values
    v: ArrayLike  # their points, shape (S, 2)
    queries: Mapping[str, Sequence[float]]  # points of the plane of keys by name; the first is shown first
    axes: tuple[str, str] = ("first number", "second number")  # what the two numbers of a key stand for

    def arrays(self) -> tuple[Array, Array]:
        """Give keys and values as arrays, (S, 2) each, float64, and refuse what does not fit."""
        names = len(self.keys)
        if not 2 <= names <= MOST_PAIRS or len(self.values) != names:
            raise ValueError(f"{names} keys and {len(self.values)} values; wanted 2 to {MOST_PAIRS} pairs")
        k, v = (np.asarray(points, dtype=np.float64) for points in (self.k, self.v))
        for name, points in (("k", k), ("v", v)):
            if points.shape != (names, 2):
                raise ValueError(f"{name} has shape {points.shape}, wanted {(names, 2)}: a point for each name")
            if not np.isfinite(points).all():
                raise ValueError(f"{name} holds a number that is not finite")
        if not self.queries:
            raise ValueError("there is no query to begin with")
        for name, point in self.queries.items():
            if np.shape(point) != (2,) or not np.isfinite(point).all():
                raise ValueError(f"the query {name!r} is {point}, wanted two finite numbers")
        return k, v


def look_up(k: ArrayLike, v: ArrayLike, query: ArrayLike, tau: float | int, cosine: bool = False) -> dict[str, Any]:
    """Compute scores, weights (S,) and answer (2,) of a query (2,) on keys and values (S, 2); tau 0 is hard."""
    k_SH, v_SH = np.asarray(k, dtype=np.float64), np.asarray(v, dtype=np.float64)
    q_1H = np.asarray(query, dtype=np.float64)[None]
    scores_S = (reference.cosine_similarity(q_1H, k_SH) if cosine else q_1H @ k_SH.T)[0]
    weights_S = reference.lookup_weights(scores_S, tau)
    return {"scores": scores_S.tolist(), "weights": weights_S.tolist(), "answer": (weights_S @ v_SH).tolist()}


def _reach(points: Array) -> float:
    """How far a square plane goes in each direction, in halves, so that all points lie well inside."""
    return float(np.ceil(2 * np.abs(points).max() + 0.8) / 2)


def _record(store: Store) -> dict[str, Any]:
    k, v = store.arrays()
    queries = np.array([list(map(float, point)) for point in store.queries.values()])
    return {
        "keys": [str(name) for name in store.keys],
        "values": [str(name) for name in store.values],
        "k": k.tolist(),
        "v": v.tolist(),
        "queries": [{"name": str(name), "at": at} for name, at in zip(store.queries, queries.tolist(), strict=True)],
        "axes": [str(name) for name in store.axes],
        "reach": [_reach(np.vstack([k, queries])), _reach(v)],
        "taus": list(TAUS),
        "grain": GRAIN,
    }


def static_table(store: Mapping[str, Any], query: Sequence[float], tau: float) -> str:
    """Write one lookup as HTML, for readers whose browser runs no script."""
    lookup = look_up(store["k"], store["v"], query, tau)
    names = (f"{key} : {value}" for key, value in zip(store["keys"], store["values"], strict=True))
    rows = (
        (name, f"{score:.2f}", f"{weight:.2f}")
        for name, score, weight in zip(names, lookup["scores"], lookup["weights"], strict=True)
    )
    x, y = lookup["answer"]
    sentence = (
        f"<p>The query {escape(store['queries'][0]['name'])} at ({query[0]:g}, {query[1]:g}) and temperature {tau:g} "
        f"gives the answer ({x:.2f}, {y:.2f}). With scripts switched on, you can move the query and change the "
        "temperature.</p>"
    )
    return sentence + plain_table(("", "score", "weight"), rows, "Dot products and weights")


class LookupPlane(InteractiveFigure):
    """Drag a query among keys, and see how the weights change and where the mixed value goes."""

    store = traitlets.Dict(help="names and points of keys, values and queries").tag(sync=True)
    query = traitlets.List(traitlets.Float(), help="where the query is").tag(sync=True)
    place = traitlets.Int(0, min=0, max=len(TAUS) - 1, help="index into TAUS").tag(sync=True)
    cosine = traitlets.Bool(False, help="whether similarity is the cosine").tag(sync=True)

    def __init__(self, store: Store) -> None:
        facts = _record(store)
        query = facts["queries"][0]["at"]
        super().__init__(store=facts, query=query, place=TAUS.index(1.0), fallback=static_table(facts, query, 1.0))
