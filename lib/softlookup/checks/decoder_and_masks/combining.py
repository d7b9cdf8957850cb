"""Tasks that join masks and write them in another convention."""

from typing import Any

import numpy as np

from softlookup.checks import draws
from softlookup.checks.decoder_and_masks.masks import (
    INVERTED,
    TRANSPOSED,
    additive,
    drawn_ids,
)
from softlookup.checks.decoder_and_masks.page import PAGE
from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import dtype_lost, known
from softlookup.checks.task import Case, Task


def _combine_cases(rng: Rng) -> list[Case]:
    return [
        Case("the slide's row: three words, two pads", (np.array([[11, 12, 13, 0, 0]]), 0)),
        Case("three rows of six", (drawn_ids(rng, (6, 4, 2), 6, 0), 0)),
        Case("as many rows as tokens", (drawn_ids(rng, (3, 2, 1), 3, 7), 7)),
        Case("filled up on the left: some see nothing", (drawn_ids(rng, (2, 5), 5, 3, left=True), 3)),
        Case("one token", (drawn_ids(rng, (1, 1), 1, 2), 2)),
    ]


def _combine(ids: Any, pad_id: int) -> Any:
    import torch

    t = ids.shape[1]
    hidden = torch.ones(t, t).triu(1).bool() | ids.eq(pad_id)[:, None, :]
    return hidden.logical_not().unsqueeze(1)


PAST, PADDING = "causal_mask(length, length)", "padding_mask(ids, pad_id)"
BOTH = f"{PAST} & {PADDING}"

COMBINE = Task(
    id="08.combine",
    name="decoder_mask",
    title="Both at once",
    points=3,
    minutes=6,
    difficulty=2,
    page=PAGE,
    anchor="decoder-combine",
    returns=("mask",),
    cases=_combine_cases,
    oracle=_combine,
    mistakes=(
        known(
            "or-of-keeps",
            (" & ", " | "),
            says="The masks are joined by OR: a pair is let through if ONE of them allows it, so the future leaks, and "
            "padding too. Where True means may look, both must allow it: AND.",
            number=56,
        ),
        known("exclusive-or", (" & ", " ^ "), says="`^` is exclusive or: both masks must allow a pair, `&`."),
        known(
            "on-queries",
            (BOTH, BOTH + ".transpose(-2, -1)"),
            says="The padding hides queries, not keys: nobody may look AT padding, so it belongs on the last axis.",
            number=57,
        ),
        known(
            "causal-alone",
            (BOTH, "causal_mask(length, length) | torch.zeros_like(padding_mask(ids, pad_id))"),
            says="Padding is not hidden: this is the causal mask alone.",
        ),
        known(
            "padding-alone",
            (BOTH, "torch.ones(length, length, dtype=torch.bool) & padding_mask(ids, pad_id)"),
            says="The future is not hidden: this is the padding mask alone.",
        ),
        known(
            "rows-of-padding-blind",
            (BOTH, BOTH + " & padding_mask(ids, pad_id).transpose(-2, -1)"),
            says="The rows of padding are made blind too. That does no harm if the loss leaves them out, but it is "
            "another mask: only what is looked AT is hidden here.",
        ),
        known("mask-inverted", (BOTH, f"~({BOTH})"), says=INVERTED, number=48),
        known(
            "padding-inverted",
            (PADDING, f"~{PADDING}"),
            says="The padding mask is the wrong way round: True where there is a word. The causal one is right.",
            number=48,
        ),
        known(
            "causal-inverted",
            (PAST, f"~{PAST}"),
            says="The causal mask is the wrong way round: only the future is seen. The padding mask is right.",
            number=48,
        ),
        known(
            "diagonal-hidden",
            (PAST, f"{PAST}.tril(-1)"),
            says="The diagonal is hidden too: a word may look at itself.",
            number=53,
        ),
        known(
            "one-ahead",
            (PAST, f"{PAST}.logical_not().triu(2).logical_not()"),
            says="Each token sees one token of the future: what is hidden begins right behind the diagonal.",
            number=54,
        ),
        known("transposed", (PAST, f"{PAST}.T"), says="The causal mask: " + TRANSPOSED, number=55),
        known(
            "pad-is-zero",
            (PADDING, PADDING.replace("pad_id", "0")),
            says="The id 0 is taken for padding: which id fills up is said by `pad_id`.",
        ),
        known(
            "counted-from-left",
            (PADDING, "(torch.arange(length) < (ids != pad_id).sum(1, keepdim=True))[:, None, None]"),
            says="The real tokens are counted, and so many taken from the left: rows may be filled up on the left too.",
        ),
        known(
            "causal-as-it-is",
            (BOTH, PAST),
            says="Padding is not hidden: this is the causal mask alone, with its two axes.",
        ),
        known(
            "padding-as-it-is",
            (BOTH, PADDING),
            says="The future is not hidden: this is the padding mask alone, one row for all queries.",
        ),
        known(
            "blind-rows-opened",
            (f"return {BOTH}", f"keep = {BOTH}\n    return keep | ~keep.any(-1, keepdim=True)"),
            says="A query that may look at nothing is shown everything: leave its row empty, the softmax of this "
            "course gives it zeros.",
        ),
        known(
            "diagonal-opened",
            (BOTH, f"({BOTH}) | torch.eye(length, dtype=torch.bool)"),
            says="The diagonal is opened again, so padding looks at itself: a token of padding may not be looked at by "
            "anybody.",
        ),
        *additive(BOTH),
        known(
            "no-axis-for-heads",
            (BOTH, f"({BOTH})[:, 0]"),
            says="The mask has three axes, (B, T, T), and B would land on the heads: (B, 1, T, T) is asked for.",
            number=58,
        ),
    ),
)


def _convert_cases(rng: Rng) -> list[Case]:
    def case(label: str, shape: tuple[int, ...], mask: np.ndarray, dtype: str, part: str = "core") -> Case:
        scores = normal(rng, *shape, dtype=dtype)
        return Case(label, (scores, mask), part=part, keeps_dtype=True)

    def hidden(*shape: int) -> np.ndarray:
        return ~draws.seeing_mask(rng, *shape)

    return [
        case("four queries, five keys", (4, 5), hidden(4, 5), "float32"),
        case("a batch with heads, one mask for all", (2, 3, 4, 4), hidden(4, 4), "float32"),
        case("padding: a mask (B, 1, 1, S)", (2, 3, 4, 5), hidden(2, 1, 1, 5), "float32"),
        case("nothing is hidden", (3, 3), np.zeros((3, 3), dtype=bool), "float32"),
        case("float64", (3, 6), hidden(3, 6), "float64", "dtype"),
        case("half precision", (3, 4), hidden(3, 4), "float16", "dtype"),
    ]


def _convert(scores: Any, hidden: Any) -> Any:
    import torch

    return torch.where(hidden, -torch.inf, torch.zeros_like(scores))


FILLED = 'torch.zeros_like(scores).masked_fill(mask, float("-inf"))'

CONVERT = Task(
    id="08.convert",
    name="to_additive",
    title="The same mask, to be added",
    points=3,
    minutes=6,
    difficulty=2,
    page=PAGE,
    anchor="decoder-polarity",
    returns=("added",),
    cases=_convert_cases,
    oracle=_convert,
    parts={"core": 0.8, "dtype": 0.2},
    mistakes=(
        known(
            "mask-inverted",
            ("masked_fill(mask", "masked_fill(~mask"),
            says="The mask is read the wrong way round: in THIS task True means may NOT look, as in "
            "nn.MultiheadAttention.",
            number=48,
        ),
        known(
            "minus-billion",
            ('float("-inf")', "-1e9"),
            says="-1e9 stands for -inf: half precision ends at 65504 and cannot hold it, and a row that is hidden as a "
            "whole comes out uniform. Write float('-inf').",
            number=52,
        ),
        known(
            "zero-times-infinity",
            (FILLED, 'mask.to(scores.dtype) * float("-inf") + torch.zeros_like(scores)'),
            says="0 times infinity is NaN, and so it stands wherever nothing is hidden: choose, do not multiply "
            "(masked_fill, where).",
        ),
        known(
            "minus-ten-thousand",
            ('float("-inf")', "-1e4"),
            says="-1e4 stands for -inf: it hides until a score lies lower still, and a row that is hidden as a whole "
            "comes out uniform. Write float('-inf').",
            number=50,
        ),
        known(
            "lowest-number",
            ('float("-inf")', "torch.finfo(scores.dtype).min"),
            says="The lowest number of the dtype stands for -inf: a row that is hidden as a whole comes out uniform, "
            "and added to a negative score it overflows. Write float('-inf').",
            number=51,
        ),
        known("plus-infinity", ('"-inf"', '"inf"'), says="The sign is missing: exp(+inf) takes all the weight."),
        known(
            "ones-for-zeros",
            ("zeros_like", "ones_like"),
            says="1 is added where one may look: to leave a score as it is, add 0.",
        ),
        known(
            "scores-added",
            (FILLED, FILLED + " + scores"),
            says="The scores are in it already: what is to be added to them is asked for.",
        ),
        known(
            "not-spread",
            (FILLED, 'torch.where(mask, float("-inf"), 0.0).to(scores.dtype)'),
            says="The result has the shape of the mask: it is to have that of the scores.",
        ),
        dtype_lost((FILLED, FILLED + ".to(torch.float64 if scores.dtype == torch.float32 else torch.float32)")),
    ),
)
