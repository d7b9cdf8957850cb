"""Tasks on scores from log-probabilities: bits per byte of a text, and a choice among continuations."""

import math

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described

SENTENCES = (
    "The cat sat on the mat.",
    "Zoë a mangé l'œuf à Orléans.",
    "Übung macht den Meister …",
    " two  gaps,\n and a line ",
)


def _log_probs(rng: Rng, *shape: int, scale: float = 2.0) -> np.ndarray:
    """Logarithms of probabilities: all below zero."""
    return -np.abs(normal(rng, *shape, dtype="float64", scale=scale)) - 0.05


def _bits_cases(rng: Rng) -> list[Case]:
    def ask(label: str, tokens: int, text: str, scale: float = 2.0) -> Case:
        return Case(label, (_log_probs(rng, tokens, scale=scale), text), frame="numpy")

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
        Case("very improbable tokens", (_log_probs(rng, 4, scale=300.0) - 800.0, "zq qz"), frame="numpy"),
        Case("a text that is certain", (np.zeros(4), "été"), frame="numpy"),
    ]


def _bits_per_byte(log_probs: np.ndarray, text: str) -> float:
    """Token by token in base 2; bytes by the ranges of code points that UTF-8 has."""
    n_bytes = sum(1 + sum(ord(letter) >= start for start in (0x80, 0x800, 0x10000)) for letter in text)
    return math.fsum(-float(log_prob) * math.log2(math.e) / n_bytes for log_prob in log_probs)


BITS_PER_BYTE = described("20.bits-per-byte", cases=_bits_cases, oracle=_bits_per_byte, frame="numpy")


def _choice_cases(rng: Rng) -> list[Case]:
    def ask(label: str, problems: int, choices: int, spread: int = 30) -> Case:
        """Longer continuations are less probable, so that both ways to choose often differ."""
        lengths = rng.integers(2, 2 + spread, size=(problems, choices))
        log_probs = -lengths * rng.uniform(0.4, 1.6, size=(problems, choices)) - 0.1
        return Case(label, (log_probs, lengths), frame="numpy")

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
        Case("nearly equal sums of unequal lengths", (close, apart), frame="numpy"),
        Case("scores that are all but equal", (hardly, np.full((5, 3), 4)), frame="numpy"),
        Case("equal scores", (tied, tied_lengths), frame="numpy"),
        Case("equal scores for each byte, unequal lengths", (odd, odd_lengths), frame="numpy"),
        ask("three hundred problems", 300, 3),
        ask("three hundred continuations", 2, 300),
        ask("continuations of up to 200,000 bytes", 6, 3, spread=200_000),
        Case("continuations of probability 0", (impossible, np.array([[2, 20, 9], [8, 4, 3]])), frame="numpy"),
        Case(
            "long continuations, far below zero",
            (-1000.0 - 100 * rng.random((7, 4)), rng.integers(900, 1100, size=(7, 4))),
            frame="numpy",
        ),
    ]


def _choose(log_probs: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """By sorting, problem by problem; of equal scores the first stays first."""
    rows = []
    for scores, sizes in zip(log_probs.tolist(), lengths.tolist(), strict=True):
        by_sum = sorted((-score, place) for place, score in enumerate(scores))
        per_byte = [-score / size for score, size in zip(scores, sizes, strict=True)]
        by_byte = sorted((bits, place) for place, bits in enumerate(per_byte))
        rows.append((by_sum[0][1], by_byte[0][1]))
    return np.array(rows)


CHOICE = described("20.choice", cases=_choice_cases, oracle=_choose, frame="numpy")
