"""Right answers to the tasks of chapter 11, each written in another way than the published solution."""

import math
import re
from fractions import Fraction

import numpy as np
import torch


def intensity_exact(reads, writes, operations, bits):
    return Fraction(8 * operations, bits * (reads + writes))


def intensity_numpy(reads, writes, operations, bits):
    return np.float64(operations) / np.sum([reads, writes]) / np.divide(bits, 8)


def moved_by_sets(steps, keep, n, bytes_per_number):
    made, read = {s[0] for s in steps}, set().union(*(s[1] for s in steps))
    return (
        bytes_per_number * n * (len(steps) + sum(len({*s[1]}) for s in steps)),
        bytes_per_number * n * len((read - made) | set(keep)),
    )


def moved_numpy(steps, keep, n, bytes_per_number):
    passes = np.array([np.unique(read).size + 1 for _, read in steps])
    everything = np.unique(np.concatenate([read for _, read in steps]))
    inputs = np.setdiff1d(everything, [made for made, _ in steps])
    return passes.sum() * n * bytes_per_number, (inputs.size + len(keep)) * n * bytes_per_number


def product_as_floats(t, d, f, bytes_per_number):
    return 2.0 * t * d * f, float(bytes_per_number) * (d * (t + f) + t * f)


def product_by_tensors(t, d, f, bytes_per_number):
    shapes = [(t, d), (d, f), (t, f)]
    return 2 * f * t * d, sum(torch.Size(shape).numel() for shape in shapes) * bytes_per_number


def sheet_by_pattern(text):
    number, prefix, binary, star = re.fullmatch(r"([\d.,]+) ([MGT])(i?)[^*]*(\*?)", text).groups()
    power = "MGT".index(prefix) + 2
    return float(number.replace(",", "")) * (1024 if binary else 1000) ** power * (0.5 if star else 1)


def ridge_of_times(sheet, dtype):
    seconds_for_a_byte, seconds_for_an_operation = 1 / sheet["memory"], 1 / sheet["dense"][dtype]
    return seconds_for_a_byte / seconds_for_an_operation


def ridge_torch(sheet, dtype):
    return torch.tensor(sheet["dense"][dtype], dtype=torch.float64).div(sheet["memory"])


def attainable_numpy(peak_tflops, bandwidth_gb_per_s, intensity):
    return np.minimum(peak_tflops * 1e3, bandwidth_gb_per_s * intensity) * 1e-3


def rows_rounded_up(d, f, bytes_per_number, ridge):
    reached = 2 * d * f / (bytes_per_number * (d + f))
    if reached <= ridge:
        return 0.0
    needed = ridge * bytes_per_number * d * f
    return float(np.ceil(needed / (2 * d * f - ridge * bytes_per_number * (d + f))))


def rows_by_reciprocals(d, f, bytes_per_number, ridge):
    left = 2 / (ridge * bytes_per_number) - 1 / d - 1 / f
    return math.ceil(1 / left) if left > 0 else 0


def near_by_times(flops, n_bytes, seconds, peak, bandwidth):
    computing, moving = flops / peak, n_bytes / bandwidth
    return max(computing, moving) / seconds, computing >= moving


def near_two_shares(flops, n_bytes, seconds, peak, bandwidth):
    shares = (flops / seconds / peak, n_bytes / seconds / bandwidth)
    return np.max(shares), int(shares[0] >= shares[1])


def time_at_once(operations, peak, bandwidth):
    return sum(max(flops / peak, moved / bandwidth) for flops, moved in operations)


def time_torch(operations, peak, bandwidth):
    table = torch.tensor(operations, dtype=torch.float64)
    return (table / torch.tensor([peak, bandwidth], dtype=torch.float64)).amax(1).sum()


def link_numpy(flops, n_bytes, link_bytes, peak, bandwidth, link):
    times = np.array([flops / peak, n_bytes / bandwidth, 2 * link_bytes / link])
    return times.max(), times.argmax()


RIGHT = {
    "11.intensity": [intensity_exact, intensity_numpy],
    "11.fuse": [moved_by_sets, moved_numpy],
    "11.product": [product_as_floats, product_by_tensors],
    "11.sheet": [sheet_by_pattern],
    "11.ridge": [ridge_of_times, ridge_torch],
    "11.attainable": [attainable_numpy],
    "11.rows": [rows_rounded_up, rows_by_reciprocals],
    "11.near": [near_by_times, near_two_shares],
    "11.time": [time_at_once, time_torch],
    "11.link": [link_numpy],
}
