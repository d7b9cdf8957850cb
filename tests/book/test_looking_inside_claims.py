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
