"""A tiny random model of each open decoder, made by `transformers`, and the same by this library: equal logits."""

import json
import re

import pytest
import torch
from modern_twins import EXACT, all_in_float64, step_by_step

from softlookup.describing.filled_entries import decoder_defaults
from softlookup.describing.read_layers import DECODERS
from softlookup.describing.runnable import RUNNABLE, TURN_PART_OF_A_HEAD
from softlookup.model import Config, DecoderLM, decoder_config, decoder_weights
from softlookup.model.parts.cache import LayerCache
from softlookup.model.parts.decoder_parts import DecoderParts, DeltaLayers
from softlookup.model.parts.delta_mixer import GatedDeltaMixer
from softlookup.model.parts.experts import Router
from softlookup.model.parts.positions import RotaryPositions
from softlookup.model.parts.rotary_scaling import RotaryScaling
from softlookup.roofline import config_json
from tests.refusing import refused

pytest.importorskip("transformers", reason="transformers is not installed")

from tests.roofline.published_files import FILES  # noqa: E402
from tests.roofline.tiny_decoders import build, tiny  # noqa: E402

pytestmark = pytest.mark.usefixtures("unchecked")  # checks of shapes take longer than these models
ENDS = {"eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}


def config_of(model_type, **changes):
    """A tiny config, with heads so wide that a quarter of them makes whole pairs."""
    config = tiny(model_type)
    return config | ({"head_dim": 16} if config.get("head_dim") == 10 else {}) | changes


def pair(config, strength, dtype=torch.float32):
    """Build both with the same weights, away from zeros and ones by so much."""
    torch.manual_seed(1)
    hf_model = build(config, "cpu").eval()
    tensors = [*hf_model.parameters(), *(t for name, t in hf_model.named_buffers() if "bias" in name)]
    with torch.no_grad():
        for tensor in tensors:
            tensor.copy_(tensor.nan_to_num().clamp(-2, 2) + strength * torch.randn_like(tensor))
    description = json.loads(json.dumps(hf_model.config.to_dict()))
    model = DecoderLM(decoder_config(description)).to(dtype).eval()
    hf_model = hf_model.to(dtype)
    model.load_state_dict(decoder_weights(hf_model.state_dict(), model.config, config["model_type"]))
    return model, hf_model


def rows():
    """Three rows of 15 tokens, filled up on the left; and which are real."""
    real = torch.arange(15) >= torch.tensor([[0], [6], [2]])
    return torch.randint(3, 51, (3, 15)).masked_fill(~real, 0), real


def assert_equal_in_float64(config):
    with all_in_float64(), torch.no_grad():
        model, hf_model = pair(config, 0.2, torch.float64)
        ids, real = rows()
        places = (real.long().cumsum(dim=1) - 1).clamp(min=0)
        expected = hf_model(input_ids=ids, attention_mask=real, position_ids=places).logits
        torch.testing.assert_close(model(ids, real)[real], expected[real], **EXACT)
        torch.testing.assert_close(step_by_step(model, ids, real)[0], expected[:, 6:], **EXACT)
    return model


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", sorted(RUNNABLE))
def test_logits_are_those_of_transformers_whole_and_step_by_step(name):
    model, hf_model = pair(config_of(name), 0.05)
    ids = torch.randint(3, 51, (2, 15))
    with torch.no_grad():
        expected = hf_model(input_ids=ids).logits
        assert expected.std() > 0.02  # Cohere divides by 16
        torch.testing.assert_close(model(ids), expected, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(step_by_step(model, ids)[0], expected[:, 6:], rtol=1e-5, atol=1e-5)
    assert name == "hyperclovax" or decoder_config(config_of(name)) == model.config  # entries that are left out


@pytest.mark.parametrize("name", ["cohere2", "deepseek_v3", "gemma3_text", "gpt_oss", "hunyuan_v1_dense", "qwen3_next"])
def test_rows_filled_up_on_the_left_are_exact_in_float64(name):
    assert_equal_in_float64(config_of(name))


YARN = {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1, "original_max_position_embeddings": 32}
LATENT_YARN = YARN | {"mscale": 0.7, "mscale_all_dim": 0.7}
LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
TYPES = ["sliding_attention", "full_attention", "full_attention", "sliding_attention", "sliding_attention"]
LINEAR = ["full_attention", "linear_attention", "linear_attention", "full_attention", "linear_attention"]
GLOBAL = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}}


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("afmoe", {"mup_enabled": True, "route_scale": 1.5}),
        ("cohere2", {"layer_types": TYPES, "logit_scale": 0.5}),
        ("deepseek_v3", {"rope_scaling": LATENT_YARN, "n_routed_experts": 6, "n_group": 3, "topk_group": 2}),
        ("deepseek_v3", {"q_lora_rank": None, "norm_topk_prob": False, "first_k_dense_replace": 0}),
        ("exaone4", {"sliding_window": None, "layer_types": ["full_attention"] * 5}),
        ("gemma2", {"query_pre_attn_scalar": 9, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 1.0}),
        ("gemma3_text", {"rope_parameters": {"sliding_attention": {"rope_type": "default"}, **GLOBAL}}),
        ("gemma3_text", {"rope_theta": 5e5, "rope_local_base_freq": 50.0, "rope_scaling": GLOBAL["full_attention"]}),
        ("glm4_moe", {"use_qk_norm": True, "attention_bias": True, "routed_scaling_factor": 1.5}),
        ("gpt_oss", {"swiglu_limit": 0.5, "layer_types": TYPES, "rope_theta": 500.0, "rope_scaling": YARN}),
        ("granite", {"attention_multiplier": 0.3, "embedding_multiplier": 3.0, "residual_multiplier": 0.4}),
        ("granite", {"logits_scaling": 3.0, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
        ("hyperclovax", {"use_post_norm": False}),
        ("llama", {"rope_parameters": {"rope_type": "llama3", "rope_theta": 500.0, **LLAMA3}}),
        ("mixtral", {"sliding_window": 4}),
        ("phi3", {"rope_parameters": {"rope_type": "default", "rope_theta": 70.0, "partial_rotary_factor": 0.5}}),
        ("qwen2", {"use_sliding_window": True, "max_window_layers": 2}),
        ("qwen2_moe", {"norm_topk_prob": True, "decoder_sparse_step": 2, "qkv_bias": False}),
        ("qwen3_moe", {"norm_topk_prob": True, "mlp_only_layers": [0, 3]}),
        ("qwen3_next", {"layer_types": LINEAR, "mlp_only_layers": [1], "attention_bias": True}),
        ("smollm3", {"no_rope_layers": [0, 1, 1, 0, 0]}),
        ("stablelm", {"use_parallel_residual": True, "use_qkv_bias": True}),
    ],
)
def test_entries_set_away_from_their_defaults_are_felt_alike(name, changes):
    model = assert_equal_in_float64(config_of(name, **changes))
    assert name == "hyperclovax" or decoder_config(config_of(name, **changes)) == model.config  # older entries, too


@pytest.mark.parametrize("name", [name for name, file in FILES.items() if file["model_type"] in RUNNABLE])
def test_published_files_build_models_with_as_many_weights(name):
    with torch.device("meta"):
        model = DecoderLM(decoder_config(FILES[name] | ENDS))
    assert sum(weight.numel() for weight in model.parameters()) == config_json.sizes(FILES[name]).total


@pytest.mark.slow
def test_deepseek_v3_builds_whole():
    more = {"quantization_config": {"fmt": "e4m3"}, "moe_layer_freq": 1, "scoring_func": "sigmoid", "n_group": 8}
    more |= {"topk_group": 4, "topk_method": "noaux_tc", "rope_theta": 10000, "num_nextn_predict_layers": 1}
    more |= {"rope_scaling": YARN | {"mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096}}
    config = decoder_config(config_json.QUOTED["DeepSeek-V3"] | more | ENDS)
    with torch.device("meta"):
        model = DecoderLM(config)
    attention, experts = model.decoder.layers[3].attention, model.decoder.layers[3].feed_forward
    assert sum(weight.numel() for weight in model.parameters()) == 671_026_419_200 - 58 * 256
    assert attention.scale == pytest.approx(192**-0.5 * 1.3688879454113936**2)  # 0.1 ln 40 + 1
    assert (experts.router.groups, experts.router.chosen_groups, experts.router.factor) == (8, 4, 2.5)
    assert not hasattr(model.decoder.layers[2].feed_forward, "router")


@pytest.mark.parametrize(("name", "words"), [("qwen3_moe", "gate_proj up_proj down_proj"), ("mixtral", "w1 w3 w2")])
def test_files_with_a_tensor_for_each_expert_are_read(name, words):
    model, hf_model = pair(config_of(name), 0.2)
    gate, up, down = words.split()
    tensors = {}
    for path, tensor in hf_model.state_dict().items():
        stem, _, piece = path.partition(".experts.")
        for expert in range(5 if piece else 0):
            halves = tensor[expert].chunk(2) if piece == "gate_up_proj" else tensor[expert : expert + 1]
            for word, part in zip((gate, up) if piece == "gate_up_proj" else (down,), halves, strict=True):
                tensors[f"{stem}.experts.{expert}.{word}.weight"] = part
        tensors |= {} if piece else {path: tensor}
    got = decoder_weights(tensors, model.config, name)
    assert all(torch.equal(got[path], tensor) for path, tensor in model.state_dict().items())


def test_states_are_selected_by_rows_and_not_cut():
    model = DecoderLM(decoder_config(config_of("qwen3_5_text"))).eval()
    ids = torch.randint(3, 51, (3, 12))
    order = torch.tensor([2, 0])
    with torch.no_grad():
        whole = model(ids)
        _, state = model.step(ids[:, :7])
        size = state.bytes
        state = state.select(order)
        assert state.length == 7 and state.bytes * 3 == size * 2
        logits, state = model.step(ids[order, 7:], state)
    torch.testing.assert_close(logits, whole[order, -1], rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="a recurrent state cannot be cut from 12 positions to 9"):
        state.layers[0].cut(9)
    state.layers[0].cut(12)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("mamba", {}, r"state space \(Mamba\) is not in this library"),
        ("kimi_linear", {}, r"linear attention \(Kimi delta attention\) is not in this library"),
        ("deepseek_v32", {}, "an indexer is not in this library"),
        ("lfm2", {}, "short convolution over 3 positions is not in this library"),
        ("apertus", {}, "the model_type 'apertus' is not in this library"),
        ("cohere", {"use_qk_norm": True}, "LayerNorm of queries and keys is not in this library"),
        ("deepseek_v3", {"attention_bias": True}, r"latent attention \(MLA\) with biases, a gate or sinks"),
        ("deepseek_v3", {"rope_scaling": YARN | {"mscale": 1}}, "YaRN multiplies sines by .* in latent attention"),
        ("deepseek_v2", {"n_group": 2}, "n_group is 2; this library has 1 alone"),
        ("llama", {"rope_scaling": {"type": "dynamic", "factor": 2.0}}, "'dynamic'; this library has default, linear"),
        ("llama", {"rope_scaling": YARN | {"beta": 3}}, "rotary positions have {'beta': 3} beside yarn"),
        ("llama", {"rope_theta": "1e4"}, "rope_theta is '1e4'; wanted a number"),
        ("llama", {"rope_scaling": 8}, "rope_scaling is 8; wanted a mapping"),
        ("llama", {"strange": 8}, "^strange = 8: not understood for model_type 'llama'"),
        ("mixtral", {"hidden_act": "gelu_pytorch_tanh"}, "this library's experts have silu and a gate"),
        ("gpt_oss", {"swiglu_alpha": 2.0}, "swiglu_alpha is 2.0; this library has 1.702 alone"),
    ],
)
def test_parts_that_are_not_here_are_named(name, changes, message):
    with pytest.raises(ValueError, match=message):
        decoder_config(config_of(name, **changes))


SCALED = {
    "linear": {"factor": 8.0},
    "llama3": LLAMA3,
    "yarn": YARN | {"attention_factor": 1.5, "mscale": 0.7, "mscale_all_dim": 0.7, "truncate": False},
}
NEEDED = {"linear": ["factor"], "llama3": ["factor", "low_freq_factor", "high_freq_factor"], "yarn": ["factor"]}


@pytest.mark.parametrize("kind", SCALED)
def test_every_number_of_scaled_rotary_positions_is_needed_or_has_a_default_and_is_a_number(kind):
    whole = {"rope_theta": 500.0, **SCALED[kind], "rope_type": kind}
    whole.pop("type", None)

    def read(changed):
        return decoder_config(tiny("llama") | {"rope_parameters": changed})

    for name in whole.keys() - {"rope_type"}:
        for wrong in ("8", True if name != "truncate" else 1, [8], -1.0):
            if name.startswith("mscale") and wrong == -1.0:
                continue
            with pytest.raises(ValueError, match=rf"\b{name} is {re.escape(repr(wrong).removesuffix('.0'))}"):
                read(whole | {name: wrong})
        for absent in ({key: value for key, value in whole.items() if key != name}, whole | {name: None}):
            if name in NEEDED[kind]:
                with pytest.raises(ValueError, match=f"rotary positions of type '{kind}' have no {name}; give it"):
                    read(absent)
            else:
                assert read(absent)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rope_parameters": {"rope_type": "linear", "factor": 0.5}}, "factor is 0.5; wanted a number of at least 1"),
        ({"rope_scaling": YARN | {"beta_slow": 40}}, "beta_slow is 40, beta_fast is 32; wanted 0 < beta_slow < beta_f"),
        ({"rope_scaling": YARN | {"original_max_position_embeddings": 0}}, "original_max_position_embeddings is 0; w"),
        ({"rope_parameters": {"full_attention": 8}}, "rotary positions of full_attention are 8; wanted a mapping"),
        ({"pad_token_id": -1}, "pad_token_id is -1; the vocabulary has ids 0 to 50"),
        ({"bos_token_id": 51}, "bos_token_id is 51; the vocabulary has ids 0 to 50"),
        ({"eos_token_id": [-2, 3]}, "eos_token_id is -2; the vocabulary has ids 0 to 50"),
    ],
)
def test_a_value_that_cannot_be_is_refused_under_the_name_that_the_file_has(changes, message):
    with pytest.raises(ValueError, match=message):
        decoder_config(config_of("llama", **changes))


ONE_ROPE = sorted(
    name for name in RUNNABLE if "full_attention" not in decoder_defaults()["families"][name].get("rope", {})
)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", ONE_ROPE)
def test_a_part_of_each_head_is_turned_where_transformers_does_and_refused_elsewhere(name):
    part = config_of(name, rope_parameters={"rope_type": "default", "rope_theta": 70.0, "partial_rotary_factor": 0.5})
    if name in TURN_PART_OF_A_HEAD:
        model, hf_model = pair(part, 0.05)
        ids = torch.randint(3, 51, (2, 15))
        with torch.no_grad():
            torch.testing.assert_close(model(ids), hf_model(input_ids=ids).logits, rtol=1e-5, atol=1e-5)
    else:
        with pytest.raises(ValueError, match=f"factor is 0.5; this library turns whole heads for model_type '{name}'"):
            decoder_config(part)


def test_a_part_of_each_head_is_the_same_in_layers_of_both_kinds():
    rope = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"partial_rotary_factor": 0.5}}
    with pytest.raises(ValueError, match="partial_rotary_factor is 0.5; this library turns whole heads"):
        decoder_config(config_of("gemma3_text", rope_parameters=rope))


def test_every_counted_model_type_runs_or_has_its_missing_part_named():
    for name in DECODERS:
        try:
            runs = decoder_config(config_of(name, tie_word_embeddings=False)) is not None
        except ValueError as error:
            assert str(error).endswith(" is not in this library"), name
            runs = False
        assert runs == (name in RUNNABLE)


PARTS = {"pre_norm": True, "d_model": 8, "n_heads": 2, "n_layers": 2}


test_sizes_of_parts_that_do_not_fit_are_refused = refused(
    (lambda: Config(9, parts=DecoderParts()), "pre_norm is False beside parts; wanted True"),
    (lambda: Config(9, **PARTS, parts=DecoderParts(windows=(3,))), "parts.windows has 1 values; wanted 2, one for"),
    (lambda: Router(4, 6, 2, groups=4), "1 of 4 groups; wanted groups of at least 2 of 6 experts"),
    (lambda: Router(4, 6, 3, groups=3), "per_token is 3; 1 of 3 groups have fewer experts"),
    (lambda: RotaryPositions(8, turned_width=10), "turned_width is 10; wanted at most head_width, which is 8"),
    (lambda: RotaryPositions(8, turned_width=3), "turned_width must be even and at least 2"),
    (lambda: RotaryScaling("llama3", 8.0), "trained_length must be at least 1 for llama3; got None"),
    (
        lambda: GatedDeltaMixer(Config(9, **PARTS, parts=DecoderParts(delta=DeltaLayers((True,) * 2, 2, 3, 4, 4, 3)))),
        "3 heads of values cannot share 2 heads of keys evenly",
    ),
    (
        lambda: DecoderLM(Config(9, **PARTS, parts=DecoderParts(logit_cap=3.0))).head.factors(torch.ones(1, 1, 8)),
        "this head caps the logits at 3.0: they are no product of two matrices",
    ),
)


def test_linear_attention_refuses_a_cache_of_keys_and_values():
    model = DecoderLM(decoder_config(config_of("qwen3_5_text")))
    with pytest.raises(TypeError, match="the cache is a LayerCache; linear attention wants a StateCache"):
        model.decoder.layers[0].attention(torch.ones(1, 1, 48), cache=LayerCache())
