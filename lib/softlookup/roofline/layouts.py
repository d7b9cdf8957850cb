"""How to lay a model's training out on many cards: data x tensor x pipeline, what fits, and how long a step takes.

The counts are those of ``counts`` and ``memory``: a card has the operations of a model with fewer heads, hidden units,
words and layers. Each operation takes the longer of its arithmetic and its bytes (the roofline), each message its bytes
over the link. Nothing else is in it: no straggler, no kernel's start, no clock that falls when a card is hot. A plan is
a bound from below, and tells layouts apart; it promises no time. Experts and a context cut among cards are not planned.

Source: Narayanan et al. 2021 (arXiv:2104.04473) for the pipeline; Korthikanti et al. 2022 (arXiv:2205.05198) for
tensor parallelism with sequence parallelism; Rajbhandari et al. 2020 (arXiv:1910.02054) for the ZeRO stages.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

from softlookup.roofline.counts import adam_step, backward, forward, loss
from softlookup.roofline.hardware import Hardware
from softlookup.roofline.layer_operations import layer
from softlookup.roofline.links import LinkSheet
from softlookup.roofline.memory import RECIPES, PrecisionRecipe, activations, state_bytes
from softlookup.roofline.operations import HALF_BYTES, Operation, total
from softlookup.roofline.roof import predicted_time_s
from softlookup.roofline.sizes import TransformerSizes, parameters

RECOMPUTE = ("nothing", "elementwise", "layers")
"""What a backward pass may compute again."""

_ZERO = {"optimizer": 1, "master": 1, "gradients": 2, "weights": 3}
"""From which ZeRO stage on each state is cut among the data-parallel ranks."""


@dataclass(frozen=True)
class Layout:
    """How cards share a training step. Neighbours share a tensor, then a pipeline, then data.

    Attributes:
        data: Replicas, each with its sequences.
        tensor: Cards that share each layer (with sequence parallelism between its products).
        pipeline: Stages.
        zero: ZeRO stage: from 1 on optimizer states are cut among the replicas, from 2 on gradients, with 3 weights.
        chunks: Pieces of layers on each stage; above 1 the pipeline is interleaved.
        recompute: What runs forward again in the backward pass and is not kept: "nothing", "elementwise" (outputs of
            norms and activations) or "layers" (all but a layer's input).

    Book: 19_many_devices.html#many-devices-together.
    """

    data: int
    tensor: int = 1
    pipeline: int = 1
    zero: int = 0
    chunks: int = 1
    recompute: str = "nothing"

    @property
    def cards(self) -> int:
        """How many cards it takes."""
        return self.data * self.tensor * self.pipeline

    def __str__(self) -> str:
        text = f"data {self.data} x tensor {self.tensor} x pipeline {self.pipeline}"
        text += f", ZeRO {self.zero}" if self.zero else ""
        text += f", {self.chunks} chunks" if self.chunks > 1 else ""
        return text + (f", recompute {self.recompute}" if self.recompute != "nothing" else "")


@dataclass(frozen=True)
class LayoutCost:
    """What a layout comes to.

    Attributes:
        layout: Which.
        micro_batches: How many pass through each pipeline in a step.
        memory: Bytes of the fullest card by "weights", "gradients", "master", "optimizer", "activations", "logits".
        fits: Whether they fit into a card's memory.
        compute_s: Products and elementwise work of the longest stage, and the optimizer's step.
        bubble_s: Waiting for the pipeline to fill and to drain.
        tensor_s: All-gathers and reduce-scatters within layers, which nothing hides.
        pipeline_s: Messages between stages, those of a full pipeline left out: they pass while others compute.
        data_s: Traffic of gradients and cut weights beyond what a backward or forward pass hides.
        hidden_s: The part of that traffic that is hidden.
        model_flops: Operations of products in one step of the whole model, without what is computed again.
        reasons: What decides, in sentences.

    Book: 19_many_devices.html#many-devices-together.
    """

    layout: Layout
    micro_batches: int
    memory: Mapping[str, int]
    fits: bool
    compute_s: float
    bubble_s: float
    tensor_s: float
    pipeline_s: float
    data_s: float
    hidden_s: float
    model_flops: float
    reasons: tuple[str, ...]

    @property
    def memory_bytes(self) -> int:
        """Bytes of the fullest card."""
        return sum(self.memory.values())

    @property
    def step_s(self) -> float:
        """Seconds of a step."""
        return self.compute_s + self.bubble_s + self.tensor_s + self.pipeline_s + self.data_s

    def utilization(self, peak_flops_per_s: float) -> float:
        """Model FLOPs utilization (MFU): the model's products over what all cards could do in the time.

        Args:
            peak_flops_per_s: Of a card, as its data sheet prints it.

        Returns:
            A fraction.

        Source: Chowdhery et al. 2022, appendix B; here hidden pairs of the causal mask are not counted.
        """
        return self.model_flops / (self.step_s * self.layout.cards * peak_flops_per_s)


@dataclass(frozen=True)
class TrainingCluster:
    """Cards in nodes, and what joins them.

    Attributes:
        card: A card; its rates decide the times, so measured ones give better times than a data sheet's.
        within: The link within a node.
        between: The link between nodes, a port for each card.
        node: Cards of a node.
        dtype: What products are done in.

    Book: 19_many_devices.html#many-devices-together.
    """

    card: Hardware
    within: LinkSheet
    between: LinkSheet
    node: int = 8
    dtype: str = "bfloat16"

    def link(self, ranks: int, stride: int) -> LinkSheet:
        """The slowest link of a ring.

        Args:
            ranks: How many cards are in it.
            stride: How far apart their numbers are.

        Returns:
            That within a node where the whole ring is in one, else that between nodes.
        """
        return self.within if ranks * stride <= self.node else self.between

    def seconds(self, operations: Iterable[Operation]) -> float:
        """The least time of operations one after the other, each bound by arithmetic or by memory.

        Args:
            operations: In the room's counts.

        Returns:
            Seconds.
        """
        return sum(
            operation.times * predicted_time_s(self.card, operation.product_flops, operation.bytes, self.dtype)
            for operation in operations
        )


def plan(
    sizes: TransformerSizes,
    cards: int,
    cluster: TrainingCluster,
    *,
    tokens: int,
    sequence: int,
    recipe: str = "master",
    zero: Sequence[int] = (0, 1, 2, 3),
) -> list[LayoutCost]:
    """Cost all layouts of a training step on so many cards.

    Args:
        sizes: A model of one stack.
        cards: How many cards there are.
        cluster: What they are.
        tokens: Of a step, all cards together.
        sequence: Tokens of a sequence. A micro-batch is one sequence.
        recipe: One of RECIPES.
        zero: Which ZeRO stages to look at.

    Returns:
        Those that fit first, the shortest step first; then those that do not fit, the smallest first. Left out are
        layouts whose sizes do not divide: tensor has to divide the query heads, F and V, pipeline must not exceed
        L + 2, and the sequences of a step have to be a multiple of data.

    Raises:
        ValueError: If cards is below 1, tokens are no multiple of sequence, or the model has two stacks.
        KeyError: If there is no such recipe.

    Book: 19_many_devices.html#many-devices-together.
    """
    if cards < 1:
        raise ValueError(f"cards is {cards}; wanted at least 1")
    costs = [
        layout_cost(sizes, layout, cluster, tokens=tokens, sequence=sequence, recipe=recipe)
        for layout in _layouts(sizes, cards, tokens // sequence, zero)
    ]
    return sorted(costs, key=lambda cost: (not cost.fits, cost.step_s if cost.fits else cost.memory_bytes))


def _layouts(sizes: TransformerSizes, cards: int, sequences: int, zero: Sequence[int]) -> Iterator[Layout]:
    divisors = [n for n in range(1, cards + 1) if cards % n == 0]
    for tensor in divisors:
        if any(size % tensor for size in (sizes.N, sizes.F, sizes.V)):
            continue
        for pipeline in divisors:
            data, left = divmod(cards // tensor, pipeline)
            if left or pipeline > sizes.L + 2 or sequences % data:
                continue
            longest = _layers(sizes, pipeline)
            for stage in zero if data > 1 else (0,):
                for chunks in sorted({1, longest}) if pipeline > 1 else (1,):
                    for recompute in RECOMPUTE:
                        yield Layout(data, tensor, pipeline, stage, chunks, recompute)


def layout_cost(
    sizes: TransformerSizes,
    layout: Layout,
    cluster: TrainingCluster,
    *,
    tokens: int,
    sequence: int,
    recipe: str = "master",
) -> LayoutCost:
    """Cost one layout of a training step.

    The longest stage has ceil((L + 2) / pipeline) layers: embedding and output stand for a layer each, as Llama 3
    parts them. With one stage they are counted themselves.

    Args:
        sizes: A model of one stack.
        layout: Which.
        cluster: What the cards are.
        tokens: Of a step, all cards together.
        sequence: Tokens of a sequence. A micro-batch is one sequence.
        recipe: One of RECIPES.

    Returns:
        Memory, times, and what decides.

    Raises:
        ValueError: If sizes or the sequences do not divide, or the model has two stacks.
        KeyError: If there is no such recipe.

    Book: 19_many_devices.html#many-devices-together.
    """
    micro = _micro_batches(sizes, layout, tokens, sequence)
    t, p, d = layout.tensor, layout.pipeline, layout.data
    part = _part(sizes, t)
    depth = sizes.L if p == 1 else _layers(sizes, p)
    there, back, ends, ends_back = _counted(part, sequence)
    forward_s, backward_s = (depth * _layer_s(cluster, operations, t) for operations in (there, back))
    if layout.recompute != "nothing":
        again = [step for step in there if layout.recompute == "layers" or _is_cheap(step)]
        backward_s += depth * _layer_s(cluster, again, t)
    if p == 1:
        forward_s += cluster.seconds(ends)
        backward_s += cluster.seconds(ends_back)
    n_here = ceil(sum(parameters(sizes).values()) / (t * p))
    updated = ceil(n_here / (d if layout.zero else 1))
    adam_s = cluster.seconds([adam_step(updated, master=RECIPES[recipe].master > 0)])
    # Each pass of a layer has two all-reduces' worth of messages, one for attention and one for the feed-forward part.
    row_bytes = sequence * sizes.D * HALF_BYTES
    passes = 3 if layout.recompute == "layers" else 2
    tensor_s = 2 * passes * depth * cluster.link(t, 1).all_reduce_s(row_bytes, t)
    hop_s = cluster.link(p, t).point_to_point_s(row_bytes / t) if p > 1 else 0.0
    exposed_s, hidden_s = _data_traffic(layout, cluster, n_here, RECIPES[recipe], micro, (forward_s, backward_s))
    memory = _memory(sizes, layout, n_here, recipe, sequence, micro, depth)
    cost = LayoutCost(
        layout=layout,
        micro_batches=micro,
        memory=memory,
        fits=sum(memory.values()) <= cluster.card.memory_bytes,
        compute_s=micro * (forward_s + backward_s) + adam_s,
        bubble_s=(p - 1) / layout.chunks * (forward_s + backward_s + tensor_s),
        tensor_s=micro * tensor_s,
        pipeline_s=2 * (p - 1) * hop_s,
        data_s=exposed_s,
        hidden_s=hidden_s,
        model_flops=3.0 * total(forward(sizes, 1, sequence, causal=True, fused=True)).product_flops * tokens / sequence,
        reasons=(),
    )
    return replace(cost, reasons=tuple(_reasons(cost, cluster)))


def _micro_batches(sizes: TransformerSizes, layout: Layout, tokens: int, sequence: int) -> int:
    if sizes.decoder_layers:
        raise ValueError(f"{sizes.name} has two stacks; a layout is planned for one")
    if tokens % sequence or tokens < 1:
        raise ValueError(f"tokens is {tokens}; wanted a multiple of sequence, {sequence}")
    for name, size in (("N", sizes.N), ("F", sizes.F), ("V", sizes.V)):
        if size % layout.tensor:
            raise ValueError(f"{name} is {size}; wanted a multiple of tensor, {layout.tensor}")
    if layout.pipeline > sizes.L + 2:
        raise ValueError(f"pipeline is {layout.pipeline}; wanted at most L + 2 = {sizes.L + 2} stages")
    if layout.recompute not in RECOMPUTE:
        raise ValueError(f"recompute is {layout.recompute!r}; wanted one of {', '.join(RECOMPUTE)}")
    if layout.zero not in (0, 1, 2, 3):
        raise ValueError(f"zero is {layout.zero}; wanted a stage from 0 to 3")
    micro, left = divmod(tokens // sequence, layout.data)
    if left or not micro:
        raise ValueError(f"a step has {tokens // sequence} sequences; wanted a multiple of data, {layout.data}")
    return micro


def _layers(sizes: TransformerSizes, pipeline: int) -> int:
    """Layers of the longest stage, embedding and output standing for one each."""
    return ceil((sizes.L + 2) / pipeline)


def _part(sizes: TransformerSizes, tensor: int) -> TransformerSizes:
    """What one card of a tensor group has of each layer; key-value heads that are too few are on several cards."""
    return sizes.but(
        N=sizes.N // tensor,
        K=max(1, sizes.kv_heads // tensor),
        H=sizes.head_width,
        F=sizes.F // tensor,
        V=sizes.V // tensor,
    )


@lru_cache
def _counted(part: TransformerSizes, sequence: int) -> tuple[tuple[Operation, ...], ...]:
    """One layer forward and back, then embedding, logits and loss forward and back, on one sequence."""
    there = layer(part, 1, sequence, causal=True, fused=True)
    ends = [step for step in forward(part.but(L=1), 1, sequence) if step.part in ("embedding", "logits")]
    judged = loss(part, 1, sequence)
    ends_back = [*backward(part, [judged]), *backward(part, ends)]
    return tuple(there), tuple(backward(part, there)), (*ends, judged), tuple(ends_back)


def _is_cheap(step: Operation) -> bool:
    """Whether a step of a layer is a norm, an activation or its gate: what "elementwise" computes again."""
    return step.part == "norm" or (step.part == "feed-forward" and not step.product_flops)


def _layer_s(cluster: TrainingCluster, operations: Iterable[Operation], tensor: int) -> float:
    """Time of a layer's operations on a card; norms and residuals, which have all of D, are cut along the sequence."""
    return sum(
        cluster.seconds([operation]) / (tensor if operation.part in ("norm", "residual") else 1)
        for operation in operations
    )


def _data_traffic(
    layout: Layout,
    cluster: TrainingCluster,
    n_here: int,
    recipe: PrecisionRecipe,
    micro: int,
    passes_s: tuple[float, float],
) -> tuple[float, float]:
    """Seconds of data-parallel traffic that nothing hides, and that a forward or backward pass of the stage hides.

    Until stage 1 gradients are summed in the last micro-batch's backward pass; stages 2 and 3 keep no whole gradient,
    so that each micro-batch has its reduce-scatter. Stages 1 and 2 gather the new weights in the next step's first
    forward pass, stage 3 in each pass.
    """
    d, (forward_s, backward_s) = layout.data, passes_s
    link = cluster.link(d, layout.tensor * layout.pipeline)
    scatter_s = link.reduce_scatter_s(n_here * recipe.gradients, d)
    gather_s = link.all_gather_s(n_here * recipe.weights, d)
    # (how often, traffic in a forward pass, traffic in a backward pass)
    rounds = {
        0: [(1, 0.0, link.all_reduce_s(n_here * recipe.gradients, d))],
        1: [(1, gather_s, scatter_s)],
        2: [(1, gather_s, 0.0), (micro, 0.0, scatter_s)],
        3: [(micro, gather_s, gather_s + scatter_s)],
    }[layout.zero]
    exposed_s = sum(
        times * (max(0.0, there - forward_s) + max(0.0, back - backward_s)) for times, there, back in rounds
    )
    return exposed_s, sum(times * (there + back) for times, there, back in rounds) - exposed_s


def _memory(
    sizes: TransformerSizes, layout: Layout, n_here: int, recipe: str, sequence: int, micro: int, depth: int
) -> dict[str, int]:
    """Bytes of the fullest stage: the first, which has most micro-batches under way, or the last with its logits."""
    t, p, d = layout.tensor, layout.pipeline, layout.data
    states = state_bytes(n_here, recipe)
    for name, stage in _ZERO.items():
        if layout.zero >= stage:
            # What is cut is whole for the layer at work, and weights for the one that is gathered meanwhile.
            layers_whole = {"gradients": 1, "weights": 2}.get(name, 0)
            states[name] = ceil(states[name] / d) + layers_whole * states[name] // depth
    # Of what elementwise steps give: see _is_cheap.
    dropped = ("input of q", "input of up", "output of", "input of down") if layout.recompute == "elementwise" else ()
    layer_bytes = sum(
        tensor.bytes // (t if tensor.shape == (1, sequence, sizes.D) else 1)  # along the sequence
        for tensor in activations(_part(sizes, t), 1, sequence, fused=True)
        if not tensor.name.startswith(dropped)
    )
    # 1F1B has as many micro-batches under way as stages; interleaving more (Korthikanti et al. 2022, section 4.2.3).
    alive = min(micro, p) * depth
    if layout.chunks > 1:
        alive = min(micro * depth, ceil(alive * (1 + (p - 1) / (p * layout.chunks))))
    at_work = 0
    if layout.recompute == "layers":
        layer_bytes, at_work = sequence * sizes.D * HALF_BYTES // t, layer_bytes
    first, last = alive * layer_bytes + at_work, depth * layer_bytes + at_work
    logits = 2 * sequence * sizes.V // t * 4
    if p == 1:
        return {**states, "activations": first, "logits": logits}
    if first >= last + logits:
        return {**states, "activations": first, "logits": 0}
    return {**states, "activations": last, "logits": logits}


def _reasons(cost: LayoutCost, cluster: TrainingCluster) -> Iterator[str]:
    """What decides, in sentences."""
    layout, room = cost.layout, cluster.card.memory_bytes
    name, most = max(cost.memory.items(), key=lambda item: item[1])
    fits = "fit" if cost.fits else "do not fit"
    yield (
        f"{cost.memory_bytes / 1e9:.1f} GB {fits} into a card's {room / 1e9:.1f} GB; {name} take most, "
        f"{most / 1e9:.1f} GB."
    )
    if layout.tensor > 1:
        across = "" if layout.tensor <= cluster.node else ", since a tensor group is larger than a node"
        link = cluster.link(layout.tensor, 1)
        yield f"Messages within layers take {cost.tensor_s / cost.step_s:.0%} of the step on {link.name}{across}."
    if layout.pipeline > 1:
        yield (
            f"The pipeline waits for {cost.bubble_s / cost.step_s:.0%} of the step: {layout.pipeline} stages, "
            f"{cost.micro_batches} micro-batches, {layout.chunks} chunks a stage."
        )
    if layout.data > 1:
        link = cluster.link(layout.data, layout.tensor * layout.pipeline)
        yield (
            f"Data-parallel traffic takes {cost.data_s + cost.hidden_s:.2f} s on {link.name}, of which "
            f"{cost.hidden_s:.2f} s are hidden behind computing."
        )
    if layout.recompute == "layers":
        yield "Each layer runs forward twice."
