"""Tasks on time: the least time of a few operations, how near a run came, and a link as one more limit."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.roofline.page import PAGE
from softlookup.checks.task import Case, Task

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


def _time(operations: Operations, peak: float, road: float, unit: float = 1.0, **_: Any) -> float:
    """All at once, by numpy."""
    table = np.array(operations) / np.array([peak, road])
    return float(table.max(axis=1).sum() / unit)


EACH = "seconds += max(flops / peak, n_bytes / bandwidth)"
RETURN = "return seconds / unit"

TIME = Task(
    id="11.time",
    name="least_time",
    title="The least time",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="roofline-bound",
    returns=("time",),
    cases=_time_cases,
    oracle=_time,
    frame="plain",
    variants=({"unit": 1.0, "named": "seconds"}, {"unit": 1e-3, "named": "milliseconds"}),
    mistakes=(
        known(
            "added",
            (EACH, "seconds += flops / peak + n_bytes / bandwidth"),
            says="Inside an operation the two times are added, as if nothing were computed while bytes arrive: the "
            "roof lets both go on at once, so the longer one counts.",
        ),
        known(
            "one-roof-for-all",
            (
                RETURN,
                "return max(sum(a for a, _ in operations) / peak, sum(b for _, b in operations) / bandwidth) / unit",
            ),
            says="All operations are put under one roof: the bytes of one do not arrive while another computes. Take "
            "the longer time for each, then add.",
        ),
        known(
            "shorter",
            (EACH, EACH.replace("max(", "min(")),
            says="The shorter of the two times is taken: the operation is done when both are.",
        ),
        known(
            "operations-alone",
            (EACH, "seconds += flops / peak"),
            says="Bytes take no time here: an operation with few computations for each byte waits for them.",
        ),
        known(
            "bytes-alone",
            (EACH, "seconds += n_bytes / bandwidth"),
            says="Computing takes no time here: above the ridge it is the limit.",
        ),
        known(
            "longest-alone",
            (EACH, "seconds = max(seconds, flops / peak, n_bytes / bandwidth)"),
            says="Only the slowest operation counts: they come one after another, so their times add up.",
        ),
        known(
            "rates-swapped",
            (EACH, "seconds += max(flops / bandwidth, n_bytes / peak)"),
            says="Operations are divided by the bandwidth and bytes by the peak: it is the other way round.",
        ),
    ),
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


def _near(flops: float, n_bytes: float, seconds: float, peak: float, road: float) -> tuple[np.ndarray, np.ndarray]:
    """By times: the least one over the measured one."""
    least = np.array([flops / peak, n_bytes / road])
    return least.max() / seconds, np.array(least[0] >= least[1])


AMOUNT = "amount = flops / n_bytes"
BEST = "best = min(peak, bandwidth * amount)"
SHARE = "share = flops / seconds / best"
NEAR_PAIR = "return share, amount >= peak / bandwidth"
BOUND = "amount >= peak / bandwidth"

NEAR = Task(
    id="11.near",
    name="how_near",
    title="When to stop",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="roofline-bound",
    returns=("share", "compute_bound"),
    cases=_near_cases,
    oracle=_near,
    frame="plain",
    mistakes=(
        known(
            "share-of-peak",
            (BEST, "best = peak"),
            says="The share of the peak is returned: an operation below the ridge cannot reach the peak. Compare with "
            "what is attainable at its intensity.",
        ),
        known(
            "share-of-slope",
            (BEST, "best = bandwidth * amount"),
            says="The run is compared with the sloped roof alone: above the ridge the peak is the limit.",
        ),
        known(
            "added",
            (BEST, "best = 1 / (1 / peak + 1 / (bandwidth * amount))"),
            says="Computing and moving are added up, as if one waited for the other: under the roof they go on at the "
            "same time, and the longer one counts.",
        ),
        known(
            "larger-one",
            (BEST, "best = max(peak, bandwidth * amount)"),
            says="The run is compared with the larger of the two limits: both hold, so the smaller one is attainable.",
        ),
        known(
            "clipped",
            (SHARE, "share = min(1.0, flops / seconds / best)"),
            says="The share is cut off at 1. A run can be quicker than its memory (out of a cache, or because the "
            "count is wrong), and then a share above 1 is what shows it.",
        ),
        known(
            "per-cent",
            (SHARE, "share = 100 * flops / seconds / best"),
            says="The share is in per cent: 1 is to be the roof itself.",
        ),
        known(
            "pair-swapped",
            (NEAR_PAIR, "return amount >= peak / bandwidth, share"),
            says="The two results have changed places: the share first, then the truth value.",
        ),
        known(
            "upside-down",
            (SHARE, "share = best * seconds / flops"),
            says="This says how many times slower the run was: the share is the rate of the run over the attainable "
            "one.",
        ),
        known(
            "intensity-upside-down",
            (AMOUNT, "amount = n_bytes / flops"),
            says="The intensity is turned over: it is operations for each byte.",
        ),
        known(
            "names-exchanged",
            (BOUND, "amount < peak / bandwidth"),
            says="The two names have changed places: above the ridge operations are the limit.",
        ),
        known(
            "ridge-left-out",
            (BOUND, "amount > peak / bandwidth"),
            says="Exactly at the ridge both are the limit, and the task counts that as compute-bound: at least, not "
            "more than.",
        ),
    ),
)


def _link_cases(rng: Rng) -> list[Case]:
    sheet = (312e12, 2039e9, 600e9)
    rows = (
        ("the link is the limit", (10e9, 0.1e9, 3e9, *sheet)),
        ("the link is quicker than memory", (10e9, 20e9, 0.5e9, *sheet)),
        ("operations are the limit", (9e12, 20e9, 6e9, *sheet)),
        ("the link alone, one way", (1e9, 1e9, 2e9, 312e12, 1935e9, 64e9)),
        ("the link only just", (1e12, 10e9, 1.6e9, *sheet)),
        ("drawn", (1e9, float(rng.integers(1, 9)) * 1e9, float(rng.integers(4, 9)) * 1e9, *sheet)),
    )
    return [Case(label, args, frame="plain") for label, args in rows]


def _link(
    flops: float, n_bytes: float, link_bytes: float, peak: float, road: float, link: float
) -> tuple[np.ndarray, np.ndarray]:
    """By numpy: rates in a row, the link's one direction."""
    times = np.array([flops, n_bytes, link_bytes]) / np.array([peak, road, 0.5 * link])
    return times.max(), times.argmax()


LIMITS = "limits = [flops / peak, n_bytes / bandwidth, link_bytes / (link / 2)]"
LONGEST = "seconds = max(limits)"
ANSWER = "return seconds, limits.index(seconds)"

LINK = Task(
    id="11.link",
    name="time_with_link",
    title="One more roof",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="roofline-links",
    returns=("seconds", "limit"),
    cases=_link_cases,
    oracle=_link,
    frame="plain",
    mistakes=(
        known(
            "both-ways",
            (LIMITS, LIMITS.replace("(link / 2)", "link")),
            says="The link's number is taken as it stands: it counts both directions, and what goes one way gets half "
            "of it.",
        ),
        known(
            "doubled",
            (LIMITS, LIMITS.replace("(link / 2)", "(2 * link)")),
            says="The link's number is doubled: it counts both directions already, and what goes one way gets half "
            "of it.",
        ),
        known(
            "all-over-link",
            (LIMITS, LIMITS.replace("link_bytes /", "(n_bytes + link_bytes) /")),
            says="What moves between processor and memory is sent over the link as well: only `link_bytes` go there.",
        ),
        known(
            "link-forgotten",
            (LIMITS, "limits = [flops / peak, n_bytes / bandwidth]"),
            says="The link is no limit here: it is the third one.",
        ),
        known(
            "through-memory",
            (LIMITS, LIMITS.replace("n_bytes /", "(n_bytes + link_bytes) /")),
            says="What goes over the link is counted as memory traffic as well: `n_bytes` holds all of that already.",
        ),
        known(
            "added",
            (ANSWER, "return sum(limits), limits.index(seconds)"),
            says="The three times are added, as if one waited for the other: the roof lets them go on at once, so the "
            "longest counts.",
        ),
        known(
            "shortest",
            (LONGEST, "seconds = min(limits)"),
            says="The shortest of the times is taken: it is done when all three are.",
        ),
        known(
            "pair-swapped",
            (ANSWER, "return limits.index(seconds), seconds"),
            says="The two results have changed places: the seconds first, then the number of the limit.",
        ),
        known(
            "from-one",
            (ANSWER, "return seconds, limits.index(seconds) + 1"),
            says="The limits are numbered from 1: operations are 0, memory is 1, the link is 2.",
        ),
    ),
)
