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
# %% [markdown]
# # 19 · Many devices
#
# You will write programs for many devices: the collectives that all of them are made of, then training and attention spread over ranks. Each is judged on its values, and on the messages and bytes that it sends.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Many devices* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 19-explain | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Ranks.** A function with the argument `dist` is what one rank does; every rank runs the same one. `dist.get_rank()` is its number and `dist.get_world_size()` how many there are. `dist.send(array, dst)` waits until rank `dst` receives, and `dist.recv(array, src)` fills an array with what rank `src` sends; `isend` and `irecv` return at once with something that has `wait()`. What else `dist` has, a task says. Arrays belong to one rank: what another rank knows has to be sent.
#
# **Judged on traffic.** A program whose values are right earns most of the points. The rest is for the bytes on the busiest link, the number of messages, and the longest chain of messages that wait for each other: each task says what it may use.

# %% 19-setup
import numpy as np

from softlookup import check, hint
from softlookup.ranks import RankError, WorldError, run_here

# %% [markdown]
# ## Messages

