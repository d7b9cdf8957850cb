"""Vocabularies, and the word and character tokenizers."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.text import CharacterTokenizer, Specials, Vocabulary, WordTokenizer, join_words, split_words
from softlookup.text.grammar import sample
from tests.refusing import refused

TEXTS = ["The dog eats.", "The dog sees the cat.", "A cat?"]


def test_with_specials_puts_them_first():
    vocabulary = Vocabulary.with_specials(["sun", "moon"])
    assert vocabulary.tokens == ("<pad>", "<unk>", "<s>", "</s>", "sun", "moon") and len(vocabulary) == 6
    assert (vocabulary.pad_id, vocabulary.unk_id, vocabulary.start_id, vocabulary.end_id) == (0, 1, 2, 3)


def test_specials_may_stand_anywhere_and_have_other_names():
    vocabulary = Vocabulary(["sun", "E", "S", "U", "P"], Specials(pad="P", unk="U", start="S", end="E"))
    assert (vocabulary.pad_id, vocabulary.unk_id, vocabulary.start_id, vocabulary.end_id) == (4, 3, 2, 1)


def test_tokens_and_ids_lead_to_each_other():
    vocabulary = Vocabulary.with_specials(["sun", "moon"])
    assert [vocabulary.token(vocabulary.id(token)) for token in vocabulary.tokens] == list(vocabulary.tokens)
    assert vocabulary.token(np.int64(5)) == "moon"
    assert "moon" in vocabulary and "star" not in vocabulary


def test_an_unknown_token_is_unk_or_an_error_where_there_is_none():
    assert Vocabulary.with_specials(["sun"]).id("star") == 1
    strict = Vocabulary.with_specials(["sun"], Specials(unk=None))
    assert strict.tokens == ("<pad>", "<s>", "</s>", "sun") and strict.id("sun") == 3
    with pytest.raises(KeyError, match="token 'star' is not among the 4 tokens, and there is no unknown token"):
        strict.id("star")
    with pytest.raises(KeyError, match="this vocabulary has no unknown token"):
        _ = strict.unk_id


@pytest.mark.parametrize("number", [6, -1, 10**9])
def test_ids_out_of_range_are_named(number):
    with pytest.raises(ValueError, match=f"id {number} is out of range: the vocabulary has 6 tokens, 0 to 5"):
        Vocabulary.with_specials(["sun", "moon"]).token(number)


@pytest.mark.usefixtures("unchecked")
def test_ids_that_are_not_whole_are_refused():
    with pytest.raises(TypeError):
        Vocabulary.with_specials(["sun"]).token(1.0)
    with pytest.raises(TypeError):
        WordTokenizer.train(TEXTS).decode([4.0])


def test_tokens_that_come_twice_or_are_missing_are_named():
    with pytest.raises(ValueError, match="token 'sun' stands in the vocabulary twice: ids 4 and 6"):
        Vocabulary.with_specials(["sun", "moon", "sun"])
    with pytest.raises(ValueError, match="token '<s>' stands in the vocabulary twice"):
        Vocabulary.with_specials(["<s>"])
    with pytest.raises(ValueError, match="no special token '</s>' among its 3 tokens"):
        Vocabulary(["<pad>", "<unk>", "<s>"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Elle n'aime pas l'orange.", ["Elle", "n'", "aime", "pas", "l'", "orange", "."]),
        ("it’s 3.5, well-made!", ["it’", "s", "3", ".", "5", ",", "well", "-", "made", "!"]),
        ("'a' (b)", ["'", "a", "'", "(", "b", ")"]),
        ("e\u0301te\u0301", ["été"]),
        (" \n", []),
    ],
)
def test_split_words_takes_words_and_marks_apart(text, words):
    assert split_words(text) == words


def test_join_words_writes_sentences():
    assert join_words(["L'", "ami", "(", "il", "d’", "ici", ")", ",", "oui", "!"]) == "L'ami (il d’ici), oui!"
    assert join_words(["a", "'", "b"]) == "a ' b" and join_words(["'", "b"]) == "' b" and join_words([]) == ""


@given(st.text(max_size=40))
def test_words_hold_all_that_is_not_space(text):
    words = split_words(text)
    assert "".join(words) == "".join(unicodedata.normalize("NFC", text).split())
    assert split_words(join_words(words)) == words or any(word in "'’" for word in words)


def test_word_training_takes_the_commonest_first():
    tokenizer = WordTokenizer.train(TEXTS)
    assert tokenizer.vocabulary.tokens[4:] == (".", "The", "cat", "dog", "?", "A", "eats", "sees", "the")
    assert len(tokenizer) == 13
    assert WordTokenizer.train(TEXTS, min_count=2).vocabulary.tokens[4:] == (".", "The", "cat", "dog")
    assert WordTokenizer.train(TEXTS, max_size=6).vocabulary.tokens[4:] == (".", "The")
    assert WordTokenizer.train(TEXTS, lower=True, max_size=5).vocabulary.tokens[4:] == ("the",)


def test_word_encoding_and_decoding():
    tokenizer = WordTokenizer.train(iter(TEXTS))
    assert tokenizer.tokens("The bird eats.") == ["The", "bird", "eats", "."]
    assert tokenizer.encode("The bird eats.", start=True, end=True) == [2, 5, 1, 10, 4, 3]
    assert tokenizer.decode([2, 5, 1, 10, 4, 3, 0]) == "The <unk> eats."
    assert tokenizer.decode(np.array([5, 7, 8])) == "The dog ?".replace(" ?", "?")
    assert tokenizer.decode([2, 5, 3], skip_specials=False) == "<s> The </s>"
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.start_id, tokenizer.end_id) == (0, 1, 2, 3)
    with pytest.raises(ValueError, match="id 13 is out of range: the vocabulary has 13 tokens"):
        tokenizer.decode([5, 13])


def test_lower_words_are_written_small_before_they_are_looked_up():
    tokenizer = WordTokenizer.train(TEXTS, lower=True)
    assert tokenizer.tokens("THE Dog") == ["the", "dog"] and 1 not in tokenizer.encode("THE Dog")


def test_grammar_sentences_come_back_from_words():
    pairs = sample(200, seed=3)
    for side in ("english", "french"):
        sentences = [getattr(pair, side) for pair in pairs]
        tokenizer = WordTokenizer.train(sentences)
        assert [tokenizer.decode(tokenizer.encode(sentence)) for sentence in sentences] == sentences


@given(st.lists(st.text(max_size=20), min_size=1).filter(any))
def test_characters_come_back_unchanged(texts):
    tokenizer = CharacterTokenizer.train(iter(texts))
    assert list(tokenizer.vocabulary.tokens[4:]) == sorted(set("".join(texts)))
    for text in texts:
        ids = tokenizer.encode(text, start=True, end=True)
        assert len(ids) == len(text) + 2 and tokenizer.decode(ids) == text and tokenizer.tokens(text) == list(text)


def test_an_unknown_character_shows():
    assert CharacterTokenizer.train(["ab"]).decode([4, 1, 5]) == "a<unk>b"


test_training_refuses_what_cannot_be = refused(
    (lambda: WordTokenizer.train([" "]), "no word occurs 1 times in the training texts; 0 occur at all"),
    (lambda: WordTokenizer.train(["a b"], min_count=2), "no word occurs 2 times in the training texts; 2 occur"),
    (lambda: WordTokenizer.train(["a"], min_count=0), "min_count must be at least 1; got 0"),
    (lambda: WordTokenizer.train(["a"], max_size=4), "max_size 4 leaves no place for a word beside the 4 special"),
    (lambda: CharacterTokenizer.train([""]), "the training texts are empty; wanted characters to learn"),
)


@pytest.mark.parametrize("kind", [WordTokenizer, CharacterTokenizer])
def test_training_refuses_one_string(kind):
    with pytest.raises(TypeError, match="texts is one string, 'a text'"):
        kind.train("a text")


@pytest.mark.parametrize(
    "tokenizer",
    [WordTokenizer.train(TEXTS), WordTokenizer.train(TEXTS, lower=True), CharacterTokenizer.train(["été\n\u2028"])],
    ids=["words", "lower", "characters"],
)
def test_save_and_load_give_the_same_tokenizer(tmp_path, tokenizer):
    tokenizer.save(tmp_path / "kept.json")
    loaded = type(tokenizer).load(tmp_path / "kept.json")
    assert loaded.vocabulary.tokens == tokenizer.vocabulary.tokens
    assert loaded.encode("The dog été") == tokenizer.encode("The dog été")
    assert vars(loaded).get("lower") == vars(tokenizer).get("lower")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "kept.json is not a JSON file of kind 'softlookup words'"),
        (b"{", "kept.json is not a JSON file of kind 'softlookup words'"),
        (b"[]", "kept.json does not hold 'softlookup words', version 1; got 'list'"),
        (b'{"kind": "softlookup characters", "version": 1}', "got 'softlookup characters'"),
        (b'{"kind": "softlookup words", "version": 1, "tokens": []}', "words' without 'lower'; wanted tokens, lower"),
        (b'{"kind": "softlookup words", "version": 2}', "does not hold 'softlookup words', version 1"),
    ],
)
def test_load_refuses_other_files(tmp_path, content, message):
    (tmp_path / "kept.json").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        WordTokenizer.load(tmp_path / "kept.json")
    with pytest.raises(FileNotFoundError):
        WordTokenizer.load(tmp_path / "missing.json")
