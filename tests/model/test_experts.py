"""Mixture of experts: equal to the blocks of `transformers`; the bias keeps its bits, idle experts do no work."""

import pytest
import torch
from torch import zeros

from softlookup.model.parts.experts import Experts, Router

D, E, F = 8, 6, 5


def hf_block(kind, **more):
    pytest.importorskip("transformers", reason="transformers is not installed")
    sizes = {"hidden_size": D, "moe_intermediate_size": F, "num_experts_per_tok": 3, "norm_topk_prob": True, **more}
    if kind == "sigmoid":
        from transformers import DeepseekV3Config
        from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3MoE

        groups = {"n_routed_experts": E, "n_group": 1, "topk_group": 1, "n_shared_experts": 2}
        block = DeepseekV3MoE(DeepseekV3Config(**sizes, **groups, routed_scaling_factor=2.5))
    else:
        from transformers import Qwen3MoeConfig
        from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeSparseMoeBlock

        block = Qwen3MoeSparseMoeBlock(Qwen3MoeConfig(**sizes, num_experts=E))
    luck = torch.Generator().manual_seed(0)
    for tensor in (*block.parameters(), *block.buffers()):
        tensor.data = torch.randn(tensor.shape, generator=luck)
    return block


def library_experts(block, kind, renormalise=True):
    router = Router(D, E, 3, gate=kind, renormalise=renormalise, factor=2.5 if kind == "sigmoid" else 1.0)
    experts = Experts(router, F, n_shared=2 if kind == "sigmoid" else 0)
    gate, up = block.experts.gate_up_proj.chunk(2, dim=1)
    values = {"router.w": block.gate.weight.mT, "router.bias": router.bias, "w_gate": gate.mT, "w_1": up.mT}
    values["w_2"] = block.experts.down_proj.mT
    if kind == "sigmoid":
        values["router.bias"] = block.gate.e_score_correction_bias
        for name, other in (("w_gate", "gate_proj"), ("w_1", "up_proj"), ("w_2", "down_proj")):
            values[f"shared.{name}"] = getattr(block.shared_experts, other).weight.mT
    experts.load_state_dict(values)
    return experts


@pytest.mark.parametrize("renormalise", [True, False])
@pytest.mark.parametrize("kind", ["sigmoid", "softmax"])
def test_block_equals_that_of_transformers(kind, renormalise):
    block = hf_block(kind, norm_topk_prob=renormalise)
    experts = library_experts(block, kind, renormalise)
    x = torch.randn(2, 7, D, generator=torch.Generator().manual_seed(1), requires_grad=True)
    got, expected = experts(x), block(x)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)
    grad = torch.randn(got.shape, generator=torch.Generator().manual_seed(2))
    gradient, expected_gradient = (torch.autograd.grad(y, x, grad)[0] for y in (got, expected))
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-4, atol=1e-4)
    _, weights, chosen = block.gate(x)
    my_weights, my_chosen = experts.router(x.reshape(-1, D))
    order, my_order = chosen.argsort(-1), my_chosen.argsort(-1)
    assert torch.equal(my_chosen.gather(-1, my_order), chosen.gather(-1, order))
    torch.testing.assert_close(my_weights.gather(-1, my_order), weights.gather(-1, order))


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


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Router(D, 2, 3), "per_token is 3; wanted at most n_experts = 2"),
        (lambda: Router(D, 2, 1, gate="relu"), "gate is 'relu'; wanted one of sigmoid, softmax"),
        (lambda: Router(D, 0, 1), "sizes must be at least 1"),
        (lambda: Router(D, 2, 1)(zeros(3, 4)), r"x has shape \(3, 4\); wanted .* D = 8"),
        (lambda: Experts(Router(D, 2, 1), 0), "d_hidden 0"),
        (lambda: Experts(Router(D, 2, 1), F, n_shared=-1), "n_shared must be at least 0; got -1"),
    ],
)
def test_what_does_not_fit_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()
