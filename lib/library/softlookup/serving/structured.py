"""Structured decoding: a model that writes only what fits a pattern.

Letters of its own: S states of the pattern's automaton.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from softlookup.serving.pattern import Automaton, compile_pattern
from softlookup_inside.untrusted_files import shortened

MOST_ENTRIES = 100_000_000
"""The most entries of the masks, states times tokens: five bytes each."""


class TokenMasks:
    """Which tokens may follow in each state of a pattern.

    A token may cross several states. It is allowed where none of its characters leaves the automaton, and where some
    tokens can complete the text afterwards. The end token is allowed where the text is complete. All masks are
    computed beforehand.

    Args:
        pattern: A regular expression, as `compile_pattern` reads it.
        tokens: The text of each token. One without text is never allowed, because it would go nowhere.
        end_id: The token that ends a text; its own text does not matter.

    Attributes:
        masks: Which tokens are allowed in each state, (S, V). State 0 is the first.

    Raises:
        ValueError: If end_id is not among the tokens, a text holds U+FFFD (which stands for half a character), the
            pattern is not of the supported syntax or too large, or these tokens cannot write any text that fits it.

    Cost: S·V steps for each character of the longest token, once; S·V/8 bytes where a mask is stored in bits.

    Source: Willard & Louf 2023, section 3; Dong et al. 2025, section 3.
    """

    def __init__(self, pattern: str, tokens: Sequence[str], end_id: int) -> None:
        if not 0 <= end_id < len(tokens):
            raise ValueError(f"end_id is {end_id}; the {len(tokens)} tokens are 0 to {len(tokens) - 1}")
        automaton, texts = compile_pattern(pattern), _texts(tokens, end_id)
        if (n_states := len(automaton.final)) * len(tokens) > MOST_ENTRIES:
            raise ValueError(
                f"pattern {shortened(repr(pattern))} has {n_states:,} states, and there are {len(tokens):,} tokens: "
                f"masks would have more than {MOST_ENTRIES:,} entries. Write a pattern of fewer states"
            )
        targets_SV = _targets(automaton, texts)
        live_S = _live(targets_SV, automaton.final)
        if not live_S[0]:
            raise ValueError(
                f"the {len(tokens)} tokens cannot write any text that fits the pattern {shortened(repr(pattern))}"
            )
        self.masks: Bool[np.ndarray, "S V"] = (targets_SV >= 0) & live_S[targets_SV] & live_S[:, None]
        self.masks[:, end_id] = automaton.final
        self._targets, self._final, self._end_id = targets_SV, automaton.final, end_id

    def allowed_tokens(self, state: int) -> Bool[np.ndarray, " V"]:
        """Say which tokens may follow.

        Args:
            state: 0 at the beginning, later what `advance` returned; -1 is behind the end token.

        Returns:
            True where a token may follow; behind the end token the end token alone.
        """
        if state < 0:
            return np.arange(self.masks.shape[1]) == self._end_id
        return self.masks[state]

    def advance(self, state: int, token: int) -> int:
        """Follow a token.

        Args:
            state: As in `allowed_tokens`.
            token: An allowed one.

        Returns:
            The state behind it; -1 behind the end token, and from there on.

        Raises:
            ValueError: If the token is not allowed in that state.
        """
        if state < 0 or (token == self._end_id and self._final[state]):
            return -1
        if not self.masks[state, token]:
            raise ValueError(f"token {token} is not allowed in state {state}")
        return int(self._targets[state, token])


def _texts(tokens: Sequence[str], end_id: int) -> list[str]:
    """Give each token's text, that of the end token empty."""
    for token_id, text in enumerate(tokens):
        if "\N{REPLACEMENT CHARACTER}" in text and token_id != end_id:
            raise ValueError(
                f"token {token_id} holds U+FFFD, which stands for a part of a character; wanted tokens of whole ones"
            )
    return ["" if token_id == end_id else text for token_id, text in enumerate(tokens)]


def _live(targets_SV: Int[np.ndarray, "S V"], final_S: Bool[np.ndarray, " S"]) -> Bool[np.ndarray, " S"]:
    """The states from which these tokens reach a final state, found from the end."""
    n_states = len(final_S)
    leads_to = np.zeros((n_states, n_states + 1), dtype=bool)  # the last column is for -1
    leads_to[np.arange(n_states)[:, None], targets_SV] = True
    live_S, newest = final_S.copy(), np.flatnonzero(final_S)
    while len(newest):
        grown_S = leads_to[:, newest].any(axis=1) & ~live_S
        live_S |= grown_S
        newest = np.flatnonzero(grown_S)
    return live_S


def _targets(automaton: Automaton, tokens: Sequence[str]) -> Int[np.ndarray, "S V"]:
    """The state behind each token from each state; -1 where it leaves the automaton, or has no text."""
    n_states = len(automaton.final)
    # A last row of -1: from state -1, which indexes it, there is no way back.
    table = np.vstack([automaton.next_state, np.full_like(automaton.next_state[:1], -1)]).astype(np.int32)
    targets_SV = np.repeat(np.arange(n_states, dtype=np.int32)[:, None], len(tokens), axis=1)
    lengths_V = np.array([len(text) for text in tokens])
    for position in range(lengths_V.max()):
        inside = np.flatnonzero(lengths_V > position).tolist()
        columns = [automaton.columns.get(tokens[token][position], automaton.other) for token in inside]
        targets_SV[:, inside] = table[targets_SV[:, inside], columns]
    targets_SV[:, lengths_V == 0] = -1
    return targets_SV


@dataclass(frozen=True, eq=False)
class _StructuredState:
    """The model's memory, and where in the pattern each sequence is."""

    memory: Any
    states: tuple[int, ...]

    def select(self, rows: Int[Tensor, " M"]) -> "_StructuredState":
        chosen = tuple(self.states[row] for row in rows.tolist())
        return _StructuredState(self.memory.select(rows), chosen)


class StructuredStep:
    """A step for `generate` that lets only those tokens follow which fit a pattern. The prompt is free.

    Give `generate` the `end_id` of the masks, and room for the longest text: a text that reaches `max_new_tokens` is
    cut off, and does not fit.

    Args:
        step: A model with a method `step`, or such a method. It has to remember what it has seen.
        masks: The tokens that may follow. The model may have more tokens, which are ruled out.

    Source: Willard & Louf 2023, section 2.
    """

    def __init__(self, step: Any, masks: TokenMasks) -> None:
        self._step, self._masks = getattr(step, "step", step), masks

    def __call__(self, ids: Int[Tensor, "B T"], state: Any = None) -> tuple[Float[Tensor, "B V"], Any]:
        """Take the tokens that the state has not seen, and say what may come next.

        ``ids`` are the prompts at first, then one token for each sequence; ``state`` is the model's memory before the
        prompt, or what the last call returned. Gives the logits, -inf where a token may not follow, and the new state.
        ValueError if a token was not allowed, or the model has fewer tokens than the masks.
        """
        if isinstance(state, _StructuredState):
            memory = state.memory
            last = zip(state.states, ids[:, -1].tolist(), strict=True)
            states = tuple(self._masks.advance(before, token) for before, token in last)
        else:
            memory, states = state, (0,) * len(ids)
        logits_BV, memory = self._step(ids, memory)
        n_tokens = self._masks.masks.shape[1]
        if logits_BV.shape[1] < n_tokens:
            raise ValueError(f"the step has {logits_BV.shape[1]} tokens, the masks {n_tokens}")
        allowed_BV = torch.zeros_like(logits_BV, dtype=torch.bool)
        rows = np.stack([self._masks.allowed_tokens(state) for state in states])
        allowed_BV[:, :n_tokens] = torch.from_numpy(rows)
        return logits_BV.masked_fill(~allowed_BV, -torch.inf), _StructuredState(memory, states)
