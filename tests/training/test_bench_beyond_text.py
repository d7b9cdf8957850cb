"""The benches of chapter 13: the shapes of their records, what they compare, and what the page reads from them."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import long_attention as bench_long
from benchmarks import pairs as bench_pairs
from benchmarks.digits import ARMS, bench_digits, shifted, shuffle_pixels
from benchmarks.harness import measured
from benchmarks.kept_runs import KeptRuns
from softlookup.model import load_weights
from softlookup.training import digits, pictures

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured"


def full_run(name):
    return json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))


def test_digits_are_parted_once_and_for_all():
    first, second = digits.load_digits(), digits.load_digits()
    assert (len(first.train_labels), len(first.test_labels)) == (1437, 360)
    assert torch.equal(first.test_images, second.test_images) and torch.equal(first.test_labels, second.test_labels)
    assert first.train_images.shape[1:] == (1, 8, 8) and 0 <= first.train_images.min() < first.train_images.max() == 1
    learnt = {row.numpy().tobytes() for row in first.train_images}
    assert not [row for row in first.test_images if row.numpy().tobytes() in learnt]


def test_shifts_move_whole_pictures_by_one_pixel_at_most():
    images = torch.rand(40, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    moved = shifted(images, torch.Generator().manual_seed(2))
    assert shifted(images.to("meta"), torch.Generator().manual_seed(2)).is_meta  # wherever the pictures are
    inner = moved[:, 0, 1:7, 1:7]
    are_shifts = [
        any(torch.equal(now, was[0, 1 + i : 7 + i, 1 + j : 7 + j]) for i in (-1, 0, 1) for j in (-1, 0, 1))
        for now, was in zip(inner, images, strict=True)
    ]
    assert all(are_shifts) and not torch.equal(moved, images)


def test_shuffled_pixels_are_the_same_ones_in_every_picture():
    images = torch.arange(128.0).reshape(2, 1, 8, 8)
    shuffled = shuffle_pixels(images)
    assert not torch.equal(shuffled, images)
    assert torch.equal(shuffled[1] - shuffled[0], torch.full((1, 8, 8), 64.0))
    assert sorted(shuffled[0].flatten().tolist()) == images[0].flatten().tolist()


@pytest.mark.slow
def test_quick_bench_of_digits_has_the_fields_of_the_kept_one(tmp_path):
    lines = []
    record = bench_digits(quick=True, runs_file=tmp_path / "runs", weights=tmp_path / "weights", say=lines.append)
    assert measured(record) == measured(full_run("digits"))
    assert list(record["accuracy"]) == list(ARMS) and len(record["accuracy"]["vit"]) == 2
    assert len(lines) == 2 + len(ARMS) - 1 and not (tmp_path / "runs").exists()
    load_weights(digits.digit_vit(), tmp_path / "weights")


def test_kept_run_of_digits_reaches_what_the_page_says():
    record = full_run("digits")
    assert len(record["accuracy"]["vit"]) == 5 and record["median"]["vit"] >= 0.96
    assert record["median"]["vit"] == float(np.median(record["accuracy"]["vit"]))
    middle = record["median"]
    assert 0 <= middle["convolution"] - middle["convolution_shuffled"] < 0.02 > middle["vit"] - middle["vit_shuffled"]
    assert record["parameters"]["convolution"] < record["parameters"]["vit"] / 2


def test_kept_weights_of_digits_read_as_the_record_says():
    record, data, vit = full_run("digits"), digits.load_digits(), digits.digit_vit()
    load_weights(vit, MEASURED / "digits_vit.safetensors")
    expected = record["accuracy"]["vit"][record["seeds"].index(record["weights_of_seed"])]
    assert digits.accuracy(vit, data.test_images, data.test_labels) == pytest.approx(expected, abs=0.003)


def test_an_interrupted_bench_goes_on_where_it_was(tmp_path):
    calls = []

    def run(name):
        return lambda: calls.append(name) or name

    runs = KeptRuns(tmp_path / "runs", "plan")
    assert runs.do("a", run("a")) == "a"
    again = KeptRuns(tmp_path / "runs", "plan")
    assert (again.do("a", run("a")), again.do("b", run("b"))) == ("a", "b") and calls == ["a", "b"]
    other = KeptRuns(tmp_path / "runs", "another plan")
    other.do("a", run("a"))
    assert calls == ["a", "b", "a"]
    other.done()
    assert not (tmp_path / "runs").exists()


def test_a_damaged_file_of_runs_is_written_over(tmp_path):
    (tmp_path / "runs").write_text('{"plan": "plan", "ru', encoding="utf-8")
    assert KeptRuns(tmp_path / "runs", "plan").do("a", lambda: 1) == 1
    assert json.loads((tmp_path / "runs").read_text(encoding="utf-8"))["runs"] == {"a": 1}


def test_training_never_shows_a_pair_that_is_kept_back_nor_the_new_colour():
    things = pictures.training_things()
    shown = {(thing.colour, thing.shape) for thing in things}
    assert not shown & set(pictures.kept_back()) and pictures.NEW_COLOUR not in {colour for colour, _ in shown}
    assert {colour for colour, _ in pictures.kept_back()} == set(pictures.known_colours())
    assert {shape for _, shape in pictures.kept_back()} == set(pictures.SHAPES)
    assert len(shown) == len(things) == 36 - 6


def test_captions_become_ids_and_unknown_words_are_named():
    ids = pictures.encode(["a red circle", "one square , and it is blue"])
    assert ids.shape == (2, pictures.LONGEST) and ids[0, 0] == pictures.START
    back = [pictures.VOCABULARY[i] for i in ids[0].tolist()]
    assert back == ["<start>", "a", "red", "circle", "<end>", *["<pad>"] * 5]
    with pytest.raises(ValueError, match="'a mauve circle': the vocabulary does not have mauve"):
        pictures.encode(["a mauve circle"])
    with pytest.raises(ValueError, match="has 9 words; wanted at most 8"):
        pictures.encode(["a " * 9])


def test_pictures_have_the_colour_that_is_asked_for_in_the_middle_of_a_square():
    rng = np.random.default_rng(0)
    things = [pictures.Thing(colour, "square") for colour in pictures.COLOURS]
    painted = pictures.draw(things, rng)
    assert painted.shape == (len(things), 3, 16, 16) and 0 <= painted.min() and painted.max() <= 1
    middle = painted[:, :, 6:10, 6:10].mean(dim=(2, 3)).numpy()
    expected = np.array([pictures.COLOURS[thing.colour] for thing in things])
    assert np.abs(middle - expected).max() < 0.2


@pytest.mark.slow
def test_quick_bench_of_pairs_has_the_fields_of_the_kept_one(tmp_path):
    record = bench_pairs.bench_pairs(quick=True, runs_file=tmp_path / "runs", weights=tmp_path / "weights")
    assert measured(record) == measured(full_run("pairs"))
    assert list(record["right"]) == list(bench_pairs.TESTS) and record["chance"]["seen"] == pytest.approx(1 / 36)
    load_weights(pictures.small_pair(), tmp_path / "weights")


def test_kept_run_of_pairs_says_what_the_page_says():
    record = full_run("pairs")
    assert min(record["right"]["seen"]) > 0.8
    assert min(record["right"]["never_together"]) > 3 * record["chance"]["never_together"]
    assert record["median"]["new_word"] < 0.3


def test_quick_bench_of_long_texts_has_the_fields_of_the_kept_one():
    record = bench_long.bench_long(quick=True)
    assert measured(record) == measured(full_run("long_attention"))
    for way in bench_long.WAYS:
        assert len(record["seconds"][way]) == len(record["bytes"][way]) == len(record["lengths"])


def test_ways_that_must_agree_do_and_linear_attention_is_another():
    for record in (bench_long.bench_long(quick=True), full_run("long_attention")):
        assert max(record["apart"][way] for way in ("tiled", "torch", "local")) < 1e-12
        assert record["apart"]["linear"] > 0.1


def test_kept_run_of_long_texts_says_what_the_page_says():
    record = full_run("long_attention")
    last = [i for i, seconds in enumerate(record["seconds"]["full"]) if seconds][-1]
    peak_bytes = {way: record["bytes"][way][last] for way in bench_long.WAYS}
    took = {way: record["seconds"][way][last] for way in bench_long.WAYS}
    assert peak_bytes["tiled"] < peak_bytes["full"] / 2 and peak_bytes["linear"] < peak_bytes["full"] / 10
    assert took["linear"] < took["full"] / 10
