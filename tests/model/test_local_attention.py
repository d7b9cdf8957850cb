"""Local attention in blocks equals attention to everything under a window mask."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import zeros

from softlookup.model.parts.attention import attend
from softlookup.model.parts.local_attention import local_attention

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 3e-2}


def window(length, width, causal):
    """Write the window out, pair by pair."""
    return torch.tensor(
        [[(0 <= t - s < width) if causal else abs(t - s) < width for s in range(length)] for t in range(length)]
    )


def run(function, q, k, v, grad):
    leaves = [x.detach().clone().requires_grad_() for x in (q, k, v)]
    out = function(*leaves)
    out.backward(grad)
    return [out.detach(), *(leaf.grad for leaf in leaves)]


@given(
    st.integers(0, 10**6),
    st.sampled_from([(), (2,), (2, 3)]),
    st.sampled_from(list(TOLERANCE)),
    st.integers(1, 13),
    st.integers(1, 15),
    st.booleans(),
)
def test_blocks_equal_attend_under_the_window_in_values_and_gradients(device, seed, batch, dtype, t, width, causal):
    luck = torch.Generator().manual_seed(seed)
    q, k, v, grad = (
        torch.randn(*batch, t, h, generator=luck, dtype=torch.float64).to(device, dtype) for h in (4, 4, 3, 3)
    )
    mask = window(t, width, causal).to(device)
    expected = run(lambda *x: attend(*x, mask)[0], *(x.double() for x in (q, k, v, grad)))
    got = run(lambda *x: local_attention(*x, width, causal=causal), q, k, v, grad)
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == dtype
        torch.testing.assert_close(a.double(), b, rtol=0, atol=TOLERANCE[dtype] * max(1.0, b.abs().max().item()))


def test_a_window_of_one_gives_each_its_own_value(device):
    q, v = torch.randn(5, 4, device=device), torch.randn(5, 2, device=device)
    assert torch.equal(local_attention(q, q, v, 1), v)
    assert torch.equal(local_attention(q, q, v, 1, causal=False), v)


def test_no_tokens_give_nothing(device):
    q, v = zeros(2, 0, 4, device=device), zeros(2, 0, 3, device=device)
    assert local_attention(q, q, v, 3).shape == (2, 0, 3)


def test_work_grows_with_the_length_and_not_with_its_square():
    from torch.utils.flop_counter import FlopCounterMode

    def flops(length):
        x = torch.empty(1, 1, length, 8, device="meta")
        with FlopCounterMode(display=False) as counter:
            local_attention(x, x, x, 16)
        return counter.get_total_flops()

    assert flops(4096) == 4 * flops(1024) > 0
    assert flops(1024) == 4 * 1024 * 16 * (8 + 8)  # as the docstring says


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((zeros(3, 4), zeros(3, 6), zeros(3, 2), 2), ValueError, "head width 6, q has 4"),
        ((zeros(3, 4), zeros(3, 4), zeros(4, 2), 2), ValueError, r"v has shape \(4, 2\)"),
        ((zeros(3, 4), zeros(5, 4), zeros(5, 2), 2), ValueError, "q has 3 positions, k has 5: a window needs as many"),
        (
            (zeros(3, 4), zeros(3, 4), zeros(3, 2), 0),
            ValueError,
            "width must be at least 1, the position itself; got 0",
        ),
        ((zeros(3, 4), zeros(3, 4).double(), zeros(3, 2), 2), TypeError, "k has dtype torch.float64"),
    ],
)
def test_what_does_not_fit_is_named(arguments, error, says):
    with pytest.raises(error, match=says):
        local_attention(*arguments)
