"""What has to lie in memory: weights, gradients, optimizer states, activations, keys and values."""

from dataclasses import dataclass

from softlookup.roofline.operations import HALF_BYTES, Moved
from softlookup.roofline.sizes import TransformerSizes, check_source, parameters


@dataclass(frozen=True)
class PrecisionRecipe:
    """In which precision training keeps what it keeps: bytes for each parameter.

    Attributes:
        weights: The weights that the products use.
        gradients: Their gradients.
        master: A float32 copy that is updated, 0 where the weights are updated themselves.
        optimizer: The optimizer's states.
        says: Whose recipe it is.
    """

    weights: int
    gradients: int
    master: int
    optimizer: int
    says: str

    @property
    def bytes(self) -> int:
        """Bytes for each parameter, all in all."""
        return self.weights + self.gradients + self.master + self.optimizer


RECIPES: dict[str, PrecisionRecipe] = {
    "float32": PrecisionRecipe(4, 4, 0, 8, "everything in float32, Adam"),
    "master": PrecisionRecipe(2, 2, 4, 8, "half-precision weights and gradients, a float32 master copy, Adam"),
    "autocast": PrecisionRecipe(4, 4, 0, 8, "float32 weights, cast to half precision where products use them, Adam"),
    "half": PrecisionRecipe(2, 2, 0, 4, "everything in bfloat16, Adam's states too"),
    "sgd": PrecisionRecipe(4, 4, 0, 0, "float32, plain gradient descent without momentum"),
}
"""Recipes by name. "master" is that of Micikevicius et al. 2018, "autocast" what torch.autocast does with float32
weights. Its half-precision copies of the weights, 2 bytes for each parameter, are not in it: they are cached and saved
only until the backward pass has used them.
"""


def state_bytes(n_parameters: int, recipe: str = "master") -> dict[str, int]:
    """Count what training keeps for each parameter.

    Args:
        n_parameters: How many numbers are learned.
        recipe: One of RECIPES.

    Returns:
        Bytes by "weights", "gradients", "master", "optimizer".

    Raises:
        KeyError: If there is no such recipe; the message names those that there are.

    Source: Micikevicius et al. 2018; Rajbhandari et al. 2020, section 3.1 (16 bytes for each parameter).

    >>> sum(state_bytes(1_500_000_000).values())
    24000000000
    """
    if recipe not in RECIPES:
        raise KeyError(f"no recipe {recipe!r}; there are {', '.join(RECIPES)}")
    bytes_each = RECIPES[recipe]
    return {name: n_parameters * getattr(bytes_each, name) for name in ("weights", "gradients", "master", "optimizer")}


def cache_bytes(
    sizes: TransformerSizes, batch: int, context: int, *, source: int = 0, number_bytes: int = HALF_BYTES
) -> int:
    """Count the keys and values of all layers: 2 * B * S * L * K * H numbers.

    Args:
        sizes: The model; of two stacks, the decoder keeps its own keys and values and those of the encoder's output.
        batch: B, sequences.
        context: S, tokens of each.
        source: Tokens of the source, for an encoder-decoder.
        number_bytes: Bytes of a number.

    Returns:
        Bytes.

    Raises:
        ValueError: If an encoder-decoder has no source, or another model has one.

    >>> from softlookup.roofline import MODELS
    >>> cache_bytes(MODELS["Llama 2 7B"], 1, 4096) / 2**30
    2.0
    """
    check_source(sizes, source)
    layers = sizes.decoder_layers or sizes.L
    return 2 * batch * (context + source) * layers * sizes.narrow * number_bytes


def activations(
    sizes: TransformerSizes,
    batch: int,
    tokens: int,
    *,
    memory: int = 0,
    dropout: bool = False,
    fused: bool = False,
) -> list[Moved]:
    """List what one layer keeps from the forward pass for the backward pass, in half precision.

    Args:
        sizes: The model.
        batch: B, sequences.
        tokens: T, tokens of each.
        memory: E, the encoder's length; 0 for a layer without cross-attention. Its output itself, which all layers
            share, is not in the list.
        dropout: Whether weights and both sublayers' outputs go through dropout, whose masks take a byte a number.
        fused: Whether a kernel keeps no scores (it makes them again).

    Returns:
        Tensors by name. Each product keeps its inputs, each norm and activation its input, the softmax its output.
        (What is left out is small: two numbers a row of each norm, one a row of a fused softmax. A ReLU could do with
        its output alone.)

    Source: Korthikanti et al. 2022, section 4.1 and equation 1: with K = N, F = 4 D, GELU and dropout it is
    B T D (34 + 5 N T / D) bytes.
    """
    b, t, d = batch, tokens, sizes.D
    hidden = (b, t, sizes.F)

    def attention(keys: int, asks: str, across: str) -> list[Moved]:
        heads, square = (b, sizes.kv_heads, keys, sizes.head_width), (b, sizes.N, t, keys)
        arrays = [
            Moved(f"input of norm {across or 1}", (b, t, d)),
            Moved(f"input of {asks}", (b, t, d)),
            Moved(f"q {across}".strip(), (b, sizes.N, t, sizes.head_width)),
            Moved(f"k {across}".strip(), heads),
        ]
        if not fused:
            arrays.append(Moved(f"weights {across}".strip(), square))
            if dropout:
                arrays += [Moved("mask of the weights", square, 1), Moved("weights after dropout", square)]
        arrays += [Moved(f"v {across}".strip(), heads), Moved("input of output", (b, t, sizes.wide))]
        return [*arrays, Moved("mask of attention", (b, t, d), 1)] if dropout else arrays

    tensors = attention(t, "q, k and v", "")
    if memory:
        tensors += attention(memory, "q across", "across")
    tensors += [Moved("input of norm 2", (b, t, d)), Moved("input of up", (b, t, d))]
    tensors += [Moved(f"input of {sizes.activation}", hidden)]
    if sizes.gated:
        tensors += [Moved(f"output of {sizes.activation}", hidden), Moved("up", hidden)]
    tensors.append(Moved("input of down", hidden))
    if dropout:
        tensors.append(Moved("mask of the network", (b, t, d), 1))
    return tensors


def training_memory(
    sizes: TransformerSizes,
    batch: int,
    tokens: int,
    *,
    source: int = 0,
    recipe: str = "master",
    fused: bool = True,
    recompute: bool = False,
) -> dict[str, int]:
    """Count what a step of training has in memory at its fullest, all layers forward and none back yet.

    Args:
        sizes: The model.
        batch: B, sequences.
        tokens: T, tokens of each (of the target, for an encoder-decoder).
        source: Tokens of the source, for an encoder-decoder.
        recipe: One of RECIPES.
        fused: Whether the scores are not kept.
        recompute: Whether a layer keeps its input alone and is computed again in the backward pass; one layer is
            whole then.

    Returns:
        Bytes by "weights", "gradients", "master", "optimizer", "activations" (for an encoder-decoder with the
        encoder's output) and "logits" (in float32, with their gradient).

    Raises:
        KeyError: If there is no such recipe.
        ValueError: If there are two stacks.
    """
    check_source(sizes, source)
    stacks = [(sizes.decoder_layers or sizes.L, tokens, source)]
    if sizes.decoder_layers:
        stacks.append((sizes.L, source, 0))
    row = batch * sizes.D * HALF_BYTES
    whole = [sum(tensor.bytes for tensor in activations(sizes, batch, t, memory=e, fused=fused)) for _, t, e in stacks]
    if recompute:
        stored = sum(layers * t * row for layers, t, _ in stacks) + max(whole)
    else:
        stored = sum(layers * layer_bytes for (layers, _, _), layer_bytes in zip(stacks, whole, strict=True))
    return {
        **state_bytes(sum(parameters(sizes).values()), recipe),
        "activations": stored + source * row,
        "logits": 2 * batch * tokens * sizes.V * 4,
    }


def inference_memory(
    sizes: TransformerSizes, batch: int, context: int, *, source: int = 0, number_bytes: int = HALF_BYTES
) -> dict[str, int]:
    """Count what writing has in memory: weights, and keys and values of every token so far.

    Args:
        sizes: The model.
        batch: B, sequences.
        context: S, tokens of each.
        source: Tokens of the source, for an encoder-decoder.
        number_bytes: Bytes of a number.

    Returns:
        Bytes by "weights" and "cache". What one step works with is small beside them and left out.
    """
    return {
        "weights": sum(parameters(sizes).values()) * number_bytes,
        "cache": cache_bytes(sizes, batch, context, source=source, number_bytes=number_bytes),
    }
