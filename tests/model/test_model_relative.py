"""Relative positions: against loops over the papers' formulas, published models, and the float64 reference."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from softlookup.model.parts.distance import ALiBi, T5Bias, alibi_slopes, relative_positions, t5_bucket
from softlookup.model.parts.positions import sinusoids_at
from softlookup.model.parts.relative import ShawBias, TransformerXLBias, relative_shift
from softlookup.reference import positions as reference
from tests.refusing import refused

B, N, T, S, H, D = 2, 3, 4, 6, 5, 8
OFFSETS = [0, 2, 5, -3]


def draw(device, dtype=torch.float64, n=N, t=T, s=S):
    return tuple(torch.randn(B, n, length, H, dtype=torch.float64).to(device, dtype) for length in (t, s))


def spread(module):
    """Give the module weights large enough to show every mistake."""
    for weight in module.parameters():
        nn.init.normal_(weight)
    return module


MODULES = {
    "alibi": lambda: ALiBi(N),
    "alibi-both-ways": lambda: ALiBi(N, causal=False),
    "t5": lambda: T5Bias(N, n_buckets=8, max_distance=6),
    "t5-causal": lambda: T5Bias(N, n_buckets=4, max_distance=6, bidirectional=False),
    "shaw": lambda: ShawBias(H, 2),
    "transformer-xl": lambda: TransformerXLBias(N, H, D),
}


def make(kind, device, dtype=torch.float64):
    return spread(MODULES[kind]().to(device, dtype))


# What all of them keep


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("offset", [1, 3])
def test_a_cached_step_gives_the_last_rows_of_the_whole(device, kind, offset):
    module = make(kind, device)
    q, k = draw(device, t=S, s=S)
    whole = module(q, k)
    step = module(q[:, :, offset:], k, offset)
    assert step.dtype == torch.float64 and step.device.type == device.type
    torch.testing.assert_close(step.expand(B, N, S - offset, S), whole.expand(B, N, S, S)[:, :, offset:])


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize(("t", "s"), [(1, 1), (1, 6), (5, 1), (7, 3)])
def test_every_size_gives_numbers_that_spread_over_the_scores(kind, t, s):
    module = make(kind, "cpu")
    q, k = draw("cpu", t=t, s=s)
    got = module(q, k)
    assert got.shape in ((1, N, t, s), (B, N, t, s))


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_other_dtypes_stay_close_to_float64(device, kind, dtype):
    module = make(kind, device, dtype)
    q, k = draw(device, dtype)
    got = module(q, k, 2)
    assert got.dtype == dtype
    expected = module.double()(q.double(), k.double(), 2)
    tolerance = {torch.float32: 2e-5, torch.bfloat16: 6e-2}[dtype] * expected.abs().max().item()
    torch.testing.assert_close(got.double(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", [kind for kind in MODULES if "alibi" not in kind])
def test_gradients_hold_by_finite_differences(kind):
    module = make(kind, "cpu")
    q, k = (x[:1, :, :3].requires_grad_() for x in draw("cpu"))
    weights = tuple(module.parameters())
    names = [name for name, _ in module.named_parameters()]

    def call(q, k, *weights):
        return torch.func.functional_call(module, dict(zip(names, weights, strict=True)), (q, k, 1))

    assert torch.autograd.gradcheck(call, (q, k, *weights))


def test_distances_count_from_the_query_to_the_key():
    assert relative_positions(2, 3).tolist() == [[0, 1, 2], [-1, 0, 1]]
    assert relative_positions(2, 3, 2).tolist() == [[-2, -1, 0], [-3, -2, -1]]


# ALiBi


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 6, 8, 12, 16, 20, 24, 71])
def test_slopes_equal_a_published_model_and_the_reference(n_heads):
    slopes = alibi_slopes(n_heads)
    expected = build_alibi_tensor(torch.ones(1, 2), n_heads, torch.float32)[:, 0, 1]
    torch.testing.assert_close(slopes.float(), expected, rtol=1e-6, atol=0)
    np.testing.assert_allclose(slopes, reference.alibi_slopes(n_heads), rtol=1e-14)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("offset", OFFSETS)
def test_alibi_equals_the_reference_and_loops(device, causal, offset):
    module = ALiBi(N, causal=causal).to(device)
    got = module.between(T, S, offset)
    assert got.dtype == torch.float64  # exact until the caller casts it
    expected = reference.alibi_bias(N, T, S, offset=offset, causal=causal)
    np.testing.assert_allclose(got[0].cpu(), expected, rtol=0, atol=1e-12)
    for n, t, s in itertools.product(range(N), range(T), range(S)):
        back = offset + t - s
        distance = max(back, 0) if causal else abs(back)
        assert got[0, n, t, s].item() == pytest.approx(-reference.alibi_slopes(N)[n] * distance, rel=1e-12)
    q, k = draw(device, torch.float32)
    torch.testing.assert_close(module(q, k, offset), got.float())


def test_alibi_leaves_nothing_in_the_state_and_moves_with_the_module():
    module = ALiBi(4)
    assert not module.state_dict() and not list(module.parameters())
    assert module.to("meta").slopes.is_meta


def test_alibi_tells_far_distances_apart_in_half_precision():
    module = ALiBi(3).bfloat16()
    assert module.between(1, 303, 302)[0, 2, 0, :3].tolist() == [-75.5, -75.25, -75.0]


# T5


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("n_buckets", "max_distance"), [(32, 128), (8, 20), (6, 5), (64, 1000), (4, 3)])
def test_buckets_equal_the_published_code_at_every_distance(device, bidirectional, n_buckets, max_distance):
    relative = torch.arange(-1500, 1500, device=device).reshape(3, -1)
    options = {"bidirectional": bidirectional, "max_distance": max_distance}
    expected = T5Attention._relative_position_bucket(relative, num_buckets=n_buckets, **options)
    got = t5_bucket(relative, n_buckets=n_buckets, **options)
    assert torch.equal(got, expected)
    assert set(got.flatten().tolist()) <= set(range(n_buckets))
    assert t5_bucket(relative.int(), n_buckets=n_buckets, **options).dtype == torch.int32


def test_default_buckets_are_those_of_the_paper():
    relative = torch.tensor([0, -1, -7, 1, 7, -128, -(10**6), 128, 10**6])
    assert t5_bucket(relative).tolist() == [0, 1, 7, 17, 23, 15, 15, 31, 31]
    one_way = t5_bucket(relative, bidirectional=False)
    assert one_way.tolist() == [0, 1, 7, 0, 0, 31, 31, 0, 0]


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("offset", OFFSETS)
def test_t5_bias_looks_up_its_bucket(device, bidirectional, offset):
    module = spread(T5Bias(N, n_buckets=8, max_distance=7, bidirectional=bidirectional).to(device))
    q, k = draw(device, torch.float32)
    got = module(q, k, offset)
    assert torch.equal(got, module.between(T, S, offset))
    for n, t, s in itertools.product(range(N), range(T), range(S)):
        bucket = t5_bucket(
            torch.tensor([s - offset - t]), n_buckets=8, max_distance=7, bidirectional=bidirectional
        ).item()
        assert got[0, n, t, s] == module.table[bucket, n]


def test_t5_takes_the_defaults_of_the_paper_and_begins_small():
    module = T5Bias(64)
    assert module.table.shape == (32, 64) and module.max_distance == 128 and module.bidirectional
    for _ in range(2):
        assert module.table.std().item() == pytest.approx(0.02, rel=0.1)
        nn.init.ones_(module.table)
        module.reset_parameters()


# Shaw


@pytest.mark.parametrize("max_distance", [0, 1, 2, 9])
@pytest.mark.parametrize("offset", OFFSETS)
def test_shaw_scores_equal_loops_over_the_formula(device, max_distance, offset):
    module = spread(ShawBias(H, max_distance).to(device, torch.float64))
    q, k = draw(device)
    got = module(q, k, offset)
    assert got.shape == (B, N, T, S)
    for t, s in itertools.product(range(T), range(S)):
        row = min(max(s - (offset + t), -max_distance), max_distance) + max_distance
        expected = q[:, :, t] @ module.table[row] / math.sqrt(H)
        torch.testing.assert_close(got[:, :, t, s], expected, rtol=0, atol=1e-12)


def test_a_shaw_table_begins_by_xavier():
    module = ShawBias(64, 16)
    for _ in range(2):
        limit = math.sqrt(6 / sum(module.table.shape))
        assert module.table.shape == (33, 64) and 0.95 * limit < module.table.abs().max().item() <= limit
        spread(module)
        module.reset_parameters()


# Transformer-XL


@given(st.integers(1, 6), st.integers(1, 6))
def test_relative_shift_moves_each_row_to_its_keys(t, s):
    x = torch.randn(2, t, t + s - 1)
    got = relative_shift(x)
    assert got.shape == (2, t, s)
    for i, j in itertools.product(range(t), range(s)):
        assert torch.equal(got[:, i, j], x[:, i, t - 1 - i + j])
    strided = torch.randn(2, t + s - 1, t).mT
    assert torch.equal(relative_shift(strided), relative_shift(strided.contiguous()))


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
@pytest.mark.parametrize("offset", OFFSETS)
def test_transformer_xl_equals_the_four_terms_one_by_one(device, layout, offset):
    module = spread(TransformerXLBias(N, H, D, layout=layout).to(device, torch.float64))
    q, k = draw(device)
    got = (q @ k.mT) / math.sqrt(H) + module(q, k, offset)
    w_r = module.w_r.unflatten(-1, (N, H))
    for n, t, s in itertools.product(range(N), range(T), range(S)):
        sinusoids = sinusoids_at(torch.tensor([offset + t - s], device=device), D, layout=layout, dtype=torch.float64)
        p = sinusoids[0] @ w_r[:, n]
        a = (q[:, n, t] * k[:, n, s]).sum(-1)
        b = q[:, n, t] @ p
        c = k[:, n, s] @ module.u[n]
        d = module.v[n] @ p
        torch.testing.assert_close(got[:, n, t, s], (a + b + c + d) / math.sqrt(H), rtol=0, atol=1e-12)


def test_transformer_xl_begins_with_small_biases_and_xavier():
    module = TransformerXLBias(8, 64, 128)
    limit = math.sqrt(6 / (128 + 512))
    for _ in range(2):
        assert 0.95 * limit < module.w_r.abs().max().item() <= limit
        for small in (module.u, module.v):
            assert small.std().item() == pytest.approx(0.02, rel=0.15)
        spread(module)
        module.reset_parameters()


# Refusals

Q, K = torch.zeros(2, 3, 4, 5), torch.zeros(2, 3, 6, 5)
META = torch.zeros(2, 3, 4, 5, device="meta")
test_what_does_not_fit_is_named = refused(
    (lambda: relative_positions(0, 2), "length 0, keys 2"),
    (lambda: relative_positions(2, 2, 0.5), TypeError, "offset is 0.5; wanted an integer"),
    (lambda: alibi_slopes(0), "n_heads 0"),
    (lambda: ALiBi(0), "n_heads 0"),
    (lambda: ALiBi(4)(Q, K), r"q has 3 heads; wanted N = 4 \(q \(2, 3, 4, 5\), k \(2, 3, 6, 5\)\)"),
    (lambda: ALiBi(3)(Q[0], K[0]), r"wanted q \(B, N, T, H\) .* got q \(3, 4, 5\)"),
    (lambda: ALiBi(3)(Q, K[:1]), r"of the same B; got .* k \(1, 3, 6, 5\)"),
    (lambda: ALiBi(3)(Q, K[0]), r"got .* k \(3, 6, 5\)"),
    (lambda: ALiBi(3)(META, META), "q is on meta, the slopes on cpu"),
    (lambda: t5_bucket(torch.zeros(3)), TypeError, "relative has dtype torch.float32; wanted integers"),
    (lambda: t5_bucket(torch.tensor([1]), n_buckets=2), "n_buckets is 2; wanted an even number, at least 4"),
    (lambda: T5Bias(3, n_buckets=7), "n_buckets is 7; wanted an even number"),
    (lambda: T5Bias(3, n_buckets=1, bidirectional=False), "n_buckets is 1; wanted at least 2"),
    (lambda: T5Bias(3, max_distance=8), "max_distance is 8; 8 distances have a bucket each, wanted more"),
    (lambda: T5Bias(3, max_distance=16, bidirectional=False), "max_distance is 16; 16 distances"),
    (lambda: T5Bias(0), "n_heads 0"),
    (lambda: T5Bias(4)(Q, K), "q has 3 heads; wanted N = 4"),
    (lambda: T5Bias(3)(Q.double(), K.double()), TypeError, "q has dtype torch.float64, the layer's weights"),
    (lambda: T5Bias(3)(META, META), "q is on meta"),
    (lambda: ShawBias(0, 2), "head_width 0"),
    (lambda: ShawBias(4, -1), "max_distance must be at least 0; got -1"),
    (lambda: ShawBias(4, 1)(Q, K), r"q has shape \(2, 3, 4, 5\); wanted \(B, N, T, H\) with H = 4"),
    (lambda: ShawBias(5, 1)(Q, K[:1]), "of the same B"),
    (lambda: ShawBias(5, 1)(Q.half(), K.half()), TypeError, "q has dtype torch.float16"),
    (lambda: relative_shift(torch.zeros(3, 2)), r"x has shape \(3, 2\); wanted \(..., T, T \+ S - 1\)"),
    (lambda: relative_shift(torch.zeros(3)), r"x has shape \(3,\)"),
    (lambda: TransformerXLBias(3, 5, 7), "d_model must be even"),
    (lambda: TransformerXLBias(0, 5, 8), "n_heads 0"),
    (lambda: TransformerXLBias(3, 5, 8, layout="mixed"), "layout is 'mixed'"),
    (lambda: TransformerXLBias(3, 4, 8)(Q, K), r"q has shape \(2, 3, 4, 5\); .* H = 4"),
    (lambda: TransformerXLBias(3, 5, 8)(Q, K[..., :4]), r"k has shape \(2, 3, 6, 4\)"),
    (lambda: TransformerXLBias(2, 5, 8)(Q, K), "q has 3 heads; wanted N = 2"),
    (lambda: TransformerXLBias(3, 5, 8)(Q, K[:, :1]), "k has 1 heads, wanted N = 3: repeat shared ones"),
    (lambda: TransformerXLBias(3, 5, 8)(Q.double(), K), TypeError, "q has dtype torch.float64"),
    (lambda: TransformerXLBias(3, 5, 8)(Q, K.double()), TypeError, "k has dtype torch.float64"),
    (lambda: TransformerXLBias(3, 5, 8)(Q, K, 1.5), TypeError, "offset is 1.5; wanted an integer"),
)
