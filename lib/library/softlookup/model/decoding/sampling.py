"""From logits to a token: probabilities made sharper or cut short, and a draw that takes its luck as an argument."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor


def next_token_probabilities(
    logits: Float[Tensor, "B V"],
    *,
    temperature: float | int = 1.0,
    top_k: int | None = None,
    top_p: float | int | None = None,
) -> Float[Tensor, "B V"]:
    """Say how likely each token is to be drawn: temperature first, then top-k, then top-p.

    Args:
        logits: One row for each sequence; -inf rules a token out.
        temperature: Divides the logits: below 1 the likely become likelier, above 1 all become more equal. 0 leaves
            the likeliest token alone (the lowest id of equal ones).
        top_k: Keep exactly the k likeliest (of equal ones the lowest ids); all of them if V is smaller. None keeps all.
        top_p: Keep the likeliest as long as those before hold less than this mass: the smallest set that holds
            top_p or more (up to rounding), and always at least one. It is the mass after temperature and top-k. None
            keeps all.

    Returns:
        Probabilities, each row summing to 1, in float32 at least.

    Raises:
        ValueError: If a logit is NaN or +inf, if a row rules out every token, or if temperature, top_k or top_p
            are out of their ranges.

    Cost: about V operations for each row; top_p sorts, which costs V*log2(V).

    Source: Fan et al. 2018 (top-k); Holtzman et al. 2020, section 3.1 (top-p).
    """
    check_sampling(temperature, top_k, top_p)
    kept_BV = log_probabilities(logits)
    if temperature == 0:
        top_k, temperature = 1, 1.0
    # With the largest at 0, no temperature, however small, can make a logit overflow.
    kept_BV = (kept_BV - kept_BV.amax(dim=-1, keepdim=True)) / temperature
    if top_k is not None:
        best, best_ids = largest(kept_BV, min(top_k, kept_BV.shape[-1]))
        kept_BV = torch.full_like(kept_BV, -math.inf).scatter(1, best_ids, best)
    if top_p is not None and top_p < 1:
        sorted_BV, ids_BV = torch.softmax(kept_BV, dim=-1).sort(dim=-1, descending=True, stable=True)
        # Six probabilities of 0.1 may add up to a little less than 0.6. So the sums run in float64, and a sum that
        # misses top_p by no more than the rounding of the probabilities has reached it.
        mass_BV, rounding = sorted_BV.double().cumsum(dim=-1), 4 * torch.finfo(sorted_BV.dtype).eps
        beyond_BV = torch.zeros_like(mass_BV, dtype=torch.bool)
        beyond_BV[:, 1:] = mass_BV[:, :-1] >= top_p - rounding
        kept_BV = kept_BV.masked_fill(torch.zeros_like(beyond_BV).scatter(1, ids_BV, beyond_BV), -math.inf)
    return torch.softmax(kept_BV, dim=-1)


def pick(probabilities: Float[Tensor, "B V"], uniforms: Float[Tensor, " B"]) -> Int[Tensor, " B"]:
    """Draw a token for each row by the inverse of the cumulative distribution.

    Lay the probabilities end to end on a line from 0 to 1: token i owns the stretch from the sum of those before it
    to that sum plus its own. The token drawn is the one on whose stretch the uniform number falls. The luck is an
    argument, so that what is drawn can be checked number by number.

    Args:
        probabilities: None negative, each row summing to 1.
        uniforms: One number for each row, at least 0 and below 1.

    Returns:
        Token ids. A token of probability 0 is never drawn.

    Raises:
        ValueError: If a row is no distribution, if a uniform is outside [0, 1), or if their numbers differ.

    >>> pick(torch.tensor([[0.25, 0.0, 0.75]] * 3), torch.tensor([0.0, 0.25, 0.99]))
    tensor([0, 2, 2])
    """
    if probabilities.ndim != 2 or uniforms.shape != probabilities.shape[:1]:
        raise ValueError(
            f"uniforms have shape {tuple(uniforms.shape)}, probabilities {tuple(probabilities.shape)}: "
            "wanted (B,) beside (B, V), one number for each row"
        )
    check_uniforms(uniforms)
    check_distributions(probabilities)
    # In float64: the rounding of a long sum in float32 would shift the stretches of the last tokens.
    cumulative_BV = probabilities.double().cumsum(dim=-1)
    total_B1 = cumulative_BV[:, -1:]
    # Rounding may bring u * total up to the total itself, where no token's stretch reaches.
    below_total_B1 = torch.nextafter(total_B1, torch.zeros_like(total_B1))
    points_B1 = torch.minimum(uniforms[:, None].double() * total_B1, below_total_B1)
    return torch.searchsorted(cumulative_BV, points_B1, right=True)[:, 0]


def check_uniforms(uniforms: Float[Tensor, "..."]) -> None:
    """Refuse luck that no uniform distribution gives: a number below 0, or not below 1."""
    if not ((uniforms >= 0) & (uniforms < 1)).all():
        raise ValueError(f"uniforms must be at least 0 and below 1; got {uniforms.tolist()}")


def check_distributions(probabilities: Float[Tensor, "... V"], name: str = "") -> None:
    """Refuse rows that are no distributions: with negative numbers, or a sum that is not 1 up to rounding."""
    total = probabilities.double().sum(dim=-1)
    if not ((probabilities >= 0).all() and ((total - 1).abs() < 1e-2).all()):
        raise ValueError(
            f"each row{name and f' of {name}'} must be a distribution, not negative and summing to 1; the least number "
            f"is {probabilities.min().item():g}, the sums are {total.tolist()}"
        )


def log_probabilities(logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
    """Take the logarithm of the softmax, in float32 at least, and refuse logits that leave no distribution.

    ValueError if a logit is NaN or +inf, or a row, which is named, rules out every token.
    """
    if logits.ndim != 2 or logits.shape[1] == 0:
        raise ValueError(f"logits have shape {tuple(logits.shape)}; wanted (B, V), with at least one token")
    log_p_BV = torch.log_softmax(logits.to(torch.promote_types(logits.dtype, torch.float32)), dim=-1)
    # Any of the three faults makes the sum over the row NaN, and so its every entry: one column shows them all.
    faulty_B = log_p_BV[:, 0].isnan()
    if faulty_B.any():
        row = int(faulty_B.nonzero()[0])
        if logits[row].isnan().any():
            what = "holds NaN"
        elif logits[row].isposinf().any():
            what = "holds +inf"
        else:
            what = "is -inf throughout, so that no token may follow"
        raise ValueError(f"row {row} of the logits {what}; wanted finite numbers, or -inf for some")
    return log_p_BV


def largest(values: Float[Tensor, "B M"], k: int) -> tuple[Float[Tensor, "B {k}"], Int[Tensor, "B {k}"]]:
    """Find the k largest numbers of each row, and where they stand; of equal ones the leftmost come first.

    torch's own topk does not say which of equal numbers it takes, and takes others on another device.

    ValueError if k is below 1 or above M.
    """
    width = values.shape[1]
    if not 1 <= k <= width:
        raise ValueError(f"wanted the {k} largest of {width} numbers; k must be 1 to {width}")
    # One more than asked for: only if it equals the last one kept is the choice at the edge open.
    top, positions = values.topk(min(k + 1, width), dim=1)
    if width > k and (top[:, k] == top[:, k - 1]).any():
        top, positions = values.sort(dim=1, descending=True, stable=True)
    positions = positions[:, :k].sort(dim=1).values
    top, order = values.gather(1, positions).sort(dim=1, descending=True, stable=True)
    return top, positions.gather(1, order)


def check_sampling(temperature: float | int, top_k: int | None, top_p: float | int | None) -> None:
    """Refuse settings that no distribution could follow; the message names the one that is out of its range."""
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be a finite number of at least 0; got {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, or None to keep all tokens; got {top_k}")
    if top_p is not None and not 0 <= top_p <= 1:
        raise ValueError(f"top_p must be between 0 and 1, or None to keep all tokens; got {top_p}")
