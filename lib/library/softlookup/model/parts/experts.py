"""Mixture of experts: many feed-forward networks, of which each token passes through a few that a router chooses."""

from collections.abc import Callable
from typing import get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from softlookup.model.parts._inputs import check_sizes, check_weights, check_width
from softlookup.model.parts.config import Gate
from softlookup.model.parts.feedforward import FeedForward
from softlookup.model.parts.initialise import xavier_


class Router(nn.Module):
    """Choose the experts of each token, and say how much each of them counts.

    The gates are s = sigmoid(x w), or softmax over the experts. Chosen are the k largest of s + bias; what is handed
    back is s alone, so that the bias steers the choice and never reaches the weight.

    Args:
        d_model: D, the width of a token's vector.
        n_experts: E.
        per_token: k, how many experts each token passes through.
        gate: sigmoid (DeepSeek-V3) or softmax (Mixtral, Qwen3).
        renormalise: Whether the chosen gates are divided by their sum.
        factor: What the weights are multiplied by in the end.
        groups: Into how many groups of neighbours the experts are cut. Only those of the best groups can be chosen;
            a group counts as much as the sum of its two largest s + bias (DeepSeek-V3).
        chosen_groups: How many groups are the best ones.
        logit_bias: Whether x w has a learned bias, which reaches the weight (gpt-oss).

    Raises:
        ValueError: If a size is below 1, k is above E, the gate is unknown, or groups do not fit.

    Attributes:
        bias: One number for each expert, in float32 at least, whatever the dtype of the weights.

    Source: Shazeer et al. 2017, section 2; DeepSeek-AI 2024 (DeepSeek-V3).
    """

    bias: Tensor
    b: nn.Parameter | None

    def __init__(
        self,
        d_model: int,
        n_experts: int,
        per_token: int,
        *,
        gate: Gate = "sigmoid",
        renormalise: bool = True,
        factor: float = 1.0,
        groups: int = 1,
        chosen_groups: int = 1,
        logit_bias: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(d_model=d_model, n_experts=n_experts, per_token=per_token)
        if per_token > n_experts:
            raise ValueError(f"per_token is {per_token}; wanted at most n_experts = {n_experts}")
        if gate not in get_args(Gate):
            raise ValueError(f"gate is {gate!r}; wanted one of {', '.join(get_args(Gate))}")
        if n_experts % groups or not 1 <= chosen_groups <= groups or (groups > 1 and n_experts < 2 * groups):
            raise ValueError(f"{chosen_groups} of {groups} groups; wanted groups of at least 2 of {n_experts} experts")
        if per_token > chosen_groups * (n_experts // groups):
            raise ValueError(f"per_token is {per_token}; {chosen_groups} of {groups} groups have fewer experts")
        self.per_token, self.gate, self.renormalise, self.factor = per_token, gate, renormalise, factor
        self.groups, self.chosen_groups = groups, chosen_groups
        self.register_parameter("b", nn.Parameter(torch.zeros(n_experts)) if logit_bias else None)
        self.w = nn.Parameter(torch.empty(d_model, n_experts))
        self.register_buffer("bias", torch.zeros(n_experts))
        xavier_(self.w)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Router":
        """Follow to another device or dtype. The bias grows by steps of 1e-3, so it stays in float32 at least."""
        before = self.bias
        super()._apply(fn, recurse)
        if self.bias.dtype.itemsize < before.dtype.itemsize:
            wide = torch.promote_types(self.bias.dtype, torch.float32)
            self.bias = self.bias.to(wide) if before.is_meta else before.to(self.bias.device, wide)
        return self

    def forward(self, x: Float[Tensor, "*batch D"]) -> tuple[Float[Tensor, "*batch k"], Int[Tensor, "*batch k"]]:
        """Choose for each token.

        Args:
            x: Token vectors.

        Returns:
            The weights of the chosen experts, in float32 at least, and the experts' numbers, 0 to E - 1.

        Raises:
            ValueError: If x's width is not D, or x is on another device than the weights.
            TypeError: If x's dtype is not that of the weights.
        """
        check_width(x, self.w.shape[0])
        check_weights(x, self.w)
        dtype = torch.promote_types(x.dtype, torch.float32)
        logits = x.to(dtype) @ self.w.to(dtype)
        logits = logits if self.b is None else logits + self.b.to(dtype)
        gates = logits.sigmoid() if self.gate == "sigmoid" else logits.softmax(dim=-1)
        choice = gates + self.bias
        if self.groups > 1:
            grouped = choice.unflatten(-1, (self.groups, -1))
            best = grouped.topk(2, dim=-1).values.sum(dim=-1).topk(self.chosen_groups, dim=-1).indices
            left_out = torch.ones_like(grouped[..., 0], dtype=torch.bool).scatter(-1, best, False)
            choice = grouped.masked_fill(left_out[..., None], -torch.inf).flatten(-2)
        experts = choice.topk(self.per_token, dim=-1).indices
        weights = gates.gather(-1, experts)
        if self.renormalise:
            weights = weights / weights.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(dtype).tiny)
        return weights * self.factor, experts


class Experts(nn.Module):
    """A feed-forward part of E gated networks: each token passes through k of them, and through the shared one.

    Every expert computes (silu(x w_gate) * (x w_1)) w_2. Tokens are sorted by expert, and each expert multiplies
    its own tokens alone: the work grows with k, not with E.

    Args:
        router: Chooses the experts; its sizes say D, E and k.
        d_hidden: F, the hidden width of one expert.
        n_shared: How many experts' width the shared network has, which all tokens pass through; 0 for none.
        shared_width: Its hidden width, where that is no multiple of F.
        shared_gate: Whether sigmoid(x w_shared), a number for each token, scales what it gives.
        clamp: c, where every expert computes (g sigmoid(1.702 g) * (u + 1)) w_2 + b_2 instead, with
            g = x w_gate + b_gate at most c, and u = x w_1 + b_1 between -c and c (gpt-oss).

    Raises:
        ValueError: If d_hidden is below 1 or n_shared below 0.

    Source: Shazeer et al. 2017, section 2; Dai et al. 2024 (DeepSeekMoE; the shared expert).
    """

    b_gate: nn.Parameter | None
    b_1: nn.Parameter | None
    b_2: nn.Parameter | None
    w_shared: nn.Parameter | None

    def __init__(
        self,
        router: Router,
        d_hidden: int,
        *,
        n_shared: int = 0,
        shared_width: int = 0,
        shared_gate: bool = False,
        clamp: float | None = None,
    ) -> None:
        super().__init__()
        check_sizes(d_hidden=d_hidden)
        if n_shared < 0:
            raise ValueError(f"n_shared must be at least 0; got {n_shared}")
        d_model, n_experts = router.w.shape
        self.router = router
        self.w_gate = nn.Parameter(torch.empty(n_experts, d_model, d_hidden))
        self.w_1 = nn.Parameter(torch.empty(n_experts, d_model, d_hidden))
        self.w_2 = nn.Parameter(torch.empty(n_experts, d_hidden, d_model))
        for stack in (self.w_gate, self.w_1, self.w_2):
            for matrix in () if stack.is_meta else stack.data:
                xavier_(matrix)
        self.clamp = clamp
        for name, width in (("b_gate", d_hidden), ("b_1", d_hidden), ("b_2", d_model)):
            bias = None if clamp is None else nn.Parameter(torch.zeros(n_experts, width))
            self.register_parameter(name, bias)
        self.shared = None
        if shared_width := shared_width or n_shared * d_hidden:
            self.shared = FeedForward(d_model, shared_width, activation="swiglu", bias=False)
        self.register_parameter("w_shared", nn.Parameter(torch.zeros(d_model, 1)) if shared_gate else None)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Transform each token by the experts chosen for it.

        Args:
            x: Token vectors.

        Returns:
            The same shape: the weighted sum of the chosen experts' outputs, plus the shared one's.

        Raises:
            ValueError: If x's width is not D, or x is on another device than the weights.
            TypeError: If x's dtype is not that of the weights.

        Cost: 6*k*D*F operations for each token, besides the router's 2*D*E and the shared network's.
        """
        weights, experts = self.router(x)
        rows = x.reshape(-1, x.shape[-1])
        order = experts.flatten().argsort(stable=True)
        tokens, weights = order // self.router.per_token, weights.flatten()[order]
        y = torch.zeros_like(rows)
        start = 0
        for expert, count in enumerate(expert_load(experts, len(self.w_1)).tolist()):
            expert_slice = slice(start, start := start + count)
            if count == 0:
                continue
            chosen = rows[tokens[expert_slice]]
            out = self._expert(chosen, expert) * weights[expert_slice, None]
            y = y.index_add(0, tokens[expert_slice], out.to(y.dtype))
        y = y.view_as(x)
        if self.shared is None:
            return y
        shared = self.shared(x)
        return y + (shared if self.w_shared is None else (x @ self.w_shared).sigmoid() * shared)

    def _expert(self, x: Tensor, expert: int) -> Tensor:
        gate, up = x @ self.w_gate[expert], x @ self.w_1[expert]
        if self.clamp is None or self.b_gate is None or self.b_1 is None or self.b_2 is None:
            return (F.silu(gate) * up) @ self.w_2[expert]
        gate = (gate + self.b_gate[expert]).clamp(max=self.clamp)
        up = (up + self.b_1[expert]).clamp(-self.clamp, self.clamp)
        return (gate * (1.702 * gate).sigmoid() * (up + 1)) @ self.w_2[expert] + self.b_2[expert]


def expert_load(experts: Int[Tensor, "*batch k"], n_experts: int) -> Int[Tensor, " E"]:
    """Count how many tokens each expert was chosen for.

    Args:
        experts: The chosen experts' numbers, as a router gives them.
        n_experts: E.

    Returns:
        One count for each expert.

    Raises:
        ValueError: If n_experts is below 1.

    Source: Wang et al. 2024 (arXiv 2408.15664).
    """
    check_sizes(n_experts=n_experts)
    return torch.bincount(experts.flatten(), minlength=n_experts)
