"""Byte-pair merges: learned and applied as the `tokenizers` library does, and as slow loops do."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_tokenizers import same_merges_elsewhere, trained_elsewhere

from softlookup.text import BytePairTokenizer, normalise, train_steps
from softlookup.text.bpe_training import base_alphabet, merge_pair
from softlookup.text.grammar import sample
from softlookup.text.lines import mark_lines, restore_lines
from softlookup.text.pieces import byte_characters, split_pieces

# Few letters, so that pairs overlap ("aaa") and many counts are equal.
TANGLED = st.lists(st.text("aaabé '.", max_size=12), min_size=1, max_size=8).filter(lambda ts: "".join(ts).strip())
LATIN = st.text("abcdefghilmnoprstuvABCéèàçœêT0123 .,'’!?()-«»\n\tßæ€", max_size=60)


@pytest.fixture(scope="module")
def corpus():
    return [sentence for pair in sample(1500, seed=1) for sentence in (pair.english, pair.french)]


@pytest.fixture(scope="module")
def tokenizer(corpus):
    return BytePairTokenizer.train(corpus, vocab_size=500)


@pytest.fixture(scope="module")
def by_bytes(corpus):
    return BytePairTokenizer.train(corpus, vocab_size=500, byte_level=True)


@pytest.mark.parametrize("byte_level", [False, True])
def test_training_learns_the_merges_and_ids_of_the_other_library(corpus, tokenizer, by_bytes, byte_level):
    trained = by_bytes if byte_level else tokenizer
    merges, vocabulary = trained_elsewhere(corpus, 500, byte_level=byte_level)
    assert list(trained.merges) == merges and len(merges) > 200
    assert {token: number for number, token in enumerate(trained.vocabulary.tokens)} == vocabulary


@settings(max_examples=60)
@given(TANGLED, st.integers(1, 3), st.booleans())
def test_training_breaks_ties_as_the_other_library_does(texts, min_count, byte_level):
    trained = BytePairTokenizer.train(texts, vocab_size=290, min_count=min_count, byte_level=byte_level)
    merges, _ = trained_elsewhere(texts, 290, min_count, byte_level)
    assert list(trained.merges) == merges


def slow_steps(texts, n_merges, min_count):
    """Recount everything for each merge, as Sennrich et al. write it."""
    words = Counter(tuple(piece) for text in texts for piece in split_pieces(text))
    order = sorted({character for word in words for character in word})
    for _ in range(n_merges):
        counts = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                counts[pair] += count
        if not counts:
            return
        best = min(counts, key=lambda pair: (-counts[pair], order.index(pair[0]), order.index(pair[1])))
        if counts[best] < min_count:
            return
        token = "".join(best)
        merged = Counter()
        for word, count in words.items():
            left, out = list(word), []
            while left:
                if tuple(left[:2]) == best:
                    out, left = [*out, token], left[2:]
                else:
                    out, left = [*out, left[0]], left[1:]
            merged[tuple(out)] += count
        words = merged
        order.append(token)
        yield best, counts[best], token


@given(TANGLED, st.integers(1, 3))
def test_train_steps_equal_a_recount_at_every_merge(texts, min_count):
    n_characters = len({character for text in texts for piece in split_pieces(text) for character in piece})
    steps = list(train_steps(texts, vocab_size=4 + n_characters + 12, min_count=min_count))
    assert steps == list(slow_steps(texts, 12, min_count))


def test_train_steps_show_one_merge_after_the_other():
    steps = train_steps(["low low lower"], vocab_size=20, min_count=2)
    assert next(steps) == (("l", "o"), 3, "lo")
    step = next(steps)
    assert (step.pair, step.times, step.token) == (("▁", "lo"), 3, "▁lo")  # "▁" is older than "lo"


def test_training_stops_at_the_size_asked_for_or_where_pairs_are_too_rare(tokenizer):
    assert len(tokenizer) == 500 == len(tokenizer.vocabulary.tokens)
    few = BytePairTokenizer.train(["ab ab", "cd"], vocab_size=500)
    assert few.merges == (("a", "b"), ("▁", "ab")) and len(few) == 4 + 5 + 2
    assert len(BytePairTokenizer.train(["ab ab"], vocab_size=4 + 3)) == 7


def test_training_reads_an_iterator_once():
    assert BytePairTokenizer.train(iter(["ab ab"]), vocab_size=9).merges == (("a", "b"), ("▁", "ab"))


def test_ids_are_specials_then_alphabet_then_merges(tokenizer):
    tokens = tokenizer.vocabulary.tokens
    assert tokens[:4] == ("<pad>", "<unk>", "<s>", "</s>")
    assert tokens[4 : 4 + len(tokenizer.alphabet)] == tuple(sorted(tokenizer.alphabet))
    assert tokens[4 + len(tokenizer.alphabet) :] == tuple(left + right for left, right in tokenizer.merges)
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.start_id, tokenizer.end_id) == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"vocab_size": 6}, "vocab_size 6 is too small: 4 special tokens and an alphabet of 3 need 7"),
        ({"vocab_size": 259, "byte_level": True}, "an alphabet of 256 need 260"),
        ({"vocab_size": 9, "min_count": 0}, "min_count must be at least 1; got 0"),
    ],
)
def test_training_refuses_sizes_that_cannot_be(sizes, message):
    with pytest.raises(ValueError, match=message):
        BytePairTokenizer.train(["ab"], **sizes)


def test_training_refuses_one_string_and_empty_texts():
    with pytest.raises(TypeError, match="texts is one string"):
        BytePairTokenizer.train("some text", vocab_size=100)
    with pytest.raises(ValueError, match="nothing but white space"):
        BytePairTokenizer.train([" "], vocab_size=100)


@settings(max_examples=200)
@given(LATIN)
def test_encoding_equals_the_other_library(tokenizer, text):
    assert tokenizer.encode(text) == same_merges_elsewhere(tokenizer).encode(normalise(text)).ids


@settings(max_examples=100)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_bytes_leave_nothing_unknown_and_nothing_lost(by_bytes, text):
    ids = by_bytes.encode(text)
    assert by_bytes.unk_id not in ids
    assert by_bytes.decode(ids) == normalise(text)


@given(LATIN)
def test_known_characters_come_back(tokenizer, text):
    known = "".join(character for character in text if character in tokenizer.alphabet or character.isspace())
    assert tokenizer.decode(tokenizer.encode(known, start=True, end=True)) == normalise(known)


def test_a_character_outside_the_alphabet_shows_as_unknown(tokenizer):
    ids = tokenizer.encode("a €€ b")
    assert ids.count(tokenizer.unk_id) == 2
    assert tokenizer.tokens("a €€ b") == ["▁a", "▁", "€", "€", "▁b"]
    assert tokenizer.decode(ids) == "a <unk><unk> b"


def test_start_and_end_go_round_the_ids_and_out_of_the_text(tokenizer):
    plain = tokenizer.encode("The dog sleeps.")
    assert tokenizer.encode("The dog sleeps.", start=True) == [2, *plain]
    assert tokenizer.encode("The dog sleeps.", end=True) == [*plain, 3]
    assert tokenizer.decode([2, *plain, 3, 0, 0]) == "The dog sleeps."
    assert tokenizer.decode([2, *plain, 3, 0], skip_specials=False) == "<s> The dog sleeps.</s><pad>"


def test_encoding_twice_gives_equal_and_separate_lists(tokenizer):
    first = tokenizer.encode("The dog")
    first.append(99)
    tokenizer.tokens("The dog").append("more")
    assert tokenizer.encode("The dog") == first[:-1]


def test_a_full_cache_changes_nothing(tokenizer, monkeypatch):
    monkeypatch.setattr("softlookup.text.bpe._CACHE_SIZE", 2)
    fresh = BytePairTokenizer(tokenizer.alphabet, tokenizer.merges)
    text = "The small dog eats an orange near the old house."
    assert fresh.encode(text) == tokenizer.encode(text) == fresh.encode(text)
    assert len(fresh._cache) <= 2


def test_steps_show_a_word_from_its_characters_to_its_tokens(tokenizer):
    steps = tokenizer.steps("oranges")
    assert steps[0] == list("▁oranges") and steps[-1] == tokenizer.tokens("oranges")
    ranks = []
    for before, after in pairwise(steps):
        joined = [pair for pair in pairwise(before) if merge_pair(before, pair, "".join(pair)) == after]
        ranks.append(min(tokenizer.merges.index(pair) for pair in joined))
    assert ranks == sorted(ranks) and len(set(ranks)) == len(ranks) > 2


@pytest.mark.parametrize(("word", "shown"), [("two words", r"\['▁two', '▁words'\]"), ("", r"\[\]")])
def test_steps_refuse_what_is_not_one_piece(tokenizer, word, shown):
    with pytest.raises(ValueError, match=f"is cut into the pieces {shown}; wanted one piece"):
        tokenizer.steps(word)


def test_steps_at_byte_level_begin_with_bytes(by_bytes):
    assert by_bytes.steps("é")[0] == ["Ġ", "Ã", "©"]


@pytest.mark.parametrize("byte_level", [False, True])
def test_save_and_load_give_the_same_tokenizer(tmp_path, tokenizer, by_bytes, byte_level):
    original = by_bytes if byte_level else tokenizer
    original.save(tmp_path / "merges.txt")
    loaded = BytePairTokenizer.load(tmp_path / "merges.txt")
    assert (loaded.alphabet, loaded.merges, loaded.byte_level) == (original.alphabet, original.merges, byte_level)
    assert loaded.vocabulary.tokens == original.vocabulary.tokens
    loaded.save(str(tmp_path / "again.txt"))
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "merges.txt").read_bytes()
    lines = (tmp_path / "merges.txt").read_bytes().decode("utf-8").split("\n")
    assert len(lines) == 1 + len(original.merges) + 1 and lines[1] == " ".join(original.merges[0]) and lines[-1] == ""


def test_a_tokenizer_without_merges_can_be_kept(tmp_path):
    BytePairTokenizer("▁ab", []).save(tmp_path / "merges.txt")
    assert BytePairTokenizer.load(tmp_path / "merges.txt").tokens("ab") == ["▁", "a", "b"]


HEADER = '{"kind": "softlookup byte-pair merges", "version": 1, "byte_level": false, "alphabet": "ab▁"}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a b\n", "does not begin with the settings"),
        ("[1]\n", "does not begin with the settings"),
        ("", "does not begin with the settings"),
        (HEADER.replace("alphabet", "letters") + "\n", "merges.txt does not begin with the settings .*'alphabet'"),
        (HEADER.replace("merges", "other") + "\n", "merges.txt does not hold 'softlookup byte-pair merges', version 1"),
        (HEADER.replace("1,", "2,") + "\n", "version 1; got"),
        (HEADER + "\na b\nab\n", "line 3: wanted two tokens with one space between; got 'ab'"),
        (HEADER + "\na  b\n", "line 2: wanted two tokens"),
        (HEADER + "\n b\n", "line 2: wanted two tokens"),
        (HEADER + "\na c\n", "merge 0, 'a' \\+ 'c', needs 'c'"),
    ],
)
def test_load_refuses_other_files(tmp_path, content, message):
    path = tmp_path / "merges.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        BytePairTokenizer.load(path)


def test_load_names_a_file_that_is_not_utf_8_or_not_there(tmp_path):
    (tmp_path / "merges.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="merges.txt does not begin with the settings"):
        BytePairTokenizer.load(tmp_path / "merges.txt")
    with pytest.raises(FileNotFoundError):
        BytePairTokenizer.load(tmp_path / "missing.txt")


def test_merges_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="merge 1, 'ab' \\+ 'c', needs 'c', which no earlier merge makes"):
        BytePairTokenizer("ab", [("a", "b"), ("ab", "c")])
    with pytest.raises(ValueError, match="merge 0, 'x' \\+ 'a', needs 'x'"):
        BytePairTokenizer("ab", [("x", "a")])
    with pytest.raises(ValueError, match="token 'ab' stands in the vocabulary twice"):
        BytePairTokenizer("ab", [("a", "b"), ("a", "b")])
    with pytest.raises(ValueError, match="at byte level the alphabet is that of the 256 bytes; got 2 characters"):
        BytePairTokenizer("ab", [], byte_level=True)


def test_base_alphabet_is_sorted():
    assert base_alphabet(["▁ba", "é"]) == ["a", "b", "é", "▁"]
    assert base_alphabet([], byte_level=True) == sorted(byte_characters())


# Line ends as tokens.


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
