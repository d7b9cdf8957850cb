"""Every chapter opens alike, keeps slides in boxes, states its length, and has takeaways that can be collected."""

import re

import pytest
from built_book import HTML, need_book
from prose import ROOT, prose

from softlookup_course.curriculum.reading import reading

BOOK = ROOT / "book"
CHAPTERS = {
    int(page.name[:2]): page.read_text(encoding="utf-8")
    for page in sorted(BOOK.glob("[012][0-9]_*.md"))
    if not re.search(r"_(?:running|practice|more|parts|glance|capstone)\.md$", page.name)
}
TAUGHT = {number: text for number, text in CHAPTERS.items() if number <= 13}
LINE = re.compile(r"\*\*Reading time\*\* about (\d+) minutes(?:, (\d+) with the folds)?\. \*\*You need\*\* ")
BOX = re.compile(r"^(`{3,})\{dropdown\} On the slides\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
TAKEAWAY = re.compile(r"^```\{admonition\} Takeaway\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SLIDES = re.compile(r"\b(?:slides?|decks?|lectures?)\b", re.IGNORECASE)
LONGEST_WORDS = 4000
"""Words of prose on a chapter's main line; with its visible code that is less than 5,500."""

READERS_WORDS = (
    "residual stream, hidden state, activation, MLP, context window, logit lens, attention sink, throughput, latency, "
    "bandwidth-bound, hyperparameter, overfitting, learning curve, teacher forcing, prefill, decode, KV cache, "
    "tokenizer, fine-tuning, inference, batch size"
).split(", ")


def test_there_is_a_page_for_each_chapter():
    assert sorted(CHAPTERS) == list(range(21))


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


@pytest.mark.book
@pytest.mark.parametrize("number", TAUGHT)
def test_built_first_screen_shows_its_figure(number):
    need_book()
    page = next(
        page for page in sorted((HTML / "book").glob(f"{number:02}_*.html")) if "Reading time" in page.read_text()
    )
    opening = page.read_text(encoding="utf-8").partition("Reading time")[0]
    assert 'class="slk-figure"' in opening or "widget-view+json" in opening


@pytest.mark.parametrize("number", TAUGHT)
def test_slides_are_spoken_of_in_boxes_alone(number):
    text = TAUGHT[number]
    boxed = " ".join(prose(box[2]) for box in BOX.finditer(text))
    outside = prose(BOX.sub("", text))
    mentions = [outside[max(0, match.start() - 40) : match.end() + 40] for match in SLIDES.finditer(outside)]
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
