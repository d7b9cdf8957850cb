"""What a forward pass leaves behind to look at, and what stands in for its tensors on the way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from torch import Tensor

Place = Literal[
    "state",
    "weights",
    "heads",
    "attention",
    "cross_weights",
    "cross_heads",
    "cross_attention",
    "feed_forward",
]
PLACES = get_args(Place)
Patch = Callable[[Tensor], Tensor]


@dataclass
class Trace:
    """What a forward pass leaves behind to look at, and what stands in for it: hand one in, and it is filled.

    A trace belongs to one stack of layers. An encoder-decoder takes two: `trace` for its decoder and `encoder_trace`
    for its encoder. Each pass adds one tensor for each layer to the lists, after patches have been applied.

    Attributes:
        patches: For a place and a layer, a function that is given the tensor there and returns what stands in its
            place, of the same shape. Places are "state" and the names of the other lists below. Layer i's state is the
            one that enters it, and layer L's the one that leaves the last.
        states: The residual stream: the vectors that enter the first layer, then those that leave each, (B, T, D).
        weights: Each layer's self-attention weights, (B, N, T, S); S counts the keys that a window's cache still has.
        heads: What each head of self-attention gives before w_o, (B, N, T, H).
        attention: What self-attention gives to be added to the residual stream, (B, T, D).
        cross_weights: Each layer's weights over the encoder's positions, (B, N, T, S).
        cross_heads: What each head of cross-attention gives before its w_o, (B, N, T, H).
        cross_attention: What cross-attention gives to be added, (B, T, D).
        feed_forward: What the feed-forward network gives to be added, (B, T, D).

    Raises:
        ValueError: If a patch names an unknown place, or a layer below 0. A pass refuses a patch for a layer, or for
            cross-attention, that its stack does not have, and one that returns another shape, dtype or device.
        TypeError: If a patch is not a function.

    Source: Vig et al. 2020 and Meng et al. 2022 (changing activations to see what they cause).
    """

    patches: Mapping[tuple[str, int], Patch] = field(default_factory=dict)
    states: list[Tensor] = field(default_factory=list)
    weights: list[Tensor] = field(default_factory=list)
    heads: list[Tensor] = field(default_factory=list)
    attention: list[Tensor] = field(default_factory=list)
    cross_weights: list[Tensor] = field(default_factory=list)
    cross_heads: list[Tensor] = field(default_factory=list)
    cross_attention: list[Tensor] = field(default_factory=list)
    feed_forward: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Refuse patches that no pass could reach."""
        for key, patch in self.patches.items():
            if not isinstance(key, tuple) or len(key) != 2 or key[0] not in PLACES:
                raise ValueError(f"a patch stands at {key!r}; wanted (place, layer), the place one of {PLACES}")
            if not isinstance(key[1], int) or key[1] < 0:
                raise ValueError(f"the patch at {key!r} names layer {key[1]!r}; wanted a whole number from 0 on")
            if not callable(patch):
                raise TypeError(f"the patch at {key!r} is a {type(patch).__name__}; wanted a function of a tensor")

    def check_reach(self, n_layers: int, *, cross: bool) -> None:
        """Make sure that a stack comes by at every patch.

        Args:
            n_layers: L, the layers of the stack.
            cross: Whether its layers have cross-attention.

        Raises:
            ValueError: If a patch would never be reached; the message names it.
        """
        for site, layer in self.patches:
            last = n_layers if site == "state" else n_layers - 1
            if layer > last:
                raise ValueError(f"the patch at {(site, layer)} is never reached; {site} has layers 0 to {last}")
            if site.startswith("cross") and not cross:
                raise ValueError(f"the patch at {(site, layer)} is never reached: the layers have no cross-attention")

    def see(self, layer: int, site: str, x: Tensor, *, cross: bool = False) -> Tensor:
        """Keep what stands at a place, once its patch has been applied.

        Args:
            layer: Which layer.
            site: Where in it, one of PLACES.
            x: What the model has computed there.
            cross: Whether it is cross-attention whose place that is.

        Returns:
            What the model goes on with.

        Raises:
            ValueError: If the patch returns another shape, dtype or device.
            TypeError: If the patch returns no tensor.
        """
        site = f"cross_{site}" if cross else site
        patch = self.patches.get((site, layer))
        if patch is not None:
            x = _checked(patch(x), x, (site, layer))
        tensors: list[Tensor] = self.states if site == "state" else getattr(self, site)
        tensors.append(x)
        return x


def _checked(y: object, x: Tensor, key: tuple[str, int]) -> Tensor:
    if not isinstance(y, Tensor):
        raise TypeError(f"the patch at {key} returned a {type(y).__name__}; wanted a tensor of shape {tuple(x.shape)}")
    got, expected = ((tuple(t.shape), t.dtype, t.device) for t in (y, x))
    if got != expected:
        raise ValueError(f"the patch at {key} returned {_said(got)}; wanted {_said(expected)}")
    return y


def _said(what: tuple) -> str:
    shape, dtype, device = what
    return f"shape {shape}, {dtype} on {device}"
