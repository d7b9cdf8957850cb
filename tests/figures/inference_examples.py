"""What the figures of chapter 10 are tried with."""

import numpy as np

from softlookup_course import figures

TOKENS = ["_la", "_l'", "_le", "_une"]
INFERENCE = {
    "top_p": (figures.top_p, (TOKENS, [0.5, 0.2, 0.15, 0.05], 0.75)),
    "next_tokens": (
        figures.next_tokens,
        (["a dog", "the dog"], {"trained": [{"runs": 0.4}, {"sat": 0.3}], "bare": [{"is": 0.2}, {"is": 0.2}]}),
    ),
    "passes": (figures.passes, (2, 3)),
    "reading_times": (
        figures.reading_times,
        ({"in pieces": ([1, 4, 16], [4.0, 1.0, 0.3]), "side by side": ([1, 2, 8], [4.0, 2.2, 0.7])},),
    ),
    "sharpened": (
        figures.sharpened,
        (TOKENS, (0.5, 1.0), np.array([[0.8, 0.1, 0.05, 0.0], [0.5, 0.2, 0.15, 0.05]])),
    ),
}
