"""Superposition and sparse autoencoders: what the papers say of them holds in small."""

import pytest
import torch

from softlookup.looking_inside import (
    SparseAutoencoder,
    recovered_features,
    sparse_features,
    train_autoencoder,
    train_superposition,
)


@pytest.fixture(scope="module")
def toy():
    return train_superposition(5, 2, (0.0, 0.95), steps=2000, batch=256, seed=1)


@pytest.mark.slow
def test_dense_features_get_as_many_dimensions_as_there_are_and_sparse_ones_share(toy):
    dense, sparse = toy.represented()
    assert dense <= 3 and sparse == 5
    assert toy.interference[1].min() > 1.0  # five directions in a plane are in each other's way
    assert toy.w.shape == (2, 2, 5) and toy.b.shape == toy.norms.shape == toy.interference.shape == (2, 5)
    assert toy.loss[1] < toy.loss[0]


@pytest.mark.slow
def test_interference_is_what_the_others_show_along_a_direction(toy):
    for w_DM, row_M in zip(toy.w, toy.interference, strict=True):
        for m in range(5):
            unit = w_DM[:, m] / w_DM[:, m].norm()
            others = sum((unit @ w_DM[:, n]).item() ** 2 for n in range(5) if n != m)
            assert row_M[m].item() == pytest.approx(others, rel=1e-4)


@pytest.mark.slow
def test_superposition_trains_each_model_as_if_alone(toy):
    # One loss for each: the sum of the losses has no gradient from one model to another.
    w = toy.w.clone().requires_grad_()
    torch.relu(torch.rand(2, 8, 5) @ w.mT @ w)[0].sum().backward()
    assert w.grad is not None and not w.grad[1].any()


def test_features_are_zero_as_often_as_asked():
    drawn = sparse_features((100_000, 2), torch.tensor([0.9, 0.2]), generator=torch.Generator().manual_seed(0))
    shares = (drawn == 0).double().mean(dim=0).tolist()
    assert shares == pytest.approx([0.9, 0.2], abs=0.01) and 0 <= drawn.min() and drawn.max() < 1


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((5, 5, (0.5,)), "got 5 features, width 5"),
        ((5, 2, ()), r"sparsities are \(\); wanted one or more"),
        ((5, 2, (1.0,)), "each at least 0 and below 1"),
    ],
)
def test_superposition_refuses_sizes_that_show_nothing(sizes, message):
    with pytest.raises(ValueError, match=message):
        train_superposition(*sizes)


@pytest.fixture(scope="module")
def known():
    """Directions of eight features at right angles, states of them in which nothing is hard, and the features."""
    directions = torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(0))).Q
    features = sparse_features((4000, 8), 0.9, generator=torch.Generator().manual_seed(1))
    return directions, features @ directions, features


@pytest.mark.slow
def test_autoencoder_recovers_features_at_right_angles(known):
    features, states, _ = known
    model = train_autoencoder(states, 8, sparsity=0.2, steps=1500)
    recovery, report = recovered_features(model, features, states), model.report(states)
    assert recovery.recovered == 8 and recovery.split == recovery.dead == recovery.unmatched == 0
    assert report["explained"] > 0.7 and report["active"] < 1.5 and report["dead"] == 0
    torch.testing.assert_close(model.directions.norm(dim=1), torch.ones(8))


def test_autoencoder_with_a_higher_price_is_sparser_and_reconstructs_less(known):
    _, states, _ = known
    cheap, dear = (train_autoencoder(states, 16, sparsity=price, steps=400).report(states) for price in (0.01, 0.5))
    assert cheap["explained"] > dear["explained"] and cheap["active"] > dear["active"]


def test_count_of_features_says_split_unmatched_and_dead():
    model = SparseAutoencoder(3, 5)
    with torch.no_grad():
        model.directions.copy_(torch.tensor([[1.0, 0, 0], [1, 0.1, 0], [0, -1, 0], [0, 0, 1], [0, 0.6, 0.8]]))
        model.w_encoder.copy_(model.directions.mT)
        model.b_encoder.copy_(torch.tensor([0.0, 0, 0, -100, 0]))
    states = torch.randn(200, 3)
    recovery = recovered_features(model, 2 * torch.eye(3), states)
    assert recovery.latents.tolist() == [2, 0, 0]
    assert (recovery.recovered, recovery.split, recovery.unmatched, recovery.dead) == (1, 1, 2, 1)
    torch.testing.assert_close(recovery.best, torch.tensor([1.0, 0.6, 0.8]))
    assert model.report(states)["dead"] == 1


def test_autoencoders_refuse_what_shows_nothing(known):
    features, states, _ = known
    with pytest.raises(ValueError, match="got 0 states"):
        train_autoencoder(states[:0], 4)
    with pytest.raises(ValueError, match="sparsity -1"):
        train_autoencoder(states, 4, sparsity=-1.0)
    with pytest.raises(ValueError, match="width is 3, n_latents 0; wanted at least 1"):
        SparseAutoencoder(3, 0)
    model = SparseAutoencoder(8, 4)
    with pytest.raises(ValueError, match="a feature has length 0"):
        recovered_features(model, features * 0, states)
    with torch.no_grad():
        model.b_encoder.fill_(-100)
    with pytest.raises(ValueError, match="no latent is ever active"):
        recovered_features(model, features, states)


# TopK autoencoders and transcoders.


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
def test_top_k_does_not_shrink_latents_as_a_price_does(known):
    _, states, _ = known
    dense, priced = (train_autoencoder(states, 8, steps=500, **setting) for setting in ({"k": 8}, {"sparsity": 0.5}))
    strength = [net.encode(states).sum(dim=1).mean() for net in (dense, priced)]
    assert strength[1] < 0.9 * strength[0]
    assert train_autoencoder(states, 8, k=2, steps=500).report(states)["active"] <= 2


@pytest.mark.slow
def test_transcoder_learns_a_map_that_is_not_the_identity(known):
    _, states, features = known
    targets = features.roll(1, dims=1) + 3
    net = train_autoencoder(states, 16, k=4, targets=targets, steps=1000)
    assert net.report(states, targets)["explained"] > 0.9
    assert net.report(states)["explained"] < 0


def test_top_k_and_transcoders_refuse_what_does_not_fit(known):
    _, states, features = known
    for k in (0, 9):
        with pytest.raises(ValueError, match=f"k is {k}; wanted 1 to the 8 latents"):
            train_autoencoder(states, 8, k=k)
    with pytest.raises(ValueError, match=r"targets have the shape \(4000, 7\); wanted that of states, \(4000, 8\)"):
        train_autoencoder(states, 8, targets=features[:, 1:])
