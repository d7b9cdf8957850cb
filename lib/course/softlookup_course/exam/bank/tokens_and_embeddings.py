"""Questions on chapter 3: tokens and embeddings."""

from collections import Counter
from itertools import pairwise

import numpy as np

from softlookup.reference.embeddings import one_hot
from softlookup.text.bpe_training import PairCounts, merge_pair
from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Chapter, Drawn, known, mistake, pick, posed

ask = Chapter(3)

_WORDS = ("banana", "bandana", "cabana", "nab", "ban", "can", "cab", "band", "canal", "nana", "bacon", "anna")


def _commonest(words: list[str], counts: list[int]) -> tuple[str, int, bool]:
    letters = sorted(set("".join(words)))
    pairs = PairCounts([[letters.index(letter) for letter in word] for word in words], counts)
    commonest = pairs.commonest()
    assert commonest is not None
    following = pairs.commonest()
    (first, second), times = commonest
    return letters[first] + letters[second], times, following is not None and following[1] == times


@ask("merge", "text", points=3, minutes=5)
def merge(rng: np.random.Generator) -> Drawn:
    tied = True
    while tied:
        words = [str(word) for word in rng.choice(_WORDS, size=3, replace=False)]
        counts = [int(n) for n in rng.choice(np.arange(2, 8), size=3, replace=False)]
        pair, times, tied = _commonest(words, counts)
    once: Counter[str] = Counter()
    for word, n in zip(words, counts, strict=True):
        once.update(dict.fromkeys((a + b for a, b in pairwise(word)), n))
    unweighted = Counter(a + b for word in words for a, b in pairwise(word))
    table = "\n".join(f"| {word} | {n} |" for word, n in zip(words, counts, strict=True))
    return posed(
        "A byte-pair tokenizer learns from these words, which it takes apart into letters; no pair reaches across two "
        f"words.\n\n| word | times |\n|---|---|\n{table}\n\nWhich pair is joined first, and how often does it stand "
        "there?",
        (pair, times),
        f"**{pair[0]} + {pair[1]}**, {times} times: each word counts as often as it occurs, and a pair that stands "
        "twice in a word counts twice.",
        ((2, "the pair, with counts of at least the two commonest"), (1, "how often")),
        {"words": words, "counts": counts},
        known("03.pair-counts", "times-forgotten", unweighted.most_common(1)[0]),
        known("03.pair-counts", "once-each-word", once.most_common(1)[0]),
    )


@ask("cut", "text", points=3, minutes=4)
def cut(rng: np.random.Generator) -> Drawn:
    merges, word = pick(
        rng,
        ((("l", "o"), ("o", "w"), ("lo", "w"), ("e", "r")), "flower"),
        ((("e", "r"), ("n", "e"), ("w", "er"), ("n", "ew")), "newer"),
        ((("i", "n"), ("n", "g"), ("in", "g"), ("s", "in")), "singing"),
        ((("a", "t"), ("t", "h"), ("at", "h"), ("p", "at")), "paths"),
        ((("t", "h"), ("h", "e"), ("th", "e"), ("e", "r")), "other"),
    )
    tokens = list(word)
    for pair in merges:
        tokens = merge_pair(tokens, pair, "".join(pair))
    later = list(word)
    for pair in reversed(merges):
        later = merge_pair(later, pair, "".join(pair))
    learned = ", ".join(f"{a} + {b}" for a, b in merges)
    return posed(
        f"A byte-pair tokenizer has learned these merges, in this order: {learned}. How does it cut *{word}*?",
        tuple(tokens),
        f"**{' '.join(tokens)}**. The merge that was learned first goes first, wherever its pair stands; later merges "
        "find what is left.",
        ((2, "earliest merge first"), (1, "carried on to the end")),
        {"merges": merges, "word": word},
        known("03.encode", "latest-first", tuple(later)),
        known("03.encode", "one-merge"),
    )


@ask("padding", "number", points=3, minutes=4)
def padding(rng: np.random.Generator) -> Drawn:
    lengths = [int(n) for n in rng.choice(np.arange(2, 11), size=4, replace=False)]
    longest = max(lengths)
    fraction = 1 - sum(lengths) / (4 * longest)
    squares = 1 - sum(n * n for n in lengths) / (4 * longest**2)
    return posed(
        f"Four sentences of {', '.join(map(str, lengths[:3]))} and {lengths[3]} tokens are put into one batch. (a) "
        "Which shape have the ids? (b) What share of them is padding? (c) What share of the scores of one head has "
        "padding as query or as key?",
        ((4, longest), fraction, squares),
        f"(a) $(B, T) = (4, {longest})$. (b) ${tex(fraction)}$: {4 * longest - sum(lengths)} of {4 * longest} places. "
        f"(c) ${tex(squares)}$: of $4 \\cdot {longest}^2$ scores only {sum(n * n for n in lengths)} are between words.",
        ((1, "(a)"), (1, "(b)"), (1, "(c), squares of the lengths")),
        {"lengths": lengths},
        mistake(((4, longest), fraction, fraction), "The share of places is taken for the share of pairs in (c)."),
    )


@ask("gradient", "matrix", points=4, minutes=5)
def gradient(rng: np.random.Generator) -> Drawn:
    size = 5
    repeated = int(rng.integers(size))
    others = [int(i) for i in rng.permutation([i for i in range(size) if i != repeated])[:2]]
    ids = np.array([repeated, *others, repeated])[rng.permutation(4)]
    upstream = rng.integers(-4, 6, size=(4, 2))
    answer = one_hot(ids, size).T @ upstream
    last = np.zeros((size, 2))
    last[ids] = upstream
    return posed(
        f"A table $E$ has {size} rows (ids 0 to {size - 1}) of width 2. The tokens ${tex(tuple(ids))}$ were looked up, "
        f"and the gradients that come back to the four embeddings are, row by row, $${tex(upstream)}$$ Give the "
        "gradient of $E$.",
        answer,
        f"Each row of $E$ collects the gradients of its own token; row {repeated} was looked up twice, so two are "
        f"added, and rows that were not looked up have zeros: $${tex(answer)}$$",
        ((1, "the shape of the table"), (2, "the repeated row is a sum"), (1, "zeros elsewhere")),
        {"ids": ids, "upstream": upstream},
        known("03.table-gradient", "last-wins", last),
        known("03.table-gradient", "every-row"),
    )


@ask("table", "number", points=3, minutes=4)
def table(rng: np.random.Generator) -> Drawn:
    words, width = pick(rng, 10_000, 20_000, 30_000, 50_000), pick(rng, 100, 200, 300, 500)
    tied, apart = words * width, 2 * words * width
    return posed(
        f"A model has a vocabulary of ${tex(words)}$ tokens and width $D = {width}$. How many parameters do its input "
        "table and its output matrix have together (a) tied, (b) not tied? (c) How many megabytes ($10^6$ bytes) does "
        "(b) take in float32?",
        (tied, apart, apart * 4 / 1e6),
        f"(a) $VD = {tex(tied)}$: one table does both. (b) $2VD = {tex(apart)}$. "
        f"(c) four bytes each: ${tex(apart * 4 / 1e6)}$ MB.",
        ((1, "(a)"), (1, "(b)"), (1, "(c), from the own (b)")),
        {"V": words, "D": width},
        mistake((tied, tied, tied * 4 / 1e6), "The output matrix is forgotten in (b)."),
        mistake((tied, apart, apart / 1e6), "Numbers are counted as bytes in (c): one of float32 takes four."),
    )


ask.false(
    "zero-padding",
    "If the embedding of `<pad>` is all zeros and stays so, attention needs no mask for padding.",
    "A key of zeros has the score 0, and $e^0 = 1$ takes a share of every row. Besides, positions are added.",
)
ask.true(
    "untouched-rows",
    "The table is not tied. In one step of plain gradient descent only the rows of tokens in the batch change.",
    "The gradient of a row that was not looked up is zero, and plain descent moves by the gradient alone.",
)
ask.false(
    "tokenizer-one-hot",
    "A tokenizer hands over a one-hot vector for each token.",
    "It hands over ids. The one-hot row is a way to write the lookup as a product, which a model may do.",
)
