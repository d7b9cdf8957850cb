"""LoRA: nothing changes at first, adapters alone learn, merging keeps the outputs, files fit or are refused."""

import copy
import json

import pytest
import torch
from torch import nn

from softlookup.model import Config, DecoderLM, FastStep
from softlookup.model.parts.decoder_parts import DecoderParts
from softlookup.model.published import lora
from softlookup.model.published.families import llama_config, llama_weights
from softlookup.model.whole.weights import CheckpointError, read_tensors, write_tensors

IDS = torch.tensor([[5, 9, 200, 31, 7]])
ALL = ("w_q", "w_k", "w_v", "w_o", "w_gate", "w_1", "w_2")


def changed(model: nn.Module) -> nn.Module:
    """Let the adapters be anything but zero."""
    with torch.no_grad():
        for change in lora.lora_changes(model):
            change.b.normal_(std=0.3)
    return model


def test_nothing_changes_at_first_and_adapters_alone_have_gradients(tiny_chat) -> None:
    model = tiny_chat.model
    before = model(IDS)
    names = lora.add_lora(model, 3, 6, ALL)
    assert len(names) == 14 and names[0] == "decoder.layers.0.attention.w_q"
    torch.testing.assert_close(model(IDS), before, rtol=0, atol=0)
    changed(model)(IDS).square().sum().backward()
    with_gradient = {id(parameter) for parameter in model.parameters() if parameter.grad is not None}
    assert with_gradient == {id(parameter) for parameter in lora.lora_parameters(model)}
    assert all(parameter.grad.abs().sum() > 0 for parameter in lora.lora_parameters(model))


def test_the_change_is_alpha_over_rank_times_b_a(tiny_chat) -> None:
    attention = tiny_chat.model.decoder.layers[1].attention
    w = attention.w_q.detach().clone()
    lora.add_lora(tiny_chat.model, 2, 5, ["w_q"])
    changed(tiny_chat.model)
    change = attention.parametrizations["w_q"][0]
    expected = w + 2.5 * torch.einsum("or,ri->io", change.b, change.a)
    torch.testing.assert_close(attention.w_q, expected)
    bound = 1 / 16**0.5  # Kaiming with a = sqrt(5): 1 / sqrt(I)
    assert change.a.shape == (2, 16) and change.a.abs().max() <= bound and change.a.abs().max() > bound / 2


def test_the_count_is_rank_times_inputs_and_outputs(tiny_chat) -> None:
    total = sum(parameter.numel() for parameter in tiny_chat.model.parameters())
    lora.add_lora(tiny_chat.model, 3, 6, ["w_q", "w_v"])
    n_trained = 2 * 3 * ((16 + 16) + (16 + 8))
    assert lora.count_lora(tiny_chat.model) == (n_trained, n_trained / (total + n_trained))


@pytest.mark.parametrize("targets", [("w_q", "w_v"), ALL])
def test_merging_gives_the_outputs_and_a_plain_model(tiny_chat, targets) -> None:
    model = tiny_chat.model
    names = set(model.state_dict())
    lora.add_lora(model, 4, 8, targets)
    adapted = changed(model)(IDS).detach()
    fast = FastStep(model)
    state = fast.start()
    fast.step(IDS[:, :-1], state)
    torch.testing.assert_close(fast.step(IDS[:, -1:], state)[0], adapted[:, -1], rtol=0, atol=1e-5)
    lora.merge_lora(model)
    torch.testing.assert_close(model(IDS), adapted, rtol=0, atol=1e-5)
    assert set(model.state_dict()) == names and all(parameter.requires_grad for parameter in model.parameters())
    assert type(model.decoder.layers[0].attention).__name__ == "MultiHeadAttention"
    with pytest.raises(ValueError, match="the model has no LoRA adapters"):
        lora.merge_lora(model)


def test_a_base_of_half_precision_has_adapters_of_single_precision(tiny_chat) -> None:
    model = tiny_chat.model.to(torch.bfloat16)
    before = model(IDS)
    lora.add_lora(model, 2, 4)
    assert {parameter.dtype for parameter in lora.lora_parameters(model)} == {torch.float32}
    assert torch.equal(model(IDS), before) and not torch.equal(changed(model)(IDS), before)
    adapted = model(IDS)
    lora.merge_lora(model)
    assert torch.equal(model(IDS), adapted) and adapted.dtype == torch.bfloat16


def test_linear_layers_are_changed_by_their_names() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    x = torch.randn(5, 4)
    assert lora.add_lora(model, 2, 2, ["2"]) == ["2"]
    adapted = changed(model)(x)
    change = lora.lora_changes(model)[0]
    hidden = model[1](model[0](x))
    torch.testing.assert_close(adapted, model[2](hidden))
    original = model[2].parametrizations.weight.original
    torch.testing.assert_close(adapted, hidden @ (original + change.b @ change.a).T + model[2].bias)


def test_an_adapter_comes_back_from_its_files(tiny_chat, tmp_path) -> None:
    model, other = tiny_chat.model, copy.deepcopy(tiny_chat.model)
    lora.add_lora(model, 3, 7, ["w_q", "w_2"])
    adapted = changed(model)(IDS)
    lora.save_adapter(model, tmp_path / "a", base="tiny")
    config = lora.read_adapter_config(tmp_path / "a")
    assert config["target_modules"] == ["down_proj", "q_proj"] and config["base_model_name_or_path"] == "tiny"
    lora.load_adapter(other, tmp_path / "a")
    assert torch.equal(other(IDS), adapted)
    with pytest.raises(ValueError, match="has LoRA adapters already"):
        lora.load_adapter(other, tmp_path / "a")


def test_an_adapter_that_does_not_fit_is_refused_and_changes_nothing(tiny_chat, tmp_path) -> None:
    fresh = copy.deepcopy(tiny_chat.model)
    lora.add_lora(tiny_chat.model, 3, 7, ["w_q"])
    lora.save_adapter(tiny_chat.model, tmp_path)
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    for edit, message in (
        ({"r": 2}, r"has shape \(3, 16\), wanted \(2, 16\)"),
        ({"target_modules": ["query"]}, "it changes 'query'; the model has"),
        ({"target_modules": ["q_proj", "k_proj"]}, r"missing base_model.model.model.layers.0.self_attn.k_proj"),
        ({"target_modules": "q_proj"}, "wanted a list of names"),
        ({"use_dora": True}, "has use_dora True; plain LoRA alone"),
        ({"peft_type": "IA3"}, "describes no LoRA adapter"),
        ({"lora_alpha": None}, "wanted numbers above 0"),
    ):
        (tmp_path / "adapter_config.json").write_text(json.dumps(config | edit))
        with pytest.raises(CheckpointError, match=message):
            lora.load_adapter(fresh, tmp_path)
    with pytest.raises(ValueError, match="no LoRA adapters"):
        lora.lora_changes(fresh)
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match="does not fit this model"):
        lora.load_adapter(nn.Sequential(nn.Linear(3, 3)), tmp_path)
    with pytest.raises(FileNotFoundError, match="holds no adapter"):
        lora.load_adapter(fresh, tmp_path / "nowhere")


NOT_PLAIN = {
    "init_lora_weights": ["pissa", "pissa_niter_4", "olora", "corda", "loftq", "lora_ga", "PiSSA", 3],
    "bias": ["all", "lora_only"],
    "alora_invocation_tokens": [[5, 9]],
    "exclude_modules": [["k_proj"], "k_proj"],
    "layers_to_transform": [[0], 1, 0],
    "rank_pattern": [{"q_proj": 2}],
    "alpha_pattern": [{"q_proj": 2}],
    "trainable_token_indices": [[1]],
    "modules_to_save": [["lm_head"]],
    "target_parameters": [["experts.w"]],
    "layer_replication": [[[0, 1]]],
    "a_field_of_a_later_version": ["x", 1.5, True, {"a": 1}],
    **dict.fromkeys(("megatron_config", "velora_config", "monteclora_config", "use_bdlora"), [{"a": 1}]),
    **dict.fromkeys(("arrow_config", "kasa_config"), [{"a": 1}]),
    **dict.fromkeys(("fan_in_fan_out", "use_rslora", "use_dora", "use_qalora", "lora_bias"), [True]),
    "ensure_weight_tying": [True],
}
PLAIN = {
    "init_lora_weights": [True, False, None, "gaussian", "orthogonal", "eva", "mica"],
    "bias": ["none", None],
    "lora_dropout": [0.1],
    "megatron_core": ["megatron.core"],
    "qalora_group_size": [16],
    "layers_pattern": ["layers", None],
    "exclude_modules": [None, []],
    "alora_invocation_tokens": [None, []],
    "rank_pattern": [{}],
    "a_field_of_a_later_version": [None, False, [], {}],
}


def test_what_plain_lora_does_not_have_is_refused_by_its_name(tiny_chat, tmp_path) -> None:
    fresh = copy.deepcopy(tiny_chat.model)
    lora.add_lora(tiny_chat.model, 3, 7, ["w_q"])
    lora.save_adapter(tiny_chat.model, tmp_path)
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    for name, value in [(name, value) for name, values in NOT_PLAIN.items() for value in values]:
        (tmp_path / "adapter_config.json").write_text(json.dumps(config | {name: value}))
        with pytest.raises(CheckpointError, match=f"has {name} .*; plain LoRA alone is read"):
            lora.load_adapter(fresh, tmp_path)
    for name, value in [(name, value) for name, values in PLAIN.items() for value in values]:
        (tmp_path / "adapter_config.json").write_text(json.dumps(config | {name: value}))
        assert lora.read_adapter_config(tmp_path)["r"] == 3
    whole, header = read_tensors(tmp_path / "adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text(json.dumps(config))
    write_tensors(tmp_path / "adapter_model.safetensors", {n: t.to(torch.int8) for n, t in whole.items()}, header)
    with pytest.raises(CheckpointError, match=r"lora_A.weight has dtype torch.int8, wanted floating-point numbers"):
        lora.load_adapter(fresh, tmp_path)


def test_an_adapter_changes_its_matrices_alone_where_another_has_the_same_last_name(tmp_path) -> None:
    torch.manual_seed(0)
    sizes = {
        "d_model": 16,
        "n_heads": 2,
        "n_layers": 1,
        "max_length": 20,
        "norm": "rms",
        "activation": "swiglu",
        "pre_norm": True,
    }
    model = DecoderLM(Config(300, **sizes, parts=DecoderParts(output_gate=True))).eval()
    fresh, names = copy.deepcopy(model), lora.add_lora(model, 2, 4, ["w_gate"])
    assert names == ["decoder.layers.0.attention.w_gate", "decoder.layers.0.feed_forward.w_gate"]
    lora.save_adapter(changed(model), tmp_path)
    lora.load_adapter(fresh, tmp_path)
    assert torch.equal(fresh(IDS), model(IDS))
    tensors, header = read_tensors(tmp_path / "adapter_model.safetensors")
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    (tmp_path / "adapter_config.json").write_text(json.dumps(config | {"target_modules": ["gate_proj"]}))
    write_tensors(tmp_path / "adapter_model.safetensors", {n: t for n, t in tensors.items() if "mlp" in n}, header)
    lora.merge_lora(fresh)
    lora.load_adapter(fresh, tmp_path)
    assert len(lora.lora_changes(fresh)) == 1


def test_bad_settings_are_refused(tiny_chat) -> None:
    model = tiny_chat.model
    for settings, message in (
        ({"rank": 0}, "wanted a rank of at least 1"),
        ({"alpha": 0}, "a finite alpha above 0"),
        ({"alpha": float("inf")}, "a finite alpha above 0"),
        ({"targets": ["query"]}, "has no matrix 'query'; it has w_1"),
        ({"targets": []}, "targets is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            lora.add_lora(model, **settings)
    assert all(parameter.requires_grad for parameter in model.parameters())
    with pytest.raises(ValueError, match="add_lora adds them"):
        lora.count_lora(model)


PEFT_TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")  # of transformers and peft
@pytest.mark.parametrize("start", [True, False, "gaussian", "orthogonal", "eva", "mica"])
@pytest.mark.parametrize("tied", [True, False])
def test_peft_reads_and_writes_the_same_adapters(tmp_path, start, tied) -> None:
    peft = pytest.importorskip("peft")
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": 60, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 50}
    ids = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2}
    description = transformers.LlamaConfig(**sizes, **heads, **ids, tie_word_embeddings=tied)
    base = transformers.LlamaForCausalLM(description).eval()
    config = llama_config(description.to_dict())
    model = DecoderLM(config).eval()
    model.load_state_dict(llama_weights(base.state_dict(), config))
    fresh, tokens = copy.deepcopy(model), torch.tensor([[5, 9, 20, 31, 7]])

    targets = [*PEFT_TARGETS, *(() if tied else ("lm_head",))]
    settings = peft.LoraConfig(r=4, lora_alpha=7, target_modules=targets, init_lora_weights=start, lora_dropout=0.1)
    adapted = peft.get_peft_model(copy.deepcopy(base), settings).eval()
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_" in name:
                parameter.normal_(std=0.3)
    adapted.save_pretrained(tmp_path / "peft")
    lora.load_adapter(model, tmp_path / "peft")
    expected = adapted(tokens).logits
    torch.testing.assert_close(model(tokens), expected, rtol=0, atol=1e-5)
    assert lora.count_lora(model)[0] == sum(p.numel() for name, p in adapted.named_parameters() if "lora_" in name)

    lora.save_adapter(model, tmp_path / "library")
    again = peft.PeftModel.from_pretrained(copy.deepcopy(base), tmp_path / "library").eval()
    torch.testing.assert_close(again(tokens).logits, expected, rtol=0, atol=1e-5)

    if not tied:  # the frozen table of the output, which PEFT writes too, has to be the model's
        with torch.no_grad():
            fresh.head.w_out[3, 5] += 1
        with pytest.raises(CheckpointError, match="lm_head.base_layer.weight is another matrix than the model's"):
            lora.load_adapter(fresh, tmp_path / "peft")
