"""Patterns over bytes: the automaton of a pattern, for tokens that begin or end within a character.

Letters of its own: S states of an automaton over characters, K kinds of characters that it does not distinguish.
"""

import numpy as np
from jaxtyping import Int

from softlookup.serving.pattern import Automaton

_BLOCK = 64  # values of a byte that continues a character
_MOST_ROWS = 80_000


def byte_automaton(automaton: Automaton) -> Automaton:
    r"""Make of an automaton over characters one over the bytes of their UTF-8.

    It takes exactly the texts in UTF-8 that the other takes; a sequence of bytes that is no UTF-8 leaves it.

    In the result U+0000 to U+00FF stand for the bytes 0 to 255. Its first S states are those of the other, at the ends
    of characters; the others lie within a character. ValueError if it would be too large.

    Source: The Unicode Standard 17.0, table 3-7 (well-formed UTF-8).

    >>> from softlookup.serving import compile_pattern
    >>> automaton = byte_automaton(compile_pattern("é"))
    >>> [automaton.matches(data.decode("latin-1")) for data in (b"\xc3\xa9", b"\xc3", b"\xe9")]
    [True, False, False]
    """
    table_KS, kind_of_column = _distinct(automaton.next_state.T)
    # Kinds of all code points; -1 is for those that no text holds. A character of two bytes is a block and a place in
    # it, one of three bytes a row of 64 blocks, a block and a place, one of four bytes begins with one of five tables.
    kinds = np.full(5 * _BLOCK**3, -1)
    kinds[:0x110000] = kind_of_column[automaton.other]
    kinds[[ord(character) for character in automaton.columns]] = kind_of_column[list(automaton.columns.values())]
    kinds[0xD800:0xE000] = -1
    blocks, block_of = _distinct(kinds.reshape(-1, _BLOCK))
    longer = block_of.copy()
    longer[:32] = -1  # these characters have a shorter form, the only one that is allowed
    rows, row_of = _distinct(longer.reshape(-1, _BLOCK))
    tables = row_of.reshape(5, _BLOCK).copy()
    tables[0, :16] = -1
    n_states = len(automaton.final)
    if n_states * (len(blocks) + len(rows)) > _MOST_ROWS:
        raise ValueError(
            f"the pattern has {n_states:,} states and tells characters apart in too many places to be compiled for "
            "tokens in bytes: write a shorter pattern, or classes of fewer ranges"
        )
    within: dict[bytes, int] = {}

    def states(parts: Int[np.ndarray, "P 64"], after: Int[np.ndarray, " Q"]) -> Int[np.ndarray, " P1"]:
        """Number the states before a byte that continues a character; the last entry is for -1."""
        targets = after[parts]
        numbers = [
            within.setdefault(row.tobytes(), n_states + len(within)) if alive else -1
            for row, alive in zip(targets, (targets >= 0).any(axis=1), strict=True)
        ]
        return np.array([*numbers, -1])

    first = np.full((n_states, 257), -1)
    for state, after in enumerate(np.pad(table_KS.T, ((0, 0), (0, 1)), constant_values=-1)):
        in_block = states(blocks, after)
        in_row = states(rows, in_block)
        first[state, :0x80] = after[kinds[:0x80]]
        first[state, 0xC2:0xE0] = in_block[block_of[2:32]]
        first[state, 0xE0:0xF0] = in_row[row_of[:16]]
        first[state, 0xF0:0xF5] = states(tables, in_row)[:-1]
    continued = np.full((len(within), 257), -1)
    if within:
        continued[:, 0x80:0xC0] = np.stack([np.frombuffer(row, dtype=np.int64) for row in within])
    final = np.concatenate([automaton.final, np.zeros(len(within), dtype=bool)])
    return Automaton(np.vstack([first, continued]), final, {chr(byte): byte for byte in range(256)}, 256)


def _distinct(rows: Int[np.ndarray, "n w"]) -> tuple[Int[np.ndarray, "m w"], Int[np.ndarray, " n"]]:
    """Give the distinct rows, and the number of each row among them."""
    number_of: dict[bytes, int] = {}
    numbers = [number_of.setdefault(row.tobytes(), len(number_of)) for row in rows]
    return np.stack([np.frombuffer(row, dtype=rows.dtype) for row in number_of]), np.array(numbers)
