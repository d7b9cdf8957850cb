"""All pages: nothing said twice or misspelt, no number typed; chapters open alike and state their length."""

import re
from collections import Counter, defaultdict
from os.path import commonprefix
from string import ascii_lowercase

import pytest
from prose import FILLED, PAGES, ROOT, paragraphs, prose, sentences

from softlookup_course.curriculum.reading import reading

TEXT = {page.relative_to(ROOT / "book").as_posix(): page.read_text(encoding="utf-8") for page in PAGES}

FRAME = {
    "sources are in the bibliography",
    "the exercises check themselves as you go",
    "words are in the glossary letters on the notation page",
    "other words are in the glossary",
    "how could one have noticed",
    f"and {FILLED} in your own words",
    "what you will be able to do and which tasks test it",
}
"""What every chapter, or every worked slide, says in the same place, so that readers find it."""

TWICE = {"million million"}
"""A number in words, spelled as physicists spell it."""

BRITISH = {
    r"colors?": "colour",
    r"behaviors?": "behaviour",
    r"centers?": "centre",
    r"neighbor\w*": "neighbour",
    r"gray": "grey",
    r"license": "licence (as a noun)",
    r"optimiz(?!ers?$)\w+": "optimise, but optimizer",
    r"model(?:ed|ing)": "modelled, modelling",
    r"label(?:ed|ing)": "labelled, labelling",
    r"analyz\w+": "analyse",
    r"favor\w*": "favour",
    r"fulfill": "fulfil",
    r"(?:normal|initial|general|recogn|summar|quant|organ|real|minim|maxim|regular|visual|special|emphas)iz\w+": "-ise",
    r"percent": "per cent",
    r"learnt|spelt|burnt": "learned, spelled, burned",
    r"alright": "all right",
}
"""Spellings that the book does not use, as patterns, and what it writes instead. "Tokenize" is the field's own word."""

MISSPELT = (
    "accomodate acheive accross agressive apparant arguement begining beleive calender catagory comming concious "
    "definately dependant wich existance finaly foriegn fourty futher goverment harrass heirarchy immediatly "
    "independant inital knowlege liason lenght maintainance matirx neccessary noticable occassion occured occuring "
    "ommit paralell parrallel perfomance posession preceed priviledge probablity propogate publically recieve "
    "recomend refered seperate similiar sucess sucessful supercede suprise targetted teh tendancy threshhold "
    "tommorow truely unforseen untill usefull vaccum varient wether wierd whereever writting"
).split()

RIGHT = (
    "backed backing borders cautions charged charges commute defend forgot lowers matching painted played preference "
    "spared ticked"
).split()
"""Rare words that are one letter away from a common one, and meant."""

NUMBER = re.compile(
    r"(?<![\w.,/:@-])(?:\d+\.\d{2,}|\d{2,}\.\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{4,}(?:\.\d+)?"
    r"|\d+(?:\.\d+)?(?= ?(?:%|per cent|(?:[kMGT]i?B|[MGTP]?FLOPS?|ms|µs)\b)))(?![\w,]*\d)"
)
"""What looks computed: two decimals, three digits with a decimal, four digits, and anything with a unit."""

QUOTED = re.compile(r"\b(?:slides?|papers?|reports?|sheets?|prints?|printed|authors?)\b")
"""A sentence that says whose number it is: what others have printed is typed."""

TYPED = {
    "00_before_you_start_running.md": {"3.11"},  # a version
    "04_one_head.md": {"0.99"},  # chosen: the limit above which a row counts as decided
    "04_one_head_practice.md": {
        *{"1.10", "0.50"},  # on the slide that the section is about
        *{"0.005", "0.025", "0.0025", "0.05"},  # half a unit of the last printed digit, times the numbers added
    },
    "05_many_heads.md": {"0.15"},  # from the paper that is cited there
    "06_positions_more.md": {"5.98", "8.94", "13.37"},  # by hand, and the cell below prints them
    "08_decoder_and_masks.md": {"15", "80", "10"},  # BERT's recipe
    "09_training_more.md": {
        "0.02",  # the published deviation of first weights; a test reads it from the configurations
        "65504",  # float16's largest number, by its definition
    },
    "10_inference.md": {"90"},  # chosen: the p of a question
    "11_roofline.md": {
        *{"1,935", "2,039", "80"},  # the data sheet's, which a section quotes
        "0.8",  # of the peak in float32: test_roofline_claims computes it
        *{"1", "192"},  # one GB, one GiB; chosen: the sizes of an exercise on paper
    },
    "12_counting.md": {"80"},  # the card's memory in GB, chosen
    "14_slides_recomputed.md": {"0.0025"},  # half a unit of the last printed digit, times the numbers added
    "15_what_changed.md": {
        *{"131,072", "4,096", "1,024"},  # chosen: a text; published windows and lengths
        "0.1",  # of the formula
    },
    "15_what_changed_more.md": {
        *{"41647", "39687", "45120", "1448", "1249"},  # threads of other projects
        "93",  # the package, as its registry says
    },
    "before_you_adopt.md": {
        "24.04",  # a version
        "2.6",  # GB of the folder .venv, looked up
    },
    "instructors.md": {"3.11"},  # a version
}
"""Numbers that are rightly typed, by page, with the reason."""


IMPLAIN = {
    r"\bway (?:back|forward)\b(?! to)": "backward pass, forward pass",
    r"\bblind rows?\b": "fully masked row",
    r"\b(?:may|must not|cannot) look\b": "may attend",
    r"\bwho (?:may )?looks? at whom\b": "which token attends to which",
    r"\bbends?\b": "activation function",
    r"\bstray(?:s|ed)?\b": "spread",
    r"\broads?\b": "path",
    r"\bkept? for\b(?! the backward)": "cache",
    r"(?:^|(?<=[.!?] ))Who [a-z]+s? [^?]*\.(?= |$)": "a sentence with a subject",
    r"(?:^|(?<=[.!?] ))(?:New|Asked|Open) (?:was|is|they)\b": "subject, then verb",
    r"\bPadding is nobody\b": "say what follows from it",
}
"""Words of our own where the field has one, and inverted sentences: as patterns, and what the book writes instead."""


def plain(sentence):
    return re.sub(rf"[^a-z0-9{FILLED} ]", "", sentence.lower()).strip()


def test_no_sentence_stands_twice():
    places = defaultdict(list)
    for page, text in TEXT.items():
        for sentence in sentences(re.sub(r"^ *[#|].*$", "", text, flags=re.M)):
            words = [word for word in plain(sentence).split() if word != FILLED]
            if len(words) >= 5 and not sentence.startswith("Reading time"):
                places[plain(sentence)].append(page)
    twice = {sentence: where for sentence, where in places.items() if len(where) > 1 and sentence not in FRAME}
    assert len(places) > 3000
    assert twice == {}
    assert [sentence for sentence in FRAME if len(places[sentence]) < 2] == []


def test_no_word_stands_twice_in_a_row():
    twice = [
        f"{page}: {match[0]}"
        for page, text in TEXT.items()
        for paragraph in paragraphs(text)
        for match in re.finditer(r"\b([a-z]{2,}) \1\b", paragraph)
        if match[0] not in TWICE
    ]
    assert twice == []


def test_pages_use_the_fields_words_and_plain_sentences():
    problems = {
        f"{page}: {paragraph[max(0, match.start() - 30) : match.end() + 30]}": suggestion
        for page, text in TEXT.items()
        for paragraph in paragraphs(text)
        for pattern, suggestion in IMPLAIN.items()
        for match in re.finditer(pattern, paragraph)
    }
    assert problems == {}


def words():
    counted, where = Counter(), {}
    for page, text in TEXT.items():
        unquoted = re.sub(r'"[^"\n]*"', FILLED, prose(text))  # what others have said is theirs to spell
        for word in re.findall(rf"(?<![\w{FILLED}\\-])[A-Za-z]+(?![\w{FILLED}])", unquoted):
            counted[word] += 1
            where.setdefault(word, page)
    return counted, where


def test_spelling_is_british_throughout():
    counted, where = words()
    assert counted["neighbours"] > 5
    foreign = {
        f"{where[word]}: {word}": british
        for word in counted
        for p, british in BRITISH.items()
        if re.fullmatch(p, word, re.I)
    }
    assert foreign == {}


def test_no_known_misspelling():
    counted, where = words()
    assert {word: where[word] for word in counted if word.lower() in MISSPELT} == {}


def one_letter_away(word):
    """Everything that a slip of one finger makes: a letter dropped, doubled, exchanged or swapped."""
    for i in range(len(word) + 1):
        for letter in ascii_lowercase:
            yield word[:i] + letter + word[i:]
            yield word[:i] + letter + word[i + 1 :]
        yield word[:i] + word[i + 1 :]
        yield word[:i] + word[i + 1 : i + 2] + word[i : i + 1] + word[i + 2 :]


def another_ending(a, b):
    """Whether two words are alike but for their last letters."""
    return len(commonprefix([a, b])) >= min(len(a), len(b)) - 1


def slips(counted, known):
    """Words that stand once in the whole project, one letter away from a common one."""
    rare = {word for word in counted if len(word) >= 6 and word.islower() and known[word] == 1}
    near = {
        word: [other for other in {*one_letter_away(word)} if known[other] >= 30 and not another_ending(word, other)]
        for word in rare - {*RIGHT}
    }
    return {word: others[:3] for word, others in near.items() if others}


def test_no_rare_word_is_a_slip_of_a_common_one():
    counted, where = words()
    known = Counter(counted)
    code = [path for name in ("lib", "benchmarks", "attacks", "solutions") for path in (ROOT / name).rglob("*.py")]
    rows = (ROOT / "lib" / "course" / "softlookup_course" / "slide_audit").glob("*.toml")
    for path in [*code, *rows, *ROOT.glob("*.md")]:
        known.update(re.findall(r"[A-Za-z]+", path.read_text(encoding="utf-8")))
    assert {f"{where[word]}: {word}": near for word, near in slips(counted, known).items()} == {}
    planted = Counter(["attenion", "wieghts", "querries", "softmqx"])
    assert set(slips(planted, known + planted)) == set(planted)


def chosen(number):
    """Whether a number is round enough to be an input, or a year."""
    value = float(number.replace(",", ""))
    if re.fullmatch(r"(?:19|20)\d\d", number):
        return True
    whole = int(value)
    return value == whole >= 1000 and (len(str(whole).rstrip("0")) <= 2 or whole & (whole - 1) == 0)


@pytest.mark.parametrize("page", TEXT)
def test_numbers_that_look_computed_come_from_a_cell(page):
    text = re.sub(r"^## Questions.*?(?=^## |\Z)", "", TEXT[page], flags=re.S | re.M)  # a question's numbers are its own
    typed = {
        number: sentence
        for sentence in sentences(text)
        if not QUOTED.search(sentence)
        for number in NUMBER.findall(sentence)
        if not chosen(number)
    }
    allowed = TYPED.get(page, set())
    assert {number: sentence for number, sentence in typed.items() if number not in allowed} == {}


BOOK = ROOT / "book"
CHAPTERS = {
    int(page.name[:2]): page.read_text(encoding="utf-8")
    for page in sorted(BOOK.glob("[012][0-9]_*.md"))
    if not re.search(r"_(?:running|practice|more|parts|glance|capstone|evaluation)\.md$", page.name)
}
TAUGHT = {number: text for number, text in CHAPTERS.items() if number <= 13}
LINE = re.compile(r"\*\*Reading time\*\* about (\d+) minutes(?:, (\d+) with the folds)?\. \*\*You need\*\* ")
BOX = re.compile(r"^(`{3,})\{dropdown\} On the slides\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
TAKEAWAY = re.compile(r"^```\{admonition\} Takeaway\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPOKEN = re.compile(r"\b(?:slides?|decks?|lectures?)\b", re.IGNORECASE)
LONGEST_WORDS = 4000
"""Words of prose on a chapter's main line; with its visible code that is less than 5,500."""

READERS_WORDS = (
    "residual stream, hidden state, activation, MLP, context window, logit lens, attention sink, throughput, latency, "
    "bandwidth-bound, hyperparameter, overfitting, learning curve, teacher forcing, prefill, decode, KV cache, "
    "tokenizer, fine-tuning, inference, batch size"
).split(", ")


@pytest.mark.parametrize("number", CHAPTERS)
def test_reading_time_is_what_is_counted(number):
    main, folded = reading(CHAPTERS[number])
    stated = LINE.search(CHAPTERS[number])
    assert stated, "the page says '**Reading time** about N minutes, M with the folds. **You need** ...'"
    whole = (main + folded).minutes
    expected = (main.minutes, whole if whole > main.minutes else None)
    assert (int(stated[1]), stated[2] and int(stated[2])) == expected, f"{main}, {folded}"


@pytest.mark.parametrize("number", TAUGHT)
def test_main_line_is_no_longer_than_an_evening(number):
    assert reading(TAUGHT[number])[0].words <= LONGEST_WORDS


@pytest.mark.parametrize("number", TAUGHT)
def test_first_screen_has_the_question_then_a_figure_then_the_time(number):
    text = TAUGHT[number]
    stated = LINE.search(text).start()
    question = re.search(r"\*\*[^*]+\?\*\*", text)
    figure = re.search(r"^(?:\w+ = )?(?:show|[A-Z]\w+)\(", text[:stated], re.MULTILINE)
    assert question and figure, "the question in bold and a figure stand before the reading time"
    assert question.start() < figure.start() < stated
    assert text.index("| When you have read this, you can |") > stated
    fold = text.rfind("{dropdown}", 0, text.index("| When you have read this, you can |"))
    assert fold > stated, "the objectives are folded"


@pytest.mark.parametrize("number", TAUGHT)
def test_slides_are_spoken_of_in_boxes_alone(number):
    text = TAUGHT[number]
    boxed = " ".join(prose(box[2]) for box in BOX.finditer(text))
    outside = prose(BOX.sub("", text))
    mentions = [outside[max(0, match.start() - 40) : match.end() + 40] for match in SPOKEN.finditer(outside)]
    assert mentions == []
    assert len(boxed.split()) <= 320, "the boxes together are about one screen"


@pytest.mark.parametrize("number", TAUGHT)
def test_takeaways_are_few_and_need_nothing_from_their_page(number):
    boxes = TAKEAWAY.findall(TAUGHT[number])
    assert 1 <= len(boxes) <= 3
    for box in boxes:
        assert box.startswith(":class: takeaway\n")
        assert "{glue" not in box and re.search(r"[$\d]", box), f"a formula or a number, and no computed one: {box}"


@pytest.mark.parametrize("word", READERS_WORDS)
def test_words_that_readers_search_for_are_taught_and_explained(word):
    glossary = (BOOK / "glossary.md").read_text(encoding="utf-8").lower()
    taught = " ".join(prose(text) for text in TAUGHT.values()).lower()
    assert re.search(rf"\b{re.escape(word.lower())}", taught), f"no chapter says {word!r}"
    assert word.lower() in glossary, f"the glossary says nothing of {word!r}"
