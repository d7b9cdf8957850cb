"""A translation with its cross-attention: what Python sends is one head of the model, in a reader's words."""

import json

import pytest
import torch

from softlookup.live import rounded
from softlookup.model import load_translator
from softlookup.model.published.translator import Alignment
from softlookup_course.widgets import AlignmentLines
from softlookup_course.widgets.alignment_lines import LEAST, readable, still_picture

ENGLISH = "The black cat sleeps on a red chair."


@pytest.fixture(scope="module")
def alignment():
    translator = rounded(load_translator())
    return translator.alignment(ENGLISH, translator.translate(ENGLISH, beams=1).text)


def test_weights_and_lines_are_those_of_the_head(alignment):
    sent = AlignmentLines(alignment, layer=3, head=4).translation
    assert json.loads(json.dumps(sent)) == sent
    torch.testing.assert_close(torch.tensor(sent["weights"]), alignment.weights[2, 3], atol=0.00051, rtol=0)
    places = {(line["row"], line["column"]) for line in sent["lines"]}
    assert places == {(t, s) for t, row in enumerate(sent["weights"]) for s, w in enumerate(row) if w >= LEAST}


def test_first_page_shows_adjectives_that_change_places(alignment):
    sent = AlignmentLines(alignment, layer=3, head=4).translation
    for french, english in (("noir", "black"), ("chat", "cat"), ("rouge", "red"), ("chaise", "chair")):
        row = sent["weights"][sent["target"].index(french)]
        assert row.index(max(row)) == sent["source"].index(english) and max(row) > 0.9


def test_no_special_token_is_shown_bare(alignment):
    figure = AlignmentLines(alignment, layer=1, head=1)
    assert figure.translation["source"][-1] == figure.translation["target"][-1] == "(end)"
    assert readable("<unk>") == "(unknown)" and readable("▁cat") == "cat"
    assert "&lt;/s&gt;" not in figure.fallback and "</s>" not in figure.fallback


def test_still_picture_has_every_word_and_line_and_escapes_them():
    made_up = Alignment(("▁<b>", "</s>"), ("▁x", "</s>"), torch.tensor([[[[0.75, 0.25], [0.0, 1.0]]]]))
    figure = AlignmentLines(made_up, layer=1, head=1)
    assert figure.fallback == still_picture(figure.translation)
    assert "<li>&lt;b&gt;</li>" in figure.fallback and figure.fallback.count("<path") == 3
