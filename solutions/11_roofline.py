# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 11 · Arithmetic intensity and the roofline
#
# You will count operations and bytes, read a data sheet without falling into its traps, find where a machine's roof bends, and say of a computation how
# quick it can be and what stands in its way.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it, as often as you like. The chapter is *Arithmetic
# intensity and the roofline* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 11-slow | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Conventions.** All arguments are plain numbers, texts, lists or dictionaries, and so are the answers: no tensors in this notebook. A multiply-add is **two** operations. Rates are in operations a second (FLOP/s), bandwidths in bytes a
# second, with prefixes only where a name says so (`_tflops`, `_gb_per_s`); a prefix is a power of ten: 1 GB = $10^9$ bytes, 1 GiB = $2^{30}$ bytes. Bytes are what the program names: every operand read once, every result written once.
# **Letters.** `T` rows meet a matrix of `D` rows and `F` columns.

# %% 11-setup
import math

from softlookup import check, hint

# %% [markdown]
# ## Arithmetic intensity
#
# [[task 11.intensity]]
#
# An elementwise loop reads `reads` numbers for each place of its arrays, writes `writes`, and does `operations` additions or multiplications. Each number has `bits` bits, which may be fewer than 8. Return its arithmetic intensity: operations for each byte.


# %% 11-intensity
def intensity(reads, writes, operations, bits):
    """Four whole numbers -> operations for each byte, a float."""
    ### BEGIN SOLUTION
    bytes_per_number = bits / 8
    moved = (reads + writes) * bytes_per_number
    return operations / moved
    ### END SOLUTION


# %% [markdown]
# [[task 11.fuse]]
#
# A small program is a list of steps, in order. Each step is a list of two: the name of the array it makes, and the names of the arrays it reads, such as `["x", ["a", "b"]]`; a name may stand there twice. No name is made twice. All arrays
# have `n` numbers of `bytes_per_number` bytes. `keep` lists those of the made arrays that are wanted in the end; no other is.
#
# Return two whole numbers, the bytes that move between memory and processor: **apart**, where every step is a pass of its own, which reads each of its arrays once (one that it names twice, too, is read once) and writes what it makes; and
# **fused**, where all steps are done place by place in one pass: what the program is given is read once, what is in `keep` is written once, and everything else stays inside the processor.


# %% 11-fuse
def bytes_moved(steps, keep, n, bytes_per_number):
    """[[made, [read, ...]], ...], [name, ...], two numbers -> bytes apart, bytes fused."""
    ### BEGIN SOLUTION
    apart = sum(len(set(inputs)) + 1 for _, inputs in steps)
    made = {output for output, _ in steps}
    given = {name for _, inputs in steps for name in inputs} - made
    fused = len(given) + len(keep)
    size = n * bytes_per_number
    return apart * size, fused * size
    ### END SOLUTION


# %% [markdown]
# [[task 11.product]]
#
# A matrix product $(T, D) @ (D, F)$, every number of `bytes_per_number` bytes. Return two whole numbers: its operations, and its bytes with each operand read once and the result written once.


# %% 11-product
def product_cost(t, d, f, bytes_per_number):
    """T, D, F and the bytes of a number -> operations, bytes."""
    ### BEGIN SOLUTION
    flops = 2 * t * d * f
    numbers = t * d + d * f + t * f
    return flops, numbers * bytes_per_number
    ### END SOLUTION


# %% [markdown]
# ## What a machine can do
#
# [[task 11.sheet]]
#
# Data sheets print texts such as `"312 TFLOPS"`, `"1,979 TFLOPS*"`, `"1,248 TOPS*"`, `"3.35 TB/s"`, `"80 GB"` or `"40 GiB"`: a number, one space, a unit, perhaps a star. A comma parts thousands. The unit begins with its prefix, one of M,
# G, T (powers of ten) or Mi, Gi, Ti (powers of two: $2^{20}$, $2^{30}$, $2^{40}$). A star says *with 2:4 sparsity*, where the printed number is twice the dense one. Return the number without its prefix, in operations a second, bytes a
# second or bytes, and **dense**: halved where there is a star.


# %% 11-sheet
def read_sheet(text):
    """A text from a data sheet -> a number without prefix."""
    ### BEGIN SOLUTION
    number, unit = text.rstrip("*").split()
    value = float(number.replace(",", ""))
    powers = {"M": 1e6, "G": 1e9, "T": 1e12}
    if unit[1] == "i":
        powers = {"M": 2**20, "G": 2**30, "T": 2**40}
    starred = text.endswith("*")
    return value * powers[unit[0]] / (2 if starred else 1)
    ### END SOLUTION


# %% [markdown]
# [[task 11.ridge]]
#
# A data sheet, read: `sheet["dense"]` and `sheet["sparse"]` are dictionaries from kinds of numbers (`"float32"`, `"bfloat16"`, ...) to operations a second, `sheet["memory"]` is the bandwidth of the memory and `sheet["NVLink"]` that of the
# link to another processor, both in bytes a second. Return the intensity at which the roof of **dense** products with operands in **memory** bends, for the kind of number `dtype`.


# %% 11-ridge
def ridge(sheet, dtype):
    """A dictionary and a name -> operations for each byte."""
    ### BEGIN SOLUTION
    return sheet["dense"][dtype] / sheet["memory"]
    ### END SOLUTION


# %% [markdown]
# [[task 11.attainable]]
#
# Return the most that a computation can reach, in **[[11.attainable:named]]**. The peak comes in TFLOP/s, the bandwidth in GB/s, the intensity in FLOP/B. (In this cell `unit` is how many operations a second one of the wanted units is.)


# %% 11-attainable
def attainable(peak_tflops, bandwidth_gb_per_s, intensity):
    """TFLOP/s, GB/s, FLOP/B -> the attainable rate."""
    ### BEGIN SOLUTION
    unit = 1e12  # variant 11.attainable:unit
    return min(peak_tflops * 1e12, bandwidth_gb_per_s * 1e9 * intensity) / unit
    ### END SOLUTION


# %% [markdown]
# ## Which limit is it?
#
# [[task 11.rows]]
#
# How many rows have to meet a matrix before operations are the limit and no longer bytes? Return the smallest whole `T` for which the intensity of $(T, D) @ (D, F)$ is **at least** `ridge`; bytes are counted as in 11.product. Where no `T`
# is enough, however large, return 0.


# %% 11-rows
def fewest_rows(d, f, bytes_per_number, ridge):
    """D, F, the bytes of a number, FLOP/B -> a whole number of rows, 0 for never."""
    ### BEGIN SOLUTION
    gain = 2 * d * f - ridge * bytes_per_number * (d + f)
    if gain <= 0:
        return 0
    return math.ceil(ridge * bytes_per_number * d * f / gain)
    ### END SOLUTION


# %% [markdown]
# [[task 11.near]]
#
# A computation did `flops` operations, moved `n_bytes` bytes and took `seconds`, on a machine with this peak (FLOP/s) and bandwidth (bytes/s). Return two things: the **share** of what is attainable at its intensity that it reached (1 would
# be the roof itself; a run out of a cache may lie above), and a truth value: whether it is **compute-bound**, which we count as true also exactly at the ridge.


# %% 11-near
def how_near(flops, n_bytes, seconds, peak, bandwidth):
    """Five numbers -> the share of the attainable rate, and True where operations are the limit."""
    ### BEGIN SOLUTION
    amount = flops / n_bytes
    best = min(peak, bandwidth * amount)
    share = flops / seconds / best
    return share, amount >= peak / bandwidth
    ### END SOLUTION


# %% [markdown]
# [[task 11.time]]
#
# A computation is a list of operations that are done one after another; each is a list of two numbers, its FLOPs and its bytes. Within one operation computing and moving go on at the same time. Return the least time that the roof allows,
# in **[[11.time:named]]**. (`unit` is how many seconds one of the wanted units is.)


# %% 11-time
def least_time(operations, peak, bandwidth):
    """[[flops, bytes], ...], FLOP/s, bytes/s -> the least time."""
    ### BEGIN SOLUTION
    unit = 1.0  # variant 11.time:unit
    seconds = 0.0
    for flops, n_bytes in operations:
        seconds += max(flops / peak, n_bytes / bandwidth)
    return seconds / unit
    ### END SOLUTION


# %% [markdown]
# ## A link between processors
#
# [[task 11.link]]
#
# An operation does `flops` operations, moves `n_bytes` between this processor and its memory, and receives `link_bytes` from another processor. All three go on at the same time. `peak` is in FLOP/s, `bandwidth` in bytes/s; `link` is the
# link's number as data sheets print it, bytes a second in **both directions together**, and the bytes come one way. Return the least time in seconds, and which limit it was: 0 for operations, 1 for memory, 2 for the link. (No two of them
# are equally long.)


# %% 11-link
def time_with_link(flops, n_bytes, link_bytes, peak, bandwidth, link):
    """Six numbers -> seconds, and the number of the limit."""
    ### BEGIN SOLUTION
    limits = [flops / peak, n_bytes / bandwidth, link_bytes / (link / 2)]
    seconds = max(limits)
    return seconds, limits.index(seconds)
    ### END SOLUTION


# %% [markdown]
# ## Predict, then measure
#
# Not graded, and it works once 11.link is done: your own function says how long something will take on the machine in front of you, and then it is timed. `predict_then_measure` gets operations, bytes and a call; it takes a second or two. It uses
# one thread and float32, counts the time in which that thread had the processor, and keeps the quickest of several runs: whoever else uses this machine can only add to a time. The roof is measured anew each time, since it moves with what else
# the machine does. Copy these lines into a cell of your own and run them one after another. **Before** each, write down: memory or compute, and about how many milliseconds? (Run `measured_roof()` once to know the two numbers.)
#
# ```python
# import torch
#
# n = 1 << 25
# a, b, c = (torch.rand(n) for _ in range(3))
# predict_then_measure(n, 12 * n, lambda: torch.mul(a, b, out=c))
# predict_then_measure(2 * n, 8 * n, lambda: torch.dot(a, b))
# x, y, z = torch.rand(1024, 512), torch.rand(512, 2048), torch.empty(1024, 2048)
# predict_then_measure(*product_cost(1024, 512, 2048, 4), lambda: torch.mm(x, y, out=z))
# ```
#
# Then try counts of your own: one row, two and four rows that meet a matrix of 8192 x 8192, short arrays, `torch.tanh`. Where clock and prediction disagree, *How to measure the roofline of your own machine* and *What does the roofline model leave out?* in the book may say why.


# %% 11-measure
def seconds_of(call, runs=7):
    """Time of this thread, the quickest of several runs after one for warmth."""
    import time

    call()
    times = []
    for _ in range(runs):
        begun = time.thread_time()
        call()
        times.append(time.thread_time() - begun)
    return min(times)


def measured_roof():
    """Peak in FLOP/s and bandwidth in bytes/s of one core, float32."""
    import torch

    torch.set_num_threads(1)
    n, side = 1 << 25, 1536
    a, b, c = (torch.ones(n) for _ in range(3))
    bandwidth = 3 * 4 * n / seconds_of(lambda: torch.add(a, b, out=c))
    x, y, z = (torch.ones(side, side) for _ in range(3))
    peak = 2 * side**3 / seconds_of(lambda: torch.mm(x, y, out=z))
    print(f"peak {peak / 1e9:.1f} GFLOP/s, bandwidth {bandwidth / 1e9:.1f} GB/s, ridge {peak / bandwidth:.2f} FLOP/B")
    return peak, bandwidth


def predict_then_measure(flops, n_bytes, call):
    """The roof of this moment, the prediction of 11.link for it (nothing goes over a link), and the clock."""
    predicted, limit = time_with_link(flops, n_bytes, 0, *measured_roof(), 1)
    print(f"  {('compute', 'memory')[int(limit)]}-bound, predicted {1e3 * predicted:.2f} ms")
    measured = seconds_of(call)
    print(f"  measured {1e3 * measured:.2f} ms: {measured / predicted:.2f} times the prediction")


# %% [markdown]
# ## In your own words
#
# Task 11-slow · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/11_roofline.html#roofline-bound)
#
# A colleague's program adds two long arrays of float32 and reaches less than one hundredth of the peak that the data sheet of the A100 prints for float32. A second colleague wants to rewrite it until it reaches half of the peak; a third
# wants to run it on the matrix units instead, which are sixteen times faster. What do you say to each of them? What would really make it quicker? Four to eight sentences, with one calculation.

# %% 11-slow [markdown] points=3
# An addition reads two numbers and writes one, 12 bytes for one operation: the intensity is 1/12 FLOP/B. At 2,039 GB/s that allows 170 GFLOP/s, which is 0.87 % of 19.5 TFLOP/s; so a run near that is as good as it can be, and rewriting it cannot
# bring it to half of the peak. Faster units do not help either: they raise the flat part of the roof, and this point lies under the slope. What helps is to move fewer bytes for the same result: fuse the addition with what comes before or
# after, so that intermediate results are not written and read again, or use shorter numbers (half of the bytes, half of the time). One should stop when the run reaches most of what is attainable at its intensity, not when it reaches the
# peak.
