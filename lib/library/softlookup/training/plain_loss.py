"""The training loss of the plain model, for a GPU: compiled, and without the vocabulary's logits."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.transformer import Transformer
from softlookup.training.data import Batch
from softlookup.training.vocabulary_loss import vocabulary_loss


class PlainLoss:
    """Computes the loss of a model by its own forward pass, but for the logits, which are never held all at once.

    A GPU is fastest with it under autocast to bfloat16, and compiled. On a CPU it gives the same numbers, and FastLoss
    is faster.

    Smoothing puts eps/V on all classes; ``chunk`` tokens' logits are held at once, None takes what suits the device.
    ``compiled``: torch compiles the forward pass; an encoder-decoder's at once for batches of all shapes, but for those
    of a few tokens, which go uncompiled. TypeError if it is another kind of model; ValueError if its head adds a bias,
    or epsilon or chunk is out of range.
    """

    def __init__(
        self, model: DecoderLM | Transformer, *, epsilon: float = 0.0, compiled: bool = False, chunk: int | None = None
    ) -> None:
        if not isinstance(model, DecoderLM | Transformer):
            raise TypeError(f"model is a {type(model).__name__}; wanted a DecoderLM or a Transformer")
        if model.config.output_bias:
            raise ValueError("the model adds a bias to its logits (output_bias); this loss makes them as one product")
        if not 0.0 <= epsilon <= 1.0 or (chunk is not None and chunk < 1):
            raise ValueError(f"epsilon is {epsilon}, chunk {chunk}; wanted a share from 0 to 1, and at least one row")
        self.model, self.epsilon, self.chunk = model, epsilon, chunk

        def factors(*ids: Tensor) -> tuple[Tensor, Tensor]:
            return model.head.factors(model.states(*ids))

        self._plain: Callable[..., Any] = factors
        self._compiled = torch.compile(factors, dynamic=_varies(model) or None) if compiled else factors
        self._is_ready = False

    def __call__(self, *ids: Int[Tensor, "B _"], labels: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
        """Give the loss of the labels, summed.

        ``ids`` are what the model is called with: the target's, or the source's and the target's; labels are its pad_id
        where nothing is to be predicted. It is the smoothed cross-entropy in nats, summed over labels that are not
        padding.
        """
        if not self._is_ready:
            self._is_ready = True
            self._fill_tables(ids)
        few = _varies(self.model) and any(len(rows) == 1 or rows.numel() < self.model.config.d_model for rows in ids)
        states, table = (self._plain if few else self._compiled)(*ids)
        return vocabulary_loss(
            states, table, labels, ignored=self.model.config.pad_id, epsilon=self.epsilon, chunk=self.chunk
        )

    @torch.no_grad()
    def _fill_tables(self, ids: Sequence[Tensor]) -> None:
        """Let the model keep the rows of all positions that it can come to.

        Compiled code knows a table by its size, and a recorded step by its place: neither may change later.
        """
        self._plain(*(rows[:1, :1].expand(1, self.model.config.max_length) for rows in ids))

    def summed(self, batch: Batch) -> Float[Tensor, ""]:
        """Give the summed loss of a batch on the model's device, in the form that the training loop asks for.

        ValueError if the batch has another id of padding than the model.
        """
        if batch.pad_id != self.model.config.pad_id:
            raise ValueError(
                f"the batch is padded with id {batch.pad_id}, the model takes {self.model.config.pad_id} for padding"
            )
        # As teacher_forcing cuts them, which would read the ids and make a GPU wait.
        inputs, labels = batch.target_ids[:, :-1].contiguous(), batch.target_ids[:, 1:]
        ids = (inputs,) if batch.source_ids is None else (batch.source_ids, inputs)
        return self(*ids, labels=labels)


def _varies(model: nn.Module) -> bool:
    """Whether batches come in many shapes, as pairs of sentences do and windows of a text do not."""
    return isinstance(model, Transformer)
