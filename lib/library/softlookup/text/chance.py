"""What the small grammar talks about: chance, within what makes some sense."""

import random
from functools import cache

from softlookup.text import lexicon
from softlookup.text.lexicon import Adjective, Noun, Verb
from softlookup.text.phrases import Clause, NounPhrase

# How often each kind of clause comes, and each determiner.
_CLAUSES = {"be": 20, "act": 20, "do": 40, "give": 10, "go": 6, "live": 4}
_DETERMINERS = {"definite": 8, "indefinite": 6, "near": 2, "two": 2, "three": 1} | dict.fromkeys(
    sorted(lexicon.POSSESSIVES), 1
)
_VERBS = {
    "act": lexicon.INTRANSITIVE,
    "do": lexicon.TRANSITIVE,
    "give": lexicon.GIVING,
    "go": lexicon.GOING,
    "live": lexicon.LIVING,
}
_EVERYTHING = frozenset().union(*(noun.kinds for noun in lexicon.NOUNS))
_PERSON = frozenset({"person"})
_GROWN = frozenset({"person", "grown"})
_PLACE = frozenset({"place"})


def choose_clause(rng: random.Random) -> Clause:
    """Let chance choose what to say."""
    verb_type = rng.choices(list(_CLAUSES), weights=list(_CLAUSES.values()))[0]
    denied = rng.random() < 0.25
    if verb_type == "be":
        return _choose_being(rng, denied)
    verb = rng.choice(_VERBS[verb_type])
    subject: NounPhrase | int
    subject = _choose_pronoun(rng) if rng.random() < 0.4 else _choose_phrase(rng, verb.subjects)
    target: NounPhrase | int | None = None
    adverb, receiver, location = None, None, None
    may_vary = verb.english[0] not in lexicon.FEELINGS
    if may_vary and verb_type != "live" and rng.random() < 0.15:
        adverb = rng.choice(lexicon.ADVERBS)
    if verb_type in ("do", "give"):
        target = _choose_object(rng, verb, subject)
    if verb_type == "give":
        receiver = _choose_phrase(rng, _PERSON, unlike=subject)
    if verb_type == "go":
        location = ("to", ("à",), _choose_place(rng, target, "a"))
    elif verb_type == "live" or (verb_type != "give" and may_vary and rng.random() < 0.25):
        location = (*rng.choice(lexicon.PREPOSITIONS), _choose_place(rng, target))
    return Clause(subject, verb, None, denied, adverb, target, receiver, location)


def _choose_being(rng: random.Random, denied: bool) -> Clause:
    if rng.random() < 0.4:
        pronoun = _choose_pronoun(rng)
        fitting = [a for group in (True, False) for a in _adjectives(_GROWN, group)]
        if lexicon.PRONOUNS[pronoun][0] in ("I", "you", "we"):
            # Whether "I" is a man or a woman cannot be seen in English, so only adjectives that are the same for
            # both have one translation.
            fitting = [adjective for adjective in fitting if adjective.french[0] == adjective.french[1]]
        return Clause(pronoun, predicate=rng.choice(fitting), denied=denied)
    # One kind of adjective may go with the noun, the other into the predicate: so they never gainsay each other.
    first_inside = rng.random() < 0.5
    subject = _choose_phrase(
        rng, _EVERYTHING, first=first_inside, last=not first_inside, without=frozenset({"a", "some"})
    )
    fitting = [a for a in _adjectives(subject.noun.kinds, not first_inside) if a.english != "new"]
    return Clause(subject, predicate=rng.choice(fitting), denied=denied)


def _choose_pronoun(rng: random.Random) -> int:
    return rng.randrange(len(lexicon.PRONOUNS))


def _choose_object(rng: random.Random, verb: Verb, subject: NounPhrase | int) -> NounPhrase | int:
    if "person" in verb.objects and rng.random() < 0.25:
        # I and we do not act on me or us, nor you on you: French has another pronoun for that.
        same_person_rows = {0: (0, 4), 1: (1,), 4: (0, 4)}.get(subject, ()) if isinstance(subject, int) else ()
        return rng.choice([row for row in range(len(lexicon.PRONOUNS)) if row not in same_person_rows])
    return _choose_phrase(rng, verb.objects, unlike=subject)


def _choose_place(rng: random.Random, unlike: NounPhrase | int | None, *without: str) -> NounPhrase:
    # "Some" would fall away after the "de" of "près de".
    return _choose_phrase(rng, _PLACE, unlike=unlike, without=frozenset({"some", "two", "three", *without}))


def _choose_phrase(
    rng: random.Random,
    kinds: frozenset[str],
    *,
    first: bool = True,
    last: bool = True,
    unlike: NounPhrase | int | None = None,
    without: frozenset[str] = frozenset(),
) -> NounPhrase:
    nouns = _nouns(kinds)
    noun = rng.choice(nouns)
    while isinstance(unlike, NounPhrase) and noun is unlike.noun:
        noun = rng.choice(nouns)
    plural = rng.random() < 0.3
    determiners = _determiners("own" in noun.kinds, plural, without)
    determiner = rng.choices(determiners, weights=[_DETERMINERS[name] for name in determiners])[0]
    groups = [_adjectives(noun.kinds, group) for group, allowed in ((True, first), (False, last)) if allowed]
    adjectives = tuple(rng.choice(group) for group in groups if rng.random() < 0.3)
    return NounPhrase(noun, plural, determiner, adjectives)


@cache
def _nouns(kinds: frozenset[str]) -> list[Noun]:
    return [noun for noun in lexicon.NOUNS if noun.kinds & kinds]


@cache
def _adjectives(kinds: frozenset[str], first: bool) -> list[Adjective]:
    return [a for a in (lexicon.FIRST_ADJECTIVES if first else lexicon.LAST_ADJECTIVES) if a.kinds & kinds]


@cache
def _determiners(can_be_owned: bool, plural: bool, without: frozenset[str]) -> list[str]:
    names = []
    for name in _DETERMINERS:
        determiner = lexicon.DETERMINERS[name][plural]
        if determiner is not None and determiner not in without and (can_be_owned or name not in lexicon.POSSESSIVES):
            names.append(name)
    return names
