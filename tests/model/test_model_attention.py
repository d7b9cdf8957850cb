"""The torch forms: open equals fused, both equal the float64 reference, in values and in gradients."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from softlookup import model, reference

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
BATCHES = [(), (2,), (3, 2), (2, 1, 2)]
DTYPES = [torch.float64, torch.float32, torch.bfloat16]


def draw(seed, device, dtype=torch.float64, batch=(), t=3, s=5, h=4, hv=2):
    """Give q, k, v, a gradient of the output, and a mask; float64 numbers rounded to the dtype."""
    rng = np.random.default_rng(seed)
    shapes = ((t, h), (s, h), (s, hv), (t, hv))
    q, k, v, grad = (torch.from_numpy(rng.normal(size=(*batch, *shape))).to(device, dtype) for shape in shapes)
    return q, k, v, grad, torch.from_numpy(rng.random((*batch, t, s)) < 0.6).to(device)


def run(function, q, k, v, grad, mask):
    """Return output and gradients (dq, dk, dv) of one of the forms."""
    leaves = [x.detach().clone().requires_grad_() for x in (q, k, v)]
    out = function(*leaves, mask)
    out.backward(grad)
    return [out.detach(), *(leaf.grad for leaf in leaves)]


def in_the_open(q, k, v, mask):
    return model.attend(q, k, v, mask)[0]


def hiding_by_bias(form, share=0.0):
    """Give the form another way to hide keys: by -inf in a bias, and a share of them by the mask."""

    def hidden(q, k, v, mask):
        by_mask = mask | (torch.rand(mask.shape).to(mask.device) >= share)
        bias = torch.zeros(mask.shape, dtype=q.dtype, device=q.device).masked_fill(~mask, float("-inf"))
        out = form(q, k, v, by_mask if share else None, bias=bias)
        return out if isinstance(out, torch.Tensor) else out[0]

    return hidden


def numbers(x):
    return x.double().cpu().numpy()


@given(
    st.integers(0, 10**6),
    st.sampled_from(BATCHES),
    st.sampled_from(DTYPES),
    st.integers(1, 5),
    st.integers(1, 5),
    st.booleans(),
)
def test_open_and_fused_equal_the_reference_in_values_and_gradients(device, seed, batch, dtype, t, s, masked):
    q, k, v, grad, mask = draw(seed, device, dtype, batch, t, s)
    mask = mask if masked else None  # rows with nothing to see are among the drawn ones
    mask_np = None if mask is None else mask.cpu().numpy()
    arrays = [numbers(x) for x in (q, k, v)]
    expected = [
        reference.scaled_dot_product_attention(*arrays, mask_np),
        *reference.attention_backward(*arrays, numbers(grad), mask_np),
    ]
    for form in (in_the_open, model.scaled_dot_product_attention):
        for got, want in zip(run(form, q, k, v, grad, mask), expected, strict=True):
            assert got.dtype == dtype
            scale = max(1.0, abs(want).max())
            np.testing.assert_allclose(numbers(got), want, rtol=0, atol=TOLERANCE[dtype] * scale)


@pytest.mark.parametrize("form", [in_the_open, model.scaled_dot_product_attention], ids=["open", "fused"])
@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")
def test_rows_with_nothing_to_see_never_pass_through_nan_on_the_way_back(device, form):
    q, k, v, grad, mask = draw(2, device)
    mask[1] = False
    with torch.autograd.detect_anomaly(check_nan=True):
        run(form, q, k, v, grad, mask)


def test_fused_form_needs_no_help_from_torch_on_rows_with_nothing_to_see(device, monkeypatch):
    def textbook(q, k, v, attn_mask=None, scale=None, enable_gqa=False):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        hidden = attn_mask.dtype == torch.bool
        scores = scores.masked_fill(~attn_mask, float("-inf")) if hidden else scores + attn_mask
        return torch.softmax(scores, -1) @ v  # NaN in such rows, as some of torch's kernels have been

    q, k, v, grad, mask = draw(2, device)
    mask[1] = False
    expected = run(model.scaled_dot_product_attention, q, k, v, grad, mask)
    monkeypatch.setattr(F, "scaled_dot_product_attention", textbook)
    assert textbook(q, k, v, mask)[1].isnan().all()
    for form in (model.scaled_dot_product_attention, hiding_by_bias(model.scaled_dot_product_attention)):
        for got, want in zip(run(form, q, k, v, grad, mask), expected, strict=True):
            torch.testing.assert_close(got, want)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("share", [0.0, 0.5], ids=["bias alone", "bias and mask"])
@pytest.mark.parametrize("form", [model.attend, model.scaled_dot_product_attention], ids=["open", "fused"])
def test_minus_infinity_in_a_bias_hides_as_a_mask_does(device, dtype, share, form):
    q, k, v, grad, mask = draw(10, device, dtype, (2, 3))
    mask[0, 1, 1] = False
    for tested in (mask, mask[1, 2], torch.zeros_like(mask)):  # one shape for all, and a batch that sees nothing
        expected = run(in_the_open if form is model.attend else form, q, k, v, grad, tested)
        got = run(hiding_by_bias(form, share), q, k, v, grad, tested)
        for g, w in zip(got, expected, strict=True):
            assert g.dtype == dtype
            torch.testing.assert_close(g, w, rtol=0, atol=TOLERANCE[dtype])
        assert (got[0].masked_select(~tested.any(-1, keepdim=True)) == 0).all()


@pytest.mark.parametrize("form", [model.attend, model.scaled_dot_product_attention], ids=["open", "fused"])
def test_gradients_of_a_bias_hold_by_finite_differences_fully_hidden_rows_included(device, form):
    q, k, v, _, mask = draw(11, device)
    mask[1] = False
    bias = torch.randn(3, 5, dtype=torch.float64).to(device).requires_grad_()

    def mixed(bias):
        out = form(q, k, v, bias=bias.masked_fill(~mask, float("-inf")))
        return out if isinstance(out, torch.Tensor) else out[0]

    assert torch.autograd.gradcheck(mixed, bias)


def test_weights_rows_sum_to_one_or_zero(device):
    q, k, v, _, mask = draw(4, device, batch=(2,))
    mask[1, 2] = False
    out, weights = model.attend(q, k, v, mask)
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).double())
    assert (weights[~mask] == 0).all()
    torch.testing.assert_close(out, weights @ v)
    torch.testing.assert_close(weights, model.attention_weights(q, k, mask), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_survives_dot_products_that_overflow_and_many_small_weights(device, dtype):
    q = torch.full((1, 64), 64.0, device=device, dtype=dtype)
    k = q * torch.tensor([[1.0], [0.5]], device=device, dtype=dtype)  # 262144 before the division by 8
    assert model.attention_weights(q, k).tolist() == [[1.0, 0.0]]
    blind_last = torch.tensor([[False, True]], device=device)
    assert model.attention_weights(q, k, blind_last).tolist() == [[0.0, 1.0]]
    weights = model.attention_weights(torch.zeros_like(q), torch.zeros(4096, 64, device=device, dtype=dtype))
    assert weights.dtype == dtype
    assert weights.double().sum().item() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("form", [in_the_open, model.scaled_dot_product_attention], ids=["open", "fused"])
def test_scores_near_a_thousand_stay_finite_and_right(device, form):
    q, k, v, grad, _ = draw(5, device)
    k = k + 1000 * q[0] / (q[0] @ q[0])
    expected = reference.attention_backward(*map(numbers, (q, k, v, grad)))
    got = run(form, q, k, v, grad, None)
    np.testing.assert_allclose(
        numbers(got[0]), reference.scaled_dot_product_attention(*map(numbers, (q, k, v))), atol=1e-10
    )
    for g, w in zip(got[1:], expected, strict=True):
        np.testing.assert_allclose(numbers(g), w, atol=1e-8)


@pytest.mark.parametrize("form", [in_the_open, model.scaled_dot_product_attention], ids=["open", "fused"])
def test_inputs_are_left_unchanged_and_need_not_be_contiguous(device, form):
    q, k, v, grad, mask = draw(6, device, batch=(2,))
    expected = run(form, q, k, v, grad, mask)
    views = [x.mT.contiguous().mT for x in (q, k, v, grad, mask)]
    assert not any(x.is_contiguous() for x in views)
    for got, want in zip(run(form, *views), expected, strict=True):
        torch.testing.assert_close(got, want)
    for view, original in zip(views, (q, k, v, grad, mask), strict=True):
        assert torch.equal(view, original)
    again = run(form, q, k, v, grad, mask)
    assert all(torch.equal(a, b) for a, b in zip(again, expected, strict=True))


@pytest.mark.parametrize("shape", [(3, 5), (1, 5), (3, 1), (1, 1, 5), (2, 1, 5), (2, 3, 5)])
@pytest.mark.parametrize("form", [in_the_open, model.scaled_dot_product_attention], ids=["open", "fused"])
def test_masks_of_every_fitting_shape_equal_the_mask_written_out(device, form, shape):
    q, k, v, grad, _ = draw(7, device, batch=(2,))
    mask = torch.rand(shape) < 0.5
    expected = run(form, q, k, v, grad, mask.to(device).expand(2, 3, 5).contiguous())
    for got, want in zip(run(form, q, k, v, grad, mask.to(device)), expected, strict=True):
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("form", [in_the_open, model.scaled_dot_product_attention], ids=["open", "fused"])
def test_no_keys_at_all_give_zeros(device, form):
    q, k, v, _, mask = draw(8, device, s=0)
    assert torch.equal(form(q, k, v, None), q.new_zeros(3, 2))
    assert torch.equal(form(q, k, v, mask), q.new_zeros(3, 2))


def test_autocast_may_mix_dtypes(device):
    q, k, v, _, mask = draw(9, device, torch.float32)
    mask[1] = False
    expected = model.attend(q, k, v, mask)[0]
    with torch.autocast(device.type, dtype=torch.bfloat16):
        for form in (in_the_open, model.scaled_dot_product_attention):
            got = form(q.bfloat16(), k, v, mask)
            torch.testing.assert_close(got.float(), expected, rtol=0, atol=5e-2)
            assert (got[1] == 0).all()
