"""Batches: every pair once, little padding, the same again for the same seed and epoch, and clear refusals."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_run import END, PAD, START, some_pairs

from softlookup.training.data import Batch, BucketedBatches, PlainBatches, encode_pairs, make_batch, redrawn
from tests.refusing import refused


class Letters:
    """A tokenizer of letters: a is 10, b is 11."""

    def encode(self, text, *, start=False, end=False):
        return [START] * start + [ord(letter) - ord("a") + 10 for letter in text] + [END] * end


class Shifted(Letters):
    def encode(self, text, *, start=False, end=False):
        return [number + 100 if number >= 10 else number for number in super().encode(text, start=start, end=end)]


def rows_of(batch):
    """Give a batch's pairs back, padding taken off."""
    sides = [
        [[i for i in row if i != batch.pad_id] for row in ids.tolist()] for ids in (batch.source_ids, batch.target_ids)
    ]
    return [(tuple(source), tuple(target)) for source, target in zip(*sides, strict=True)]


def same(a, b):
    return torch.equal(a.source_ids, b.source_ids) and torch.equal(a.target_ids, b.target_ids)


def both_kinds(pairs, seed=0, tokens=90, rows=7):
    return (
        BucketedBatches(pairs, pad_id=PAD, tokens_per_batch=tokens, seed=seed),
        PlainBatches(pairs, pad_id=PAD, rows=rows, seed=seed),
    )


def test_encode_pairs_puts_end_on_the_source_and_both_ends_on_the_target():
    assert encode_pairs([("ab", "c")], Letters()) == [([10, 11, END], [START, 12, END])]
    assert encode_pairs([("a", "a")], Letters(), Shifted()) == [([10, END], [START, 110, END])]


def test_make_batch_pads_on_the_right_and_counts_the_labels():
    batch = make_batch([([5, END], [START, 6, 7, END]), ([5, 6, END], [START, END])], 1)
    assert batch.source_ids.tolist() == [[5, END, 1], [5, 6, END]]
    assert batch.target_ids.tolist() == [[START, 6, 7, END], [START, END, 1, 1]]
    assert batch.source_ids.dtype == batch.target_ids.dtype == torch.int64
    assert (batch.pad_id, batch.tokens) == (1, 4)


def test_a_batch_moves_to_a_device_whole(device):
    batch = make_batch(some_pairs(3), PAD).to(device)
    assert batch.source_ids.device.type == batch.target_ids.device.type == device.type
    assert same(batch.to("cpu"), make_batch(some_pairs(3), PAD))
    alone = Batch(torch.tensor([[START, 5, END]]), pad_id=7).to(device)
    assert alone.source_ids is None and alone.pad_id == 7


@given(st.integers(1, 40), st.integers(0, 1000), st.integers(0, 3))
def test_every_pair_comes_once_in_an_epoch(n, seed, epoch):
    pairs = some_pairs(n, seed)
    expected = sorted((tuple(source), tuple(target)) for source, target in pairs)
    for batches in both_kinds(pairs, seed):
        got = list(batches.epoch(epoch))
        assert sorted(itertools.chain.from_iterable(map(rows_of, got))) == expected


def test_plain_batches_have_their_rows_and_keep_the_order_when_told_to():
    pairs = some_pairs(10)
    batches = list(PlainBatches(pairs, pad_id=PAD, rows=4, shuffle=False).epoch(3))
    assert [len(batch.target_ids) for batch in batches] == [4, 4, 2]
    assert same(batches[1], make_batch(pairs[4:8], PAD))


def test_the_smallest_pairs_and_the_largest_that_fit_are_taken():
    least, most = ([END], [START, END]), ([4] * 5, [4] * 6)
    assert [len(b.target_ids) for b in PlainBatches([least], pad_id=PAD, rows=1).epoch(0)] == [1]
    (batch,) = BucketedBatches([most], pad_id=PAD, tokens_per_batch=11).epoch(0)
    assert batch.source_ids.numel() + batch.target_ids.numel() == 11


@pytest.mark.parametrize("kind", [0, 1])
def test_the_order_follows_from_seed_and_epoch_alone(kind):
    def batches(seed=3, epoch=2):
        return list(both_kinds(some_pairs(), seed)[kind].epoch(epoch))

    torch.rand(3), np.random.rand(3)
    assert all(map(same, batches(), batches()))
    for other in (batches(epoch=1), batches(seed=4)):
        assert not all(map(same, batches(), other))


@pytest.mark.parametrize("kind", [0, 1])
def test_an_epoch_can_be_taken_up_at_any_position(kind):
    batches = both_kinds(some_pairs())[kind]
    whole = list(batches.epoch(1))
    for start in range(len(whole) + 1):
        rest = list(batches.epoch(1, start))
        assert len(rest) == len(whole) - start and all(map(same, rest, whole[start:]))
    with pytest.raises(ValueError, match=f"start is {len(whole) + 1}; the epoch has {len(whole)} batches"):
        next(batches.epoch(1, len(whole) + 1))
    with pytest.raises(ValueError, match="start is -1"):
        next(batches.epoch(1, -1))
    with pytest.raises(ValueError, match="epoch is -1; epochs count from 0"):
        next(batches.epoch(-1))


def test_resegmenting_gives_each_epoch_its_own_pieces():
    class Pool:
        def __init__(self, low):
            self.low = low

        def draw(self, rng):
            return [np.array([START, *rng.integers(self.low, self.low + 10, 3), END]) for _ in range(8)]

    resegment = redrawn(Pool(100), Pool(200), seed=1)
    for source, target in resegment(0):
        assert {source[0], target[0], source[-1], target[-1]} == {START, END}
        assert (source[1:-1] // 100 == 1).all() and (target[1:-1] // 100 == 2).all()
    first, again, other = ([tuple(map(tuple, pair)) for pair in resegment(epoch)] for epoch in (0, 0, 1))
    assert first == again != other
    assert first != [tuple(map(tuple, pair)) for pair in redrawn(Pool(100), Pool(200), seed=2)(0)]
    batches = BucketedBatches(some_pairs(8), pad_id=PAD, tokens_per_batch=40, resegment=resegment)
    for epoch in (0, 1):
        got = itertools.chain.from_iterable(map(rows_of, batches.epoch(epoch)))
        assert sorted(got) == sorted(tuple(map(tuple, pair)) for pair in resegment(epoch))


def test_resegmenting_with_the_librarys_own_pool_keeps_the_sentences():
    from softlookup.text.bpe import BytePairTokenizer
    from softlookup.text.segmentations import SegmentationPool

    texts = ["the red kite flies over the river", "a river flows", "the kite is red"]
    tokenizer = BytePairTokenizer.train(texts, vocab_size=60, min_count=1)
    pools = (SegmentationPool(tokenizer, texts, dropout=0.5, start=start, end=True) for start in (False, True))
    resegment = redrawn(*pools)
    plain = encode_pairs(list(zip(texts, texts, strict=True)), tokenizer)
    batches = BucketedBatches(plain, pad_id=tokenizer.pad_id, tokens_per_batch=200, resegment=resegment)
    seen = {row for epoch in range(5) for batch in batches.epoch(epoch) for row in rows_of(batch)}
    assert {tokenizer.decode(source) for source, _ in seen} == set(texts)
    assert all(
        target[0] == tokenizer.start_id and target[-1] == source[-1] == tokenizer.end_id for source, target in seen
    )
    assert len(seen) > len(texts)


class Fixed:
    def __init__(self, n):
        self.n = n

    def draw(self, rng):
        return [[START, END]] * self.n


ok = some_pairs(3)
test_data_that_makes_no_batches_is_named = refused(
    (lambda: redrawn(Fixed(2), Fixed(3))(0), "2 sources and 3 targets"),
    (lambda: encode_pairs([], Letters()), "no sentence pairs"),
    (lambda: make_batch([], PAD), "nothing to pad"),
    (lambda: BucketedBatches([], pad_id=PAD, tokens_per_batch=9), "no sentence pairs"),
    (lambda: PlainBatches([], pad_id=PAD, rows=9), "no sentence pairs"),
    (lambda: PlainBatches(ok, pad_id=PAD, rows=0), "rows is 0"),
    (lambda: PlainBatches([*ok, ([], [2, 3])], pad_id=PAD, rows=2), "pair 3 has 0 source and 2 target ids"),
    (lambda: PlainBatches([([4], [2])], pad_id=PAD, rows=2), "pair 0 has 1 source and 1 target ids"),
    (
        lambda: BucketedBatches([([4] * 5, [4] * 6)], pad_id=PAD, tokens_per_batch=10),
        "a pair has 11 ids, tokens_per_batch is 10",
    ),
    (
        lambda: next(BucketedBatches(ok, pad_id=PAD, tokens_per_batch=99, resegment=lambda e: ok[1:]).epoch(4)),
        "2 pairs for epoch 4; wanted 3",
    ),
    (lambda: Batch(torch.zeros(2, 0, dtype=torch.long)), r"target_ids have shape \(2, 0\)"),
    (lambda: Batch(torch.tensor([2, 3])), r"target_ids have shape \(2,\); wanted two axes"),
    (lambda: Batch(torch.tensor([[2, 3]]), torch.tensor([[4], [5]])), "2 source rows, 1 target rows"),
)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bool])
def test_ids_that_are_no_integers_are_refused(dtype):
    with pytest.raises(TypeError, match=f"source_ids have dtype {dtype}"):
        Batch(torch.tensor([[2, 3]]), torch.ones(1, 2, dtype=dtype))
