"""Tile by tile equals all at once: values and gradients, any block, any mask; and nothing as large as T*S is held."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import zeros
from torch.utils._python_dispatch import TorchDispatchMode

from softlookup.model.parts.attention import attend
from softlookup.model.parts.tiled_attention import tiled_attention

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 3e-2}
BATCHES = [(), (2,), (2, 3)]


def draw(seed, device="cpu", dtype=torch.float64, batch=(), t=5, s=7, h=4, hv=3):
    luck = torch.Generator().manual_seed(seed)
    shapes = ((t, h), (s, h), (s, hv), (t, hv))
    q, k, v, grad = (
        torch.randn(*batch, *shape, generator=luck, dtype=torch.float64).to(device, dtype) for shape in shapes
    )
    return q, k, v, grad, (torch.rand(*batch, t, s, generator=luck) < 0.6).to(device)


def run(function, q, k, v, grad):
    leaves = [x.detach().clone().requires_grad_() for x in (q, k, v)]
    out = function(*leaves)
    out.backward(grad)
    return [out.detach(), *(leaf.grad for leaf in leaves)]


@given(
    st.integers(0, 10**6),
    st.sampled_from(BATCHES),
    st.sampled_from(list(TOLERANCE)),
    st.integers(1, 6),
    st.integers(1, 9),
    st.integers(1, 10),
    st.booleans(),
)
def test_tiles_equal_attend_in_values_and_gradients(device, seed, batch, dtype, t, s, block, masked):
    q, k, v, grad, mask = draw(seed, device, dtype, batch, t, s)
    mask = mask if masked else None  # rows with nothing to see are among the drawn ones
    expected = run(lambda *x: attend(*x, mask)[0], *(x.double() for x in (q, k, v, grad)))
    got = run(lambda *x: tiled_attention(*x, mask, block=block), q, k, v, grad)
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == dtype
        torch.testing.assert_close(a.double(), b, rtol=0, atol=TOLERANCE[dtype] * max(1.0, b.abs().max().item()))


@pytest.mark.parametrize("block", [1, 3, 7, 64])
def test_causal_equals_torch(device, block):
    q, k, v, grad, _ = draw(1, device, batch=(2, 3), t=7)
    expected = run(lambda *x: F.scaled_dot_product_attention(*x, is_causal=True), q, k, v, grad)
    got = run(lambda *x: tiled_attention(*x, causal=True, block=block), q, k, v, grad)
    for a, b in zip(got, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def test_causal_and_a_mask_go_together(device):
    q, k, v, grad, mask = draw(2, device, batch=(2,), t=7)
    both = mask & torch.ones(7, 7, dtype=torch.bool, device=device).tril()
    expected = run(lambda *x: attend(*x, both)[0], q, k, v, grad)
    got = run(lambda *x: tiled_attention(*x, mask, causal=True, block=3), q, k, v, grad)
    for a, b in zip(got, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(5, 7), (1, 7), (5, 1), (1, 1, 7), (2, 1, 7), (2, 5, 1), (2, 5, 7)])
def test_masks_of_every_fitting_shape_equal_the_mask_written_out(device, shape):
    q, k, v, grad, _ = draw(3, device, batch=(2,))
    mask = (torch.rand(shape) < 0.5).to(device)
    expected = run(lambda *x: attend(*x, mask.expand(2, 5, 7))[0], q, k, v, grad)
    got = run(lambda *x: tiled_attention(*x, mask, block=3), q, k, v, grad)
    for a, b in zip(got, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("block", [1, 2, 4, 64])
def test_rows_with_nothing_to_see_and_late_first_sights_never_make_nan(device, block):
    q, k, v, grad, mask = draw(4, device, batch=(2,))
    mask[0, 1] = False
    mask[1, :, :6] = False  # nothing but the last key, after tiles of nothing
    mask[1, :, 6] = True
    out, dq, dk, dv = run(lambda *x: tiled_attention(*x, mask, block=block), q, k, v, grad)
    assert (out[0, 1] == 0).all() and (dq[0, 1] == 0).all()
    torch.testing.assert_close(out[1], v[1, 6:7].expand(5, 3), rtol=0, atol=1e-14)
    assert all(x.isfinite().all() for x in (dq, dk, dv))
    for result in run(lambda *x: tiled_attention(*x, torch.zeros_like(mask), block=block), q, k, v, grad):
        assert (result == 0).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("rising", [True, False])
def test_large_scores_stay_finite_and_right_in_either_order(device, dtype, rising):
    q = torch.ones(1, 1, device=device, dtype=dtype)
    k = torch.arange(-4, 5, device=device, dtype=dtype)[:, None] * 1000
    k = k if rising else k.flip(0)
    v = torch.arange(9, device=device, dtype=dtype)[:, None]
    for block in (1, 2, 4, 9):
        assert tiled_attention(q, k, v, block=block).item() == (8 if rising else 0)


def test_half_precision_survives_dot_products_that_overflow(device):
    q = torch.full((1, 64), 64.0, device=device, dtype=torch.float16)
    k = q * torch.tensor([[1.0], [0.5]], device=device, dtype=torch.float16)  # 262144 before the division by 8
    v = torch.tensor([[1.0], [2.0]], device=device, dtype=torch.float16)
    assert tiled_attention(q, k, v, block=1).tolist() == [[1.0]]


def test_gradients_hold_by_finite_differences(device):
    q, k, v, _, mask = draw(5, device, batch=(2,), t=4, s=4)
    mask[0, 1] = False
    leaves = [x.requires_grad_() for x in (q, k, v)]
    assert torch.autograd.gradcheck(lambda *x: tiled_attention(*x, mask, block=3), leaves)
    assert torch.autograd.gradcheck(lambda *x: tiled_attention(*x, causal=True, block=3), leaves)


class LargestTensor(TorchDispatchMode):
    """Watch every operation, and keep the size of the largest tensor that one gives."""

    def __init__(self):
        super().__init__()
        self.size = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if isinstance(tensor, torch.Tensor):
                self.size = max(self.size, tensor.numel())
        return out


@pytest.mark.parametrize("causal", [False, True])
def test_neither_way_holds_more_than_one_tile_of_scores(causal):
    t, block = 96, 8
    q, k, v, grad, _ = draw(6, t=t, s=t)
    with LargestTensor() as watched:
        run(lambda *x: tiled_attention(*x, causal=causal, block=block), q, k, v, grad)
    assert watched.size == t * block
    with LargestTensor() as watched:
        attend(q, k, v)
    assert watched.size == t * t  # the watch sees what the open form holds


def test_no_keys_at_all_give_zeros(device):
    q, k, v, grad, mask = draw(7, device, s=0)
    for m in (None, mask):
        out, *grads = run(lambda *x, m=m: tiled_attention(*x, m), q, k, v, grad)
        assert torch.equal(out, q.new_zeros(5, 3)) and all((g == 0).all() for g in grads)


def test_inputs_are_left_unchanged_and_need_not_be_contiguous(device):
    q, k, v, grad, mask = draw(8, device, batch=(2,))
    expected = run(lambda *x: tiled_attention(*x, mask, block=2), q, k, v, grad)
    views = [x.mT.contiguous().mT for x in (q, k, v, grad)]
    for a, b in zip(run(lambda *x: tiled_attention(*x, mask, block=2), *views), expected, strict=True):
        torch.testing.assert_close(a, b)
    assert all(torch.equal(a, b) for a, b in zip(views, (q, k, v, grad), strict=True))


def test_only_what_asks_for_a_gradient_gets_one():
    q, k, v, grad, _ = draw(9)
    v.requires_grad_()
    tiled_attention(q, k, v, block=2).backward(grad)
    torch.testing.assert_close(v.grad, attend(q, k, v)[1].detach().mT @ grad)
    assert q.grad is None and k.grad is None


def test_autocast_may_mix_dtypes(device):
    q, k, v, grad, mask = draw(11, device, torch.float32)
    expected = run(lambda *x: attend(*x, mask)[0], q, k, v, grad)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        got = run(lambda *x: tiled_attention(*x, mask, block=3), q.bfloat16(), k, v, grad.bfloat16())
    for a, b in zip(got, expected, strict=True):
        torch.testing.assert_close(a.float(), b, rtol=0, atol=5e-2)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((zeros(3, 4), zeros(5, 6), zeros(5, 2)), ValueError, "head width 6, q has 4"),
        ((zeros(3, 4), zeros(5, 4), zeros(6, 2)), ValueError, r"v has shape \(6, 2\)"),
        ((zeros(3, 4), zeros(5, 4), zeros(5, 2), zeros(3, 4) > 0), ValueError, r"mask has shape \(3, 4\)"),
        ((zeros(3, 4), zeros(5, 4), zeros(5, 2), zeros(3, 5)), TypeError, "mask has dtype torch.float32"),
        ((zeros(3, 4), zeros(5, 4).double(), zeros(5, 2)), TypeError, "k has dtype torch.float64"),
    ],
)
def test_what_does_not_fit_is_named(arguments, error, says):
    with pytest.raises(error, match=says):
        tiled_attention(*arguments)


def test_causal_with_other_numbers_of_keys_and_empty_tiles_are_refused():
    q, k, v, _, _ = draw(10)
    with pytest.raises(ValueError, match="causal attention of 5 queries to 7 keys: their numbers must be equal"):
        tiled_attention(q, k, v, causal=True)
    with pytest.raises(ValueError, match="block must be at least 1 key; got 0"):
        tiled_attention(q, k, v, block=0)
