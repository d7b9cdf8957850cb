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
# # 15 · What changed since the lectures
#
# You will write the parts that open models of 2024 to 2026 have in place of those of 2017: routed experts, a latent cache, sinks, windows, stretched positions, a draft model, a small cache, a memory that overwrites, an indexer, and Muon.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *What changed since the
# lectures* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 15-choose | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` queries, `S` keys, `D` model width, `N` query heads, `K` key-value heads, `H` the width of one head, `E` experts, `R` the width of the latent, `L` layers. `...` stands for any leading axes.

# %% 15-setup
import math

import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# ## Experts and heads

# %% [markdown]
# ## Positions, drafts and small caches

# %% [markdown]
# ## Memory, blocks and an optimizer

# %% [markdown]
# ## Read a config.json

# %% [markdown]
# ## In your own words
