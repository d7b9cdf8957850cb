"""Reading pairs, bucketing by length, padding."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.text import length_buckets, pad, read_pairs


def write(folder, name, text, encoding="utf-8"):
    data = text.encode(encoding)
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


@pytest.mark.parametrize("endings", [("", ""), (".gz", ".gz"), ("", ".gz")])
def test_read_pairs_reads_plain_and_packed_files(tmp_path, endings):
    write(tmp_path, "train.en" + endings[0], "An orange.\nTwo dogs.\n")
    write(tmp_path, "train.fr" + endings[1], "Une orange.\nDeux chiens à l'école.")
    corpus = read_pairs(str(tmp_path), "train")
    assert corpus.pairs == [("An orange.", "Une orange."), ("Two dogs.", "Deux chiens à l'école.")]
    assert corpus.n_skipped == 0


def test_read_pairs_takes_other_splits_and_languages_in_their_order(tmp_path):
    write(tmp_path, "val.fr", "Oui.\n")
    write(tmp_path, "val.de", "Ja.\n")
    assert read_pairs(tmp_path, "val", ("fr", "de")).pairs == [("Oui.", "Ja.")]


def test_read_pairs_prefers_the_plain_file(tmp_path):
    write(tmp_path, "a.en", "plain\n")
    write(tmp_path, "a.en.gz", "packed\n")
    write(tmp_path, "a.fr", "x\n")
    assert read_pairs(tmp_path, "a").pairs == [("plain", "x")]


def test_read_pairs_counts_the_lines_it_skips(tmp_path):
    write(tmp_path, "a.en", "one\n\nthree\n \nfive\n")
    write(tmp_path, "a.fr", "un\ndeux\n\n\ncinq\n")
    assert read_pairs(tmp_path, "a") == ([("one", "un"), ("five", "cinq")], 3)


def test_read_pairs_ends_lines_at_line_feeds_only(tmp_path):
    write(tmp_path, "a.en", "\ufeffone\u2028still one \r\ntwo\x0bstill two\r\n")
    write(tmp_path, "a.fr", "un\ndeux\n")
    assert read_pairs(tmp_path, "a").pairs == [("one\u2028still one", "un"), ("two\x0bstill two", "deux")]


def test_read_pairs_names_the_files_it_looked_for(tmp_path):
    write(tmp_path, "train.en", "one\n")
    with pytest.raises(FileNotFoundError, match=r"looked for train.fr and train.fr.gz in .*; found neither"):
        read_pairs(tmp_path, "train")


def test_read_pairs_names_both_files_of_unequal_length(tmp_path):
    write(tmp_path, "a.en", "one\ntwo\n")
    write(tmp_path, "a.fr", "un\n")
    with pytest.raises(ValueError, match=r"a.en has 2 lines, .*a.fr has 1: line i"):
        read_pairs(tmp_path, "a")


def test_read_pairs_refuses_files_with_nothing_in_them(tmp_path):
    write(tmp_path, "a.en", "")
    write(tmp_path, "a.fr", "")
    with pytest.raises(ValueError, match=r"a.en and .*a.fr hold no pair of sentences in their 1 lines"):
        read_pairs(tmp_path, "a")


def test_read_pairs_names_a_file_that_is_not_utf_8(tmp_path):
    write(tmp_path, "a.en", "one\n")
    write(tmp_path, "a.fr", "été\n", "latin-1")
    with pytest.raises(ValueError, match=r"a.fr is not UTF-8"):
        read_pairs(tmp_path, "a")


LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80)


@given(LENGTHS, st.integers(60, 400), st.integers(0, 5))
def test_buckets_hold_every_pair_once_and_stay_within_the_budget(lengths, budget, seed):
    source, target = map(list, zip(*lengths, strict=True))
    batches = length_buckets(source, target, budget, np.random.default_rng(seed))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert batch.dtype == np.int64 and len(batch)
        assert (max(source[i] for i in batch) + max(target[i] for i in batch)) * len(batch) <= budget


def random_lengths(n=5000):
    rng = np.random.default_rng(0)
    source = 4 + rng.poisson(10, n)
    return source, np.maximum(1, source + rng.integers(-3, 5, n))


def test_buckets_are_full():
    source, target = random_lengths()
    batches = length_buckets(source, target, 2000, np.random.default_rng(0))
    sizes = np.array([(source[batch].max() + target[batch].max()) * len(batch) for batch in batches])
    real = (source + target).sum()
    assert real / sizes.sum() > 0.95  # little padding
    assert real / (len(batches) * 2000) > 0.9  # and few batches


def test_buckets_are_shuffled_from_the_rng():
    source, target = random_lengths(1000)
    draws = [length_buckets(source, target, 500, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    listed = [[batch.tolist() for batch in draw] for draw in draws]
    assert listed[0] == listed[1] != listed[2]
    assert {frozenset(batch) for batch in listed[0]} != {frozenset(batch) for batch in listed[2]}
    # Short batches do not all come first: a step's number says nothing about its sentences' length.
    longest = [target[batch].max() for batch in draws[0]]
    assert longest != sorted(longest)
    assert abs(np.corrcoef(longest, np.arange(len(longest)))[0, 1]) < 0.3


def test_buckets_take_a_budget_to_the_last_token():
    assert len(length_buckets([3, 3], [2, 2], 10, np.random.default_rng(0))) == 1
    assert len(length_buckets([3, 3], [2, 2], 9, np.random.default_rng(0))) == 2
    assert len(length_buckets([3], [2], 5, np.random.default_rng(0))) == 1


@pytest.mark.parametrize(
    ("source", "target", "budget", "error", "message"),
    [
        ([], [], 10, ValueError, "there are no pairs to put into batches"),
        ([1, 2], [1], 10, ValueError, "got 2 source lengths and 1 target lengths"),
        ([1, 5, 9], [1, 4, 3], 11, ValueError, r"pair 2 has 9 \+ 3 tokens, a batch only 11"),
        ([1, 0], [1, 1], 10, ValueError, "pair 1 has lengths 0 and 1; wanted at least 1"),
        ([1, 1], [1, -1], 10, ValueError, "pair 1 has lengths 1 and -1; wanted at least 1"),
        ([1.5], [1], 10, TypeError, "lengths_source has dtype float64; wanted whole numbers"),
        ([1], ["2"], 10, TypeError, "lengths_target has dtype <U1; wanted whole numbers"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_buckets_refuse_what_cannot_be(source, target, budget, error, message):
    with pytest.raises(error, match=message):
        length_buckets(source, target, budget, np.random.default_rng(0))


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=6).filter(any))
def test_pad_fills_up_on_the_right(sequences):
    padded_BT = pad(sequences, pad_id=77)
    longest = max(map(len, sequences))
    assert padded_BT.dtype == np.int64
    assert padded_BT.tolist() == [row + [77] * (longest - len(row)) for row in sequences]


def test_pad_takes_arrays():
    assert pad([np.array([1, 2]), np.array([3])], 0).tolist() == [[1, 2], [3, 0]]


@pytest.mark.parametrize("sequences", [[], [[], []]])
def test_pad_refuses_nothing(sequences):
    with pytest.raises(ValueError, match=f"nothing to pad: got {len(sequences)} sequences, none with a token"):
        pad(sequences, 0)


@pytest.mark.usefixtures("unchecked")
def test_pad_refuses_what_are_no_ids():
    with pytest.raises(TypeError, match="a sequence has dtype float64; wanted whole numbers"):
        pad([[1], [1.5]], 0)
