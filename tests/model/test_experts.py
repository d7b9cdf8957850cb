"""Mixture of experts: a sum over the chosen ones; the bias keeps its bits, idle experts do no work.

That it equals the blocks of `transformers`: test_open_decoders.
"""

import pytest
import torch
from torch import zeros
from torch.nn.functional import silu

from softlookup.model.parts.experts import Experts, Router
from tests.refusing import refused

D, E, F = 8, 6, 5


@pytest.mark.parametrize("gate", ["sigmoid", "softmax"])
def test_output_is_the_weighted_sum_over_all_experts_with_its_gradient(gate):
    experts = Experts(Router(D, E, 3, gate=gate), F, n_shared=2).double()
    x = torch.randn(2, 7, D, dtype=torch.float64, requires_grad=True)
    weights, chosen = experts.router(x)
    shares = torch.zeros(2, 7, E, dtype=torch.float64).scatter(-1, chosen, weights)
    hidden = silu(torch.einsum("btd,edf->btef", x, experts.w_gate)) * torch.einsum("btd,edf->btef", x, experts.w_1)
    expected = torch.einsum("btef,efd,bte->btd", hidden, experts.w_2, shares) + experts.shared(x)
    got, leaves = experts(x), (x, *experts.parameters())
    torch.testing.assert_close(got, expected)
    grad = torch.randn_like(got)
    for a, b in zip(*(torch.autograd.grad(y, leaves, grad, retain_graph=True) for y in (got, expected)), strict=True):
        torch.testing.assert_close(a, b)


def test_experts_that_nobody_chose_do_no_work():
    experts = Experts(Router(D, E, 2), F)
    experts.router.bias[:2] = 10.0
    with torch.no_grad():
        experts.w_1[2:] = torch.nan  # a dense product would spread them
    assert experts(torch.randn(5, D)).isfinite().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_bias_stays_in_float32_in_a_model_of_fewer_bits_so_that_small_steps_count(dtype):
    router = Router(D, E, 2)
    router.bias += 0.777 * torch.linspace(-1, 1, E).sign()
    before = router.bias.clone()
    experts = Experts(router, F).to(dtype)
    assert experts.w_1.dtype == router.w.dtype == dtype and router.bias.dtype == torch.float32
    assert torch.equal(router.bias, before)  # not rounded on the way
    router.bias += 1e-3 * before.sign()
    torch.testing.assert_close(router.bias, before * (0.778 / 0.777), rtol=1e-6, atol=0)
    router.load_state_dict({"w": router.w, "bias": before})
    assert torch.equal(router.bias, before)
    assert router.to("meta").bias.dtype == torch.float32 and router.bias.is_meta
    assert router.to_empty(device="cpu").double().bias.dtype == torch.float64


test_what_does_not_fit_is_named = refused(
    (lambda: Router(D, 2, 3), "per_token is 3; wanted at most n_experts = 2"),
    (lambda: Router(D, 2, 1, gate="relu"), "gate is 'relu'; wanted one of sigmoid, softmax"),
    (lambda: Router(D, 0, 1), "sizes must be at least 1"),
    (lambda: Router(D, 2, 1)(zeros(3, 4)), r"x has shape \(3, 4\); wanted .* D = 8"),
    (lambda: Experts(Router(D, 2, 1), 0), "d_hidden 0"),
    (lambda: Experts(Router(D, 2, 1), F, n_shared=-1), "n_shared must be at least 0; got -1"),
)
