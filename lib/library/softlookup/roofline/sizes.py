"""The sizes of a transformer, and its parameters matrix by matrix."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class TransformerSizes:
    """What has to be known of a transformer to count it. The defaults are plain: no biases but where said.

    Attributes:
        name: What it is called.
        D: Model width.
        N: Query heads.
        F: Hidden width of the feed-forward network.
        V: Words in the vocabulary.
        L: Layers (of the encoder, where there are two stacks).
        K: Key-value heads; None means N.
        H: Head width; None means D / N.
        decoder_layers: Layers of a decoder beside an encoder; None where there is one stack alone.
        gated: Whether the feed-forward network has a gate, and so three matrices (SwiGLU).
        activation: "relu", "gelu" or "silu".
        norm: "layer" (a gain and a shift) or "rms" (a gain).
        last_norm: Whether each stack ends with one more norm.
        attention_bias: Whether the four projections add biases.
        hidden_bias: Whether the feed-forward network adds biases.
        rotary: Whether queries and keys are turned to their places.
        positions: Learned positions, each with a row of D numbers; 0 where there are none.
        tied: Whether the output matrix is the table of embeddings.

    Raises:
        ValueError: If a size is below 1, N is no multiple of K, D no multiple of N where H is not given, or an
            activation or norm is unknown. The message names the field, what was got and what was wanted.
    """

    name: str
    D: int
    N: int
    F: int
    V: int
    L: int
    K: int | None = None
    H: int | None = None
    decoder_layers: int | None = None
    gated: bool = False
    activation: str = "relu"
    norm: str = "layer"
    last_norm: bool = True
    attention_bias: bool = False
    hidden_bias: bool = False
    rotary: bool = False
    positions: int = 0
    tied: bool = True

    def __post_init__(self) -> None:
        """Refuse sizes that make no transformer."""
        for field in ("D", "N", "F", "V", "L", "kv_heads"):
            if getattr(self, field) < 1:
                raise ValueError(f"{self.name}: {field} must be at least 1; got {getattr(self, field)}")
        if self.N % self.kv_heads:
            raise ValueError(f"{self.name}: N must be a multiple of K; got N = {self.N}, K = {self.kv_heads}")
        if self.H is None and self.D % self.N:
            raise ValueError(f"{self.name}: D must be a multiple of N, or H be given; got D = {self.D}, N = {self.N}")
        if self.activation not in ("relu", "gelu", "silu"):
            raise ValueError(f"{self.name}: activation is {self.activation!r}; wanted relu, gelu or silu")
        if self.norm not in ("layer", "rms"):
            raise ValueError(f"{self.name}: norm is {self.norm!r}; wanted layer or rms")

    @property
    def kv_heads(self) -> int:
        """K, whether it was given or not."""
        return self.N if self.K is None else self.K

    @property
    def head_width(self) -> int:
        """H, whether it was given or not."""
        return self.D // self.N if self.H is None else self.H

    @property
    def wide(self) -> int:
        """N * H, the columns of all query heads."""
        return self.N * self.head_width

    @property
    def narrow(self) -> int:
        """K * H, the columns of all key-value heads."""
        return self.kv_heads * self.head_width

    def but(self, **changes: object) -> "TransformerSizes":
        """Copy the sizes with some changed, checked like any other.

        Args:
            changes: New values by field name.

        Returns:
            New sizes; these stay as they were.

        Raises:
            ValueError: As for the class itself.
            TypeError: If there is no field of that name.
        """
        return replace(self, **changes)  # type: ignore[arg-type]


def check_source(sizes: TransformerSizes, source: int) -> None:
    """Refuse, by a ValueError with the model's name, a source without an encoder, or an encoder-decoder without one."""
    if bool(sizes.decoder_layers) != bool(source):
        problem = "is an encoder-decoder and needs a source" if sizes.decoder_layers else "has no encoder for a source"
        raise ValueError(f"{sizes.name} {problem}; got source = {source}")


def parameters(sizes: TransformerSizes) -> dict[str, int]:
    """Count the parameters of a whole model.

    Args:
        sizes: The model.

    Returns:
        By part: "embedding", "positions", "attention", "cross-attention", "feed-forward", "norms", "output"; their sum
        is all of them. Parts that the model does not have are 0.

    >>> from softlookup.roofline import MODELS
    >>> sum(parameters(MODELS["Llama 2 7B"]).values())
    6738415616
    """
    d, f = sizes.D, sizes.F
    attention = 2 * d * sizes.wide + 2 * d * sizes.narrow
    if sizes.attention_bias:
        attention += sizes.wide + 2 * sizes.narrow + d
    into = 2 if sizes.gated else 1
    hidden = (into + 1) * d * f + ((into * f + d) if sizes.hidden_bias else 0)
    norm = d if sizes.norm == "rms" else 2 * d
    crossing = sizes.decoder_layers or 0
    stacks = 2 if crossing else 1
    layers = sizes.L + crossing
    return {
        "embedding": sizes.V * d,
        "positions": sizes.positions * d,
        "attention": layers * attention,
        "cross-attention": crossing * attention,
        "feed-forward": layers * hidden,
        "norms": norm * (2 * layers + crossing + (stacks if sizes.last_norm else 0)),
        "output": 0 if sizes.tied else sizes.V * d,
    }


def product_weights(sizes: TransformerSizes) -> int:
    """Count the weights that stand in a matrix product for every token: all matrices, and the logits' one.

    Args:
        sizes: A model of one stack.

    Returns:
        Weights of attention, feed-forward network and output, without biases, norms and positions. A table of
        embeddings counts where it is the output matrix too; looking a row up is no product.

    Raises:
        ValueError: If there are two stacks: a source's token does not meet the decoder's weights.
    """
    if sizes.decoder_layers:
        raise ValueError(f"{sizes.name} has two stacks; product_weights counts one")
    plain = parameters(sizes.but(attention_bias=False, hidden_bias=False, tied=False))
    return plain["attention"] + plain["feed-forward"] + plain["output"]
