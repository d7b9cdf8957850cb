"""Interventions: heads silenced, and activations of one pass put into another to see what they cause.

Letters of its own: P places that are patched, M positions.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from softlookup.model.parts.trace import Patch, Trace

Given = TypeVar("Given")
Where = tuple[str, int] | tuple[str, int, int]


def silence(
    heads: Iterable[tuple[int, int]],
    how: Literal["zero", "mean"] = "zero",
    *,
    reference: Trace | None = None,
    cross: bool = False,
) -> dict[tuple[str, int], Patch]:
    """Make the patches that take heads out of a pass.

    Args:
        heads: Which, as (layer, head).
        how: What stands in for a head's output: zero, or the mean of what it gives in a reference pass, which leaves
            what later layers have learned to expect of it at all times.
        reference: For the mean, the trace of a pass over other texts.
        cross: Whether they are heads of cross-attention.

    Returns:
        Patches for a Trace.

    Raises:
        ValueError: If there is no head, `how` is unknown, a mean has no reference or a zero has one, or the reference
            lacks the layer. A pass raises it if the layer has no such head.

    Source: Michel et al. 2019 (zeros); Wang et al. 2022 (means).

    >>> sorted(silence([(0, 1), (2, 3), (0, 2)]))
    [('heads', 0), ('heads', 2)]
    """
    if how not in ("zero", "mean"):
        raise ValueError(f"how is {how!r}; wanted zero or mean")
    if (how == "mean") != (reference is not None):
        presence = "missing" if reference is None else "given"
        raise ValueError(f"how is {how!r} and reference is {presence}; a mean wants one, a zero none")
    by_layer: dict[int, list[int]] = defaultdict(list)
    for layer, head in heads:
        by_layer[layer].append(head)
    if not by_layer:
        raise ValueError("there is no head to silence; wanted at least one (layer, head)")
    site = "cross_heads" if cross else "heads"
    layers = [] if reference is None else getattr(reference, site)
    if reference is not None and max(by_layer) >= len(layers):
        raise ValueError(f"layer {max(by_layer)} is not in the reference, which has {len(layers)} layers of {site}")

    def without(layer: int) -> Patch:
        def patch(z_BNTH: Tensor) -> Tensor:
            chosen = _checked_heads(by_layer[layer], z_BNTH, layer)
            z_BNTH = z_BNTH.clone()
            z_BNTH[:, chosen] = layers[layer][:, chosen].mean(dim=(0, 2))[:, None] if layers else 0.0
            return z_BNTH

        return patch

    return {(site, layer): without(layer) for layer in by_layer}


@torch.no_grad()
def activation_patching(
    run: Callable[[Given, Trace], Tensor | float],
    clean: Given,
    corrupted: Given,
    places: Sequence[Where | list[Where]],
    *,
    positions: Sequence[int] | None = None,
) -> Float[Tensor, "P M"]:
    """Put activations of a clean pass into a corrupted one, place by place: which of them bring its answer back?

    Args:
        run: Given an input and a trace, runs the model with the trace and returns one number, such as the difference
            of two logits. In an encoder-decoder, it decides which stack gets the trace.
        clean: The input whose answer is to be recovered.
        corrupted: An input that differs from it in what is asked about, with as many tokens in the same places.
        places: What to patch, as (place, layer), or (place, layer, head) for a single head. A list of these is patched
            together.
        positions: At which positions, one at a time; None patches all positions at once.

    Returns:
        For each place and position, the share of the difference that is recovered: 0 where nothing changes, 1 where
        the clean answer is back; below 0 and above 1 are possible. Without positions, M is 1.

    Raises:
        ValueError: If the two answers are the same, a head is asked of a place that has none, an activation has
            another shape in the two passes, or there is no place.

    Cost: two passes, and one more for each place and position.

    Source: Meng et al. 2022 (causal tracing); Wang et al. 2022; Heimersheim & Nanda 2024 (how to read it).
    """
    if not places:
        raise ValueError("there is no place to patch; wanted at least one (place, layer)")
    clean_trace, corrupted_trace = Trace(), Trace()
    clean_value, got = float(run(clean, clean_trace)), float(run(corrupted, corrupted_trace))
    if abs(clean_value - got) < 1e-6:
        raise ValueError(f"clean and corrupted inputs both give {got:.6g}; wanted two answers that differ")

    def recovered(where: Where | list[Where], position: int | None) -> float:
        patches: dict[tuple[str, int], Patch] = {}
        for spot in where if isinstance(where, list) else [where]:
            key, patch = _from_the_clean_pass(clean_trace, spot, position)
            patches[key] = _in_turn(patches[key], patch) if key in patches else patch
        return (float(run(corrupted, Trace(patches))) - got) / (clean_value - got)

    where_at = [None] if positions is None else positions
    return torch.tensor([[recovered(where, position) for position in where_at] for where in places])


def _in_turn(first: Patch, second: Patch) -> Patch:
    return lambda x: second(first(x))


def _from_the_clean_pass(clean_trace: Trace, where: Where, position: int | None) -> tuple[tuple[str, int], Patch]:
    site, layer = where[0], where[1]
    Trace({(site, layer): torch.clone})  # refuses a place that there is not
    tensors: list[Tensor] = clean_trace.states if site == "state" else getattr(clean_trace, site)
    if layer >= len(tensors):
        raise ValueError(f"the pass left nothing at {where}: it has {len(tensors)} tensors of {site}")
    clean = tensors[layer]
    by_head = clean.ndim == 4
    if len(where) == 3 and not by_head:
        raise ValueError(f"{where} names a head; {site} has none: wanted (place, layer)")

    def patch(x: Tensor) -> Tensor:
        if x.shape != clean.shape:
            raise ValueError(
                f"at {where} the clean pass has shape {tuple(clean.shape)}, the corrupted one {tuple(x.shape)}: "
                "wanted inputs with as many tokens"
            )
        chosen = slice(None) if len(where) == 2 else _checked_heads([where[2]], x, layer)
        if position is not None and not -x.shape[-2] <= position < x.shape[-2]:
            raise ValueError(f"position {position} is not among the {x.shape[-2]} of {where}")
        at = slice(None) if position is None else position
        y = x.clone()
        if by_head:
            y[:, chosen, at] = clean[:, chosen, at]
        else:
            y[:, at] = clean[:, at]
        return y

    return (site, layer), patch


def _checked_heads(heads: list[int], x: Tensor, layer: int) -> list[int]:
    for head in heads:
        if not 0 <= head < x.shape[1]:
            raise ValueError(f"layer {layer} has no head {head}; its heads are 0 to {x.shape[1] - 1}")
    return heads
