"""What the page of chapter 6 asserts in words holds in numbers."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from softlookup import model, reference

PAGE = Path(__file__).resolve().parents[2] / "book" / "06_positions.md"
RUN = json.loads((PAGE.parent / "measured" / "positions.json").read_text(encoding="utf-8"))


def measured(kind, part):
    return {method: float(np.mean(parts[part])) for method, parts in RUN[kind].items()}


@pytest.fixture
def rng():
    return np.random.default_rng(60)


def head(x, rng_weights, mask=None):
    return reference.one_head(x, *rng_weights, mask)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_equivariant_without_a_mask_and_not_with_a_causal_one(rng, causal):
    x, weights = rng.normal(size=(6, 4)), rng.normal(size=(3, 4, 4))
    order = np.array([2, 5, 0, 1, 3, 4])
    mask = reference.causal_mask(6) if causal else None
    gap = np.abs(head(x[order], weights, mask) - head(x, weights, mask)[order]).max()
    assert gap > 0.1 if causal else gap < 1e-12
    moved = np.abs(head(x[order], weights) - head(x, weights)).max()
    pooled = np.abs(head(x[order], weights).mean(0) - head(x, weights).mean(0)).max()
    assert moved > 0.1 and pooled < 1e-12


def test_every_row_of_sinusoids_has_one_length_and_every_step_too():
    for width in (4, 64, 512):
        table = reference.sinusoidal(3000, width, offset=7)
        np.testing.assert_allclose(np.linalg.norm(table, axis=1), np.sqrt(width / 2))
        steps = np.linalg.norm(np.diff(table, axis=0), axis=1)
        assert np.ptp(steps) < 1e-9


def test_cosine_of_the_next_pair_would_make_lengths_differ():
    """Question 2's third choice."""
    speeds = 10_000.0 ** (-np.arange(0, 10, 2) / 8)
    p = np.arange(50)[:, None]
    rows = np.hstack([np.sin(p * speeds[:-1]), np.cos(p * speeds[1:])])
    assert np.ptp(np.linalg.norm(rows, axis=1)) > 0.1


def test_products_of_sinusoids_do_not_see_the_sign_and_rotary_scores_do(rng):
    table = reference.sinusoidal(40, 16)
    assert table[10] @ table[17] == pytest.approx(table[17] @ table[10])
    q, k = rng.normal(size=(2, 1, 8))
    ahead, behind = (
        (reference.rotary(q, offset=a) @ reference.rotary(k, offset=b).T).item() for a, b in ((3, 10), (10, 3))
    )
    assert abs(ahead - behind) > 0.1


def test_places_from_one_leave_every_score_and_turning_the_other_way_leaves_the_distance_alone(rng):
    q, k = rng.normal(size=(2, 6, 8))
    right = reference.rotary(q) @ reference.rotary(k).T
    np.testing.assert_allclose(reference.rotary(q, offset=1) @ reference.rotary(k, offset=1).T, right)

    def clockwise(x, start):
        return np.stack([reference.rotary(row[None], offset=-start - t)[0] for t, row in enumerate(x)])

    near, far = (clockwise(q, s) @ clockwise(k, s).T for s in (0, 50))
    np.testing.assert_allclose(near, far)
    assert np.abs(near - right).max() > 0.1


def test_only_the_first_token_comes_out_right_in_the_other_pairing():
    x = torch.randn(1, 2, 5, 8)
    neighbours, halves = model.RotaryPositions(8)(x), model.RotaryPositions(8, pairing="halves")(x)
    torch.testing.assert_close(neighbours[:, :, 0], halves[:, :, 0])
    assert not torch.allclose(neighbours[:, :, 1], halves[:, :, 1], atol=0.01)


def test_learned_matrix_on_both_side_by_side_is_a_sum_again(rng):
    x, pe, w = rng.normal(size=(5, 4)), rng.normal(size=(5, 4)), rng.normal(size=(8, 3))
    np.testing.assert_allclose(np.hstack([x, pe]) @ w, x @ w[:4] + pe @ w[4:])


def test_bucket_worked_by_hand_is_the_librarys():
    back = torch.tensor([3, 4, 5, 6, 7, 8, 9, 13, 14, 500])
    expected = [3, 4, 4, 5, 5, 5, 6, 6, 7, 7]
    got = model.t5_bucket(-back, n_buckets=8, max_distance=20, bidirectional=False)
    assert got.tolist() == expected


def test_first_token_comes_out_right_in_the_other_pairing_where_it_sees_itself_alone():
    layer, x = model.MultiHeadAttention(8, 1), torch.randn(1, 5, 8)
    turns = [model.RotaryPositions(8, pairing=pairing) for pairing in ("neighbours", "halves")]
    causal = model.masks.causal_mask(5)
    with torch.no_grad():
        neighbours, halves = (layer(x, mask=causal, rotary=turn) for turn in turns)
        seen_neighbours, seen_halves = (layer(x, rotary=turn) for turn in turns)
    torch.testing.assert_close(neighbours[:, 0], halves[:, 0])
    assert (neighbours[:, 1:] - halves[:, 1:]).abs().max() > 1e-3
    assert (seen_neighbours[:, 0] - seen_halves[:, 0]).abs().max() > 1e-3


def test_turn_worked_by_hand_is_right():
    cos, sin = np.cos(1.0), np.sin(1.0)
    assert (round(cos, 3), round(sin, 3)) == (0.540, 0.841)
    assert (round(2 * cos - sin, 2), round(2 * sin + cos, 2)) == (0.24, 2.22)


def test_slopes_are_one_series_for_powers_of_two_and_of_two_for_other_numbers():
    for n in (1, 2, 4, 8, 16):
        np.testing.assert_allclose(reference.alibi_slopes(n), 2.0 ** (-8 * np.arange(1, n + 1) / n))
    np.testing.assert_allclose(reference.alibi_slopes(6)[:4], reference.alibi_slopes(4))
    np.testing.assert_allclose(reference.alibi_slopes(6)[4:], reference.alibi_slopes(8)[[0, 2]])


def test_both_copies_of_the_slides_table_have_a_slip_in_one_cell():
    """The first has it in position 4 as well; the later one has cos 4 right and cos 0.07 wrong."""
    table = reference.sinusoidal(8, 4)
    assert f"{table[4, 1]:.2f}" == "-0.65" and f"{table[7, 3]:.2f}" == "1.00"


def test_race_is_told_as_it_was_run():
    """What the list under the curves asserts in words, beside the numbers that it prints."""
    fetched, nats = measured("back", "trained"), measured("text", "trained")
    assert min(fetched, key=fetched.get) == "none" == max(nats, key=nats.get)
    assert fetched["none"] > 2 / RUN["letters"]
    assert all(fetched[method] > 0.995 for method in ("sinusoidal", "t5", "rotary", "rotary_halves"))
    assert fetched["alibi"] < 0.5 and fetched["learned"] < 0.7
    far = measured("text", "four_times")
    assert sorted(far, key=far.get)[-2:] == ["rotary", "rotary_halves"]
    assert min(far, key=far.get) == "alibi" and far["alibi"] - nats["alibi"] < 0.15
    assert all(far[method] > 3 * nats[method] * 0.9 for method in ("sinusoidal", "learned"))
    assert nats["t5"] < measured("text", "twice")["t5"] < far["t5"] < far["none"]
    far_fetched = measured("back", "four_times")
    assert set(sorted(nats, key=nats.get)[:3]) == {"t5", "rotary", "rotary_halves"}
    assert max(far_fetched, key=far_fetched.get) == "t5" and far_fetched["t5"] < 0.55 and far_fetched["alibi"] < 0.4
    assert far_fetched["rotary"] < 0.15 < 0.85 < measured("back", "twice")["rotary"]
    assert abs(measured("back", "twice")["learned"] - 1 / RUN["letters"]) < 0.01
    assert nats["learned"] > nats["sinusoidal"] and fetched["learned"] < fetched["sinusoidal"]
    for kind, gap in (("back", 0.1), ("text", 0.15)):
        for part in ("trained", "twice", "four_times"):
            results = measured(kind, part)
            assert abs(results["rotary"] - results["rotary_halves"]) < gap


def test_far_distances_of_the_race_fall_into_buckets_that_never_occurred_and_none_into_the_last():
    bucket = model.t5_bucket(-torch.arange(RUN["times"] * RUN["length"]), bidirectional=False)
    met, later = (set(part.tolist()) for part in bucket.tensor_split([RUN["length"]]))
    assert not met & later and max(later) < 31


def test_row_before_is_found_by_the_matrix_of_one_step_back():
    table = reference.sinusoidal(100, 16)
    angles = -reference.angles(np.array([1]), 16)[0]
    back = np.zeros((16, 16))
    for i, a in enumerate(angles):
        back[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]
    assert ((table @ back @ table.T).argmax(axis=1)[1:] == np.arange(99)).all()


def test_one_wave_has_two_positions_alike_and_a_sine_with_its_cosine_has_not():
    waves = np.array([[np.cos(2 * np.pi * p / period) for period in (8, 4, 2)] for p in range(8)])
    np.testing.assert_allclose(waves[1], waves[7], atol=1e-12)
    pair = np.array([[np.sin(2 * np.pi * p / 8), np.cos(2 * np.pi * p / 8)] for p in range(8)])
    assert len(np.unique(pair.round(9), axis=0)) == 8


def test_set_up_cell_of_the_page_prints_nothing():
    """A last line with a value would be shown, and torch's generator has another address each time."""
    assert "\ntorch.manual_seed(6)\n```" not in PAGE.read_text(encoding="utf-8")
