"""How cards may share a training step, what a layout costs, and the cluster that it is for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, gcd, prod

from softlookup.ranks.links import LinkSpeed
from softlookup.roofline.hardware import Hardware
from softlookup.roofline.operations import Operation
from softlookup.roofline.roof import predicted_time_s

RECOMPUTE = ("nothing", "elementwise", "layers")
"""What a backward pass may compute again."""


@dataclass(frozen=True)
class Layout:
    """How cards share a training step. Neighbours share a tensor, then a context, experts, a pipeline, and data.

    Attributes:
        data: Replicas, each with its sequences.
        tensor: Cards that share each layer (with sequence parallelism between its products).
        pipeline: Stages.
        zero: ZeRO stage: from 1 on optimizer states are cut among the replicas, from 2 on gradients, with 3 weights.
        chunks: Pieces of layers on each stage; above 1 the pipeline is interleaved.
        recompute: What runs forward again in the backward pass and is not kept: "nothing", "elementwise" (outputs of
            norms and activations) or "layers" (all but a layer's input).
        context: Cards that share each sequence, and pass keys and values round a ring.
        expert: Replicas that share the experts of each layer: it divides ``data``, and takes no further cards.
    """

    data: int
    tensor: int = 1
    pipeline: int = 1
    zero: int = 0
    chunks: int = 1
    recompute: str = "nothing"
    context: int = 1
    expert: int = 1

    @property
    def cards(self) -> int:
        """How many cards it takes."""
        return self.data * self.tensor * self.pipeline * self.context

    def cuts(self, purpose: str) -> tuple[tuple[int, int], ...]:
        """How a group of cards lies among all cards.

        Args:
            purpose: What its cards send: "tensor", "context", "expert", "pipeline", "data" (gradients and cut weights)
                or "routed" (the same, of experts).

        Returns:
            For each cut that the group is made of, a size and a stride.

        Raises:
            KeyError: If there is no such purpose.
        """
        t, c, e = self.tensor, self.context, self.expert
        replicas = (self.data // e, t * c * e * self.pipeline)
        return {
            "tensor": ((t, 1),),
            "context": ((c, t),),
            "expert": ((e, t * c),),
            "pipeline": ((self.pipeline, t * c * e),),
            "data": ((c * e, t), replicas),
            "routed": ((c, t), replicas),
        }[purpose]

    def __str__(self) -> str:
        names = ("data", "tensor", "pipeline", "context")
        text = " x ".join(f"{name} {size}" for name in names if (size := getattr(self, name)) > 1) or "data 1"
        text += f", experts on {self.expert}" if self.expert > 1 else ""
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
        tensor_s: All-gathers and reduce-scatters within layers, as if nothing hid them.
        context_s: Keys, values and their gradients on their way round, beyond what attention hides.
        expert_s: All-to-alls of tokens to experts and back, as if nothing hid them.
        pipeline_s: Messages between stages, those of a full pipeline left out: they pass while others compute.
        data_s: Traffic of gradients and cut weights beyond what a backward or forward pass hides.
        hidden_s: The part of that traffic that is hidden.
        model_flops: Operations of products in one step of the whole model, without what is computed again.
        reasons: What decides, in sentences.
    """

    layout: Layout
    micro_batches: int
    memory: Mapping[str, int]
    fits: bool
    compute_s: float
    bubble_s: float
    tensor_s: float
    context_s: float
    expert_s: float
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
        return sum(self.spent_s.values())

    @property
    def spent_s(self) -> dict[str, float]:
        """Seconds of a step by what they are spent on."""
        names = ("compute", "bubble", "tensor", "context", "expert", "pipeline", "data")
        return {name: getattr(self, f"{name}_s") for name in names}

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
class CardGroup:
    """Cards that send to each other, while all other groups of their kind do the same.

    With k members on each node, k rings join the same cards, each in another order, as NCCL's channels do: every ring
    leaves a node by another member's port. A port carries a k-th of what a single ring would send over it, and a card's
    link within the node the bytes of k - 1 rings.

    Attributes:
        ranks: How many cards.
        members: How many of them are on a node, where these are fewest.
        within: The link within a node.
        between: The link between nodes, one port.
        ports: Ports of a node for each of its cards.

    Source: NVIDIA's NCCL, issue 471 (rings go through all cards) and src/graph/tuning.cc (bytes over the bandwidth of
    all channels; of the steps of a ring on M nodes M - 1 pass the network).
    """

    ranks: int
    members: int
    within: LinkSpeed
    between: LinkSpeed
    ports: float = 1.0

    @property
    def ring(self) -> LinkSpeed:
        """What carries collectives: the bandwidth of all rings together, the mean latency of a step."""
        if self.ranks <= self.members:
            return self.within
        k, steps, across = self.members, self.ranks - 1, ceil(self.ranks / self.members) - 1
        latency_s = (across * self.between.latency_s + (steps - across) * self.within.latency_s) / steps
        network = k * self.ports * self.between.bytes_per_s
        node = self.within.bytes_per_s * k / (k - 1) if k > 1 else network
        if node < network:
            return replace(self.within, latency_s=latency_s, bytes_per_s=node)
        name = self.between.name + (f" ({k} rings)" if k > 1 else "")
        return LinkSpeed(latency_s, network, name, self.between.source)

    @property
    def hop(self) -> LinkSpeed:
        """What carries a message from each card to the next, over one port at most: the slowest of these hops."""
        if self.ranks <= self.members:
            return self.within
        return replace(self.between, bytes_per_s=self.between.bytes_per_s * min(1.0, self.members * self.ports))

    @property
    def all_to_all(self) -> LinkSpeed:
        """What carries messages from each card to each: ports those to other nodes, and at once the node the others."""
        if self.ranks <= self.members:
            return self.within
        here, away = self.members - 1, self.ranks - self.members
        inside, outside = here / self.within.bytes_per_s, away / (self.ports * self.between.bytes_per_s)
        slowest = self.within if inside > outside else self.between
        latency_s = (here * self.within.latency_s + away * self.between.latency_s) / (here + away)
        return LinkSpeed(latency_s, (here + away) / max(inside, outside), slowest.name, slowest.source)


@dataclass(frozen=True)
class TrainingCluster:
    """Cards in nodes, and what joins them.

    Attributes:
        card: A card; its rates decide the times, so measured ones give better times than a data sheet's.
        within: The link within a node.
        between: The link between nodes, one port.
        node: Cards of a node.
        dtype: What products are done in.
        ports: Ports of a node, which all its cards share; None is a port for each card.
    """

    card: Hardware
    within: LinkSpeed
    between: LinkSpeed
    node: int = 8
    dtype: str = "bfloat16"
    ports: int | None = None

    def group(self, layout: Layout, purpose: str) -> CardGroup:
        """The cards of a layout that talk for some purpose.

        Args:
            layout: Its cards fill one node after the other.
            purpose: See ``Layout.cuts``.

        Returns:
            One of the groups, the one with fewest members on a node.

        Raises:
            KeyError: If there is no such purpose.
        """
        node = min(self.node, layout.cards)
        cuts = layout.cuts(purpose)
        # Groups that do not divide a node straddle its edge; these have fewest members on a node.
        members = prod(max(1, gcd(size * stride, node) // stride) for size, stride in cuts)
        ports = 1.0 if self.ports is None else self.ports / self.node
        return CardGroup(prod(size for size, _ in cuts), members, self.within, self.between, ports)

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
