"""What Python sends to the tokenizer figure, and what it refuses."""

import re

import pytest

from softlookup import text
from softlookup.text.bpe_training import base_alphabet
from softlookup.text.pieces import count_pieces
from softlookup_course.widgets import Learned
from softlookup_course.widgets.tokenizer import CUTS, as_json, static_text, tokens_of

LINES = ["The child eats an orange.", "L'enfant mange une orange."] * 3


@pytest.fixture(scope="module")
def learned():
    return Learned.from_steps("six lines", "About them.", LINES, list(text.train_steps(LINES, vocab_size=70)))


def test_record_holds_merges_counts_and_lists_in_the_order_of_their_ids(learned):
    data = as_json(learned)
    steps = list(text.train_steps(LINES, vocab_size=70))
    assert data["merges"] == [list(step.pair) for step in steps]
    assert data["times"] == [step.times for step in steps]
    vocabulary = learned.tokenizer.vocabulary
    made = [left + right for left, right in data["merges"]]
    assert [*data["specials"], *data["alphabet"], *made] == list(vocabulary.tokens)
    assert data["words"] == list(text.WordTokenizer.train(LINES).vocabulary.tokens)
    assert data["characters"] == list(text.CharacterTokenizer.train(LINES).vocabulary.tokens)


@pytest.mark.parametrize("n_merges", [0, 3, 1000])
def test_pieces_of_byte_pairs_are_those_of_a_tokenizer_with_so_many_merges(learned, n_merges):
    small = text.BytePairTokenizer(learned.tokenizer.alphabet, learned.tokenizer.merges[:n_merges])
    got = tokens_of(learned, "An orangé child", "byte pairs", n_merges)
    assert [piece for piece, _ in got] == small.tokens("An orangé child")
    assert [number for _, number in got] == small.encode("An orangé child")
    assert ("é", 1) in got


def test_cuts_without_a_list_have_no_ids():
    bare = Learned("bare", "", text.BytePairTokenizer("ab▁", []))
    assert tokens_of(bare, "a b", "words", 0) == [("a", None), ("b", None)]
    assert tokens_of(bare, "a b", "characters", 0) == [("a", None), (" ", None), ("b", None)]
    assert as_json(bare)["words"] is None and as_json(bare)["times"] is None


def test_static_text_holds_each_cut_and_cannot_be_broken_by_a_text(learned):
    html = static_text(learned, "<b> child")
    assert "<b>" not in html and "&lt;" in html
    for cut in CUTS:
        row = re.search(rf'<th scope="row">{cut}</th><td>(\d+)</td>', html)
        assert int(row[1]) == len(tokens_of(learned, "<b> child", cut, 1000))


def test_alphabet_of_the_steps_is_that_of_the_tokenizer(learned):
    assert list(learned.tokenizer.alphabet) == base_alphabet(count_pieces(LINES))
