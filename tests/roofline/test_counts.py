"""The counts beside somebody else's: torch's FLOP counter, numel(), papers, and another tool's table."""

import math

import pytest
import torch
from sizes_of_models import SMALL, built
from torch.utils.flop_counter import FlopCounterMode

from softlookup import model
from softlookup import roofline as rl
from tests.refusing import refused

LLAMA = rl.MODELS["Llama 2 7B"]


def counted(sizes, batch, tokens, source):
    """Operations of the products as torch counts them: forward, and forward and backward together."""
    made, ids = built(sizes), torch.zeros(batch, tokens, dtype=torch.long, device="meta")
    inputs = (torch.zeros(batch, source, dtype=torch.long, device="meta"), ids) if source else (ids,)
    flops = []
    for back in (False, True):
        with FlopCounterMode(display=False) as counter:
            logits = made(*inputs, trace=model.Trace())
            if back:
                logits.sum().backward()
        flops.append(counter.get_total_flops())
    return flops


@pytest.mark.parametrize("sizes", SMALL, ids=lambda sizes: sizes.name)
def test_parameters_are_those_of_the_library_s_own_models(sizes):
    assert sum(rl.parameters(sizes).values()) == sum(p.numel() for p in built(sizes).parameters())


@pytest.mark.parametrize("sizes", SMALL, ids=lambda sizes: sizes.name)
def test_product_operations_are_those_of_torch_s_counter(sizes):
    source = 9 if sizes.decoder_layers else 0
    there, both = counted(sizes, 3, 7, source)
    steps = rl.forward(sizes, 3, 7, source=source)
    assert rl.total(steps).product_flops == there
    assert rl.total(steps).product_flops + rl.total(rl.backward(sizes, steps)).product_flops == both == 3 * there


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("GPT-2 small", 124_439_808),  # published weights
        ("GPT-2 XL", 1_557_611_200),
        ("OPT 6.7B", 6_658_473_984),
        ("Llama 2 7B", 6_738_415_616),
        ("Llama 2 70B", 68_976_648_192),
        ("Llama 3 8B", 8_030_261_248),
        ("Llama 3 405B", 405_853_388_800),
        ("Mistral 7B", 7_241_732_096),
    ],
)
def test_parameters_of_published_models(name, published):
    assert sum(rl.parameters(rl.MODELS[name]).values()) == published


def test_parameters_that_papers_round():
    assert round(sum(rl.parameters(rl.MODELS["GPT-3 175B"]).values()) / 1e9, 1) == 174.6  # Brown et al., table D.1
    base = sum(rl.parameters(rl.MODELS["Transformer base"]).values())
    assert 62e6 < base < 66e6  # Vaswani et al., table 3: 65 million


@pytest.mark.parametrize(("context", "gflop"), [(1, 13.21), (1000, 13.74), (4096, 15.36)])
def test_operations_of_llama_2_7b_for_a_token(context, gflop):
    assert round(rl.total(rl.decode(LLAMA, 1, context)).product_flops / 1e9, 2) == gflop
    everything = rl.total(rl.forward(LLAMA, 1, context)).product_flops / context
    assert everything == 2 * rl.product_weights(LLAMA) + 4 * LLAMA.L * LLAMA.D * context
    assert rl.total(rl.decode(LLAMA, 1, context)).product_flops == everything


def test_palm_s_formula_of_a_trained_token():
    """Chowdhery et al. 2022, appendix B: 6 for each weight and 12 L H Q T, embeddings left out."""
    steps = rl.training_step(LLAMA, 2, 512)
    products = sum(rl.total(stage).product_flops for stage in steps.values())
    expected = 6 * rl.product_weights(LLAMA) + 12 * LLAMA.L * LLAMA.N * LLAMA.head_width * 512
    assert products == expected * 2 * 512


def test_megatron_s_formula_of_a_step_with_recomputation():
    """Narayanan et al. 2021, equation 3: 96 B s l h^2 (1 + s / 6h + V / 16 l h), every layer forward twice."""
    sizes = rl.MODELS["GPT-3 175B"]
    b, s, h = 4, 2048, sizes.D
    steps = rl.training_step(sizes, b, s)
    layers = [operation for operation in steps["forward"] if operation.part in ("attention", "feed-forward")]
    products = sum(rl.total(stage).product_flops for stage in steps.values()) + rl.total(layers).product_flops
    assert products == pytest.approx(96 * b * s * sizes.L * h**2 * (1 + s / (6 * h) + sizes.V / (16 * sizes.L * h)))


# Yuan et al. 2024 (LLM-Viewer), table 1: Llama 2 7B, one sequence of 2048 tokens; operations and bytes as printed.
PREFILL = {"q k v output": (69e9, 67e6), "gate up down": (185e9, 152e6), "scores mix": (34e9, 302e6)}
DECODE = {"q k v output": (34e6, 34e6), "gate up down": (90e6, 90e6), "scores mix": (17e6, 17e6)}


@pytest.mark.parametrize(("cached", "table"), [(0, PREFILL), (2047, DECODE)], ids=["prefill", "decode"])
def test_operations_and_bytes_are_those_of_llm_viewer_s_table(cached, table):
    steps = {operation.name: operation for operation in rl.layer(LLAMA, 1, 2048 - cached, cached=cached)}
    for names, (flops, moved) in table.items():
        for name in names.split():
            assert steps[name].flops == pytest.approx(flops, rel=0.02)  # two or three digits are printed
            assert steps[name].bytes == pytest.approx(moved, rel=0.015)


def test_elementwise_rows_of_llm_viewer_differ_where_the_convention_does():
    """It counts 5 for the softmax without the scale, 7 for any norm, and one of the two tensors that an add reads."""
    steps = {operation.name: operation for operation in rl.layer(LLAMA, 1, 2048)}
    scores = 32 * 2048**2
    assert steps["softmax"].flops - scores == pytest.approx(671e6, rel=0.001)
    assert steps["softmax"].bytes == pytest.approx(537e6, rel=0.001)
    assert rl.total(rl.layer(LLAMA.but(norm="layer"), 1, 2048)[:1]).flops == pytest.approx(59e6, rel=0.01)
    assert steps["norm 1"].bytes == pytest.approx(34e6, rel=0.02)
    assert steps["add 1"].flops == pytest.approx(8e6, rel=0.05)
    assert steps["add 1"].bytes - steps["add 1"].reads[0].bytes == pytest.approx(34e6, rel=0.02)


def test_the_lecture_s_table_with_its_constants():
    """X W: 2bsh^2 over 2bsh + h^2 numbers; scores: 2bs^2h over 2bsh + bns^2; the network: 16bsh^2."""
    b, s, n, d = 3, 50, 32, 128
    h = n * d
    sizes = rl.TransformerSizes("lecture", D=h, N=n, F=4 * h, V=10, L=1)
    steps = {operation.name: operation for operation in rl.layer(sizes, b, s)}
    assert (steps["q"].flops, steps["q"].elements) == (2 * b * s * h**2, 2 * b * s * h + h**2)
    assert (steps["scores"].flops, steps["scores"].elements) == (2 * b * s**2 * h, 2 * b * s * h + b * n * s**2)
    assert (steps["mix"].flops, steps["mix"].elements) == (2 * b * s**2 * h, 2 * b * s * h + b * n * s**2)
    assert steps["up"].flops + steps["down"].flops == 16 * b * s * h**2
    assert steps["up"].elements + steps["down"].elements == 10 * b * s * h + 8 * h**2
    products = rl.total(steps.values()).product_flops
    assert products == 24 * b * s * h**2 + 4 * b * s**2 * h


def test_attention_s_intensity_does_not_depend_on_the_batch_and_a_dense_layer_s_does():
    single, many = ({o.name: o for o in rl.layer(LLAMA, b, 1, cached=999)} for b in (1, 64))
    assert single["scores"].intensity == many["scores"].intensity < 1
    assert many["q"].intensity == pytest.approx(64 * single["q"].intensity, rel=0.04)


def test_causal_pairs_count_the_triangle_of_the_newest_queries():
    for t, s in ((1, 1), (4, 4), (2, 6), (5, 5)):
        assert rl.causal_pairs(t, s) == torch.ones(t, s).tril(diagonal=s - t).sum()
    full, half = (rl.total(rl.forward(LLAMA, 1, 64, causal=c)).product_flops for c in (False, True))
    assert full - half == 4 * LLAMA.L * LLAMA.D * (64 * 64 - 64 * 65 // 2)


def test_fused_attention_moves_q_k_v_and_the_result_alone():
    plain, fused = rl.layer(LLAMA, 1, 1000), {o.name: o for o in rl.layer(LLAMA, 1, 1000, fused=True)}
    assert rl.total(fused.values()).flops == rl.total(plain).flops
    assert fused["fused attention"].elements == 4 * 1000 * 4096
    assert fused["fused attention"].product_intensity == 500
    back = {o.name: o for o in rl.backward(LLAMA, list(fused.values()))}
    assert back["d fused attention"].product_flops == 5 * fused["fused attention"].product_flops // 2


def test_prefill_and_decode_of_a_whole_text_do_the_work_of_one_causal_pass():
    batch, prompt, written = 2, 5, 4
    steps = [rl.prefill(LLAMA, batch, prompt, causal=True, last_logits=False)]
    steps += [rl.decode(LLAMA, batch, prompt + i) for i in range(1, written + 1)]
    whole = rl.forward(LLAMA, batch, prompt + written, causal=True)
    assert sum(rl.total(stage).product_flops for stage in steps) == rl.total(whole).product_flops


def test_decoding_beside_an_encoder_runs_the_encoder_once():
    sizes = SMALL[4]
    first, next_ = (rl.total(rl.forward(sizes, 1, 1, source=9, cached=c)).product_flops for c in (0, 1))
    encoder = rl.total([o.repeated(sizes.L) for o in rl.layer(sizes, 1, 9)]).product_flops
    across = sizes.decoder_layers * 2 * 2 * 9 * sizes.D * sizes.narrow
    one_more_key = sizes.decoder_layers * 4 * sizes.wide
    assert first - encoder - across + one_more_key == next_


def test_every_operation_names_what_it_reads_and_writes():
    for sizes in SMALL:
        steps = rl.training_step(sizes, 2, 5, source=4 if sizes.decoder_layers else 0)
        for operation in [o for stage in steps.values() for o in stage]:
            assert operation.name and operation.part and operation.reads and operation.writes
            assert all(t.name and t.elements > 0 for t in (*operation.reads, *operation.writes))
            assert operation.bytes == sum(
                math.prod(t.shape) * t.number_bytes for t in (*operation.reads, *operation.writes)
            )


def test_adam_reads_and_writes_what_the_recipe_keeps():
    assert rl.adam_step(10).bytes == 10 * (2 + 12 + 12 + 2)
    assert rl.adam_step(10, master=False).bytes == 10 * (4 + 12 + 12)
    assert rl.loss(LLAMA, 2, 3).flops == 5 * 2 * 3 * LLAMA.V


test_sizes_that_make_nothing_are_refused_with_what_was_got = refused(
    (lambda: rl.forward(LLAMA, 0, 4), "batch is 0; wanted at least 1"),
    (lambda: rl.layer(LLAMA, 1, 4, cached=-1), "cached is -1; wanted at least 0"),
    (lambda: rl.decode(LLAMA, 1, 0), "context is 0; wanted at least 1"),
    (lambda: rl.forward(LLAMA, 1, 4, source=3), "Llama 2 7B has no encoder for a source"),
    (lambda: rl.forward(SMALL[4], 1, 4), "pair is an encoder-decoder and needs a source; got source = 0"),
    (lambda: rl.product_weights(SMALL[4]), "pair has two stacks"),
    (lambda: LLAMA.but(K=5), "N must be a multiple of K; got N = 32, K = 5"),
    (lambda: LLAMA.but(L=0), "L must be at least 1; got 0"),
    (lambda: LLAMA.but(D=31), "D must be a multiple of N, or H be given"),
    (lambda: LLAMA.but(activation="tanh"), "activation is 'tanh'"),
    (lambda: LLAMA.but(norm="batch"), "norm is 'batch'"),
)
