"""Lectures 000 to 002, what is in common: a store of orders, tokens, one head step by step, and the last layer."""

import math
from typing import Any

import numpy as np

from softlookup.reference import (
    attention_weights,
    embed,
    multi_head_attention,
    one_head,
    one_hot,
    scaled_dot_product_attention,
    softmax,
)

ORDERS = {
    f"order_{100 + i}": {"items": f"{letter}1", "delivery_date": f"{letter}2"} for i, letter in enumerate("abcdefghijk")
}
"""The store of lecture 001: eleven orders."""


def left_over_title() -> dict[str, Any]:
    title = {"deepspeed", "alphafold3"}
    topics = {"tokenization", "embeddings", "positions", "query", "key", "value", "attention", "multi-head"}
    topics |= {"feed-forward", "norm", "residual", "mask", "linear", "softmax", "encoder", "decoder"}
    shared = title & topics
    return {"shared": shared, "title": title}


def one_hot_or_id() -> dict[str, Any]:
    from softlookup.text import WordTokenizer

    tokenizer = WordTokenizer.train(["ate an apple"])
    ids = np.array(tokenizer.encode("ate an apple"))
    table = np.random.default_rng(0).standard_normal((len(tokenizer), 4))
    rows = one_hot(ids, len(tokenizer))
    found = "the same" if np.allclose(rows @ table, embed(ids, table)) else "another"
    return {"found": found, "ids": ids, "rows": rows}


def same_words() -> dict[str, Any]:
    first, second = "ate an apple <eos>".split(), "apple ate an <eos>".split()
    rng = np.random.default_rng(0)
    rows = {word: rng.standard_normal(4) for word in sorted(set(first))}
    weights = rng.standard_normal((3, 4, 4))
    outs = [one_head(np.array([rows[word] for word in words]), *weights) for words in (first, second)]
    moved = [second.index(word) for word in first]
    return {"first": first, "moved": moved, "outs": outs, "second": second}


def largest_of_logs() -> dict[str, Any]:
    logits = 5 * np.random.default_rng(0).standard_normal((100, 30))
    picked = [one.argmax(-1) for one in (logits, softmax(logits), np.log(softmax(logits)))]
    same = sum(len({int(one[i]) for one in picked}) == 1 for i in range(len(logits)))
    return {"logits": logits, "same": same}
