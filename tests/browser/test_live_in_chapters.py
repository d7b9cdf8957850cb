"""The live figures of the chapters show, on the reader's own sentence, what the library computes."""

import math
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from book_browser import violations
from live_pages import PATIENCE_MS
from playwright.sync_api import expect

from softlookup.live import rounded
from softlookup.looking_inside import silence
from softlookup.model import beam_search, load_translator, load_writer
from softlookup.model.parts.trace import Trace

pytestmark = [pytest.mark.browser, pytest.mark.book]

LOOK, ORDER, LOSS = "book/04_one_head.html", "book/06_positions.html", "book/09_training.html"
CROSS, INSIDE = "book/08_decoder_and_masks.html", "book/17_looking_inside.html"
SCREENS = """() => {
  const tops = (list) => list.map((element) => element.getBoundingClientRect().top / innerHeight);
  const figures = [...document.querySelectorAll(".bd-article figure, .bd-article .slf")];
  const operated = [...document.querySelectorAll(".bd-article .slf, .bd-article .slq")]
    .filter((element) => element.querySelector("button, input, select") && !element.closest(".slc"));
  return { seen: Math.min(...tops(figures)), operated: operated.length };
}"""


@pytest.fixture(scope="module")
def translator():
    return rounded(load_translator())


@pytest.fixture
def opened(html, visit):
    """Open a page with a figure, as ``opened(page, **of_visit)``; nothing may go wrong in it."""

    @contextmanager
    def open_(page, **options):
        with visit((html / page).as_uri(), reduced_motion="reduce", **options) as seen:
            seen.figure = seen.page.locator("[data-live]")
            yield seen
            assert seen.complaints == []

    return open_


def pressed(seen):
    seen.figure.locator(".lvm-go").click()
    expect(seen.figure.locator(".lvm-result")).to_be_visible(timeout=PATIENCE_MS)
    expect(seen.figure.locator(".lvm-go")).to_have_attribute("aria-disabled", "false", timeout=PATIENCE_MS)
    return seen.figure


def number(text):
    return float(text.replace("−", "-"))


@pytest.mark.slow
@torch.no_grad()
def test_look_shows_the_layer_and_head_of_the_chapter_on_any_sentence(opened, translator):
    sentence = "Two old dogs sleep under a wooden table."
    with opened(LOOK) as seen:
        assert not [address for address in seen.requests if "weights.js" in address]
        seen.figure.get_by_label("Your English sentence").fill(sentence)
        figure = pressed(seen)
        assert [figure.get_by_label(name, exact=True).input_value() for name in ("layer", "head")] == ["4", "1"]
        cells = [float(cell) for cell in figure.locator("td[data-grid]").all_inner_texts()]
        trace, ids = Trace(), translator.tokenizer.encode(sentence, end=True)
        translator.model.encode(torch.tensor([ids]), trace=trace)
        np.testing.assert_allclose(cells, trace.weights[3][0, 0].flatten(), atol=0.0051)
        assert figure.locator(".lvm-french").inner_text() == translator.translate(sentence, beams=1).text
        figure.get_by_label("head", exact=True).select_option("3")
        figure.get_by_role("link", name="The whole model").click()
        seen.page.wait_for_url("**/live.html?*")
        query = parse_qs(urlsplit(seen.page.url).query)
        assert query == {"text": [sentence], "show": ["encoder"], "layer": ["4"], "head": ["3"]}
        assert seen.page.get_by_label("Your English sentence").input_value() == sentence


@pytest.mark.slow
@torch.no_grad()
def test_look_shows_cross_attention_of_the_whole_translation(opened, translator):
    with opened(CROSS) as seen:
        figure = pressed(seen)
        sentence = figure.get_by_label("Your English sentence").input_value()
        cells = [float(cell) for cell in figure.locator("td[data-grid='cross']").all_inner_texts()]
        aligned = translator.alignment(sentence, translator.translate(sentence, beams=1).text)
        np.testing.assert_allclose(cells, aligned.weights[1, 0].flatten(), atol=0.0051)


@pytest.mark.slow
@torch.no_grad()
def test_order_translates_with_and_without_positions(opened, translator):
    model, tokenizer = translator.model, translator.tokenizer

    def translated(sentence, places):
        source = torch.tensor([tokenizer.encode(sentence, end=True)])
        state = model.start(source)
        if places is not None:
            state.memory = model.encoder(model.embedder(source, places=places(source)), state.memory_mask)
        start = torch.full((1, 1), 2)
        how = {"beams": 4, "max_new_tokens": 30, "length_penalty": 1.0, "end_id": 3, "pad_id": 0}
        result = beam_search(model, start, state=state, **how)
        return tokenizer.decode(result.ids[0, 0, 1 : 1 + int(result.lengths[0, 0])].tolist())

    with opened(ORDER) as seen:
        for sentence in ("A dog bites a man.", "A brown dog carries a yellow ball out of the water."):
            seen.figure.get_by_label("Your English sentence").fill(sentence)
            figure = pressed(seen)
            expected = [translated(sentence, None), translated(sentence, torch.zeros_like)]
            assert figure.locator("td[lang=fr]").all_inner_texts() == expected and expected[0] != expected[1]
            assert figure.locator(".lvm-state").inner_text() == "They differ."


@pytest.mark.slow
@torch.no_grad()
def test_loss_is_the_cross_entropy_of_each_label(opened, translator):
    english, french = "A girl reads a red book.", "Une fille lit un gros livre bleu."
    with opened(LOSS) as seen:
        seen.figure.get_by_label("A French translation").fill(french)
        figure = pressed(seen)
        ids = torch.tensor([translator.tokenizer.encode(french, start=True, end=True)])
        source = torch.tensor([translator.tokenizer.encode(english, end=True)])
        logs = translator.model(source, ids[:, :-1])[0].log_softmax(-1)
        losses = -logs.gather(1, ids[0, 1:, None])[:, 0]
        cells = figure.locator("tbody td:nth-of-type(2)").all_inner_texts()
        np.testing.assert_allclose([float(cell) for cell in cells], losses, atol=0.0051)
        names = [translator.tokenizer.vocabulary.token(token_id) for token_id in logs.argmax(-1).tolist()]
        labels = figure.locator("tbody th").all_inner_texts()
        shown = [text.split(" (")[0] for text in figure.locator("tbody td:last-child").all_inner_texts()]
        assert [label if text == "the same" else text for label, text in zip(labels, shown, strict=True)] == [
            "(end)" if name == "</s>" else name for name in names
        ]
        message = figure.locator(".lvm-said").inner_text()
        mean = float(losses.mean())
        assert f"Mean loss {mean:.2f}, perplexity {math.exp(mean):.1f}, over {len(losses)} tokens" in message


@pytest.mark.slow
@torch.no_grad()
def test_silence_takes_heads_out_as_the_library_does(opened):
    text = "ROMEO:\nWhat news, my lord? I pray you, tell me what"
    writer = rounded(load_writer())
    ids = torch.tensor([writer.encode(text)])
    layers, heads = writer.model.config.n_layers, writer.model.config.n_heads

    def passed(silenced, ids=ids):
        logits = writer.model(ids, trace=Trace(dict(silence(silenced)) if silenced else {}))[0]
        return float(F.cross_entropy(logits[:-1], ids[0, 1:])), logits[-1].softmax(-1)

    def written(silenced):
        longer = ids
        for _ in range(24):
            longer = torch.cat([longer, passed(silenced, longer)[1].argmax()[None, None]], 1)
        return writer.decode(longer[0].tolist())

    with opened(INSIDE) as seen:
        seen.figure.get_by_label("A text").fill(text)
        figure = pressed(seen)
        whole = passed([])[0]
        rises = {(la, n): passed([(la, n)])[0] - whole for la in range(layers) for n in range(heads)}
        cells = [number(cell) for cell in figure.locator(".lvm-heads button").all_inner_texts()]
        np.testing.assert_allclose(cells, list(rises.values()), atol=0.0051)
        worst = max(rises, key=rises.get)
        name = f"{worst[0] + 1}.{worst[1] + 1}"
        expect(figure.locator(".lvm-state")).to_have_text(f"Without head {name} the loss rises most.")
        silenced = [(0, 4)]
        for pressed_too in ((0, 4), (0, 3), (4, 1)):
            silenced = [head for head in [*silenced, pressed_too] if [*silenced, pressed_too].count(head) == 1]
            figure.get_by_role("button", name=f"head {pressed_too[0] + 1}.{pressed_too[1] + 1}").click()
            loss, p = passed(silenced)
            which = ", ".join(f"{la + 1}.{n + 1}" for la, n in sorted(silenced))
            expect(figure.locator(".lvm-columns > div:last-child .lvm-written")).to_have_text(written(silenced))
            if which:
                expect(figure.locator(".lvm-said")).to_contain_text(f"without {which} ")
            shown = [number(cell) for cell in figure.locator(".lvm-said strong").all_inner_texts()]
            np.testing.assert_allclose(shown, [whole, loss], atol=0.0051)
            for row in figure.locator(".lvm-candidates tbody tr").all():
                token = writer.tokenizer.vocabulary.id(row.locator("th").inner_text())
                probability_text = row.locator("td.lvm-number").last.inner_text()
                assert abs(float(probability_text.replace("<", "")) - float(p[token])) < 0.0011


def test_empty_translation_is_asked_for(opened):
    with opened(LOSS) as seen:
        box = seen.figure.get_by_label("A French translation")
        box.fill("")
        box.press("Enter")
        expect(seen.figure.locator(".lvm-state")).to_contain_text("Type a French sentence", timeout=PATIENCE_MS)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", [LOOK, ORDER, LOSS, INSIDE])
def test_figure_passes_axe_and_fits_a_phone(opened, page, theme):
    with opened(page, theme=theme, width=390) as seen:
        before = seen.figure.bounding_box()["height"]
        reserved = seen.figure.evaluate("(one) => parseFloat(getComputedStyle(one).minHeight)")
        assert before <= reserved + 1, "the page keeps its place free"
        pressed(seen)
        assert violations(seen.page, "[data-live]") == []
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.one_in(20)
@pytest.mark.parametrize("chapter", range(21))
def test_something_to_see_begins_on_the_first_screen_and_something_can_be_operated(html, visit, chapter):
    page = min(html.glob(f"book/{chapter:02}_*.html"), key=lambda path: len(path.name))
    with visit(page.as_uri()) as seen:
        first = seen.page.evaluate(SCREENS)
        assert first["seen"] < 1 and first["operated"] > 0
