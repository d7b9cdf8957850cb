"""Byte-pair dropout: the chances of Provilkov et al., and drawing a whole corpus at once."""

import math
import random
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from softlookup.text import BytePairTokenizer, SegmentationPool, normalise, split_pieces
from softlookup.text.grammar import sample

SMALL = BytePairTokenizer("▁abc", [("a", "b"), ("ab", "c"), ("b", "c"), ("▁", "a")])


@pytest.fixture(scope="module")
def corpus():
    return [pair.french for pair in sample(300, seed=5)]


@pytest.fixture(scope="module")
def tokenizer(corpus):
    return BytePairTokenizer.train(corpus, vocab_size=400)


def chances(tokenizer, symbols, dropout):
    """Add up the chance of each cut over all ways in which merges can be passed over, as algorithm 1 has it."""
    rank = {pair: number for number, pair in enumerate(tokenizer.merges)}
    places = [place for place, pair in enumerate(pairwise(symbols)) if pair in rank]
    by_cut = Counter()
    for keeps in product([False, True], repeat=len(places)):
        chance = math.prod((1 - dropout) if keep else dropout for keep in keeps)
        left = [place for place, keep in zip(places, keeps, strict=True) if keep]
        if not left:
            by_cut[symbols] += chance
            continue
        best = min(left, key=lambda place: (rank[symbols[place], symbols[place + 1]], place))
        joined = (*symbols[:best], symbols[best] + symbols[best + 1], *symbols[best + 2 :])
        for cut, rest in chances(tokenizer, joined, dropout).items():
            by_cut[cut] += chance * rest
    return by_cut


def assert_frequencies(drawn, expected):
    """Every frequency within five standard deviations of its chance."""
    n = sum(drawn.values())
    assert set(drawn) <= set(expected) and math.isclose(sum(expected.values()), 1.0)
    for cut, chance in expected.items():
        assert abs(drawn[cut] / n - chance) <= 5 * math.sqrt(chance * (1 - chance) / n) + 1e-9, cut


@pytest.mark.parametrize("word", ["abc", "ababc"])
@pytest.mark.parametrize("dropout", [0.1, 0.5])
@pytest.mark.parametrize("rng", [random.Random(0), np.random.default_rng(0)], ids=["python", "numpy"])
def test_dropout_has_the_chances_of_the_paper(word, dropout, rng):
    drawn = Counter(tuple(SMALL.tokens(word, dropout=dropout, rng=rng)) for _ in range(3000))
    assert_frequencies(drawn, chances(SMALL, tuple("▁" + word), dropout))


def test_dropout_0_is_the_plain_cut_and_1_leaves_characters(corpus, tokenizer):
    rng = random.Random(0)
    for text in corpus[:50]:
        assert tokenizer.tokens(text, dropout=0.0, rng=rng) == tokenizer.tokens(text)
        cuts = [tokenizer.cut_by_chance(piece, 0.0, rng) for piece in split_pieces(text)]
        assert [token for cut in cuts for token in cut] == tokenizer.tokens(text)
        characters = tokenizer.tokens(text, dropout=1.0, rng=rng)
        assert all(len(token) == 1 for token in characters) and "".join(characters) == "▁" + text.replace(" ", "▁")


def test_dropout_loses_nothing(corpus, tokenizer):
    rng = np.random.default_rng(3)
    for text in corpus[:50]:
        assert tokenizer.decode(tokenizer.encode(text, start=True, end=True, dropout=0.3, rng=rng)) == normalise(text)


def test_dropout_at_byte_level_cuts_bytes():
    by_bytes = BytePairTokenizer.train(["été été"], vocab_size=262, byte_level=True)
    assert by_bytes.tokens("é", dropout=1.0, rng=random.Random(0)) == ["Ġ", "Ã", "©"]


def test_dropout_is_repeated_by_an_equal_rng(corpus, tokenizer):
    cuts = [[tokenizer.encode(t, dropout=0.5, rng=rng) for t in corpus] for rng in map(random.Random, (1, 1, 2))]
    assert cuts[0] == cuts[1] != cuts[2]


@pytest.mark.parametrize("dropout", [-0.1, 1.5, math.nan])
def test_dropout_outside_0_to_1_is_refused(tokenizer, dropout):
    with pytest.raises(ValueError, match=f"dropout must be between 0 and 1; got {dropout}"):
        tokenizer.encode("a", dropout=dropout, rng=random.Random(0))
    with pytest.raises(ValueError, match=f"dropout must be between 0 and 1; got {dropout}"):
        SegmentationPool(tokenizer, ["a"], dropout=dropout)


def test_dropout_without_an_rng_is_refused(tokenizer):
    with pytest.raises(ValueError, match="dropout 0.1 needs an rng.*; got None"):
        tokenizer.encode("a", dropout=0.1)


@pytest.mark.parametrize(("start", "end"), [(False, False), (True, False), (False, True), (True, True)])
def test_pool_without_dropout_is_the_plain_encoding(corpus, tokenizer, start, end):
    texts = ["", *corpus, "zzz €", ""]
    pool = SegmentationPool(tokenizer, texts, dropout=0.0, start=start, end=end)
    drawn = pool.draw(np.random.default_rng(0))
    assert len(pool) == len(drawn) == len(texts)
    for ids, text in zip(drawn, texts, strict=True):
        assert ids.dtype == np.int64 and ids.tolist() == tokenizer.encode(text, start=start, end=end)


def test_pool_draws_other_cuts_of_the_same_texts(corpus, tokenizer):
    pool = SegmentationPool(tokenizer, iter(corpus), dropout=0.2, start=True, end=True)
    rng = np.random.default_rng(0)
    first, second = pool.draw(rng), pool.draw(rng)
    assert any(ids.tolist() != other_ids.tolist() for ids, other_ids in zip(first, second, strict=True))
    for ids, text in zip(first + second, corpus + corpus, strict=True):
        assert ids[0] == tokenizer.start_id and ids[-1] == tokenizer.end_id
        assert tokenizer.decode(ids) == text


def test_pool_is_repeated_by_equal_seeds(corpus, tokenizer):
    def draw(seed, state):
        drawn = SegmentationPool(tokenizer, corpus, dropout=0.3, seed=seed).draw(np.random.default_rng(state))
        return [ids.tolist() for ids in drawn]

    assert draw(0, 0) == draw(0, 0)
    assert draw(0, 0) != draw(1, 0) and draw(0, 0) != draw(0, 1)


def test_pool_has_the_chances_of_dropout():
    pool = SegmentationPool(SMALL, ["ababc"] * 2000, samples=2000, dropout=0.5)
    drawn = Counter(tuple(map(SMALL.vocabulary.token, ids)) for ids in pool.draw(np.random.default_rng(0)))
    # The kept cuts are drawn from too, so the variance is about twice that of plain draws: well within the bound.
    assert_frequencies(drawn, chances(SMALL, tuple("▁ababc"), 0.5))


def test_pool_keeps_as_many_cuts_of_a_word_as_asked_for():
    text = " ".join(["abcabcabc"] * 400)
    tokenizer = BytePairTokenizer("▁abc", SMALL.merges)
    for samples in (1, 3):
        pool = SegmentationPool(tokenizer, [text], samples=samples, dropout=0.5)
        (ids,) = pool.draw(np.random.default_rng(0))
        words = "".join(map(tokenizer.vocabulary.token, ids)).count("▁")
        cuts = set("|".join(map(tokenizer.vocabulary.token, ids)).replace("▁|", "▁").split("▁"))
        assert words == 400 and 1 <= len({cut.strip("|") for cut in cuts} - {""}) <= samples


@pytest.mark.parametrize(
    ("texts", "wrong", "error", "message"),
    [
        ([], {}, ValueError, "there are no texts to draw from"),
        (["a"], {"samples": 0}, ValueError, "samples must be at least 1; got 0"),
        ("a text", {}, TypeError, "texts is one string"),
    ],
)
def test_pool_refuses_what_cannot_be(tokenizer, texts, wrong, error, message):
    with pytest.raises(error, match=message):
        SegmentationPool(tokenizer, texts, **wrong)


def test_pool_of_empty_texts_gives_empty_arrays(tokenizer):
    drawn = SegmentationPool(tokenizer, ["", ""]).draw(np.random.default_rng(0))
    assert [ids.tolist() for ids in drawn] == [[], []]
