"""Byte-level tokens as SmolLM2 cuts them: every text comes back. Its ids are those of the library: tokenizer_json."""

import random
import unicodedata

import pytest
from other_tokenizers import byte_level_json

from softlookup.text import ByteLevelTokenizer, Specials, Vocabulary, split_words_and_digits
from softlookup.text.pieces import byte_characters

TEXTS = [
    "It's 1984, isn't it? They'll say we've won; I'd say I'm sorry you're wrong.",
    "  leading, trailing  and   runs of    spaces  ",
    "line\nline\n\n  indented\r\n\tafter a tab\n",
    "def f(x_1: int) -> None:\n    return {'a': [x_1 ** 2, 0x1F]}  # 10%\n",
    "Ünïcödé, naïve café, Straße; décomposé: e\u0301 a\u0308",
    "日本語と中文, 一二三; Ελληνικά; русский; עברית; हिन्दी; ไทย",
    "½ ² Ⅷ ٣ 一 1st 2nd x² H₂O 3.14e-10 १२३",
    "emoji 🙂👩‍👩‍👧 flags 🇫🇷 and \u200bzero width",
    "white\u00a0space\u2003of\u3000many\u0085kinds\u2028 \x1c\x1f end",
    "'S 'T 'RE capitals, ''quotes'' and 'tis",
    "",
    " ",
    "\n",
    "<|im_start|>user\nHi <|im_end|>\n<|endoftext|> <|im_end",
    "a▁b Ġ Ċ ▁",
]
NAMES = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def fuzz(n: int = 300) -> list[str]:
    """Texts of characters of all kinds, those that tokenizers disagree on among them."""
    chance = random.Random(0)
    kinds = [
        "abcXYZ", "0123456789", "   ", "\n\t\r\x0b\x0c", "'stmdrevl ", ".,;!?-_()[]{}#$%", "éüñßçøĳǆ", "²½Ⅷ٣१⑨",
        "\u0301\u0308\u200d\ufe0f", "日本語一二", "\u00a0\u2003\u3000\u0085\x1c\x1e\x1f\u180e\u200b", "🙂👧🇫", "אبहไ",
    ]  # fmt: skip
    return ["".join(chance.choice(chance.choice(kinds)) for _ in range(chance.randrange(1, 40))) for _ in range(n)]


@pytest.fixture(scope="module")
def tokenizer():
    model = byte_level_json(TEXTS * 3, NAMES)["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
    specials = Specials(pad=NAMES[2], unk=NAMES[0], start=NAMES[1], end=NAMES[2])
    return ByteLevelTokenizer(Vocabulary(tokens, specials), [tuple(pair) for pair in model["merges"]], NAMES)


def test_every_text_comes_back(tokenizer):
    for text in [*TEXTS, *fuzz()]:
        assert tokenizer.decode(tokenizer.encode(text), skip_specials=False) == text
        assert tokenizer.decode(tokenizer.encode(text, specials=False)) == text
        assert "".join(split_words_and_digits(text)) == text


def test_a_merge_that_stands_twice_in_the_list_is_refused(tokenizer):
    with pytest.raises(ValueError, match="stands in the list twice"):
        ByteLevelTokenizer(tokenizer.vocabulary, [*tokenizer.merges, tokenizer.merges[0]], NAMES)


def test_a_number_of_unicode_is_a_piece_by_itself():
    for text in [*TEXTS, *fuzz()]:
        for piece in split_words_and_digits(text):
            assert len(piece) == 1 or not any(unicodedata.category(c)[0] == "N" for c in piece)


def test_names_of_special_tokens_are_tokens_unless_told_otherwise(tokenizer):
    text = "a<|im_end|>b"
    assert tokenizer.tokens(text) == ["a", "<|im_end|>", "b"]
    assert tokenizer.encode(text)[1] == tokenizer.end_id == tokenizer.pad_id == 2
    plain = tokenizer.encode(text, specials=False)
    assert 2 not in plain and tokenizer.decode(plain) == text
    assert (
        tokenizer.decode(tokenizer.encode(text)) == "ab"
        and tokenizer.decode(tokenizer.encode(text), skip_specials=False) == text
    )
    assert tokenizer.encode("a", start=True, end=True) == [1, *tokenizer.encode("a"), 2]


def test_half_a_character_shows_as_one_that_is_none(tokenizer):
    first, *_ = tokenizer.encode("🙂", specials=False)
    assert len(tokenizer.encode("🙂")) > 1 and tokenizer.decode([first]).endswith("\ufffd")


def test_bytes_that_the_vocabulary_lacks_are_left_out():
    characters = [c for byte, c in enumerate(byte_characters()) if byte != 0x04]
    few = ByteLevelTokenizer(Vocabulary(characters, Specials("!", None, "!", "!")), [], [])
    assert few.decode(few.encode("a\x04b"), skip_specials=False) == "ab" and few.encode("\x04") == []


def test_save_and_load_give_the_same_tokenizer(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "kept.json")
    again = ByteLevelTokenizer.load(tmp_path / "kept.json")
    assert [again.encode(text) for text in TEXTS] == [tokenizer.encode(text) for text in TEXTS]
    assert again.vocabulary.specials == tokenizer.vocabulary.specials
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match=r"other.json does not hold 'softlookup byte-level merges', version 1"):
        ByteLevelTokenizer.load(tmp_path / "other.json")


def test_a_vocabulary_without_what_the_merges_make_is_refused():
    specials = Specials("a", None, "a", "a")
    with pytest.raises(ValueError, match="the vocabulary of 2 tokens lacks 'ab', which its merges need"):
        ByteLevelTokenizer(Vocabulary(["a", "b"], specials), [("a", "b")], [])
    with pytest.raises(ValueError, match="lacks '<x>'"):
        ByteLevelTokenizer(Vocabulary(["a", "b"], specials), [], ["<x>"])
    with pytest.raises(ValueError, match="id 2 is out of range"):
        ByteLevelTokenizer(Vocabulary(["a", "b"], specials), [], []).decode([2])
