"""A mask to be clicked together: which token may attend to which, and what becomes of weights and outputs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
import traitlets

from softlookup.reference import causal_mask, combine_masks, padding_mask, scaled_dot_product_attention, window_mask
from softlookup.reference import softmax as plain_softmax
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

PRESETS = ("everything", "causal", "padding", "combined", "window", "prefix")


@dataclass(frozen=True)
class Look:
    """One sentence with its scores."""

    title: str  # a few words for the chooser
    tokens: tuple[str, ...]  # the tokens; each attends to all of them
    scores: tuple[tuple[float, ...], ...]  # A row for each query, already divided by the root of the head width
    real: tuple[bool, ...]  # whether each token is a word (True) or padding

    def plain(self) -> "Look":
        """Give this sentence with plain numbers inside, for JSON."""
        scores = tuple(tuple(float(score) for score in row) for row in self.scores)
        return Look(self.title, tuple(self.tokens), scores, tuple(bool(is_real) for is_real in self.real))


def preset(name: str, real: Sequence[bool], *, width: int = 3, prefix: int = 3) -> np.ndarray:
    """Make one of PRESETS, (T, T), True = may attend; ``width`` counts the query's own token."""
    n = len(real)
    words = padding_mask(np.array([real]).astype(int), pad_id=0)[0, 0] & np.ones((n, n), bool)
    masks = {
        "everything": np.ones((n, n), bool),
        "causal": causal_mask(n),
        "padding": words,
        "combined": combine_masks(causal_mask(n), words),
        "window": window_mask(n, width),
        "prefix": causal_mask(n) | (np.arange(n) < prefix)[None, :],
    }
    return np.asarray(masks[name])


def describe(sentence: Look, mask: np.ndarray) -> dict[str, Any]:
    """Compute what the figure shows for one mask (T, T)."""
    n = len(sentence.tokens)
    scores_TS = np.asarray(sentence.scores)
    # Scores as queries that meet an identity for keys; its root is multiplied back.
    values_SV = np.stack([np.arange(n), ~np.array(sentence.real)], axis=1)
    outputs = scaled_dot_product_attention(scores_TS * np.sqrt(n), np.eye(n), values_SV, np.asarray(mask))
    return {
        "weights": plain_softmax(np.where(mask, scores_TS, -np.inf)),
        "outputs": outputs,
        "allowed": int(np.sum(mask)),
        "future": int(np.triu(mask, 1).sum()),
        "blind": [int(row) for row in np.flatnonzero(~np.any(mask, axis=1))],
    }


def static_table(sentence: Look) -> str:
    """Write the causal mask of a sentence and its weights as HTML, for readers whose browser runs no script."""
    weights = describe(sentence, causal_mask(len(sentence.tokens)))["weights"]
    rows = ((token, *(f"{w:.2f}" for w in row)) for token, row in zip(sentence.tokens, weights, strict=True))
    introduction = (
        f"<p>{escape(sentence.title)}: attention weights under the causal mask. With scripts switched on, you can "
        "change every cell of the mask.</p>"
    )
    return introduction + plain_table(("", *sentence.tokens), rows)


class MaskBuilder(InteractiveFigure):
    """Build a mask cell by cell, and see what happens to weights and outputs."""

    looks = traitlets.List(traitlets.Dict(), help="sentences: title, tokens, scores, real").tag(sync=True)
    chosen = traitlets.Int(0, help="which sentence is shown").tag(sync=True)
    start = traitlets.Unicode("causal", help="the mask that is shown first").tag(sync=True)

    def __init__(self, looks: Sequence[Look]) -> None:
        records = [sentence.plain() for sentence in looks]
        super().__init__(looks=[asdict(sentence) for sentence in records], fallback=static_table(records[0]))
