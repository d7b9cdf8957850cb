"""Speculative sampling: a small model drafts a few tokens, and one pass of the large one keeps or replaces them."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from softlookup.model.decoding.sampling import next_token_probabilities, pick
from softlookup.model.whole.language import DecoderLM


@dataclass(frozen=True, eq=False)
class Speculated:
    """The prompt and what follows it, and for each round how many tokens were drafted, and how many accepted."""

    ids: Int[Tensor, "1 T"]
    drafted: tuple[int, ...]
    accepted: tuple[int, ...]


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
        uniforms: The luck: one number for each drafted token, and one for the token that follows.

    Returns:
        How many tokens stay in each row, 0 to T, and the token that follows them.

    Source: Leviathan et al. 2023; Chen et al. 2023 (arXiv 2302.01318).
    """
    length, vocabulary = q.shape[1:]
    of_p, of_q = (x.gather(2, drafted[..., None])[..., 0].double() for x in (p[:, :length], q))
    # u < min(1, p / q), without dividing by zero.
    stays_BT = uniforms[:, :-1].double() * of_q < of_p
    count_B = stays_BT.long().cumprod(dim=1).sum(dim=1)
    here = count_B[:, None, None].expand(-1, 1, vocabulary)
    p_BV = p.gather(1, here)[:, 0].double()
    # Behind the last drafted token nothing was drafted: q is zero there, and what remains is p itself.
    q_BV = torch.cat((q, q.new_zeros(len(q), 1, vocabulary)), dim=1).gather(1, here)[:, 0].double()
    left_BV = (p_BV - q_BV).clamp_min(0)
    total_B1 = left_BV.sum(dim=-1, keepdim=True)
    left_BV = torch.where(total_B1 > 0, left_BV / total_B1.clamp_min(1e-300), p_BV)
    return count_B, pick(left_BV, uniforms[:, -1])


@torch.no_grad()
def speculative_generate(
    model: DecoderLM,
    draft: DecoderLM,
    prompt_ids: Int[Tensor, "1 T"],
    *,
    max_new_tokens: int,
    n_draft: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Speculated:
    """Continue one prompt with the help of a draft model: the same distribution as `generate`, in fewer passes.

    Args:
        model: The model whose text is wanted.
        draft: A quicker model with the same vocabulary, and room for as many tokens.
        prompt_ids: What to continue.
        max_new_tokens: How many tokens are written.
        n_draft: How many tokens are drafted before the model is asked.
        temperature: As in `generate`; 0 gives the model's own greedy text.
        generator: Where the luck comes from; None means torch's own.

    Returns:
        The text, and how many tokens each round drafted and accepted.

    Cost: a round asks the draft n_draft times and the model once, with n_draft + 1 tokens, and writes the accepted
    ones and one more.

    Source: Leviathan et al. 2023; Chen et al. 2023 (arXiv 2302.01318).
    """
    ids, state, draft_state = prompt_ids.long(), model.start(), draft.start()
    end = ids.shape[1] + max_new_tokens
    drafted: list[int] = []
    accepted: list[int] = []

    def luck(n: int) -> Tensor:
        return torch.rand(1, n, generator=generator, dtype=torch.float64)

    while ids.shape[1] < end:
        before, longer, q = ids.shape[1], ids, []
        for _ in range(min(n_draft, end - before - 1)):
            logits, _ = draft.step(longer[:, draft_state.length :], draft_state)
            q.append(next_token_probabilities(logits, temperature=temperature))
            longer = torch.cat((longer, pick(q[-1], luck(1)[0])[:, None]), dim=1)
        states = model.decoder(model.embedder(longer[:, state.length :], state.length), cache=state)
        p = next_token_probabilities(model.head(states)[0, -len(q) - 1 :], temperature=temperature)
        q_TV = torch.cat(q) if q else p[:0]
        count, token = accept_draft(p[None], q_TV[None], longer[:, before:], luck(len(q) + 1))
        ids = torch.cat((longer[:, : before + int(count)], token[:, None]), dim=1)
        drafted.append(len(q))
        accepted.append(int(count))
        for cache in (state, draft_state):  # what was drafted in vain is forgotten
            cache.cut(min(cache.length, ids.shape[1] - 1))
    return Speculated(ids, tuple(drafted), tuple(accepted))
