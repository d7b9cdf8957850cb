"""The benches made for a GPU, in their quick form on a CPU: the records are whole, and both sides do the same work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.harness import measured

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured"

pytestmark = pytest.mark.slow  # torch compiles both models


def quick_record(name, tmp_path):
    """In a process of its own: torch's compiler does not see through the tests' checks of shapes."""
    file = tmp_path / "record.json"
    command = [sys.executable, "-m", "softlookup_command", "bench", name, "--quick", "--json", str(file)]
    done = subprocess.run(command, cwd=MEASURED.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text(encoding="utf-8"))


def kept_record(name):
    return json.loads((MEASURED / name).read_text(encoding="utf-8"))


def test_gpt2_trains_both_models_to_the_same_losses(tmp_path):
    record = quick_record("gpt2", tmp_path)
    assert [(run["name"], run["compiled"]) for run in record["runs"]] == [
        ("torch", False), ("softlookup", False), ("torch", True), ("softlookup", True),
    ]  # fmt: skip
    assert record["largest_loss_difference"] < 0.05 and record["speed_ratio"] > 0
    assert measured(record) == measured(kept_record("gpt2_h100.json"))
    assert record["runs"][0].keys() == kept_record("gpt2_h100.json")["runs"][0].keys()


def test_all_ways_of_writing_write_the_same_tokens(tmp_path):
    record = quick_record("launches", tmp_path)
    (model,) = record["models"]
    assert len(model["ways"]) == 4  # a difference of so short times may be below 0
    assert [way["different_tokens"] for way in model["ways"]][:3] == [0, 0, 0]
    assert measured(record) == measured(kept_record("launches_h100.json"))
