"""The published solutions of chapter 12 and softlookup.roofline count the same."""

import pytest

from published import world
from softlookup import roofline as rl


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
