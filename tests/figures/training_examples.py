"""What the figures of chapter 9 are tried with."""

import numpy as np

from softlookup_course import figures

RECORD = {
    "warmups": [0, 10],
    "peaks": [0.001, 0.01],
    "runs": [
        {"warmup": w, "peak": p, "seed": s, "loss": None if (w, p, s) == (0, 0.01, 2) else 1.0 + w * p + s, "curve": []}
        for w in (0, 10)
        for p in (0.001, 0.01)
        for s in (1, 2)
    ],
}
TRAINING = {
    "shifted_labels": (figures.shifted_labels, (["<s>", "a", "dog", "</s>"], 1)),
    "loss_stages": (figures.loss_stages, ({"first": [[10, 4.0], [20, 2.0]], "second": [[5, 1.9], [9, 1.5]]},)),
    "learning_curves": (
        figures.learning_curves,
        (
            {
                "one": {"training": [[1, 3.0], [5, 1.0]], "validation": [[1, 3.0], [5, 1.2]]},
                "two": {"training": [[1, 3.0], [5, 2.0]], "validation": [[1, 3.0], [5, 2.5]]},
                "three": {"reported": [[1, 3.0], [5, 0.1]]},
            },
        ),
    ),
    "rate_curves": (
        figures.rate_curves,
        (np.arange(1, 50), {"D = 4": np.arange(49.0), "D = 9": np.arange(49.0) ** 0.5}),
    ),
    "adam_steps": (figures.adam_steps, ([4.0, 0.5, -2.0], [1.0, 0.75, 0.25])),
    "clipped": (figures.clipped, ([2.0, 1.0], 1.0)),
    "smoothing": (figures.smoothing, (100, 0.1)),
    "memory_bars": (
        figures.memory_bars,
        ({"float32": {"weights": 4, "Adam": 8, "copy": 0}, "half": {"weights": 2, "Adam": 8, "copy": 4}},),
    ),
    "peaks": (figures.peaks, (RECORD,)),
}
