"""What chapter 17 claims of its records beside its own cells."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

BOOK = Path(__file__).resolve().parents[2] / "book"
INSIDE = json.loads((BOOK / "measured" / "inside.json").read_text(encoding="utf-8"))
CAPTION = re.compile(r"caption=((?:\s*f?(?:\"[^\"\n]*\"|'(?:[^'\n\\]|\\.)*'))+)")


@pytest.mark.parametrize("page", sorted(BOOK.glob("*.md")), ids=lambda page: page.stem)
def test_captions_are_plain_text_without_asterisks_for_emphasis(page):
    captions = CAPTION.findall(page.read_text(encoding="utf-8"))
    assert [caption for caption in captions if re.search(r"\*[A-Za-z]", caption)] == []


def test_no_autoencoder_of_the_table_has_fewer_latents_than_dimensions():
    runs, width = INSIDE["autoencoder"]["runs"], INSIDE["autoencoder"]["width"]
    assert all(run["latents"] > width for run in runs)
    best = max(runs, key=lambda run: run["explained"])
    assert best["explained"] > 0.99 and best["recovered"] < INSIDE["autoencoder"]["features"] / 4


def test_heads_on_the_token_before_stand_below_the_induction_heads_and_above():
    induction = INSIDE["induction"]["smollm2"]
    lowest = (np.array(induction["scores"]) >= 0.3).any(axis=1).argmax()
    layers = np.argwhere(np.array(induction["previous_token"]) >= 0.3)[:, 0]
    assert (layers < lowest).any() and (layers > lowest).any()


def test_head_that_carries_the_country_is_the_same_in_both_experiments_on_it():
    patched, head = np.array(INSIDE["capital"]["heads"]), INSIDE["country_head"]
    place = head["layer"], head["head"]
    assert np.unravel_index(patched.argmax(), patched.shape) == place
    as_it_is, _, _, corrupted, exchanged = (reading["difference"] for reading in head["passes"])
    share = (exchanged - corrupted) / (as_it_is - corrupted)
    assert share == pytest.approx(patched[place], abs=1e-3)
    assert np.array(head["fall_when_silenced"])[place] == pytest.approx(
        as_it_is - head["passes"][1]["difference"], abs=2e-3
    )


def test_most_heads_that_attend_to_the_country_bring_nothing_back():
    attends = np.array(INSIDE["country_head"]["on_country"]) > 0.5
    effects = np.abs(np.array(INSIDE["capital"]["heads"])[attends])
    assert attends.sum() > 5 and (effects > 0.05).sum() == 1


def test_direction_changes_the_language_and_does_not_work_with_every_country():
    by_text = {direction["text"]: direction for direction in INSIDE["country_head"]["directions"]}
    italy, spain = by_text["People in Italy speak"], by_text["The capital of Spain is"]
    assert italy["added"][1] > italy["added"][0] and max(share for _, share in italy["drawn"]) < 0.01
    assert spain["added"][0] < 0.01 and spain["added"][1] < 0.1
