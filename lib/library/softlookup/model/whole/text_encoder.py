"""One vector for a whole text: embedder, encoder, and the mean over its tokens."""

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from softlookup.model.parts.config import Config
from softlookup.model.parts.masks import padding_mask
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.stack import Embedder, Encoder


def mean_pool(states: Float[Tensor, "B T D"], real: Bool[Tensor, "B T"]) -> Float[Tensor, "B D"]:
    """Take the mean of each row's tokens, leaving out what only fills it up; zeros for a row without tokens.

    ValueError if the shapes do not fit.
    """
    if states.ndim != 3 or real.shape != states.shape[:2]:
        raise ValueError(
            f"states have shape {tuple(states.shape)}, real {tuple(real.shape)}; wanted (B, T, D) and (B, T)"
        )
    total_BD = states.masked_fill(~real.unsqueeze(-1), 0.0).sum(dim=1)
    return total_BD / real.sum(dim=1, keepdim=True).clamp(min=1)


class TextEncoder(nn.Module):
    """An encoder-only model without a head: what is left is a vector for each token, or for each text.

    Args:
        config: Sizes and parts. What it says of the output plays no part.

    Source: Reimers & Gurevych 2019, section 3 (mean pooling).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.d_model = config.d_model
        self.embedder = Embedder(config)
        self.encoder = Encoder(config)

    def forward(self, ids: Int[Tensor, "B T"], *, trace: Trace | None = None) -> Float[Tensor, "B D"]:
        """Give each text its vector: the mean of its tokens' vectors.

        Args:
            ids: Token ids, filled up with pad_id.
            trace: Where to leave states and attention weights.

        Returns:
            One vector for each text, of any length.

        Raises:
            ValueError: If ids have no row, the batch is empty or a text is too long.
        """
        return mean_pool(self.states(ids, trace=trace), ids != self.config.pad_id)

    def states(self, ids: Int[Tensor, "B T"], *, trace: Trace | None = None) -> Float[Tensor, "B T D"]:
        """Run the encoder: one vector for each token, in its context.

        Args:
            ids: Token ids, filled up with pad_id.
            trace: Where to leave states and attention weights.

        Returns:
            The encoder's output.

        Raises:
            ValueError: If ids have no row, the batch is empty or a text is too long.
        """
        return self.encoder(self.embedder(ids), padding_mask(ids, self.config.pad_id), trace=trace)
