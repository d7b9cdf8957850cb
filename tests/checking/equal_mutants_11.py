"""Mutants of chapter 11 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "sums and products do not depend on the order of their terms"
ROUNDING = "a change of one part in a million million lies within the tolerance"
UNIT = "the public variant has the unit 1, and dividing by it, multiplying by it or leaving it away is the same"

EQUAL: list[tuple[str, str, str]] = [
    ("11.intensity", "moved = bytes_per_number * (reads + writes)", COMMUTES),
    ("11.intensity", "moved = (writes + reads) * bytes_per_number", COMMUTES),
    ("11.fuse", "apart = sum((1 + len(set(inputs)) for _, inputs in steps))", COMMUTES),
    ("11.fuse", "fused = len(keep) + len(given)", COMMUTES),
    ("11.fuse", "size = bytes_per_number * n", COMMUTES),
    ("11.fuse", "return (size * apart, fused * size)", COMMUTES),
    ("11.fuse", "return (apart * size, size * fused)", COMMUTES),
    ("11.product", "flops = f * (2 * t * d)", COMMUTES),
    ("11.product", "flops = d * (2 * t) * f", COMMUTES),
    ("11.product", "flops = t * 2 * d * f", COMMUTES),
    ("11.product", "numbers = t * f + (t * d + d * f)", COMMUTES),
    ("11.product", "numbers = d * f + t * d + t * f", COMMUTES),
    ("11.product", "numbers = t * d + d * f + f * t", COMMUTES),
    ("11.product", "numbers = d * t + d * f + t * f", COMMUTES),
    ("11.product", "numbers = t * d + f * d + t * f", COMMUTES),
    ("11.product", "return (flops, bytes_per_number * numbers)", COMMUTES),
    ("11.sheet", "powers = {'M': 1000000.0, 'G': 1000000000.0, 'T': 1000000000001.0}", ROUNDING),
    ("11.sheet", "return powers[unit[0]] * value / (2 if starred else 1)", COMMUTES),
    ("11.attainable", "unit = 1000000000001.0", ROUNDING),
    (
        "11.attainable",
        "return min(1000000000000.0 * peak_tflops, bandwidth_gb_per_s * 1000000000.0 * intensity) / unit",
        COMMUTES,
    ),
    (
        "11.attainable",
        "return min(peak_tflops * 1000000000000.0, intensity * (bandwidth_gb_per_s * 1000000000.0)) / unit",
        COMMUTES,
    ),
    (
        "11.attainable",
        "return min(peak_tflops * 1000000000001.0, bandwidth_gb_per_s * 1000000000.0 * intensity) / unit",
        ROUNDING,
    ),
    (
        "11.attainable",
        "return min(peak_tflops * 1000000000000.0, 1000000000.0 * bandwidth_gb_per_s * intensity) / unit",
        COMMUTES,
    ),
    ("11.rows", "gain = f * (2 * d) - ridge * bytes_per_number * (d + f)", COMMUTES),
    ("11.rows", "gain = 2 * d * f - (d + f) * (ridge * bytes_per_number)", COMMUTES),
    ("11.rows", "gain = d * 2 * f - ridge * bytes_per_number * (d + f)", COMMUTES),
    ("11.rows", "gain = 2 * d * f - bytes_per_number * ridge * (d + f)", COMMUTES),
    ("11.rows", "gain = 2 * d * f - ridge * bytes_per_number * (f + d)", COMMUTES),
    ("11.rows", "return math.ceil(f * (ridge * bytes_per_number * d) / gain)", COMMUTES),
    ("11.rows", "return math.ceil(d * (ridge * bytes_per_number) * f / gain)", COMMUTES),
    ("11.rows", "return math.ceil(bytes_per_number * ridge * d * f / gain)", COMMUTES),
    ("11.near", "best = min(peak, amount * bandwidth)", COMMUTES),
    ("11.time", "return seconds * unit", UNIT),
    ("11.time", "return seconds", UNIT),
]
