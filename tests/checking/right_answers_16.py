"""Chapter 16: right answers written otherwise: loops, numpy, torch."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np


def phases_intensity(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    def time(tokens, extra):
        operations, moved = 2 * params * tokens, params * bytes_each + extra
        return operations / min(peak, bandwidth * operations / moved)

    return time(prompt, 0), time(batch, batch * cached * cache_bytes)


def phases_numpy(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    operations = 2 * params * np.array([prompt, batch])
    moved = params * bytes_each + np.array([0, batch * cached * cache_bytes])
    return np.maximum(operations / peak, moved / bandwidth)


def phases_branches(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    seconds = []
    for tokens, kept in ((prompt, 0), (batch, cached)):
        computing = tokens * params / (peak / 2)
        reading = params * bytes_each / bandwidth
        for _ in range(batch if kept else 0):
            reading += kept * cache_bytes / bandwidth
        seconds.append(computing if computing > reading else reading)
    return tuple(seconds)


def latencies_inverted(requests):
    first = [times[0] - arrival for arrival, times in requests]
    between = np.concatenate([np.diff(times) for _, times in requests])
    return tuple(np.percentile(values, [50, 95], method="inverted_cdf") for values in (first, between))


def latencies_loop(requests):
    first, between = [], []
    for arrival, times in requests:
        before = None
        for time in times:
            if before is None:
                first.append(time - arrival)
            else:
                between.append(time - before)
            before = time
    found = []
    for values in (first, between):
        values.sort()
        found.append([values[-(-percent * len(values) // 100) - 1] for percent in (50, 95)])
    return found


def latencies_fractions(requests):
    first = sorted(times[0] - arrival for arrival, times in requests)
    between = sorted(b - a for _, times in requests for a, b in pairwise(times))

    def at(values, share):
        return values[math.ceil(share * len(values)) - 1]

    return tuple([at(values, Fraction(1, 2)), at(values, Fraction(19, 20))] for values in (first, between))


RIGHT = {
    "16.phases": [phases_intensity, phases_numpy, phases_branches],
    "16.latencies": [latencies_inverted, latencies_loop, latencies_fractions],
}
