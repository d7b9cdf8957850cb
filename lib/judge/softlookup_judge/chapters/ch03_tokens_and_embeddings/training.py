"""Tasks on byte pairs: learn merges, and cut a new word by them."""

from itertools import pairwise

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch03_tokens_and_embeddings.pairs import Pair, drawn_words
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _bpe_cases(rng: Rng, min_count: int) -> list[Case]:
    def case(label: str, words: list[tuple[str, int]], n_merges: int) -> Case:
        return Case(label, (words, n_merges), frame="text")

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
    frame="text",
    cases=_bpe_cases,
    oracle=_bpe,
    variants=({"min_count": 2}, {"min_count": 3}, {"min_count": 4}, {"min_count": 5}),
)


def _encode_cases(rng: Rng) -> list[Case]:
    learned = _bpe([(w, t + 3) for w, t in drawn_words(rng, 8, "abc")], 6, 2)
    news = [word for word, _ in drawn_words(rng, 3, "abcz", 9)]

    def case(label: str, word: str, merges: list[Pair]) -> Case:
        return Case(label, (word, merges), frame="text")

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


def _encode(word: str, merges: list[Pair]) -> list[str]:
    # Always the pair that was learned first, one place at a time: no later merge makes room for an earlier one.
    row = list(word)
    while places := [(merges.index(pair), i) for i, pair in enumerate(pairwise(row)) if pair in merges]:
        _, place = min(places)
        row[place : place + 2] = [row[place] + row[place + 1]]
    return row


ENCODE = described("03.encode", frame="text", cases=_encode_cases, oracle=_encode)
