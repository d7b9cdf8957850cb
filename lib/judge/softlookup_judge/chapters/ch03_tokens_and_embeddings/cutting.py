"""Tasks on words and their numbers: cut a text, build a vocabulary, look tokens up."""

from itertools import groupby

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

POOL = "Zoë café naïve l'été Übung word 42 x9 don't Paris river boats moon très Æsop sun 7 cats élan re-tied".split()
MARKS = [",", ".", "!", "?", ";", ":", "(", ")", "…", "«"]
GAPS = [" ", " ", " ", "  ", "\t", "\n"]


def _text(rng: Rng, words: int) -> str:
    """Some words with marks and gaps between them, never twice the same."""
    parts: list[str] = []
    for _ in range(words):
        parts.append(POOL[rng.integers(len(POOL))])
        if rng.random() < 0.5:
            parts.append(MARKS[rng.integers(len(MARKS))])
        parts.append(GAPS[rng.integers(len(GAPS))])
    return "".join(parts)


def _words_cases(rng: Rng) -> list[Case]:
    def case(label: str, text: str) -> Case:
        return Case(label, (text,), frame="text")

    return [
        case("a sentence with a comma and a full stop", "The cat, it seems, sat."),
        case("apostrophes and digits", f"Don't wait: 'tis {rng.integers(10, 99)} o'clock'!"),
        case("accents", "Zoë a mangé l'œuf à Orléans."),
        case("several marks in a row", "What?! Well... (maybe)"),
        case("spaces around and between", "  two \t gaps\n\n and  ends "),
        case("white space of other kinds", "1\u00a0000\u2009km:\u3000so\u2028far,\r\n\x1fx2"),
        case("no text at all", ""),
        case("one mark", "!"),
        case("two words and nothing behind them", "the cat"),
        case("one letter", "x"),
        case("letters and digits in one word", "The 3rd x9, 42nd of B2B."),
        case("a drawn text", _text(rng, 6)),
        case("a longer drawn text", " " + _text(rng, 14)),
    ]


def _split(text: str) -> list[str]:
    def kind(character: str) -> str:
        return "word" if character.isalnum() else "gap" if character.isspace() else "mark"

    runs = [(name, "".join(run)) for name, run in groupby(text, key=kind)]
    return [piece for name, run in runs if name != "gap" for piece in ([run] if name == "word" else run)]


WORDS = described("03.words", frame="text", cases=_words_cases, oracle=_split)

SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"]


def _tokens(rng: Rng, counts: dict[str, int]) -> list[str]:
    """Each token as often as it is to occur and once more, first met in the order of the dictionary."""
    flat = [token for token, count in counts.items() for _ in range(count)]
    return [*counts, *(flat[i] for i in rng.permutation(len(flat)))]


def _vocabulary_cases(rng: Rng, min_count: int) -> list[Case]:
    pool = [POOL[i] for i in rng.permutation(len(POOL))]
    by_count = {word: place // 2 for place, word in enumerate(pool[:14])}
    few = dict(zip(pool[14:18], (0, 5, 5, 1), strict=True))
    tied = dict.fromkeys(["the", "The", "été", "a", "tea"], 5)  # neither as the alphabet goes, nor backwards
    return [
        Case("two tokens each that occur once to seven times", (_tokens(rng, by_count),), frame="text"),
        Case("four tokens", (_tokens(rng, few),), frame="text"),
        Case("five tokens that occur equally often", (_tokens(rng, tied),), frame="text"),
        Case("tokens of which none occurs twice", (sorted(pool[:5], reverse=True),), frame="text"),
        Case("no tokens at all", ([],), frame="text"),
    ]


def _vocabulary(tokens: list[str], min_count: int) -> dict[str, int]:
    places = dict(enumerate(SPECIALS))
    left = sorted(set(tokens))
    while left:
        most = max(tokens.count(token) for token in left)
        if most < min_count:
            break
        chosen = next(token for token in left if tokens.count(token) == most)
        places[len(places)] = chosen
        left.remove(chosen)
    return {token: number for number, token in places.items()}


VOCABULARY = described(
    "03.vocabulary",
    frame="text",
    cases=_vocabulary_cases,
    oracle=_vocabulary,
    variants=({"min_count": 2}, {"min_count": 3}, {"min_count": 4}, {"min_count": 5}),
)


def _ids_cases(rng: Rng) -> list[Case]:
    words = [POOL[i] for i in rng.permutation(len(POOL))]
    usual = {token: number for number, token in enumerate([*SPECIALS, *words[:8]])}
    moved = [*words[:5], *(SPECIALS[i] for i in (2, 0, 3, 1))]
    first = {token: number for number, token in enumerate([*words[:8], *SPECIALS])}
    other = {token: 3 + 2 * number for number, token in enumerate(moved)}
    return [
        Case("three tokens that are known", (words[:3], usual), frame="text"),
        Case("tokens of which two are unknown", ([words[4], "qrx", words[0], words[0], "zzyx"], usual), frame="text"),
        Case("special tokens at other places", ([words[4], "qrx", words[1]], other), frame="text"),
        Case("a token whose id is 0", (words[:2], first), frame="text"),
        Case("no tokens at all", ([], usual), frame="text"),
        Case("unknown tokens alone", (["qrx", "Qrx"], other), frame="text"),
    ]


def _ids(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary[t if t in vocabulary else "<unk>"] for t in ["<s>", *tokens, "</s>"]]


IDS = described("03.ids", frame="text", cases=_ids_cases, oracle=_ids)
