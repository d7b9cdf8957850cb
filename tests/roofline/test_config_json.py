"""Published configs: each is built by transformers without numbers, and its counts are the course's."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModelForCausalLM

from softlookup.roofline import MODELS, config_json, parameters

PUBLISHED = {
    "SmolLM2 135M": 134_515_008,
    "Gemma 3 1B": 999_885_952,
    "SmolLM3 3B": 3_075_098_624,
    "Mistral 7B": 7_241_732_096,
    "Llama 3 8B": 8_030_261_248,
    "gpt-oss 20B": 20_914_757_184,
    "Qwen3 30B-A3B": 30_532_122_624,
    "DeepSeek-V3": 671_026_419_200 - 58 * 256,  # the balancing biases are no parameters
}
"""What the weights' files add up to."""
ACTIVE = {"gpt-oss 20B": 3.6e9, "Qwen3 30B-A3B": 3.3e9, "DeepSeek-V3": 37e9}
"""What the model cards say; gpt-oss's leaves the table of tokens out."""
DENSE = ["SmolLM2 135M", "Gemma 3 1B", "SmolLM3 3B", "Mistral 7B", "Llama 3 8B"]


def without_numbers(name, **more):
    config = {**config_json.QUOTED[name], **more}
    made = AutoConfig.for_model(config.pop("model_type"), **config)
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(made, attn_implementation="eager")


@pytest.mark.parametrize("name", config_json.QUOTED)
def test_parameters_are_those_of_the_model_that_transformers_builds(name):
    found = config_json.sizes(config_json.QUOTED[name])
    assert found.total == sum(one.numel() for one in without_numbers(name).parameters()) == PUBLISHED[name]


@pytest.mark.parametrize(("name", "said"), ACTIVE.items())
def test_parameters_for_one_token_are_those_of_the_model_card(name, said):
    found = config_json.sizes(config_json.QUOTED[name])
    met = found.active - (found.embedding if name.startswith("gpt") else 0)
    assert met == pytest.approx(said, rel=0.02)


@pytest.mark.parametrize("name", DENSE)
def test_operations_are_those_that_torch_counts(name):
    tokens = 16
    model = without_numbers(name, num_hidden_layers=6)
    config = {**config_json.QUOTED[name], "num_hidden_layers": 6}
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        ids, mask = torch.zeros(1, tokens, dtype=torch.long), torch.zeros(1, 1, tokens, tokens)
        model(ids, attention_mask=mask, position_ids=torch.arange(tokens)[None], use_cache=False)
    weights, mixing = config_json.token_operations(config, tokens)
    counted = counter.get_total_flops()
    assert counted == pytest.approx(tokens * (weights + mixing), rel=1e-4)


def test_layers_and_caches_follow_the_windows():
    gemma, oss, mistral = (config_json.QUOTED[name] for name in ("Gemma 3 1B", "gpt-oss 20B", "Mistral 7B"))
    assert [i for i, window in enumerate(config_json.windows(gemma)) if window is None] == [5, 11, 17, 23]
    assert config_json.windows(oss)[:3] == [128, None, 128]
    assert config_json.held(gemma, 600)[:6] == [512] * 5 + [600]
    assert config_json.cache_bytes(mistral, 10**6) == config_json.cache_bytes(mistral, 4096)
    assert config_json.cache_bytes(config_json.QUOTED["DeepSeek-V3"], 100, 1) == 100 * 61 * (512 + 64)


def test_llama_counts_as_in_the_table_of_models():
    assert config_json.sizes(config_json.QUOTED["Llama 3 8B"]).total == sum(parameters(MODELS["Llama 3 8B"]).values())


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="wanted length >= 0 and bytes_each >= 1; got -1 and 2"):
        config_json.cache_bytes(config_json.QUOTED["Llama 3 8B"], -1)
    with pytest.raises(KeyError, match="hidden_size"):
        config_json.sizes({"model_type": "llama"})
