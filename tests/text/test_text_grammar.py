"""The small grammar: right French by hand, and what must hold for every sentence."""

import random
import re
from collections import Counter

import pytest

from softlookup.text import (
    BytePairTokenizer,
    WordTokenizer,
    english_words,
    french_words,
    join_words,
    lexicon,
    split_pieces,
)
from softlookup.text.chance import choose_clause
from softlookup.text.grammar import MAX_WORDS, sample, say, split
from softlookup.text.phrases import Clause, French, NounPhrase, smooth

NOUNS = {noun.english[0]: noun for noun in lexicon.NOUNS}
ADJECTIVES = {a.english: a for a in (*lexicon.FIRST_ADJECTIVES, *lexicon.LAST_ADJECTIVES)}
VERBS = {
    " ".join(filter(None, (verb.english[0], verb.particle))): verb
    for group in (lexicon.TRANSITIVE, lexicon.INTRANSITIVE, lexicon.GIVING, lexicon.GOING, lexicon.LIVING)
    for verb in group
}
PRONOUNS = {row[0]: number for number, row in enumerate(lexicon.PRONOUNS)}
PREPOSITIONS = dict(lexicon.PREPOSITIONS) | {"to": ("à",)}
OFTEN = ("often", "souvent")


@pytest.fixture(scope="module")
def pairs():
    return sample(6_000, seed=0)


def np(noun, determiner="definite", *adjectives, plural=False):
    return NounPhrase(NOUNS[noun], plural, determiner, tuple(ADJECTIVES[name] for name in adjectives))


def at(preposition, phrase):
    return preposition, PREPOSITIONS[preposition], phrase


def do(subject, verb, **rest):
    return Clause(PRONOUNS.get(subject, subject) if isinstance(subject, str) else subject, VERBS[verb], **rest)


def be(subject, adjective, **rest):
    return Clause(PRONOUNS[subject] if isinstance(subject, str) else subject, None, ADJECTIVES[adjective], **rest)


BY_HAND = [
    (do("she", "sleep"), "She sleeps.", "Elle dort.", "0-0 1-1 2-2"),
    (do("I", "love", object=np("orange")), "I love the orange.", "J'aime l'orange.", "0-0 1-1 2-2 3-3 4-4"),
    (
        do(np("girl", "definite", "small"), "eat", object=np("apple", "indefinite", "red")),
        "The small girl eats a red apple.",
        "La petite fille mange une pomme rouge.",
        "0-0 1-1 2-2 3-3 4-4 5-6 6-5 7-7",
    ),
    (
        do("he", "eat", denied=True, object=np("orange", "indefinite")),
        "He does not eat an orange.",
        "Il ne mange pas d'orange.",
        "0-0 1-1 1-3 2-1 2-3 3-2 4-4 5-5 6-6",
    ),
    (
        do("we", "listen to", denied=True, adverb=OFTEN, object=PRONOUNS["she"]),
        "We do not often listen to her.",
        "Nous ne l'écoutons pas souvent.",
        "0-0 1-1 1-4 2-1 2-4 3-5 4-3 5-3 6-2 7-6",
    ),
    (
        do("they", "give", object=np("book", "hers"), receiver=np("boy")),
        "They give her book to the boy.",
        "Ils donnent son livre au garçon.",
        "0-0 1-1 2-2 3-3 4-4 5-4 6-5 7-6",
    ),
    (
        do("you", "give", object=np("egg", "yours", plural=True), receiver=np("uncle", plural=True)),
        "You give your eggs to the uncles.",
        "Tu donnes tes œufs aux oncles.",
        "0-0 1-1 2-2 3-3 4-4 5-4 6-5 7-6",
    ),
    (
        do(np("man", "near", "young"), "live", place=at("near", np("market"))),
        "This young man lives near the market.",
        "Ce jeune homme habite près du marché.",
        "0-0 1-1 2-2 3-3 4-4 4-5 5-5 6-6 7-7",
    ),
    (
        do(np("man", "near"), "live", place=at("near", np("park", plural=True))),
        "This man lives near the parks.",
        "Cet homme habite près des parcs.",
        "0-0 1-1 2-2 3-3 3-4 4-4 5-5 6-6",
    ),
    (
        do("I", "live", place=at("near", np("hotel", "indefinite", "old", "calm"))),
        "I live near an old calm hotel.",
        "J'habite près d'un vieil hôtel calme.",
        "0-0 1-1 2-2 2-3 3-4 4-5 5-7 6-6 7-8",
    ),
    (
        do("I", "go", place=at("to", np("hotel"))),
        "I go to the hotel.",
        "Je vais à l'hôtel.",
        "0-0 1-1 2-2 3-3 4-4 5-5",
    ),
    (
        do(np("aunt", "mine", plural=True), "write", object=np("story", "indefinite", "beautiful", plural=True)),
        "My aunts write some beautiful stories.",
        "Mes tantes écrivent de belles histoires.",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6",
    ),
    (
        do("they", "read", denied=True, object=np("book", "indefinite", "excellent", plural=True)),
        "They do not read any excellent books.",
        "Ils ne lisent pas d'excellents livres.",
        "0-0 1-1 1-3 2-1 2-3 3-2 4-4 5-5 6-6 7-7",
    ),
    (
        do("he", "love", denied=True, object=PRONOUNS["I"]),
        "He does not love me.",
        "Il ne m'aime pas.",
        "0-0 1-1 1-4 2-1 2-4 3-3 4-2 5-5",
    ),
    (be(np("letter", "his", "beautiful"), "red"), "His beautiful letter is red.", "Sa belle lettre est rouge.", None),
    (be(np("plate", "his"), "white"), "His plate is white.", "Son assiette est blanche.", None),
    (be(np("plate", "his", "old"), "white"), "His old plate is white.", "Sa vieille assiette est blanche.", None),
    (be(np("bird"), "beautiful", denied=True), "The bird is not beautiful.", "L'oiseau n'est pas beau.", "0-0 1-1 "
     "2-3 3-2 3-4 4-5 5-6"),
    (be(np("bird", "near", "beautiful"), "sick"), "This beautiful bird is sick.", "Ce bel oiseau est malade.", None),
    (be(np("clock", "near"), "new"), "This clock is new.", "Cette horloge est nouvelle.", None),
    (be(np("horse", "ours", plural=True), "old"), "Our horses are old.", "Nos chevaux sont vieux.", None),
    (be(np("girl", "three", plural=True), "happy"), "Three girls are happy.", "Trois filles sont heureuses.", None),
    (be("she", "happy"), "She is happy.", "Elle est heureuse.", None),
    (be("they", "happy"), "They are happy.", "Ils sont heureux.", None),
    (be("I", "sad", denied=True), "I am not sad.", "Je ne suis pas triste.", "0-0 1-2 2-1 2-3 3-4 4-5"),
    (be("we", "young"), "We are young.", "Nous sommes jeunes.", None),
    (be("you", "calm"), "You are calm.", "Tu es calme.", None),
]  # fmt: skip


@pytest.mark.parametrize(("clause", "english", "french", "links"), BY_HAND, ids=[row[1] for row in BY_HAND])
def test_clauses_are_said_as_by_hand(clause, english, french, links):
    pair = say(clause)
    assert (pair.english, pair.french) == (english, french)
    if links is not None:
        assert pair.alignment == tuple(tuple(map(int, link.split("-"))) for link in links.split())


def test_a_clause_without_verb_and_predicate_is_refused():
    with pytest.raises(ValueError, match="a clause without a verb needs a predicate; got neither"):
        say(Clause(0))


@pytest.mark.parametrize(
    ("words", "smoothed"),
    [
        ([("de", (1,)), ("le", (2,)), ("parc", (3,))], [("du", (1, 2)), ("parc", (3,))]),
        ([("de", (1,)), ("les", (2,)), ("parcs", (3,))], [("des", (1, 2)), ("parcs", (3,))]),
        ([("à", (1,)), ("la", (2,)), ("gare", (3,))], [("à", (1,)), ("la", (2,)), ("gare", (3,))]),
        ([("à", (1,)), ("le", (2,)), ("ami", (3,))], [("à", (1,)), ("l'", (2,)), ("ami", (3,))]),
    ],
)
def test_contraction_keeps_the_links_of_both(words, smoothed):
    assert [word[:2] for word in smooth([French(w, n, lexicon.ELISIONS.get(w)) for w, n in words])] == smoothed


@pytest.mark.slow
def test_every_english_sentence_has_one_translation(pairs):
    translation = {}
    for pair in pairs:
        assert translation.setdefault(pair.english, pair.french) == pair.french


def test_every_word_is_aligned_and_every_link_is_valid(pairs):
    for pair in pairs:
        english, french = english_words(pair.english), french_words(pair.french)
        assert {i for i, _ in pair.alignment} == set(range(len(english)))
        assert {j for _, j in pair.alignment} == set(range(len(french)))
        assert list(pair.alignment) == sorted(set(pair.alignment))


def translations():
    """Say by hand from the tables which French words an English word may be linked to."""
    allowed = {".": {"."}, "do": {"ne", "n'", "pas"}, "does": {"ne", "n'", "pas"}, "not": {"ne", "n'", "pas"}}
    allowed |= {"to": {"à", "au", "aux"}, "a": {"un", "une", "de", "d'"}, "an": {"un", "une", "de", "d'"}}
    allowed |= {
        "the": {"le", "la", "les", "l'", "au", "aux", "du", "des"},
        "some": {"des", "de", "d'"},
        "any": {"de", "d'"},
    }
    allowed |= {"this": {"ce", "cet", "cette"}, "these": {"ces"}, "two": {"deux"}, "three": {"trois"}}
    allowed |= {"my": {"mon", "ma", "mes"}, "your": {"ton", "ta", "tes"}, "his": {"son", "sa", "ses"}}
    allowed |= {"our": {"notre", "nos"}, "their": {"leur", "leurs"}, "her": {"son", "sa", "ses", "la", "l'"}}
    allowed |= {"i": {"je", "j'"}, "you": {"tu", "te", "t'"}, "he": {"il"}, "she": {"elle"}, "we": {"nous"}}
    allowed |= {"they": {"ils"}, "me": {"me", "m'"}, "him": {"le", "l'"}, "us": {"nous"}, "them": {"les"}}
    allowed |= {"in": {"dans"}, "near": {"près", "de", "d'", "du", "des"}, "behind": {"derrière"}}
    allowed |= {"often": {"souvent"}, "always": {"toujours"}, "am": {"suis"}, "is": {"est"}, "are": {"es", "sommes"}}
    allowed["are"] = {"es", "sommes", "sont"}
    counts = Counter()
    for noun in lexicon.NOUNS:
        for number in (0, 1):
            allowed[noun.english[number]] = {noun.french[number]}
            counts[noun.english[number]] += 1
    for adjective in ADJECTIVES.values():
        allowed[adjective.english] = {*adjective.french, adjective.before_vowel}
        counts[adjective.english] += 1
    assert max(counts.values()) == 1, "an English word with two meanings would have two translations"
    for verb in VERBS.values():
        for word in (*verb.english, verb.particle):
            allowed[word] = allowed.get(word, set()) | set(verb.french)
    return allowed


def test_links_join_words_that_mean_the_same(pairs):
    allowed = translations()
    for pair in pairs:
        english, french = english_words(pair.english), french_words(pair.french)
        for i, j in pair.alignment:
            assert french[j].lower() in allowed[english[i].lower()], (pair, english[i], french[j])


VOWEL = "[aeiouyhàâéèêëîïôûœæ]"


def test_short_words_elide_before_vowels_and_only_there(pairs):
    for pair in pairs:
        text = pair.french.lower()
        assert not re.search(rf"\b(le|la|je|ne|de|me|te|ce|ma|ta|sa|nouveau) {VOWEL}", text), pair
        assert not re.search(rf"\bbeau {VOWEL}", text), pair
        assert not re.search(rf"\b\w+'(?!{VOWEL})", text), pair
        assert not re.search(rf"\b(cet|bel|vieil|nouvel) (?!{VOWEL})", text), pair
        assert " '" not in text and "' " not in text


def test_english_says_an_before_vowels_and_only_there(pairs):
    for pair in pairs:
        text = pair.english.lower()
        assert not re.search(r"\ba [aeiou]", text) and not re.search(r"\ban [^aeiou]", text), pair


def test_prepositions_contract(pairs):
    texts = " ".join(pair.french.lower() for pair in pairs)
    assert not re.search(r"\b(de|à) (le|les)\b", texts)
    assert not re.search(r"\b(au|du) [aeiouhéèêîôœ]", texts)
    for contracted in ("au", "aux", "du", "des"):
        assert re.search(rf"\b{contracted}\b", texts)


ARTICLES = {
    ("m", False): "le l' un ce cet mon ton son notre leur au du de d'",
    ("f", False): "la l' une cette ma mon ta ton sa son notre leur de d'",
    ("m", True): "les des de d' ces mes tes ses nos leurs deux trois aux",
}
ARTICLES["f", True] = ARTICLES["m", True]


def test_articles_and_adjectives_agree_with_their_noun():
    for seed in range(2000):
        rng = random.Random(seed)
        clause = choose_clause(rng)
        phrases = [clause.subject, clause.object, clause.receiver, clause.place and clause.place[2]]
        words = french_words(say(clause).french.lower())
        for phrase in phrases:
            if not isinstance(phrase, NounPhrase):
                continue
            gender, plural = phrase.noun.gender, phrase.plural
            place = {("m", False): 0, ("f", False): 1, ("m", True): 2, ("f", True): 3}[gender, plural]
            first = [a for a in phrase.adjectives if a in lexicon.FIRST_ADJECTIVES]
            last = [a for a in phrase.adjectives if a in lexicon.LAST_ADJECTIVES]
            noun = phrase.noun.french[plural]
            forms = [{a.french[place]} | ({a.before_vowel} if place == 0 else set()) for a in first]
            forms += [{noun}, *({a.french[place]} for a in last)]
            spans = [words[i : i + len(forms)] for i in range(1, len(words))]
            hits = [i for i, span in enumerate(spans) if all(map(lambda w, f: w in f, span, forms))]
            assert any(words[i] in ARTICLES[gender, plural].split() for i in hits), (phrase, words)


def test_predicates_of_speakers_have_one_form_for_men_and_women():
    for seed in range(2000):
        clause = choose_clause(random.Random(seed))
        if clause.predicate is not None and clause.subject in (PRONOUNS["I"], PRONOUNS["you"], PRONOUNS["we"]):
            assert clause.predicate.french[0] == clause.predicate.french[1]


def test_nothing_acts_upon_itself(pairs):
    for seed in range(2000):
        clause = choose_clause(random.Random(seed))
        phrases = [p for p in (clause.subject, clause.object) if isinstance(p, NounPhrase)]
        assert len({p.noun for p in phrases}) == len(phrases)
        if isinstance(clause.object, NounPhrase) and clause.place is not None:
            assert clause.place[2].noun is not clause.object.noun
    for pair in pairs:
        assert not re.search(r"\b(I|We)\b.*\b(me|us)\b|\bYou\b.*\byou\b", pair.english)


def test_sentences_have_3_to_14_words(pairs):
    lengths = [len(words) for p in pairs for words in (english_words(p.english), french_words(p.french))]
    assert min(lengths) == 3 and max(lengths) == MAX_WORDS == 14


def test_the_grammar_has_few_words_and_many_sentences(pairs):
    english = {word.lower() for pair in pairs for word in english_words(pair.english)}
    french = {word.lower() for pair in pairs for word in french_words(pair.french)}
    assert 150 <= len(english) <= 250 and 250 <= len(french) <= 350
    # "The N verbs this N" in singular and plural, affirmed and denied, is but one of the shapes.
    kinds = {kind: sum(kind in noun.kinds for noun in lexicon.NOUNS) for noun in lexicon.NOUNS for kind in noun.kinds}
    shapes = sum(
        sum(kinds[kind] for kind in verb.subjects) * (sum(kinds[kind] for kind in verb.objects) - 1) * 4 * 4 * 2
        for verb in lexicon.TRANSITIVE
    )
    assert shapes > 100_000
    assert len({pair.english for pair in pairs}) > 5_000


def test_every_kind_of_noun_has_adjectives_of_both_places():
    for noun in lexicon.NOUNS:
        for group in (lexicon.FIRST_ADJECTIVES, lexicon.LAST_ADJECTIVES):
            assert any(adjective.kinds & noun.kinds and adjective.english != "new" for adjective in group), noun


def test_everything_that_makes_french_french_is_common(pairs):
    patterns = [r"\bl'", r"\bd'", r"\bn'", r"\bj'", r"\bpas\b", r"\bau\b", r"\bcet\b", r"\bmon [aeioéœ]", r"aux\b"]
    for pattern in patterns:
        assert sum(bool(re.search(pattern, pair.french.lower())) for pair in pairs) >= 12, pattern


def test_sampling_is_repeated_by_its_seed():
    assert sample(50, seed=1) == sample(50, seed=1) != sample(50, seed=2)
    assert sample(30, seed=1) == sample(50, seed=1)[:30] and sample(0, seed=1) == []
    assert sample(2, seed=0)[0].english == "We show the sad story to the children."


def test_unique_sentences_come_once_each():
    assert len({pair.english for pair in sample(1000, seed=0)}) < 1000
    assert len({pair.english for pair in sample(1000, seed=0, unique=True)}) == 1000


def test_split_keeps_test_sentences_out_of_training():
    train, test = split(seed=4, n_train=700, n_test=100)
    assert (len(train), len(test)) == (700, 100)
    assert len({pair.english for pair in train + test}) == 800
    assert split(seed=4, n_train=700, n_test=100) == (train, test)
    assert split(seed=4, n_train=3, n_test=0) == (train[:3], [])


def test_numbers_below_0_are_refused():
    with pytest.raises(ValueError, match="cannot draw -1 sentences; wanted 0 or more"):
        sample(-1, seed=0)
    with pytest.raises(ValueError, match="n_train and n_test must be 0 or more; got 5 and -2"):
        split(0, 5, -2)


def test_more_sentences_than_there_are_end_in_an_error(monkeypatch):
    only = do("she", "sleep")
    monkeypatch.setattr("softlookup.text.grammar.choose_clause", lambda rng: only)
    with pytest.raises(ValueError, match="found only 1 different sentences in 4[0-9]; wanted 2"):
        sample(2, seed=0, unique=True)


def test_words_join_back_and_are_the_pieces_of_the_other_tokenizers(pairs):
    tokenizer = WordTokenizer.train([pair.french for pair in pairs])
    merges = BytePairTokenizer.train([pair.french for pair in pairs[:500]], vocab_size=300)
    for pair in pairs[:2000]:
        for sentence, words in ((pair.english, english_words(pair.english)), (pair.french, french_words(pair.french))):
            assert join_words(words) == sentence
            assert [piece.removeprefix("▁") for piece in split_pieces(sentence)] == words
        assert tokenizer.tokens(pair.french) == french_words(pair.french)
    assert merges.decode(merges.encode(pairs[0].french)) == pairs[0].french
