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
# # 3 · Tokens and embeddings
#
# From text to vectors: you will cut text into words, number them, fill up batches, learn byte pairs and cut by them, and then turn the numbers into
# vectors and back into scores for words.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it, as often as you like. The chapter is *Tokens and
# embeddings* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
#
# **Letters.** `B` sequences in a batch, `T` tokens in a sequence, `V` words in the vocabulary, `D` numbers in a token's vector.
#
# **Kinds of answer.** The first tasks are about text: their functions take and return strings, whole numbers, lists and dictionaries
# (a tuple is as good as a list). Inputs must not be changed. From *One-hot rows* on, inputs are torch tensors, in one task numpy arrays.

# %% 03-setup
import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import torch

from softlookup import check, hint

SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"]

# %% [markdown]
# ## Tokens and ids
#
# [[task 03.words]]
#
# Cut a text into words and marks. A **word** is a run of letters and digits, as long as it goes: characters for which
# Python's `str.isalnum()` is true, with accents or without. White space (`str.isspace()`) parts tokens and is none. Every other character is a
# token by itself, an apostrophe too. So `"Don't, Zoë!"` becomes `["Don", "'", "t", ",", "Zoë", "!"]`. There are no underscores.


# %% 03-words
def split_words(text):
    """text, a string -> its words and marks in order, a list of strings."""
    ### BEGIN SOLUTION
    return re.findall(r"\w+|[^\w\s]", text)
    ### END SOLUTION


# %% [markdown]
# [[task 03.vocabulary]]
#
# Give the tokens of a training text their ids. The four special tokens come first (`SPECIALS`, with the ids 0 to 3). Then come the tokens
# that occur at least **[[03.vocabulary:min_count]]** times, the commonest first; among equally common ones, the first in Python's order of strings. Rarer tokens
# are left out. Return a dictionary from token to id. No training token is called like a special one.


# %% 03-vocabulary
def build_vocabulary(tokens):
    """tokens, a list of strings -> {token: id}."""
    ### BEGIN SOLUTION
    min_count = 2  # variant 03.vocabulary:min_count
    counts = Counter(tokens)
    kept = [token for token in counts if counts[token] >= min_count]
    kept.sort(key=lambda word: (-counts[word], word))
    return {token: number for number, token in enumerate(SPECIALS + kept)}
    ### END SOLUTION


# %% [markdown]
# [[task 03.ids]]
#
# Look tokens up: the id of `<s>` first, then the id of each token, then that of `</s>`. A token that the vocabulary does not have gets the id of `<unk>`.
# The vocabulary is a dictionary from token to id; it may be another one than yours, with the special tokens elsewhere.


# %% 03-ids
def to_ids(tokens, vocabulary):
    """tokens, a list of strings, vocabulary {token: id} -> list of ids."""
    ### BEGIN SOLUTION
    unknown = vocabulary["<unk>"]
    ids = [vocabulary.get(token, unknown) for token in tokens]
    return [vocabulary["<s>"], *ids, vocabulary["</s>"]]
    ### END SOLUTION


# %% [markdown]
# [[task 03.pad]]
#
# Lay sequences of unequal length into one array: one row for each, filled up **behind** its tokens with `pad_id`, as long as the longest needs. Return two arrays
# of shape `(B, T)`: the ids, whole numbers, and a mask of booleans that is `True` where a real token stands. At least one sequence has a token. (Some models fill up with
# an id that real tokens have too, such as that of `</s>`.)


# %% 03-pad
def pad(sequences, pad_id):
    """sequences, B lists of ids -> ids (B, T), mask (B, T)."""
    ### BEGIN SOLUTION
    longest = max(len(sequence) for sequence in sequences)
    ids = np.full((len(sequences), longest), pad_id)
    mask = np.zeros(ids.shape, dtype=bool)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = True
    return ids, mask
    ### END SOLUTION


# %% [markdown]
# ## Byte pairs
#
# Here a word is a list of **symbols**: single letters at first, longer pieces after some merges. (The library puts a marker before a word that
# follows a space; these tasks do without.)
#
# [[task 03.pair-counts]]
#
# Count how often each pair of neighbours stands in a text. `words` holds each different word once, as its list of symbols and how often it occurs:
# `[(["a", "n", "n", "a"], 3), (["a", "n"], 2)]`. Return a dictionary from pairs to counts, here `{("a", "n"): 5, ("n", "n"): 3, ("n", "a"): 3}`.
# Neighbours stand in the same word, and their order counts. In `a a a` the pair `("a", "a")` stands twice.


# %% 03-pair-counts
def count_pairs(words):
    """words [(symbols, times), ...] -> {(left, right): count}."""
    ### BEGIN SOLUTION
    counts = {}
    for symbols, times in words:
        for pair in pairwise(symbols):
            counts[pair] = counts.get(pair, 0) + times
    return counts
    ### END SOLUTION


# %% [markdown]
# [[task 03.merge]]
#
# Join a pair wherever it stands in one word, going from left to right: `merge(["b", "a", "n", "a", "n"], ("a", "n"))` is `["b", "an", "an"]`.
# A symbol is used once: `a a a` with the pair `("a", "a")` becomes `aa a`. Leave `symbols` itself as it is.


# %% 03-merge
def merge(symbols, pair):
    """symbols, a list of strings, pair (left, right) -> list of strings."""
    ### BEGIN SOLUTION
    result, place = [], 0
    while place < len(symbols):
        if tuple(symbols[place : place + 2]) == pair:
            result.append(pair[0] + pair[1])
            place += 2
        else:
            result.append(symbols[place])
            place += 1
    return result
    ### END SOLUTION


# %% [markdown]
# [[task 03.bpe]]
#
# Learn byte pairs. `words` holds each different word as a string, with how often it occurs: `[("sun", 5), ("sunny", 3)]`. Begin with single letters. Then,
# `n_merges` times: count all pairs, take the commonest, note it, and join it in every word. Among equally common pairs take the one that comes first
# in Python's order of tuples (`("a", "b")` before `("ab", "a")` before `("b", "a")`). Stop early when the commonest pair stands there fewer than
# **[[03.bpe:min_count]]** times, or none is left. Return the pairs in the order in which they were learned.


# %% 03-bpe
def train_bpe(words, n_merges):
    """words [(word, times), ...] -> list of pairs (left, right)."""
    ### BEGIN SOLUTION
    min_count = 2  # variant 03.bpe:min_count
    cuts = [(list(word), times) for word, times in words]
    merges = []
    while len(merges) < n_merges:
        counts = count_pairs(cuts)
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        if counts[best] < min_count:
            break
        merges.append(best)
        cuts = [(merge(symbols, best), times) for symbols, times in cuts]
    return merges
    ### END SOLUTION


# %% [markdown]
# [[task 03.encode]]
#
# Cut a word by merges that were learned. Begin with its letters. Then go through the merges in the order in which they were **learned**, and join each
# one's pair wherever it stands in the word by then. (It comes to the same as: always join the pair that was learned first, as long as there is one.)
# Letters that no merge knows stay as they are. No two merges make the same token, and the word has at least one letter.


# %% 03-encode
def encode_word(word, merges):
    """word, a string, merges [(left, right), ...] -> list of tokens."""
    ### BEGIN SOLUTION
    symbols = list(word)
    for pair in merges:
        symbols = merge(symbols, pair)
    return symbols
    ### END SOLUTION


# %% [markdown]
# ## Vectors
#
# From here on: torch tensors, except where it says numpy. `ids` holds whole numbers and has one axis or more; `table` has one row for each word, shape `(V, D)`.
#
# [[task 03.one-hot]]
#
# Write each id as a one-hot row: V numbers, all 0 but a single 1 at the id's place. Then multiply by the table. Return both: the one-hot rows, in the
# table's dtype, and the product. (`torch.nn.functional.one_hot` is not allowed here.) Compare your product with `table[ids]`.


# %% 03-one-hot
def one_hot_lookup(ids, table):
    """ids (..., T), table (V, D) -> one-hot rows (..., T, V), their product with the table (..., T, D)."""
    ### BEGIN SOLUTION
    hot = (ids[..., None] == torch.arange(len(table))).to(table.dtype)
    return hot, hot @ table
    ### END SOLUTION


# %% [markdown]
# [[task 03.table-gradient]]
#
# The backward pass, in numpy. `rows = table[ids]` was looked up, and `d_rows` is the gradient of the loss with respect to `rows`. Return the gradient with respect to the
# **table**. Words that were not looked up get zeros; a word that was looked up several times gets the sum.


# %% 03-table-gradient
def table_gradient(ids, d_rows, vocab_size):
    """ids (..., T), d_rows (..., T, D) -> gradient of the table (V, D)."""
    ### BEGIN SOLUTION
    grad = np.zeros((vocab_size, d_rows.shape[-1]))
    np.add.at(grad, ids, d_rows)
    return grad
    ### END SOLUTION


# %% [markdown]
# [[task 03.embed]]
#
# Look the rows up and multiply them by $\sqrt{D}$. Where the id is **[[03.embed:pad]]**, which is padding here, the vector is zeros, whatever finite numbers the table holds there.
# Gradients must flow to the table.


# %% 03-embed
def embed(ids, table):
    """ids (..., T), table (V, D) -> vectors (..., T, D)."""
    ### BEGIN SOLUTION
    pad = 0  # variant 03.embed:pad
    x = table[ids] * math.sqrt(table.shape[-1])
    return x.masked_fill((ids == pad)[..., None], 0.0)
    ### END SOLUTION


# %% [markdown]
# [[task 03.tied-logits]]
#
# At the other end of a model, each position holds a state of width D. Score every word of the vocabulary by the dot product of the state with the word's row of the
# **same** table: no scale, no softmax. Gradients must flow to both.


# %% 03-tied-logits
def tied_logits(x, table):
    """x (..., D), table (V, D) -> logits (..., V)."""
    ### BEGIN SOLUTION
    return x @ table.T
    ### END SOLUTION
