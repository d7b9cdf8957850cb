"""The operations of whole models: forward, backward, prefill, decode, and a step of training.

Conventions: a multiply-add is two; the full square of scores unless ``causal``; logits at every position unless said.
"""

from collections.abc import Iterable
from dataclasses import replace

from softlookup.roofline.layer_operations import ELEMENTWISE, Kernels, layer
from softlookup.roofline.operations import FLOAT_BYTES, HALF_BYTES, Moved, Operation
from softlookup.roofline.sizes import TransformerSizes, check_source, parameters


def forward(
    sizes: TransformerSizes,
    batch: int,
    tokens: int,
    *,
    source: int = 0,
    cached: int = 0,
    causal: bool = False,
    fused: bool = False,
    last_logits: bool = False,
    number_bytes: int = HALF_BYTES,
) -> list[Operation]:
    """Count a whole model forward.

    Args:
        sizes: The model. With ``decoder_layers`` it is an encoder-decoder.
        batch: B, sequences.
        tokens: T, tokens that pass through it (of the target, for an encoder-decoder).
        source: Tokens of the source, for an encoder-decoder.
        cached: Tokens whose keys and values are kept; for an encoder-decoder the encoder has run then.
        causal: Whether hidden pairs are skipped in the stack that writes; the encoder has its full square.
        fused: Whether scores and weights stay inside one kernel.
        last_logits: Whether logits are made for the last token alone.
        number_bytes: Bytes of a number.

    Returns:
        Operations in order, those of a layer once with ``times`` for the layers.

    Raises:
        ValueError: If an encoder-decoder has no source, or another model has one; or a size is too small.
    """
    check_source(sizes, source)
    steps: list[Operation] = []
    if sizes.decoder_layers and not cached:
        steps += _entrance(sizes, batch, source, number_bytes)
        encoder = layer(sizes, batch, source, fused=fused, number_bytes=number_bytes)
        steps += [operation.repeated(sizes.L) for operation in encoder]
        steps += _last_norm(sizes, batch, source, number_bytes)
    steps += _entrance(sizes, batch, tokens, number_bytes)
    stack = layer(
        sizes,
        batch,
        tokens,
        cached=cached,
        memory=source,
        memory_cached=cached > 0,
        causal=causal,
        fused=fused,
        number_bytes=number_bytes,
    )
    steps += [operation.repeated(sizes.decoder_layers or sizes.L) for operation in stack]
    steps += _last_norm(sizes, batch, tokens, number_bytes)
    kernels = Kernels(sizes, batch, 1 if last_logits else tokens, number_bytes)
    return [*steps, kernels.dense("logits", kernels.T, sizes.D, sizes.V, part="logits")]


def prefill(sizes: TransformerSizes, batch: int, tokens: int, **ways: bool | int) -> list[Operation]:
    """Count the reading of a prompt: all tokens at once, logits for the last alone (unless ``last_logits=False``).

    Args:
        sizes: The model.
        batch: B, sequences.
        tokens: T, tokens of each prompt.
        ways: What ``forward`` takes besides, by name.

    Returns:
        Operations in order, those of a layer once with ``times`` for the layers.

    Raises:
        ValueError: As ``forward`` does.
    """
    return forward(sizes, batch, tokens, **{"last_logits": True, **ways})  # type: ignore[arg-type]


def decode(sizes: TransformerSizes, batch: int, context: int, **ways: bool | int) -> list[Operation]:
    """Count the writing of one token for each sequence; it looks at ``context`` tokens, itself among them.

    Args:
        sizes: The model.
        batch: B, sequences.
        context: S, tokens that it looks at.
        ways: What ``forward`` takes besides, by name.

    Returns:
        Operations in order, those of a layer once with ``times`` for the layers.

    Raises:
        ValueError: If the context holds no token: "context is C; wanted at least 1".
    """
    if context < 1:
        raise ValueError(f"context is {context}; wanted at least 1")
    return forward(sizes, batch, 1, cached=context - 1, **ways)  # type: ignore[arg-type]


def _entrance(sizes: TransformerSizes, batch: int, tokens: int, number_bytes: int) -> list[Operation]:
    kernels = Kernels(sizes, batch, tokens, number_bytes)
    shape = batch, tokens, sizes.D
    ids = Moved("ids", (batch, tokens), 8)
    rows = kernels.moved("rows of the table", *shape)  # what is looked up is read, not the whole table
    steps = [Operation("embed", 0, 0, (ids, rows), (kernels.moved("x", *shape),), part="embedding")]
    if sizes.positions:
        steps.append(kernels.each("positions", "add", "embedding", shape, kernels.moved("positions", tokens, sizes.D)))
    return steps


def _last_norm(sizes: TransformerSizes, batch: int, tokens: int, number_bytes: int) -> list[Operation]:
    return [Kernels(sizes, batch, tokens, number_bytes).norm("last norm")] if sizes.last_norm else []


_KINDS = {"add 1": "add", "add 2": "add", "add across": "add", "positions": "add", "gated": "gate"}


def _kind(name: str, sizes: TransformerSizes) -> str:
    """The row of ELEMENTWISE that an operation without products belongs to."""
    if name in ELEMENTWISE:
        return name
    return _KINDS.get(name) or (sizes.norm if "norm" in name else "rotary" if name.startswith("rotary") else "loss")


def backward(sizes: TransformerSizes, operations: Iterable[Operation]) -> list[Operation]:
    """Count the backward pass through operations that went forward.

    Each product has two: the gradient of its left factor, and that of its right one. Elementwise work is counted as
    ``ELEMENTWISE`` says, and reads what it needs from the forward pass. Where several steps used one tensor (queries,
    keys and values; a gate and what it opens; the memory in every layer of a decoder), their gradients are added, two
    at a time. A fused kernel goes back by five products instead of four, since it makes the scores again.

    Args:
        sizes: The model.
        operations: What ``forward`` returned.

    Returns:
        The operations of the backward pass, the last one first.
    """
    back: list[Operation] = []
    for operation in reversed(list(operations)):
        steps = _turned(operation, sizes)
        if operation.name == "gate" or (operation.part, operation.name) in (("attention", "k"), ("attention", "q")):
            steps.append(_meeting(operation.reads[0]))
        crossing = operation.part == "cross-attention" and operation.name == "k"
        if crossing:
            steps.append(_meeting(operation.reads[0]))
        back += [replace(step, times=operation.times, part=operation.part) for step in steps]
        if crossing and operation.times > 1:
            back.append(replace(_meeting(operation.reads[0]), times=operation.times - 1, part=operation.part))
    return back


def _meeting(tensor: Moved) -> Operation:
    """Two gradients of one tensor become one."""
    first, second, both = (replace(tensor, name=f"{which}d {tensor.name}") for which in ("a ", "another ", ""))
    return Operation(f"d {tensor.name} added", 0, tensor.elements, (first, second), (both,))


def _turned(operation: Operation, sizes: TransformerSizes) -> list[Operation]:
    """What one operation becomes in the backward pass."""
    name, inputs = f"d {operation.name}", operation.reads
    after = tuple(replace(t, name=f"d {t.name}") for t in operation.writes)
    before = tuple(replace(t, name=f"d {t.name}") for t in operation.reads)
    if operation.name == "fused attention":
        soft = operation.elementwise_flops // ELEMENTWISE["softmax"][0] * sum(ELEMENTWISE["softmax"])
        return [Operation(name, operation.product_flops * 5 // 2, soft, (*after, *inputs, *operation.writes), before)]
    if operation.product_flops:
        a, b = inputs[:2]
        # A bias's gradient is a sum over rows, made beside that of its matrix.
        added = after[0].elements if before[2:] else 0
        return [
            Operation(f"d {a.name} of {operation.name}", operation.product_flops, 0, (*after, b), before[:1]),
            Operation(f"d {b.name} of {operation.name}", operation.product_flops, added, (*after, a), before[1:]),
        ]
    if operation.name == "embed":  # added to the rows of the table's gradient
        ids, rows = inputs[0], before[1]
        return [Operation(name, 0, rows.elements, (*after, ids, rows), (rows,))]
    function_name = _kind(operation.name, sizes)
    flops = ELEMENTWISE[function_name][1] * operation.writes[0].elements
    if function_name == "add":
        # Positions get the sum over the batch; the states pass a residual connection by and meet what went through.
        reads, writes = (after, before[1:]) if operation.part == "embedding" else ((*after, before[1]), before[:1])
    elif function_name == "loss":  # the first gradient of all: from the probabilities and the labels
        reads, writes = (*operation.writes, inputs[1]), before[:1]
    elif function_name == "softmax":
        reads, writes = (*after, *operation.writes), before
    elif function_name == "rotary":
        reads, writes = (*after, inputs[1]), before[:1]
    else:  # norms need no shift; activations and gates what they were given
        reads, writes = (*after, *inputs[:2]), before
    return [Operation(name, 0, flops, reads, writes)]


def loss(sizes: TransformerSizes, batch: int, tokens: int, *, number_bytes: int = FLOAT_BYTES) -> Operation:
    """Count the cross-entropy of the logits, whose probabilities are kept for the backward pass; 32 bits by default.

    Args:
        sizes: The model, whose V is taken.
        batch: B, sequences.
        tokens: T, tokens of each, all of them judged.
        number_bytes: Bytes of a logit and of a probability.

    Returns:
        One operation: logits and labels read, probabilities written, no products.
    """
    logits = Moved("logits", (batch, tokens, sizes.V), number_bytes)
    labels = Moved("labels", (batch, tokens), 8)
    probabilities = Moved("probabilities", logits.shape, number_bytes)
    return Operation(
        "loss", 0, ELEMENTWISE["loss"][0] * logits.elements, (logits, labels), (probabilities,), part="loss"
    )


def adam_step(n_parameters: int, *, master: bool = True) -> Operation:
    """Count a step of Adam.

    Args:
        n_parameters: How many numbers are learned.
        master: Whether gradients and weights in use are half precision beside a float32 master copy; otherwise all
            is float32.

    Returns:
        Reads gradient, weight and two means; writes weight and means, and the half-precision weight where there is one.

    Source: Kingma & Ba 2015, algorithm 1.
    """
    states = tuple(Moved(name, (n_parameters,), FLOAT_BYTES) for name in ("weight", "mean", "mean of squares"))
    size = HALF_BYTES if master else FLOAT_BYTES
    gradient = Moved("gradient", (n_parameters,), size)
    writes = (*states, Moved("weight in use", (n_parameters,), HALF_BYTES)) if master else states
    return Operation("adam", 0, ELEMENTWISE["adam"][0] * n_parameters, (gradient, *states), writes, part="optimizer")


def training_step(
    sizes: TransformerSizes, batch: int, tokens: int, *, source: int = 0, causal: bool = False, fused: bool = False
) -> dict[str, list[Operation]]:
    """Count a step of training in mixed precision with a float32 master copy.

    Args:
        sizes: The model. With ``decoder_layers`` it is an encoder-decoder.
        batch: B, sequences.
        tokens: T, tokens of each (of the target, for an encoder-decoder).
        source: Tokens of the source, for an encoder-decoder.
        causal: Whether hidden pairs are skipped in the stack that writes.
        fused: Whether scores and weights stay inside one kernel.

    Returns:
        Operations by stage: "forward", "loss", "backward", "optimizer".

    Raises:
        ValueError: As ``forward`` does.
    """
    there = forward(sizes, batch, tokens, source=source, causal=causal, fused=fused)
    judged = loss(sizes, batch, tokens)
    return {
        "forward": there,
        "loss": [judged],
        "backward": [*backward(sizes, [judged]), *backward(sizes, there)],
        "optimizer": [adam_step(sum(parameters(sizes).values()))],
    }
