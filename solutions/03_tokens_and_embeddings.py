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
# From text to vectors: you will split text into words, learn byte pairs and split words with them, give tokens their ids, and pad batches.
# Then you will turn ids into vectors, and vectors back into scores for words.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer and run the check below it, as
# often as you like. The chapter in the book is *Tokens and embeddings*.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
#
# **Letters.** `B` sequences in a batch, `T` tokens in a sequence, `V` words in the vocabulary, `D` numbers in a token's vector.
#
# **Kinds of answer.** The first tasks are about text: their functions take and return strings, whole numbers, lists and dictionaries (a tuple
# is as good as a list). From *One-hot rows* on, inputs are torch tensors, in one task numpy arrays.

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
# ## Words
#
# [[task 03.words]]
#
# Split a text into words and marks. A **word** is a longest possible run of letters and digits: characters for which Python's `str.isalnum()`
# is true, with or without accents. White space (`str.isspace()`) separates tokens and is not a token. Every other character, such as an
# apostrophe, is a mark: a token by itself. So `"Don't, Zoë!"` becomes `["Don", "'", "t", ",", "Zoë", "!"]`. Return the tokens in order, as a
# list of strings. Texts contain no underscores.


# %% 03-words
def split_words(text):
    """text, a string -> its words and marks in order, a list of strings."""
    ### BEGIN SOLUTION
    return re.findall(r"\w+|[^\w\s]", text)
    ### END SOLUTION


# %% [markdown]
# ## Byte pairs
#
# Here a word is a list of **symbols**: single letters at first, longer strings after some merges. (The library puts a marker before a word
# that follows a space; these tasks do not.)
#
# [[task 03.pair-counts]]
#
# Count how often each pair of neighbouring symbols occurs in a text. `words` holds each different word once, as its list of symbols and its
# number of occurrences: `[(["a", "n", "n", "a"], 3), (["a", "n"], 2)]`. Return a dictionary from pairs to counts, here
# `{("a", "n"): 5, ("n", "n"): 3, ("n", "a"): 3}`. Neighbours stand in the same word, and their order counts. In `a a a` the pair `("a", "a")`
# occurs twice.


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
# Merge a pair wherever it occurs in one word, from left to right: `merge(["b", "a", "n", "a", "n"], ("a", "n"))` is `["b", "an", "an"]`.
# `symbols` is a list of strings; return a new list. Each symbol is used only once: `a a a` with the pair `("a", "a")` becomes `aa a`. Leave
# `symbols` itself unchanged.


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
# Learn byte pairs. `words` holds each different word as a string, with its number of occurrences: `[("sun", 5), ("sunny", 3)]`. Begin with
# single letters. Then, `n_merges` times: count all pairs, take the most frequent one, record it, and merge it in every word. Among equally
# frequent pairs, take the first in Python's order of tuples (`("a", "b")` before `("ab", "a")` before `("b", "a")`). Stop early when the most
# frequent pair occurs fewer than **[[03.bpe:min_count]]** times, or when no pair is left. Return the list of pairs, in the order in which
# they were learned.


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
# Split a word into tokens with learned merges, a list of pairs. Begin with its letters. Then go through the merges in the order in which they
# were **learned**, and merge each pair wherever it occurs in the word at that point. (With merges that training
# has learned, the result is the same if you always merge, of the pairs in the word, the one that was learned first, until none is left.) Return the list of tokens. Letters that occur in no merge stay as
# they are. No two merges make the same token, and the word has at least one letter.


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
# ## Ids and batches
#
# [[task 03.vocabulary]]
#
# Give the tokens of a training text, a list of strings, their ids. The four special tokens come first (`SPECIALS`, with the ids 0 to 3). Then
# come the tokens that occur at least **[[03.vocabulary:min_count]]** times, the most frequent first; tokens with equal counts are in Python's
# order of strings. Return a dictionary from token to id. Rarer tokens are left out. No training token has the name of a special one.


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
# Turn a list of tokens into a list of ids: the id of `<s>` first, then the id of each token, then that of `</s>`. `vocabulary` is a
# dictionary from token to id. A token that is not in the vocabulary gets the id of `<unk>`. The vocabulary may differ from yours; it has the
# special tokens, perhaps at other ids.


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
# Put `B` sequences of unequal length into one array. Each sequence, a list of ids, becomes one row, padded **at the end** with `pad_id` to
# the length `T` of the longest. Return two arrays of shape `(B, T)`: the ids, whole numbers, and a mask of booleans that is `True` at real
# tokens. At least one sequence has a token. (Some models pad with an id that real tokens have too, such as that of `</s>`.)


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
# ## Vectors
#
# From here on, inputs are torch tensors unless a task says numpy. `ids` holds whole numbers (int64) and has one axis or more; `table` has one row for
# each word, shape `(V, D)`.
#
# [[task 03.one-hot]]
#
# Write each id as a one-hot row: `V` numbers, all 0 except a single 1 at the position of the id. Then multiply by the table. `ids` has shape
# `(..., T)`. Return both: the one-hot rows, shape `(..., T, V)`, in the table's dtype, and the product, shape `(..., T, D)`. Compare
# your product with `table[ids]`.


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
# Write the backward pass of a lookup, in numpy. The forward pass was `rows = table[ids]`; `ids` has shape `(..., T)`, and `d_rows`, shape
# `(..., T, D)`, is the gradient of the loss with respect to `rows`. Return the gradient with respect to the **table**, shape `(V, D)`, where
# `V` is `vocab_size`. Words that were not looked up get zeros; a word that was looked up several times gets the sum.


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
# Look up the rows of the table for `ids`, shape `(..., T)`, and multiply them by $\sqrt{D}$. Return the vectors, shape `(..., T, D)`. The id
# **[[03.embed:pad]]** is padding here: its vector is all zeros, whatever finite numbers the table holds there. Gradients must flow to the
# table.


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
# Compute logits with tied embeddings. At the output of a model, each position has a hidden state of width `D`: `x` has shape `(..., D)`.
# Score every word of the vocabulary by the dot product of the state with the word's row of the **same** table, shape `(V, D)`. Return the
# logits, shape `(..., V)`: no scale, no softmax. Gradients must flow to both inputs.


# %% 03-tied-logits
def tied_logits(x, table):
    """x (..., D), table (V, D) -> logits (..., V)."""
    ### BEGIN SOLUTION
    return x @ table.T
    ### END SOLUTION
