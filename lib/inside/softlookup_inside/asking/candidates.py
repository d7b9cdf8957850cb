"""Callables that a task hands to a student's test ("does the future leak?"): some are sound, some are broken.

They are made here from plain numbers of the case, which do not say which is which; nothing knows a right answer.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

INSIDES = (
    "__closure__",
    "__wrapped__",
    "__code__",
    "__dict__",
    "__getattribute__",
    "cell_contents",
    "_weights",
    "_shares",
    "_getframe",
    "currentframe",
    "getclosurevars",
    "get_objects",
    "getattr",
    "vars",
)
"""Names that a test has no need of: it is to call what it is handed, not to look inside."""


def is_candidate(value: Any) -> bool:
    """Whether an argument of a case stands for something that is called."""
    return isinstance(value, dict) and "candidate" in value


def resolve_candidate(value: Any) -> Any:
    """Make the callable that {"candidate": kind, and what that kind is made of} stands for; the rest comes back."""
    if not is_candidate(value):
        return value
    settings = {name: setting for name, setting in value.items() if name != "candidate"}
    return _KINDS[value["candidate"]](**settings)


def _decoder(masks: np.ndarray, table: np.ndarray, blend: float, repeat_bonus: float) -> Callable[..., Any]:
    """A model from ids (B, T) to logits (B, T, V): attention under masks (L, N, T, T), residuals, tied logits.

    In the end ``blend`` times the mean over positions is added, and ``repeat_bonus`` to the logit of the word there.
    """
    import torch

    may, words = torch.from_numpy(masks), torch.from_numpy(table)

    @torch.no_grad()
    def run(ids: Any) -> Any:
        length, n_heads = ids.shape[1], may.shape[1]
        angles = torch.arange(length)[:, None] / (1.0 + torch.arange(words.shape[1]))
        x = words[ids] + angles.sin().to(words)
        for mask in may:
            heads = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
            scores = heads @ heads.mT / heads.shape[-1] ** 0.5
            weights = scores.masked_fill(~mask[:, :length, :length], -torch.inf).softmax(-1)
            x = x + (weights @ heads).transpose(1, 2).flatten(2)
        x = x + blend * x.mean(dim=1, keepdim=True)
        return x @ words.T + repeat_bonus * torch.nn.functional.one_hot(ids, len(words))

    return run


def _loss_of_model(shift: int, before: int, behind: int, turned: int, joined: bool) -> Callable[..., Any]:
    """A loss (model, ids) -> number; labels stand ``shift`` behind the inputs, and come from ``turned`` rows on.

    ``before`` and ``behind`` places are cut off. A row's beginning follows its own end, if ``joined`` the next row's.
    """
    import torch

    def loss(model: Callable[[Any], Any], ids: Any) -> Any:
        labels = ids.flatten().roll(-shift).view_as(ids) if joined else ids.roll(-shift, dims=1)
        if joined:
            labels[-1, -shift:] = -100
        window = slice(before, ids.shape[1] - behind)
        inputs, labels = ids[:, window], labels.roll(turned, dims=0)[:, window]
        return torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1).float(), labels.flatten())

    return loss


def _loss_of_logits(above: float, below: float, summed: bool, known: int | None) -> Callable[..., Any]:
    """A loss (logits, labels, pad_id) -> number; padding weighs ``above`` in the sum and ``below`` in the count.

    If ``summed``, it is not divided; ``known`` is taken for the padding's id, None takes the one that it is given.
    """
    import torch

    def loss(logits: Any, labels: Any, pad_id: int) -> Any:
        padding = labels == (pad_id if known is None else known)
        log_p = torch.log_softmax(logits.double(), dim=-1)
        surprise = -log_p.gather(-1, labels[..., None])[..., 0]
        # Real tokens are added up alone: where padding weighs nothing, it changes no bit.
        total = surprise[~padding].sum()
        if above:
            total = total + above * surprise[padding].sum()
        count = 1.0 if summed else (~padding).sum() + below * padding.sum()
        return (total / count).to(logits.dtype)

    return loss


class _Dropping:
    """A model with ``train()`` and ``eval()`` that drops numbers, each layer with its own shares."""

    def __init__(self, weights: np.ndarray, shares: list[tuple[float, float]], training: bool) -> None:
        import torch

        self._weights, self._shares, self.training = torch.from_numpy(weights), shares, training

    def train(self, mode: bool = True) -> "_Dropping":
        self.training = mode
        return self

    def eval(self) -> "_Dropping":
        return self.train(False)

    def __call__(self, x: Any) -> Any:
        import torch

        for w, (learning, use) in zip(self._weights, self._shares, strict=True):
            p = learning if self.training else use
            y = torch.tanh(x @ w)
            x = x + torch.where(torch.rand(y.shape) < p, torch.zeros_like(y), y / (1.0 - p))
        return x


_KINDS: Mapping[str, Callable[..., Any]] = {
    "model": _decoder,
    "loss of a model": _loss_of_model,
    "loss of logits": _loss_of_logits,
    "layers": _Dropping,
}
