"""Linear attention and the gated delta rule: by sums, chunks and steps the same as the weights written out."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import zeros

from softlookup import model
from softlookup.model.parts.delta_rule import gated_delta_rule, gated_delta_rule_step
from softlookup.model.parts.linear_attention import LinearState, linear_attention, linear_attention_step
from softlookup.reference.linear_attention import linear_attention as written_out

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 3e-2}
BATCHES = [(), (2,), (2, 3)]


def draw(seed, device="cpu", dtype=torch.float64, batch=(), t=5, s=7, h=4, hv=3):
    luck = torch.Generator().manual_seed(seed)
    shapes = ((t, h), (s, h), (s, hv))
    return [torch.randn(*batch, *shape, generator=luck, dtype=torch.float64).to(device, dtype) for shape in shapes]


def numbers(x):
    return x.detach().double().cpu().numpy()


@given(
    st.integers(0, 10**6),
    st.sampled_from(BATCHES),
    st.sampled_from(list(TOLERANCE)),
    st.integers(1, 6),
    st.integers(1, 8),
    st.booleans(),
)
def test_sums_equal_the_weights_written_out(device, seed, batch, dtype, t, s, masked):
    q, k, v = draw(seed, device, dtype, batch, t, s)
    mask = torch.from_numpy(np.random.default_rng(seed).random((*batch[:1], *(1,) * len(batch[1:]), 1, s)) < 0.6)
    mask = mask if masked else None  # all keys hidden is among the drawn ones
    got = linear_attention(q, k, v, mask=None if mask is None else mask.to(device))
    expected = written_out(*map(numbers, (q, k, v)), None if mask is None else mask.numpy())
    assert got.dtype == dtype
    np.testing.assert_allclose(numbers(got), expected, rtol=0, atol=TOLERANCE[dtype] * max(1.0, abs(expected).max()))


@given(
    st.integers(0, 10**6), st.sampled_from(BATCHES), st.sampled_from(list(TOLERANCE)), st.integers(1, 7), st.booleans()
)
def test_causal_sums_equal_the_weights_written_out(device, seed, batch, dtype, t, masked):
    q, k, v = draw(seed, device, dtype, batch, t, t)
    keys = torch.from_numpy(np.random.default_rng(seed).random((1, t)) < 0.6) if masked else torch.ones(1, t).bool()
    got = linear_attention(q, k, v, causal=True, mask=keys.to(device) if masked else None)
    expected = written_out(*map(numbers, (q, k, v)), np.tri(t, dtype=bool) & keys.numpy())
    assert got.dtype == dtype
    np.testing.assert_allclose(numbers(got), expected, rtol=0, atol=TOLERANCE[dtype] * max(1.0, abs(expected).max()))


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("batch", BATCHES)
def test_step_by_step_equals_all_at_once(device, dtype, batch):
    q, k, v = draw(1, device, dtype, batch, 7, 7)
    expected = linear_attention(q, k, v, causal=True)
    state = None
    for t in range(7):
        before = None if state is None else (state.key_values.clone(), state.keys.clone())
        given_state = state
        got, state = linear_attention_step(state, q[..., t, :], k[..., t, :], v[..., t, :])
        assert got.dtype == dtype and state.keys.shape == (*batch, 4) and state.key_values.shape == (*batch, 4, 3)
        torch.testing.assert_close(got, expected[..., t, :], rtol=0, atol=TOLERANCE[dtype])
        if before is not None:
            assert torch.equal(given_state.key_values, before[0]) and torch.equal(given_state.keys, before[1])


def test_state_follows_its_rows(device):
    q, k, v = draw(2, device, batch=(3,), t=2, s=2)
    _, state = linear_attention_step(None, q[:, 0], k[:, 0], v[:, 0])
    rows = torch.tensor([2, 0, 2], device=device)
    got, _ = linear_attention_step(state.select(rows), q[rows, 1], k[rows, 1], v[rows, 1])
    torch.testing.assert_close(got, linear_attention(q, k, v, causal=True)[rows, 1])


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_equal_those_of_the_quadratic_form(device, causal):
    q, k, v = (x.requires_grad_() for x in draw(3, device, batch=(2,), t=6, s=6))
    grad = torch.randn(2, 6, 3, dtype=torch.float64).to(device)
    similar = (torch.nn.functional.elu(q) + 1) @ (torch.nn.functional.elu(k) + 1).mT
    similar = similar.tril() if causal else similar
    (similar / similar.sum(-1, keepdim=True) @ v).backward(grad)
    expected = [x.grad.clone() for x in (q, k, v)]
    for x in (q, k, v):
        x.grad = None
    linear_attention(q, k, v, causal=causal).backward(grad)
    for x, want in zip((q, k, v), expected, strict=True):
        torch.testing.assert_close(x.grad, want, rtol=0, atol=1e-11)


def test_nothing_to_see_gives_zeros_and_zero_gradients(device):
    q, k, v = (x.requires_grad_() for x in draw(4, device, batch=(2,), t=4, s=4))
    mask = torch.ones(2, 1, 4, dtype=torch.bool, device=device)
    mask[0] = False
    mask[1, :, :2] = False
    for causal in (False, True):
        out = linear_attention(q, k, v, causal=causal, mask=mask)
        assert (out[0] == 0).all() and out[1, 3].all()
        assert not causal or (out[1, :2] == 0).all()
        out.sum().backward()
    for x in (q, k, v):
        assert x.grad.isfinite().all() and (x.grad[0] == 0).all()


def test_half_precision_sums_in_float32(device):
    q = torch.ones(1, 1, device=device, dtype=torch.bfloat16)
    v = torch.ones(4096, 1, device=device, dtype=torch.bfloat16)
    # A sum of ones in bfloat16 would stop at 256, and the mean would not be 1.
    assert linear_attention(q, v, v).item() == 1.0
    state = LinearState(torch.full((1, 1), 512.0, device=device), torch.full((1,), 512.0, device=device))
    _, state = linear_attention_step(state, q[0], q[0], q[0])
    assert state.keys.item() == 514.0 and state.keys.dtype == torch.float32


def test_tensors_on_several_devices_are_refused_with_a_sentence():
    q, k, v = draw(5, t=3, s=3)
    _, state = linear_attention_step(None, q[0], k[0], v[0])
    with pytest.raises(ValueError, match="the state is on meta, beside cpu: move one to the other"):
        linear_attention_step(LinearState(state.key_values.to("meta"), state.keys.to("meta")), q[1], k[1], v[1])
    for qkv, says in (((q, k.to("meta"), v), "k is on meta, beside cpu"), ((q, k, v.to("meta")), "v is on meta")):
        for attention in (linear_attention, model.attend, model.scaled_dot_product_attention):
            with pytest.raises(ValueError, match=says):
                attention(*qkv)
    gate = torch.zeros(3, dtype=torch.float64)
    with pytest.raises(ValueError, match="the state is on meta, beside cpu"):
        model.gated_delta_rule(q, k, v, gate, gate, state=state.key_values.to("meta"))
    with pytest.raises(ValueError, match="strength is on meta, beside cpu"):
        model.gated_delta_rule(q, k, v, gate, gate.to("meta"))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("arguments", "more", "error", "says"),
    [
        ((zeros(3, 4), zeros(5, 6), zeros(5, 2)), {}, ValueError, "head width 6, q has 4"),
        ((zeros(3, 4), zeros(5, 4), zeros(6, 2)), {}, ValueError, r"v has shape \(6, 2\)"),
        ((zeros(3, 4), zeros(5, 4), zeros(5, 2)), {"mask": zeros(1, 5)}, TypeError, "mask has dtype torch.float32"),
        ((zeros(3, 4), zeros(5, 4), zeros(5, 2)), {"mask": zeros(1, 4) > 0}, ValueError, r"mask has shape \(1, 4\)"),
        (
            (zeros(3, 4), zeros(5, 4), zeros(5, 2)),
            {"mask": zeros(3, 5) > 0},
            ValueError,
            r"mask has shape \(3, 5\): .* the same for all of them, with 1 in place of T = 3",
        ),
        (
            (zeros(3, 4), zeros(5, 4), zeros(5, 2)),
            {"causal": True},
            ValueError,
            "causal attention of 3 queries to 5 keys: their numbers must be equal",
        ),
    ],
)
def test_what_does_not_fit_is_named(arguments, more, error, says):
    with pytest.raises(error, match=says):
        linear_attention(*arguments, **more)


@pytest.mark.usefixtures("unchecked")
def test_a_state_of_other_sizes_is_refused():
    state = LinearState(zeros(2, 4, 3), zeros(2, 4))
    with pytest.raises(ValueError, match=r"the state has shape \(2, 4, 3\); wanted \(5, 4, 3\)"):
        linear_attention_step(state, zeros(5, 4), zeros(5, 4), zeros(5, 3))
    with pytest.raises(ValueError, match="head width 5, q has 4"):
        linear_attention_step(state, zeros(2, 4), zeros(2, 5), zeros(2, 3))
    with pytest.raises(ValueError, match="v has shape"):
        linear_attention_step(state, zeros(2, 4), zeros(2, 4), zeros(3, 3))


# The gated delta rule: step by step equals by chunks equals `transformers`, forward and backward.


def draw_gated(seed, t=11, dtype=torch.float64, batch=(2, 3)):
    luck = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(*batch, t, width, generator=luck, dtype=torch.float64) for width in (4, 4, 5))
    log_decay, strength = (torch.randn(*batch, t, generator=luck, dtype=torch.float64) for _ in range(2))
    inputs = (F.normalize(q, dim=-1), F.normalize(k, dim=-1), v, F.logsigmoid(log_decay), strength.sigmoid())
    return [x.to(dtype) for x in inputs]


def stepwise(inputs, state=None):
    outputs = []
    for t in range(inputs[0].shape[-2]):
        out, state = gated_delta_rule_step(state, *(x[:, :, t] for x in inputs))
        outputs.append(out)
    return torch.stack(outputs, dim=-2), state


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("chunk", [1, 4, 64])
def test_steps_and_chunks_equal_transformers(chunk, start):
    pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers.models.qwen3_next import modeling_qwen3_next as qwen

    inputs = draw_gated(0, dtype=torch.float32)
    state = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(1)) if start else None
    turned = [x.transpose(1, 2) for x in inputs]
    expected = qwen.torch_recurrent_gated_delta_rule(*turned, initial_state=state, output_final_state=True)
    for out, last in (gated_delta_rule(*inputs, state=state, chunk=chunk), stepwise(inputs, state)):
        torch.testing.assert_close(out, expected[0].transpose(1, 2), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(last, expected[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_chunks_equal_steps_and_hand_the_state_on(dtype):
    inputs = draw_gated(2, t=13, dtype=dtype)
    expected, last = stepwise(inputs)
    tolerance = 1e-12 if dtype == torch.float64 else 2e-2
    first, state = gated_delta_rule(*(x[:, :, :6] for x in inputs), chunk=4)
    before = state.clone()
    second, state_after = gated_delta_rule(*(x[:, :, 6:] for x in inputs), state=state, chunk=4)
    assert torch.equal(state, before) and first.dtype == dtype
    torch.testing.assert_close(torch.cat((first, second), dim=-2), expected, rtol=0, atol=tolerance)
    torch.testing.assert_close(state_after, last, rtol=0, atol=tolerance)


def test_a_strong_write_replaces_what_the_key_held_and_strong_decay_stays_finite():
    key, value = torch.tensor([1.0, 0.0]), torch.tensor([3.0, -1.0])
    state = torch.randn(2, 2, generator=torch.Generator().manual_seed(5))
    strength, nothing = torch.tensor(1.0), torch.tensor(0.0)
    out, after = gated_delta_rule_step(state, key, key, value, nothing, strength)
    torch.testing.assert_close(out, value / 2**0.5)
    torch.testing.assert_close(after[1], state[1])  # the other key's value stays
    inputs = draw_gated(6, t=64, dtype=torch.float32)
    inputs[3] = torch.full_like(inputs[3], -30.0)
    assert all(x.isfinite().all() for x in gated_delta_rule(*inputs))


@pytest.mark.parametrize("least", [-torch.inf, -1e30, -200.0])
@pytest.mark.parametrize("chunk", [1, 4, 64])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_gate_that_forgets_all_forgets_all_in_steps_and_chunks_and_on_the_way_back(dtype, chunk, least):
    inputs = draw_gated(8, t=13, dtype=dtype)
    inputs[3][..., [0, 5, 6, 11]] = least
    inputs[3][0, 0] = least
    inputs = [x.requires_grad_() for x in inputs]
    state = torch.randn(2, 3, 4, 5, dtype=dtype, requires_grad=True)
    grad = torch.randn(2, 3, 13, 5, dtype=dtype)
    results = []
    for out, last in (gated_delta_rule(*inputs, state=state, chunk=chunk), stepwise(inputs, state)):
        results.append([out, last, *torch.autograd.grad((out * grad).sum() + last.sum(), (*inputs, state))])
    for got, expected in zip(*results, strict=True):
        assert got.isfinite().all()
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-10 if dtype == torch.float64 else 1e-4)
    begun_late = [x.detach()[..., 6:, :] if x.ndim == 4 else x.detach()[..., 6:] for x in inputs]
    torch.testing.assert_close(results[0][0][..., 6:, :], gated_delta_rule(*begun_late)[0], rtol=0, atol=1e-5)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("shapes", "more", "says"),
    [
        (((3, 4), (3, 6), (3, 2), (3,), (3,)), {}, "head width 6, q has 4"),
        (((2, 4), (3, 4), (3, 2), (3,), (3,)), {}, "2 queries and 3 keys"),
        (((3, 4), (3, 4), (2, 2), (3,), (3,)), {}, r"v has shape \(2, 2\)"),
        (((3, 4), (3, 4), (3, 2), (2,), (3,)), {}, r"log_decay has shape \(2,\); wanted \(3,\)"),
        (((3, 4), (3, 4), (3, 2), (3,), (3, 1)), {}, r"strength has shape \(3, 1\); wanted \(3,\)"),
        (((3, 4), (3, 4), (3, 2), (3,), (3,)), {"state": zeros(2, 4)}, r"shape \(2, 4\); wanted \(4, 2\)"),
        (((3, 4), (3, 4), (3, 2), (3,), (3,)), {"chunk": 0}, "chunk must be at least 1; got 0"),
    ],
)
def test_what_does_not_fit_a_delta_rule_is_named(shapes, more, says):
    with pytest.raises(ValueError, match=says):
        gated_delta_rule(*(zeros(shape) for shape in shapes), **more)
