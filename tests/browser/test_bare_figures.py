"""Figures on bare pages of their own: what plays, without motion, of a reader's own code, of any numbers and theme."""

import json

import numpy as np
import pytest
from bare_page import BARE, RUNNER, BarePages
from book_browser import ROOT
from chromium_hands import Hands
from figure_ways import ORACLES
from ipywidgets.embed import embed_data
from playwright.sync_api import expect
from working import read

from softlookup.tiles import jit, tl
from softlookup_course.in_page.playing import figure_of
from softlookup_course.widgets import (
    AttentionSteps,
    Example,
    ExpertRouting,
    KernelPlayer,
    PipelineChart,
    RankPlayer,
    TrainingWatch,
)
from softlookup_course.widgets.played_programs import ring_all_reduce
from softlookup_inside.asking.case import Case

pytestmark = pytest.mark.browser

FIGURES = {"kpl": KernelPlayer, "rpl": RankPlayer, "ppl": PipelineChart}
FLIGHTS = "(next) => { document.querySelector(next).click(); return document.getAnimations().length; }"


@jit
def doubled(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def swap(x, dist):
    other, part = 1 - dist.get_rank(), np.empty_like(x)
    sent = dist.isend(x, other)
    dist.recv(part, other)
    sent.wait()
    return x + part


@pytest.fixture(scope="module")
def chapters():
    """The figures of the chapters, as pages hold them."""
    return {name: embed_data([figure()], drop_defaults=False) for name, figure in FIGURES.items()}


@pytest.fixture
def show(chromium, tmp_path, chapters):
    """Give what opens a page with a figure: a chapter's, or another."""
    pages = BarePages(chromium, tmp_path)

    def opened(name, figure=None, **options):
        data = embed_data([figure], drop_defaults=False) if figure is not None else chapters[name]
        return pages.show(data, f".{name}", **options)

    yield opened
    pages.close()


def agreed(page, name):
    shown = read(Hands(page), name)
    ORACLES[name].agrees(shown)
    return shown


@pytest.mark.parametrize("name", ["kpl", "rpl"])
def test_playing_goes_to_the_end_and_says_only_the_last_step(show, name):
    page = show(name, clock=True)
    play, now = page.locator(f".{name}-play"), page.locator(f".{name}-now")
    if name == "kpl":  # the other plays by itself
        page.locator("input[id$=tile]").fill("3")
        page.locator("input[id$=step]").fill("0")
        play.click()
    expect(now).to_have_attribute("aria-live", "off")
    expect(play).to_have_text("Pause")
    page.clock.run_for(20_000)
    shown = agreed(page, name)
    assert int(shown["step"]) == shown["steps"]
    expect(now).to_have_attribute("aria-live", "polite")
    play.click()  # begins again
    expect(play).to_have_text("Pause")
    play.click()
    shown = read(Hands(page), name)
    assert int(shown["step"]) < shown["steps"] and shown["play"] == "Play"


def test_pipeline_plays_to_its_end(show):
    page = show("ppl", clock=True)
    page.locator("input[id$=micro]").fill("0")
    page.locator(".ppl-play").click()
    expect(page.locator(".ppl-play")).to_have_text("Pause")
    page.clock.run_for(20_000)
    shown = agreed(page, "ppl")
    assert int(shown["time"]) == shown["length"]


def test_reader_who_touches_a_control_stops_the_playing(show):
    page = show("rpl")
    expect(page.locator(".rpl")).to_have_attribute("data-playing", "true")
    page.locator(".rpl-back").click()
    expect(page.locator(".rpl")).not_to_have_attribute("data-playing", "true")
    agreed(page, "rpl")


@pytest.mark.parametrize(("name", "address", "count"), [("kpl", "", 1), ("rpl", "?set=step:2#figure", 4)])
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_tiles_and_messages_fly_unless_the_reader_wants_no_motion(show, name, address, count, motion):
    page = show(name, address=address, reduced_motion=motion)
    assert page.evaluate(FLIGHTS, f".{name}-on") == (count if motion == "no-preference" else 0)
    shown = agreed(page, name)
    assert name == "kpl" or shown["step"] == "3", "it does not play by itself after a link, nor without motion"


def test_readers_kernel_has_no_choice_of_kernels_and_its_text(show):
    x = np.arange(100, dtype=np.float32)
    page = show("kpl", KernelPlayer.of(doubled, (4,), x, np.zeros_like(x), 100, BLOCK=32))
    assert not page.locator("select").is_visible() and not page.locator("input[id$=tile]").is_visible()
    expect(page.locator(".kpl-words")).to_contain_text("Kernel doubled. It reads 400 bytes, 1.00 times the least (400)")
    page.locator("input[id$=step]").fill("12")
    expect(page.locator(".kpl-now")).to_have_text("Program 3 of 0–3 writes 16 bytes to y.")
    page.locator("summary").click()
    expect(page.locator(".kpl-text")).to_contain_text("tl.store(y + at, 2 * tl.load(x + at, mask=at < n)")


def test_readers_program_has_no_choice_of_programs_and_its_bytes(show):
    figure = RankPlayer.of(swap, [(np.ones(3, np.float32),), (np.zeros(3, np.float32),)])
    page = show("rpl", figure, reduced_motion="reduce")
    choices = ("select >> nth=0", "input[id$=world]", "input[id$=size]")
    assert [page.locator(css).is_visible() for css in choices] == [False] * 3
    expect(page.locator(".rpl-words")).to_contain_text("Program swap, on 2 ranks.")
    expect(page.locator(".rpl-now")).to_have_text("Step 1: 2 messages of 12 bytes each, from rank 0 to 1, 1 to 0.")
    assert page.locator(".rpl-new").count() == 6 and page.locator(".rpl-own").count() == 6


def test_what_a_message_brings_is_not_shown_where_it_cannot_be_told(show):
    page = show("rpl", RankPlayer.of(lambda x, y, dist: swap(x + y, dist), [(np.ones(3), np.ones(3))] * 2))
    expect(page.locator(".rpl-key")).to_have_text("whose numbers a message brings cannot be told here")
    assert page.locator(".rpl-cell").count() == 0 and page.locator(".rpl-rank").count() == 2


def test_training_run_is_changed_at_its_step_and_answers_are_marked(show):
    record = json.loads((ROOT / "book/measured/after_pretraining.json").read_text(encoding="utf-8"))
    runs = {"without": record["grpo"]["tempting"], "with": record["grpo"]["tempting, KL"]}
    page = show("trw", TrainingWatch(record["prompts"], runs, {"": ["sampled_right"], "reward": ["reward"]}))
    page.locator(".trw-end").click()
    expect(page.locator(".trw-end")).to_be_disabled()
    expect(page.locator(".trw-words")).to_contain_text("reward: 4.26.")
    expect(page.locator(".trw-verdict")).to_have_text(["✗"] * 3)
    height = page.locator(".trw").bounding_box()["height"]
    page.get_by_role("button", name="with", exact=True).click()
    expect(page.locator(".trw-words")).to_contain_text("Step 80, with. Right, drawn: 18")
    expect(page.locator(".trw-verdict")).to_have_text(["✓"] * 3)
    assert page.locator(".trw-text > :first-child").all_inner_texts() == runs["with"][-1]["samples"]
    page.locator("input[id$=at]").press("Home")
    assert page.locator(".trw").bounding_box()["height"] == height, "what is below stays where it is"


def test_token_is_played_from_router_to_residual_stream(show):
    record = json.loads((ROOT / "book/measured/experts.json").read_text(encoding="utf-8"))
    page = show("xpr", ExpertRouting(record), clock=True)
    words = page.locator(".xpr-words")
    page.locator(".xpr-play").click()
    expect(words).to_contain_text("step 1, vector")
    expect(words).to_have_attribute("aria-live", "off")
    page.clock.run_for(30_000)
    expect(words).to_contain_text("step 7, sum")
    expect(words).to_have_attribute("aria-live", "polite")
    agreed(page, "xpr")


def drawn(tokens=3, width=2, mask=None, size=1.0):
    rng = np.random.default_rng(8)
    q, k, v = rng.normal(size=(3, tokens, width)) * size
    return Example("drawn", [f"word{i}" for i in range(tokens)], q, k, v, mask)


@pytest.fixture
def steps(show):
    """Give what shows examples of attention, one stage of them."""

    def opened(*examples, stage=0, **options):
        figure = show("slw", AttentionSteps(list(examples)), **options).locator(".slw")
        figure.locator("[role=tab]").nth(stage).click()
        return figure

    return opened


def ask(figure, grid, row, column):
    figure.locator(f"td[data-grid={grid}][data-row='{row}'][data-column='{column}']").click()
    return figure.locator(".slw-words").inner_text(), figure.locator(".slw-sum").inner_text()


def test_masked_cells_are_hatched_and_say_why_they_get_no_weight(steps):
    figure = steps(drawn(mask=np.tri(3, dtype=bool)), stage=1)
    assert figure.page.locator(".widget-fallback").count() == 0, "the stand-in goes when the figure stands"
    assert figure.locator("td.slw-masked").all_inner_texts() == ["−∞"] * 3
    words, numbers = ask(figure, "scaled", 0, 1)
    assert words.startswith("Masked") and numbers.endswith("replaced by −∞")
    figure.locator("[role=tab]").nth(2).click()
    assert set(figure.locator("td.slw-masked[data-grid=weights]").all_inner_texts()) == {"0.00"}
    assert "a masked token gets no weight" in ask(figure, "weights", 0, 1)[0]
    words, numbers = ask(figure, "weights", 1, 0)
    assert "the sum over the 2 tokens that it may attend to" in words
    assert numbers.split("(")[2].count("+") == 1


def test_row_with_nothing_to_see_says_so(steps):
    mask = np.ones((3, 3), dtype=bool)
    mask[1] = False
    figure = steps(drawn(mask=mask), stage=2)
    assert "this row is fully masked" in ask(figure, "weights", 1, 1)[0]
    figure.locator("[role=tab]").nth(3).click()
    assert figure.locator("td[data-grid=output][data-row='1']").all_inner_texts() == ["0.00", "0.00"]


def test_large_scores_show_what_is_subtracted(steps):
    figure = steps(drawn(size=30.0), stage=2)
    scores = figure.locator("td[data-grid=scaled][data-row='0']").all_inner_texts()
    largest = max(float(text.replace("−", "-")) for text in scores)
    numbers = ask(figure, "weights", 0, 0)[1]
    assert f"{largest:.2f}" in numbers and "−" in numbers and "Infinity" not in numbers and "NaN" not in numbers


def test_sum_of_a_wide_head_leaves_out_its_middle(steps):
    numbers = ask(steps(drawn(width=64)), "scores", 0, 1)[1]
    assert "…" in numbers and numbers.count("×") == 7 and len(numbers) < 200


def test_dark_jupyterlab_gets_the_dark_colours(steps):
    background = "one => getComputedStyle(one).backgroundColor"
    light, dark = (
        steps(drawn(), body=f'data-jp-theme-light="{is_light}"', theme="").evaluate(background)
        for is_light in ("true", "false")
    )
    assert light == "rgb(255, 255, 255)" and dark != light


def test_widget_that_is_no_anywidget_leaves_its_stand_in(chromium, tmp_path):
    state = {"version_major": 2, "version_minor": 0, "state": {"m": {"model_name": "IntSliderModel", "state": {}}}}
    html = BARE.format(theme="", body="", view='{"model_id": "m"}', state=json.dumps(state), runner=RUNNER)
    (tmp_path / "slider.html").write_text(html, encoding="utf-8")
    page = chromium.new_page()
    with page.expect_console_message() as console_message:
        page.goto((tmp_path / "slider.html").as_uri())
    assert "is not an anywidget" in console_message.value.text
    assert page.locator(".widget-fallback").is_visible()
    page.close()


PLACE = "http://book.test/"
FOLD_PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>t</title></head><body><main></main>
<script type="module">import { play } from "./play.js";
document.querySelector("main").append(play("19.all-reduce", { task_id: "19.all-reduce", cells: [] }));</script>
</body></html>"""
ENGINE = """export const ask = async (request, chapter) => {{
  globalThis.requests = [...(globalThis.requests ?? []), {{ ...request, chapter }}];
  return {reply};
}};"""


@pytest.fixture
def fold(chromium):
    context = chromium.new_context(reduced_motion="reduce")
    complaints = []

    def open_with(reply):
        files = {
            "": FOLD_PAGE,
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


def test_program_is_run_when_the_fold_opens_and_then_played(fold):
    x = np.random.default_rng(19).normal(size=(4, 8)).astype(np.float32)
    case = Case("four ranks", ([*x],), frame="numpy", world=4, offers=("isend", "recv"))
    page = fold(figure_of(ring_all_reduce, [case]))
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


def test_why_there_is_nothing_to_play_is_said(fold):
    page = fold({"says": "There is nothing to play."})
    page.get_by_text("See its messages").click()
    expect(page.get_by_text("There is nothing to play.")).to_be_visible()
    assert page.locator(".rpl").count() == 0
