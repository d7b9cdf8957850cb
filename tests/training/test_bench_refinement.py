"""What was measured on MiniLM: the committed record is that of this code, where the model's files are there."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.refinement import CONTROLS, PAIRS, bench_refinement
from softlookup.model.published import minilm
from softlookup_command.commands import main

KEPT = json.loads((Path(__file__).resolve().parents[2] / "book" / "measured" / "refinement.json").read_text("utf-8"))


def test_committed_record_has_a_number_for_every_state():
    states = KEPT["layers"] + 1
    for name in ("start", "others", "lengths"):
        assert len(KEPT[name]) == states
    assert all(len(pair["cosines"]) == states for kind in ("pairs", "controls") for pair in KEPT[kind])
    assert [pair["word"] for pair in KEPT["pairs"]] == [word for word, *_ in PAIRS]
    assert KEPT["start"][0] == 1.0 and len(KEPT["attention"]) == KEPT["layers"]


def test_every_word_stands_in_both_of_its_sentences():
    for word, *both in (*PAIRS, *CONTROLS):
        for sentence in both:
            assert word in sentence.lower().rstrip(".").split()


@pytest.mark.slow
def test_committed_record_is_what_the_model_gives():
    if importlib.util.find_spec(minilm.PACKAGE.replace("-", "_")) is None:
        pytest.skip(f"{minilm.PACKAGE} is not installed")
    again = bench_refinement()
    for kind in ("pairs", "controls"):
        for now, expected in zip(again[kind], KEPT[kind], strict=True):
            np.testing.assert_allclose(now["cosines"], expected["cosines"], atol=2e-3)
    for name in ("start", "others", "lengths", "attention", "feed_forward", "step"):
        np.testing.assert_allclose(again[name], KEPT[name], rtol=2e-3, atol=2e-3)
    assert again["near"] == KEPT["near"]


def test_command_without_the_files_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr(minilm.importlib.util, "find_spec", lambda name: None)
    result = CliRunner().invoke(main, ["bench", "refinement"])
    assert result.exit_code != 0 and "softlookup[published]" in result.output
