"""A tokenizer on the page: text cut by characters, words and byte pairs, with as many merges as one likes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import traitlets

from softlookup.text import BytePairTokenizer, CharacterTokenizer, Merge, WordTokenizer
from softlookup_course.widgets.interactive import InteractiveFigure

CUTS = ("characters", "words", "byte pairs")
"""The ways to cut, in order; ``TokenizerFigure.cut`` is an index into them."""

LONGEST_TEXT = 400
"""Characters that the figure takes; more would make a page of boxes."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned from one body of texts.

    Attributes:
        title: A few words for the chooser.
        about: A sentence on the texts.
        tokenizer: Its byte pairs, not at byte level.
        times: How often each merge's pair stood in the texts when it was learned, or None if that is not known.
        words: The words of the same texts, or None if there is no list of them.
        characters: Their characters, or None; the byte pairs' alphabet has no space.
    """

    title: str
    about: str
    tokenizer: BytePairTokenizer
    times: Sequence[int] | None = None
    words: WordTokenizer | None = None
    characters: CharacterTokenizer | None = None

    @classmethod
    def from_steps(cls, title: str, about: str, texts: Sequence[str], steps: Sequence[Merge]) -> "Learned":
        """Put together what ``text.train_steps`` learned from texts, with their words and characters.

        ``title`` is a few words for the chooser, ``about`` a sentence on the texts. A ValueError if the merges do not
        fit the texts' characters.
        """
        from softlookup.text.bpe_training import base_alphabet
        from softlookup.text.pieces import count_pieces

        tokenizer = BytePairTokenizer(base_alphabet(count_pieces(texts)), [step.pair for step in steps])
        times = [step.times for step in steps]
        return cls(title, about, tokenizer, times, WordTokenizer.train(texts), CharacterTokenizer.train(texts))


def record(learned: Learned) -> dict[str, Any]:
    """Write what was learned for JSON: what the script needs to cut by, in the order of the ids.

    title, about, alphabet (list of characters), merges (list of pairs), times (or None), words and characters (tokens
    in the order of their ids, specials first, or None), specials (names, ids 0 to 3). A ValueError if the tokenizer
    works at byte level, or there is not one count for each merge.
    """
    tokenizer = learned.tokenizer
    if tokenizer.byte_level:
        raise ValueError(f"{learned.title!r} works at byte level; the figure shows characters")
    if learned.times is not None and len(learned.times) != len(tokenizer.merges):
        raise ValueError(f"{learned.title!r} has {len(learned.times)} counts for {len(tokenizer.merges)} merges")
    specials = tokenizer.vocabulary.specials.names()
    return {
        "title": learned.title,
        "about": learned.about,
        "specials": list(specials),
        "alphabet": list(tokenizer.alphabet),
        "merges": [list(pair) for pair in tokenizer.merges],
        "times": None if learned.times is None else [int(n) for n in learned.times],
        "words": None if learned.words is None else list(learned.words.vocabulary.tokens),
        "characters": None if learned.characters is None else list(learned.characters.vocabulary.tokens),
    }


def pieces(learned: Learned, text: str, cut: str, n_merges: int) -> list[tuple[str, int | None]]:
    """Cut a text with the library as the figure does with its script, by one of CUTS; another is a ValueError.

    Each piece has its id; None where no list of such tokens was kept. ``n_merges`` is how many of the merges to use.
    """
    tokenizer: Any
    if cut == "characters":
        tokenizer = learned.characters or CharacterTokenizer.train(["a"])
        has_ids = learned.characters is not None
    elif cut == "words":
        tokenizer = learned.words or WordTokenizer.train(["a"])
        has_ids = learned.words is not None
    elif cut == "byte pairs":
        tokenizer = BytePairTokenizer(learned.tokenizer.alphabet, learned.tokenizer.merges[:n_merges])
        has_ids = True
    else:
        raise ValueError(f"no cut {cut!r}; wanted one of {', '.join(CUTS)}")
    return [(token, tokenizer.vocabulary.id(token) if has_ids else None) for token in tokenizer.tokens(text)]


def static_text(learned: Learned, text: str) -> str:
    """Write one text's three cuts as HTML, for readers whose browser runs no script."""
    rows = "".join(
        f'<tr><th scope="row">{escape(cut)}</th><td>{len(tokens)}</td>'
        f"<td>{' '.join(f'<code>{escape(piece)}</code>' for piece, _ in tokens)}</td></tr>"
        for cut in CUTS
        for tokens in [pieces(learned, text, cut, len(learned.tokenizer.merges))]
    )
    columns = ("cut by", "tokens", "the text, cut")
    head = "<thead><tr>" + "".join(f'<th scope="col">{name}</th>' for name in columns) + "</tr></thead>"
    return (
        f"<p>“{escape(text)}”, cut in three ways. With scripts switched on, you can type a text of your own, and "
        f"choose how many merges are used.</p><table>{head}<tbody>{rows}</tbody></table>"
    )


class TokenizerFigure(InteractiveFigure):
    """Type a text, and see it cut into characters, words or byte pairs with any number of merges.

    Merges and vocabularies are learned in Python, by ``softlookup.text``; the script cuts what is typed by them. A
    browser test holds that its pieces and ids are those of the library. The first of the samples is shown. A ValueError
    if there is nothing learned, or no sample.

    Source: Sennrich et al. 2016.
    """

    learned = traitlets.List(traitlets.Dict(), help="what `record` returned for each body of texts").tag(sync=True)
    samples = traitlets.List(traitlets.Unicode(), help="texts to choose from").tag(sync=True)
    longest = traitlets.Int(LONGEST_TEXT, help="characters that are taken").tag(sync=True)
    chosen = traitlets.Int(0, help="index of the body of texts").tag(sync=True)
    cut = traitlets.Int(2, min=0, max=len(CUTS) - 1, help="index into CUTS").tag(sync=True)
    text = traitlets.Unicode("", help="the text that is cut").tag(sync=True)
    n_merges = traitlets.Int(0, min=0, help="how many merges are used").tag(sync=True)

    def __init__(self, learned: Sequence[Learned], samples: Sequence[str]) -> None:
        if not learned or not samples:
            raise ValueError("TokenizerFigure needs at least one body of texts and one sample")
        records: list[Mapping[str, Any]] = [record(entry) for entry in learned]
        super().__init__(
            learned=records,
            samples=list(samples),
            text=samples[0],
            n_merges=len(records[0]["merges"]),
            fallback=static_text(learned[0], samples[0]),
        )
