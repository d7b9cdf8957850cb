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
# # Welcome
#
# Look round here for five minutes. Nothing in this notebook is graded, and nothing in it can break: change what you like.
#
# Click into the first grey cell below and press **Shift + Enter**. That runs it, and takes you to the next one.

# %%
from softlookup import check

# %% [markdown]
# ## A check that passes
#
# Every task is three cells: what is asked, your answer, and a check. Here is one whose answer is there already. The weights say how much
# of each value a query takes; `mix` adds the values up in these shares.


# %%
def mix(weights, v):
    """weights (..., T, S), v (..., S, H) -> (..., T, H)."""
    return weights @ v


# %%
check("04.mix", mix)

# %% [markdown]
# ## A check that names the mistake
#
# The same, with a slip in it. Run both cells, and read what the check says: which mistake it is, and where your numbers differ
# from the wanted ones. Then mend the line, and run both again. You can do this as often as you like; nobody counts.


# %%
def mix(weights, v):
    """weights (..., T, S), v (..., S, H) -> (..., T, H)."""
    return weights.transpose(-2, -1) @ v


# %%
check("04.mix", mix)

# %% [markdown]
# ## A figure to operate
#
# The book's figures work here too. Drag the query, or step to it with the Tab key and move it with the arrows; the slider turns the temperature.

# %%
from softlookup_course.widgets import LookupPlane, Store

LookupPlane(
    Store(
        keys=("lemon", "grape", "apple"),
        k=((2.0, 0.2), (0.3, 1.8), (1.2, 1.1)),
        values=("sour", "sweet", "both"),
        v=((1.0, -0.5), (-0.5, 1.0), (0.9, 0.9)),
        queries={"orange": (1.6, 0.9)},
        axes=("sour", "sweet"),
    )
)

# %% [markdown]
# ## Where to begin
#
# - [**Before you start**](../00_before_you_start/00_before_you_start.ipynb): ten short questions that say where you stand.
# - [**One head**](../04_one_head/04_one_head.ipynb), if you know what attention is and want to write it.
# - Each folder at the left holds the notebook of one chapter; 90 is the capstone, a transformer of your own.
# - [The book](../../_build/html/book/index.html) goes with them (`make book` builds it, if the link leads nowhere). Each task links to its section.
#
# ## Before you hand in
#
# Press **Validate** above the notebook. It saves the notebook, runs everything in a fresh kernel, and says which tasks are right. **Hint** gives help on the task whose cell is selected.
# In a terminal, `softlookup check NOTEBOOK` says the same in more words. Your answers belong in the cells that are there for them:
# of other cells only what an answer needs is taken, and you are told. How to hand in is your lecturer's to say; the file keeps its name.
#
# ## How far you are
#
# This reads your notebooks as they were saved, and says what is right, what is open, and what comes next. It sends nothing anywhere.

# %%
# !softlookup progress ..
