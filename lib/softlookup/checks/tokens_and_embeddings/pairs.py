"""Tasks on pairs of neighbours: count them, and join one of them."""

from collections import Counter
from itertools import pairwise

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task
from softlookup.checks.tokens_and_embeddings.page import PAGE, Words

Pair = tuple[str, str]


def drawn_words(rng: Rng, how_many: int, letters: str = "abcd", longest: int = 6) -> list[tuple[str, int]]:
    """Different words of a small alphabet, so that pairs come again, each with its count."""
    found: dict[str, int] = {}
    while len(found) < how_many:
        word = "".join(letters[i] for i in rng.integers(len(letters), size=rng.integers(2, longest + 1)))
        found.setdefault(word, int(rng.integers(2, 9)))
    return list(found.items())


def _counts_cases(rng: Rng) -> list[Case]:
    letters = [(list(word), times) for word, times in drawn_words(rng, 6)]
    return [
        Case("two words", ([(["a", "n", "n", "a"], 3), (["a", "n"], 2)],), frame="text"),
        Case("a symbol that stands three times in a row", ([(["a", "a", "a"], 4), (["b", "a"], 1)],), frame="text"),
        Case("symbols of several letters", ([(["an", "an", "as"], 2), (["as", "an", "a"], 5)],), frame="text"),
        Case("a pair and its mirror image", ([(["x", "y", "x"], 3), (["y", "x", "y", "x"], 1)],), frame="text"),
        Case("a word of one symbol", ([(["a"], 7), (["a", "b"], 2)],), frame="text"),
        Case("no words at all", ([],), frame="text"),
        Case("six drawn words", (letters,), frame="text"),
    ]


def _counts(words: Words) -> dict[Pair, int]:
    return dict(Counter(pair for symbols, times in words for pair in pairwise(symbols) for _ in range(times)))


PAIRS = "pairwise(symbols)"

PAIR_COUNTS = Task(
    id="03.pair-counts",
    name="count_pairs",
    title="Counting neighbours",
    points=2,
    minutes=4,
    difficulty=1,
    page=PAGE,
    anchor="tokens-pairs",
    returns=("counts",),
    frame="text",
    cases=_counts_cases,
    oracle=_counts,
    mistakes=(
        known(
            "times-forgotten",
            ("+ times", "+ 1"),
            says="Each word counts once: a word that occurs five times brings each of its pairs five times.",
        ),
        known(
            "across-words",
            ("    counts = {}\n", "    counts, last = {}, None\n"),
            (
                "in words:\n",
                "in words:\n        row, last = [*([last] if last else []), *symbols], symbols[-1]\n",
            ),
            (PAIRS, "pairwise(row)"),
            says="The last symbol of a word is paired with the first one of the next: no pair crosses the end of a "
            "word.",
        ),
        known(
            "once-each-word",
            (PAIRS, f"dict.fromkeys({PAIRS})"),
            says="A pair counts once in each word: where it stands twice in a word it counts twice. (A set or "
            "`in` forgets that.)",
        ),
        known(
            "no-overlap",
            (
                PAIRS,
                "(p for _, run in __import__('itertools').groupby(pairwise(symbols)) for i, p in enumerate(run)"
                " if i % 2 == 0)",
            ),
            says="Pairs that overlap are counted once (as `str.count` would): in a a a the pair (a, a) stands twice, "
            "at places 0 and 1.",
        ),
        known(
            "either-order",
            ("counts[pair] = counts.get(pair, 0)", "pair = tuple(sorted(pair)); counts[pair] = counts.get(pair, 0)"),
            says="A pair and its mirror image are counted together: (x, y) is another pair than (y, x).",
        ),
        known(
            "joined-keys",
            (
                "counts[pair] = counts.get(pair, 0)",
                'pair = "".join(pair); counts[pair] = counts.get(pair, 0)',
            ),
            says="The keys are joined texts: (`a`, `bc`) and (`ab`, `c`) become one. A key is the pair, a tuple.",
        ),
        known(
            "last-pair-lost",
            (PAIRS, "pairwise(symbols[:-1])"),
            says="The last pair of each word is missing: look at where the range or the slice ends.",
        ),
    ),
)


def _merge_cases(rng: Rng) -> list[Case]:
    row = ["abc"[i] for i in rng.integers(3, size=12)]
    pair = (row[3], row[4])

    def case(label: str, symbols: list[str], joined: Pair) -> Case:
        return Case(label, (symbols, joined), frame="text")

    return [
        case("a pair that stands there twice", list("banana"), ("a", "n")),
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


IF_PAIR = "if tuple(symbols[place : place + 2]) == pair:"

MERGE = Task(
    id="03.merge",
    name="merge",
    title="Joining one pair",
    points=2,
    minutes=6,
    difficulty=2,
    page=PAGE,
    anchor="tokens-pairs",
    returns=("symbols",),
    frame="text",
    cases=_merge_cases,
    oracle=_merge,
    mistakes=(
        known(
            "first-only",
            (
                "            result.append(pair[0] + pair[1])\n",
                "            return [*result, pair[0] + pair[1], *symbols[place + 2 :]]\n",
            ),
            says="Only the first place is joined: the pair is joined wherever it stands.",
        ),
        known(
            "from-the-right",
            (
                "    result, place = [], 0\n",
                "    result, place = [], 0\n    symbols, pair = symbols[::-1], pair[::-1]\n",
            ),
            ("result.append(pair[0] + pair[1])", "result.append(pair[1] + pair[0])"),
            ("return result", "return result[::-1]"),
            says="The pairs are looked for from the right: in a a a it is the first two that are joined, from left "
            "to right.",
        ),
        known(
            "by-text",
            (
                "    result, place = [], 0\n",
                '    text, joined = "".join(symbols), pair[0] + pair[1]\n    result, place = [], 0\n'
                "    while place < len(text):\n"
                "        step = len(joined) if text.startswith(joined, place) else 1\n"
                "        result.append(text[place : place + step])\n        place += step\n    return result\n",
            ),
            says="The pair is looked for in the joined text: two symbols are compared, not letters. a, bc does not "
            "hold the pair (ab, c).",
        ),
        known(
            "by-spaced-text",
            (
                "    result, place = [], 0\n",
                '    return " ".join(symbols).replace(" ".join(pair), "".join(pair)).split()\n'
                "    result, place = [], 0\n",
            ),
            says="The pair is replaced in a text with spaces, and finds halves of symbols there: `ba n` holds the text "
            "`a n`, but its symbols are ba and n.",
        ),
        known(
            "overlapping",
            ("place += 2", "place += 1"),
            says="After a join the right half is used once more: step over both halves (`place += 2`).",
        ),
        known(
            "used-twice",
            ("place += 2", "place += 1"),
            (
                "            result.append(symbols[place])\n",
                "            if place == 0 or tuple(symbols[place - 1 : place + 1]) != pair:\n"
                "                result.append(symbols[place])\n",
            ),
            says="Where the pair overlaps itself a symbol is used twice: a a a becomes aa a, and not aa aa. After a "
            "join, go on behind it.",
        ),
        known(
            "either-order",
            (IF_PAIR, "if tuple(symbols[place : place + 2]) in (pair, pair[::-1]):"),
            ("result.append(pair[0] + pair[1])", 'result.append("".join(symbols[place : place + 2]))'),
            says="The mirror image of the pair is joined as well: the order counts.",
        ),
        known(
            "last-symbol-lost",
            ("while place < len(symbols):", "while place < len(symbols) - 1:"),
            says="The last symbol is lost where it is not part of a pair: the loop ends one place too early.",
        ),
    ),
)
