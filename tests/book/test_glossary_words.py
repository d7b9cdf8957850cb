"""Chapters' words lead to the glossary at their first use, in running text alone, and bring what it says of them."""

import json
import re

import glossary_words
import pytest
from built_book import HTML, ROOT, need_book
from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes

WORDS = ["mask", "causal mask", "softmax", "token", "GELU", "top-k", "value", "activations (kept)"]


def linked(*parts: nodes.Node, words=WORDS) -> list[tuple[str, str]]:
    """What is linked on a page of these parts: the words shown, and the entry each leads to."""
    document = new_document("page")
    document += list(parts)
    glossary_words.link_first_uses(document, words)
    return [(link.astext(), link["reftarget"]) for link in document.findall(addnodes.pending_xref)]


def paragraph(text: str, **more) -> nodes.paragraph:
    return nodes.paragraph("", text, **more)


def test_the_first_use_is_linked_and_no_other():
    first, second = paragraph("A softmax, and a softmax."), paragraph("One more softmax.")
    assert linked(first, second) == [("softmax", "softmax")]
    assert first.astext() == "A softmax, and a softmax." and isinstance(first[1], addnodes.pending_xref)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Tokens come first.", [("Tokens", "token")]),
        ("Causal masks hide.", [("Causal masks", "causal mask")]),
        ("A causal mask, a mask.", [("causal mask", "causal mask"), ("mask", "mask")]),
        ("gelu is not GELU.", [("GELU", "GELU")]),
        ("A tokenizer, un-masked, mask-free, softmax2.", []),
        ("Draw from the top-k.", [("top-k", "top-k")]),
        ("Its value.", []),
        ("Two softmaxes.", [("softmaxes", "softmax")]),
    ],
)
def test_words_are_found_whole_in_singular_and_plural(text, want):
    assert linked(paragraph(text)) == want


@pytest.mark.parametrize(
    "part",
    [
        nodes.title("", "The softmax"),
        nodes.literal_block("", "softmax"),
        nodes.paragraph("", "", nodes.literal("", "softmax")),
        nodes.paragraph("", "", nodes.math("", "softmax")),
        nodes.paragraph("", "", nodes.reference("", "softmax", refuri="#")),
        nodes.note("", nodes.paragraph("", "A softmax.")),
        nodes.container("", nodes.paragraph("", "A softmax."), classes=["slq-choice"]),
        nodes.container("", nodes.paragraph("", "A softmax."), classes=["cell"]),
    ],
    ids=lambda part: type(part).__name__,
)
def test_nothing_is_linked_in(part):
    assert linked(part) == []


def test_a_word_that_the_author_links_is_left_to_the_author():
    by_hand = addnodes.pending_xref("", nodes.inline("", "softmax"), reftype="term", reftarget="Softmax")
    assert linked(paragraph("A softmax."), nodes.paragraph("", "", by_hand)) == [("softmax", "Softmax")]


def test_definitions_are_plain_text_and_formulas():
    term = nodes.term("", "score", ids=["term-score"])
    definition = nodes.paragraph(
        "", "", nodes.Text("Their "), nodes.reference("", "dot product", refuri="#x"), nodes.math("", "a<b")
    )
    document = new_document("glossary")
    document += nodes.definition_list("", nodes.definition_list_item("", term, nodes.definition("", definition)))
    assert glossary_words.definitions(document) == {
        "term-score": "<p><strong>score</strong></p>"
        '<p>Their dot product<span class="math notranslate nohighlight">\\(a&lt;b\\)</span></p>'
    }


def test_ordinary_words_are_entries_of_the_glossary():
    entries = glossary_words.terms((ROOT / "book" / "glossary.md").read_text("utf-8"))
    assert glossary_words.ORDINARY < set(entries) and len(entries) > 100


@pytest.mark.book
def test_every_linked_word_has_its_definition_in_the_page_and_pages_stay_quiet():
    need_book()
    counts = {}
    for path in sorted((HTML / "book").glob("[0-9][0-9]_*.html")):
        text = path.read_text("utf-8")
        links = re.findall(r'href="glossary\.html#(term-[^"]+)"><span class="xref std std-term">', text)
        terms = re.findall(r'<div data-term="([^"]+)">', text)
        assert set(links) == set(terms), path.name
        template = re.search(r'<template id="glossary-words">.*?</template>', text, re.DOTALL)
        assert len(template[0] if template else "") < 8000
        counts[path.stem] = len(links)
    assert max(counts.values()) <= 32, "a page with more looks like a rash"
    assert counts["04_one_head"] >= 15


def test_words_that_share_an_entry_mean_the_same():
    """Two terms one below the other share the text that follows: none has slipped in between."""
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    shared = re.findall(r"^(\S.*)\n(\S.*)\n    ", text.split("```{glossary}")[1], flags=re.MULTILINE)
    assert {frozenset(pair) for pair in shared} == {
        frozenset(pair)
        for pair in (
            ("cache", "KV cache"),
            ("decode", "decoding"),
            ("feed-forward network", "MLP"),
            ("memory-bound", "bandwidth-bound"),
            ("multiply-add", "multiply-accumulate"),
            ("rotary positions", "RoPE"),
        )
    }


def test_terms_are_a_hundred_questions_with_an_answer_from_the_glossary():
    lines = (ROOT / "examples" / "terms.jsonl").read_text(encoding="utf-8").splitlines()
    conversations = [json.loads(line)["messages"] for line in lines]
    assert [[message["role"] for message in messages] for messages in conversations] == [["user", "assistant"]] * 100
    assert len({messages[0]["content"] for messages in conversations}) == 100
    glossary = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    for question, answer in conversations:
        assert f"\n{question['content'].split('“')[1].split('”')[0]}\n" in glossary
        assert answer["content"].endswith(".")
