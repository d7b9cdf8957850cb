"""Cutting into pieces, the characters of bytes, and what importing the package loads."""

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import normalizers, pre_tokenizers

from softlookup.text.pieces import (
    SPACE,
    byte_characters,
    count_pieces,
    from_byte_characters,
    normalise,
    split_pieces,
    to_byte_characters,
)

WRITABLE = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("She eats an orange.", ["▁She", "▁eats", "▁an", "▁orange", "."]),
        ("l'orange d’un ami", ["▁l'", "orange", "▁d’", "un", "▁ami"]),
        ("don't", ["▁don'", "t"]),
        ("a 'word' (two)", ["▁a", "▁'", "word", "'", "▁(", "two", ")"]),
        ("well-made, no?!", ["▁well", "-", "made", ",", "▁no", "?", "!"]),
        ("3.5 kg", ["▁3", ".", "5", "▁kg"]),
        (" a▁b\n", ["▁a", "▁b"]),
        (". a", ["▁.", "▁a"]),
        ("", []),
        (" \t\n", []),
    ],
)
def test_pieces_carry_their_space_and_marks_stand_alone(text, pieces):
    assert split_pieces(text) == pieces


@given(WRITABLE)
@example("a▁ ▁b")
@example("e\u0301\u2003x")
@example("\x1c\x85'a'b")
def test_pieces_join_back_to_the_normalised_text(text):
    joined = "".join(split_pieces(text)).replace(SPACE, " ")
    assert joined == (" " + normalise(text) if normalise(text) else "")


@given(WRITABLE)
@example("\u2000a\u2000")
def test_normalise_is_idempotent_and_leaves_single_spaces_only(text):
    once = normalise(text)
    assert normalise(once) == once
    assert once == once.strip() and SPACE not in once
    assert not any(character.isspace() and character != " " for character in once) and "  " not in once
    assert unicodedata.is_normalized("NFC", once)


def test_normalise_joins_accents_to_their_letters():
    assert normalise("e\u0301te\u0301") == "été" == normalizers.NFC().normalize_str("e\u0301te\u0301")


def test_count_pieces_counts_over_all_texts():
    assert count_pieces(["a b a", "", "a."]) == {"▁a": 3, "▁b": 1, ".": 1}


@pytest.mark.parametrize("texts", [[], ["", "  "]])
def test_count_pieces_refuses_texts_with_nothing_in_them(texts):
    with pytest.raises(ValueError, match=f"the {len(texts)} training texts hold nothing but white space"):
        count_pieces(texts)


def test_count_pieces_refuses_one_string():
    with pytest.raises(TypeError, match="texts is one string, 'two words'; wanted several texts"):
        count_pieces("two words")


@given(WRITABLE)
def test_byte_characters_are_those_of_the_other_library(text):
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    assert to_byte_characters(text.replace(SPACE, " ")) == "".join(piece for piece, _ in pieces).replace("âĸģ", "Ġ")


def test_byte_characters_are_256_and_the_other_library_has_the_same():
    assert len(byte_characters()) == 256
    assert set(byte_characters()) == set(pre_tokenizers.ByteLevel.alphabet())


@given(WRITABLE)
def test_bytes_lead_back_to_the_text(text):
    assert from_byte_characters(to_byte_characters(text)) == text.replace(SPACE, " ")


def test_bytes_that_are_cut_short_show_as_the_replacement_character():
    assert from_byte_characters("aÃ") == "a\N{REPLACEMENT CHARACTER}"


def test_a_character_that_is_no_byte_is_named():
    with pytest.raises(ValueError, match="character '▁' stands for no byte; wanted the 256"):
        from_byte_characters("a▁")


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, softlookup.text; print(sorted({'torch', 'tokenizers', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
