"""Tasks on texts: words and a vocabulary, byte pairs, merges that are learned, and new words cut by them."""

from collections import Counter
from itertools import groupby, pairwise

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
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
        return Case(label, (text,))

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


@graded("03.words", _words_cases, frame="text")
def _split(text: str) -> list[str]:
    def class_of(character: str) -> str:
        return "word" if character.isalnum() else "gap" if character.isspace() else "mark"

    runs = [(name, "".join(run)) for name, run in groupby(text, key=class_of)]
    return [token for name, run in runs if name != "gap" for token in ([run] if name == "word" else run)]


SPECIALS = ["<pad>", "<unk>", "<s>", "</s>"]


def _tokens(rng: Rng, counts: dict[str, int]) -> list[str]:
    """Each token as often as it is to occur and once more, first met in the order of the dictionary."""
    flat = [token for token, count in counts.items() for _ in range(count)]
    return [*counts, *(flat[i] for i in rng.permutation(len(flat)))]


def _vocabulary_cases(rng: Rng, min_count: int) -> list[Case]:
    pool = [POOL[i] for i in rng.permutation(len(POOL))]
    by_count = {token: rank // 2 for rank, token in enumerate(pool[:14])}
    few = dict(zip(pool[14:18], (0, 5, 5, 1), strict=True))
    tied = dict.fromkeys(["the", "The", "été", "a", "tea"], 5)  # neither as the alphabet goes, nor backwards
    return [
        Case("two tokens each that occur once to seven times", (_tokens(rng, by_count),)),
        Case("four tokens", (_tokens(rng, few),)),
        Case("five tokens that occur equally often", (_tokens(rng, tied),)),
        Case("tokens of which none occurs twice", (sorted(pool[:5], reverse=True),)),
        Case("no tokens at all", ([],)),
    ]


@graded(
    "03.vocabulary",
    _vocabulary_cases,
    frame="text",
    variants=({"min_count": 2}, {"min_count": 3}, {"min_count": 4}, {"min_count": 5}),
)
def _vocabulary(tokens: list[str], min_count: int) -> dict[str, int]:
    by_id = dict(enumerate(SPECIALS))
    remaining = sorted(set(tokens))
    while remaining:
        most = max(tokens.count(token) for token in remaining)
        if most < min_count:
            break
        chosen = next(token for token in remaining if tokens.count(token) == most)
        by_id[len(by_id)] = chosen
        remaining.remove(chosen)
    return {token: token_id for token_id, token in by_id.items()}


def _ids_cases(rng: Rng) -> list[Case]:
    words = [POOL[i] for i in rng.permutation(len(POOL))]
    usual = {token: token_id for token_id, token in enumerate([*SPECIALS, *words[:8]])}
    moved = [*words[:5], *(SPECIALS[i] for i in (2, 0, 3, 1))]
    first = {token: token_id for token_id, token in enumerate([*words[:8], *SPECIALS])}
    other = {token: 3 + 2 * token_id for token_id, token in enumerate(moved)}
    return [
        Case("three tokens that are known", (words[:3], usual)),
        Case("tokens of which two are unknown", ([words[4], "qrx", words[0], words[0], "zzyx"], usual)),
        Case("special tokens at other places", ([words[4], "qrx", words[1]], other)),
        Case("a token whose id is 0", (words[:2], first)),
        Case("no tokens at all", ([], usual)),
        Case("unknown tokens alone", (["qrx", "Qrx"], other)),
    ]


@graded("03.ids", _ids_cases, frame="text")
def _ids(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary[t if t in vocabulary else "<unk>"] for t in ["<s>", *tokens, "</s>"]]


Pair = tuple[str, str]

Words = list[tuple[list[str], int]]
"""Words as symbols, each with how often it occurs."""


def drawn_words(rng: Rng, how_many: int, letters: str = "abcd", longest: int = 6) -> list[tuple[str, int]]:
    """Different words of a small alphabet, so that pairs come again, each with its count."""
    counts: dict[str, int] = {}
    while len(counts) < how_many:
        word = "".join(letters[i] for i in rng.integers(len(letters), size=rng.integers(2, longest + 1)))
        counts.setdefault(word, int(rng.integers(2, 9)))
    return list(counts.items())


def _counts_cases(rng: Rng) -> list[Case]:
    letters = [(list(word), times) for word, times in drawn_words(rng, 6)]
    return [
        Case("two words", ([(["a", "n", "n", "a"], 3), (["a", "n"], 2)],)),
        Case("a symbol that stands three times in a row", ([(["a", "a", "a"], 4), (["b", "a"], 1)],)),
        Case("symbols of several letters", ([(["an", "an", "as"], 2), (["as", "an", "a"], 5)],)),
        Case("a pair and its mirror image", ([(["x", "y", "x"], 3), (["y", "x", "y", "x"], 1)],)),
        Case("a word of one symbol", ([(["a"], 7), (["a", "b"], 2)],)),
        Case("no words at all", ([],)),
        Case("six drawn words", (letters,)),
    ]


@graded("03.pair-counts", _counts_cases, frame="text")
def _counts(words: Words) -> dict[Pair, int]:
    return dict(Counter(pair for symbols, times in words for pair in pairwise(symbols) for _ in range(times)))


def _merge_cases(rng: Rng) -> list[Case]:
    row = ["abc"[i] for i in rng.integers(3, size=12)]
    pair = (row[3], row[4])

    def case(label: str, symbols: list[str], joined: Pair) -> Case:
        return Case(label, (symbols, joined))

    return [
        case("a pair that stands there twice", list("banana"), ("a", "n")),
        case("a pair whose right half comes first in the alphabet", list("banana"), ("n", "a")),
        case("three of the same in a row", ["a", "a", "a", "b"], ("a", "a")),
        case("five of the same in a row", ["a"] * 5, ("a", "a")),
        case("symbols of several letters", ["ab", "c", "a", "bc", "ab", "c"], ("ab", "c")),
        case("the same letters in other symbols", ["a", "bc", "d"], ("ab", "c")),
        case("symbols that end or begin like the pair", ["ba", "n", "a", "na", "a", "n"], ("a", "n")),
        case("a pair that is not there", ["n", "a", "b"], ("a", "n")),
        case("a pair at the very end", ["c", "a", "b"], ("a", "b")),
        case("one symbol", ["a"], ("a", "a")),
        case("no symbol", [], ("a", "b")),
        case("twelve drawn symbols", row, pair),
    ]


@graded("03.merge", _merge_cases, frame="text")
def _merge(symbols: list[str], pair: Pair) -> list[str]:
    row: list[str] = []
    free = False  # whether the last symbol of the row may still become the left half of a pair
    for symbol in symbols:
        if free and (row[-1], symbol) == pair:
            row[-1] += symbol
            free = False
        else:
            row.append(symbol)
            free = True
    return row


def _bpe_cases(rng: Rng, min_count: int) -> list[Case]:
    def case(label: str, words: list[tuple[str, int]], n_merges: int) -> Case:
        return Case(label, (words, n_merges))

    rare = [("ux", 1), ("vy", 2), ("wz", 3), ("qp", 4), ("kl", 5), ("ij", 6)]
    return [
        case("four words of one family", [("sun", 5), ("sunny", 6), ("run", 7), ("funny", 2)], 4),
        case("pairs that are equally common", [("ba", 6), ("ab", 6), ("ca", 6)], 2),
        case("equally common pairs of several letters", [("xbc", 6), ("xab", 6), ("bcx", 7), ("cab", 6)], 5),
        case("a common word against many rare ones", [("ab", 9), ("cd", 3), ("cde", 2), ("ecd", 2)], 3),
        case("pairs that occur once to six times, more merges than there are pairs", rare, 9),
        case("the same letter in a row", [("aaaa", 6), ("aab", 6)], 3),
        case("three of the same letter", [("aaa", 6)], 3),
        case("three of the same letter, and two", [("aaa", 6), ("aac", 5)], 3),
        case("a pair that overlaps itself against another one", [("aaa", 5), ("bc", 7)], 1),
        case("a pair that stands twice in a word against another one", [("abcab", 5), ("xy", 7)], 1),
        case("a short pair against a long one, equally common", [("ab", 18), ("abb", 6), ("ac", 6)], 2),
        case("two words that are rare, with a pair that is not", [("ab", 1), ("cab", min_count - 1)], 1),
        case("one word, and more merges than it can take", [("ab", 9)], 3),
        case("no words", [], 2),
        case("no merge at all", [("ab", 9)], 0),
        case("seven drawn words", drawn_words(rng, 7), 6),
        case("seven others", drawn_words(rng, 7, "xyz"), 5),
    ]


def _bpe(words: list[tuple[str, int]], n_merges: int, min_count: int) -> list[Pair]:
    # Words as texts with a mark between symbols; counting and joining go by the marks.
    cuts = [("\0" + "\0".join(word) + "\0", times) for word, times in words]
    merges: list[Pair] = []
    for _ in range(n_merges):
        pairs = sorted({pair for cut, _ in cuts for pair in _neighbours(cut)})
        total = {pair: sum(t * _neighbours(cut).count(pair) for cut, t in cuts) for pair in pairs}
        best = max(pairs, key=lambda pair: total[pair], default=None)  # the first of equals: pairs are sorted
        if best is None or total[best] < min_count:
            break
        merges.append(best)
        cuts = [(_joined(cut, best), times) for cut, times in cuts]
    return merges


def _neighbours(cut: str) -> list[Pair]:
    row = cut.strip("\0").split("\0")
    return [(row[i], row[i + 1]) for i in range(len(row) - 1)]


def _joined(cut: str, pair: Pair) -> str:
    # str.replace works from left to right; the mark that both neighbours share is doubled first.
    doubled = cut.replace("\0", "\0\0")
    return doubled.replace(f"\0{pair[0]}\0\0{pair[1]}\0", f"\0{pair[0]}{pair[1]}\0").replace("\0\0", "\0")


BPE = described(
    "03.bpe",
    _bpe_cases,
    _bpe,
    frame="text",
    variants=({"min_count": 2}, {"min_count": 3}, {"min_count": 4}, {"min_count": 5}),
)


def _encode_cases(rng: Rng) -> list[Case]:
    learned = _bpe([(w, t + 3) for w, t in drawn_words(rng, 8, "abc")], 6, 2)
    news = [word for word, _ in drawn_words(rng, 3, "abcz", 9)]

    def case(label: str, word: str, merges: list[Pair]) -> Case:
        return Case(label, (word, merges))

    return [
        case("two merges that want the same letter", "abc", [("b", "c"), ("a", "b")]),
        case("a merge that only a later one makes possible", "bcd", [("c", "d"), ("b", "c"), ("b", "cd")]),
        case("two merges, the better one on the left", "abc", [("a", "b"), ("b", "c")]),
        case("a short pair against a long one", "cdxycd", [("c", "d"), ("x", "y"), ("y", "cd")]),
        case("merges that build on each other", "sunnysun", [("u", "n"), ("s", "un"), ("n", "y"), ("sun", "ny")]),
        case("the same pair several times", "ananas", [("a", "n"), ("an", "an")]),
        case("the same letter in a row", "aaaab", [("a", "a"), ("aa", "b")]),
        case("capitals and small letters", "AaAbab", [("a", "b"), ("A", "a")]),
        case("letters that no merge knows", "éabà", [("a", "b")]),
        case("no merges", "abc", []),
        case("one letter", "a", [("a", "a")]),
        *(case("a drawn word and learned merges", word, learned) for word in news),
    ]


@graded("03.encode", _encode_cases, frame="text")
def _encode(word: str, merges: list[Pair]) -> list[str]:
    # Always the pair that was learned first, one place at a time: no later merge makes room for an earlier one.
    row = list(word)
    while candidates := [(merges.index(pair), i) for i, pair in enumerate(pairwise(row)) if pair in merges]:
        _, position = min(candidates)
        row[position : position + 2] = [row[position] + row[position + 1]]
    return row
