"""What the layers of a decoder are made of: one class for each kind of mixer and of feed-forward network.

A layer is a list of parts. Counts (``softlookup.roofline.layer_counts``) read these classes alone, so that a family of
models needs no formula of its own.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class IndexerSizes:
    """A small attention that chooses the positions that the large one attends to (DeepSeek sparse attention).

    Attributes:
        heads: Of the indexer.
        width: Of such a head, and of the key that is cached.
        chosen: Positions that are attended to at most.
        chooses: Whether the layer has an indexer; otherwise it uses the choice of an earlier layer.
    """

    heads: int
    width: int
    chosen: int
    chooses: bool = True


@dataclass(frozen=True)
class AttentionSizes:
    """Attention with keys and values for each position.

    Attributes:
        heads: N, query heads.
        kv_heads: K, key-value heads.
        width: H, of a query and a key.
        value_width: Of a value.
        window: How many positions a token attends to at most; None where there is no limit.
        chunked: Whether the window is a chunk, whose start all its tokens share.
        qkv_bias: Whether queries, keys and values have biases.
        output_bias: Whether the output projection has one.
        gains: Learned numbers of the norms of queries, keys and outputs.
        sinks: Whether each head has a learned sink.
        gate: Numbers of a gate on the output, made from the state; 0 without it.
        gate_bias: Whether the gate has a bias where the queries have one.
        own_values: Whether values have a projection; otherwise they are the keys.
        own_cache: Whether keys and values are made here; otherwise an earlier layer's are used.
        indexer: What chooses positions; None where all are attended to.
    """

    heads: int
    kv_heads: int
    width: int
    value_width: int
    window: int | None = None
    chunked: bool = False
    qkv_bias: bool = False
    output_bias: bool = False
    gains: int = 0
    sinks: bool = False
    gate: int = 0
    gate_bias: bool = False
    own_values: bool = True
    own_cache: bool = True
    indexer: IndexerSizes | None = None

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        form = "multi-head" if self.heads == self.kv_heads else "multi-query" if self.kv_heads == 1 else "grouped-query"
        values = "" if self.value_width == self.width else f", values of {self.value_width}"
        limit = "" if self.window is None else f", {'chunks' if self.chunked else 'window'} of {self.window:,}"
        extras = [
            text
            for text, holds in (
                ("sinks", self.sinks),
                ("output gate", self.gate),
                ("keys are the values", not self.own_values),
                ("keys and values of an earlier layer", not self.own_cache),
            )
            if holds
        ]
        if self.indexer is not None:
            extras.append(f"{self.indexer.chosen:,} positions chosen by an indexer")
        return ", ".join(
            [f"{form} attention, {self.heads}/{self.kv_heads} heads of {self.width}{values}{limit}", *extras]
        )


@dataclass(frozen=True)
class LatentSizes:
    """Attention whose keys and values are made of a cached latent vector (MLA).

    Attributes:
        heads: N.
        width: Of the latent vector.
        rotary: Of the rotary key beside it.
        query: Of the latent vector of the queries; None without it.
        plain: Of the part of a query and a key without positions.
        value: Of a value.
        bias: Whether the three input and output projections that may have a bias have it.
        gate: Numbers of a gate on the output; 0 without it.
        sinks: Whether each head has a learned sink.
        indexer: What chooses positions; None where all are attended to.
    """

    heads: int
    width: int
    rotary: int
    query: int | None
    plain: int
    value: int
    bias: bool = False
    gate: int = 0
    sinks: bool = False
    indexer: IndexerSizes | None = None

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        text = f"latent attention (MLA), {self.heads} heads, latent {self.width} + rotary key {self.rotary}"
        extras = [name for name, holds in (("output gate", self.gate), ("sinks", self.sinks)) if holds]
        if self.indexer is not None:
            which = "by an indexer" if self.indexer.chooses else "by an earlier layer's indexer"
            extras.append(f"{self.indexer.chosen:,} positions chosen {which}")
        return ", ".join([text, *extras])


@dataclass(frozen=True)
class CompressedSizes:
    """Attention to a window and to compressed positions before it (DeepSeek-V4).

    Attributes:
        heads: N; keys and values are one vector for all of them.
        width: Of a query, and of that vector.
        query: Of the latent vector of the queries.
        window: Positions that are attended to uncompressed.
        rate: Positions that are compressed to one vector; None without compression.
        groups: Groups of heads in the output projection.
        group_width: What a group is projected to.
        indexer: What chooses compressed positions; None where all are attended to.
    """

    heads: int
    width: int
    query: int
    window: int
    rate: int | None
    groups: int
    group_width: int
    indexer: IndexerSizes | None = None

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        text = f"multi-query attention, {self.heads} heads of {self.width}, window of {self.window:,}, sinks"
        if self.rate is not None:
            text += f", {self.rate} positions compressed to one"
        return text if self.indexer is None else f"{text}, {self.indexer.chosen:,} of them chosen by an indexer"


@dataclass(frozen=True)
class Mamba2Sizes:
    """A state space with a scalar decay for each head (Mamba-2).

    Attributes:
        heads: Of the state.
        width: Of a head.
        state: Numbers of the state for each channel.
        groups: Groups of heads that share B and C.
        kernel: Positions of the short convolution.
        convolution_bias: Whether it has a bias.
        bias: Whether the projections have biases.
        norm: Whether the output is normalised before its projection.
    """

    heads: int
    width: int
    state: int
    groups: int
    kernel: int
    convolution_bias: bool = True
    bias: bool = False
    norm: bool = True

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        return f"state space (Mamba-2), {self.heads} heads of {self.width}, state {self.state} for each channel"


@dataclass(frozen=True)
class Mamba1Sizes:
    """A state space with a decay for each entry of the state (Mamba).

    Attributes:
        channels: Of the state.
        state: Numbers of the state for each channel.
        rank: Of the projection to step sizes.
        kernel: Positions of the short convolution.
        convolution_bias: Whether it has a bias.
        bias: Whether the projections have biases.
        norms: Whether step sizes, B and C are normalised with learned gains.
    """

    channels: int
    state: int
    rank: int
    kernel: int
    convolution_bias: bool = True
    bias: bool = False
    norms: bool = False

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        return f"state space (Mamba), {self.channels:,} channels, state {self.state} for each"


@dataclass(frozen=True)
class DeltaSizes:
    """Linear attention by the gated delta rule.

    Attributes:
        key_heads: Of queries and keys.
        heads: Of values, and so of the state.
        key_width: Of a query and a key.
        value_width: Of a value.
        kernel: Positions of the short convolution.
        gates: "head": a decay for each head. "low rank" or "channel": one for each channel of the keys (Kimi), made
            through a vector of a head's width or directly.
    """

    key_heads: int
    heads: int
    key_width: int
    value_width: int
    kernel: int
    gates: str = "head"

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        rule_name = "gated delta rule" if self.gates == "head" else "Kimi delta attention"
        return f"linear attention ({rule_name}), {self.heads} heads, state {self.key_width} x {self.value_width} each"


@dataclass(frozen=True)
class LightningSizes:
    """Linear attention with a fixed decay for each head (lightning attention).

    Attributes:
        heads: N.
        width: H.
    """

    heads: int
    width: int

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        return f"linear attention (lightning), {self.heads} heads, state {self.width} x {self.width} each"


@dataclass(frozen=True)
class ConvolutionSizes:
    """A short convolution between two gates (LFM2).

    Attributes:
        kernel: Positions of the convolution.
        bias: Whether convolution and projections have biases.
    """

    kernel: int
    bias: bool = False

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        return f"short convolution over {self.kernel} positions, gated"


@dataclass(frozen=True)
class RecurrenceSizes:
    """A gated linear recurrence (RG-LRU of Griffin).

    Attributes:
        width: Of the state.
        blocks: Blocks of the gates' matrices.
        kernel: Positions of the short convolution.
    """

    width: int
    blocks: int
    kernel: int

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        return f"gated linear recurrence (RG-LRU), state {self.width:,}"


@dataclass(frozen=True)
class DenseSizes:
    """A feed-forward network.

    Attributes:
        hidden: F.
        gated: Whether it has a gate, and so three matrices.
        bias: Whether its matrices have biases.
        added: Further learned numbers that stand in no product.
    """

    hidden: int
    gated: bool = True
    bias: bool = False
    added: int = 0

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        return f"feed-forward {self.hidden:,}{'' if self.gated else ', no gate'}"


@dataclass(frozen=True)
class ExpertsSizes:
    """Routed experts, and what all tokens pass through beside them.

    Attributes:
        total: In the layer.
        chosen: For each token.
        hidden: The hidden width of an expert.
        gated: Whether experts have a gate.
        shared: The hidden width of what all tokens pass through; 0 without it.
        shared_gate: Whether a number for each token scales what that gives.
        bias: Whether experts and router have biases.
        router_added: Learned numbers of the router that stand in no product.
        latent: The width that experts work at, where it is not the model's; None without it.
    """

    total: int
    chosen: int
    hidden: int
    gated: bool = True
    shared: int = 0
    shared_gate: bool = False
    bias: bool = False
    router_added: int = 0
    latent: int | None = None

    @property
    def words(self) -> str:
        """The kind and its sizes in a line."""
        text = f"{self.chosen} of {self.total} experts of {self.hidden:,}"
        return text + (f" + shared {self.shared:,}" if self.shared else "")


@dataclass(frozen=True)
class PlainSizes:
    """A part that is known by its counts alone.

    Attributes:
        words: What it is.
        products: Weights that each token is multiplied by.
        added: Other learned numbers.
        mixed: Multiply-adds for a token in products without weights.
    """

    words: str
    products: int
    added: int = 0
    mixed: int = 0


MixerSizes = (
    AttentionSizes
    | LatentSizes
    | CompressedSizes
    | Mamba2Sizes
    | Mamba1Sizes
    | DeltaSizes
    | LightningSizes
    | ConvolutionSizes
    | RecurrenceSizes
)
NetworkSizes = DenseSizes | ExpertsSizes | PlainSizes
PartSizes = MixerSizes | NetworkSizes


@dataclass(frozen=True)
class LayerSizes:
    """One layer.

    Attributes:
        parts: Mixers and networks, in order; two mixers first run side by side.
        norms: Learned numbers of the norms of the residual stream.
    """

    parts: tuple[PartSizes, ...]
    norms: int

    @property
    def words(self) -> tuple[str, ...]:
        """A line for each part."""
        return tuple(part.words for part in self.parts)


@dataclass(frozen=True)
class ModelLayers:
    """A decoder, as its config.json describes it.

    Attributes:
        model_type: Of the description that was read.
        d_model: D.
        vocab_size: V.
        tied: Whether the output matrix is the table of tokens.
        layers: In order.
        last_norms: Learned numbers behind the last layer: norms, and a bias of the output.
        tables: Learned numbers of further tables that are looked up, as with per-layer embeddings.
        beside: What stands beside the layers and is met by every token.
        rotary: Which layers have rotary positions, as far as entries say so; empty where none does.
        wrapped_in: The model_type of the model of text and images whose text decoder this is; None where it is whole.
    """

    model_type: str
    d_model: int
    vocab_size: int
    tied: bool
    layers: tuple[LayerSizes, ...]
    last_norms: int
    tables: int = 0
    beside: tuple[PlainSizes, ...] = ()
    rotary: tuple[bool, ...] = ()
    wrapped_in: str | None = None
