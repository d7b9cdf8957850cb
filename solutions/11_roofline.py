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
# You will count operations and bytes, read a data sheet without falling into its traps, find the ridge point of a machine, and work out how fast a
# computation can be and what limits it.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Arithmetic
# intensity and the roofline* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 11-slow | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Conventions.** All arguments are plain numbers, strings, lists or dictionaries, and so are the answers: there are no tensors in this notebook. A multiply-add is **two** operations. Rates are in operations per second (FLOP/s), bandwidths in
# bytes per second, with prefixes only where a name says so (`_tflops`, `_gb_per_s`); a prefix is a power of ten, but Mi, Gi, Ti are powers of two: 1 GB = $10^9$ bytes, 1 GiB = $2^{30}$ bytes. Bytes are those of the program's own operands and
# results: every operand is read once, every result is written once. **Letters.** `T` rows are multiplied by a matrix of `D` rows and `F` columns.

# %% 11-setup
import math

from softlookup import check, hint

# %% [markdown]
# ## Arithmetic intensity
#
# [[task 11.intensity]]
#
# Return the arithmetic intensity of an elementwise loop, in operations per byte. For each position of its arrays the loop reads `reads` numbers, writes `writes` numbers, and does `operations` additions or multiplications. Each number has
# `bits` bits, which may be fewer than 8. `reads` or `writes` may be 0, but not both.


# %% 11-intensity
def intensity(reads, writes, operations, bits):
    """Four integers -> operations per byte, a float."""
    ### BEGIN SOLUTION
    bytes_per_number = bits / 8
    moved = (reads + writes) * bytes_per_number
    return operations / moved
    ### END SOLUTION


# %% [markdown]
# [[task 11.fuse]]
#
# How many bytes does a small program move between memory and processor? The program is a list of steps, in order. Each step is a list of two: the name of the array that it makes, and the names of the arrays that it reads, such as `["x",
# ["a", "b"]]`; a step reads at least one, and may read the same name twice. No name is made twice, or read before it is made. All arrays have `n` numbers of `bytes_per_number` bytes. `keep` lists those of the made arrays that are needed at the end, each once; it may be empty.
#
# Return two integers, both in bytes: **apart**, where every step is a separate pass that reads each of its arrays once (also an array that it names twice) and writes the array that it makes; and **fused**, where one pass does all steps,
# whether or not their results are needed, position by position: arrays that the program does not make itself are read once, those in `keep` are written once, and everything else stays inside the processor.


# %% 11-fuse
def bytes_moved(steps, keep, n, bytes_per_number):
    """[[made, [read, ...]], ...], [name, ...], two integers -> bytes apart, bytes fused."""
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
# Return two integers for the matrix product $(T, D) @ (D, F)$: its number of operations, and its bytes, with each operand read once and the result written once. Every number has `bytes_per_number` bytes.


# %% 11-product
def product_cost(t, d, f, bytes_per_number):
    """T, D, F and the bytes per number -> operations, bytes."""
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
# Convert an entry of a data sheet into a plain number. The entries are strings such as `"312 TFLOPS"`, `"1,979 TFLOPS*"`, `"1,248 TOPS*"`, `"3.35 TB/s"`, `"80 GB"` or `"40 GiB"`: a number, one space, a unit, and possibly an asterisk. Commas
# separate thousands. The unit begins with its prefix, one of M, G, T (powers of ten) or Mi, Gi, Ti (powers of two: $2^{20}$, $2^{30}$, $2^{40}$). An asterisk means *with 2:4 sparsity*, where the printed number is twice the dense one. Return
# the number without its prefix, in operations per second, bytes per second or bytes, and **dense**: halved where there is an asterisk.


# %% 11-sheet
def read_sheet(text):
    """A string from a data sheet -> a number without prefix."""
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
# Return the ridge point, the intensity at which the roofline bends, for the data type `dtype`: for **dense** products with operands in **memory**. `sheet` is a data sheet as a dictionary: `sheet["dense"]` and `sheet["sparse"]` are
# dictionaries from data types (`"float32"`, `"bfloat16"`, ...) to operations per second, `sheet["memory"]` is the memory bandwidth and `sheet["NVLink"]` the bandwidth of the link to another processor, both in bytes per second. `dtype` is a
# key of `sheet["dense"]`, but not always of `sheet["sparse"]`.


# %% 11-ridge
def ridge(sheet, dtype):
    """A dictionary and a name -> operations per byte."""
    ### BEGIN SOLUTION
    return sheet["dense"][dtype] / sheet["memory"]
    ### END SOLUTION


# %% [markdown]
# [[task 11.attainable]]
#
# Return the highest rate that a computation can reach, in **[[11.attainable:wording]]**. The peak is given in TFLOP/s, the bandwidth in GB/s, the intensity in FLOP/B.


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
# How many rows must share a matrix before the product is limited by operations and no longer by bytes? Return the smallest integer `T` for which the intensity of $(T, D) @ (D, F)$ is **at least** `ridge`; bytes are counted as in 11.product.
# If no `T` is enough, however large, return 0. `ridge` is above 0.


# %% 11-rows
def fewest_rows(d, f, bytes_per_number, ridge):
    """D, F, the bytes per number, FLOP/B -> the number of rows, 0 if no number is enough."""
    ### BEGIN SOLUTION
    gain = 2 * d * f - ridge * bytes_per_number * (d + f)
    if gain <= 0:
        return 0
    return math.ceil(ridge * bytes_per_number * d * f / gain)
    ### END SOLUTION


# %% [markdown]
# [[task 11.near]]
#
# Return how close a computation came to the roofline. It did `flops` operations, moved `n_bytes` bytes and took `seconds`, on a machine with this peak (FLOP/s) and bandwidth (bytes/s). Return two things: the **fraction** of the attainable
# rate at its intensity that it reached (1 is the roofline itself; a computation whose data is in a cache may exceed 1), and a boolean: whether it is **compute-bound**, which includes the case exactly at the ridge. All five numbers are above 0.


# %% 11-near
def how_near(flops, n_bytes, seconds, peak, bandwidth):
    """Five numbers -> the fraction of the attainable rate, and True if compute-bound."""
    ### BEGIN SOLUTION
    amount = flops / n_bytes
    best = min(peak, bandwidth * amount)
    share = flops / seconds / best
    return share, amount >= peak / bandwidth
    ### END SOLUTION


# %% [markdown]
# [[task 11.time]]
#
# Return the least time that the roofline allows for a computation, in **[[11.time:wording]]**. The computation is a list of operations that run one after another; each is a list of two numbers, its FLOPs and its bytes, both above 0. Within one
# operation, computing and moving data overlap.


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
# Return the least time of an operation in seconds, and its limit: 0 for operations, 1 for memory, 2 for the link. (No two of the three times are equal; one may be 0.) The operation does `flops` operations, moves `n_bytes` between this processor and its
# memory, and receives `link_bytes` from another processor. All three happen at the same time. `peak` is in FLOP/s, `bandwidth` in bytes/s; `link` is the link's bandwidth as data sheets print it, in bytes per second in **both directions
# together**, while the bytes here travel in one direction.


# %% 11-link
def time_with_link(flops, n_bytes, link_bytes, peak, bandwidth, link):
    """Six numbers -> seconds, and the limit: 0, 1 or 2."""
    ### BEGIN SOLUTION
    limits = [flops / peak, n_bytes / bandwidth, link_bytes / (link / 2)]
    seconds = max(limits)
    return seconds, limits.index(seconds)
    ### END SOLUTION


# %% [markdown]
# ## Predict, then measure
#
# This part is not graded, and it works once 11.link is done: your own function predicts how long something will take on the machine in front of you, and then it is timed. `predict_then_measure` gets operations, bytes and a call; it takes a
# second or two. It uses one thread and float32, counts only the time in which that thread has the processor, and takes the fastest of several runs: other programs on this machine can only make a run slower. The roofline is measured again each
# time, because it depends on what else the machine is doing. Copy these lines into a cell of your own and run them one after another. **Before** each, write down: is it memory-bound or compute-bound, and about how many milliseconds will it
# take? (Run `measured_roof()` once to know peak and bandwidth.)
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
# Then try counts of your own: one, two and four rows times a matrix of 8192 x 8192, short arrays, `torch.tanh`. Where measurement and prediction disagree, *How to measure the roofline of your own machine* and *What does the roofline model leave out?* in the book may explain why.


# %% 11-measure
def seconds_of(call, runs=7):
    """Time of this thread: the fastest of several runs, after one warm-up run."""
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
    """Print the present roofline, the prediction of 11.link for it (without a link), and the measured time."""
    predicted, limit = time_with_link(flops, n_bytes, 0, *measured_roof(), 1)
    print(f"  {('compute', 'memory')[int(limit)]}-bound, predicted {1e3 * predicted:.2f} ms")
    measured = seconds_of(call)
    print(f"  measured {1e3 * measured:.2f} ms: {measured / predicted:.2f} times the prediction")


# %% [markdown]
# ## In your own words
#
# Task 11-slow · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/11_roofline.html#roofline-bound)
#
# A colleague's program adds two long float32 arrays and reaches less than one hundredth of the float32 peak that the data sheet of the A100 prints. A second colleague wants to rewrite it until it reaches half of the peak; a third wants to run
# it on the matrix units instead, which are sixteen times faster. What do you say to each of them? What would really make it faster? Four to eight sentences, with one calculation.

# %% 11-slow [markdown] points=3
# An addition reads two numbers and writes one, 12 bytes for one operation: the intensity is 1/12 FLOP/B. At 2,039 GB/s that allows 170 GFLOP/s, which is 0.87 % of 19.5 TFLOP/s; so a run near this rate is as good as it can be, and rewriting it
# cannot bring it to half of the peak. Faster units do not help either: they raise the flat part of the roofline, and this point is under the slope. What helps is to move fewer bytes for the same result: fuse the addition with the operations
# before or after it, so that intermediate results are not written and read again, or use shorter numbers (half the bytes, half the time). One should stop optimising when the run reaches most of the attainable rate at its intensity, not when it
# reaches the peak.
