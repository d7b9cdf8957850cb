"""Tasks that make masks: causal with an offset, padding."""

from typing import Any

import numpy as np

from softlookup.checks.decoder_and_masks.page import PAGE
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Mistake, Task

INVERTED = "The mask says the opposite: True means may look."
TRANSPOSED = "The mask is transposed: row t says what query t may look at, so a query is a row and a key a column."
ADDITIVE = "These are numbers to be added to the scores: a boolean mask is asked for, True = may look."


def additive(line: str) -> tuple[Mistake, Mistake]:
    """The two mistakes of returning numbers to be added, for a solution that ends in ``return line``."""
    edits = [((line, f"torch.where({line}, 0.0, {fill})"),) for fill in ('float("-inf")', "-1e9")]
    return known("additive", *edits[0], says=ADDITIVE), known("additive-billion", *edits[1], says=f"{ADDITIVE} (-1e9.)")


def _causal_cases(rng: Rng) -> list[Case]:
    t = int(rng.integers(2, 5))
    sizes = ((5, 5, "core"), (8, 8, "core"), (1, 1, "core"), (1, 6, "offset"), (3, 7, "offset"))
    cases = [Case(f"T = {t}, S = {s}", (t, s), part=part, frame="plain") for t, s, part in sizes]
    drawn = t, t + int(rng.integers(2, 6))
    return [*cases, Case(f"T = {drawn[0]}, S = {drawn[1]}", drawn, part="offset", frame="plain")]


def _causal(n_queries: int, n_keys: int) -> Any:
    return np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool)


CAUSAL_LINE = "return keys[None, :] <= queries[:, None]"

CAUSAL = Task(
    id="08.causal",
    name="causal_mask",
    title="Nobody looks ahead",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="decoder-causal",
    returns=("mask",),
    cases=_causal_cases,
    oracle=_causal,
    frame="plain",
    parts={"core": 0.6, "offset": 0.4},
    mistakes=(
        known("mask-inverted", (CAUSAL_LINE, CAUSAL_LINE.replace("<=", ">")), says=INVERTED, number=48),
        known(
            "diagonal-hidden",
            ("<=", "<"),
            says="The diagonal is hidden too: a token may look at itself, and the first one has nothing else to look "
            "at. Compare with `<=`.",
            number=53,
        ),
        known(
            "one-ahead",
            ("<= queries[:, None]", "<= queries[:, None] + 1"),
            says="Each query sees one token of the future: what is hidden begins right behind the diagonal "
            "(triu(diagonal=1), not 2).",
            number=54,
        ),
        known(
            "transposed", (CAUSAL_LINE, CAUSAL_LINE.replace("return ", "return (") + ").T"), says=TRANSPOSED, number=55
        ),
        known(
            "top-left",
            ("torch.arange(n_queries) + n_keys - n_queries", "torch.arange(n_queries)"),
            says="The first query is put at position 0: the queries are the newest of the tokens, so query 0 stands at "
            "position S - T. With a cache and one query, this mask would show the first token alone.",
            number=71,
        ),
        known(
            "square",
            ("torch.arange(n_queries) + n_keys - n_queries", "torch.arange(n_keys)"),
            says="There is a row for each key: only the queries have a row, so the shape is (T, S).",
        ),
        known(
            "only-itself",
            ("keys[None, :] <= queries", "keys[None, :] == queries"),
            says="Each token sees itself alone: it may also look at all that came before.",
        ),
        known(
            "newest-keys-alone",
            ("keys = torch.arange(n_keys)", "keys = torch.arange(n_queries)"),
            ("n_keys - n_queries", "0"),
            says="There are as many columns as queries: every key has a column, those of the earlier tokens too, so "
            "the shape is (T, S).",
        ),
        known(
            "offset-negative",
            ("+ n_keys - n_queries", "- n_keys + n_queries"),
            says="The offset has the wrong sign: query 0 stands at S - T, behind the tokens of the cache, not before "
            "the first key.",
        ),
        known(
            "everything",
            (CAUSAL_LINE, CAUSAL_LINE + " * 0 + n_keys"),
            says="Everything may be looked at: hide what comes after each query.",
        ),
        known(
            "four-axes",
            (CAUSAL_LINE, CAUSAL_LINE.replace("return ", "return (") + ")[None, None]"),
            says="There are axes of size 1 in front: two are asked for, (T, S). They fit every score without them.",
        ),
        *additive("keys[None, :] <= queries[:, None]"),
    ),
)


def drawn_ids(rng: Rng, lengths: tuple[int, ...], total: int, pad_id: int, *, left: bool = False) -> np.ndarray:
    """Rows of ids, filled up with pad_id behind (or before) so many real ones; 0 is real where it is not the pad."""
    real = [n for n in range(20) if n != pad_id]
    ids = np.full((len(lengths), total), pad_id)
    for row, n in zip(ids, lengths, strict=True):
        begin = total - n if left else 0
        row[begin : begin + n] = rng.choice(real, size=n)
        if n > 1 and pad_id != 0:
            row[begin + 1] = 0
    return ids.astype(np.int64)


def _padding_cases(rng: Rng) -> list[Case]:
    return [
        Case("two rows, the pad is 0", (drawn_ids(rng, (5, 3), 5, 0), 0)),
        Case("the pad is 7, and 0 is a word", (drawn_ids(rng, (2, 4, 6), 6, 7), 7)),
        Case("as many rows as tokens", (drawn_ids(rng, (3, 2, 1), 3, 0), 0)),
        Case("filled up on the left", (drawn_ids(rng, (2, 4), 5, 9, left=True), 9)),
        Case("no padding", (drawn_ids(rng, (4, 4), 4, 1), 1)),
        Case("a row of nothing but padding", (drawn_ids(rng, (0, 3), 4, 5), 5)),
    ]


def _padding(ids: Any, pad_id: int) -> Any:
    import torch

    return torch.ne(ids, pad_id).view(ids.shape[0], 1, 1, ids.shape[1])


PADDING_LINE = "(ids != pad_id)[:, None, None, :]"

PADDING = Task(
    id="08.padding",
    name="padding_mask",
    title="Padding is nobody",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="decoder-padding",
    returns=("mask",),
    cases=_padding_cases,
    oracle=_padding,
    mistakes=(
        known("mask-inverted", ("!=", "=="), says=INVERTED + " Real tokens may be looked at.", number=48),
        known(
            "on-queries",
            ("[:, None, None, :]", "[:, None, :, None]"),
            says="The padding stands on the query axis, (B, 1, S, 1): it is keys that must not be looked at, and keys "
            "are the last axis.",
            number=57,
        ),
        known(
            "two-axes",
            ("[:, None, None, :]", ""),
            says="The mask has two axes, (B, S): scores have four, (B, N, T, S), and are lined up from the right, so B "
            "would land on the queries. Where B = T nothing complains.",
            number=58,
        ),
        known(
            "three-axes",
            ("[:, None, None, :]", "[:, None, :]"),
            says="The mask has three axes, (B, 1, S): lined up from the right, B lands on the heads. It needs an axis "
            "for the heads as well.",
            number=58,
        ),
        known(
            "batch-on-heads",
            ("[:, None, None, :]", "[None, :, None, :]"),
            says="The batch stands where the heads are, (1, B, 1, S): it is the first axis, (B, 1, 1, S).",
            number=58,
        ),
        known(
            "batch-on-queries",
            ("[:, None, None, :]", "[None, None]"),
            says="The batch stands where the queries are, (1, 1, B, S): it is the first axis, (B, 1, 1, S).",
            number=58,
        ),
        known(
            "positions-on-heads",
            ("[:, None, None, :]", "[:, :, None, None]"),
            says="The positions stand where the heads are, (B, S, 1, 1): keys are the last axis, (B, 1, 1, S).",
            number=57,
        ),
        known(
            "spread-out",
            ("[:, None, None, :]", "[:, None, None, :].expand(-1, 1, ids.shape[1], -1)"),
            says="There is a row for each query already: that mask is no other, but an axis of size 1 is asked for. It "
            "also fits where there are more queries or fewer.",
        ),
        known(
            "rows-of-padding-blind",
            (PADDING_LINE, f"{PADDING_LINE} & (ids != pad_id)[:, None, :, None]"),
            says="Padding is hidden as a query too, so its rows are blind: only what is looked AT is hidden here, "
            "whoever asks.",
        ),
        known(
            "greater",
            ("!= pad_id", "> pad_id"),
            says="Ids below the pad's are taken for padding too: ask whether they are equal, not which is larger.",
        ),
        *additive("(ids != pad_id)"),
        known(
            "pad-is-zero",
            ("!= pad_id", "!= 0"),
            says="The id 0 is taken for padding: which id fills up is said by `pad_id`, and 0 may be a word.",
        ),
        known(
            "counted-from-left",
            (
                f"return {PADDING_LINE}",
                "return (torch.arange(ids.shape[1]) < (ids != pad_id).sum(1, keepdim=True))[:, None, None, :]",
            ),
            says="The real tokens are counted, and so many taken from the left: rows may be filled up on the left too. "
            "Ask each id.",
        ),
    ),
)
