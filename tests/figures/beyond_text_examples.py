"""What the figures of chapter 13 are tried with."""

import numpy as np

from softlookup_course import figures

RNG = np.random.default_rng(13)
LONG = {
    "lengths": [256, 1024, 4096],
    "seconds": {
        "full": [0.001, 0.02, None],
        "tiled": [0.002, 0.02, 0.3],
        "torch": [0.0005, 0.004, 0.05],
        "local": [0.001, 0.004, 0.016],
        "linear": [0.001, 0.002, 0.004],
    },
    "bytes": {
        "full": [5e5, 1e7, None],
        "tiled": [2e5, 9e5, 3e6],
        "torch": [4096, 0, 4096],
        "local": [1e5, 4e5, 2e6],
        "linear": [0, 1e5, 4e5],
    },
}
BEYOND_TEXT = {
    "cut_up": (figures.cut_up, (RNG.random((4, 6)), 2)),
    "pair_grid": (
        figures.pair_grid,
        (RNG.random((2, 3, 6, 6)), ["a red dog", "a blue cat"], np.array([[0.8, -0.1], [0.3, 0.6]])),
    ),
    "shares_by_arm": (figures.shares_by_arm, ({"one": [97.0, 98.0, 96.5], "another": [91.0, 90.0, 93.0]},)),
    "occlusion": (figures.occlusion, ([0, 2, 4], {"map": [98, 60, 20], "at random": [98, 90, 70]})),
    "long_attention": (figures.long_attention, (LONG,)),
    "tile_flow": (figures.tile_flow, (4096, 4096, 64, 128)),
}
