"""What the figures of chapter 12 are tried with."""

import numpy as np

from softlookup_course import figures

CONTEXTS = 10.0 ** np.arange(5)
COUNTING = {
    "work_by_context": (figures.work_by_context, (CONTEXTS, 13e9, 5e5 * CONTEXTS)),
    "memory_by_part": (
        figures.memory_by_part,
        (
            {
                "a long name": {"weights": 13e9, "gradients": 13e9, "states": 80e9, "activations": 0.0},
                "short": {"weights": 13e9, "gradients": 0.0, "states": 0.0, "activations": 30e9},
            },
            [("80 GB", 80e9)],
        ),
    ),
    "model_parts": (
        figures.model_parts,
        (
            {
                "large": {"attention": 2e9, "network": 4e9, "output": 1e8, "table": 1e8},
                "small": {"attention": 3e7, "network": 6e7, "output": 0.0, "table": 4e7},
            },
            ("table",),
        ),
    ),
    "batch_machines": (
        figures.batch_machines,
        (
            {
                "dense layer": {
                    "GPU": ([(1, 3e12), (64, 1.9e14)], [(1, 3.1e12), (64, 2e14)]),
                    "a sheet": ([(1, 2e12), (64, 1.2e14)], []),
                },
                "attention": {
                    "GPU": ([(1, 3e12), (64, 3e12)], [(1, 8e11), (64, 3e12)]),
                    "a sheet": ([(1, 2e12), (64, 2e12)], []),
                },
            },
        ),
    ),
    "batches_under_roof": (
        figures.batches_under_roof,
        (
            (312e12, 2e12),
            {
                "s = 50": {"dense": [(1, 50.0), (8, 300.0)], "attention": [(1, 0.99), (8, 0.99)]},
                "s = 1000": {"dense": [(1, 670.0), (8, 1500.0)], "attention": [(1, 1.0), (8, 1.0)]},
            },
        ),
    ),
    "predicted_and_measured": (
        figures.predicted_and_measured,
        (
            {
                "dense": {"writing": [(1, 1e10, 9e9), (64, 8e10, 5e10)]},
                "attention": {"writing": [(1, 1e10, 4e9), (64, 1e10, 4e9)]},
            },
        ),
    ),
}
