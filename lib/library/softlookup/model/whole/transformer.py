"""The encoder-decoder transformer: from the ids of a sentence to the logits of its translation."""

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from softlookup.model.parts.cache import KVCache
from softlookup.model.parts.config import Config
from softlookup.model.parts.head import Head
from softlookup.model.parts.masks import padding_mask
from softlookup.model.parts.trace import Trace
from softlookup.model.whole.stack import Decoder, Embedder, Encoder


class Transformer(nn.Module):
    """Encoder, decoder and the way from states to words, over one vocabulary for both languages.

    Source and target share their embeddings, and with config.tied the output matrix is the same table too.

    Args:
        config: Sizes and parts.

    Source: Vaswani et al. 2017.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedder = Embedder(config)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.head = Head(config, self.embedder.tokens)

    def forward(
        self,
        source_ids: Int[Tensor, "B S"],
        target_ids: Int[Tensor, "B T"],
        *,
        trace: Trace | None = None,
        encoder_trace: Trace | None = None,
    ) -> Float[Tensor, "B T V"]:
        """Say, for each position of the target, which word comes next.

        Args:
            source_ids: The sentences, filled up with pad_id.
            target_ids: What the decoder is given: start_id, then the words known so far (teacher forcing).
            trace: Where to leave what the decoder computes; its patches change the decoder.
            encoder_trace: The same for the encoder.

        Returns:
            Logits.

        Raises:
            ValueError: If ids have no row, batches are empty or of unequal size, or a sentence is too long.
            TypeError: If ids are not whole numbers.
        """
        return self.head(self.states(source_ids, target_ids, trace=trace, encoder_trace=encoder_trace))

    def states(
        self,
        source_ids: Int[Tensor, "B S"],
        target_ids: Int[Tensor, "B T"],
        *,
        trace: Trace | None = None,
        encoder_trace: Trace | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Run encoder and decoder, without the head: one vector for each position of the target.

        Args:
            source_ids: The sentences, filled up with pad_id.
            target_ids: What the decoder is given.
            trace: As in forward.
            encoder_trace: As in forward.

        Returns:
            The decoder's output.

        Raises:
            ValueError: If there is not one target for each source, or as in forward.
        """
        if source_ids.shape[0] != target_ids.shape[0]:
            raise ValueError(f"{source_ids.shape[0]} sources beside {target_ids.shape[0]} targets: give one for each")
        memory_BSD, memory_mask = self.encode(source_ids, trace=encoder_trace)
        # Targets are filled up on the right, where the causal mask hides the filling from every word. A mask of their
        # pads would hide too much: in T5 and Marian the id of padding is also the one that the decoder starts with.
        return self.decoder(self.embedder(target_ids), memory_BSD, memory_mask=memory_mask, trace=trace)

    def encode(
        self, source_ids: Int[Tensor, "B S"], *, trace: Trace | None = None
    ) -> tuple[Float[Tensor, "B S D"], Bool[Tensor, "B 1 1 S"]]:
        """Run the encoder alone.

        Args:
            source_ids: The sentences, filled up with pad_id.
            trace: Where to leave the encoder's states and weights.

        Returns:
            The encoder's output, and which of its positions are words.

        Raises:
            ValueError: If ids have no row, the batch is empty, or a sentence is too long.
        """
        memory_mask = padding_mask(source_ids, self.config.pad_id)
        return self.encoder(self.embedder(source_ids), memory_mask, trace=trace), memory_mask

    def start(self, source_ids: Int[Tensor, "B S"], *, trace: Trace | None = None) -> KVCache:
        """Read the sentences, and make ready to write.

        Args:
            source_ids: The sentences, filled up with pad_id.
            trace: Where to leave what the encoder computes; its patches change the encoder.

        Returns:
            An empty cache that knows what the encoder said, for step.
        """
        memory_BSD, memory_mask = self.encode(source_ids, trace=trace)
        state = KVCache(len(self.decoder.layers), cross=True, memory_mask=memory_mask, windows=self.decoder.windows)
        state.memory = memory_BSD
        return state

    def step(
        self, ids: Int[Tensor, "B T"], state: KVCache, *, trace: Trace | None = None
    ) -> tuple[Float[Tensor, "B V"], KVCache]:
        """Take the tokens that the state has not seen yet, and say what comes next.

        Args:
            ids: The newest tokens: start_id at first, then one word at a time.
            state: What start made; it is added to.
            trace: Where to leave the decoder's states and weights.

        Returns:
            The logits of the next word, and the state.

        Raises:
            ValueError: If the state comes from another kind of model, or the sentence grows too long.
        """
        if state.memory is None:
            raise ValueError("the state holds no encoder's output: make it with start(source_ids)")
        x_BTD = self.decoder(
            self.embedder(ids, state.length),
            state.memory,
            memory_mask=state.memory_mask,
            cache=state,
            trace=trace,
        )
        return self.head(x_BTD[:, -1:])[:, 0], state
