"""The book's first figure: ask for a word, turn the temperature, and watch a dictionary go soft."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table
from softlookup_course.widgets.lookup_plane import Store, look_up

TAUS = (0.0, *(float(f"{10 ** (step / 5):.2g}") for step in range(-5, 9)))
"""Where the temperature can be set: 0 is the hard lookup, then equal steps of its logarithm from 0.1 to 40."""


def mix_in_words(values: Sequence[str], weights: ArrayLike) -> str:
    """Write an answer as a sum, the largest part first: "0.80 citron + 0.10 pomme + 0.10 banane"."""
    fractions = np.asarray(weights, dtype=np.float64)
    order = np.argsort(-fractions, kind="stable")
    return " + ".join(f"{fractions[at]:.2f} {values[at]}" for at in order if fractions[at] >= 0.005)


def _record(store: Store) -> dict[str, Any]:
    k, v = store.arrays()
    queries = []
    for name, point in store.queries.items():
        weights = [look_up(k, v, point, tau)["weights"] for tau in TAUS]
        queries.append(
            {
                "name": str(name),
                "found": dict(zip(store.keys, store.values, strict=True)).get(name),
                "weights": weights,
                "answers": [mix_in_words(store.values, query_weights) for query_weights in weights],
            }
        )
    return {"keys": list(store.keys), "values": list(store.values), "taus": list(TAUS), "asked": queries}


def static_table(lookups: Mapping[str, Any], tau_index: int) -> str:
    """Write every query's answer at one of the temperatures, by its place, as HTML, for browsers that run no script."""
    rows = ((query["name"], query["found"] or "nothing", query["answers"][tau_index]) for query in lookups["asked"])
    head = ("asked for", "a dictionary has", "a soft lookup gives")
    return plain_table(head, rows, f"A lookup, hard and soft (at temperature {lookups['taus'][tau_index]:g})")


class FirstLookup(InteractiveFigure):
    """Ask a small dictionary for a word that it has or has not, and turn the lookup from hard to soft."""

    record = traitlets.Dict(help="names, temperatures, and the weights of each query at each of them").tag(sync=True)
    asked = traitlets.Int(0, min=0, help="index of the query").tag(sync=True)
    place = traitlets.Int(0, min=0, max=len(TAUS) - 1, help="index into TAUS").tag(sync=True)

    def __init__(self, store: Store, asked: str | None = None) -> None:
        lookups = _record(store)
        names = [query["name"] for query in lookups["asked"]]
        tau_index, first = TAUS.index(1.0), names.index(asked) if asked is not None else 0
        super().__init__(record=lookups, asked=first, place=tau_index, fallback=static_table(lookups, tau_index))
