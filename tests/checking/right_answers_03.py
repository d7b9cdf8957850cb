"""Right answers to the tasks of chapter 3, each written in another way than the published solution."""

import re
from collections import Counter, OrderedDict, defaultdict
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F

SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"]


def words_tuple_of_matches(text):
    return tuple(match[0] for match in re.finditer(r"[^\W_]+|[^\w\s]", text, re.UNICODE))


def words_spaced_out(text):
    return "".join(c if c.isalnum() or c.isspace() else f" {c} " for c in text).split()


def vocabulary_sorted_twice(tokens):
    frequent = sorted(token for token in set(tokens) if tokens.count(token) > 1)
    frequent = sorted(frequent, key=tokens.count, reverse=True)
    return dict(zip(SPECIALS + frequent, range(4 + len(frequent)), strict=True))


def vocabulary_ordered_dict_of_numpy(tokens):
    counts = Counter(sorted(tokens))
    ids = OrderedDict((name, np.int64(place)) for place, name in enumerate(SPECIALS))
    for token, count in counts.most_common():
        if count >= 2:
            ids[token] = np.int64(len(ids))
    return ids


def ids_by_loop(tokens, vocabulary):
    result = (vocabulary["<s>"],)
    for token in tokens:
        result += (vocabulary[token] if token in vocabulary else vocabulary["<unk>"],)
    return result + (vocabulary["</s>"],)


def ids_array(tokens, vocabulary):
    framed = ["<s>"] + tokens + ["</s>"]
    return np.array([vocabulary.get(token, vocabulary["<unk>"]) for token in framed])


def pad_lists(sequences, pad_id):
    longest = max(map(len, sequences))
    ids = [sequence + [pad_id] * (longest - len(sequence)) for sequence in sequences]
    return ids, [[place < len(sequence) for place in range(longest)] for sequence in sequences]


def pad_torch(sequences, pad_id):
    rows = [torch.tensor(sequence, dtype=torch.long) for sequence in sequences]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)
    return ids, torch.arange(ids.shape[1]) < torch.tensor([len(row) for row in rows])[:, None]


def counts_counter(words):
    counts = Counter()
    for symbols, times in words:
        for pair in pairwise(symbols):
            counts[pair] += times
    return counts


def counts_by_places(words):
    counts = defaultdict(int)
    for symbols, times in words:
        for place in range(len(symbols) - 1):
            counts[symbols[place], symbols[place + 1]] += times
    return counts


def merge_popping(symbols, pair):
    left, right = pair
    todo, done = list(symbols), []
    while todo:
        symbol = todo.pop(0)
        if symbol == left and todo and todo[0] == right:
            symbol += todo.pop(0)
        done.append(symbol)
    return done


def merge_recursive(symbols, pair):
    if len(symbols) < 2:
        return list(symbols)
    if tuple(symbols[:2]) == tuple(pair):
        return [pair[0] + pair[1], *merge_recursive(symbols[2:], pair)]
    return [symbols[0], *merge_recursive(symbols[1:], pair)]


def bpe_two_steps_lists(words, n_merges):
    cuts, learned = [[list(word), times] for word, times in words], []
    for _ in range(n_merges):
        counts = counts_by_places(cuts)
        most = max(counts.values(), default=0)
        if most < 2:
            break
        left, right = sorted(pair for pair in counts if counts[pair] == most)[0]
        learned.append([left, right])
        cuts = [[merge_popping(symbols, (left, right)), times] for symbols, times in cuts]
    return learned


def bpe_recursive(words, n_merges, cuts=None):
    cuts = [(list(word), times) for word, times in words] if cuts is None else cuts
    counts = counts_counter(cuts)
    if n_merges == 0 or max(counts.values(), default=0) < 2:
        return ()
    best = min(counts, key=lambda pair: (-counts[pair], *pair))
    rest = bpe_recursive(words, n_merges - 1, [(merge_recursive(symbols, best), times) for symbols, times in cuts])
    return (best, *rest)


def encode_recursive(word, merges, symbols=None):
    symbols = list(word) if symbols is None else symbols
    merge = next((pair for pair in merges if pair in list(pairwise(symbols))), None)
    return symbols if merge is None else encode_recursive(word, merges, merge_popping(symbols, merge))


def one_hot_identity(ids, table):
    hot = torch.eye(table.shape[0], dtype=table.dtype)[ids]
    return hot, table[ids]


def gradient_product(ids, d_rows, vocab_size):
    hot = np.eye(vocab_size)[ids.reshape(-1)]
    return hot.T @ d_rows.reshape(len(hot), -1)


def gradient_autograd(ids, d_rows, vocab_size):
    table = torch.zeros(vocab_size, d_rows.shape[-1], dtype=torch.float64, requires_grad=True)
    F.embedding(torch.from_numpy(ids), table).backward(torch.from_numpy(d_rows))
    return table.grad


def embed_library(ids, table):
    x = F.embedding(ids, table) * table.shape[1] ** 0.5
    return torch.where((ids == 0).unsqueeze(-1), torch.zeros_like(x), x)


def embed_product(ids, table):
    keep = torch.ones(len(table), 1, dtype=table.dtype)
    keep[0] = 0
    return F.one_hot(ids, len(table)).to(table.dtype) @ (keep * table) * len(table[0]) ** 0.5


def logits_linear(x, table):
    return F.linear(x, table)


def logits_word_by_word(x, table):
    return torch.stack([(x * row).sum(-1) for row in table], dim=-1)


RIGHT = {
    "03.words": [words_tuple_of_matches, words_spaced_out],
    "03.vocabulary": [vocabulary_sorted_twice, vocabulary_ordered_dict_of_numpy],
    "03.ids": [ids_by_loop, ids_array],
    "03.pad": [pad_lists, pad_torch],
    "03.pair-counts": [counts_counter, counts_by_places],
    "03.merge": [merge_popping, merge_recursive],
    "03.bpe": [bpe_two_steps_lists, bpe_recursive],
    "03.encode": [encode_recursive],
    "03.one-hot": [one_hot_identity],
    "03.table-gradient": [gradient_product, gradient_autograd],
    "03.embed": [embed_library, embed_product],
    "03.tied-logits": [logits_linear, logits_word_by_word],
}
