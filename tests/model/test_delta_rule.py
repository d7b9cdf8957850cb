"""The gated delta rule: step by step equals by chunks equals `transformers`, forward and backward."""

import pytest
import torch
import torch.nn.functional as F
from torch import zeros

from softlookup.model.parts.delta_rule import gated_delta_rule, gated_delta_rule_step


def draw(seed, t=11, dtype=torch.float64, batch=(2, 3)):
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

    inputs = draw(0, dtype=torch.float32)
    state = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(1)) if start else None
    turned = [x.transpose(1, 2) for x in inputs]
    expected = qwen.torch_recurrent_gated_delta_rule(*turned, initial_state=state, output_final_state=True)
    for out, last in (gated_delta_rule(*inputs, state=state, chunk=chunk), stepwise(inputs, state)):
        torch.testing.assert_close(out, expected[0].transpose(1, 2), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(last, expected[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_chunks_equal_steps_and_hand_the_state_on(dtype):
    inputs = draw(2, t=13, dtype=dtype)
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
    inputs = draw(6, t=64, dtype=torch.float32)
    inputs[3] = torch.full_like(inputs[3], -30.0)
    assert all(x.isfinite().all() for x in gated_delta_rule(*inputs))


@pytest.mark.parametrize("least", [-torch.inf, -1e30, -200.0])
@pytest.mark.parametrize("chunk", [1, 4, 64])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_gate_that_forgets_all_forgets_all_in_steps_and_chunks_and_on_the_way_back(dtype, chunk, least):
    inputs = draw(8, t=13, dtype=dtype)
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
def test_what_does_not_fit_is_named(shapes, more, says):
    with pytest.raises(ValueError, match=says):
        gated_delta_rule(*(zeros(shape) for shape in shapes), **more)
