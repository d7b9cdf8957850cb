"""How to lay a model's training out on many cards: what each layout takes of memory and of time.

The counts are those of ``counts`` and ``memory``: a card has the operations of a model with fewer heads, hidden units,
words, tokens, experts and layers. Each operation takes the longer of its arithmetic and its bytes (the roofline), each
message a latency and its bytes over the link. Nothing else is in it: no straggler, no kernel's start, no clock that
falls when a card is hot, no expert that is busier than others. Computing is a bound from below, as long as products
have the dtype of the cluster. A step is none: its bubble is that of 1F1B, its messages within layers and to experts are
planned as if nothing hid them and no switch added for the cards, and a schedule that computes another micro-batch
meanwhile, as DeepSeek-V3's does, waits for less. A plan tells layouts apart; it promises no time.

With P ranks, T tokens of a sequence on ``context`` cards, and 2 bytes for a number, each layer sends from a card

- to share a tensor, 4 (P - 1)/P T/context D numbers forward and as many back;
- to share a context, 2 (P - 1) T/P K H/tensor numbers forward; back the same, and 2 P T/P K H/tensor of gradients,
  which need a last step home;
- to share experts, 2 (P - 1)/P T/context D/tensor numbers for each expert of a token forward, and as many back.

Source: Narayanan et al. 2021 (arXiv:2104.04473) for the pipeline; Korthikanti et al. 2022 (arXiv:2205.05198) for
tensor parallelism with sequence parallelism; Rajbhandari et al. 2020 (arXiv:1910.02054) for the ZeRO stages;
Rajbhandari et al. 2022, DeepSpeed-MoE (arXiv:2201.05596), for experts shared among replicas; Liu et al. 2023
(arXiv:2310.01889) for the ring of keys and values.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import ceil, gcd

from softlookup.ranks.links import LinkSpeed
from softlookup.roofline.counts import adam_step, backward, forward, loss
from softlookup.roofline.layouts import RECOMPUTE, Layout, LayoutCost, TrainingCluster
from softlookup.roofline.memory import RECIPES, PrecisionRecipe, state_bytes
from softlookup.roofline.operations import HALF_BYTES, Operation, total
from softlookup.roofline.planner_sizes import PlannerSizes, card_activations, card_layer, card_part, parameter_split
from softlookup.roofline.sizes import TransformerSizes

_ZERO = {"optimizer": 1, "master": 1, "gradients": 2, "weights": 3}
"""From which ZeRO stage on each state is cut among the data-parallel ranks."""

_ALONG_SEQUENCE = ("input of norm 1", "input of q, k and v", "input of norm 2", "input of up", "input of experts")
"""What a tensor group keeps in parts along the sequence."""


def plan(
    sizes: TransformerSizes,
    cards: int,
    cluster: TrainingCluster,
    *,
    tokens: int,
    sequence: int,
    recipe: str = "master",
    zero: Sequence[int] = (0, 1, 2, 3),
    contexts: Sequence[int] = (1,),
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
        contexts: On how many cards a sequence may be.

    Returns:
        Those that fit first, the shortest step first; then those that do not fit, the smallest first. Left out are
        layouts whose sizes do not divide: tensor has to divide the query heads, F and V, pipeline must not exceed
        L + 2, the sequences of a step have to be a multiple of data, and a sequence one of twice the context, since
        each of its cards has a block from the beginning and one from the end. Experts may be on any number of replicas
        that divides both.

    Raises:
        ValueError: If cards is below 1, tokens are no multiple of sequence, or the model has two stacks.
        KeyError: If there is no such recipe.
    """
    if cards < 1:
        raise ValueError(f"cards is {cards}; wanted at least 1")
    costs = [
        layout_cost(sizes, layout, cluster, tokens=tokens, sequence=sequence, recipe=recipe)
        for layout in _layouts(sizes, cards, (tokens // sequence, sequence), zero, contexts)
    ]
    return sorted(costs, key=lambda cost: (not cost.fits, cost.step_s if cost.fits else cost.memory_bytes))


def _layouts(
    sizes: TransformerSizes, cards: int, step: tuple[int, int], zero: Sequence[int], contexts: Sequence[int]
) -> Iterator[Layout]:
    sequences, sequence = step
    experts = _experts(sizes)
    for tensor, pipeline, context in product(_divisors(cards), _divisors(cards), contexts):
        data, remainder = divmod(cards, tensor * pipeline * context)
        if remainder or pipeline > sizes.L + 2 or sequences % data or _is_uneven(sequence, context):
            continue
        if any(size % tensor for size in _cut_by_tensor(sizes).values()):
            continue
        stages = zero if data * context > 1 else (0,)
        chunks = sorted({1, _layers(sizes, pipeline)}) if pipeline > 1 else (1,)
        shared = _divisors(gcd(data, experts) if experts else 1)
        for expert, stage, n_chunks, recompute in product(shared, stages, chunks, RECOMPUTE):
            yield Layout(data, tensor, pipeline, stage, n_chunks, recompute, context, expert)


def _divisors(count: int) -> list[int]:
    return [n for n in range(1, count + 1) if count % n == 0]


def _cut_by_tensor(sizes: TransformerSizes) -> dict[str, int]:
    """What a tensor group has to divide."""
    cut = {"N": sizes.N, "F": sizes.F, "V": sizes.V}
    return {**cut, "an expert's width": sizes.hidden} if isinstance(sizes, PlannerSizes) and sizes.experts else cut


def _experts(sizes: TransformerSizes) -> int:
    return sizes.experts if isinstance(sizes, PlannerSizes) else 0


def _is_uneven(sequence: int, context: int) -> bool:
    """Whether cards cannot have two blocks each of a sequence, one from its beginning and one from its end."""
    return context > 1 and sequence % (2 * context) > 0


def layout_cost(
    sizes: TransformerSizes,
    layout: Layout,
    cluster: TrainingCluster,
    *,
    tokens: int,
    sequence: int,
    recipe: str = "master",
    batch: int = 1,
) -> LayoutCost:
    """Cost one layout of a training step.

    The longest stage has ceil((L + 2) / pipeline) layers: embedding and output stand for a layer each, as Llama 3
    parts them. With one stage they are counted themselves.

    Args:
        sizes: A model of one stack.
        layout: Which.
        cluster: What the cards are.
        tokens: Of a step, all cards together.
        sequence: Tokens of a sequence.
        recipe: One of RECIPES.
        batch: Sequences of a micro-batch.

    Returns:
        Memory, times, and what decides.

    Raises:
        ValueError: If sizes or the sequences do not divide, or the model has two stacks.
        KeyError: If there is no such recipe.
    """
    micro = _micro_batches(sizes, layout, tokens, sequence, batch)
    t, p, c, e = layout.tensor, layout.pipeline, layout.context, layout.expert
    part, rows = card_part(sizes, t, e), batch * sequence // c
    depth = sizes.L if p == 1 else _layers(sizes, p)
    there, back, ends, ends_back = _counted(part, batch, sequence, c)
    forward_s, backward_s = (depth * _layer_s(cluster, operations, t) for operations in (there, back))
    if layout.recompute != "nothing":
        again = [step for step in there if layout.recompute == "layers" or _is_cheap(step)]
        backward_s += depth * _layer_s(cluster, again, t)
    if p == 1:
        forward_s += cluster.seconds(ends)
        backward_s += cluster.seconds(ends_back)
    # Parameters of a card, and among how many cards these are the same: those of experts on fewer than the others.
    dense, routed = parameter_split(sizes)
    replicas = layout.data * c
    groups = [(ceil(dense / (t * p)), replicas), (ceil(routed / (t * p * e)), replicas // e)]
    updated = sum(ceil(n / (ranks if layout.zero else 1)) for n, ranks in groups)
    adam_s = cluster.seconds([adam_step(updated, master=RECIPES[recipe].master > 0)])
    # Each pass of a layer has two all-reduces' worth of messages, one for attention and one for the feed-forward part.
    row_bytes = rows * sizes.D * HALF_BYTES
    passes = 3 if layout.recompute == "layers" else 2
    tensor_s = 2 * passes * depth * cluster.group(layout, "tensor").ring.all_reduce_s(row_bytes, t)
    expert_s = 0.0
    if isinstance(sizes, PlannerSizes) and e > 1:
        sent_s = cluster.group(layout, "expert").all_to_all.all_to_all_s(sizes.chosen * row_bytes / t, e)
        expert_s = 2 * passes * depth * sizes.expert_layers / sizes.L * sent_s
    context_s = depth * _ring_s(cluster, layout, 2 * part.narrow * rows * HALF_BYTES, (there, back)) if c > 1 else 0.0
    hop_s = cluster.group(layout, "pipeline").hop.point_to_point_s(row_bytes / t) if p > 1 else 0.0
    rings = [cluster.group(layout, purpose).ring for purpose in ("data", "routed")]
    exposed_s, hidden_s = _data_traffic(layout, rings, groups, RECIPES[recipe], micro, (forward_s, backward_s))
    memory = _memory(sizes, layout, groups, recipe, rows, micro, depth)
    cost = LayoutCost(
        layout=layout,
        micro_batches=micro,
        memory=memory,
        fits=sum(memory.values()) <= cluster.card.memory_bytes,
        compute_s=micro * (forward_s + backward_s) + adam_s,
        bubble_s=(p - 1) / layout.chunks * (forward_s + backward_s + tensor_s + context_s + expert_s),
        tensor_s=micro * tensor_s,
        context_s=micro * context_s,
        expert_s=micro * expert_s,
        pipeline_s=2 * (p - 1) * hop_s,
        data_s=exposed_s,
        hidden_s=hidden_s,
        model_flops=_model_flops(sizes, sequence) * tokens / sequence,
        reasons=(),
    )
    return replace(cost, reasons=tuple(_reasons(cost, cluster)))


@lru_cache
def _model_flops(sizes: TransformerSizes, sequence: int) -> float:
    """Products of a sequence, forward and back."""
    there, _, ends, _ = _counted(card_part(sizes, 1, 1), 1, sequence, 1)
    return 3.0 * (sizes.L * total(there).product_flops + total(ends).product_flops)


def _ring_s(
    cluster: TrainingCluster, layout: Layout, block_bytes: int, operations: Sequence[Iterable[Operation]]
) -> float:
    """Seconds that a layer waits for keys and values: what their way takes beyond the attention that is computed.

    Back, their gradients go with them, and a step further: to where the block is at home.
    """
    c = layout.context
    hop_s = cluster.group(layout, "context").hop.point_to_point_s(block_bytes)
    mixing_s = [cluster.seconds(step for step in side if "fused attention" in step.name) for side in operations]
    ring_s = [(c - 1) * hop_s, (2 * c - 1) * hop_s]
    forward_s, backward_s = (max(0.0, ring - mixing) for ring, mixing in zip(ring_s, mixing_s, strict=True))
    return forward_s * (2 if layout.recompute == "layers" else 1) + backward_s


def _micro_batches(sizes: TransformerSizes, layout: Layout, tokens: int, sequence: int, batch: int) -> int:
    if sizes.decoder_layers:
        raise ValueError(f"{sizes.name} has two stacks; a layout is planned for one")
    if tokens % sequence or tokens < 1:
        raise ValueError(f"tokens is {tokens}; wanted a multiple of sequence, {sequence}")
    for name, size in _cut_by_tensor(sizes).items():
        if size % layout.tensor:
            raise ValueError(f"{name} is {size}; wanted a multiple of tensor, {layout.tensor}")
    if layout.pipeline > sizes.L + 2:
        raise ValueError(f"pipeline is {layout.pipeline}; wanted at most L + 2 = {sizes.L + 2} stages")
    if layout.recompute not in RECOMPUTE:
        raise ValueError(f"recompute is {layout.recompute!r}; wanted one of {', '.join(RECOMPUTE)}")
    if layout.zero not in (0, 1, 2, 3):
        raise ValueError(f"zero is {layout.zero}; wanted a stage from 0 to 3")
    if _is_uneven(sequence, layout.context):
        raise ValueError(f"sequence is {sequence}; wanted a multiple of twice the context, {2 * layout.context}")
    experts = _experts(sizes)
    if layout.data % layout.expert or (experts % layout.expert if experts else layout.expert > 1):
        raise ValueError(
            f"expert is {layout.expert}; wanted a divisor of data, {layout.data}, and of {experts} experts"
        )
    micro, remainder = divmod(tokens // sequence, layout.data * batch)
    if remainder or not micro:
        each = f"data, {layout.data}" if batch == 1 else f"data times batch, {layout.data} x {batch}"
        raise ValueError(f"a step has {tokens // sequence} sequences; wanted a multiple of {each}")
    return micro


def _layers(sizes: TransformerSizes, pipeline: int) -> int:
    """Layers of the longest stage, embedding and output standing for one each."""
    return ceil((sizes.L + 2) / pipeline)


@lru_cache(maxsize=1024)
def _counted(part: TransformerSizes, batch: int, sequence: int, context: int) -> tuple[tuple[Operation, ...], ...]:
    """One layer forward and back, then embedding, logits and loss forward and back, on a card's share of sequences."""
    rows = sequence // context
    there = card_layer(part, sequence, context, batch)
    ends = [step for step in forward(part.but(L=1), batch, rows) if step.part in ("embedding", "logits")]
    judged = loss(part, batch, rows)
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
    rings: Sequence[LinkSpeed],
    groups: Sequence[tuple[int, int]],
    recipe: PrecisionRecipe,
    micro: int,
    passes_s: tuple[float, float],
) -> tuple[float, float]:
    """Seconds of data-parallel traffic that nothing hides, and that a forward or backward pass of the stage hides.

    Until stage 1 gradients are summed in the last micro-batch's backward pass; stages 2 and 3 keep no whole gradient,
    so that each micro-batch has its reduce-scatter. Stages 1 and 2 gather the new weights in the next step's first
    forward pass, stage 3 in each pass.
    """
    forward_s, backward_s = passes_s
    arrays = [(ring, n, ranks) for ring, (n, ranks) in zip(rings, groups, strict=True) if n]
    scatter_s = sum(ring.reduce_scatter_s(n * recipe.gradients, ranks) for ring, n, ranks in arrays)
    gather_s = sum(ring.all_gather_s(n * recipe.weights, ranks) for ring, n, ranks in arrays)
    # (how often, traffic in a forward pass, traffic in a backward pass)
    rounds = {
        0: [(1, 0.0, 2 * scatter_s)],
        1: [(1, gather_s, scatter_s)],
        2: [(1, gather_s, 0.0), (micro, 0.0, scatter_s)],
        3: [(micro, gather_s, gather_s + scatter_s)],
    }[layout.zero]
    exposed_s = sum(
        times * (max(0.0, there - forward_s) + max(0.0, back - backward_s)) for times, there, back in rounds
    )
    return exposed_s, sum(times * (there + back) for times, there, back in rounds) - exposed_s


def _memory(
    sizes: TransformerSizes,
    layout: Layout,
    groups: Sequence[tuple[int, int]],
    recipe: str,
    rows: int,
    micro: int,
    depth: int,
) -> dict[str, int]:
    """Bytes of the fullest stage: the first, which has most micro-batches under way, or the last with its logits."""
    t, p = layout.tensor, layout.pipeline
    states = dict.fromkeys(state_bytes(1), 0)
    for n, ranks in groups:
        for name, n_bytes in state_bytes(n, recipe).items():
            if layout.zero >= _ZERO[name]:
                # What is cut is whole for the layer at work, and weights for the one that is gathered meanwhile.
                layers_whole = {"gradients": 1, "weights": 2}.get(name, 0)
                states[name] += ceil(n_bytes / ranks) + layers_whole * n_bytes // depth
            else:
                states[name] += n_bytes
    # Of what elementwise steps give: see _is_cheap.
    dropped = ("input of q", "input of up", "output of", "input of down") if layout.recompute == "elementwise" else ()
    layer_bytes = sum(
        tensor.bytes // (t if tensor.name in _ALONG_SEQUENCE else 1)
        for tensor in card_activations(card_part(sizes, t, layout.expert), rows)
        if not tensor.name.startswith(dropped)
    )
    # 1F1B has as many micro-batches under way as stages; interleaving more (Korthikanti et al. 2022, section 4.2.3).
    alive = min(micro, p) * depth
    if layout.chunks > 1:
        alive = min(micro * depth, ceil(alive * (1 + (p - 1) / (p * layout.chunks))))
    at_work = 0
    if layout.recompute == "layers":
        layer_bytes, at_work = rows * sizes.D * HALF_BYTES // t, layer_bytes
    first, last = alive * layer_bytes + at_work, depth * layer_bytes + at_work
    logits = 2 * rows * sizes.V // t * 4
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
        group = cluster.group(layout, "tensor")
        across = "" if group.ranks <= group.members else ", since a tensor group is not within a node"
        yield f"Messages within layers take {cost.tensor_s / cost.step_s:.0%} of the step on {group.ring.name}{across}."
    if layout.expert > 1:
        link = cluster.group(layout, "expert").all_to_all
        fraction = cost.expert_s / cost.step_s
        yield f"Tokens on their way to experts and back take {fraction:.0%} of the step on {link.name}."
    if layout.context > 1:
        link = cluster.group(layout, "context").hop
        yield f"Attention waits for keys and values for {cost.context_s / cost.step_s:.0%} of the step, on {link.name}."
    if layout.pipeline > 1:
        yield (
            f"The pipeline waits for {cost.bubble_s / cost.step_s:.0%} of the step: {layout.pipeline} stages, "
            f"{cost.micro_batches} micro-batches, {layout.chunks} chunks a stage."
        )
    if layout.data * layout.context > 1:
        link = cluster.group(layout, "data").ring
        yield (
            f"Data-parallel traffic takes {cost.data_s + cost.hidden_s:.2f} s on {link.name}, of which "
            f"{cost.hidden_s:.2f} s are hidden behind computing."
        )
    if layout.recompute == "layers":
        yield "Each layer runs forward twice."
