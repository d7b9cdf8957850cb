"""What decoding asks of a model: one step at a time, and a memory whose rows can be cut and copied."""

from collections.abc import Callable
from typing import Any, Protocol

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from softlookup.model.decoding.sampling import log_probabilities
from softlookup.model.parts._sizes import check_ids


class State(Protocol):
    """What a model remembers of the tokens it has seen, one row for each sequence."""

    def select(self, rows: Int[Tensor, " M"]) -> "State":
        """Take some rows, in the order given; a row may be taken more than once."""
        ...


# step(ids, state) takes the tokens that the state has not seen yet, (B, T), and returns the logits of the next token
# alone, (B, V), and the new state. A step whose state is None remembers nothing: it is given all tokens every time.
Step = Callable[..., tuple[Tensor, Any]]


class Prefixes:
    """Sequences being written, side by side, and what the model remembers of each.

    ``prompt_ids`` are not changed. ``prompt_mask`` is False where the prompt was filled up on the left; None: tokens
    everywhere. A model with a method `start` gets it there, any other step as `mask`: all along if it remembers
    nothing, with the prompt alone if it does. ``special_ids``, by the caller's names, have to be tokens of the model.

    TypeError if the ids are not whole numbers, the mask is not boolean, or there is no step to call. ValueError if the
    prompt is empty or not (B, T), if the mask has another shape, is not filled up on the left, leaves a row without
    tokens, or comes beside a state, or if the model would drop numbers at random.
    """

    def __init__(
        self,
        step: Any,
        prompt_ids: Int[Tensor, "B T"],
        state: Any = None,
        prompt_mask: Bool[Tensor, "B T"] | None = None,
        special_ids: dict[str, int] | None = None,
    ) -> None:
        if prompt_ids.dtype not in (torch.int64, torch.int32):
            raise TypeError(
                f"prompt_ids have dtype {prompt_ids.dtype}; wanted whole numbers, torch.int64 or torch.int32"
            )
        if prompt_ids.ndim != 2 or 0 in prompt_ids.shape:
            raise ValueError(f"prompt_ids have shape {tuple(prompt_ids.shape)}; wanted (B, T), at least one token each")
        self._step = getattr(step, "step", step)
        if not callable(self._step):
            raise TypeError(f"step is a {type(step).__name__}; wanted a function, or a model with a method step")
        if isinstance(step, nn.Module) and any(
            isinstance(part, nn.Dropout) and part.training and part.p > 0 for part in step.modules()
        ):
            raise ValueError("the model is in training mode and would drop numbers at random; call eval() first")
        self.ids = prompt_ids.long()
        self._mask = prompt_mask
        if prompt_mask is not None:
            _check_prompt_mask(prompt_mask, prompt_ids)
            if state is not None:
                raise ValueError("prompt_mask and state are both given: a state knows its padding already")
            if hasattr(step, "start"):
                state, self._mask = step.start(prompt_mask), None
        self._state = state
        self._seen = 0
        self._asked = False
        self._special_ids = special_ids or {}

    def next_log_probabilities(self) -> Float[Tensor, "B V"]:
        """Ask the model what comes next.

        Natural logarithms, in float32 at least. ValueError if the logits are not (B, V), are elsewhere than the ids, or
        leave no distribution, or if the prompt or a special id is not among the V tokens; TypeError if the step does
        not return logits and a state that can be selected from.
        """
        masked = {} if self._mask is None or self._seen else {"mask": self._mask}
        result = self._step(self.ids[:, self._seen :], self._state, **masked)
        if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], Tensor)):
            raise TypeError(f"step returned a {type(result).__name__}; wanted (logits, state)")
        logits_BV, state = result
        if not (hasattr(state, "select") or (state is None and self._state is None)):
            raise TypeError(f"step returned a state of type {type(state).__name__}; wanted one with select(rows)")
        self._check_logits(logits_BV)
        self._state = state
        if state is not None:
            self._seen = self.ids.shape[1]
        return log_probabilities(logits_BV)

    def append(self, tokens: Int[Tensor, " B"]) -> None:
        """Add the next token of each sequence."""
        self.ids = torch.cat((self.ids, tokens[:, None]), dim=1)
        if self._mask is not None:
            self._mask = torch.cat((self._mask, torch.ones_like(self._mask[:, :1])), dim=1)

    def select(self, rows: Int[Tensor, " M"]) -> None:
        """Keep some sequences, in the order given; a row may be taken more than once.

        Nothing is copied where they are the ones that are there.
        """
        if torch.equal(rows, torch.arange(len(self.ids), device=rows.device)):
            return
        self.ids = self.ids[rows]
        if self._mask is not None:
            self._mask = self._mask[rows]
        if self._state is not None:
            self._state = self._state.select(rows)

    def _check_logits(self, logits: Tensor) -> None:
        rows = len(self.ids)
        if logits.ndim != 2 or logits.shape[0] != rows:
            raise ValueError(
                f"step returned logits of shape {tuple(logits.shape)} for {rows} sequences; wanted ({rows}, V), "
                "those of the next token alone"
            )
        if not logits.is_floating_point():
            raise TypeError(f"step returned logits of dtype {logits.dtype}; wanted a floating-point dtype")
        if logits.device != self.ids.device:
            raise ValueError(f"step returned logits on {logits.device}; prompt_ids are on {self.ids.device}")
        if not self._asked:
            check_ids("prompt_ids", self.ids, logits.shape[1])
            for name, token in self._special_ids.items():
                if not 0 <= token < logits.shape[1]:
                    raise ValueError(f"{name} is {token}; the model's tokens are 0 to {logits.shape[1] - 1}")
            self._asked = True


def check_length(max_new_tokens: int) -> None:
    """Refuse to write less than one token."""
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens must be at least 1; got {max_new_tokens}")


def _check_prompt_mask(mask: Tensor, ids: Tensor) -> None:
    if mask.dtype != torch.bool:
        raise TypeError(f"prompt_mask has dtype {mask.dtype}; wanted torch.bool, where True means: a token")
    if mask.shape != ids.shape:
        raise ValueError(f"prompt_mask has shape {tuple(mask.shape)}, prompt_ids {tuple(ids.shape)}: wanted equal ones")
    # New tokens are written on the right, so that is where the prompts have to end.
    if not (mask[:, -1].all() and (mask[:, 1:] >= mask[:, :-1]).all()):
        raise ValueError("prompt_mask must be False on the left alone: every row has to end in a token, without gaps")
