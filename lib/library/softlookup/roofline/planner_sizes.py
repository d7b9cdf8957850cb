"""What a planner needs to know of a decoder: sizes with experts, read from a config.json, and a card's part of them."""

from collections import Counter
from dataclasses import dataclass, replace

from softlookup.describing.layer_sizes import AttentionSizes, DenseSizes, ExpertsSizes, LatentSizes
from softlookup.roofline import config_json
from softlookup.roofline.config_json import Config
from softlookup.roofline.layer_counts import part_counts
from softlookup.roofline.layer_operations import Kernels, causal_pairs, layer
from softlookup.roofline.memory import activations
from softlookup.roofline.operations import Moved, Operation
from softlookup.roofline.sizes import TransformerSizes, parameters


@dataclass(frozen=True)
class PlannerSizes(TransformerSizes):
    """A decoder whose layers may have experts, latent attention and windows.

    F is the hidden width that a token passes through: that of its experts and of what is shared.

    Attributes:
        whole: All parameters.
        routed: Of these, the parameters of experts that a router chooses among.
        experts: Such experts of a layer; 0 where there are none.
        chosen: How many of them a token passes through.
        hidden: Hidden width of each.
        expert_layers: How many layers have them.
        latent: Sizes of latent attention (MLA); H is then the mean width of a query and a value.
        windows: For each layer with a window, how many positions a token attends to at most.
    """

    whole: int = 0
    routed: int = 0
    experts: int = 0
    chosen: int = 0
    hidden: int = 0
    expert_layers: int = 0
    latent: LatentSizes | None = None
    windows: tuple[int, ...] = ()

    @property
    def active(self) -> int:
        """Parameters that a token meets."""
        return self.whole - (self.routed * (self.experts - self.chosen) // self.experts if self.experts else 0)


def planner_sizes(config: Config, name: str = "model") -> PlannerSizes:
    """Read a config.json for a plan.

    Where layers differ in heads or in the width of their networks, all are planned as the commonest; parameters are
    those of the file.

    Args:
        config: The entries of a config.json.
        name: What messages call the model.

    Returns:
        Its sizes.

    Raises:
        TypeError: If config is no mapping.
        ValueError: If it cannot be read, or a layer is not attention and a feed-forward network; the message names the
            layer.

    >>> from softlookup.roofline.config_json import QUOTED
    >>> planner_sizes(QUOTED["DeepSeek-V3"]).routed
    653908770816
    """
    model = config_json.layers(config)
    mixers: list[AttentionSizes | LatentSizes] = []
    networks: list[DenseSizes | ExpertsSizes] = []
    for index, each in enumerate(model.layers, start=1):
        for part in each.parts:
            if isinstance(part, AttentionSizes | LatentSizes):
                if part.indexer is None and getattr(part, "own_cache", True):
                    mixers.append(part)
            elif isinstance(part, DenseSizes) or (isinstance(part, ExpertsSizes) and part.latent is None):
                networks.append(part)
        if not len(mixers) == len(networks) == index:
            what = "; ".join(each.words)
            raise ValueError(f"layer {index} has {what}; wanted attention to all positions or a window, and a network")
    mixer, network = Counter(mixers).most_common(1)[0][0], Counter(networks).most_common(1)[0][0]
    mixed = [part for part in networks if isinstance(part, ExpertsSizes)]
    # An expert more than there are, so that one is not chosen whatever the router does.
    more = [replace(part, total=part.total + 1) for part in mixed]
    each_expert = [part_counts(part, model.d_model).unchosen // (part.total - part.chosen) for part in more]
    latent = mixer if isinstance(mixer, LatentSizes) else None
    if isinstance(mixer, LatentSizes):
        both_widths, kv_heads = mixer.plain + mixer.rotary + mixer.value, mixer.heads
    else:
        both_widths, kv_heads = mixer.width + mixer.value_width, mixer.kv_heads
    first = mixed[0] if mixed else None
    return PlannerSizes(
        name,
        D=model.d_model,
        N=mixer.heads,
        K=kv_heads,
        H=both_widths // 2,
        F=network.chosen * network.hidden + network.shared if isinstance(network, ExpertsSizes) else network.hidden,
        V=model.vocab_size,
        L=len(model.layers),
        gated=network.gated,
        activation="silu",
        norm="rms",
        rotary=latent is None,
        tied=model.tied,
        whole=config_json.sizes(model).total,
        routed=sum(part.total * count for part, count in zip(mixed, each_expert, strict=True)),
        experts=first.total if first else 0,
        chosen=first.chosen if first else 0,
        hidden=first.hidden if first else 0,
        expert_layers=len(mixed),
        latent=latent,
        windows=tuple(part.window for part in mixers if isinstance(part, AttentionSizes) and part.window),
    )


def parameter_split(sizes: TransformerSizes) -> tuple[int, int]:
    """Parameters that every card of a pipeline's stage has a part of, and those of routed experts; their sum is all."""
    if isinstance(sizes, PlannerSizes):
        return sizes.whole - sizes.routed, sizes.routed
    return sum(parameters(sizes).values()), 0


def card_part(sizes: TransformerSizes, tensor: int, expert: int) -> TransformerSizes:
    """What one card has of each layer; key-value heads that are too few are on several cards.

    ``tensor`` cards share each layer, each expert too; ``expert`` cards share the experts of a layer.
    """
    part = sizes.but(
        N=sizes.N // tensor,
        K=max(1, sizes.kv_heads // tensor),
        H=sizes.head_width,
        F=sizes.F // tensor,
        V=sizes.V // tensor,
    )
    if isinstance(part, PlannerSizes):
        return part.but(hidden=part.hidden // tensor, experts=part.experts // expert)
    return part


def card_layer(part: TransformerSizes, tokens: int, context: int, batch: int = 1) -> list[Operation]:
    """A layer forward on a card that has its share of each sequence, and meets the keys and values of all of it.

    ``part`` is what the card has of the layer; ``context`` cards share the ``tokens`` of a whole sequence, each with as
    many visible pairs as the others. Experts get as many tokens each, and all weights of a card's experts are read;
    what routers do is not counted.
    """
    rows = tokens // context
    steps = []
    for step in layer(part, batch, rows, cached=tokens - rows, causal=True, fused=True):
        if step.name == "fused attention":
            part_of_pairs = _pairs(part, tokens) / context / causal_pairs(rows, tokens)
            step = replace(
                step,
                product_flops=round(step.product_flops * part_of_pairs),
                elementwise_flops=round(step.elementwise_flops * part_of_pairs),
            )
        if isinstance(part, PlannerSizes):
            if part.latent is not None and step.name in ("q", "k", "v", "output"):
                steps += _latent_products(part, part.latent, batch, rows)[step.name]
                continue
            if step.part == "feed-forward" and step.product_flops:
                of_experts = (part.experts - part.chosen) * part.hidden
                weights = Moved(step.reads[1].name, (part.D, part.F + of_experts))
                step = replace(step, reads=(step.reads[0], weights, *step.reads[2:]))
        steps.append(step)
    return steps


def _latent_products(part: PlannerSizes, latent: LatentSizes, batch: int, rows: int) -> dict[str, list[Operation]]:
    """The products of latent attention, by the product of plain attention whose place they take."""
    kernels, d, n = Kernels(part, batch, rows), part.D, part.N

    def dense(name: str, wide: int, narrow: int) -> Operation:
        return kernels.dense(name, rows, wide, narrow, part="attention")

    queries = n * (latent.plain + latent.rotary)
    return {
        "q": [dense("latent q", d, latent.query), dense("q", latent.query, queries)]
        if latent.query
        else [dense("q", d, queries)],
        "k": [dense("k", d, latent.width + latent.rotary)],
        "v": [dense("v", latent.width, n * (latent.plain + latent.value))],
        "output": [dense("output", n * latent.value, d)],
    }


def _pairs(sizes: TransformerSizes, tokens: int) -> float:
    """Pairs of positions that a layer computes, the mean over layers."""
    full = causal_pairs(tokens, tokens)
    windows = sizes.windows if isinstance(sizes, PlannerSizes) else ()
    window_pairs = [causal_pairs(w, w) + (tokens - w) * w if w < tokens else full for w in windows]
    return (sum(window_pairs) + (sizes.L - len(window_pairs)) * full) / sizes.L


def card_activations(part: TransformerSizes, rows: int) -> list[Moved]:
    """What a layer keeps on a card for the backward pass.

    ``part`` is what the card has of the layer, ``rows`` its tokens. Tensors of D numbers for each token are not yet cut
    along the sequence. Tokens stand once more for each expert that they are sent to.
    """
    tensors = activations(part, 1, rows, fused=True)
    if isinstance(part, PlannerSizes) and part.chosen:
        tensors.append(Moved("input of experts", (1, rows, part.chosen * part.D)))
    return tensors
