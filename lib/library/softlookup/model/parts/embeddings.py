"""Token embeddings: one row of a table for each word, and the same table read backwards for the output."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from softlookup.model.parts._inputs import check_sizes, check_weights, check_width
from softlookup.model.parts._sizes import check_ids


class TokenEmbedding(nn.Module):
    """Turn ids into vectors, and vectors into scores for each id.

    Looking a row up equals multiplying a one-hot row by the table; nothing is multiplied, though.

    Args:
        vocab_size: V, words in the vocabulary.
        d_model: D, the width of a token's vector.
        scale: What the rows are multiplied by when looked up, or None. The paper takes sqrt(D); the table is then
            drawn that much smaller, so that vectors begin with variance 1.
        pad_id: The id that fills up short rows, or None. Its row begins as zeros, and looking it up gives it no
            gradient; logits do give it one.

    Raises:
        ValueError: If a size is below 1, the scale is not positive, or pad_id is outside the vocabulary.

    Source: Vaswani et al. 2017, section 3.4; Press & Wolf 2017 (the tied output).
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        scale: float | None = None,
        pad_id: int | None = None,
    ) -> None:
        super().__init__()
        check_sizes(vocab_size=vocab_size, d_model=d_model)
        if scale is not None and not (scale > 0 and math.isfinite(scale)):
            raise ValueError(f"scale must be a positive number, or None; got {scale}")
        if pad_id is not None and not 0 <= pad_id < vocab_size:
            raise ValueError(f"pad_id is {pad_id}; the vocabulary has ids 0 to {vocab_size - 1}")
        self.scale = scale
        self.pad_id = pad_id
        self.table = nn.Parameter(torch.empty(vocab_size, d_model))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew: normal, deviation D**-0.5 where a scale makes up for it, else 0.02; pad's row zero."""
        nn.init.normal_(self.table, std=0.02 if self.scale is None else self.table.shape[1] ** -0.5)
        self.clear_pad_row()

    def clear_pad_row(self) -> None:
        """Set pad's row to zero, if there is one."""
        if self.pad_id is not None:
            with torch.no_grad():
                self.table[self.pad_id] = 0.0

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """Look the tokens up.

        Args:
            ids: One id for each position, int64 or int32.

        Returns:
            The rows of the table, times the scale.

        Raises:
            ValueError: If ids has not two axes or is empty, is on another device than the table, or holds an id
                outside 0 to V - 1; the message names the id and the range. On a GPU the ids are not read, which
                would stall it: CUDA's own assertion refuses them there.
            TypeError: If ids is neither int64 nor int32.

        Cost: B*T rows read. The backward pass writes a gradient as large as the whole table.
        """
        check_ids("ids", ids, self.table.shape[0])
        if ids.device != self.table.device:
            raise ValueError(f"ids is on {ids.device}, the table on {self.table.device}: move one to the other")
        rows_BTD = F.embedding(ids, self.table, padding_idx=self.pad_id)
        return rows_BTD if self.scale is None else rows_BTD * self.scale

    def logits(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch V"]:
        """Score every word of the vocabulary by its dot product with a state: the tied output.

        Args:
            x: States. The scale of the lookup plays no part here.

        Returns:
            x @ table^T.

        Raises:
            ValueError: If x's width is not D, or x is on another device than the table.
            TypeError: If x's dtype is not that of the table.

        Cost: 2*D*V operations for each state.
        """
        check_width(x, self.table.shape[1])
        check_weights(x, self.table)
        return x @ self.table.mT

    def extra_repr(self) -> str:
        """Name the sizes when the layer is printed."""
        vocab_size, d_model = self.table.shape
        return f"V={vocab_size}, D={d_model}, scale={self.scale}, pad_id={self.pad_id}"
