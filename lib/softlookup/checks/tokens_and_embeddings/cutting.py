"""Tasks on words and their numbers: cut a text, build a vocabulary, look tokens up."""

from itertools import groupby

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task
from softlookup.checks.tokens_and_embeddings.page import PAGE

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


FINDALL = r're.findall(r"\w+|[^\w\s]", text)'

WORDS = Task(
    id="03.words",
    name="split_words",
    title="Words and marks",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="tokens-words",
    returns=("tokens",),
    frame="text",
    cases=_words_cases,
    oracle=_split,
    mistakes=(
        known(
            "spaces-only",
            (FINDALL, "text.split()"),
            says="The text is cut at spaces alone, so marks cling to their words: `sat.` is the word `sat` and the "
            "mark `.`.",
        ),
        known(
            "at-each-space",
            (FINDALL, 'text.split(" ")'),
            says='The text is cut at each single space (`split(" ")`): marks cling to their words, and two spaces '
            "leave an empty token between them.",
        ),
        known("marks-dropped", (r"\w+|[^\w\s]", r"\w+"), says="The marks are lost: each is a token by itself."),
        known(
            "marks-glued",
            (r"[^\w\s]", r"[^\w\s]+"),
            says="Marks that follow each other are one token: `?!` is two tokens, `?` and `!`.",
        ),
        known(
            "spaces-kept",
            (r"[^\w\s]", r"\W"),
            says="Spaces come back as tokens: they part tokens, and are none.",
        ),
        known(
            "ascii-only",
            (r"\w+|[^\w\s]", r"[A-Za-z0-9]+|[^A-Za-z0-9\s]"),
            says="Letters with accents break the word they stand in: `isalnum()` and `\\w` know them as letters, "
            "`[A-Za-z]` does not.",
        ),
        known(
            "digits-apart",
            (r"\w+|[^\w\s]", r"[^\W\d]+|[^\w\s]|\d"),
            says="Each digit is a token: letters and digits in a row are one word.",
        ),
        known(
            "digits-parted",
            (r"\w+|[^\w\s]", r"[^\W\d]+|\d+|[^\w\s]"),
            says="A word is cut where letters meet digits: letters and digits in a row are one word, as in `x9`.",
        ),
        known(
            "last-word-lost",
            (r"\w+|[^\w\s]", r"\w+(?=\W)|[^\w\s]"),
            says="The last word is lost where nothing comes after it: when the loop ends, the word that is being "
            "collected has still to be added.",
        ),
        known(
            "apostrophe-kept",
            (r"\w+|[^\w\s]", r"[\w']+|[^\w\s]"),
            says="The apostrophe is taken for a letter: here it is a mark like any other.",
        ),
        known("lowercased", (", text)", ", text.lower())"), says="Capitals became small letters: keep the text's own."),
    ),
)

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


KEY = "key=lambda word: (-counts[word], word)"

VOCABULARY = Task(
    id="03.vocabulary",
    name="build_vocabulary",
    title="A vocabulary",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="tokens-vocabulary",
    returns=("ids",),
    frame="text",
    cases=_vocabulary_cases,
    oracle=_vocabulary,
    variants=({"min_count": 2}, {"min_count": 3}, {"min_count": 4}, {"min_count": 5}),
    mistakes=(
        known(
            "specials-last",
            ("SPECIALS + kept", "kept + SPECIALS"),
            says="The special tokens come last: they come first, so that their ids do not depend on the text.",
        ),
        known(
            "no-specials",
            ("SPECIALS + kept", "kept"),
            says="The special tokens are missing: the four of `SPECIALS` have the ids 0 to 3.",
        ),
        known(
            "from-one",
            ("enumerate(SPECIALS + kept)", "enumerate(SPECIALS + kept, 1)"),
            says="The ids begin with 1: they are places in a list, and begin with 0.",
        ),
        known(
            "ties-as-met",
            (KEY, "key=lambda word: -counts[word]"),
            says="Among tokens that are equally common, the one met first goes first: it should be the first of "
            "the alphabet. Look at the key that you sort by.",
        ),
        known(
            "tie-last",
            (KEY, "key=lambda word: (counts[word], word), reverse=True"),
            says="Among tokens that are equally common, the last one of the alphabet goes first: it should be the "
            "first. `reverse=True` turns the alphabet round as well.",
        ),
        known(
            "alphabetical",
            (KEY, "key=lambda word: word"),
            says="The tokens are in alphabetical order: the commonest comes first, and the alphabet decides among "
            "equals.",
        ),
        known(
            "rarest-first",
            ("(-counts[word], word)", "(counts[word], word)"),
            says="The rarest token comes first: sort by the count, falling.",
        ),
        known(
            "all-kept",
            ("counts[token] >= min_count", "counts[token] >= 1"),
            says="Rare tokens are kept too: below the least count a token is left out.",
        ),
        known(
            "more-than",
            ("counts[token] >= min_count", "counts[token] > min_count"),
            says="A token that occurs exactly as often as asked is left out: at least means `>=`.",
        ),
        known(
            "turned-round",
            ("{token: number for", "{number: token for"),
            says="The dictionary goes from ids to tokens: it is asked for the id of a token.",
        ),
    ),
)


def _ids_cases(rng: Rng) -> list[Case]:
    words = [POOL[i] for i in rng.permutation(len(POOL))]
    usual = {token: number for number, token in enumerate([*SPECIALS, *words[:8]])}
    moved = [*words[:5], *(SPECIALS[i] for i in (2, 0, 3, 1))]
    other = {token: 3 + 2 * number for number, token in enumerate(moved)}
    return [
        Case("three tokens that are known", (words[:3], usual), frame="text"),
        Case("tokens of which two are unknown", ([words[4], "qrx", words[0], words[0], "zzyx"], usual), frame="text"),
        Case("special tokens at other places", ([words[4], "qrx", words[1]], other), frame="text"),
        Case("no tokens at all", ([], usual), frame="text"),
        Case("unknown tokens alone", (["qrx", "Qrx"], other), frame="text"),
    ]


def _ids(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary[t if t in vocabulary else "<unk>"] for t in ["<s>", *tokens, "</s>"]]


ENDS = 'return [vocabulary["<s>"], *ids, vocabulary["</s>"]]'

IDS = Task(
    id="03.ids",
    name="to_ids",
    title="From tokens to ids",
    points=2,
    minutes=3,
    difficulty=1,
    page=PAGE,
    anchor="tokens-vocabulary",
    returns=("ids",),
    frame="text",
    cases=_ids_cases,
    oracle=_ids,
    mistakes=(
        known(
            "unknown-dropped",
            ("for token in tokens]", "for token in tokens if token in vocabulary]"),
            says="Unknown tokens are left out: each becomes the id of `<unk>`, so that it is seen that something "
            "stood there.",
        ),
        known(
            "unknown-is-pad",
            ('unknown = vocabulary["<unk>"]', 'unknown = vocabulary["<pad>"]'),
            says="Unknown tokens get the id of `<pad>`, and will be taken for nothing: they get that of `<unk>`.",
        ),
        known(
            "unknown-is-zero",
            ('unknown = vocabulary["<unk>"]', "unknown = 0"),
            says="Unknown tokens get the id 0, whatever that is: ask the vocabulary for the id of `<unk>`.",
        ),
        known(
            "unknown-is-new",
            ('unknown = vocabulary["<unk>"]', "unknown = len(vocabulary)"),
            says="Unknown tokens get an id that the vocabulary does not have, and the table will have no row for.",
        ),
        known("no-ends", (ENDS, "return ids"), says="Start and end are missing: `<s>` goes before, `</s>` after."),
        known("no-start", (ENDS, 'return [*ids, vocabulary["</s>"]]'), says="The start token `<s>` is missing."),
        known("no-end", (ENDS, 'return [vocabulary["<s>"], *ids]'), says="The end token `</s>` is missing."),
        known(
            "ends-swapped",
            (ENDS, 'return [vocabulary["</s>"], *ids, vocabulary["<s>"]]'),
            says="Start and end have changed places: `<s>` goes before, `</s>` after.",
        ),
        known(
            "fixed-ids",
            (ENDS, "return [2, *ids, 3]"),
            ('unknown = vocabulary["<unk>"]', "unknown = 1"),
            says="The ids of the special tokens are written into the code: they are right for one vocabulary. Look "
            "them up.",
        ),
    ),
)
