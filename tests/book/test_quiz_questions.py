"""Chapters' questions become options to press."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import quiz_questions
import yaml
from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html" / "book"
CHAPTERS = sorted(path.stem for path in (ROOT / "book").glob("[0-9][0-9]_*.md"))


def test_an_answer_without_its_letter_is_refused():
    with pytest.raises(Exception, match="begins with its letter"):
        quiz_questions.right_letter(nodes.container("", nodes.paragraph("", "It is b.")))


def the_answer(*lines):
    """An answer as a page writes it: the right option's sentence, and a line for each wrong one."""
    first, *others = lines
    items = [nodes.list_item("", nodes.paragraph("", "", nodes.Text(line))) for line in others]
    right = nodes.paragraph("", "", nodes.strong("", first[:3]), nodes.Text(first[3:]))
    return nodes.container("", right, nodes.bullet_list("", *items))


def test_an_answer_that_names_another_options_letter_is_refused():
    answer = the_answer("(b) Yes.", "(a) As in (b), but less.", "(c) Too many.")
    with pytest.raises(Exception, match=r"calls an option \(b\), but letters are drawn"):
        quiz_questions.reletter(answer, {"a": "a", "b": "b", "c": "c"})


def test_drawn_orders_keep_all_options_and_are_the_same_each_time():
    options = [quiz_questions.Options(count, right) for count in (3, 4, 2, 3) for right in range(2)]
    orders = quiz_questions.drawn_orders("a page", options)
    assert orders == quiz_questions.drawn_orders("a page", options)
    assert [sorted(order) for order in orders] == [list(range(choice.count)) for choice in options]
    assert len({str(quiz_questions.drawn_orders(str(page), options)) for page in range(9)}) > 1


def test_an_option_that_speaks_of_the_others_stays_the_last():
    options = [quiz_questions.Options(3, right, last=True) for right in (0, 1, 2, 0, 1, 2)]
    assert [order[-1] for order in quiz_questions.drawn_orders("a page", options)] == [2] * 6
    for text in ("neither", "both", "on both", "all of them together", "none of these"):
        assert quiz_questions.LAST.fullmatch(text)
    for text in ("nothing", "all shapes are right", "both heads in turn"):
        assert not quiz_questions.LAST.fullmatch(text)


@pytest.fixture(scope="module")
def read_pages(tmp_path_factory):
    """Each chapter's questions, read by Sphinx as in the book, without running a cell: page -> doctree."""
    root = tmp_path_factory.mktemp("questions")
    asking = {}
    for page in CHAPTERS:
        text = (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
        _, heading, questions_on = text.partition(f"## {quiz_questions.TITLE}\n")
        if heading:
            asking[page] = f"# Page\n\n{heading}{questions_on}"
    (root / "book").mkdir()
    for page, text in asking.items():
        (root / "book" / f"{page}.md").write_text(text, encoding="utf-8")
    (root / "index.md").write_text("# All\n", encoding="utf-8")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    settings = {
        "extensions": ["myst_nb", "sphinx_design", "quiz_questions"],
        "nb_execution_mode": "off",
        "myst_enable_extensions": config["parse"]["myst_enable_extensions"],
    }
    with docutils_namespace():
        app = Sphinx(root, None, root / "out", root / "trees", "dummy", settings, status=None, warning=None)
        app.build()
    return {page: app.env.get_doctree(f"book/{page}") for page in asking}


def boxes(doctree):
    """Each question's options, the number of the right one, and the letters of its answer's lines."""
    for box in doctree.findall(lambda node: isinstance(node, nodes.container) and "slq-choice" in node["classes"]):
        (listed,) = (node for node in box.children if isinstance(node, nodes.enumerated_list))
        right = next(name for name in box["classes"] if name.startswith("slq-right-"))[-1]
        lines = [re.match(r"\((\w)\)", item.astext()) for item in box.children[-1].findall(nodes.list_item)]
        answer_text = next(iter(box.children[-1].findall(nodes.strong))).astext()
        yield (
            [item.astext() for item in listed],
            ord(right) - ord("a"),
            [answer_text[1], *(line[1] for line in lines if line)],
        )


def test_on_every_page_the_right_option_stands_everywhere_equally_often(read_pages):
    assert len(read_pages) >= 15
    for page, doctree in read_pages.items():
        page_boxes = list(boxes(doctree))
        source = (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
        assert len(page_boxes) == source.count("{dropdown} Answer\n**("), page
        often = Counter(right for _, right, _ in page_boxes)
        places = range(min(len(options) for options, _, _ in page_boxes))
        assert max(often.values()) - min(often[place] for place in places) <= 1, (page, often)


def test_on_every_page_answers_go_by_the_letters_that_are_shown(read_pages):
    for page, doctree in read_pages.items():
        for options, right, answer_letters in boxes(doctree):
            letters = [chr(ord("a") + place) for place in range(len(options))]
            others = [letter for letter in letters if letter != letters[right]]
            assert answer_letters == [letters[right], *others], (page, options)


@cache
def questions(page):
    soup = BeautifulSoup((HTML / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    return soup.select("form.slq"), soup.select(".slq-choice")


@pytest.mark.one_in(12)
@pytest.mark.book
@pytest.mark.parametrize("page", CHAPTERS)
def test_every_question_with_options_is_one_to_press(page):
    _, chosen = questions(page)
    assert len(chosen) == (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8").count("{dropdown} Answer\n**(")
    for box in chosen:
        options = box.select(".slq-options > li")
        right = next(name for name in box["class"] if name.startswith("slq-right-"))[-1]
        letters = [chr(ord("a") + i) for i in range(len(options))]
        assert len(options) >= 2 and right in letters
        other_letters = [item.get_text().strip()[1] for item in box.select(".sd-summary-content li")]
        assert sorted([*other_letters, right]) == letters, box.get_text()


@pytest.mark.book
def test_every_chapter_asks_at_least_four_questions():
    counts = {}
    for page in CHAPTERS:
        typed, chosen = questions(page)
        counts[page[:2]] = counts.get(page[:2], 0) + len(typed) + len(chosen)
    assert {chapter: count for chapter, count in counts.items() if count < 4} == {}


@pytest.mark.parametrize(
    "page",
    [path for path in sorted((ROOT / "book").glob("[0-9]*.md")) if "## Questions with" in path.read_text("utf-8")],
    ids=lambda path: path.stem,
)
def test_each_set_asks_for_a_prediction_that_a_page_shows(page):
    section = page.read_text(encoding="utf-8").split("## Questions with answers")[1]
    predictions = re.findall(
        r"^\*\*\d+\. (?:[^*]|\*\w+\*)*?\bPredict\b.*\n\n```+\{dropdown\} Answer\n(.*)", section, re.M
    )
    assert any(re.search(r"\]\(#[a-z0-9-]+\)", answer) for answer in predictions), "link to where the page shows it"


def test_rounded_weights_of_the_softmax_question_sum_to_1_as_printed():
    page = (ROOT / "book" / "04_one_head.md").read_text(encoding="utf-8")
    powers = [float(entry) for entry in re.search(r"log_TS = np\.log\(\[\[([\d, ]+)\]", page)[1].split(",")]
    decimals = int(re.search(r"\(log_TS,\),\s+Row\(\(0,\), decimals=(\d)\)", page)[1])
    assert sum(round(power / sum(powers), decimals) for power in powers) == pytest.approx(1, abs=1e-9)
