"""Files as they are published, with entries that their model_type does not know."""

import pytest
from published_files import FILES
from tiny_decoders import build

from softlookup.roofline import config_json


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
