"""Beam search: write several continuations side by side, and choose among them when they have ended.

Letters of its own: P prompts that are not finished, W hypotheses of a prompt side by side, E ended ones that are kept.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from softlookup.model.decoding.generate import Generated
from softlookup.model.decoding.sampling import largest
from softlookup.model.decoding.stepping import Prefixes, check_length


@dataclass(frozen=True)
class Node:
    """One hypothesis at one step of a search, for a picture of the tree.

    Attributes:
        token: Its last token.
        parent: Which node of the step before it continues; 0 at the first step, where the prompt is the only one.
        log_probability: Of all that was written so far.
        ended: Whether it stops here: by the end token, or at the limit.
    """

    token: int
    parent: int
    log_probability: float
    ended: bool


@dataclass(frozen=True, eq=False)
class BeamResult:
    """The best hypotheses that a search found for each prompt, best first.

    Where a prompt has fewer than were asked for, the rest have length 0 and score -inf.

    Attributes:
        ids: The prompts and what follows them, filled up with pad_id behind the end; E is how many were kept.
        lengths: How many tokens were written, the end token counted.
        log_probabilities: Of what was written.
        scores: Log-probability over length penalty: what the hypotheses are ranked by.
        prompt_length: How many of the columns are the prompt.
        trace: For each prompt, for each step, what was kept, likeliest first; None if it was not asked for.
    """

    ids: Int[Tensor, "B E T"]
    lengths: Int[Tensor, "B E"]
    log_probabilities: Float[Tensor, "B E"]
    scores: Float[Tensor, "B E"]
    prompt_length: int
    trace: tuple[tuple[tuple[Node, ...], ...], ...] | None = None

    @property
    def best(self) -> Generated:
        """The best hypothesis of each prompt, in the form that `generate` gives."""
        lengths_B = self.lengths[:, 0]
        end = self.prompt_length + int(lengths_B.max())
        return Generated(self.ids[:, 0, :end], lengths_B, self.log_probabilities[:, 0], self.prompt_length)


def length_penalty_of(length: int, alpha: float | int) -> float:
    """Give what a hypothesis' log-probability is divided by, so that short ones do not win by being short.

    Args:
        length: Tokens written, the end token counted.
        alpha: 0 for no penalty; 1 is close to the mean for each token.

    Returns:
        ((5 + length) / 6) ** alpha.

    Source: Wu et al. 2016, equation 14.

    >>> length_penalty_of(7, 1.0)
    2.0
    """
    return float(((5 + length) / 6) ** alpha)


@torch.no_grad()
def beam_search(
    step: Any,
    prompt_ids: Int[Tensor, "B T"],
    *,
    beams: int = 4,
    max_new_tokens: int,
    end_id: int,
    pad_id: int = 0,
    length_penalty: float | int = 0.6,
    state: Any = None,
    prompt_mask: Bool[Tensor, "B T"] | None = None,
    keep: int = 1,
    trace: bool = False,
) -> BeamResult:
    """Look for the continuation of the best score, keeping a few open at every step.

    One step: every open hypothesis is continued by every token, and the `beams` likeliest continuations of a prompt
    are kept, by log-probability alone. Those that end (by end_id, or at the limit) are ranked by their score, and the
    best `keep` stay; the others are open at the next step. With one beam this is greedy search; with as many beams
    as there are continuations it is exhaustive.

    A prompt is finished when nothing is open, or when `keep` hypotheses have ended and no open one can come among
    them any more: log-probabilities only fall, so that log-probability now over penalty at the limit is more than an
    open one can ever reach. Stopping so never changes the result. Finished prompts leave the batch.

    Ties: of equally likely continuations, those of the likelier parent come first, then those of the lower token id.
    Of equal scores, the one that ended first comes first, then the one that ranked higher in its step.

    Args:
        step: A function or a model, as for `generate`. The first call has a row for each prompt, later ones a row for
            each open hypothesis.
        prompt_ids: What to continue, at least one token in each row.
        beams: How many continuations of a prompt are kept at a step.
        max_new_tokens: Where to stop at the latest; a hypothesis that is cut off there counts as ended.
        end_id: The token that ends a hypothesis; it is kept and counted.
        pad_id: What shorter hypotheses are filled up with.
        length_penalty: The exponent alpha of ((5 + length) / 6) ** alpha; 0 for none.
        state: What the model remembers before the prompt, such as an encoder's output. The model may change it.
        prompt_mask: Where prompts of unequal lengths are filled up on the left: True = token. See `Prefixes`.
        keep: How many hypotheses to return for each prompt, at most `beams`.
        trace: Whether to note every step's hypotheses, for a picture.

    Returns:
        The best hypotheses, in the order of the prompts.

    Raises:
        ValueError: If the prompt is empty, a setting is out of its range, an id is not among the model's tokens, or
            the model's logits are of the wrong shape, hold NaN or +inf, or leave no token.
        TypeError: If ids, mask or what the step returns are of the wrong kind.

    Cost: `beams` times the rows of greedy search at every step, and a search of B*beams*V numbers.

    Source: Sutskever et al. 2014, section 3.2; Wu et al. 2016, section 7.
    """
    check_length(max_new_tokens)
    _check_beams(beams, keep, length_penalty)
    prefixes = Prefixes(step, prompt_ids, state, prompt_mask, {"end_id": end_id, "pad_id": pad_id})
    device, n_prompts = prompt_ids.device, len(prompt_ids)
    ended_best = _Ended(prefixes.ids, keep, max_new_tokens, pad_id)
    notes: list[list[tuple[Node, ...]]] = [[] for _ in range(n_prompts)]

    # The running batch has one row (M) for each open hypothesis of the prompts (P) that are not finished. A
    # hypothesis is found by its prompt's place among those, and by its rank (W) among what the last step kept.
    prompts_P = torch.arange(n_prompts, device=device)
    place_M, rank_M, width = torch.arange(n_prompts, device=device), torch.zeros_like(prompts_P), 1
    total_M = torch.zeros(n_prompts, device=device)
    for length in range(1, max_new_tokens + 1):
        log_p_MV = prefixes.next_log_probabilities()
        vocab_size = log_p_MV.shape[1]
        # Ranks that have no open hypothesis stay at -inf and are never chosen.
        table_PWV = log_p_MV.new_full((len(prompts_P), width, vocab_size), -math.inf)
        table_PWV[place_M, rank_M] = log_p_MV + total_M[:, None].to(log_p_MV.dtype)
        row_PW = torch.zeros(len(prompts_P), width, dtype=torch.int64, device=device)
        row_PW[place_M, rank_M] = torch.arange(len(place_M), device=device)

        width = min(beams, width * vocab_size)
        total_PW, place_in_table_PW = largest(table_PWV.flatten(1), width)
        parent_PW, token_PW = place_in_table_PW // vocab_size, place_in_table_PW % vocab_size
        row_PW = row_PW.gather(1, parent_PW)
        possible_PW = total_PW > -math.inf
        ends_PW = possible_PW & ((token_PW == end_id) | (length == max_new_tokens))
        open_PW = possible_PW & ~ends_PW
        if trace:
            _note(notes, prompts_P, token_PW, parent_PW, total_PW, ends_PW)
        if ends_PW.any():
            ids_PWT = torch.cat((prefixes.ids[row_PW], token_PW[:, :, None]), dim=2)
            score_PW = total_PW / length_penalty_of(length, length_penalty)
            ended_best.add(prompts_P, ids_PWT, total_PW, score_PW.masked_fill(~ends_PW, -math.inf), length)

        likeliest_P = total_PW.masked_fill(~open_PW, -math.inf).amax(dim=1)
        reach_P = likeliest_P / length_penalty_of(max_new_tokens, length_penalty)
        going_P = reach_P > ended_best.score_BE[prompts_P, -1]
        if not going_P.any():
            break
        place_M, rank_M = (open_PW & going_P[:, None]).nonzero(as_tuple=True)
        prefixes.select(row_PW[place_M, rank_M])
        prefixes.append(token_PW[place_M, rank_M])
        total_M = total_PW[place_M, rank_M]
        place_M = (going_P.cumsum(dim=0) - 1)[place_M]  # the finished prompts leave, the others close ranks
        prompts_P = prompts_P[going_P]
    return ended_best.result(tuple(map(tuple, notes)) if trace else None)


class _Ended:
    """The best hypotheses that have ended, for each prompt (B), best first (E of them)."""

    def __init__(self, prompt_ids: Tensor, keep: int, max_new_tokens: int, pad_id: int) -> None:
        n_prompts, self.prompt_length = prompt_ids.shape
        padded_BT = torch.nn.functional.pad(prompt_ids, (0, max_new_tokens), value=pad_id)
        self.ids_BET = padded_BT[:, None].repeat(1, keep, 1)
        self.length_BE = torch.zeros_like(self.ids_BET[:, :, 0])
        # Kept in float64, so that nothing is lost whatever the dtype of the model.
        self.log_p_BE = torch.full((n_prompts, keep), -math.inf, dtype=torch.float64, device=prompt_ids.device)
        self.score_BE = self.log_p_BE.clone()
        self._pad_id = pad_id

    def add(self, prompts_P: Tensor, ids_PWT: Tensor, log_p_PW: Tensor, score_PW: Tensor, length: int) -> None:
        """Let hypotheses of one length compete with those that are here; a score of -inf is none."""
        keep, total = self.ids_BET.shape[1:]
        ids_PWT = torch.nn.functional.pad(ids_PWT, (0, total - ids_PWT.shape[2]), value=self._pad_id)
        # Those that are here come first, so that they win ties.
        score_PM = torch.cat((self.score_BE[prompts_P], score_PW.double()), dim=1)
        score_PE, chosen_PE = largest(score_PM, keep)
        self.score_BE[prompts_P] = score_PE

        def choose(here: Tensor, new: Tensor) -> Tensor:
            both_PM = torch.cat((here[prompts_P], new.to(here.dtype)), dim=1)
            return both_PM[torch.arange(len(both_PM), device=new.device)[:, None], chosen_PE]

        self.ids_BET[prompts_P] = choose(self.ids_BET, ids_PWT)
        self.length_BE[prompts_P] = choose(self.length_BE, torch.full_like(score_PW, length))
        self.log_p_BE[prompts_P] = choose(self.log_p_BE, log_p_PW)

    def result(self, trace: tuple[tuple[tuple[Node, ...], ...], ...] | None) -> BeamResult:
        """Cut off the columns that nothing reached."""
        end = self.prompt_length + int(self.length_BE.max())
        return BeamResult(
            self.ids_BET[:, :, :end], self.length_BE, self.log_p_BE, self.score_BE, self.prompt_length, trace
        )


def _note(
    notes: list[list[tuple[Node, ...]]], prompts: Tensor, token: Tensor, parent: Tensor, total: Tensor, ends: Tensor
) -> None:
    columns = (x.tolist() for x in (prompts, token, parent, total, ends))
    for prompt, *row in zip(*columns, strict=True):
        nodes = (Node(*values) for values in zip(*row, strict=True))
        notes[prompt].append(tuple(node for node in nodes if node.log_probability > -math.inf))


def _check_beams(beams: int, keep: int, length_penalty: float | int) -> None:
    if beams < 1:
        raise ValueError(f"beams must be at least 1; got {beams}")
    if not 1 <= keep <= beams:
        raise ValueError(f"keep must be 1 to beams ({beams}); got {keep}")
    if not 0 <= length_penalty < math.inf:
        raise ValueError(f"length_penalty must be a finite number of at least 0; got {length_penalty}")
