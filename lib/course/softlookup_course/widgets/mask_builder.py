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

LONGEST = 12
"""The most tokens that the grid has room for."""

PRESETS = ("everything", "causal", "padding", "combined", "window", "prefix")


@dataclass(frozen=True)
class Look:
    """One sentence with its scores.

    Attributes:
        title: A few words for the chooser.
        tokens: The tokens; each attends to all of them.
        scores: A row for each query, already divided by the root of the head width.
        real: Whether each token is a word (True) or padding.
    """

    title: str
    tokens: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    real: tuple[bool, ...]

    def checked(self) -> "Look":
        """Give this sentence with plain lists inside, and refuse what fits no grid.

        If there are no tokens or too many, or scores or real have another size, a ValueError names it.
        """
        n, shape = len(self.tokens), np.shape(self.scores)
        if not 1 <= n <= LONGEST:
            raise ValueError(f"{self.title!r}: {n} tokens, wanted 1 to {LONGEST}")
        if shape != (n, n):
            raise ValueError(f"{self.title!r}: scores have shape {shape}, wanted {(n, n)}")
        if len(self.real) != n:
            raise ValueError(f"{self.title!r}: real has {len(self.real)} entries, wanted {n}")
        scores = tuple(tuple(float(score) for score in row) for row in self.scores)
        return Look(self.title, tuple(self.tokens), scores, tuple(bool(is_real) for is_real in self.real))


def preset(name: str, real: Sequence[bool], *, width: int = 3, prefix: int = 3) -> np.ndarray:
    """Make one of the masks that can be chosen, PRESETS, (T, T), True = may attend; another name is a ValueError.

    ``real`` says whether each token is a word; ``width`` is tokens of the window, the query's own counted; ``prefix``
    how many tokens at the beginning are known as a whole.
    """
    n = len(real)
    words = padding_mask(np.array([real]).astype(int), pad_id=0)[0, 0] & np.ones((n, n), bool)
    made = {
        "everything": np.ones((n, n), bool),
        "causal": causal_mask(n),
        "padding": words,
        "combined": combine_masks(causal_mask(n), words),
        "window": window_mask(n, width),
        "prefix": causal_mask(n) | (np.arange(n) < prefix)[None, :],
    }
    if name not in made:
        raise ValueError(f"there is no mask {name!r}; there are {', '.join(made)}")
    return np.asarray(made[name])


def describe(look: Look, mask: np.ndarray) -> dict[str, Any]:
    """Work out every number that the figure shows for one mask (T, T), True = may attend.

    weights (T, T); outputs (T, 2): the mean position that a token attends to, from 0, and its weight on padding;
    allowed, how many pairs may attend; future, how many of them look ahead; blind, the rows that see nothing.
    """
    n = len(look.tokens)
    scores_TS = np.asarray(look.scores)
    # Scores as queries that meet an identity for keys; its root is multiplied back.
    values_SV = np.stack([np.arange(n), ~np.array(look.real)], axis=1)
    outputs = scaled_dot_product_attention(scores_TS * np.sqrt(n), np.eye(n), values_SV, np.asarray(mask))
    return {
        "weights": plain_softmax(np.where(mask, scores_TS, -np.inf)),
        "outputs": outputs,
        "allowed": int(np.sum(mask)),
        "future": int(np.triu(mask, 1).sum()),
        "blind": [int(row) for row in np.flatnonzero(~np.any(mask, axis=1))],
    }


def static_table(look: Look) -> str:
    """Write the causal mask of a sentence and its weights as HTML, for readers whose browser runs no script."""
    weights = describe(look, causal_mask(len(look.tokens)))["weights"]
    rows = ((token, *(f"{w:.2f}" for w in row)) for token, row in zip(look.tokens, weights, strict=True))
    sentence = (
        f"<p>{escape(look.title)}: attention weights under the causal mask. With scripts switched on, you can change "
        "every cell of the mask.</p>"
    )
    return sentence + plain_table(("", *look.tokens), rows)


class MaskBuilder(InteractiveFigure):
    """Build a mask cell by cell, and see what happens to weights and outputs.

    The script computes the softmax, since any mask can be made; tests compare it with ``describe``. A ValueError if
    there is no sentence, or one fits no grid.
    """

    looks = traitlets.List(traitlets.Dict(), help="sentences: title, tokens, scores, real").tag(sync=True)
    chosen = traitlets.Int(0, help="which sentence is shown").tag(sync=True)
    start = traitlets.Unicode("causal", help="the mask that is shown first").tag(sync=True)

    def __init__(self, looks: Sequence[Look]) -> None:
        if not looks:
            raise ValueError("MaskBuilder needs at least one sentence, got none")
        records = [look.checked() for look in looks]
        super().__init__(looks=[asdict(record) for record in records], fallback=static_table(records[0]))
