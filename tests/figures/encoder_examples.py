"""What the figures of chapter 7 are tried with."""

import numpy as np

from softlookup_course import figures

RNG = np.random.default_rng(7)
WORDS = ["a", "word", "needs", "company"]
ENCODER = {
    "activations": (
        figures.activations,
        (np.linspace(-3, 3, 61), {"ReLU": RNG.normal(size=61), "GELU": RNG.normal(size=61)}, ["GELU"]),
    ),
    "drifting": (
        figures.drifting,
        (np.linspace([1.0, 0.9], [0.7, 0.6], 5).T, np.ones((2, 5)), np.linspace(0.1, 0.4, 5), np.linspace(1, 0.3, 5)),
    ),
    "gradient_by_layer": (
        figures.gradient_by_layer,
        ({"post-LN": 2.0 ** np.arange(6), "pre-LN": np.ones(6), "no road": 9.0 ** np.arange(6)},),
    ),
    "pre_post_norm": (figures.pre_post_norm, ()),
    "norm_runs": (
        figures.norm_runs,
        (
            {
                "rates": [0.001, 0.003],
                "warmups": [0, 10],
                "depths": [1, 2],
                "guessing": 2.0,
                "runs": [
                    {"rate": rate, "warmup": warmup, "depth": depth, "order": order, "loss": rate * 500 + depth + i}
                    for rate in (0.001, 0.003)
                    for warmup in (0, 10)
                    for depth in (1, 2)
                    for i, order in enumerate(("post", "pre"))
                ],
            },
        ),
    ),
    "norm_steps": (figures.norm_steps, (WORDS, [("x", RNG.normal(size=(4, 3))), ("y", RNG.normal(size=(4, 3)))])),
}
