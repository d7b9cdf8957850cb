"""Language models with one stack: decoder-only (what comes next?) and encoder-only (what is hidden here?)."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from softlookup.model.parts.cache import KVCache
from softlookup.model.parts.config import Config
from softlookup.model.parts.head import Head
from softlookup.model.parts.masks import padding_mask
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.stack import Decoder, Embedder, Encoder


class DecoderLM(nn.Module):
    """A decoder-only language model: every position predicts the next token, looking back only.

    Args:
        config: Sizes and parts.

    Source: Radford et al. 2019 (GPT-2); Touvron et al. 2023 (Llama).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedder = Embedder(config)
        self.decoder = Decoder(config, cross=False)
        self.head = Head(config, self.embedder.tokens)

    def forward(
        self,
        ids: Int[Tensor, "B T"],
        mask: Bool[Tensor, "B T"] | None = None,
        *,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B T V"]:
        """Say, for each position, which token comes next.

        Args:
            ids: Token ids.
            mask: True where there is a token, False where a row is filled up; None means tokens everywhere. Positions
                are counted from each row's first token, so a row may be filled up on either side, but not between its
                tokens.
            trace: Where to leave states and weights.

        Returns:
            Logits.

        Raises:
            ValueError: If ids have no row, the batch is empty, a row is too long, or the mask's shape is not the ids'
                or it has a gap between tokens. On a GPU and in a compiled model the mask is not read.
            TypeError: If the ids are not whole numbers or the mask is not boolean.
        """
        return self.head(self.states(ids, mask, trace=trace))

    def states(
        self,
        ids: Int[Tensor, "B T"],
        mask: Bool[Tensor, "B T"] | None = None,
        *,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Run the decoder, without the head: one vector for each token, of what came up to it.

        Args:
            ids: Token ids.
            mask: As in forward.
            trace: Where to leave states and weights.

        Returns:
            The decoder's output.
        """
        keys, positions = _padding(ids, mask)
        return self.decoder(self.embedder(ids, places=positions), mask=keys, trace=trace)

    def start(self, mask: Bool[Tensor, "B T"] | None = None) -> KVCache:
        """Make ready to write.

        Args:
            mask: Which tokens of the prompts are real, where rows are filled up (on the left).

        Returns:
            An empty cache for step.

        Raises:
            ValueError: If a row ends in filling: what is written next has to follow a token. Or as in forward.
            TypeError: If the mask is not boolean.
        """
        if mask is not None:
            _padding(mask, mask)
            if not mask[:, -1].all():
                raise ValueError("mask is False in its last column; prompts are filled up on the left")
        n_layers = len(self.decoder.layers)
        linear = [self.config.linear(i) for i in range(n_layers)]
        state = KVCache(n_layers, windows=self.decoder.windows, linear=linear)
        state.padding = mask
        return state

    def step(
        self, ids: Int[Tensor, "B T"], state: KVCache | None = None, *, trace: Trace | None = None
    ) -> tuple[Float[Tensor, "B V"], KVCache]:
        """Take the tokens that the state has not seen yet, and say what comes next.

        Args:
            ids: The prompt at first (prefill), then one token at a time (decode).
            state: What start made, or the last call returned; None starts afresh, with no padding.
            trace: Where to leave states and weights.

        Returns:
            The logits of the next token, and the state.

        Raises:
            ValueError: If the text grows over the model's length, or the prompts' shape is not their mask's.
        """
        state = self.start() if state is None else state
        keys = positions = None
        past_length = state.length
        if state.padding is not None:
            if not past_length and state.padding.shape != ids.shape:
                raise ValueError(
                    f"the prompts' mask has shape {tuple(state.padding.shape)}; the ids have {tuple(ids.shape)}"
                )
            if past_length:  # everything after the prompt is a token
                new = state.padding.new_ones((ids.shape[0], past_length + ids.shape[1] - state.padding.shape[1]))
                state.padding = torch.cat((state.padding, new), dim=1)
            keys, positions = _padding(state.padding, state.padding)
            positions = None if positions is None else positions[:, past_length:]
        x_BTD = self.decoder(self.embedder(ids, past_length, places=positions), mask=keys, cache=state, trace=trace)
        return self.head(x_BTD[:, -1:])[:, 0], state


class EncoderLM(nn.Module):
    """An encoder-only model: every token looks both ways, and hidden tokens are guessed from the rest.

    Args:
        config: Sizes and parts.

    Source: Devlin et al. 2019 (BERT).
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedder = Embedder(config)
        self.encoder = Encoder(config)
        self.head = Head(config, self.embedder.tokens)

    def forward(
        self,
        ids: Int[Tensor, "B T"],
        segments: Int[Tensor, "B T"] | None = None,
        *,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B T V"]:
        """Say, for each position, which token belongs there.

        Args:
            ids: Token ids, filled up with pad_id.
            segments: The segment of each token, for models that have them.
            trace: Where to leave states and weights.

        Returns:
            Logits.

        Raises:
            ValueError: If ids have no row, the batch is empty or a row is too long.
        """
        return self.head(self.states(ids, segments, trace=trace))

    def states(
        self,
        ids: Int[Tensor, "B T"],
        segments: Int[Tensor, "B T"] | None = None,
        *,
        trace: Trace | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Run the encoder, without the head: one vector for each token, in its context.

        Args:
            ids: Token ids, filled up with pad_id.
            segments: The segment of each token, for models that have them.
            trace: Where to leave states and weights.

        Returns:
            The encoder's output.
        """
        x_BTD = self.embedder(ids, segments=segments)
        return self.encoder(x_BTD, padding_mask(ids, self.config.pad_id), trace=trace)


def _padding(ids: Tensor, mask: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
    """Make of which tokens are real a mask of the keys (B, 1, 1, T), and each token's place counted from the first."""
    if mask is None:
        return None, None
    if mask.dtype != torch.bool:
        raise TypeError(f"mask has dtype {mask.dtype}; wanted torch.bool, where True means: a token")
    if mask.shape != ids.shape:
        raise ValueError(f"mask has shape {tuple(mask.shape)}; the ids have {tuple(ids.shape)}: they must be equal")
    if mask.device.type == "cpu" and not torch.compiler.is_compiling():
        begins_BT = mask & ~F.pad(mask[:, :-1], (1, 0))
        if (gaps_B := begins_BT.sum(dim=1) > 1).any():
            raise ValueError(
                f"mask has a gap in row {int(gaps_B.nonzero()[0])}: False between two tokens. Fill rows up at the ends "
                "alone, or take the tokens of the gap out of ids and mask"
            )
    return mask[:, None, None, :], (mask.cumsum(dim=1) - 1).clamp(min=0)
