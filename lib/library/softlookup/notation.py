"""The one legend of axis letters, used by code, prose, formulas and figures alike."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """One letter of the legend.

    Attributes:
        letter: The letter as it stands in shape suffixes (``q_BNTH``).
        meaning: What is counted along that axis.
        elsewhere: The letters that the lectures and the papers use for it.
    """

    letter: str
    meaning: str
    elsewhere: str


LEGEND: tuple[Axis, ...] = (
    Axis("B", "sequences in a batch", "b, batch_size"),
    Axis("T", "query positions: the tokens that look", "n, s, L, seq_len"),
    Axis("S", "key positions: the tokens that are looked at", "n, s, L, seq_len"),
    Axis("D", "model width: numbers in a token's vector", "d, d_model, h"),
    Axis("N", "query heads", "h, H, num_heads"),
    Axis("K", "key-value heads", "h, H, n_kv"),
    Axis("H", "head width: numbers in one query, key or value", "d_k, d_v, d"),
    Axis("F", "hidden width of the feed-forward network", "d_ff, 4d"),
    Axis("V", "words in the vocabulary", "|V|, vocab_size"),
    Axis("L", "layers", "N, num_layers"),
)

LETTERS: frozenset[str] = frozenset(axis.letter for axis in LEGEND)


def meaning(letter: str) -> str:
    """Say what an axis letter counts, in a few words; KeyError with the letters of the legend if this is none of them.

    >>> meaning("H")
    'head width: numbers in one query, key or value'
    """
    for axis in LEGEND:
        if axis.letter == letter:
            return axis.meaning
    known = " ".join(axis.letter for axis in LEGEND)
    raise KeyError(f"no axis {letter!r} in the legend; the letters are {known}")


def legend_markdown() -> str:
    """Write the legend as a Markdown table, for the book's notation page."""
    # A bar inside a cell would end it.
    rows = [f"| **{a.letter}** | {a.meaning} | {a.elsewhere.replace('|', chr(92) + '|')} |" for a in LEGEND]
    return "\n".join(["| letter | what it counts | elsewhere also |", "|---|---|---|", *rows])
