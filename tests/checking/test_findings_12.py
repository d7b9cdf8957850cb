"""Chapter 12: what the library counts as well, answers that passed and are wrong, and two names for two mistakes."""

import pytest

from published import results, world
from softlookup import roofline as rl

SOLVED = (
    "def smallest_batch(t, d, f, size, ridge):\n    most = 2 / size / (1 / d + 1 / f)\n    if most {0} ridge:\n"
    "        return 0\n    rows = 1 / (2 / size / ridge - 1 / d - 1 / f)\n    return {1}"
)
STEP = (
    "def decode_step(b, weights, cache, flops, gb, tflop):\n    move, work = (weights + b * cache) / gb / 1e9, "
    "b * flops / tflop / 1e12\n    step = {}\n    return {}"
)
STACKS = (
    "def translator_flops(b, s, t, d, f, layers, v):\n    def look(asking, seen):\n"
    "        return {0} * asking * d * d + {1} * seen * d * d + 4 * asking * seen * d\n"
    "    encoder = look(s, s) + 4 * s * d * f\n    decoder = look(t, t) + look(t, s) + 4 * t * d * f\n"
    "    return {2}"
)
BOTH = "b * layers * encoder, b * (layers * decoder + 2 * t * d * v)"


def test_counts_in_float32_by_torchs_own_choice_are_right():
    source = (
        "def product_cost(r, i, o, s):\n    import torch\n    f, b = 2*r*i*o, s*(r*i+i*o+r*o)\n"
        "    return torch.tensor([f, b, f / b])"
    )
    for result in results("12.product", source):
        assert result.verdict == "pass", result.text()


def test_a_limit_that_is_not_seen_as_one_does_not_pass():
    """On the ridge that no batch reaches, who asks "below" divides by zero."""
    for result in results("12.ridge", SOLVED.format("<", "math.ceil(rows / t)")):
        assert result.verdict == "error" and "ZeroDivisionError" in result.text()


def test_the_bandwidth_of_one_card_does_not_pass():
    source = STEP.replace("/ gb /", "/ 2039 /").format("max(move, work)", "step, b / step")
    for result in results("12.step", source):
        assert result.verdict == "wrong", result.text()


def test_one_missing_read_beside_another_is_two_names():
    source = "def product_cost(r, i, o, s):\n    f, b = 2*r*i*o, s*i*o\n    return f, b, f / b"
    for result in results("12.product", source):
        assert set(result.diagnosis) == {"input-unread", "result-unwritten"}, result.text()


def test_a_product_missing_in_both_kinds_of_attention_is_two_names():
    for result in results("12.encoder-decoder", STACKS.format(4, 2, BOTH)):
        assert set(result.diagnosis) == {"output-forgotten", "memory-half"}, result.text()


def test_what_is_said_of_a_key_head_for_each_query_head_is_true_of_both_ways_to_count_so():
    source = (
        "def decode_intensities(B, S, D, F, N, K, H, b):\n    n = B * D + D * F + B * F\n"
        "    return 2 * B * D * F / (n * b), 2 * {0} * S * H / (({0} * H + {0} * S * H + {0} * S) * b)"
    )
    for heads in "NK":
        for result in results("12.decode", source.format(heads)):
            assert result.diagnosis == ("own-keys",) and "equally many heads" in result.text(), result.text()


def test_solutions_say_what_the_library_counts():
    """The published solutions and softlookup.roofline were written apart from each other."""
    space = world(12)
    for name in ("Llama 2 7B", "Llama 3 8B", "Mistral 7B", "Llama 2 70B"):
        sizes = rl.MODELS[name]
        heads = sizes.N, sizes.kv_heads, sizes.head_width
        every, working = space["count_model"](sizes.V, sizes.D, *heads, sizes.F, sizes.L, sizes.tied)
        assert (every, working) == (sum(rl.parameters(sizes).values()), rl.product_weights(sizes))
        forward, both = space["token_flops"](working, sizes.L, sizes.N, sizes.head_width, 777)
        assert forward == rl.total(rl.decode(sizes, 1, 777)).product_flops and both == 3 * forward
        for t, s, causal in ((5, 5, False), (5, 9, True)):
            counted = rl.total(rl.layer(sizes, 1, t, cached=s - t, causal=causal)).product_flops
            assert space["layer_flops"](t, s, sizes.D, *heads, sizes.F, True, causal) == counted
        dense, scores = space["decode_intensities"](8, 300, sizes.D, sizes.F, *heads, 2)
        steps = {o.name: o for o in rl.layer(sizes, 8, 1, cached=299)}
        assert (dense, scores) == pytest.approx((steps["up"].intensity, steps["scores"].intensity))
    plain = rl.MODELS["GPT-3 175B"]
    n_bytes = space["activation_bytes"](2, 64, plain.D, plain.N, plain.F, False)
    assert n_bytes == sum(activation.bytes for activation in rl.activations(plain, 2, 64))
    for recipe in ("float32", "master", "autocast"):
        assert tuple(space["state_bytes"](1000, recipe)) == tuple(rl.state_bytes(1000, recipe).values())


def test_solution_of_the_table_is_the_librarys_layer():
    sizes = rl.TransformerSizes("lecture", D=64, N=4, F=256, V=9, L=1)
    steps = {step.name: step for step in rl.layer(sizes, 3, 10)}
    table = world(12)["layer_table"](3, 10, 4, 16, 2)
    for row, name in zip(table, ("q", "scores", "softmax", "mix", "output", "up", "relu", "down"), strict=True):
        times = 3 if name == "q" else 1
        assert row[:2] == [times * steps[name].flops, times * steps[name].bytes]
        assert row[2] == pytest.approx(steps[name].intensity)


def test_solution_of_the_encoder_decoder_is_the_librarys_model():
    sizes = rl.MODELS["Transformer base"]
    encoder, decoder = world(12)["translator_flops"](3, 9, 7, sizes.D, sizes.F, sizes.L, sizes.V)
    assert encoder + decoder == rl.total(rl.forward(sizes, 3, 7, source=9)).product_flops
