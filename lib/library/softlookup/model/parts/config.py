"""One description of a transformer: its sizes, and which of the known parts it is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from softlookup.model.parts.decoder_parts import DecoderParts
from softlookup.model.parts.rotary_scaling import RotaryScaling

Positions = Literal[
    "sinusoidal",
    "sinusoidal_halves",
    "learned",
    "rotary",
    "rotary_halves",
    "alibi",
    "t5",
    "shaw",
    "transformer_xl",
    "none",
]
Activation = Literal["relu", "relu2", "gelu", "gelu_tanh", "silu", "swiglu", "geglu_tanh"]
Norm = Literal["layer", "rms"]
QKNorm = Literal["none", "head", "width"]
Gate = Literal["sigmoid", "softmax"]


@dataclass(frozen=True)
class Config:
    """The sizes and parts of a transformer. The defaults are the base model of Vaswani et al. 2017.

    Attributes:
        vocab_size: V, words in the vocabulary.
        d_model: D, the width of a token's vector.
        n_heads: N, query heads.
        n_layers: L, layers of the stack (of the encoder, where there are two).
        d_hidden: F, the hidden width of the feed-forward network.
        n_decoder_layers: Layers of the decoder beside an encoder; None means L.
        head_width: H; None means D / N.
        n_kv_heads: K, key-value heads; None means N.
        max_length: The most positions that the model takes.
        positions: How order enters: added to the embeddings (sinusoidal, learned), by turning queries and keys
            (rotary), or by numbers added to the scores (alibi, t5, shaw, transformer_xl).
            The ending _halves names the other of the two layouts in use.
        rotary_base: Where positions are rotary, sets the slowest pair's speed; models of long texts take a larger one.
        rotary_scaling: How rotary positions are slowed down for texts longer than those of training; None: not at all.
        norm: LayerNorm or RMSNorm.
        norm_eps: What is added to the variance.
        pre_norm: Norm before each sublayer (pre-LN) and once after the stack, or after each (post-LN, the paper's).
        embedding_norm: One more norm, after the embeddings (BERT).
        activation: The feed-forward network's, by name.
        attention_bias: Whether the four projections of attention add a bias.
        hidden_bias: Whether the feed-forward network adds biases.
        attention_scale: What the dot products are multiplied by; None means 1/sqrt(H).
        qk_norm: RMSNorm on the queries and keys of all attention, before rotary positions: head normalises each
            head by itself (Qwen3), width all heads of a token together (OLMo 2).
        attention_sinks: Whether each head of all attention learns one logit more, which takes a share of the softmax
            and has no value (gpt-oss): a head may attend to nothing.
        latent_width: C, where self-attention caches one vector of this width for each token, from which the keys and
            values of all heads come, and one rotary key (DeepSeek); None for keys and values of heads. Its norms add
            1e-6 to the variance, as DeepSeek's do.
        latent_rotary_width: R, the width of that rotary key.
        latent_query_width: The width of a latent vector of the queries' own; None makes queries from x.
        n_experts: E, networks of hidden width F in each layer, of which a token passes through a few that a router
            chooses; 0 for one network that all tokens pass through. They are gated by silu and have no biases.
        experts_per_token: k, through how many of them.
        n_shared_experts: How many experts' width the network has that all tokens pass through besides (DeepSeek); 0
            for none.
        expert_gate: What makes gates of the router's scores: softmax (Mixtral, Qwen3) or sigmoid (DeepSeek-V3).
        dropout: The share of numbers dropped while training: of each sublayer's output before it is added, and of
            the sum of embeddings and positions (section 5.4 of the paper).
        scale_embeddings: Whether embeddings are multiplied by sqrt(D).
        tied: Whether the output matrix is the table of embeddings.
        tied_scale: What the states are multiplied by before tied logits; None means 1. T5 takes D**-0.5.
        output_bias: Whether the logits add a bias.
        n_segments: Kinds of segments with an embedding each (BERT has 2); 0 for none.
        mlm_transform: Whether the encoder-only head has BERT's extra layer before the logits.
        window: How many positions a token may attend back in self-attention, itself counted; None for all.
        global_every: n, where every n-th layer has no window: 6 gives five layers with the window, then a global one
            (Gemma 3). None means that all layers have the window, if there is one.
        no_rotary_every: n, where every n-th layer goes without rotary positions (NoPE): 4 in SmolLM3. None means that
            no layer does.
        parts: What only some recent decoders have; None for none of it.
        pad_id: The id that fills up short rows.
        start_id: The id that the decoder's input begins with.
        end_id: The id that ends a sentence.

    Raises:
        ValueError: If a size is below 1, a share is outside [0, 1), a name is unknown, a special id is outside the
            vocabulary, or parts do not go together. The message names the field, what was got and what was wanted.
    """

    vocab_size: int
    d_model: int = 512
    n_heads: int = 8
    n_layers: int = 6
    d_hidden: int = 2048
    n_decoder_layers: int | None = None
    head_width: int | None = None
    n_kv_heads: int | None = None
    max_length: int = 512
    positions: Positions = "sinusoidal"
    rotary_base: float = 10000.0
    rotary_scaling: RotaryScaling | None = None
    norm: Norm = "layer"
    norm_eps: float = 1e-5
    pre_norm: bool = False
    embedding_norm: bool = False
    activation: Activation = "relu"
    attention_bias: bool = False
    hidden_bias: bool = True
    attention_scale: float | None = None
    qk_norm: QKNorm = "none"
    attention_sinks: bool = False
    latent_width: int | None = None
    latent_rotary_width: int = 64
    latent_query_width: int | None = None
    n_experts: int = 0
    experts_per_token: int = 2
    n_shared_experts: int = 0
    expert_gate: Gate = "softmax"
    dropout: float = 0.1
    scale_embeddings: bool = True
    tied: bool = True
    tied_scale: float | None = None
    output_bias: bool = False
    n_segments: int = 0
    mlm_transform: bool = False
    window: int | None = None
    global_every: int | None = None
    no_rotary_every: int | None = None
    parts: DecoderParts | None = None
    pad_id: int = 0
    start_id: int = 2
    end_id: int = 3

    def __post_init__(self) -> None:
        """Refuse sizes and names that make no model."""
        for name in ("vocab_size", "d_model", "n_heads", "n_layers", "d_hidden", "max_length"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}")
        for name in ("n_decoder_layers", "head_width", "n_kv_heads", "window", "latent_width", "latent_query_width"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, or None; got {value}")
        kinds = {
            "positions": Positions,
            "activation": Activation,
            "norm": Norm,
            "qk_norm": QKNorm,
            "expert_gate": Gate,
        }
        for name, choices in kinds.items():
            if getattr(self, name) not in get_args(choices):
                raise ValueError(f"{name} is {getattr(self, name)!r}; wanted one of {', '.join(get_args(choices))}")
        for name in ("global_every", "no_rotary_every"):
            value = getattr(self, name)
            if value is not None and value < 2:
                raise ValueError(f"{name} must be at least 2, or None; got {value}")
        if self.global_every is not None and self.window is None:
            raise ValueError(
                f"global_every is {self.global_every}, but window is None; wanted the other layers' window"
            )
        for name in ("no_rotary_every", "rotary_scaling"):
            value = getattr(self, name)
            if value is not None and not self.is_rotary:
                raise ValueError(f"{name} is {value}, but positions are {self.positions!r}; wanted rotary ones")
        for name in ("n_segments", "n_experts", "n_shared_experts"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0; got {getattr(self, name)}")
        if self.n_experts and not 1 <= self.experts_per_token <= self.n_experts:
            raise ValueError(
                f"experts_per_token is {self.experts_per_token}; wanted 1 to n_experts, which is {self.n_experts}"
            )
        if self.n_experts and (self.activation != "swiglu" or self.hidden_bias):
            raise ValueError(
                f"n_experts is {self.n_experts}, activation {self.activation!r}, hidden_bias {self.hidden_bias}; "
                "experts have the activation 'swiglu' and hidden_bias False"
            )
        if self.latent_width is not None:
            goes_with = {"positions": "rotary", "n_kv_heads": None, "qk_norm": "none", "attention_sinks": False}
            goes_with |= {"attention_bias": False, "no_rotary_every": None}
            for name, expected in goes_with.items():
                if (got := getattr(self, name)) != expected:
                    raise ValueError(
                        f"latent_width is {self.latent_width} and {name} {got!r}; wanted {expected!r} beside it"
                    )
        if self.parts is not None:
            self._check_layers(self.parts)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1; got {self.dropout}")
        for name in ("pad_id", "start_id", "end_id"):
            if not 0 <= getattr(self, name) < self.vocab_size:
                raise ValueError(f"{name} is {getattr(self, name)}; the vocabulary has ids 0 to {self.vocab_size - 1}")

    def _check_layers(self, parts: DecoderParts) -> None:
        if not self.pre_norm:
            raise ValueError("pre_norm is False beside parts; wanted True: norm_place says where the norms stand")
        lists = {"windows": parts.windows, "turned_layers": parts.turned_layers}
        lists |= {"experts.layers": () if parts.experts is None else parts.experts.layers}
        lists |= {"delta.layers": () if parts.delta is None else parts.delta.layers}
        for name, values in lists.items():
            if values and len(values) != self.n_layers:
                raise ValueError(f"parts.{name} has {len(values)} values; wanted {self.n_layers}, one for each layer")

    @property
    def is_rotary(self) -> bool:
        """Whether queries and keys are turned to their positions."""
        return self.positions in ("rotary", "rotary_halves")

    def window_of(self, layer: int) -> int | None:
        """Say how far back a layer's tokens may attend.

        Args:
            layer: Which layer, from 0.

        Returns:
            The window, or None where the layer is global.

        >>> [Config(9, window=4, global_every=3).window_of(layer) for layer in range(6)]
        [4, 4, None, 4, 4, None]
        """
        if self.parts is not None and self.parts.windows:
            return self.parts.windows[layer]
        return None if self.global_every is not None and (layer + 1) % self.global_every == 0 else self.window

    def rotates(self, layer: int) -> bool:
        """Say whether a layer turns queries and keys to their positions.

        Args:
            layer: Which layer, from 0.

        Returns:
            False in every layer without rotary positions, and in those that no_rotary_every leaves out.
        """
        if self.parts is not None and self.parts.turned_layers:
            return self.is_rotary and self.parts.turned_layers[layer]
        return self.is_rotary and (self.no_rotary_every is None or (layer + 1) % self.no_rotary_every != 0)

    def linear(self, layer: int) -> bool:
        """Say whether a layer has linear attention by the delta rule in place of attention.

        Args:
            layer: Which layer, from 0.

        Returns:
            True where it has.
        """
        return self.parts is not None and self.parts.delta is not None and self.parts.delta.layers[layer]

    def at(self, layer: int) -> "Config":
        """Describe a single layer, where not all have experts.

        Args:
            layer: Which layer, from 0.

        Returns:
            The same description, or that without experts and with the hidden width of layers that have none.
        """
        routed = None if self.parts is None else self.parts.experts
        if routed is None or routed.layers[layer]:
            return self
        return self.but(n_experts=0, d_hidden=routed.dense_hidden)

    def but(self, **changes: object) -> "Config":
        """Copy the description with some fields changed.

        Args:
            changes: New values by field name.

        Returns:
            A new description, checked like any other.

        Raises:
            TypeError: If there is no field of that name.
        """
        return replace(self, **changes)  # type: ignore[arg-type]


SIZES: dict[str, tuple[object, ...]] = dict.fromkeys(
    (
        "vocab_size", "d_model", "n_heads", "n_layers", "d_hidden", "max_length", "norm_eps", "dropout",
        "pad_id", "start_id", "end_id",
        # These say nothing by themselves: another field says whether there is what they describe.
        "rotary_base", "latent_rotary_width", "latent_query_width", "experts_per_token", "n_shared_experts",
        "expert_gate",
    ),
    (),
)  # fmt: skip
"""The fields whose value no special path cares about, as check_parts takes them."""

WRITING: dict[str, tuple[object, ...]] = SIZES | {
    "n_decoder_layers": (),
    "head_width": (),
    "n_kv_heads": (),
    "rotary_scaling": (),
    "norm": ("layer", "rms"),
    "pre_norm": (False, True),
    "embedding_norm": (False, True),
    "activation": ("relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu_tanh"),
    "attention_bias": (False, True),
    "hidden_bias": (False, True),
    "attention_scale": (),
    "scale_embeddings": (False, True),
    "tied": (False, True),
    "tied_scale": (),
    "output_bias": (False, True),
}
"""What every quick way of writing knows; each adds the positions that it can have, and what else it knows."""

PLACES_IN_A_TENSOR: dict[str, tuple[object, ...]] = WRITING | {
    "positions": ("sinusoidal", "sinusoidal_halves", "learned", "rotary", "rotary_halves", "none"),
    "no_rotary_every": (),
    "qk_norm": ("none", "head", "width"),
}
"""What a decoder can be made of where the place of a newest token is a number on the device, not one of Python's."""


def check_parts(config: Config, known: Mapping[str, tuple[object, ...]], who: str) -> None:
    """Refuse a model with a part that a special path does not compute; a field that nobody has allowed is refused, too.

    ``known`` has, for each field that may differ from its default, the values that the path computes; none listed: all.
    ``who`` is the path's name in the message. ValueError, which names the field, for another value.
    """
    for field in fields(config):
        value, values = getattr(config, field.name), known.get(field.name, (field.default,))
        if values and value not in values:
            raise ValueError(f"{who} knows {field.name} in {values}; the model has {value!r}")
