"""Speculative sampling: a small model drafts a few tokens, and one pass of the large one keeps or replaces them."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from softlookup.model.decoding.sampling import (
    check_distributions,
    check_sampling,
    check_uniforms,
    next_token_probabilities,
    pick,
)
from softlookup.model.decoding.stepping import Prefixes, check_length
from softlookup.model.parts._places import check_integers
from softlookup.model.parts.cache import KVCache
from softlookup.model.whole.language import DecoderLM


@dataclass(frozen=True, eq=False)
class Speculated:
    """What was written, and how good the draft was.

    Attributes:
        ids: The prompt and what follows it.
        prompt_length: How many of the ids are the prompt.
        drafted: How many tokens each round drafted; a draft ends with the end token.
        accepted: How many of them the large model accepted. Each round writes one token more than that; the last one
            does not where the end token was accepted.
    """

    ids: Int[Tensor, "1 T"]
    prompt_length: int
    drafted: tuple[int, ...]
    accepted: tuple[int, ...]

    @property
    def acceptance(self) -> float:
        """The share of the drafted tokens that was accepted; NaN if none was drafted."""
        return sum(self.accepted) / sum(self.drafted) if sum(self.drafted) else float("nan")


def accept_draft(
    p: Float[Tensor, "B M V"],
    q: Float[Tensor, "B T V"],
    drafted: Int[Tensor, "B T"],
    uniforms: Float[Tensor, "B M"],
) -> tuple[Int[Tensor, " B"], Int[Tensor, " B"]]:
    """Decide how many drafted tokens stay, and which token follows them.

    Token x at position t stays with probability min(1, p(x) / q(x)). At the first that does not stay, the next token
    is drawn from max(p - q, 0), divided by its sum; where all stay, one more is drawn from the last row of p. Then
    every token is distributed as if it had been drawn from p, whatever the draft is.

    Args:
        p: The large model's probabilities: at the T drafted positions and at the one behind them, so M = T + 1.
        q: The probabilities that the draft was drawn from.
        drafted: The drafted tokens.
        uniforms: The luck, at least 0 and below 1: one number for each drafted token, and one for the token that
            follows.

    Returns:
        How many tokens stay in each row, 0 to T, and the token that follows them.

    Raises:
        ValueError: If the shapes do not fit together, a row of p or q is no distribution, a uniform is outside [0, 1),
            or a drafted token has probability 0 in q, so that it cannot have been drawn.
        TypeError: If the drafted tokens are no integers.

    Source: Leviathan et al. 2023; Chen et al. 2023 (arXiv 2302.01318).
    """
    rows, length, vocabulary = q.shape
    if p.shape != (rows, length + 1, vocabulary):
        raise ValueError(f"p has shape {tuple(p.shape)}; q of {tuple(q.shape)} wants {(rows, length + 1, vocabulary)}")
    if drafted.shape != (rows, length) or uniforms.shape != (rows, length + 1):
        raise ValueError(
            f"drafted has shape {tuple(drafted.shape)}, uniforms {tuple(uniforms.shape)}; wanted {(rows, length)} and "
            f"{(rows, length + 1)}"
        )
    check_uniforms(uniforms)
    check_distributions(p, "p")
    check_distributions(q, "q")
    check_integers("drafted", drafted)
    if drafted.numel() and not 0 <= int(drafted.min()) <= int(drafted.max()) < vocabulary:
        raise ValueError(f"drafted holds {drafted.tolist()}; the vocabulary has ids 0 to {vocabulary - 1}")
    of_p, of_q = (x.gather(2, drafted[..., None])[..., 0].double() for x in (p[:, :length], q))
    if not (of_q > 0).all():
        row, place = (of_q <= 0).nonzero()[0].tolist()
        raise ValueError(f"q gives token {int(drafted[row, place])} at {(row, place)} probability 0: it was not drawn")
    # u < min(1, p / q), without dividing by zero.
    stays_BT = uniforms[:, :-1].double() * of_q < of_p
    count_B = stays_BT.long().cumprod(dim=1).sum(dim=1)
    here = count_B[:, None, None].expand(-1, 1, vocabulary)
    p_BV = p.gather(1, here)[:, 0].double()
    # Behind the last drafted token nothing was drafted: q is zero there, and what remains is p itself.
    q_BV = torch.cat((q, q.new_zeros(rows, 1, vocabulary)), dim=1).gather(1, here)[:, 0].double()
    left_BV = (p_BV - q_BV).clamp_min(0)
    total_B1 = left_BV.sum(dim=-1, keepdim=True)
    left_BV = torch.where(total_B1 > 0, left_BV / total_B1.clamp_min(1e-300), p_BV)
    return count_B, pick(left_BV, uniforms[:, -1])


@torch.no_grad()
def speculative_generate(
    model: DecoderLM,
    draft: DecoderLM,
    prompt_ids: Int[Tensor, "B T"],
    *,
    max_new_tokens: int,
    n_draft: int = 4,
    temperature: float | int = 0.0,
    top_k: int | None = None,
    top_p: float | int | None = None,
    end_id: int | None = None,
    generator: torch.Generator | None = None,
) -> Speculated:
    """Continue one prompt with the help of a draft model: the same distribution as `generate`, in fewer passes.

    Args:
        model: The model whose text is wanted.
        draft: A quicker model with the same vocabulary.
        prompt_ids: What to continue; one row, because rows would accept different numbers of tokens.
        max_new_tokens: Where to stop at the latest.
        n_draft: How many tokens are drafted before the model is asked.
        temperature: As in `generate`; 0 gives the model's own greedy text.
        top_k: As in `generate`.
        top_p: As in `generate`.
        end_id: The token after which to stop; it is kept.
        generator: Where the luck comes from; None means torch's own.

    Returns:
        The text, and how many tokens each round drafted and accepted.

    Raises:
        ValueError: If there is not one row, the vocabularies differ, n_draft is below 1, the draft has too few
            positions for prompt and max_new_tokens, a layer of either model has a window (what such a cache let go
            cannot be taken back), or as in `generate`.

    Cost: a round asks the draft n_draft times and the model once, with n_draft + 1 tokens, and writes the accepted
    ones and one more.

    Source: Leviathan et al. 2023; Chen et al. 2023 (arXiv 2302.01318).
    """
    check_length(max_new_tokens)
    check_sampling(temperature, top_k, top_p)
    if n_draft < 1:
        raise ValueError(f"n_draft must be at least 1; got {n_draft}")
    for language_model in (model, draft):
        Prefixes(language_model, prompt_ids)  # refuses ids and models as generate does
    if len(prompt_ids) != 1:
        raise ValueError(f"prompt_ids have {len(prompt_ids)} rows; wanted one")
    if model.config.vocab_size != draft.config.vocab_size:
        raise ValueError(f"the draft has {draft.config.vocab_size} tokens, the model {model.config.vocab_size}")
    ids, state, draft_state = prompt_ids.long(), model.start(), draft.start()
    end = ids.shape[1] + max_new_tokens
    if max_new_tokens > 1 and end - 2 > draft.config.max_length:
        raise ValueError(
            f"the draft has positions for {draft.config.max_length} tokens and would read {end - 2}; take a draft with "
            "more positions, or a smaller max_new_tokens"
        )
    drafted: list[int] = []
    accepted: list[int] = []

    def probabilities(logits_TV: Tensor) -> Tensor:
        return next_token_probabilities(logits_TV, temperature=temperature, top_k=top_k, top_p=top_p)

    def luck(n: int) -> Tensor:
        source = ids.device if generator is None else generator.device
        return torch.rand(1, n, generator=generator, dtype=torch.float64, device=source).to(ids.device)

    while ids.shape[1] < end and (end_id is None or not accepted or int(ids[0, -1]) != end_id):
        before, longer, q = ids.shape[1], ids, []
        for _ in range(min(n_draft, end - before - 1)):
            q.append(probabilities(draft.step(longer[:, draft_state.length :], draft_state)[0]))
            longer = torch.cat((longer, pick(q[-1], luck(1)[0])[:, None]), dim=1)
            if end_id is not None and int(longer[0, -1]) == end_id:
                break
        p = probabilities(_every_logit(model, longer[:, state.length :], state)[0, -len(q) - 1 :])
        q_TV = torch.cat(q) if q else p[:0]
        count, token = accept_draft(p[None], q_TV[None], longer[:, before:], luck(len(q) + 1))
        ids = torch.cat((longer[:, : before + int(count)], token[:, None]), dim=1)
        drafted.append(len(q))
        accepted.append(int(count))
        if end_id is not None and (ids[0, before:] == end_id).any():
            ids = ids[:, : before + int((ids[0, before:] == end_id).nonzero()[0]) + 1]
        for cache in (state, draft_state):  # what was drafted in vain is forgotten
            cache.cut(min(cache.length, ids.shape[1] - 1))
    return Speculated(ids, prompt_ids.shape[1], tuple(drafted), tuple(accepted))


def _every_logit(model: DecoderLM, ids: Tensor, state: KVCache) -> Tensor:
    return model.head(model.decoder(model.embedder(ids, state.length), cache=state))
