"""The benches of what is inside trained models: records have all experiments, and committed runs are whole ones."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.harness import measured
from benchmarks.looking_inside import bench_inside
from benchmarks.looking_inside.codes import CodesSizes, bench_codes
from benchmarks.looking_inside.sizes import QUICK, InsideSizes

MEASURED = Path(__file__).parents[2] / "book" / "measured"


@pytest.fixture(scope="module")
def quick():
    return bench_inside(quick=True)


@pytest.fixture(scope="module")
def full_run():
    return json.loads((MEASURED / "inside.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def stored():
    return json.loads((MEASURED / "codes.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_record_of_a_quick_run_leaves_out_smollm2(quick):
    assert quick["ratio"] is quick["attribution"] is quick["capital"] is None
    assert quick["sizes"] == json.loads(json.dumps(asdict(QUICK)))
    for name in ("induction", "sinks", "lens"):
        assert quick[name]["smollm2"] is None and quick[name]["writer"]


@pytest.mark.slow
def test_kept_record_has_the_fields_of_a_new_one_and_is_whole(quick, full_run):
    assert measured(full_run) == measured(quick)
    assert full_run["sizes"] == json.loads(json.dumps(asdict(InsideSizes())))
    assert full_run["ratio"] > 1 and full_run["seconds"] < 360
    for name in ("induction", "sinks", "lens"):
        assert full_run[name]["smollm2"].keys() == full_run[name]["writer"].keys() == quick[name]["writer"].keys()


@pytest.mark.slow
def test_gender_is_read_from_the_noun_alone_in_a_new_run_as_in_the_kept_one(quick, full_run):
    for new, old in zip(quick["gender"], full_run["gender"][:1], strict=True):
        assert new["clean_difference"] > new["corrupted_difference"]
        assert new["strongest"] == old["strongest"]
        entering = [new["encoder_states"][0][i] for i in range(len(new["source_tokens"]))]
        assert max(entering) == pytest.approx(1, abs=1e-3)
        assert sorted(entering)[:-1] == pytest.approx([0] * (len(entering) - 1), abs=1e-3)


def test_every_autoencoder_accounts_for_all_its_latents(full_run):
    for run in full_run["autoencoder"]["runs"]:
        assert run["dead"] + run["unmatched"] + run["recovered"] <= run["latents"]
        assert run["split"] <= run["recovered"] <= full_run["autoencoder"]["features"]


def test_children_of_a_family_are_never_found_by_themselves(full_run):
    assert all(run["children"] == 0 for run in full_run["families"]["runs"])
    assert max(run["sums"] for run in full_run["families"]["runs"]) == full_run["families"]["children"]


def test_stored_codes_have_the_fields_of_a_new_run(stored):
    assert measured(stored) == measured(bench_codes(quick=True))
    assert stored["sizes"] == json.loads(json.dumps(asdict(CodesSizes())))


def test_stored_codes_compare_within_what_was_measured(stored):
    assert stored["ratio"] < 1
    for rate in stored["sizes"]["rates"]:
        active = [run["active"] for run in stored["l1"] if run["rate"] == rate]
        assert min(active) < min(stored["sizes"]["ks"]) and max(active) > max(stored["sizes"]["ks"])
    assert stored["loss"] < min(run["loss"] for run in stored["transcoders"]) < stored["loss_mean"]
