"""Mutants of chapter 11 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "sums and products do not depend on the order of their terms"
ROUNDING = "a change of one part in a million million lies within the tolerance"
UNIT = "the public variant has the unit 1, and dividing by it, multiplying by it or leaving it away is the same"

EQUAL: list[tuple[str, ...]] = [
    ("11.intensity", "moved = (writes + reads) * bytes_per_number", COMMUTES),
    ("11.sheet", "powers = {'M': 1000000.0, 'G': 1000000000.0, 'T': 1000000000001.0}", ROUNDING),
    ("11.attainable", "unit = 1000000000001.0", ROUNDING),
    (
        "11.attainable",
        "return min(peak_tflops * 1000000000001.0, bandwidth_gb_per_s * 1000000000.0 * intensity) / unit",
        ROUNDING,
    ),
    ("11.time", "return seconds * unit", UNIT),
    ("11.time", "return seconds", UNIT),
]
