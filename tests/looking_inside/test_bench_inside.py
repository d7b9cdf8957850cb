"""The benches of what is inside trained models: records have all experiments, and committed runs are whole ones."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from benchmarks.harness import measured
from benchmarks.looking_inside import bench_inside
from benchmarks.looking_inside.codes import CodesSizes, bench_codes
from benchmarks.looking_inside.patching_grid import QUICK_PROMPTS, PatchingSizes, _Grid, bench_patching
from benchmarks.looking_inside.reading import writer
from benchmarks.looking_inside.sizes import QUICK, InsideSizes
from softlookup.looking_inside import activation_patching
from softlookup_course.widgets.patching_grid import unpack

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


def test_kept_patches_have_the_fields_of_a_new_run_whose_vectors_carry_the_answer():
    new, committed = bench_patching(quick=True), json.loads((MEASURED / "patching.json").read_text(encoding="utf-8"))
    assert measured(new) == measured(committed) and committed["sizes"] == asdict(PatchingSizes())
    assert [entry["name"] for entry in new["arrays"]] == [entry["name"] for entry in committed["arrays"]]
    shares = unpack(new)["shares"]  # corrupted, clean, layers passed, position
    first = next(t for t, (left, right) in enumerate(zip(*new["pieces"], strict=True)) if left != right)
    assert shares[0, 1, -1, -1] == 1, "after all layers the last vector is the answer"
    assert (shares[0, 1, :, :first] == 0).all() and (shares[0, 0] == 0).all()


def test_patched_shares_are_those_of_activation_patching():
    chat, (clean, corrupted) = writer(), (text for text, _ in QUICK_PROMPTS)
    grid = _Grid(chat, QUICK_PROMPTS)
    ids = {text: torch.tensor([chat.encode(text)]) for text in (clean, corrupted)}
    token, other = grid.answers.tolist()

    def run(text, trace):
        logits_V = chat.model(ids[text], trace=trace)[0, -1]
        return logits_V[token] - logits_V[other]

    layers, heads = range(grid.n_layers), range(grid.n_heads)
    states = activation_patching(
        run, clean, corrupted, [("state", i) for i in range(grid.n_layers + 1)], positions=range(grid.length)
    )
    one_head = activation_patching(run, clean, corrupted, [("heads", i, j) for i in layers for j in heads])
    torch.testing.assert_close(torch.tensor(grid.states(1)["shares"][0]), states, atol=1e-3, rtol=0)
    got = torch.tensor(grid.heads(1)["shares"][0])
    torch.testing.assert_close(got, one_head.reshape(grid.n_layers, -1), atol=1e-3, rtol=0)
