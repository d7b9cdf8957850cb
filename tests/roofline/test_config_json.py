"""Published configs: each is built by transformers without numbers, and its counts are the course's."""

import json

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from softlookup.roofline import config_json

PUBLISHED = {
    "SmolLM2 135M": 134_515_008,
    "Gemma 3 1B": 999_885_952,
    "SmolLM3 3B": 3_075_098_624,
    "Llama 2 7B": 6_738_415_616,
    "Mistral 7B": 7_241_732_096,
    "Llama 3 8B": 8_030_261_248,
    "gpt-oss 20B": 20_914_757_184,
    "Qwen3 30B-A3B": 30_532_122_624,
    "DeepSeek-V3": 671_026_419_200 - 58 * 256,  # the balancing biases are no parameters
}
"""What the weights' files add up to."""
ACTIVE = {"gpt-oss 20B": 3.6e9, "Qwen3 30B-A3B": 3.3e9, "DeepSeek-V3": 37e9}
"""What the model cards say; gpt-oss's leaves the table of tokens out."""


def without_numbers(name, **more):
    config = {**config_json.QUOTED[name], **more}
    made = AutoConfig.for_model(config.pop("model_type"), **config)
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(made, attn_implementation="eager")


@pytest.mark.parametrize("name", config_json.QUOTED)
def test_parameters_are_those_of_the_model_that_transformers_builds(name):
    sizes = config_json.sizes(config_json.QUOTED[name])
    assert sizes.total == sum(weight.numel() for weight in without_numbers(name).parameters()) == PUBLISHED[name]


@pytest.mark.parametrize(("name", "expected"), ACTIVE.items())
def test_parameters_for_one_token_are_those_of_the_model_card(name, expected):
    sizes = config_json.sizes(config_json.QUOTED[name])
    met = sizes.active - (sizes.embedding if name.startswith("gpt") else 0)
    assert met == pytest.approx(expected, rel=0.02)


def windows(config):
    return tuple(getattr(layer.parts[0], "window", None) for layer in config_json.layers(config).layers)


def test_layers_and_caches_follow_the_windows():
    gemma, oss, mistral = (config_json.QUOTED[name] for name in ("Gemma 3 1B", "gpt-oss 20B", "Mistral 7B"))
    assert [i for i, window in enumerate(windows(gemma)) if window is None] == [5, 11, 17, 23]
    assert windows(oss)[:3] == (128, None, 128)
    assert [rows.rows(600) for rows in config_json.cache_rows(gemma)][:6] == [512] * 5 + [600]
    assert config_json.cache_bytes(mistral, 10**6) == config_json.cache_bytes(mistral, 4096)
    assert config_json.cache_bytes(config_json.QUOTED["DeepSeek-V3"], 100, 1) == 100 * 61 * (512 + 64)


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="wanted length >= 0 and bytes_each >= 1; got -1 and 2"):
        config_json.cache_bytes(config_json.QUOTED["Llama 3 8B"], -1)


TINY = {
    "hidden_size": 48, "num_hidden_layers": 7, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10,
    "intermediate_size": 40, "vocab_size": 50, "pad_token_id": None, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
TYPES = ["sliding_attention", "full_attention", "full_attention"] * 2 + ["sliding_attention"]
EXPERTS = {"num_local_experts": 5, "num_experts_per_tok": 2}
NARROW = {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 12}
LATENT = {
    "kv_lora_rank": 14, "q_lora_rank": 18, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 8,
    "num_key_value_heads": 6, "head_dim": 4, "moe_intermediate_size": 12, "n_routed_experts": 5,
    "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
}  # fmt: skip
# At least one for each model_type that is read, then its entries set away from their defaults.
DESCRIBED = [
    ("llama", {}),
    ("llama", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    ("mistral", {"sliding_window": 5}),
    ("mixtral", EXPERTS),
    ("mixtral", {**EXPERTS, "sliding_window": 5}),
    ("qwen2", {"sliding_window": 5}),
    ("qwen2", {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 3}),
    ("qwen2", {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 0}),
    ("qwen2_moe", {**NARROW, "shared_expert_intermediate_size": 21}),
    ("qwen2_moe", {**NARROW, "qkv_bias": False, "decoder_sparse_step": 3, "mlp_only_layers": [2]}),
    ("qwen2_moe", {**NARROW, "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 4}),
    ("qwen3", {"attention_bias": True, "layer_types": TYPES, "use_sliding_window": True, "sliding_window": 5}),
    ("qwen3_moe", {**NARROW, "use_sliding_window": True, "sliding_window": 5}),
    ("qwen3_moe", {**NARROW, "mlp_only_layers": [0, 3], "attention_bias": True}),
    ("gemma2", {"sliding_window": 5, "attention_bias": True}),
    ("gemma2", {"layer_types": TYPES, "tie_word_embeddings": False}),
    ("gemma3_text", {"sliding_window": 5}),
    ("gemma3_text", {"sliding_window_pattern": 2, "attention_bias": True}),
    ("smollm3", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": False}),
    ("smollm3", {"use_sliding_window": True, "sliding_window": 5, "no_rope_layer_interval": 3}),
    ("gpt_oss", EXPERTS),
    ("gpt_oss", {**EXPERTS, "attention_bias": False, "layer_types": TYPES}),
    ("deepseek_v3", LATENT),
    ("deepseek_v3", {**LATENT, "first_k_dense_replace": 0, "n_shared_experts": 2, "attention_bias": True}),
    ("deepseek_v3", {**LATENT, "first_k_dense_replace": 7, "q_lora_rank": None}),
]
NAMES = [f"{kind}-{i}" for i, (kind, _) in enumerate(DESCRIBED)]


def described(kind, more):
    return AutoConfig.for_model(kind, **{**TINY, **more})


def made(description):
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(description, attn_implementation="eager")


def weights_and_windows(description):
    """What transformers makes of a description: how many weights, and which windows its masks have."""
    window, types = getattr(description, "sliding_window", None), getattr(description, "layer_types", None)
    kinds = types or ["sliding_attention"] * description.num_hidden_layers
    windows = tuple(window if kind == "sliding_attention" else None for kind in kinds)
    return sum(weight.numel() for weight in made(description).parameters()), windows


def counts_of(config):
    return config_json.sizes(config).total, windows(config)


@pytest.mark.parametrize(("kind", "more"), DESCRIBED, ids=NAMES)
def test_every_model_type_counts_as_the_model_that_transformers_builds(kind, more):
    description = described(kind, more)
    expected = weights_and_windows(description)
    assert counts_of(json.loads(description.to_json_string())) == expected  # what save_pretrained writes
    assert counts_of(json.loads(json.dumps(description.to_dict()))) == expected  # with all defaults
    assert counts_of({"model_type": kind, **TINY, **more}) == expected


def runs(description):
    """Whether their model of a description computes anything."""
    try:
        AutoModelForCausalLM.from_config(description, attn_implementation="eager")(torch.zeros(1, 3, dtype=torch.long))
    except Exception:
        return False
    return True


OPTIONAL = set(
    "num_key_value_heads head_dim tie_word_embeddings attention_bias mlp_bias qkv_bias use_sliding_window "
    "sliding_window max_window_layers layer_types decoder_sparse_step mlp_only_layers no_rope_layers "
    "no_rope_layer_interval shared_expert_intermediate_size q_lora_rank first_k_dense_replace n_shared_experts".split()
)
"""Entries that files leave out."""


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("kind", "more"), DESCRIBED, ids=NAMES)
def test_a_missing_entry_and_null_mean_what_transformers_takes(kind, more):
    whole = json.loads(json.dumps(described(kind, more).to_dict()))
    assert runs(described(kind, more))
    for name in OPTIONAL & {*whole}:
        missing = {key: value for key, value in whole.items() if key != name}
        for config in (missing, {**missing, name: None}):
            try:
                description = AutoConfig.for_model(**config)
                expected = weights_and_windows(description)
            except Exception:  # transformers cannot build that: null is read like missing, or refused by name
                expected = None
            try:
                got = counts_of(config)
            except ValueError as error:
                assert name in str(error), (config, error)
                # Without the switch, SmolLM3's masks have the window of layer_types and its attention has none.
                contradiction = (kind, name) == ("smollm3", "use_sliding_window")
                assert expected is None or contradiction or not runs(description), (config, error)
            else:
                assert expected is None or got == expected, config


SMALL = {"model_type": "qwen2", **TINY}
LINEAR = ["linear_attention"] * 3 + ["full_attention"] * 4


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model_type": "longcat_flash"}, "model_type is 'longcat_flash'; this library has afmoe, "),
        ({"model_type": None}, "no entry that is not null for model_type"),
        ({"hidden_size": None}, "the description has no entry that is not null for hidden_size"),
        ({"hidden_size": "48"}, "hidden_size is '48'; wanted a whole number of at least 1"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0; wanted a whole number of at least 1"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings is 'no'; wanted true or false"),
        ({"num_key_value_heads": 4}, "num_attention_heads 6 does not divide by num_key_value_heads 4"),
        ({"head_dim": None, "hidden_size": 50}, "hidden_size 50 does not divide by 6 heads; give .* as head_dim"),
        ({"layer_types": LINEAR}, "layer_types has linear_attention, which is not understood for 'qwen2'"),
        ({"layer_types": LINEAR[3:]}, "layer_types is a list of 4; wanted a list of 7, a value for each layer"),
        ({"layer_types": "full"}, "layer_types is 'full'; wanted a list"),
        ({"layer_types": TYPES}, r"layer 0 has sliding_attention, .* \(use_sliding_window is false\)"),
        ({"model_type": "gemma2", "sliding_window": None}, "layer 0 has sliding_attention, but there is no sliding_w"),
        ({"model_type": "llama", "sliding_window": 5}, "^sliding_window = 5: not understood for model_type 'llama'"),
        ({"shared_expert_intermediate_size": 9}, "^shared_expert_intermediate_size = 9: not understood for .*'qwen2'"),
        ({"strange": [0] * 40, "use_mrope": True}, r"^strange = \[0, .*\.\.\., use_mrope = True: not understood for"),
        ({"model_type": "mixtral", **EXPERTS, "num_experts": 4}, "num_experts is 4, and num_local_experts is 5"),
        ({"model_type": "mixtral", **EXPERTS, "num_experts_per_tok": 9}, "num_experts_per_tok is 9; wanted at most 5"),
        ({"model_type": "deepseek_v3", **LATENT, "moe_layer_freq": 2}, "^moe_layer_freq = 2: not understood"),
        ({"model_type": "gemma3", "text_config": {"model_type": "t5"}}, "model_type is 't5'; this library has afmoe"),
        (
            {"model_type": "new", "text_config": {"model_type": "newer"}},
            "model_type is 'newer'; this library has afmoe",
        ),
    ],
)
def test_what_is_not_understood_is_refused_by_name(changes, says):
    config = {**SMALL, **changes}
    if "text_config" in changes:
        config = changes
    with pytest.raises(ValueError, match=says):
        config_json.sizes(config)


# What else stands in the published files of these models.
BESIDES = {
    "SmolLM2 135M": {
        "is_llama_config": True, "rope_interleaved": False, "rope_scaling": None, "mlp_bias": False,
        "transformers.js_config": {"dtype": "q4"}, "torch_dtype": "bfloat16", "bos_token_id": 1,
    },
    "SmolLM3 3B": {"max_window_layers": 28, "pretraining_tp": 2, "use_sliding_window": False, "sliding_window": None},
    "gpt-oss 20B": {
        "experts_per_token": 4, "initial_context_length": 4096, "quantization_config": {"quant_method": "mxfp4"},
        "attention_bias": True, "swiglu_limit": 7.0, "rope_scaling": {"rope_type": "yarn", "truncate": False},
    },
    "Qwen3 30B-A3B": {
        "max_window_layers": 48, "use_sliding_window": False, "sliding_window": None, "decoder_sparse_step": 1,
        "mlp_only_layers": [], "norm_topk_prob": True, "router_aux_loss_coef": 0.001, "attention_bias": False,
    },
    "DeepSeek-V3": {
        "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"}, "moe_layer_freq": 1, "ep_size": 1,
        "num_nextn_predict_layers": 1, "n_group": 8, "topk_group": 4, "topk_method": "noaux_tc", "seq_aux": True,
        "scoring_func": "sigmoid", "routed_scaling_factor": 2.5, "aux_loss_alpha": 0.001, "attention_bias": False,
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "besides"), BESIDES.items(), ids=BESIDES)
def test_published_files_are_read_whole(name, besides):
    assert config_json.sizes({**config_json.QUOTED[name], **besides}).total == PUBLISHED[name]


def test_entries_that_change_no_count_and_null_ones_are_taken():
    more = {"strange": None, "use_mrope": False, "rope_scaling": {"rope_type": "yarn"}, "image_token_id": 3}
    assert config_json.sizes({**SMALL, **more, "quantization_config": {"bits": 4}}) == config_json.sizes(SMALL)
    with pytest.raises(TypeError, match="the description is a list; wanted the mapping that a config.json holds"):
        config_json.sizes([SMALL])
    with pytest.raises(TypeError, match="text_config is 3; wanted a mapping"):
        config_json.sizes({"model_type": "gemma3", "text_config": 3})
    with pytest.raises(TypeError, match="text_config is None; wanted a mapping"):
        config_json.sizes({"model_type": "gemma3"})
