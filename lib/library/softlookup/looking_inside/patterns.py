"""Scores of attention patterns: induction heads, previous-token heads, attention sinks.

Letters of its own: P tokens of a block that is repeated.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from softlookup.model.parts.trace import Trace
from softlookup.model.whole.language import DecoderLM, EncoderLM


def repeated_blocks(
    tokens: int | Sequence[int], length: int, *, rows: int = 1, seed: int = 0
) -> Int[Tensor, "{rows} {2*length}"]:
    """Draw blocks of random tokens, each repeated once: nothing but the first copy tells what comes in the second.

    Args:
        tokens: Which ids to draw from, or how many (0 to tokens - 1). No id comes twice in a block.
        length: P, the tokens of a block.
        rows: How many texts.
        seed: Where the luck comes from.

    Returns:
        Texts of 2P tokens.

    Raises:
        ValueError: If there are fewer ids than tokens in a block, or a block has fewer than two.

    >>> repeated_blocks(10, 3).tolist()
    [[4, 1, 7, 4, 1, 7]]
    """
    known = torch.arange(tokens) if isinstance(tokens, int) else torch.tensor(tokens)
    if not 2 <= length <= len(known):
        raise ValueError(f"a block of {length} different tokens out of {len(known)}; wanted 2 to {len(known)}")
    generator = torch.Generator().manual_seed(seed)
    block_BP = torch.stack([known[torch.randperm(len(known), generator=generator)[:length]] for _ in range(rows)])
    return torch.cat((block_BP, block_BP), dim=1)


def induction_scores(model: DecoderLM | EncoderLM, ids: Int[Tensor, "B T"]) -> Float[Tensor, "L N"]:
    """Score each head as an induction head: does it attend to what followed the same token the last time?

    Args:
        model: A model in evaluation mode.
        ids: Texts that are a block of P tokens, twice; repeated_blocks draws some.

    Returns:
        The mean weight from each token of the second copy to the token after its first occurrence, from 0 to 1.
        The score describes a pattern. That the head is used for copying has to be shown by silencing it.

    Raises:
        ValueError: If the texts are not a block repeated once, or it has fewer than two tokens.

    Source: Olsson et al. 2022 (In-context Learning and Induction Heads), "prefix matching".
    """
    length = ids.shape[1] // 2
    if length < 2 or ids.shape[1] % 2 or not torch.equal(ids[:, :length], ids[:, length:]):
        raise ValueError(f"ids have {ids.shape[1]} tokens; wanted a block of two or more, repeated once in each row")
    queries = torch.arange(length, 2 * length)
    return _mean_weights(model, ids, queries, queries - length + 1)


def previous_token_scores(model: DecoderLM | EncoderLM, ids: Int[Tensor, "B T"]) -> Float[Tensor, "L N"]:
    """Score each head as a previous-token head: the mean weight from each token to the one before it.

    Args:
        model: A model in evaluation mode.
        ids: Texts of two tokens or more.

    Returns:
        The score of each head, from 0 to 1.

    Raises:
        ValueError: If the texts have fewer than two tokens.

    Source: Olsson et al. 2022.
    """
    _check_length(ids)
    queries = torch.arange(1, ids.shape[1])
    return _mean_weights(model, ids, queries, queries - 1)


def sink_shares(model: DecoderLM | EncoderLM, ids: Int[Tensor, "B T"]) -> Float[Tensor, "L N"]:
    """Say how much weight each head leaves on the first token, whatever that is.

    Args:
        model: A model in evaluation mode.
        ids: Texts of two tokens or more. Their second halves are the queries: early tokens have little else to see.

    Returns:
        The mean weight on the first token, from 0 to 1.

    Raises:
        ValueError: If the texts have fewer than two tokens.

    Source: Xiao et al. 2023 (attention sinks), section 3.1.
    """
    _check_length(ids)
    queries = torch.arange(ids.shape[1] // 2, ids.shape[1])
    return _mean_weights(model, ids, queries, torch.zeros_like(queries))


@torch.no_grad()
def _mean_weights(model: DecoderLM | EncoderLM, ids: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    trace = Trace()
    model(ids, trace=trace)
    return torch.stack([weights_BNTS[:, :, queries, keys].mean(dim=(0, 2)) for weights_BNTS in trace.weights])


def _check_length(ids: Tensor) -> None:
    if ids.shape[1] < 2:
        raise ValueError(f"ids have {ids.shape[1]} token in a row; wanted at least 2")
