"""Tasks on time: the least time of a few operations, how near a run came, and a link as one more limit."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

Operations = list[list[float]]


def _time_cases(rng: Rng, **_: Any) -> list[Case]:
    peak, road = 64e9, 16e9
    drawn = [[float(a) * 1e9, float(b) * 1e9] for a, b in rng.integers(1, 60, (4, 2))]
    rows = (
        ("one that operations limit", ([[128e9, 2e9]], peak, road)),
        ("one that bytes limit", ([[1e9, 8e9]], peak, road)),
        ("one of each", ([[128e9, 2e9], [1e9, 48e9]], peak, road)),
        ("a step on an A100", ([[137e9, 0.12e9], [0.6e9, 1.2e9], [137e9, 0.12e9]], 312e12, 2039e9)),
        ("four that were drawn", (drawn, peak, road)),
    )
    return [Case(label, args, frame="plain") for label, args in rows]


def _time(operations: Operations, peak: float, bandwidth: float, unit: float = 1.0, **_: Any) -> float:
    """All at once, by numpy."""
    table = np.array(operations) / np.array([peak, bandwidth])
    return float(table.max(axis=1).sum() / unit)


UNITS = (
    (1.0, "seconds"),
    (1e-3, "milliseconds"),
    (1e-6, "microseconds"),
    (1e-9, "nanoseconds"),
    (60.0, "minutes"),
    (3600.0, "hours"),
    (86400.0, "days"),
    (604800.0, "weeks"),
    (1e-12, "picoseconds"),
)

TIME = described(
    "11.time",
    cases=_time_cases,
    oracle=_time,
    frame="plain",
    variants=tuple({"unit": unit, "named": named} for unit, named in UNITS),
)


def _near_cases(rng: Rng) -> list[Case]:
    rows = (
        ("an addition", (2.0**30, 12 * 2.0**30, 1.0, 2.0**36, 2.0**34)),
        ("a product", (2.0**40, 2.0**32, 32.0, 2.0**36, 2.0**34)),
        ("exactly at the ridge", (2.0**36, 2.0**34, 2.0, 2.0**36, 2.0**34)),
        ("between bytes and operations", (3e12, 0.9e12, 80.0, 80e9, 20e9)),
        ("a slow product", (8e12, 0.2e12, 500.0, 80e9, 20e9)),
        ("quicker than memory, out of a cache", (3e9, 12e9, 0.4, 80e9, 20e9)),
        ("drawn", (float(rng.integers(2, 9)) * 1e12, 2e12, 300.0, 80e9, 20e9)),
    )
    return [Case(label, args, frame="plain") for label, args in rows]


def _near(flops: float, n_bytes: float, seconds: float, peak: float, bandwidth: float) -> tuple[np.ndarray, np.ndarray]:
    """By times: the least one over the measured one."""
    least = np.array([flops / peak, n_bytes / bandwidth])
    return least.max() / seconds, np.array(least[0] >= least[1])


NEAR = described("11.near", cases=_near_cases, oracle=_near, frame="plain")


def _link_cases(rng: Rng) -> list[Case]:
    sheet = (312e12, 2039e9, 600e9)
    rows = (
        ("the link is the limit", (10e9, 0.1e9, 3e9, *sheet)),
        ("the link is quicker than memory", (10e9, 20e9, 0.5e9, *sheet)),
        ("operations are the limit", (9e12, 20e9, 6e9, *sheet)),
        ("the link alone, one way", (1e9, 1e9, 2e9, 312e12, 1935e9, 64e9)),
        ("the link only just", (1e12, 10e9, 1.6e9, *sheet)),
        ("nothing over the link, a small machine: operations", (8e9, 1e9, 0.0, 2e12, 500e9, 64e9)),
        ("the same machine: memory", (8e9, 4e9, 0.1e9, 2e12, 500e9, 64e9)),
        ("drawn", (1e9, float(rng.integers(1, 9)) * 1e9, float(rng.integers(4, 9)) * 1e9, *sheet)),
    )
    return [Case(label, args, frame="plain") for label, args in rows]


def _link(
    flops: float, n_bytes: float, link_bytes: float, peak: float, bandwidth: float, link: float
) -> tuple[np.ndarray, np.ndarray]:
    """By numpy: rates in a row, the link's one direction."""
    times = np.array([flops, n_bytes, link_bytes]) / np.array([peak, bandwidth, 0.5 * link])
    return times.max(), times.argmax()


LINK = described("11.link", cases=_link_cases, oracle=_link, frame="plain")
