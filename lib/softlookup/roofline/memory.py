"""What has to lie in memory: weights, gradients, optimizer states, activations, keys and values."""

from dataclasses import dataclass

from softlookup.roofline.operations import HALF_BYTES, Moved
from softlookup.roofline.sizes import TransformerSizes, parameters

GIB = 2**30
"""Bytes of a GiB; a GB is 10**9. A card of "80 GB" has 80 GiB or nearly so, and tools print either."""


@dataclass(frozen=True)
class Recipe:
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


RECIPES: dict[str, Recipe] = {
    "float32": Recipe(4, 4, 0, 8, "everything in float32, Adam"),
    "master": Recipe(2, 2, 4, 8, "half-precision weights and gradients, a float32 master copy, Adam"),
    "autocast": Recipe(4, 4, 0, 8, "float32 weights, cast to half precision where products use them, Adam"),
    "half": Recipe(2, 2, 0, 4, "everything in bfloat16, Adam's states too"),
    "sgd": Recipe(4, 4, 0, 0, "float32, plain gradient descent without momentum"),
}
"""Recipes by name. "master" is that of Micikevicius et al. 2018, "autocast" what torch.autocast does with float32
weights (its casts are made for each product and are activations).

Book: 12_counting.html#counting-memory.
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
    one = RECIPES[recipe]
    return {name: n_parameters * getattr(one, name) for name in ("weights", "gradients", "master", "optimizer")}


def cache_bytes(sizes: TransformerSizes, batch: int, context: int, *, number_bytes: int = HALF_BYTES) -> int:
    """Count the keys and values of all layers: 2 * B * S * L * K * H numbers.

    Args:
        sizes: A model of one stack, or the decoder of two (its own keys and values; the memory's are as many again for
            each token of the source).
        batch: B, sequences.
        context: S, tokens of each.
        number_bytes: Bytes of a number.

    Returns:
        Bytes.

    >>> from softlookup.roofline import MODELS
    >>> cache_bytes(MODELS["Llama 2 7B"], 1, 4096) / 2**30
    2.0
    """
    layers = sizes.decoder_layers or sizes.L
    return 2 * batch * context * layers * sizes.narrow * number_bytes


def activations(
    sizes: TransformerSizes, batch: int, tokens: int, *, dropout: bool = False, fused: bool = False
) -> list[Moved]:
    """List what one layer keeps from the way forward for the way back, in half precision.

    Args:
        sizes: A model whose layer has no cross-attention.
        batch: B, sequences.
        tokens: T, tokens of each.
        dropout: Whether weights and both sublayers' outputs go through dropout, whose masks take a byte a number.
        fused: Whether a kernel keeps no scores (it makes them again).

    Returns:
        Tensors by name. Each product keeps its inputs, each norm and activation its input, the softmax its output.

    Source: Korthikanti et al. 2022, section 4.1 and equation 1: with K = N, F = 4 D, GELU and dropout it is
    B T D (34 + 5 N T / D) bytes.
    """
    b, t, d, n = batch, tokens, sizes.D, sizes.N
    square, hidden = (b, n, t, t), (b, t, sizes.F)
    kept = [
        Moved("input of norm 1", (b, t, d)),
        Moved("input of q, k and v", (b, t, d)),
        Moved("q", (b, n, t, sizes.head_width)),
        Moved("k", (b, sizes.kv_heads, t, sizes.head_width)),
    ]
    if not fused:
        kept.append(Moved("weights", square))
        if dropout:
            kept += [Moved("mask of the weights", square, 1), Moved("weights after dropout", square)]
    kept += [Moved("v", (b, sizes.kv_heads, t, sizes.head_width)), Moved("input of output", (b, t, sizes.wide))]
    if dropout:
        kept.append(Moved("mask of attention", (b, t, d), 1))
    kept += [Moved("input of norm 2", (b, t, d)), Moved("input of up", (b, t, d))]
    kept += [Moved(f"input of {sizes.activation}", hidden)]
    if sizes.gated:
        kept += [Moved(f"output of {sizes.activation}", hidden), Moved("up", hidden)]
    kept.append(Moved("input of down", hidden))
    if dropout:
        kept.append(Moved("mask of the network", (b, t, d), 1))
    return kept


def training_memory(
    sizes: TransformerSizes,
    batch: int,
    tokens: int,
    *,
    recipe: str = "master",
    fused: bool = True,
    recompute: bool = False,
) -> dict[str, int]:
    """Count what a step of training has in memory at its fullest, all layers forward and none back yet.

    Args:
        sizes: A model of one stack.
        batch: B, sequences.
        tokens: T, tokens of each.
        recipe: One of RECIPES.
        fused: Whether the scores are not kept.
        recompute: Whether a layer keeps its input alone and is computed again on the way back; one layer is whole then.

    Returns:
        Bytes by "weights", "gradients", "master", "optimizer", "activations" and "logits" (in float32, with their
        gradient).

    Raises:
        KeyError: If there is no such recipe.
        ValueError: If there are two stacks.

    Book: 12_counting.html#counting-activations.
    """
    if sizes.decoder_layers:
        raise ValueError(f"{sizes.name} has two stacks; training_memory counts one")
    one_layer = sum(one.bytes for one in activations(sizes, batch, tokens, fused=fused))
    entering = batch * tokens * sizes.D * HALF_BYTES
    return {
        **state_bytes(sum(parameters(sizes).values()), recipe),
        "activations": sizes.L * entering + one_layer if recompute else sizes.L * one_layer,
        "logits": 2 * batch * tokens * sizes.V * 4,
    }


def inference_memory(
    sizes: TransformerSizes, batch: int, context: int, *, number_bytes: int = HALF_BYTES
) -> dict[str, int]:
    """Count what writing has in memory: weights, and keys and values of every token so far.

    Args:
        sizes: The model.
        batch: B, sequences.
        context: S, tokens of each.
        number_bytes: Bytes of a number.

    Returns:
        Bytes by "weights" and "cache". What one step works with is small beside them and left out.

    Book: 12_counting.html#counting-fits.
    """
    return {
        "weights": sum(parameters(sizes).values()) * number_bytes,
        "cache": cache_bytes(sizes, batch, context, number_bytes=number_bytes),
    }
