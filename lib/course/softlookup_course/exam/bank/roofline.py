"""Questions on chapter 11: arithmetic intensity and the roofline."""

import numpy as np

from softlookup import roofline as rl
from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(11)

_NAMES = {4: "float32", 2: "bfloat16"}


def _machine(peak_tera: float, tera_bytes: float) -> rl.Hardware:
    return rl.Hardware("a machine", {"bfloat16": peak_tera * 1e12}, tera_bytes * 1e12, 80e9, "drawn for an exam")


@ask("intensity", "number", points=3, minutes=4)
def intensity(rng: np.random.Generator) -> Drawn:
    size = pick(rng, 2, 4)
    formula, reads, ops = pick(
        rng,
        ("y = a x + b", 1, 2),
        ("y = x \\cdot z + x", 2, 2),
        ("y = x^2 + z^2", 2, 3),
        ("y = (x + z) \\cdot u + x", 3, 3),
        ("y = x + z + u + v", 4, 3),
    )
    numbers = tuple(rl.Moved(f"array {i}", (1,), size) for i in range(reads))
    step = rl.Operation("a step", 0, ops, numbers, (rl.Moved("y", (1,), size),))
    return posed(
        f"Long arrays of {_NAMES[size]} are combined place by place, in one pass: $y_i$ by ${formula}$ (letters other "
        "than $a$ and $b$ are arrays; each is read once). Give the arithmetic intensity in operations per byte.",
        step.intensity,
        f"{ops} operations; {reads} number{'s are' if reads > 1 else ' is'} read and one is written, {size} bytes "
        f"each: ${tex(step.intensity)}$ FLOP/B.",
        ((1, "operations"), (1, "numbers read and written"), (1, "bytes, and the quotient")),
        {"formula": formula, "size": size},
        known("11.intensity", "elements-for-bytes", step.intensity * size),
        known("11.intensity", "stores-forgotten", ops / (reads * size)),
        known("11.intensity", "upside-down", 1 / step.intensity),
    )


@ask("attainable", "number", points=4, minutes=5)
def attainable(rng: np.random.Generator) -> Drawn:
    bandwidth, peak = pick(rng, 1, 2, 3, 4), pick(rng, 120, 240, 300, 360)
    machine = _machine(peak, bandwidth)
    low, high = pick(rng, 10, 20, 25), pick(rng, 400, 500)
    bend = rl.ridge(machine, "bfloat16")
    reach = tuple(rl.attainable_flops_per_s(machine, i, "bfloat16") / 1e12 for i in (low, high))
    return posed(
        f"A machine computes {peak} TFLOP/s (dense) and reads {bandwidth} TB/s. (a) Where is its ridge? What can a "
        f"computation reach that has (b) {low} FLOP/B, (c) {high} FLOP/B? (d) A run of (b) measures "
        f"{reach[0] * 0.9:g} TFLOP/s. Is there much left to gain without fewer bytes?",
        (bend, *reach),
        f"(a) $P/\\beta = {tex(bend)}$ FLOP/B. (b) $\\beta I = {tex(reach[0])}$ TFLOP/s. (c) ${tex(reach[1])}$ "
        "TFLOP/s, the peak. (d) No: it reaches 90 % of what is attainable at its intensity, though only "
        f"{100 * 0.9 * reach[0] / peak:.3g} % of the peak.",
        ((1, "(a)"), (1, "(b), with units"), (1, "(c)"), (1, "(d), against what is attainable")),
        {"bandwidth": bandwidth, "peak": peak, "low": low, "high": high},
        known("11.attainable", "slope-always", (bend, reach[0], float(bandwidth * high))),
        known("11.attainable", "peak-always", (bend, float(peak), float(peak))),
        known("11.ridge", "upside-down", (1 / bend, *reach)),
    )


@ask("time", "number", points=4, minutes=5)
def least_time(rng: np.random.Generator) -> Drawn:
    bandwidth, peak = pick(rng, 1, 2, 4), pick(rng, 100, 200, 400)
    machine = _machine(peak, bandwidth)
    flops, data = pick(rng, 2, 4, 6, 8, 20) * 1e11, pick(rng, 2, 4, 8, 12) * 1e9
    seconds = (flops / (peak * 1e12), data / (bandwidth * 1e12))
    if seconds[0] == seconds[1]:
        return least_time(rng)
    value = rl.predicted_time_s(machine, flops, data, "bfloat16") * 1e3
    bound = "operations" if seconds[0] > seconds[1] else "memory"
    assert (rl.bound_by(machine, flops / data, "bfloat16") == "memory") == (bound == "memory")
    ms = tuple(1e3 * s for s in seconds)
    return posed(
        f"On a machine with {peak} TFLOP/s and {bandwidth} TB/s a kernel does {flops / 1e9:g} GFLOP and moves "
        f"{data / 1e9:g} GB. Give the least time in milliseconds, and what holds it up. What would twice the peak "
        "change, and what half of the bytes?",
        (round(value, 9), bound),
        f"Operations take ${tex(ms[0])}$ ms, bytes ${tex(ms[1])}$ ms; both go on at once, so ${tex(value)}$ ms, held "
        f"up by {bound}. Twice the peak: ${tex(max(ms[0] / 2, ms[1]))}$ ms. Half the bytes: "
        f"${tex(max(ms[0], ms[1] / 2))}$ ms.",
        ((2, "both times, with their prefixes"), (1, "the longer, and its name"), (1, "both changes")),
        {"bandwidth": bandwidth, "peak": peak, "flops": flops, "data": data},
        known("11.time", "added", (round(sum(ms), 9), bound)),
        known("11.time", "shorter", (round(min(ms), 9), "memory" if bound == "operations" else "operations")),
    )


@ask("fuse", "number", points=3, minutes=4)
def fuse(rng: np.random.Generator) -> Drawn:
    size = pick(rng, 2, 4)
    steps, arrays = pick(
        rng,
        ("u = x + y, \\quad v = u \\cdot z, \\quad r = v + w", 4),
        ("u = x \\cdot y, \\quad v = u + x, \\quad r = v \\cdot z", 3),
        ("u = x + y, \\quad v = u \\cdot u, \\quad r = v + z", 3),
    )
    reads = {"u = x + y, \\quad v = u \\cdot z, \\quad r = v + w": 6}.get(steps, 6 if "v = u + x" in steps else 5)
    apart, fused = (reads + 3) * size, (arrays + 1) * size
    first = rl.Operation(
        "fused", 0, 3, tuple(rl.Moved(str(i), (1,), size) for i in range(arrays)), (rl.Moved("r", (1,), size),)
    )
    assert first.bytes == fused
    return posed(
        f"Three passes over long arrays of {_NAMES[size]} compute ${steps}$; a pass reads each of its arrays once. How "
        "many bytes are moved for each place (a) in three passes, (b) in one, where only $r$ is needed afterwards? (c) "
        "By which factor does the number of operations change?",
        (apart, fused, 1),
        f"(a) {reads} numbers are read and 3 written: {apart} bytes. (b) {arrays} read, one written: {fused} bytes. "
        "(c) Not at all, a factor of 1: fusing saves bytes.",
        ((1, "(a)"), (1, "(b): what lies in between is neither written nor read"), (1, "(c)")),
        {"steps": steps, "size": size},
        known("11.fuse", "middle-written", (apart, fused + 2 * size, 1)),
        known("11.fuse", "elements-for-bytes", (apart // size, fused // size, 1)),
        known("11.fuse", "stores-forgotten", (reads * size, arrays * size, 1)),
    )


@ask("roof", "sketch", points=4, minutes=6)
def roof(rng: np.random.Generator) -> Drawn:
    bandwidth, peak = pick(rng, 1, 2, 4), pick(rng, 100, 200, 400)
    bend = rl.ridge(_machine(peak, bandwidth), "bfloat16")
    points = (("an addition of float32", 1 / 12), ("a vector times a large matrix", 1.0), ("a large product", 1000.0))
    reach = [rl.attainable_flops_per_s(_machine(peak, bandwidth), i, "bfloat16") / 1e12 for _, i in points]
    return posed(
        f"Sketch the roof of a machine with {peak} TFLOP/s and {bandwidth} TB/s, with logarithmic axes. Name the axes, "
        "and mark the ridge and three computations: an addition of two arrays of float32 (one operation, three numbers "
        "moved), a vector times a large matrix in half precision, and a product with 1000 FLOP/B.",
        None,
        f"Across: intensity in FLOP/B; up: FLOP/s. A line of slope 1 that bends at ${tex(bend)}$ FLOP/B into a level "
        f"of {peak} TFLOP/s. The computations lie at $\\tfrac{{1}}{{12}}$, about 1 and 1000 FLOP/B, on the roof at "
        + ", ".join(f"{r:.3g}" for r in reach)
        + " TFLOP/s.",
        (
            (1, "axes with names, both logarithmic"),
            (1, "slope and level meet at the ridge"),
            (1, "two computations left of it"),
            (1, "one right of it, on the level"),
        ),
        {"bandwidth": bandwidth, "peak": peak},
        mistake(None, "Draws computations above the roof."),
        mistake(None, "Lets the slope begin at 0 on linear axes."),
    )


@ask("product", "number", points=3, minutes=4)
def rows(rng: np.random.Generator) -> Drawn:
    side, tokens = pick(rng, 64, 128, 256), pick(rng, 16, 32)
    if tokens == side:
        return rows(rng)
    matmul = rl.product(
        "x w", rl.Moved("x", (tokens, side)), rl.Moved("w", (side, side)), rl.Moved("y", (tokens, side)), side
    )
    answer = matmul.intensity
    return posed(
        f"{tokens} rows of half precision meet a matrix of {side} × {side}. Give operations, bytes and the intensity "
        "as a fraction. Which value does the intensity approach for very many rows?",
        (matmul.flops, matmul.bytes, answer, side / 2),
        f"$2 \\cdot {tokens} \\cdot {side}^2 = {tex(matmul.flops)}$ operations; ${tex(matmul.elements)}$ numbers, "
        f"${tex(matmul.bytes)}$ bytes; ${tex(answer)}$ FLOP/B. From $1/I = 1/T + 1/D + 1/F$, for many rows "
        f"{side // 2}.",
        ((1, "operations"), (1, "bytes: both inputs and the result"), (1, "intensity and its limit")),
        {"tokens": tokens, "side": side},
        known("11.product", "one-operation", (matmul.flops // 2, matmul.bytes, answer / 2, side / 4)),
        known("11.product", "elements-for-bytes", (matmul.flops, matmul.bytes // 2, 2 * answer, side)),
        known("11.product", "result-forgotten"),
    )


ask.false(
    "double-rows",
    "A few rows meet a large matrix, far below the ridge. By the roofline, twice as many rows take twice the time.",
    "The model counts one fetch of the matrix for all rows, and that is what takes the time: nearly the same time.",
)
ask.true(
    "sparse-star",
    "A peak marked *with sparsity* on a data sheet is twice what a dense product can reach.",
    "It holds where half of a weight matrix is zeros in the 2:4 pattern; dense is half of it.",
)
ask.false(
    "low-share",
    "A kernel that reaches 1 % of the peak can always be made much quicker.",
    "Left of the ridge what counts is bandwidth times intensity; it may be at that limit already.",
)
