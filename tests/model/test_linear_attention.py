"""Linear attention: the sums taken once, and step by step, equal the weights written out."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import zeros

from softlookup import model
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
    st.integers(0, 10**6),
    st.sampled_from(BATCHES),
    st.sampled_from(list(TOLERANCE)),
    st.integers(1, 7),
    st.booleans(),
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
