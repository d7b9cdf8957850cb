"""The figure that reads a config.json: its numbers are the library's, and it refuses what is not there."""

import re

import pytest

from softlookup.roofline.config_json import QUOTED, cache_bytes, sizes
from softlookup_course.widgets import ConfigReader, config_reader


@pytest.mark.parametrize("name", QUOTED)
def test_described_parts_add_up_to_all_parameters(name):
    record = config_reader.summarize(QUOTED[name])
    assert sum(record["parts"].values()) == sizes(QUOTED[name]).total
    assert len(record["windows"]) == len(record["rotary"]) == QUOTED[name]["num_hidden_layers"]


def test_a_model_without_windows_and_with_all_heads_saves_nothing():
    plain = {**QUOTED["Llama 3 8B"], "num_key_value_heads": 32}
    now = config_reader.describe(plain, 1000, 2)
    assert now["cache"] == now["plain"] == cache_bytes(plain, 1000)
    assert config_reader.describe(QUOTED["Llama 3 8B"], 1000, 2)["plain"] == now["plain"]


def test_stand_in_shows_every_model():
    html = ConfigReader(QUOTED, "Gemma 3 1B").fallback
    shown = [float(number) for number in re.findall(r"</th><td>([\d.]+)</td>", html)]
    assert shown == [pytest.approx(sizes(config).total / 1e9, abs=0.006) for config in QUOTED.values()]
