"""Python in the page in Firefox and in WebKit: a task is checked, a cell is run; from the disk and from a server."""

import json

import pytest
from test_in_page import EXERCISES, RIGHT

from benchmarks.site.engines import Engine

pytestmark = [pytest.mark.browser, pytest.mark.book, pytest.mark.slow]

WHEN = """async () => {
  for (let tries = 0; tries < 900; tries += 1) {
    const found = document.querySelector(%s);
    if (found && !document.querySelector(".slp-check[aria-disabled='true']")) return found.innerText;
    await new Promise((done) => setTimeout(done, 100));
  }
  return document.querySelector(".slp-box")?.innerText ?? "no box";
}"""
WRONG = "def scores(q, k):\n    return k @ np.swapaxes(q, -1, -2)"


def text(engine: Engine, css: str) -> str:
    """The text of something that the page will show."""
    return engine.run(WHEN % json.dumps(css))


def with_answer(engine: Engine, place: str, source: str) -> str:
    """Check an answer that the browser has kept."""
    record = json.dumps({"04.scores": {"source": source, "verdict": "unchecked"}})
    engine.visit(place + EXERCISES)
    engine.run(f"() => {{ globalThis.softlookupKept.write('in-page', {record}); return true; }}")
    engine.visit(place + EXERCISES)
    engine.click("section:has(> span#exercise-04-scores) .slp-open")
    text(engine, ".slp-box .slp-check")
    engine.click(".slp-box .slp-check")
    return text(engine, ".slp-out")


@pytest.mark.parametrize("place", ["files", "served"])
def test_task_is_checked_in_the_other_engines(engine, place):
    address = getattr(engine, place)
    assert "Not yet" in with_answer(engine, address, WRONG)
    assert "Right: Raw scores" in with_answer(engine, address, RIGHT)
    assert engine.complaints() == []


def test_cell_of_the_playground_runs_in_the_other_engines(engine):
    engine.visit(engine.files + "book/playground.html")
    engine.click(".slp-try .slp-open", 1)
    assert "price 3.04" in text(engine, ".slp-printed")
