"""The first page's recorded translation: the picture for readers without scripts, and what the card plays."""

import json
import re

import pytest
import torch

from softlookup.live import rounded
from softlookup.model import load_translator
from softlookup_course.figures.recorded import LEAST, recorded_translation

ENGLISH = "The black cat sleeps on a red chair."
RECORD = re.compile(r'<script type="application/json">(.*?)</script>', re.S)


@pytest.fixture(scope="module")
def alignment():
    translator = rounded(load_translator())
    return translator.alignment(ENGLISH, translator.translate(ENGLISH, beams=1).text)


@pytest.fixture(scope="module")
def written(alignment):
    weights = alignment.weights[2, 3].tolist()
    return recorded_translation(alignment.source_tokens, alignment.tokens, weights, layer=3, head=4)


@pytest.fixture(scope="module")
def record(written):
    return json.loads(RECORD.search(written)[1])


def test_record_has_the_weights_of_the_head_and_no_row_of_the_end(alignment, record):
    torch.testing.assert_close(torch.tensor(record["weights"]), alignment.weights[2, 3, :-1], atol=0.00051, rtol=0)
    assert (record["layer"], record["head"]) == (3, 4)
    assert record["source"] == [*alignment.source_tokens[:-1], "(end)"]
    assert record["target"] == [*alignment.tokens[:-1]]


def test_first_page_shows_adjectives_that_change_places(record):
    for french, english in (("▁noir", "▁black"), ("▁chat", "▁cat"), ("▁rouge", "▁red"), ("▁chaise", "▁chair")):
        row = record["weights"][record["target"].index(french)]
        assert row.index(max(row)) == record["source"].index(english) and max(row) > 0.9


def test_picture_has_every_word_and_each_line_that_is_drawn(record, written):
    words = re.findall("<li>(.*?)</li>", written)
    assert words == [token.removeprefix("▁") for token in [*record["source"][:-1], *record["target"]]]
    strong = [weight for row in record["weights"] for weight in row[:-1] if weight >= LEAST]
    assert written.count("<path") == len(strong) > 8


def test_no_word_ends_the_script_or_begins_an_element():
    written = recorded_translation(("▁</script>", "</s>"), ("▁<b>", "</s>"), [[0.75, 0.25], [0.0, 1.0]], 1, 1)
    assert written.count("</script>") == 1 and "<b>" not in written and "<li>&lt;b&gt;</li>" in written
    assert json.loads(RECORD.search(written)[1])["source"][0] == "▁</script>"


def test_texts_without_an_end_and_weights_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="must end with </s>, got ▁a and </s>"):
        recorded_translation(("▁a",), ("</s>",), [[1.0]], 1, 1)
    with pytest.raises(ValueError, match="1 rows of 2 numbers"):
        recorded_translation(("▁a", "</s>"), ("</s>",), [[1.0]], 1, 1)
