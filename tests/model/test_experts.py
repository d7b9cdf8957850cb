"""Mixture of experts: equal to the blocks of `transformers`, and the mistakes that real projects made are others."""

import pytest
import torch
from modern_twins import EXACT, NAMES, OURS, THEIRS, L, all_in_float64, lively, rows, step_by_step
from torch import zeros

from softlookup.model.parts.experts import Experts, Router
from softlookup.model.published._renaming import shapes, translated
from softlookup.model.whole.language import DecoderLM

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


def test_bias_steers_the_choice_and_never_reaches_the_weight():
    router = Router(D, E, 2, renormalise=False)
    x = torch.randn(9, D, generator=torch.Generator().manual_seed(3))
    router.bias[4] = 10.0
    weights, chosen = router(x)
    assert (chosen[:, 0] == 4).all()
    torch.testing.assert_close(weights, (x @ router.w).sigmoid().gather(-1, chosen))
    assert weights.max() < 1  # a bias that leaked would give 10 and more


def test_softmax_is_over_all_experts_once():
    router = Router(D, E, 2, gate="softmax", renormalise=False)
    x = torch.randn(9, D, generator=torch.Generator().manual_seed(4))
    weights, chosen = router(x)
    logits = x @ router.w
    torch.testing.assert_close(weights, logits.softmax(-1).gather(-1, chosen))
    assert (weights.sum(-1) < 0.99).all()  # a softmax over the chosen alone would sum to 1
    assert (weights - logits.softmax(-1).softmax(-1).gather(-1, chosen)).abs().max() > 1e-2
    summed, _ = Router(D, E, 2)(x)
    torch.testing.assert_close(summed.sum(-1), torch.ones(9))


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


def test_a_whole_model_with_experts_equals_that_of_transformers():
    hf = pytest.importorskip("transformers", reason="transformers is not installed")
    with all_in_float64():
        sizes = {"moe_intermediate_size": 20, "num_experts": E, "num_experts_per_tok": 3, "norm_topk_prob": True}
        described = hf.Qwen3MoeConfig(**(THEIRS | sizes))
        eager = {"attn_implementation": "eager", "experts_implementation": "eager"}
        hf_model = lively(hf.Qwen3MoeForCausalLM._from_config(described, **eager))
        config = OURS.but(qk_norm="head", n_experts=E, experts_per_token=3)
        hf_weights = {name: weight for name, weight in hf_model.state_dict().items() if ".mlp." not in name}
        dense = DecoderLM(config.but(n_experts=0)).double().state_dict()
        for i in range(L):  # placeholders, for names that a model with experts does not have
            for library_name, name in (("w_gate", "gate_proj"), ("w_1", "up_proj"), ("w_2", "down_proj")):
                hf_weights[f"model.layers.{i}.mlp.{name}.weight"] = dense[
                    f"decoder.layers.{i}.feed_forward.{library_name}"
                ].mT
        copied = translated(hf_weights, shapes(DecoderLM, config.but(n_experts=0)), NAMES, same={})
        copied = {name: weight for name, weight in copied.items() if "feed_forward.w" not in name}
        for i, layer in enumerate(hf_model.model.layers):
            gate, up = layer.mlp.experts.gate_up_proj.chunk(2, dim=1)
            parts = {"router.w": layer.mlp.gate.weight.mT, "router.bias": zeros(E), "w_gate": gate.mT, "w_1": up.mT}
            parts["w_2"] = layer.mlp.experts.down_proj.mT
            copied |= {f"decoder.layers.{i}.feed_forward.{name}": weight for name, weight in parts.items()}
        model = DecoderLM(config).double().eval()
        model.load_state_dict(copied)
        ids, real = rows()
        places = (real.long().cumsum(dim=1) - 1).clamp(min=0)
        expected = hf_model(input_ids=ids, attention_mask=real, position_ids=places).logits
        torch.testing.assert_close(model(ids, real)[real], expected[real], **EXACT)
        torch.testing.assert_close(step_by_step(model, ids, real)[0], expected[:, 6:], **EXACT)
