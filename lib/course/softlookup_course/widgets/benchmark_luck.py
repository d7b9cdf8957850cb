"""How often the better of two models has more right answers on a benchmark, computed exactly.

Letters of its own: P questions of a benchmark.
"""

from typing import Any

import numpy as np
import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

WORSE = 0.84
"""The fraction of all possible questions that the worse model answers right."""
GAINS = (0.01, 0.02, 0.04)
"""How much larger it is for the better model."""
QUESTIONS = (25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
SHARED = 0.7
"""The fraction of questions that are as hard for both, where both answer the same; as in `detection_rates`."""
WAYS = ("different questions", "the same questions")
BENCHMARKS = 100
"""How many benchmarks are shown: as many equally likely outcomes."""


def one_sided(gain: float, is_same: bool) -> tuple[float, float]:
    """Compute the probabilities that the better model alone answers a question right, and the worse one alone."""
    better, shared = WORSE + gain, SHARED if is_same else 0.0
    return (
        shared * gain + (1 - shared) * better * (1 - WORSE),
        (1 - shared) * WORSE * (1 - better),
    )


def lead_probabilities(gain: float, questions: int, is_same: bool) -> np.ndarray:
    """Compute how probable each lead of the better model is, from -P to P right answers (2P + 1,)."""
    ahead, behind = one_sided(gain, is_same)
    of_one = np.zeros(2 * questions + 1)
    of_one[[0, 1, -1]] = 1 - ahead - behind, ahead, behind  # leads modulo 2P + 1
    leads = np.fft.irfft(np.fft.rfft(of_one) ** questions, len(of_one))  # a sum of independent ones
    return np.roll(np.maximum(leads, 0), questions)


def describe(gain: float, questions: int, is_same: bool) -> dict[str, Any]:
    """Compute what 100 equally likely benchmarks show: columns (points, count), losses, ties, and the middle 95 %.

    A column holds leads up to so many points; that of ties is 0.
    """
    below = np.cumsum(lead_probabilities(gain, questions, is_same))
    at = (np.arange(BENCHMARKS) + 0.5) / BENCHMARKS
    leads = np.searchsorted(below, at) - questions
    columns = np.sign(leads) * -(-100 * np.abs(leads) // questions)  # rounded away from 0, where the ties are
    low, high = np.searchsorted(below, (0.025, 0.975)) - questions
    return {
        "columns": [[int(k), int((columns == k).sum())] for k in np.unique(columns)],
        "loses": int((leads < 0).sum()),
        "ties": int((leads == 0).sum()),
        "low": round(100 * int(low) / questions, 2),
        "high": round(100 * int(high) / questions, 2),
    }


def static_table(states: list[list[list[dict[str, Any]]]]) -> str:
    """Write how often the worse model wins as HTML, for readers whose browser runs no script."""
    settings = [(way, gain) for way in range(len(WAYS)) for gain in range(len(GAINS))]
    head = ("questions", *(f"{WAYS[way]}, better by {100 * GAINS[gain]:.0f}" for way, gain in settings))
    rows = ((f"{size:,}", *(states[w][g][i]["loses"] for w, g in settings)) for i, size in enumerate(QUESTIONS))
    sentence = (
        "<p>In how many of 100 benchmarks the worse of two models has more right answers, "
        "by how many points the other is better in truth.</p>"
    )
    return sentence + plain_table(head, rows)


class BenchmarkLuck(InteractiveFigure):
    """Show how often the better of two models wins on a benchmark, by its number of questions."""

    states = traitlets.List(traitlets.List(), help="outcomes by way, gain and size").tag(sync=True)
    sizes = traitlets.List(traitlets.Int(), list(QUESTIONS), help="questions to choose from").tag(sync=True)
    gains = traitlets.List(traitlets.Float(), [100 * gain for gain in GAINS], help="true gains in points").tag(
        sync=True
    )
    ways = traitlets.List(traitlets.Unicode(), list(WAYS), help="which questions both models answer").tag(sync=True)
    first = traitlets.Int(QUESTIONS.index(200), help="the size that is shown first").tag(sync=True)

    def __init__(self) -> None:
        states = [
            [[describe(gain, size, is_same) for size in QUESTIONS] for gain in GAINS] for is_same in (False, True)
        ]
        super().__init__(states=states, fallback=static_table(states))
