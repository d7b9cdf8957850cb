"""The counts beside what torch does with tensors that hold no numbers: what it moves, adds, computes and keeps."""

import math
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from sizes_of_models import SMALL, built
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from softlookup import model
from softlookup import roofline as rl

BATCH, TOKENS, SOURCE = 3, 7, 9
PRODUCTS = ("mm", "bmm", "addmm", "baddbmm")


def ids(tokens):
    return torch.zeros(BATCH, tokens, dtype=torch.long, device="meta")


def inputs_of(sizes):
    return (ids(SOURCE), ids(TOKENS)) if sizes.decoder_layers else (ids(TOKENS),)


def source_of(sizes):
    return SOURCE if sizes.decoder_layers else 0


class Watched(TorchDispatchMode):
    """Writes down what torch calls: its name, the tensors that go in, the one that comes out."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor):
            tensors = [tensor for tensor in args if isinstance(tensor, torch.Tensor)]
            name = function._schema.name.split("::")[1]
            self.calls.append((name, sum(tensor.nbytes for tensor in tensors), out.nbytes, tuple(out.shape)))
        return out


def watched(sizes):
    """What torch calls forward, and on the way back."""
    with Watched() as seen:
        logits = built(sizes)(*inputs_of(sizes), trace=model.Trace())
        there = len(seen.calls)
        logits.sum().backward()
    return seen.calls[:there], seen.calls[there:]


def product_bytes(calls):
    return sum(read + written for name, read, written, _ in calls if name in PRODUCTS)


@pytest.mark.parametrize("sizes", [sizes for sizes in SMALL if not sizes.attention_bias], ids=lambda sizes: sizes.name)
def test_bytes_of_products_are_those_of_the_tensors_that_torch_multiplies(sizes):
    there, back = watched(sizes)
    steps = rl.forward(sizes, BATCH, TOKENS, source=source_of(sizes), number_bytes=4)
    turned = rl.backward(sizes, steps)
    products = [operation for operation in steps if operation.product_flops]
    # Plain code repeats shared heads before both products; a kernel that knows of them reads each once.
    repeated = sum(
        operation.times * (sizes.N // sizes.kv_heads - 1) * operation.reads[1].bytes
        for operation in products
        if operation.name in ("scores", "mix")
    )
    # torch sums a bias's gradient in a call of its own.
    biases = sum(
        t.bytes * operation.times for operation in turned for t in operation.writes if t.name.startswith("d b_")
    )
    assert product_bytes(there) == rl.total(products).bytes + repeated
    assert (
        product_bytes(back)
        == rl.total(operation for operation in turned if operation.product_flops).bytes + 2 * repeated - biases
    )


@pytest.mark.parametrize("sizes", SMALL, ids=lambda sizes: sizes.name)
def test_gradients_are_added_as_often_as_torch_adds_them(sizes):
    counted, seen = Counter(), Counter()
    steps = rl.forward(sizes, BATCH, TOKENS, source=source_of(sizes), number_bytes=4)
    for operation in rl.backward(sizes, steps):
        if operation.name.endswith("added") or operation.part == "residual":
            counted[operation.writes[0].shape] += operation.times
    for name, _, _, shape in watched(sizes)[1]:
        if name in ("add", "add_") and len(shape) == 3:
            seen[shape] += 1
    if sizes.norm == "rms":  # torch takes this norm to pieces, one of which adds
        seen[BATCH, TOKENS, sizes.D] -= 2 * sizes.L + 1
    assert counted == seen


@pytest.mark.parametrize("sizes", SMALL, ids=lambda sizes: sizes.name)
def test_reading_a_prompt_and_writing_are_what_torch_counts_in_a_model_with_a_cache(sizes):
    made, flops = built(sizes), []
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        state = made.start(ids(SOURCE)) if sizes.decoder_layers else made.start()
    begun = counter.get_total_flops()
    first = 1 if sizes.decoder_layers else TOKENS
    for tokens in (first, 1, 1):
        with torch.no_grad(), FlopCounterMode(display=False) as counter:
            made.step(ids(tokens), state, trace=model.Trace())
        flops.append(counter.get_total_flops())
    ways = {"source": source_of(sizes)}
    counted = [rl.prefill(sizes, BATCH, first, **ways), *(rl.decode(sizes, BATCH, first + n, **ways) for n in (1, 2))]
    assert [begun + flops[0], *flops[1:]] == [rl.total(stage).product_flops for stage in counted]


def test_every_way_back_reads_what_it_needs_and_makes_a_gradient_of_every_input_that_has_one():
    sizes = SMALL[2].but(rotary=True, positions=16)
    steps = rl.forward(sizes, 2, 5)
    turned = {operation.name: operation for operation in reversed(rl.backward(sizes, [*steps, rl.loss(sizes, 2, 5)]))}

    def names(name):
        return [t.name for t in turned[name].reads], [t.name for t in turned[name].writes]

    assert names("d loss") == (["probabilities", "labels"], ["d logits"])
    assert names("d rotary q") == (["d rotary q", "turns"], ["d q"])
    assert names("d softmax") == (["d weights", "weights"], ["d scores"])
    assert names("d norm 1") == (["d norm 1", "x", "gain"], ["d x", "d gain"])
    assert names("d silu") == (["d silu", "gate"], ["d gate"])
    assert names("d gated") == (["d gated", "silu", "up"], ["d silu", "d up"])
    assert names("d positions") == (["d positions"], ["d positions"])
    assert names("d embed") == (["d x", "ids", "d rows of the table"], ["d rows of the table"])
    assert names("d x of up") == (["d up", "w_up"], ["d x"])
    assert names("d w_up of up") == (["d up", "x"], ["d w_up"])
    assert turned["d positions"].bytes == 2 * (2 * 5 * sizes.D + 5 * sizes.D)


GATED = rl.TransformerSizes("gated", D=24, N=6, K=6, F=40, V=9, L=1, gated=True, activation="silu")
PLAIN = rl.TransformerSizes("plain", D=24, N=6, F=40, V=9, L=1, activation="gelu")


def kept_by_torch(sizes, memory):
    """Bytes that autograd keeps of a layer written in plain functions, parameters and norms' statistics left out."""
    saved_tensors, known = {}, set()
    half = {"device": "meta", "dtype": torch.float16, "requires_grad": True}

    def matrix(*shape):
        made = torch.empty(*shape, **half)
        known.add(made.untyped_storage()._cdata)
        return made

    def dense(x, width):
        return x @ matrix(x.shape[-1], width)

    def norm(x):
        return F.layer_norm(x, (sizes.D,), matrix(sizes.D), matrix(sizes.D))

    def attention(x, seen):
        q, k, v = (dense(inputs, sizes.D).unflatten(-1, (sizes.N, -1)).transpose(1, 2) for inputs in (x, seen, seen))
        weights = torch.softmax(q @ k.mT / math.sqrt(sizes.head_width), dim=-1)
        return dense((weights @ v).transpose(1, 2).flatten(-2), sizes.D)

    def keep(tensor):
        if tensor.dtype == torch.float16:
            saved_tensors[tensor.untyped_storage()._cdata] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        x = torch.empty(BATCH, TOKENS, sizes.D, **half)
        beside = torch.empty(BATCH, memory, sizes.D, **half) if memory else None
        y = norm(x)
        x = x + attention(y, y)
        if memory:
            x = x + attention(norm(x), beside)
            known.add(beside.untyped_storage()._cdata)
        y = norm(x)
        y = F.silu(dense(y, sizes.F)) * dense(y, sizes.F) if sizes.gated else F.gelu(dense(y, sizes.F))
        x = x + dense(y, sizes.D)
    return sum(t.untyped_storage().nbytes() for key, t in saved_tensors.items() if key not in known)


@pytest.mark.parametrize("sizes", [PLAIN, GATED], ids=lambda sizes: sizes.name)
@pytest.mark.parametrize("memory", [0, SOURCE])
def test_kept_activations_are_those_that_autograd_keeps(sizes, memory):
    tensors = rl.activations(sizes, BATCH, TOKENS, memory=memory)
    assert sum(tensor.bytes for tensor in tensors) == kept_by_torch(sizes, memory)


def test_cache_of_an_encoder_decoder_holds_what_the_encoder_said_too():
    sizes = SMALL[5]
    made = built(sizes)
    with torch.no_grad():
        state = made.start(ids(SOURCE))
        for _ in range(2):
            made.step(ids(1), state)
    tensors = [t for cache in (*state.layers, *state.cross) for t in (cache.k, cache.v)]
    assert rl.cache_bytes(sizes, BATCH, 2, source=SOURCE, number_bytes=4) == sum(t.nbytes for t in tensors)
    assert rl.inference_memory(sizes, BATCH, 2, source=SOURCE)["cache"] * 2 == sum(t.nbytes for t in tensors)


def test_training_memory_of_an_encoder_decoder_adds_up_both_stacks():
    sizes = rl.MODELS["Transformer base"]
    memory = rl.training_memory(sizes, 4, 25, source=30)
    encoder, decoder = (
        sum(tensor.bytes for tensor in rl.activations(sizes, 4, t, memory=e, fused=True))
        for t, e in ((30, 0), (25, 30))
    )
    assert memory["activations"] == 6 * (encoder + decoder) + 4 * 30 * 512 * 2
    assert memory["logits"] == 2 * 4 * 25 * 37_000 * 4
    assert sum(memory[name] for name in ("weights", "gradients", "master", "optimizer")) == 16 * sum(
        rl.parameters(sizes).values()
    )
    again = rl.training_memory(sizes, 4, 25, source=30, recompute=True)["activations"]
    assert again == 6 * 4 * (30 + 25) * 512 * 2 + max(encoder, decoder) + 4 * 30 * 512 * 2


@pytest.mark.parametrize("count", [rl.cache_bytes, rl.inference_memory, rl.training_memory])
def test_memory_wants_a_source_where_there_is_an_encoder_and_nowhere_else(count):
    with pytest.raises(ValueError, match="Transformer base is an encoder-decoder and needs a source; got source = 0"):
        count(rl.MODELS["Transformer base"], 1, 1)
    with pytest.raises(ValueError, match="Llama 2 7B has no encoder for a source; got source = 3"):
        count(rl.MODELS["Llama 2 7B"], 1, 1, source=3)
