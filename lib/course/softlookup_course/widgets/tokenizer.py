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
    """What was learned from one body of texts."""

    title: str  # a few words for the chooser
    about: str  # a sentence on the texts
    tokenizer: BytePairTokenizer  # its byte pairs, not at byte level
    # How often each merge's pair stood in the texts when it was learned, or None if that is not known:
    times: Sequence[int] | None = None
    words: WordTokenizer | None = None  # the words of the same texts, or None if there is no list of them
    characters: CharacterTokenizer | None = None  # their characters, or None; the byte pairs' alphabet has no space

    @classmethod
    def from_steps(cls, title: str, about: str, texts: Sequence[str], steps: Sequence[Merge]) -> "Learned":
        """Put together what ``text.train_steps`` learned from texts, with their words and characters."""
        from softlookup.text.bpe_training import base_alphabet
        from softlookup.text.pieces import count_pieces

        tokenizer = BytePairTokenizer(base_alphabet(count_pieces(texts)), [step.pair for step in steps])
        times = [step.times for step in steps]
        return cls(title, about, tokenizer, times, WordTokenizer.train(texts), CharacterTokenizer.train(texts))


def as_json(learned: Learned) -> dict[str, Any]:
    """Write what was learned for JSON: tokens in the order of their ids, specials first."""
    tokenizer = learned.tokenizer
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


def tokens_of(learned: Learned, text: str, cut: str, n_merges: int) -> list[tuple[str, int | None]]:
    """Cut a text by one of CUTS, with the library: tokens with their ids, None where no list of them was kept."""
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
        f"<td>{' '.join(f'<code>{escape(token_text)}</code>' for token_text, _ in tokens)}</td></tr>"
        for cut in CUTS
        for tokens in [tokens_of(learned, text, cut, len(learned.tokenizer.merges))]
    )
    columns = ("cut by", "tokens", "the text, cut")
    head = "<thead><tr>" + "".join(f'<th scope="col">{name}</th>' for name in columns) + "</tr></thead>"
    return (
        f"<p>“{escape(text)}”, cut in three ways. With scripts switched on, you can type a text of your own, and "
        f"choose how many merges are used.</p><table>{head}<tbody>{rows}</tbody></table>"
    )


class TokenizerFigure(InteractiveFigure):
    """Type a text, and see it cut into characters, words or byte pairs with any number of merges."""

    learned = traitlets.List(traitlets.Dict(), help="what `as_json` returned for each body of texts").tag(sync=True)
    samples = traitlets.List(traitlets.Unicode(), help="texts to choose from").tag(sync=True)
    longest = traitlets.Int(LONGEST_TEXT, help="characters that are taken").tag(sync=True)
    chosen = traitlets.Int(0, help="index of the body of texts").tag(sync=True)
    cut = traitlets.Int(2, min=0, max=len(CUTS) - 1, help="index into CUTS").tag(sync=True)
    text = traitlets.Unicode("", help="the text that is cut").tag(sync=True)
    n_merges = traitlets.Int(0, min=0, help="how many merges are used").tag(sync=True)

    def __init__(self, learned: Sequence[Learned], samples: Sequence[str]) -> None:
        records: list[Mapping[str, Any]] = [as_json(entry) for entry in learned]
        super().__init__(
            learned=records,
            samples=list(samples),
            text=samples[0],
            n_merges=len(records[0]["merges"]),
            fallback=static_text(learned[0], samples[0]),
        )
