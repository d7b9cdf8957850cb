"""What a server's users feel, in a few numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf

from softlookup.serving.request import Request


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many of a hundred do not exceed, by the nearest rank.

    Args:
        values: At least one, in any order.
        percent: Above 0, at most 100.

    Returns:
        One of the values: nothing is interpolated.

    Raises:
        ValueError: If there is no value, or percent is out of its range.
    """
    if not values or not 0 < percent <= 100:
        raise ValueError(f"{len(values)} values, percent {percent}; wanted at least one, and above 0 to 100")
    # Exactly: 64.4 % of 250 values are 161 of them, but 161.00000000000003 in floating point.
    return sorted(values)[ceil(Fraction(str(percent)) * len(values) / 100) - 1]


@dataclass(frozen=True)
class Latency:
    """The latencies of served requests.

    Attributes:
        first_p50_s: Half of the requests had their first token after so many seconds.
        first_p95_s: And 95 of 100.
        between_p50_s: Of the waits from one token to the next, half were at most so long, in seconds.
        between_p95_s: And 95 of 100; 0 if no answer had a second token.
        tokens_per_s: Tokens of answers, a second from the first arrival to the last token; infinite if no time passed.
        finished: How many requests had all of their answer.
        refused: How many were refused.
    """

    first_p50_s: float
    first_p95_s: float
    between_p50_s: float
    between_p95_s: float
    tokens_per_s: float
    finished: int
    refused: int


def latency(requests: Sequence[Request]) -> Latency:
    """Sum up what became of requests.

    Args:
        requests: After they were served; those without a token count among the refused or not at all.

    Returns:
        Percentiles and throughput.

    Raises:
        ValueError: If none of them has a token.
    """
    served = [request for request in requests if request.times_s]
    if not served:
        raise ValueError(f"none of {len(requests)} requests has a token")
    first = [request.first_token_s for request in served]
    between = [wait for request in served for wait in request.between_s] or [0.0]
    seconds = max(request.times_s[-1] for request in served) - min(request.arrival_s for request in served)
    return Latency(
        percentile(first, 50),
        percentile(first, 95),
        percentile(between, 50),
        percentile(between, 95),
        sum(len(request.times_s) for request in served) / seconds if seconds else inf,
        sum(request.state == "finished" for request in requests),
        sum(request.state == "refused" for request in requests),
    )
