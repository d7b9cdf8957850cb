"""TopK autoencoders and transcoders, and the bench that compares them."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from benchmarks.harness import measured
from benchmarks.looking_inside.codes import CodesSizes, bench_codes
from softlookup.looking_inside import SparseAutoencoder, sparse_features, train_autoencoder

STORED = Path(__file__).parents[2] / "book" / "measured" / "codes.json"


@pytest.fixture(scope="module")
def at_right_angles():
    """States of eight features with directions at right angles, and the features."""
    directions = torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(0))).Q
    features = sparse_features((4000, 8), 0.9, generator=torch.Generator().manual_seed(1))
    return features @ directions, features


@pytest.mark.parametrize("k", [1, 3, 7])
def test_top_k_leaves_the_largest_latents_of_each_state_as_they_are(k):
    generator = torch.Generator().manual_seed(2)
    dense = SparseAutoencoder(5, 7, generator=generator)
    net = SparseAutoencoder(5, 7, k=k)
    net.load_state_dict(dense.state_dict())
    states = torch.randn(3, 4, 5, generator=generator)
    for latents, every in zip(net.encode(states).view(-1, 7), dense.encode(states).view(-1, 7), strict=True):
        largest = sorted(every.tolist(), reverse=True)[:k]
        assert sorted(latents.tolist(), reverse=True)[:k] == largest
        assert latents.count_nonzero() == sum(value > 0 for value in largest)


@pytest.mark.slow
def test_top_k_does_not_shrink_latents_as_a_price_does(at_right_angles):
    states, _ = at_right_angles
    dense, priced = (train_autoencoder(states, 8, steps=500, **setting) for setting in ({"k": 8}, {"sparsity": 0.5}))
    strength = [net.encode(states).sum(dim=1).mean() for net in (dense, priced)]
    assert strength[1] < 0.9 * strength[0]
    assert train_autoencoder(states, 8, k=2, steps=500).report(states)["active"] <= 2


@pytest.mark.slow
def test_transcoder_learns_a_map_that_is_not_the_identity(at_right_angles):
    states, features = at_right_angles
    targets = features.roll(1, dims=1) + 3
    net = train_autoencoder(states, 16, k=4, targets=targets, steps=1000)
    assert net.report(states, targets)["explained"] > 0.9
    assert net.report(states)["explained"] < 0


def test_top_k_and_transcoders_refuse_what_does_not_fit(at_right_angles):
    states, features = at_right_angles
    for k in (0, 9):
        with pytest.raises(ValueError, match=f"k is {k}; wanted 1 to the 8 latents"):
            train_autoencoder(states, 8, k=k)
    with pytest.raises(ValueError, match=r"targets have the shape \(4000, 7\); wanted that of states, \(4000, 8\)"):
        train_autoencoder(states, 8, targets=features[:, 1:])


@pytest.fixture(scope="module")
def stored():
    return json.loads(STORED.read_text(encoding="utf-8"))


def test_stored_codes_have_the_fields_of_a_new_run(stored):
    assert measured(stored) == measured(bench_codes(quick=True))
    assert stored["sizes"] == json.loads(json.dumps(asdict(CodesSizes())))


def test_stored_codes_compare_within_what_was_measured(stored):
    assert stored["ratio"] < 1
    for rate in stored["sizes"]["rates"]:
        active = [run["active"] for run in stored["l1"] if run["rate"] == rate]
        assert min(active) < min(stored["sizes"]["ks"]) and max(active) > max(stored["sizes"]["ks"])
    assert stored["loss"] < min(run["loss"] for run in stored["transcoders"]) < stored["loss_mean"]
