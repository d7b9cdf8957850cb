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
# # 16 · Serving
#
# You will write the parts of a server for language models: what a step costs at least, how latencies are reported, how blocks of the cache are given out and taken back, which prompts share them, what a step of continuous batching computes, and what a million tokens cost.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Serving* in the
# book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 16-choose | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` sequences of a batch, `S` cached tokens, `N` query heads, `K` key-value heads, `H` the width of one head, `L` layers. Letters of this notebook's own: `P` blocks of the cache, `M` tokens that a block holds.

# %% 16-setup
import math

import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# ## Time

# %% [markdown]
# [[task 16.phases]]
#
# Compute the least time of a prefill and of a decoding step from a data sheet. A model has `params` parameters of `bytes_each` bytes, and a token's keys and values take `cache_bytes` bytes in all layers together. The machine does at most `peak` operations a second and reads at most `bandwidth` bytes a second; it can do both at once, so the slower of the two decides.
#
# - **Prefill** computes the `prompt` tokens of one prompt together. It reads the weights once.
# - **A decoding step** computes one token for each of `batch` sequences. It reads the weights once, and the keys and values of the `cached` tokens that **each** sequence has.
#
# Each parameter costs a token one multiply-add, which is two operations. Leave out attention's own products and everything that is written. Return both times in seconds.


# %% 16-phases
def least_times(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    """Eight numbers -> prefill in seconds, decoding step in seconds."""
    ### BEGIN SOLUTION
    weights = params * bytes_each
    caches = batch * cached * cache_bytes
    prefill = max(2 * params * prompt / peak, weights / bandwidth)
    step = max(2 * params * batch / peak, (weights + caches) / bandwidth)
    return prefill, step
    ### END SOLUTION


# %% [markdown]
# [[task 16.latencies]]
#
# Report the latencies of a server. `requests` has an entry `[arrival, times]` for each request: when it arrived, and when each of its tokens came, in seconds on one clock. Collect the **time to first token** of every request, counted from its arrival, and the **times between tokens**: the waits from each token of a request to the next one, of all requests together. The wait for the first token is not one of them.
#
# Return the 50th and the 95th percentile of both, by the **nearest-rank** definition: the `p`-th percentile of `n` values is the value at place $\lceil p\,n / 100 \rceil$, counted from 1, when they are sorted from small to large. Nothing is interpolated.


# %% 16-latencies
def latencies(requests):
    """A list of [arrival, list of times] -> [p50, p95] of first tokens, [p50, p95] between tokens."""

    ### BEGIN SOLUTION
    def percentile(values, percent):
        return sorted(values)[math.ceil(percent * len(values) / 100) - 1]

    first = [times[0] - arrival for arrival, times in requests]
    between = [wait for _, times in requests for wait in np.diff(times)]
    return [percentile(first, 50), percentile(first, 95)], [percentile(between, 50), percentile(between, 95)]
    ### END SOLUTION
