"""Lecture 001, arithmetic intensity and the roofline: the definition, the minimum, an A100, and three loops or one."""

from collections.abc import Callable
from math import isclose

import numpy as np

from softlookup.slide_audit.compare import claim
from softlookup.slide_audit.item import Found, audited

PEAK = 312e12
"""FLOP/s: half precision on an A100's matrix units, dense, as the slide's table prints it."""
CORES = 19.5e12
"""FLOP/s: float32 on its ordinary cores."""
PCIE, SXM = 1935e9, 2039e9
"""Bytes/s of its memory in the two forms that the slide's table has."""
SLIDE_BANDWIDTH = 800e9
"""Bytes/s as the slide's division has it."""
RIDGE = PEAK / SXM

FLOAT = 4
"""Bytes of a float in the slide's loops."""


def attainable(intensity: float, peak: float = PEAK, bandwidth: float = SXM) -> float:
    """The most operations a second at an intensity: the smaller of peak and bandwidth times intensity."""
    return min(peak, bandwidth * intensity)


class Watched:
    """An array that counts how often its places are read and written."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers, self.reads, self.writes = numbers, 0, 0

    def __getitem__(self, at: int) -> float:
        self.reads += 1
        return float(self.numbers[at])

    def __setitem__(self, at: int, number: float) -> None:
        self.writes += 1
        self.numbers[at] = number


def _add(a: Watched, b: Watched, c: Watched) -> None:
    for i in range(len(c.numbers)):
        c[i] = a[i] + b[i]


def _mul(a: Watched, b: Watched, c: Watched) -> None:
    for i in range(len(c.numbers)):
        c[i] = a[i] * b[i]


def _chain(a: Watched, b: Watched, c: Watched, d: Watched, e: Watched, tmp1: Watched, tmp2: Watched) -> None:
    _add(a, b, tmp1)
    _mul(tmp1, c, tmp2)
    _add(tmp2, d, e)


def _fused(a: Watched, b: Watched, c: Watched, d: Watched, e: Watched, *_: Watched) -> None:
    for i in range(len(e.numbers)):
        e[i] = d[i] + (a[i] + b[i]) * c[i]


def watched(work: Callable[..., None], arrays: int, n: int = 16) -> tuple[int, int, np.ndarray]:
    """Run a loop on watched arrays.

    Args:
        work: The loop.
        arrays: How many arrays it takes.
        n: Numbers in each.

    Returns:
        Reads and writes for each place, and the last of the results: the third array of three, the fifth of seven.
    """
    rng = np.random.default_rng(0)
    given = [Watched(rng.standard_normal(n)) for _ in range(arrays)]
    work(*given)
    reads, writes = (sum(getattr(one, what) for one in given) // n for what in ("reads", "writes"))
    return reads, writes, given[2 if arrays == 3 else 4].numbers


@audited(
    "E138",
    lecture="001",
    slide="Arithmetic intensity: what it is for",
    section="11_roofline#roofline-bound",
    states="Arithmetic intensity is operations for each byte, and one judges by it how efficient an algorithm is.",
    verdict="misleading",
    tell="Useless operations raise it. What grows when work is wasted cannot measure efficiency; it says which limit "
    "an algorithm meets. How near a run comes to that limit is the efficiency.",
)
def intensity_is_efficiency() -> Found:
    moved = 5 * FLOAT
    plain, padded = (operations / moved for operations in (3, 300))
    plain_s, padded_s = (
        max(operations / CORES, moved / SXM) for operations in (3, 300)
    )  # the same result, the same bytes, and useless work on top
    quicker = padded_s < plain_s
    return claim(
        quicker,
        f"The definition is right. But add useless operations to a loop until its intensity is {padded:g} instead of "
        f"{plain:g} FLOP/byte: the result is the same and the least time on an A100 is {padded_s / plain_s:.2f} times "
        "as long. A higher intensity is not a better program.",
    )


@audited(
    "E139",
    lecture="001",
    slide="The roofline as a formula",
    section="11_roofline#roofline-roof",
    states="TFLOPS/s are the smaller of a peak in TFLOPS/s and a bandwidth in GB/s times the intensity.",
    verdict="wrong",
    tell="Units: GB/s times FLOP/byte is GFLOP/s, and its neighbour in the minimum is in TFLOP/s. The S of TFLOPS is "
    "the second already.",
    cause="A prefix was lost: giga beside tera. The formula is right as soon as both sides have one unit.",
)
def roofline_units() -> Found:
    intensity = 100.0
    right = attainable(intensity) / 1e12
    printed = min(PEAK / 1e12, SXM / 1e9 * intensity)
    return claim(
        isclose(printed, right),
        f"At {intensity:g} FLOP/byte an A100 SXM can reach {right:.1f} TFLOP/s. The second term as printed comes to "
        f"{SXM / 1e9 * intensity:,.0f}, {SXM / 1e9 * intensity / right:.0f} times too large, and the minimum comes to "
        f"{printed:.0f}: memory would be the limit only below {PEAK / 1e12 / (SXM / 1e9):.3f} FLOP/byte.",
    )


@audited(
    "E140",
    lecture="001",
    slide="The roofline: which limit holds",
    section="11_roofline#roofline-bound",
    states="What holds a program up is computing if its intensity is high, and fetching if it is low.",
    verdict="correct",
    tell="One term of the minimum grows with the intensity and the other does not; so there is one crossing.",
)
def which_limit() -> Found:
    intensities = np.geomspace(0.01, 10_000, 61)
    memory = np.array([attainable(i) < PEAK for i in intensities])
    return claim(
        np.array_equal(memory, intensities < RIDGE),
        f"High and low are relative to the ridge, peak over bandwidth: {RIDGE:.0f} FLOP/byte for half precision on an "
        f"A100 SXM, {CORES / SXM:.1f} for float32.",
    )


@audited(
    "E141",
    lecture="001",
    slide="Why a roofline model",
    section="11_roofline#roofline-bound",
    states="A sentence on when to stop optimising, whose subject is spelled 'mode'.",
    verdict="wrong",
    tell="The slide before writes the word in full. A spell-checker does not help: a mode is a word, too.",
)
def mode_or_model() -> Found:
    printed, before = "mode", "Roofline model".split()[-1]
    return claim(
        printed == before,
        f"It should read '{before}', {len(before) - len(printed)} letter more. What the sentence says is right: at the "
        "roof, there is nothing left to gain without fewer bytes or fewer operations.",
    )


@audited(
    "E142",
    lecture="001",
    slide="An A100's balance: the division",
    section="11_roofline#roofline-sheet",
    states="312 TFLOPS divided by 800 GB/s are 390 operations for each byte.",
    verdict="correct",
    tell="TFLOPS over GB/s brings a factor of a thousand: 312 over 0.8.",
)
def balance_division() -> Found:
    true = PEAK / SLIDE_BANDWIDTH
    return claim(isclose(true, 390), f"The division is right, {true:.0f}. What is divided is another matter: E143.")


def rows_needed(ridge: float, width: int = 4096) -> int:
    """How many rows must meet a square matrix, in half precision, for an intensity at the ridge."""
    return int(np.ceil(ridge * width / (width - 2 * ridge)))


@audited(
    "E143",
    lecture="001",
    slide="An A100's balance: the bandwidth",
    section="11_roofline#roofline-sheet",
    states="An A100's memory brings 800 GB/s, so that its balance is 390 operations for each byte.",
    verdict="inconsistent",
    tell="The table right below prints the memory's bandwidth: 1,935 GB/s for one form, 2,039 GB/s for the other.",
)
def balance_bandwidth() -> Found:
    printed, table_has = SLIDE_BANDWIDTH, (PCIE, SXM)
    slide = PEAK / printed
    ridges = [PEAK / one for one in table_has]
    need = rows_needed(RIDGE), rows_needed(slide)
    return claim(
        printed in table_has,
        f"By the slide's own table the ridge is {ridges[0]:.1f} or {ridges[1]:.1f} FLOP/byte; {slide:.0f} is "
        f"{slide / RIDGE:.2f} times too high. It changes answers: a matrix of 4096 x 4096 is worth the units' while "
        f"from {need[0]} rows on, not {need[1]}; of sentences of 50 tokens, {-(-need[0] // 50)} and not "
        f"{-(-need[1] // 50)}.",
    )


@audited(
    "E144",
    lecture="001",
    slide="An A100's balance: its name",
    section="11_roofline#roofline-sheet",
    states="Peak over bandwidth is called the A100's arithmetic intensity.",
    verdict="misleading",
    tell="By the definition a few slides before, an intensity counts the operations of a program. A machine has none.",
)
def balance_name() -> Found:
    n = 4096
    programs = {"an addition": 1 / (3 * FLOAT), "a product of 4096 x 4096": 2 * n**3 / (3 * 2 * n**2)}
    return claim(
        all(isclose(one, PEAK / SLIDE_BANDWIDTH) for one in programs.values()),
        "On one and the same machine "
        + ", ".join(f"{name} has {one:,.2f} FLOP/byte" for name, one in programs.items())
        + ". Peak over bandwidth is the machine's ridge, or balance: the intensity at which its limits meet.",
    )


@audited(
    "E145",
    lecture="001",
    slide="Specifications of the A100 80GB",
    section="11_roofline#roofline-sheet",
    states="The maker's table of the A100: rates by kind of number, memory, power, connections.",
    verdict="correct",
    source=("nvidia2021a100",),
    tell="Units times operations a tick times ticks a second gives every rate. Rates with a star are twice the ones "
    "without; the star's footnote (half of the weights are zeros in a fixed pattern) is missing from the text, "
    "and a dense product never reaches them.",
)
def a100_table() -> Found:
    clock, multiprocessors = 1.41e9, 108
    matrix_units = 4 * multiprocessors
    dense = {
        "FP64": (9.7, 32 * multiprocessors * 2),
        "FP32": (19.5, 64 * multiprocessors * 2),
        "FP64 Tensor Core": (19.5, matrix_units * 32),
        "TF32": (156.0, matrix_units * 256),
        "FP16": (312.0, matrix_units * 512),
        "INT8": (624.0, matrix_units * 1024),
    }
    made = {name: each * clock / 1e12 for name, (_, each) in dense.items()}
    rates = all(abs(made[name] - printed) < 5e-3 * printed for name, (printed, _) in dense.items())
    starred = [312 / 156, 624 / 312, 1248 / 624]
    links = {"NVLink": (600, 12 * 50), "PCIe Gen4": (64, 2 * 16 * 16 / 8)}  # links of 50 GB/s; lanes of 16 GT/s
    fits = 7 * 10 <= 80
    return claim(
        rates and set(starred) == {2.0} and fits and all(printed == one for printed, one in links.values()),
        f"It is the data sheet's. From {multiprocessors} multiprocessors at {clock / 1e9} GHz: "
        + ", ".join(f"{name} {rate:.1f}" for name, rate in made.items())
        + " TFLOP/s (INT8: operations). Starred rates are twice these, with sparsity. The PCIe card reaches NVLink's "
        "600 GB/s through a bridge alone, which joins two cards.",
    )


@audited(
    "E146",
    lecture="001",
    slide="Adding two arrays: the intensity",
    section="11_roofline#roofline-intensity",
    states="An addition of arrays is given the intensity 1/3, from three accesses to memory for one operation.",
    verdict="inconsistent",
    tell="The deck defines the intensity with bytes below the line; loads and stores are numbers, of four bytes each.",
    cause="Numbers were counted as if each were one byte.",
)
def addition_intensity() -> Found:
    reads, writes, _ = watched(_add, 3)
    each, by_byte = 1 / (reads + writes), 1 / (FLOAT * (reads + writes))
    bound = attainable(by_byte, CORES)
    return claim(
        isclose(1 / 3, by_byte),
        f"{each:.3f} operations for each number, but {by_byte:.4f} for each byte. On an A100 SXM that is at most "
        f"{bound / 1e9:.0f} GFLOP/s, {100 * bound / CORES:.2f} % of the ordinary cores' peak; the printed number "
        f"would promise {attainable(1 / 3, CORES) / 1e9:.0f}.",
    )


@audited(
    "E147",
    lecture="001",
    slide="Adding two arrays: the steps",
    section="11_roofline#roofline-intensity",
    states="For each place: read from A, read from B, add, store in C.",
    verdict="correct",
    tell="Each name on the right of the assignment is a read, the one on the left a write.",
)
def addition_steps() -> Found:
    reads, writes, _ = watched(_add, 3)
    return claim(
        (reads, writes) == (2, 1), f"The loop, watched: {reads} reads and {writes} write for each place, one addition."
    )


@audited(
    "E148",
    lecture="001",
    slide="Three loops: the intensity of all",
    section="11_roofline#roofline-fusing",
    states="Add, multiply, add in three loops: an overall arithmetic intensity of 1/3.",
    verdict="inconsistent",
    tell="As in E146 the unit: numbers are counted where the definition says bytes. That three loops in a row have the "
    "intensity of each is right, since all three have the same.",
    cause="Numbers were counted as if each were one byte.",
)
def chain_intensity() -> Found:
    reads, writes, _ = watched(_chain, 7)
    by_byte = 3 / (FLOAT * (reads + writes))
    return claim(
        isclose(1 / 3, by_byte),
        f"3 operations for {reads + writes} numbers are {3 / (reads + writes):.3f} for each number, and {by_byte:.4f} "
        "for each byte.",
    )


@audited(
    "E149",
    lecture="001",
    slide="One loop: the intensity",
    section="11_roofline#roofline-fusing",
    states="The single loop is given the intensity 3/5, from five accesses to memory for three operations.",
    verdict="inconsistent",
    tell="The count of loads and stores is right; the definition asks for bytes, and a float has four.",
    cause="Numbers were counted as if each were one byte.",
)
def fused_intensity() -> Found:
    reads, writes, _ = watched(_fused, 7)
    by_byte = 3 / (FLOAT * (reads + writes))
    return claim(
        isclose(3 / 5, by_byte),
        f"{reads} reads and {writes} write: {3 / (reads + writes):.2f} operations for each number, {by_byte:.2f} for "
        "each byte.",
    )


@audited(
    "E150",
    lecture="001",
    slide="Three loops or one: which is better",
    section="11_roofline#roofline-fusing",
    states="The single loop performs better than the three.",
    verdict="correct",
    tell="Strike out what is written only to be read again: both temporary arrays, each of them written and read. "
    "Where memory is the limit, time goes as bytes; that there is one call instead of three does not matter.",
)
def one_loop_wins() -> Found:
    (chain_reads, chain_writes, apart), (reads, writes, together) = watched(_chain, 7), watched(_fused, 7)
    before, after = FLOAT * (chain_reads + chain_writes), FLOAT * (reads + writes)
    times = [max(3 / CORES, moved / SXM) for moved in (before, after)]
    return claim(
        times[1] < times[0] and bool(np.allclose(apart, together)),
        f"{before} bytes for each place become {after}: {times[0] / times[1]:.2f} times as quick while memory is the "
        "limit, with the same result.",
    )


@audited(
    "E167",
    lecture="001",
    slide="Two limits, and exhausting both",
    section="11_roofline#roofline-bound",
    states="Peak and bandwidth are the limits; to exhaust both at the same time is often impossible.",
    verdict="correct",
    tell="A minimum of two terms equals both only where they are equal: at one intensity, the ridge.",
)
def both_at_once() -> Found:
    intensities = np.append(np.geomspace(0.01, 10_000, 200), RIDGE)
    units = np.array([attainable(i) / PEAK for i in intensities])
    memory = np.array([attainable(i) / i / SXM for i in intensities])
    both = np.isclose(units, 1) & np.isclose(memory, 1)
    return claim(
        bool(both.sum() == 1 and both[-1] and np.isclose(np.maximum(units, memory), 1).all()),
        f"Of {intensities.size} intensities both limits are reached at {both.sum()}, the ridge of {RIDGE:.0f} "
        "FLOP/byte; everywhere else one of the two idles.",
    )
