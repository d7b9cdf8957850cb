"""The fold that plays a reader's own parallel program, on a bare page: the engine is one that has the answer ready."""

import json

import numpy as np
import pytest
from book_browser import ROOT
from chromium_hands import Hands
from playwright.sync_api import expect
from working import read

from softlookup_course.in_page.playing import figure_of
from softlookup_course.widgets.played_programs import ring_all_reduce
from softlookup_inside.asking.case import Case

pytestmark = pytest.mark.browser

PLACE = "http://book.test/"
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>t</title></head><body><main></main>
<script type="module">import { play } from "./play.js";
document.querySelector("main").append(play("19.all-reduce", { task_id: "19.all-reduce", cells: [] }));</script>
</body></html>"""
ENGINE = """export const ask = async (request, chapter) => {{
  globalThis.requests = [...(globalThis.requests ?? []), {{ ...request, chapter }}];
  return {reply};
}};"""


@pytest.fixture
def opened(chromium):
    context = chromium.new_context(reduced_motion="reduce")
    complaints = []

    def open_with(reply):
        files = {
            "": PAGE,
            "play.js": (ROOT / "book/_python/play.js").read_text(encoding="utf-8"),
            "answers.js": (ROOT / "book/_python/answers.js").read_text(encoding="utf-8"),
            "engine.js": ENGINE.format(reply=json.dumps(reply)),
        }
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))

        def serve(route):
            name = route.request.url.removeprefix(PLACE)
            kind = "text/javascript" if name else "text/html"
            route.fulfill(body=files.get(name, ""), content_type=kind, status=200 if name in files else 404)

        page.route(f"{PLACE}**", serve)
        page.goto(PLACE)
        return page

    yield open_with
    context.close()
    assert not complaints, complaints


def test_program_is_run_when_the_fold_opens_and_then_played(opened):
    x = np.random.default_rng(19).normal(size=(4, 8)).astype(np.float32)
    case = Case("four ranks", ([*x],), frame="numpy", world=4, offers=("isend", "recv"))
    page = opened(figure_of(ring_all_reduce, [case]))
    expect(page.get_by_text("See its messages")).to_be_visible()
    assert page.evaluate("globalThis.requests") is None
    page.get_by_text("See its messages").click()
    expect(page.get_by_text("On the question “four ranks”:")).to_be_visible()
    expect(page.locator(".rpl-words")).to_contain_text("Program ring_all_reduce, on 4 ranks.")
    requests = page.evaluate("globalThis.requests")
    assert requests == [{"task_id": "19.all-reduce", "cells": [], "do": "play", "chapter": 19}]
    page.locator(".rpl-on").click()
    shown = read(Hands(page), "rpl")
    assert (shown["step"], shown["steps"], shown["counts"]["all-busiest"]) == ("2", 6, 48)
    assert page.locator(".rpl-board").evaluate("one => getComputedStyle(one).display") == "grid", "its styles are there"


def test_why_there_is_nothing_to_play_is_said(opened):
    page = opened({"says": "There is nothing to play."})
    page.get_by_text("See its messages").click()
    expect(page.get_by_text("There is nothing to play.")).to_be_visible()
    assert page.locator(".rpl").count() == 0
