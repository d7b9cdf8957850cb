"""Families of decoders by their config.json: parameters, windows, caches, states and operations are transformers'."""

import contextlib
import dataclasses
import json

import pytest
import torch
from published_files import FILES
from tiny_decoders import INSIDE, NEEDED, TEXT_ALONE, build, quietly, tiny
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModel, AutoModelForImageTextToText
from transformers.cache_utils import get_layer_types_and_kwargs

from softlookup.describing.filled_entries import decoder_defaults
from softlookup.describing.layer_sizes import AttentionSizes, ConvolutionSizes, DeltaSizes, ExpertsSizes, LatentSizes
from softlookup.describing.read_layers import DECODERS
from softlookup.roofline import config_json
from softlookup.roofline.layer_counts import part_counts

TOKENS = 6


def parts(config):
    return [part for layer in config_json.layers(config).layers for part in layer.parts]


def weights(model):
    return sum(weight.numel() for weight in model.parameters())


@pytest.mark.one_in(16)
@pytest.mark.parametrize("name", TEXT_ALONE)
def test_a_config_of_defaults_has_the_parameters_that_transformers_builds(name):
    config = {"model_type": name, **NEEDED.get(name, {})}
    with quietly():
        whole = json.loads(json.dumps(AutoConfig.for_model(name, **NEEDED.get(name, {})).to_dict()))
    expected = weights(build(config))
    assert config_json.sizes(config).total == expected
    assert config_json.sizes(whole).total == expected


@pytest.mark.parametrize("name", INSIDE)
def test_a_text_decoder_has_the_parameters_that_transformers_builds(name):
    for config in ({"model_type": name}, tiny(name)):
        with quietly(), torch.device("meta"):
            description = AutoConfig.for_model(**config)
            expected = weights(AutoModel.from_config(description))
        counts = config_json.sizes({**config, "tie_word_embeddings": True})
        assert (counts.total, counts.output) == (expected, 0)


@pytest.mark.parametrize("name", DECODERS)
def test_windows_are_those_of_the_cache_that_transformers_makes(name):
    with quietly():
        description = AutoConfig.for_model(**tiny(name))
    types, entries = get_layer_types_and_kwargs(description)
    by_layer = [
        next((part for part in layer.parts if isinstance(part, AttentionSizes)), None)
        for layer in config_json.layers({"tie_word_embeddings": False, **tiny(name)}).layers
    ]
    for part, layer_type, entry in zip(by_layer, types, entries, strict=True):
        if part is not None and layer_type != "dummy" and name != "recurrent_gemma":  # whose cache is its own
            assert part.window == entry.get("sliding_window"), layer_type


@pytest.fixture(scope="module")
def models():
    """Tiny models with numbers, each built once."""
    made = {}

    def model(name):
        if name not in made:
            torch.manual_seed(0)
            made[name] = build(tiny(name), "cpu").eval()
        return made[name]

    return model


def tensors(value, seen):
    """All tensors of floating-point numbers inside, each once."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() and value.numel() and value.data_ptr() not in seen:
            seen.add(value.data_ptr())
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from tensors(inner, seen)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from tensors(inner, seen)
    elif type(value).__module__.startswith("transformers"):
        yield from tensors(vars(value), seen)


def cached_numbers(model, tokens):
    with torch.no_grad():
        output = model(torch.randint(3, 50, (1, tokens)), use_cache=True)
    cache = output.get("past_key_values", output.get("cache_params"))
    return sum(tensor.numel() for tensor in tensors(cache, set()))


NO_CACHE = {
    "deepseek_v4": "its cache has unfinished blocks as well; it has a test of its own",
    "recurrent_gemma": "its cache stays inside the model",
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", TEXT_ALONE)
def test_cache_and_states_are_those_after_a_few_tokens(name, models):
    if name in NO_CACHE:
        pytest.skip(NO_CACHE[name])
    config = tiny(name)
    counted = config_json.cache_bytes(config, TOKENS, 1) + config_json.state_numbers(config)
    assert cached_numbers(models(name), TOKENS) == counted


@pytest.mark.parametrize("name", ["afmoe", "gemma4_text", "lfm3", "llama4_text", "mimo_v2_flash", "phi3"])
def test_full_windows_hold_a_position_less_in_transformers(name, models):
    config, tokens = tiny(name), 12
    rows = config_json.cache_rows(config_json.layers(config))
    ahead = sum(row.numbers for row in rows if row.window is not None)  # the newest position comes before it is used
    assert ahead
    counted = config_json.cache_bytes(config, tokens, 1) + config_json.state_numbers(config)
    assert cached_numbers(models(name), tokens) == counted - ahead


def test_compressed_positions_of_deepseek_v4_are_those_after_a_few_tokens(models):
    config, tokens = tiny("deepseek_v4"), 9
    with torch.no_grad():
        cache = models("deepseek_v4")(torch.randint(3, 50, (1, tokens)), use_cache=True).past_key_values
    numbers = 0
    for layer in cache.layers:
        numbers += layer.keys.numel() + layer.keys.shape[-1]  # keys are the values; windows hold a position less
        numbers += sum(rows.numel() for rows in getattr(layer, "compressed_kv", {}).values())
    assert numbers == config_json.cache_bytes(config, tokens, 1)


def mixed_in_full(part, d_model):
    """Multiply-adds of a layer for a query and a position, as transformers computes them: latents are made wide."""
    if isinstance(part, LatentSizes):
        indexer = part.indexer
        small = 0 if indexer is None or not indexer.chooses else indexer.heads * (indexer.width + 1)
        return part.heads * (part.plain + part.rotary + part.value) + small
    return sum(rows.mixed for rows in part_counts(part, d_model).caches)


RECURRENT = {
    "bailing_hybrid", "bamba", "falcon_h1", "falcon_mamba", "granitemoehybrid", "jamba", "kimi_linear", "mamba",
    "mamba2", "minimax", "nemotron_h", "olmo_hybrid", "qwen3_5_moe_text", "qwen3_5_text", "qwen3_next",
    "recurrent_gemma",
}  # fmt: skip
NO_OPERATIONS = dict.fromkeys(RECURRENT, "transformers computes recurrent states in chunks, with other products")
NO_OPERATIONS |= {
    "deepseek_v4": "hyper-connections mix streams, and compressed positions are masked rather than left out",
    "hy_v4": "hyper-connections mix streams",
    "llama4_text": "transformers computes all experts for each token",
}


@pytest.mark.one_in(16)
@pytest.mark.parametrize("name", TEXT_ALONE)
def test_operations_are_those_that_torch_counts_in_products(name, models):
    if name in NO_OPERATIONS:
        pytest.skip(NO_OPERATIONS[name])
    config = tiny(name)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        models(name)(torch.randint(3, 50, (1, TOKENS)), use_cache=False)
    model = config_json.layers(config)
    d = model.d_model
    positions = sum(mixed_in_full(part, d) for part in parts(config))
    others = sum(part_counts(part, d).state_products for part in parts(config))
    # A padded convolution is computed behind the text's end, too.
    padded = sum(d * part.kernel * (part.kernel - 1) for part in parts(config) if isinstance(part, ConvolutionSizes))
    products = TOKENS * (config_json.sizes(config).in_products + others) + TOKENS * TOKENS * positions + padded
    assert counter.get_total_flops() == 2 * products


def in_products(name):
    """The weights of matrices, convolutions and chosen experts that a token is multiplied by, found by their shapes."""
    count, config = 0.0, tiny(name)
    model = build(config)
    chosen = {part.chosen / part.total for part in parts(config) if isinstance(part, ExpertsSizes)}
    for weight_name, weight in model.named_parameters():
        plain = weight.dim() > 1 and not any(word in weight_name for word in ("A_log", "bias", "embed"))
        if plain:
            count += weight.numel() * (chosen.copy().pop() if ".experts." in weight_name else 1)
    tied = model.lm_head.weight is model.get_input_embeddings().weight
    return count + (model.lm_head.weight.numel() if tied else 0)


@pytest.mark.parametrize("name", sorted(NO_OPERATIONS))
def test_weights_in_products_are_the_matrices_that_a_token_meets(name):
    assert config_json.sizes(tiny(name)).in_products == pytest.approx(in_products(name), abs=1e-6)


@pytest.mark.parametrize("name", sorted(RECURRENT - {"minimax", "recurrent_gemma"}))
def test_a_state_is_read_and_written_and_the_delta_rule_reads_it_twice(name, models):
    config = tiny(name)
    with torch.no_grad():
        output = models(name)(torch.randint(3, 50, (1, TOKENS)), use_cache=True)
    layers = output.get("past_key_values", output.get("cache_params")).layers
    entries = sum(state.numel() for layer in layers for state in getattr(layer, "recurrent_states", {}).values())
    times = 3 if any(isinstance(part, DeltaSizes) for part in parts(config)) else 2
    assert sum(part_counts(part, config["hidden_size"]).state_products for part in parts(config)) == times * entries


ODD = ["layer_types", "mlp_layer_types", "layers_block_type", "rope_parameters", "num_hidden_layers"]


def changed(name):
    """Configs with an entry set away from its value."""
    config = tiny(name)
    for entry, default in decoder_defaults()["families"][name]["entries"].items():
        value = config.get(entry, default)
        if entry in ODD or not isinstance(value, int):
            continue
        for other in [not value] if isinstance(value, bool) else [value + 1, 2 * value, 0]:
            yield {**config, entry: other}


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXT_ALONE)
def test_whatever_entry_changes_the_parameters_are_right_or_the_entry_is_refused(name):
    tried = 0
    for config in changed(name):
        try:
            expected = weights(build(config))
        except Exception:  # transformers cannot build that
            continue
        try:
            counted = config_json.sizes(config).total
        except ValueError:
            continue
        assert counted == expected, config
        tried += 1
    assert tried > 5


WHOLE = {"gemma4": "gemma4_text", "llama4": "llama4_text", "qwen3_5": "qwen3_5_text", "qwen3_vl": "qwen3_vl_text"}


@pytest.mark.parametrize(("kind", "inside"), WHOLE.items())
def test_of_a_model_of_text_and_images_all_but_its_images_are_counted(kind, inside):
    text = tiny(inside)
    with quietly(), torch.device("meta"):
        description = AutoConfig.for_model(kind, text_config=text)
        model = AutoModelForImageTextToText.from_config(description)
    others = ("vision", "visual", "audio", "projector", "embed_vision", "embed_audio")
    expected = sum(w.numel() for name, w in model.named_parameters() if not any(word in name for word in others))
    config = json.loads(json.dumps(description.to_dict()))
    read = config_json.layers(config)
    assert (config_json.sizes(config).total, read.wrapped_in, read.model_type) == (expected, kind, inside)


def test_defaults_on_file_are_those_of_the_installed_transformers():
    transformers = pytest.importorskip("transformers")
    if decoder_defaults()["transformers"] != transformers.__version__:
        pytest.skip("written with another version")
    for name, family in decoder_defaults()["families"].items():
        kind = transformers.CONFIG_MAPPING[name]
        for field in dataclasses.fields(kind):
            entry = family["names"].get(field.name, field.name)
            if (
                entry in family["entries"]
                and entry != "tie_word_embeddings"
                and field.default is not dataclasses.MISSING
            ):
                assert family["entries"][entry] == json.loads(json.dumps(field.default)), (name, entry)


STRANGE = ("x", [1], {"a": 1}, -1)
OLDER = (
    "linear_attn_config",
    "full_attention_interval",
    "hybrid_override_pattern",
    "compress_ratios",
    "per_layer_config",
)
OLDER += ("global_head_dim", "num_global_key_value_heads", "block_ff_dim", "compress_rate_csa", "first_k_dense_replace")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", DECODERS)
def test_values_of_strange_types_are_refused_in_a_sentence(name):
    config = {"tie_word_embeddings": True, **tiny(name)}
    for entry in {*config, *decoder_defaults()["families"][name]["entries"], *OLDER}:
        for value in STRANGE:
            with contextlib.suppress(ValueError):  # any other error fails
                config_json.sizes({**config, entry: value})


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({**tiny("kimi_linear"), "tie_word_embeddings": True}, "tie_word_embeddings is True; .* False alone"),
        ({**tiny("deepseek_v2"), "mlp_bias": True}, "mlp_bias is True; this library has False alone"),
        (
            {**tiny("axk1"), "mlp_layer_types": ["moe"] * 5},
            "mlp_layer_types has moe; this library has dense and sparse",
        ),
        ({**tiny("kimi_linear"), "num_experts": 7, "num_local_experts": 6}, "these are names of one entry"),
        (tiny("qwen3_vl_text"), "no tie_word_embeddings, and 'qwen3_vl_text' has no default"),
        ({"model_type": "mistral3", "text_config": {"model_type": "mistral", "tie_word_embeddings": False}}, "beside"),
        ({**tiny("nemotron_h"), "layers_block_type": ["M", "x"]}, "the layers' types have x; this library has linear_"),
        ({**tiny("bamba"), "mamba_d_head": 9}, "mamba_n_heads 12 and mamba_d_head 9 do not give the 96 channels"),
    ],
)
def test_what_a_family_does_not_have_is_refused_by_name(config, says):
    with pytest.raises(ValueError, match=says):
        config_json.sizes(config)


@pytest.mark.parametrize(
    ("name", "older"),
    [
        ("cohere2", {"sliding_window_pattern": 2}),
        ("qwen3_next", {"full_attention_interval": 2}),
        ("kimi_linear", {"layer_types": None, "linear_attn_config": {
            "full_attn_layers": [2, 5], "kda_layers": [1, 3, 4], "head_dim": 7, "num_heads": 2,
            "short_conv_kernel_size": 4}}),
        ("kimi_linear", {"first_k_dense_replace": 3, "num_local_experts": None, "num_experts": 7}),
        ("nemotron_h", {"layers_block_type": None, "hybrid_override_pattern": "M-*EM"}),
        ("glm_moe_dsa", {"indexer_types": None, "index_topk_freq": 2, "index_skip_topk_offset": 1}),
        ("glm_moe_dsa", {"indexer_types": None, "index_topk_pattern": "FSSFS"}),
        ("qwen3_5_text", {"full_attention_interval": 3, "attn_output_gate": True, "mtp_num_hidden_layers": 1}),
        ("lfm2", {"layer_types": None, "full_attn_idxs": [1, 3], "block_ff_dim": 60}),
        ("llama4_text", {"no_rope_layers": [1, 0, 1, 1, 0], "moe_layers": [0, 2]}),
        ("granitemoehybrid", {"layer_types": ["mamba", "attention", "mamba", "mamba", "attention"]}),
        ("gemma4_text", {"attention_k_eq_v": True, "num_global_key_value_heads": 3}),
        ("deepseek_v4", {"layer_types": None, "compress_ratios": [0, 4, 128], "compress_rate_csa": 3}),
    ],
)  # fmt: skip
def test_entries_of_older_files_are_read_as_transformers_reads_them(name, older):
    config = {key: value for key, value in {**tiny(name), **older}.items() if value is not None}
    assert config_json.sizes(config).total == weights(build(config))


# Files as they are published, with entries that their model_type does not know.


@pytest.mark.parametrize("name", FILES)
def test_a_published_file_is_read_and_counted_as_transformers_builds_it(name):
    config = FILES[name]
    text = config.get("text_config", config)
    model = build({**text, "model_type": config_json.SAME_AS.get(text["model_type"], text["model_type"])})
    assert config_json.sizes(config).total == sum(weight.numel() for weight in model.parameters())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("LFM2 1.2B", {"conv_dim": 1024}),
        ("LFM2 1.2B", {"block_use_swiglu": False}),
        ("MiniMax-M2 230B", {"attn_type_list": [1, 0] * 31}),
        ("DeepSeek-V3.2 671B", {"moe_layer_freq": 2}),
        ("Phi-4-mini 3.84B", {"attention_bias": True}),
        ("Qwen3-Next 80B", {"use_qk_norm": True}),
        ("Granite 4 H tiny 6.9B", {"normalization_function": "layernorm"}),
    ],
)
def test_an_entry_that_a_model_type_does_not_know_is_refused_where_it_says_something_else(name, change):
    with pytest.raises(ValueError, match=f"{next(iter(change))} = .*not understood"):
        config_json.sizes({**FILES[name], **change})


def test_the_output_matrix_of_lfm2_is_what_the_older_entry_says():
    config = FILES["LFM2 1.2B"]
    untied = {**config, "tie_embedding": False}
    table = config["vocab_size"] * config["hidden_size"]
    assert config_json.sizes(untied).total - config_json.sizes(config).total == table
