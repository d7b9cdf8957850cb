"""The live figures in Firefox and in WebKit: the models run there, and write what the library's models write."""

import json

import pytest

from benchmarks.site.engines import Engine
from softlookup.live import rounded
from softlookup.model import load_translator, load_writer

pytestmark = [pytest.mark.browser, pytest.mark.book, pytest.mark.slow]

SENTENCE = "Two women in hats are reading newspapers on a bench."
BEGINNING = "ROMEO:\nWhat light is"
TOKENS = 20
PUT = """() => {
  for (const [css, value] of %s) {
    const field = document.querySelector(`[data-live] ${css}`);
    field.value = value;
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  return true;
}"""
OPENED = """async () => {
  while (!document.querySelector("[data-live] textarea")) await new Promise((done) => setTimeout(done, 50));
  return true;
}"""
READ = """async () => {
  let text;
  for (let tries = 0; tries < 900; tries += 1) {
    text = document.querySelector("[data-live] %s")?.textContent;
    if (text === %s) return text;
    await new Promise((done) => setTimeout(done, 100));
  }
  return text ?? document.querySelector("[data-live] .lvm-state").textContent;
}"""


def answered(engine: Engine, fields: list[tuple[str, str | int]], place: str, expected: str) -> str:
    """Fill in the form of the page's live figure, press, and give what stands in a place in the end."""
    engine.run(PUT % json.dumps(fields))
    engine.click("[data-live] .lvm-go")
    return engine.run(READ % (place, json.dumps(expected)))


@pytest.mark.parametrize("place", ["files", "served"])
@pytest.mark.parametrize("page", ["book/live.html", "book/index.html", "book/04_one_head.html"])
def test_sentence_is_translated_in_the_other_engines(engine, page, place):
    expected = rounded(load_translator()).translate(SENTENCE, beams=1).text
    engine.resize(1280)
    engine.visit(getattr(engine, place) + page)
    if page == "book/index.html":
        engine.click(".lvm-open")
        engine.run(OPENED)
    assert answered(engine, [("form :is(input, textarea)", SENTENCE)], ".lvm-french", expected) == expected
    assert engine.complaints() == []


def test_writer_writes_on_in_the_other_engines(engine):
    expected = rounded(load_writer()).write(BEGINNING, max_new_tokens=TOKENS)
    engine.resize(1280)
    engine.visit(engine.files + "book/live_writer.html")
    fields = [("textarea", BEGINNING), ("[id$=temperature]", 0), ("[id$=tokens]", TOKENS)]
    assert answered(engine, fields, ".lvm-written", expected) == expected
    assert engine.complaints() == []
