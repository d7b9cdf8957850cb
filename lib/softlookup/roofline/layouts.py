"""How cards may share a training step, what a layout costs, and the cluster that it is for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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

    Book: 19_many_devices.html#many-devices-together.
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

    @property
    def replicas_span(self) -> int:
        """From the first to the last card of a group that adds up gradients, how many cards."""
        return self.cards if self.data > self.expert else self.tensor * self.context * self.expert

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
        tensor_s: All-gathers and reduce-scatters within layers, which nothing hides.
        context_s: Keys, values and their gradients on their way round, beyond what attention hides.
        expert_s: All-to-alls of tokens to experts and back, which nothing hides.
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
    within: LinkSpeed
    between: LinkSpeed
    node: int = 8
    dtype: str = "bfloat16"

    def link(self, ranks: int, stride: int) -> LinkSpeed:
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
