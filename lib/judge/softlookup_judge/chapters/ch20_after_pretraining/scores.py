"""Tasks on scores: bits per byte, choices, contamination, pass@k, and the interval of a paired difference."""

import math
from fractions import Fraction

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles

SENTENCES = (
    "The cat sat on the mat.",
    "Zoë a mangé l'œuf à Orléans.",
    "Übung macht den Meister …",
    " two  gaps,\n and a line ",
)


def _log_probs(rng: Rng, *shape: int, scale: float = 2.0) -> np.ndarray:
    """Logarithms of probabilities: all below zero."""
    return -np.abs(doubles(rng, *shape, scale=scale)) - 0.05


def _bits_cases(rng: Rng) -> list[Case]:
    def ask(label: str, tokens: int, text: str, scale: float = 2.0) -> Case:
        return Case(label, (_log_probs(rng, tokens, scale=scale), text))

    rare = "".join(map(chr, rng.integers(0x10000, 0x110000, size=8).tolist()))
    return [
        ask("six tokens, ASCII letters", 6, SENTENCES[0]),
        ask("nine tokens, letters of two bytes", 9, SENTENCES[1]),
        ask("letters of two and of three bytes", 5, SENTENCES[2]),
        ask("letters of three and of four bytes", 7, "日本 🙂 ok"),
        ask("spaces at both ends", 8, SENTENCES[3]),
        ask("one token", 1, "naïve"),
        ask("an accent by itself, and line ends of two bytes", 5, "nai\u0308ve\r\nno\r\n"),
        ask("tokens that are bytes, three for one letter", 3, "語"),
        ask("rare letters of four bytes", 6, f"𐌰 𒀀 𝔸 🂡 🇿 𠀀 {rare}"),
        ask("first and last code points of each size", 5, "\x7f\x80\u07ff\u0800\uffff\U00010000\U0010ffff"),
        ask("eight hundred tokens", 800, " ".join(SENTENCES[i] for i in rng.integers(len(SENTENCES), size=120))),
        Case("very improbable tokens", (_log_probs(rng, 4, scale=300.0) - 800.0, "zq qz")),
        Case("a text that is certain", (np.zeros(4), "été")),
    ]


@graded("20.bits-per-byte", _bits_cases, frame="numpy")
def _bits_per_byte(log_probs: np.ndarray, text: str) -> float:
    """Token by token in base 2; bytes by the ranges of code points that UTF-8 has."""
    n_bytes = sum(1 + sum(ord(letter) >= start for start in (0x80, 0x800, 0x10000)) for letter in text)
    return math.fsum(-float(log_prob) * math.log2(math.e) / n_bytes for log_prob in log_probs)


def _choice_cases(rng: Rng) -> list[Case]:
    def ask(label: str, problems: int, choices: int, spread: int = 30) -> Case:
        """Longer continuations are less probable, so that both ways to choose often differ."""
        lengths = rng.integers(2, 2 + spread, size=(problems, choices))
        log_probs = -lengths * rng.uniform(0.4, 1.6, size=(problems, choices)) - 0.1
        return Case(label, (log_probs, lengths))

    tied = np.array([[-6.0, -3.0, -3.0, -6.0], [-2.0, -4.0, -8.0, -4.0], [-5.0, -5.0, -5.0, -5.0]])
    tied_lengths = np.array([[6, 3, 3, 6], [2, 4, 8, 4], [5, 5, 5, 5]])
    # A division finds these equal for each byte, in nats and in bits; a product with 1 / length does not.
    odd_lengths = np.array([[1, 161, 239, 322], [117, 1, 107, 197], [234, 107, 1, 214], [221, 1, 4, 8]])
    odd = -odd_lengths * np.array([[1.0], [1.5], [0.75], [1.25]])
    impossible = np.array([[-np.inf, -40.0, -30.0], [-12.0, -np.inf, -9.0]])
    close = -6.0 - 0.1 * rng.permuted(np.tile(np.arange(3.0), (4, 1)), axis=1)
    apart = rng.permuted(np.tile([3, 12, 40], (4, 1)), axis=1)
    hardly = -6.0 - 1e-5 * rng.permuted(np.tile(np.arange(3.0), (5, 1)), axis=1)
    return [
        ask("eleven problems with four continuations", 11, 4),
        ask("as many problems as continuations", 5, 5),
        ask("twenty problems with two continuations", 20, 2),
        ask("continuations of nearly one length", 9, 3, spread=3),
        ask("one problem", 1, 6),
        Case("nearly equal sums of unequal lengths", (close, apart)),
        Case("scores that are all but equal", (hardly, np.full((5, 3), 4))),
        Case("equal scores", (tied, tied_lengths)),
        Case("equal scores for each byte, unequal lengths", (odd, odd_lengths)),
        ask("three hundred problems", 300, 3),
        ask("three hundred continuations", 2, 300),
        ask("continuations of up to 200,000 bytes", 6, 3, spread=200_000),
        Case("continuations of probability 0", (impossible, np.array([[2, 20, 9], [8, 4, 3]]))),
        Case(
            "long continuations, far below zero",
            (-1000.0 - 100 * rng.random((7, 4)), rng.integers(900, 1100, size=(7, 4))),
        ),
    ]


@graded("20.choice", _choice_cases, frame="numpy")
def _choose(log_probs: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """By sorting, problem by problem; of equal scores the first stays first."""
    rows = []
    for scores, sizes in zip(log_probs.tolist(), lengths.tolist(), strict=True):
        by_sum = sorted((-score, index) for index, score in enumerate(scores))
        per_byte = [-score / size for score, size in zip(scores, sizes, strict=True)]
        by_byte = sorted((bits, index) for index, bits in enumerate(per_byte))
        rows.append((by_sum[0][1], by_byte[0][1]))
    return np.array(rows)


POOL = "the red cat sat on a mat and ran to her boat before noon while rain fell".split()


def _contamination_cases(rng: Rng) -> list[Case]:
    def ask(label: str, problem: str, documents: list[str], n: int) -> Case:
        return Case(label, (problem, documents, n))

    words = [POOL[i] for i in rng.integers(len(POOL), size=60)]
    problem = words[20:34]
    many = [POOL[i] + POOL[j] for i, j in rng.integers(len(POOL), size=(4000, 2))]
    long = [POOL[i] + POOL[j] for i, j in rng.integers(len(POOL), size=(400, 2))]
    long[100:110], long[390:] = many[3500:3510], many[3990:]
    drawn_documents = [" ".join(part) for part in (words[14:25], words[28:31], words[30:45], words[:9])]
    return [
        ask("runs of two words", "The cat sat on the cat mat", ["a cat sat down", "they sat on the cat sofa"], 2),
        ask("a run that begins in one document and ends in the next", "red cat sat", ["the red", "cat sat on"], 2),
        ask("a run that comes three times", "no no no no way out", ["No no!", "oh no no", "way out west"], 2),
        ask("words that are parts of longer words", "art is in the open", ["a cart is", "smart is in theory"], 2),
        ask("other case, and gaps of several kinds", "How MANY\n\n Cats  ran", ["so how\tmany cats SAT"], 3),
        ask("the whole problem in a document", "a b c d e", ["x a b c d e y", "unrelated words here"], 3),
        ask("spaces at both ends", " so it ends ", ["so it goes", "all is well, it ends "], 2),
        ask("the same letters in other words", "a nice man sat", ["an ice man sat"], 2),
        ask("lower case is not folded case", "die Straße ist lang", ["die strasse ist lang"], 2),
        ask("the same words in another order", "one two three four", ["two one four three", "three two"], 2),
        ask("punctuation belongs to the word", "stop. go on, then", ["stop go on then", "so stop. go on"], 2),
        ask("single words", "the cat and the dog", ["The end", "and so on", "category dogs"], 1),
        ask("a problem of exactly n words", "I saw her duck", ["he said: I saw her duck fly"], 4),
        ask("fewer words than n", "too short", ["too short", "much too short to count"], 3),
        ask("a problem without words", "  ", ["some text"], 2),
        ask("no documents", "the cat sat on the mat", [], 2),
        ask("a document without words, and one shorter than n", "the cat sat", ["", "cat", "the cat sat"], 2),
        ask("a drawn problem, runs of three words", " ".join(problem), drawn_documents, 3),
        ask("a drawn problem, runs of four words", " ".join(problem), drawn_documents[::-1], 4),
        ask("thousands of words", " ".join(long), [" ".join(many[:3600]), " ".join(many[3600:])], 3),
    ]


@graded("20.contamination", _contamination_cases, frame="plain")
def _contaminated(problem: str, documents: list[str], n: int) -> float:
    """By search in texts whose words all have one space on either side."""
    words = problem.lower().split()
    padded = [f" {' '.join(document.lower().split())} " for document in documents]
    starts = list(range(len(words)))[: max(len(words) - n + 1, 0)]
    hits = [any(f" {' '.join(words[at : at + n])} " in text for text in padded) for at in starts]
    return hits.count(True) / len(hits) if hits else 0.0


def _pass_cases(rng: Rng) -> list[Case]:
    def ask(label: str, n: int, c: list[int] | np.ndarray, k: int, part: str = "core") -> Case:
        return Case(label, (n, np.array(c), k), part=part)

    return [
        ask("ten samples, k = 3", 10, [0, 1, 4, 9, 6], 3),
        ask("eight drawn problems, k = 2", 7, rng.integers(0, 8, size=8), 2),
        ask("k = 1", 6, [2, 5, 0, 6], 1),
        ask("k = n: every sample is taken", 5, [0, 1, 3, 0, 5, 0], 5),
        ask("fewer wrong samples than k", 9, [4, 7, 8, 9, 0, 6], 5),
        ask("no problem is ever solved", 8, [0, 0, 0], 4),
        ask("every sample is right", 4, [4, 4, 4, 4, 4], 2),
        ask("one problem", 12, [2], 4),
        ask("200 samples, k = 10", 200, rng.integers(0, 30, size=9), 10, "large"),
        ask("200 samples, k = 100", 200, [*rng.integers(0, 4, size=5), 0, 150], 100, "large"),
        ask("1500 samples, k = 700", 1500, [0, 1, 2, 3, 900], 700, "large"),
        ask("thousands of samples, k = 12", int(rng.integers(4100, 4500)), [0, 1, 40, 300, 2100], 12, "large"),
        ask("three hundred problems, k = 5", 23, rng.integers(0, 24, size=300), 5),
    ]


@graded("20.pass-at-k", _pass_cases, frame="numpy", parts={"core": 0.75, "large": 0.25})
def _pass_at_k(n: int, c: np.ndarray, k: int) -> float:
    """In exact fractions: subsets of k samples without a right one, of all subsets."""
    missed = sum(Fraction(math.comb(n - int(correct), k), math.comb(n, k)) for correct in c)
    return float(1 - missed / len(c))


def _paired_cases(rng: Rng, tail: float, level: str) -> list[Case]:
    def ask(label: str, first: np.ndarray, second: np.ndarray, resamples: int, tolerance: float | None = None) -> Case:
        n = len(first)
        args = (first, second, rng.integers(n, size=(resamples, n)))
        return Case(label, args, tolerance=tolerance)

    def graded(problems: int, accuracy: float) -> np.ndarray:
        return (rng.random(problems) < accuracy).astype(np.float64)

    hard = rng.random(12)
    equal = graded(7, 0.5)
    skewed = np.array([0.0, 0.1, 0.0, 0.2, 0.1, 0.0, 9.0, 0.1])
    # Resamples in the order of their means: some of them have other quantiles than all.
    close = rng.random(6), rng.random(6)
    ordered = rng.integers(6, size=(int(rng.integers(1030, 1200)), 6))
    ordered = ordered[np.argsort((close[1] - close[0])[ordered].mean(axis=1))]
    one_problem = (np.array([0.25]), np.array([1.0]), np.zeros((6, 1), dtype=np.int64))
    return [
        ask("twelve problems, scores that go together", hard, 0.8 * hard + 0.3 * rng.random(12), 43),
        ask("right and wrong, 9 problems", graded(9, 0.3), graded(9, 0.7), 58),
        ask("as many resamples as problems", rng.random(17), rng.random(17), 17),
        ask("the second model is worse", 0.5 + rng.random(10), rng.random(10), 31),
        ask("scores with an outlier", rng.random(8), skewed, 90),
        ask("equal scores", equal, equal.copy(), 25),
        ask("large scores that nearly agree", 1e6 + rng.random(11), 1e6 + rng.random(11), 37, 1e-7),
        ask("one resample", rng.random(6), rng.random(6), 1),
        Case("more than a thousand resamples", (*close, ordered)),
        ask("six hundred problems", rng.random(601), rng.random(601), 9),
        Case("one problem", one_problem),
    ]


@graded(
    "20.paired",
    _paired_cases,
    frame="numpy",
    variants=({"tail": 0.025, "level": "95 %"}, {"tail": 0.05, "level": "90 %"}, {"tail": 0.005, "level": "99 %"}),
)
def _paired_interval(first: np.ndarray, second: np.ndarray, draws: np.ndarray, tail: float, level: str) -> np.ndarray:
    """From how often each problem comes in a resample; quantiles by sorting and interpolating."""
    n = len(first)
    counts = np.stack([np.bincount(row, minlength=n) for row in draws])
    ordered = sorted(float((row * (second - first)).sum() / n) for row in counts)

    def quantile(fraction: float) -> float:
        position = fraction * (len(ordered) - 1)
        below = int(position)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (position - below) * (ordered[above] - ordered[below])

    return np.array([math.fsum(second - first) / n, quantile(tail), quantile(1 - tail)])
