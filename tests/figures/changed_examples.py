"""An example of each figure that only chapter 15 and its other pages draw."""

import numpy as np

from softlookup import reference
from softlookup_course import figures

TURNS = 100.0 ** (1 - np.arange(8) / 4)

CHANGED = {
    "recall_curves": (
        figures.recall_curves,
        ([4, 16, 64], {"adds": [0.5, 0.6, 0.4], "erases first": [1, 0.9, 0.4]}, 16),
    ),
    "memory_answers": (
        figures.memory_answers,
        (
            [("a", 1.0), ("b", 3.0), ("a", 5.0)],
            {"sum": np.array([[1, 0], [1, 3], [6, 3]]), "delta": np.array([[1, 0], [1, 3], [5, 3]])},
        ),
    ),
    "chosen_keys": (
        figures.chosen_keys,
        ([0.6, 0.2, 0.0, 1.2], [True, True, True, False], {"masked first": [0, 1], "chosen first": [3, 0]}),
    ),
    "singular_values": (figures.singular_values, ({"before": [0.9, 0.1, 0.0], "after": [1.1, 0.9, 0.2]},)),
    "rotary_ramp": (
        figures.rotary_ramp,
        (TURNS, 1 - 0.75 * np.clip((np.log(32) - np.log(TURNS)) / np.log(32), 0, 1), (32.0, 1.0)),
    ),
    "latent_queries": (figures.latent_queries, ([1.0, 0.3], reference.rotary(np.full((4, 2), 0.5)))),
}
