"""The words of the small English-French grammar, with all their forms."""

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f"]


@dataclass(frozen=True)
class Noun:
    """A noun in two languages.

    Attributes:
        english: Singular and plural.
        french: Singular and plural.
        gender: Of the French noun.
        kinds: What it may be used for: verbs and adjectives ask for these.
    """

    english: tuple[str, str]
    french: tuple[str, str]
    gender: Gender
    kinds: frozenset[str]


@dataclass(frozen=True)
class Adjective:
    """An adjective in two languages.

    Attributes:
        english: Its one form.
        french: Masculine, feminine, masculine plural, feminine plural.
        before_vowel: The masculine singular before a vowel, where it differs ("un bel arbre").
        first: Whether it stands before the French noun.
        kinds: Which nouns it may describe.
    """

    english: str
    french: tuple[str, str, str, str]
    before_vowel: str | None
    first: bool
    kinds: frozenset[str]


@dataclass(frozen=True)
class Verb:
    """A verb in two languages, in the present.

    Attributes:
        english: Plain form, and the form for he and she.
        particle: The small word after the English verb that French does without ("look at"), or None.
        french: The forms for je, tu, il, nous, ils.
        subjects: Kinds of nouns that can do it.
        objects: Kinds of nouns that it can be done to; empty where it takes no object.
    """

    english: tuple[str, str]
    particle: str | None
    french: tuple[str, str, str, str, str]
    subjects: frozenset[str]
    objects: frozenset[str]


def _nouns(table: str) -> tuple[Noun, ...]:
    nouns = []
    for row in table.strip().splitlines():
        singular, plural, un, plusieurs, gender, *kinds = row.split()
        nouns.append(Noun((singular, plural), (un, plusieurs), "m" if gender == "m" else "f", frozenset(kinds)))
    return tuple(nouns)


def _adjectives(table: str, *, first: bool) -> tuple[Adjective, ...]:
    adjectives = []
    for row in table.strip().splitlines():
        english, m, f, ms, fs, before_vowel, *kinds = row.split()
        special = None if before_vowel == "-" else before_vowel
        adjectives.append(Adjective(english, (m, f, ms, fs), special, first, frozenset(kinds)))
    return tuple(adjectives)


def _verbs(table: str) -> tuple[Verb, ...]:
    verbs = []
    for row in table.strip().splitlines():
        words, subjects, objects = (part.split() for part in row.split("|"))
        plain, third, particle, je, tu, il, nous, ils = words
        special = None if particle == "-" else particle
        forms = (je, tu, il, nous, ils)
        verbs.append(Verb((plain, third), special, forms, frozenset(subjects), frozenset(objects)))
    return tuple(verbs)


# English and French, one and many; gender; kinds ("own" is what somebody can have).
NOUNS = _nouns("""
man men homme hommes m person grown
woman women femme femmes f person grown
boy boys garçon garçons m person
girl girls fille filles f person
child children enfant enfants m person own
queen queens reine reines f person grown
doctor doctors médecin médecins m person grown own
baker bakers boulanger boulangers m person grown own
actress actresses actrice actrices f person grown
uncle uncles oncle oncles m person grown own
neighbour neighbours voisin voisins m person grown own
aunt aunts tante tantes f person grown own
dog dogs chien chiens m animal own
cat cats chat chats m animal own
bird birds oiseau oiseaux m animal own
horse horses cheval chevaux m animal own
cow cows vache vaches f animal own
mouse mice souris souris f animal own
apple apples pomme pommes f food own
orange oranges orange oranges f food own
egg eggs œuf œufs m food own
cake cakes gâteau gâteaux m food own
apricot apricots abricot abricots m food own
pear pears poire poires f food own
book books livre livres m reading own
letter letters lettre lettres f reading own
newspaper newspapers journal journaux m reading own
story stories histoire histoires f reading own
door doors porte portes f opening own
window windows fenêtre fenêtres f opening own
box boxes boîte boîtes f opening own
car cars voiture voitures f thing own
bicycle bicycles vélo vélos m thing own
hat hats chapeau chapeaux m thing own
dress dresses robe robes f thing own
key keys clé clés f thing own
umbrella umbrellas parapluie parapluies m thing own
plate plates assiette assiettes f thing own
clock clocks horloge horloges f thing own
garden gardens jardin jardins m place own
market markets marché marchés m place
school schools école écoles f place own
kitchen kitchens cuisine cuisines f place own
church churches église églises f place
hotel hotels hôtel hôtels m place own
forest forests forêt forêts f place
castle castles château châteaux m place own
park parks parc parcs m place
""")

# English; French m, f, m plural, f plural; m before a vowel, if special; kinds of nouns.
FIRST_ADJECTIVES = _adjectives(
    """
small petit petite petits petites - person animal food opening thing place
big grand grande grands grandes - animal food opening thing place
young jeune jeune jeunes jeunes - person animal
old vieux vieille vieux vieilles vieil grown animal reading opening thing place
beautiful beau belle beaux belles bel person animal reading thing place
new nouveau nouvelle nouveaux nouvelles nouvel reading opening thing place
good bon bonne bons bonnes - food reading
excellent excellent excellente excellents excellentes - food reading
""",
    first=True,
)
LAST_ADJECTIVES = _adjectives(
    """
red rouge rouge rouges rouges - food opening thing
green vert verte verts vertes - food opening thing
white blanc blanche blancs blanches - animal opening thing
black noir noire noirs noires - animal opening thing
happy heureux heureuse heureux heureuses - person animal
sad triste triste tristes tristes - person animal reading
rich riche riche riches riches - person
sick malade malade malades malades - person animal
calm calme calme calmes calmes - person animal place
""",
    first=False,
)

# English plain and third person, particle; French je, tu, il, nous, ils | who does it | to what.
TRANSITIVE = _verbs("""
eat eats - mange manges mange mangeons mangent | person animal | food
see sees - vois vois voit voyons voient | person animal | person animal food reading thing place
love loves - aime aimes aime aimons aiment | person | person animal food reading thing place
buy buys - achète achètes achète achetons achètent | person | food reading thing
want wants - veux veux veut voulons veulent | person | animal food reading thing
find finds - trouve trouves trouve trouvons trouvent | person animal | person animal food reading thing
read reads - lis lis lit lisons lisent | person | reading
write writes - écris écris écrit écrivons écrivent | person | reading
open opens - ouvre ouvres ouvre ouvrons ouvrent | person | opening
close closes - ferme fermes ferme fermons ferment | person | opening
wash washes - lave laves lave lavons lavent | person | animal opening thing
help helps - aide aides aide aidons aident | person | person animal
look looks at regarde regardes regarde regardons regardent | person animal | person animal reading thing place
look looks for cherche cherches cherche cherchons cherchent | person animal | person animal food reading thing
listen listens to écoute écoutes écoute écoutons écoutent | person animal | person animal
wait waits for attends attends attend attendons attendent | person animal | person animal
""")
# What is felt has no place and no "often".
FEELINGS = frozenset({"love", "want"})
INTRANSITIVE = _verbs("""
sleep sleeps - dors dors dort dormons dorment | person animal |
run runs - cours cours court courons courent | person animal |
sing sings - chante chantes chante chantons chantent | person |
dance dances - danse danses danse dansons dansent | person |
work works - travaille travailles travaille travaillons travaillent | person |
arrive arrives - arrive arrives arrive arrivons arrivent | person animal |
""")
# Something is given to somebody: the second object follows "to", in French "à".
GIVING = _verbs("""
give gives - donne donnes donne donnons donnent | person | food reading thing animal
show shows - montre montres montre montrons montrent | person | reading thing animal
""")
# These always have a place with them.
GOING = _verbs("go goes - vais vas va allons vont | person animal | place")
LIVING = _verbs("live lives - habite habites habite habitons habitent | person animal | place")
BEING = ("am", "are", "is", "are", "are"), ("suis", "es", "est", "sommes", "sont")

# English singular and plural (None: there is none); French m, f, plural; m and f before a vowel.
DETERMINERS: dict[str, tuple[str | None, str | None, tuple[str, str, str], tuple[str, str]]] = {
    "definite": ("the", "the", ("le", "la", "les"), ("l'", "l'")),
    "indefinite": ("a", "some", ("un", "une", "des"), ("un", "une")),
    "near": ("this", "these", ("ce", "cette", "ces"), ("cet", "cette")),
    "mine": ("my", "my", ("mon", "ma", "mes"), ("mon", "mon")),
    "yours": ("your", "your", ("ton", "ta", "tes"), ("ton", "ton")),
    "his": ("his", "his", ("son", "sa", "ses"), ("son", "son")),
    "hers": ("her", "her", ("son", "sa", "ses"), ("son", "son")),
    "ours": ("our", "our", ("notre", "notre", "nos"), ("notre", "notre")),
    "theirs": ("their", "their", ("leur", "leur", "leurs"), ("leur", "leur")),
    "two": (None, "two", ("deux", "deux", "deux"), ("deux", "deux")),
    "three": (None, "three", ("trois", "trois", "trois"), ("trois", "trois")),
}
POSSESSIVES = frozenset({"mine", "yours", "his", "hers", "ours", "theirs"})

# English subject and object; French subject and object; in the order of the verbs' forms, he and she apart.
PRONOUNS = (
    ("I", "me", "je", "me"),
    ("you", "you", "tu", "te"),
    ("he", "him", "il", "le"),
    ("she", "her", "elle", "la"),
    ("we", "us", "nous", "nous"),
    ("they", "them", "ils", "les"),
)
ADVERBS = (("often", "souvent"), ("always", "toujours"))
# "de" is a word of its own, since it elides and contracts.
PREPOSITIONS = (("in", ("dans",)), ("near", ("près", "de")), ("behind", ("derrière",)))

# What a short word becomes before a vowel.
ELISIONS = {"le": "l'", "la": "l'", "je": "j'", "ne": "n'", "de": "d'", "me": "m'", "te": "t'"}
CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
VOWELS = frozenset("aeiouyhàâéèêëîïôûœæ")
"""First letters that make a short word elide; no word here has the h that does not."""
