"""Clauses of the small grammar, said in two languages at once, so that every word keeps its translation."""

from dataclasses import dataclass, field
from typing import NamedTuple

from softlookup.text import lexicon
from softlookup.text.lexicon import Adjective, Noun, Verb


class French(NamedTuple):
    """A French word on its way into a sentence.

    Attributes:
        form: The word.
        links: The places of the English words that it translates.
        before_vowel: What it becomes before a vowel, where that is another word.
    """

    form: str
    links: tuple[int, ...]
    before_vowel: str | None = None


@dataclass
class English:
    """The English side, built from left to right; each word is known by its place."""

    words: list[str] = field(default_factory=list)

    def say(self, word: str) -> int:
        """Add a word, and give its place."""
        self.words.append(word)
        return len(self.words) - 1


@dataclass(frozen=True)
class NounPhrase:
    """What is said of one noun.

    Attributes:
        noun: The noun.
        plural: Whether there are several.
        determiner: A key of DETERMINERS.
        adjectives: At most one that stands before the French noun, then at most one that stands after it.
    """

    noun: Noun
    plural: bool
    determiner: str
    adjectives: tuple[Adjective, ...] = ()

    def say(self, english: English, *, denied: bool = False) -> list[French]:
        """Say the phrase in both languages.

        The phrase is added to ``english``. ``denied``: it is the object of a denied verb; then "a" becomes "de" in
        French, and "some" is "any".
        """
        singular, plural, forms, before_vowel = lexicon.DETERMINERS[self.determiner]
        feminine = self.noun.gender == "f"
        indefinite = self.determiner == "indefinite"
        word = (plural if self.plural else singular) or ""
        positions = [english.say("any" if denied and word == "some" else word)]
        positions += [english.say(adjective.english) for adjective in self.adjectives]
        noun = French(self.noun.french[self.plural], (english.say(self.noun.english[self.plural]),))
        before: list[French] = []
        after: list[French] = []
        for adjective, position in zip(self.adjectives, positions[1:], strict=True):
            special = None if feminine or self.plural else adjective.before_vowel
            agreeing = French(agree(adjective, self.noun.gender, self.plural), (position,), special)
            (before if adjective.first else after).append(agreeing)
        if indefinite and (denied or (self.plural and before)):
            article = French("de", (positions[0],), "d'")
        elif self.plural:
            article = French(forms[2], (positions[0],))
        else:
            article = French(forms[feminine], (positions[0],), before_vowel[feminine])
        return [article, *before, noun, *after]


def agree(adjective: Adjective, gender: str, plural: bool) -> str:
    """Choose the form of a French adjective for a gender, "m" or "f", and a number."""
    return adjective.french[2 * plural + (gender == "f")]


def smooth(words: list[French]) -> list[French]:
    """Let neighbouring French words become what they become in speech: l'ami, du parc, un bel oiseau.

    A contracted word has the links of both.
    """
    smoothed: list[French] = []
    following = [*(word.form for word in words[1:]), "."]
    for word, after in zip(words, following, strict=True):
        if word.before_vowel is not None and after[0] in lexicon.VOWELS:
            word = word._replace(form=word.before_vowel)
        if smoothed and (smoothed[-1].form, word.form) in lexicon.CONTRACTIONS:
            first = smoothed.pop()
            word = French(lexicon.CONTRACTIONS[first.form, word.form], (*first.links, *word.links))
        smoothed.append(word)
    return smoothed


# Which of a verb's forms goes with each row of PRONOUNS: he and she share one.
_FORM_OF_PRONOUN = (0, 1, 2, 2, 3, 4)


@dataclass(frozen=True)
class Clause:
    """A whole sentence before it is said.

    Attributes:
        subject: A noun phrase, or the row of a pronoun.
        verb: The verb; None where the subject is something (predicate).
        predicate: What the subject is, where there is no verb.
        denied: Whether the clause says that it is not so.
        adverb: English and French, or None.
        object: What the verb is done to: a noun phrase, the row of a pronoun, or None.
        receiver: To whom something is given, or None.
        place: English preposition, French preposition's words, and the noun phrase; or None.
    """

    subject: NounPhrase | int
    verb: Verb | None = None
    predicate: Adjective | None = None
    denied: bool = False
    adverb: tuple[str, str] | None = None
    object: NounPhrase | int | None = None
    receiver: NounPhrase | None = None
    place: tuple[str, tuple[str, ...], NounPhrase] | None = None

    def say(self) -> tuple[list[str], list[French]]:
        """Give the English words, and the French ones with the English places that they translate.

        Both end with a full stop and begin with a capital.
        """
        english = English()
        subject, person, gender, plural = self._say_subject(english)
        if self.verb is None:
            predicate = self._say_being(english, person, gender, plural)
        else:
            predicate = self._say_doing(english, self.verb, person)
        french = smooth([*subject, *predicate, *self._say_place(english), French(".", (english.say("."),))])
        words = [
            "an" if word == "a" and after[0] in "aeiou" else word
            for word, after in zip(english.words, [*english.words[1:], "."], strict=True)
        ]
        words[0] = words[0].capitalize()
        french[0] = french[0]._replace(form=french[0].form.capitalize())
        return words, french

    def _say_subject(self, english: English) -> tuple[list[French], int, str, bool]:
        if isinstance(self.subject, NounPhrase):
            phrase = self.subject
            return phrase.say(english), 4 if phrase.plural else 2, phrase.noun.gender, phrase.plural
        name, _, french, _ = lexicon.PRONOUNS[self.subject]
        gender = "f" if name == "she" else "m"
        person = _FORM_OF_PRONOUN[self.subject]
        return [_short(french, (english.say(name),))], person, gender, person > 2

    def _say_being(self, english: English, person: int, gender: str, plural: bool) -> list[French]:
        if self.predicate is None:
            raise ValueError("a clause without a verb needs a predicate; got neither")
        be = French(lexicon.BEING[1][person], (english.say(lexicon.BEING[0][person]),))
        verb = _deny([be], (english.say("not"),)) if self.denied else [be]
        return [*verb, French(agree(self.predicate, gender, plural), (english.say(self.predicate.english),))]

    def _say_doing(self, english: English, verb: Verb, person: int) -> list[French]:
        third = person == 2
        denial = (english.say("does" if third else "do"), english.say("not")) if self.denied else None
        adverb = []
        if self.adverb is not None:
            adverb = [French(self.adverb[1], (english.say(self.adverb[0]),))]
        positions = [english.say(verb.english[third and not self.denied])]
        if verb.particle is not None:
            positions.append(english.say(verb.particle))
        group = [French(verb.french[person], tuple(positions))]
        after: list[French] = []
        if isinstance(self.object, NounPhrase):
            after = self.object.say(english, denied=self.denied)
        elif self.object is not None:
            _, name, _, french = lexicon.PRONOUNS[self.object]
            group.insert(0, _short(french, (english.say(name),)))
        if self.receiver is not None:
            after += [French("à", (english.say("to"),)), *self.receiver.say(english)]
        return [*(_deny(group, denial) if denial else group), *adverb, *after]

    def _say_place(self, english: English) -> list[French]:
        if self.place is None:
            return []
        preposition, french, phrase = self.place
        position = english.say(preposition)
        return [*(_short(word, (position,)) for word in french), *phrase.say(english)]


def _short(word: str, links: tuple[int, ...]) -> French:
    return French(word, links, lexicon.ELISIONS.get(word))


def _deny(group: list[French], links: tuple[int, ...]) -> list[French]:
    return [_short("ne", links), *group, French("pas", links)]
