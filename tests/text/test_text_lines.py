"""Line ends as tokens."""

import pytest

from softlookup.text.bpe import BytePairTokenizer
from softlookup.text.lines import mark_lines, restore_lines

SCENE = "ANNA:\nWho goes there,\nso late?\n\nBEN:\nNobody."


@pytest.mark.parametrize("text", [SCENE, "one line", "\n", "\n\nto begin with", "at the end\n"])
def test_lines_come_back_as_they_were(text):
    assert "\n" not in mark_lines(text)
    assert restore_lines(mark_lines(text)) == text


def test_each_line_end_is_one_token_and_survives_the_tokenizer():
    tokenizer = BytePairTokenizer.train([mark_lines(SCENE)], vocab_size=60)
    ids = tokenizer.encode(mark_lines(SCENE))
    assert [tokenizer.vocabulary.token(i) for i in ids].count("▁↵") == SCENE.count("\n")
    assert restore_lines(tokenizer.decode(ids)) == SCENE
