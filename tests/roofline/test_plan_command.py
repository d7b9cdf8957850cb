"""softlookup plan: the best layouts of a published model."""

import json

import pytest
from click.testing import CliRunner

from softlookup import roofline as rl
from softlookup_command.commands import main

QWEN = rl.config_json.QUOTED["Qwen3 30B-A3B"]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(QWEN))
    return path


def call(*words):
    return CliRunner().invoke(main, ["plan", *map(str, words)])


def test_plan_as_json_is_that_of_the_library(file):
    options = "--devices 8 --device h200 --link ethernet --node 4 --tokens 262144 --best 3 --json"
    shown = json.loads(call(file, *options.split()).output)
    card = rl.hardware("H200")
    cluster = rl.TrainingCluster(card, rl.node_link(card), rl.LINKS["Ethernet 400 Gbit/s"], 4)
    costs = rl.plan(rl.planner_sizes(QWEN), 8, cluster, tokens=262_144, sequence=4096, contexts=(1, 2, 4, 8))
    assert (shown["parameters"], shown["active"]) == (30_532_122_624, 3_353_032_704)
    assert [link["name"] for link in shown["links"]] == ["NVLink", "Ethernet 400 Gbit/s"]
    assert shown["planned"] == len(costs) and len(shown["layouts"]) == 3
    best = shown["layouts"][0]
    assert best["step_s"] == costs[0].step_s == pytest.approx(sum(best["spent_s"].values()))
    assert best["fits"] and sum(best["memory_bytes"].values()) == costs[0].memory_bytes <= card.memory_bytes
    assert best["data"] * best["tensor"] * best["pipeline"] * best["context"] == 8
    times = [layout["step_s"] for layout in shown["layouts"]]
    assert times == sorted(times)
    grids = [
        [layout[name] for name in ("data", "tensor", "pipeline", "context", "expert")] for layout in shown["layouts"]
    ]
    assert grids[0] != grids[1] != grids[2] != grids[0]


def test_table_has_a_line_for_each_layout(file):
    lines = call(file, "--devices", 8, "--tokens", 65_536, "--best", 2).output.splitlines()
    assert lines[0] == "qwen3_moe: 30.53 billion parameters, 3.353 billion for a token"
    assert lines[1] == "8 x H100 SXM, 80 GB each; NVLink within nodes of 8, 8 x InfiniBand NDR between them"
    head = next(at for at, line in enumerate(lines) if line.startswith("layout "))
    assert len(lines) == head + 6
    for line in lines[head + 1 : head + 3]:
        assert float(line[: lines[head].index(" a card") + 7].split()[-1]) > 10
        assert sum(int(word.rstrip("%,")) for word in line.split("  ")[-1].split() if "%" in word) <= 101


def test_a_node_with_few_ports_is_planned_with_them(file):
    words = ["--devices", 16, "--tokens", 65_536, "--json"]
    narrow, usual = (json.loads(call(file, *words, *ports).output) for ports in (["--ports", 1], []))
    assert (narrow["ports"], usual["ports"]) == (1, 8)
    assert narrow["layouts"][0]["step_s"] > usual["layouts"][0]["step_s"]


def test_what_fits_nowhere_is_said_and_the_smallest_shown(file):
    lines = call(file, "--devices", 2, "--tokens", 65_536).output.splitlines()
    assert "layouts fits. These need least memory:" in lines[4]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--devices 8 --device z80", "no device begins with 'z80'; there are A100 80GB PCIe, "),
        ("--devices 8 --link wire", "no link begins with 'wire'; there are NVLink 3, "),
        ("--devices 8 --tokens 5000", "tokens is 5000; wanted a multiple of sequence, 4096."),
    ],
)
def test_options_that_do_not_go_are_said_in_a_sentence(file, options, says):
    result = call(file, *options.split())
    assert result.exit_code == 2
    assert result.output.startswith(f"softlookup: {file}: ") and says in result.output


def test_a_model_of_other_layers_and_a_file_that_is_none_are_refused(file):
    file.write_text(json.dumps(QWEN | {"num_hidden_layers": 2}))
    assert "no layout has 11 devices for a step of 1024 sequences" in call(file, "--devices", 11).output
    file.write_text(json.dumps({"model_type": "mamba2"}))
    assert "layer 1 has" in call(file, "--devices", 8).output
    file.write_text("{")
    assert "is no JSON" in call(file, "--devices", 8).output


def test_a_card_s_own_link_is_its_fastest():
    assert {rl.node_link(rl.hardware(name)).name for name in rl.known_hardware()} == {
        "NVLink", "NVLink bridge", "Infinity Fabric", "ICI"
    }  # fmt: skip
    with pytest.raises(ValueError, match="no link on its data sheet"):
        rl.node_link(rl.Hardware("lone", {"bfloat16": 1.0}, 1.0, 1.0, "made up"))
