"""Writing token by token: greedy or drawn, many sequences at once, each of which stops on its own."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from softlookup.model.decoding.sampling import check_sampling, next_token_probabilities, pick
from softlookup.model.decoding.stepping import Prefixes, check_length


@dataclass(frozen=True, eq=False)
class Generated:
    """What was written.

    Attributes:
        ids: The prompts and what follows them, filled up with pad_id behind the end.
        lengths: How many tokens were written in each row, the end token counted.
        log_probabilities: Of what was written in each row: the sum over its tokens, by the model's own distribution
            (before temperature, top-k and top-p).
        prompt_length: How many of the columns are the prompt.
    """

    ids: Int[Tensor, "B T"]
    lengths: Int[Tensor, " B"]
    log_probabilities: Float[Tensor, " B"]
    prompt_length: int

    @property
    def new_ids(self) -> Int[Tensor, "B M"]:
        """What was written, without the prompts."""
        return self.ids[:, self.prompt_length :]


@torch.no_grad()
def generate(
    step: Any,
    prompt_ids: Int[Tensor, "B T"],
    *,
    max_new_tokens: int,
    end_id: int | None = None,
    pad_id: int = 0,
    temperature: float | int = 0.0,
    top_k: int | None = None,
    top_p: float | int | None = None,
    generator: torch.Generator | None = None,
    state: Any = None,
    prompt_mask: Bool[Tensor, "B T"] | None = None,
    drop_finished: bool = True,
) -> Generated:
    """Continue each prompt, one token at a time.

    The rows do not know of each other: each is written as if it stood alone, up to the rounding of products in
    batches of another size. With luck (temperature above 0) every row is given its own number at every step, whether
    or not others have ended, so that dropping finished rows changes nothing either.

    Args:
        step: A function or a model, as in `stepping`: step(ids, state) takes the tokens not yet seen and returns the
            logits of the next one, (B, V), and the new state. A state of None means that nothing is remembered; such
            a step is given all tokens every time.
        prompt_ids: What to continue, at least one token in each row.
        max_new_tokens: Where to stop at the latest.
        end_id: The token after which a row is finished; it is kept and counted. None: all rows run to the limit.
        pad_id: What finished rows are filled up with. It may be the end token.
        temperature: 0 takes the likeliest token (the lowest id of equal ones); above it the token is drawn.
        top_k: Draw among the k likeliest only.
        top_p: Draw among the likeliest that hold this mass.
        generator: Where the luck comes from; None means torch's own, for the device of the prompts.
        state: What the model remembers before the prompt, such as an encoder's output. The model may change it.
        prompt_mask: Where prompts of unequal lengths are filled up on the left: True = token. See `Prefixes`.
        drop_finished: Take finished rows out of the batch, so that they cost nothing. Otherwise they go on as pads.

    Returns:
        Ids (B, at most T + max_new_tokens), lengths and log-probabilities, in the order of the prompts.

    Raises:
        ValueError: If the prompt is empty, a setting is out of its range, an id is not among the model's tokens, or
            the model's logits are of the wrong shape, hold NaN or +inf, or leave no token.
        TypeError: If ids, mask or what the step returns are of the wrong kind.

    Cost: one call of the step for each token of the longest row.

    Source: Vaswani et al. 2017, section 3 (one token at a time); Holtzman et al. 2020 (drawing).
    """
    check_length(max_new_tokens)
    check_sampling(temperature, top_k, top_p)
    special_ids = {"pad_id": pad_id} | ({} if end_id is None else {"end_id": end_id})
    prefixes = Prefixes(step, prompt_ids, state, prompt_mask, special_ids)
    n_rows, prompt_length = prompt_ids.shape
    device = prompt_ids.device
    ids_BT = torch.nn.functional.pad(prefixes.ids, (0, max_new_tokens), value=pad_id)
    lengths_B = torch.full((n_rows,), max_new_tokens, device=device)
    log_p_BT = torch.zeros(n_rows, max_new_tokens, dtype=torch.float64, device=device)
    rows_M = torch.arange(n_rows, device=device)  # which sentences the running batch holds
    going_M = torch.ones_like(rows_M, dtype=torch.bool)
    some_ended = False  # and are still in the batch
    for length in range(1, max_new_tokens + 1):
        log_p_MV = prefixes.next_log_probabilities()
        if temperature == 0:
            log_p_M, tokens_M = log_p_MV.max(dim=-1)
        else:
            probabilities_MV = next_token_probabilities(log_p_MV, temperature=temperature, top_k=top_k, top_p=top_p)
            tokens_M = pick(probabilities_MV, _uniforms(n_rows, generator, device)[rows_M])
            log_p_M = log_p_MV.gather(1, tokens_M[:, None])[:, 0]
        if some_ended:
            log_p_M, tokens_M = torch.where(going_M, log_p_M, 0.0), torch.where(going_M, tokens_M, pad_id)
        live_rows = slice(None) if len(rows_M) == n_rows else rows_M  # a slice is written to in half the time
        log_p_BT[live_rows, length - 1] = log_p_M.double()
        ids_BT[live_rows, prompt_length + length - 1] = tokens_M
        prefixes.append(tokens_M)
        if end_id is None:
            continue
        ends_M = going_M & (tokens_M == end_id)
        if ends_M.any():
            lengths_B[rows_M[ends_M]] = length
            going_M = going_M & ~ends_M
            some_ended = True
            if not going_M.any():
                break
            if drop_finished:
                still_M = going_M.nonzero()[:, 0]
                prefixes.select(still_M)
                rows_M, going_M, some_ended = rows_M[still_M], going_M[still_M], False
    return Generated(ids_BT[:, : prompt_length + int(lengths_B.max())], lengths_B, log_p_BT.sum(dim=1), prompt_length)


def _uniforms(n_rows: int, generator: torch.Generator | None, device: torch.device) -> Tensor:
    source = device if generator is None else generator.device
    return torch.rand(n_rows, generator=generator, dtype=torch.float64, device=source).to(device)
