"""The training loss of the plain model, for a GPU: compiled, and without the vocabulary's logits."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from softlookup.model.whole.language import DecoderLM
from softlookup.model.whole.transformer import Transformer
from softlookup.training.data import Batch
from softlookup.training.vocabulary_loss import vocabulary_loss


class PlainLoss:
    """Computes the loss of a model by its own forward pass, but for the logits, which are never held all at once.

    A GPU is fastest with it under autocast to bfloat16, and compiled. On a CPU it gives the same numbers, and FastLoss
    is faster.

    Args:
        model: A language model or an encoder-decoder whose head adds no bias to the logits.
        epsilon: Label smoothing, eps/V on all classes.
        compiled: Whether torch compiles the forward pass, which suits a model that reads rows of one length.
        chunk: How many tokens' logits are held at once; None takes what suits the device.

    Raises:
        TypeError: If the model is of another kind.
        ValueError: If its head adds a bias, or epsilon or chunk is out of range.
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

        self._factors: Callable[..., Any] = torch.compile(factors) if compiled else factors

    def __call__(self, *ids: Int[Tensor, "B _"], labels: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
        """Give the loss of the labels, summed.

        ``ids`` are what the model is called with: the target's, or the source's and the target's; labels are its pad_id
        where nothing is to be predicted. It is the smoothed cross-entropy in nats, summed over labels that are not
        padding.
        """
        states, table = self._factors(*ids)
        return vocabulary_loss(
            states, table, labels, ignored=self.model.config.pad_id, epsilon=self.epsilon, chunk=self.chunk
        )

    def summed(self, batch: Batch) -> Float[Tensor, ""]:
        """Give the summed loss of a batch on the model's device, in the form that the training loop asks for.

        ValueError if the batch has another id of padding than the model.
        """
        if batch.pad_id != self.model.config.pad_id:
            raise ValueError(
                f"the batch is padded with id {batch.pad_id}, the model takes {self.model.config.pad_id} for padding"
            )
        # As teacher_forcing cuts them, which would read the ids and make a GPU wait.
        inputs, labels = batch.target_ids[:, :-1], batch.target_ids[:, 1:]
        ids = (inputs,) if batch.source_ids is None else (batch.source_ids, inputs)
        return self(*ids, labels=labels)
