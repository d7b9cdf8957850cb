"""Lectures 000 to 002, what is in common: a store of orders, tokens, one head step by step, and the last layer."""

from typing import Any

import numpy as np

from softlookup.reference import embed, one_hot
from softlookup_course.slide_audit.operations import draw_normal

ORDERS = {
    f"order_{100 + i}": {"items": f"{letter}1", "delivery_date": f"{letter}2"} for i, letter in enumerate("abcdefghijk")
}
"""The store of lecture 001: eleven orders."""


def one_hot_or_id() -> dict[str, Any]:
    from softlookup.text import WordTokenizer

    tokenizer = WordTokenizer.train(["ate an apple"])
    ids = np.array(tokenizer.encode("ate an apple"))
    [table] = draw_normal((len(tokenizer), 4))
    rows = one_hot(ids, len(tokenizer))
    answer = "the same" if np.allclose(rows @ table, embed(ids, table)) else "another"
    return {"found": answer, "ids": ids, "rows": rows}
