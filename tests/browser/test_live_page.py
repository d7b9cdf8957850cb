"""The machine, live: what the page computes is what the library's model gives with the same rounded weights."""

import itertools

import numpy as np
import pytest
import torch
from book_browser import violations
from live_pages import PATIENCE_MS, worker
from playwright.sync_api import expect

from softlookup.live import rounded
from softlookup.model import beam_search, generate, load_translator
from softlookup.model.decoding.sampling import next_token_probabilities, pick
from softlookup.model.parts.trace import Trace

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/live.html"
SENTENCES = (
    "A brown dog carries a yellow ball out of the water.",
    "Two women in hats are reading newspapers on a bench.",
    "A boy jumps over a puddle while his sister takes a picture.",
    "An old man sells oranges and lemons from a wooden cart.",
    "Three cooks in white aprons argue about a burnt cake.",
    "Nobody knows why the violinist's cat sleeps in a red suitcase.",
    "Snow.",
    "Why don't we meet at 7:45, Zoë?  I'd like that…",
    "The «naïve» 北京 café costs 42 €, doesn't it?",
    "A woman in a green coat waits for a tram, and behind her a small child in yellow boots is counting pigeons.",
)


@pytest.fixture(scope="module")
def translator():
    return rounded(load_translator())


@pytest.fixture(scope="module")
def ask(chromium, html):
    with worker(chromium, html, "weights", "softlookupTranslator") as send:
        plain = {"temperature": 0, "beams": 1, "alpha": 1}
        yield lambda text, **how: send({"translate": {"text": text, "how": plain | how}})


def as_shown(tokens):
    """Names of tokens as a page shows them."""
    return tuple("(end)" if token == "</s>" else token for token in tokens)


@torch.no_grad()
def encoded(translator, sentence=SENTENCES[0]):
    """The weights of the encoder's layers."""
    trace, ids = Trace(), translator.tokenizer.encode(sentence, end=True)
    translator.model.encode(torch.tensor([ids]), trace=trace)
    return trace.weights


def by_head(weights, heads):
    """Weights as the page keeps them, [row][heads * keys] or [heads * keys], as (heads, rows, keys)."""
    rows = np.asarray(weights, dtype=np.float64)
    rows = rows if rows.ndim == 2 else rows[None]
    return rows.reshape(len(rows), heads, -1).swapaxes(0, 1)


@pytest.mark.slow
@pytest.mark.one_in(20)
@pytest.mark.parametrize("sentence", SENTENCES)
@torch.no_grad()
def test_greedy_logits_and_attention_are_the_librarys(ask, translator, sentence):
    model, got = translator.model, ask(sentence)
    ids = translator.tokenizer.encode(sentence, end=True)
    assert got["read"]["ids"] == ids
    source = torch.tensor([ids])
    expected = generate(
        model, torch.tensor([[2]]), max_new_tokens=2 * len(ids) + 10, end_id=3, state=model.start(source)
    ).new_ids[0]
    assert [step["id"] for step in got["steps"]] == expected.tolist()
    assert got["done"]["text"] == translator.tokenizer.decode(expected)
    decoder = Trace()
    logits = model(source, torch.cat((torch.tensor([2]), expected[:-1]))[None], trace=decoder)[0]
    close = {"rtol": 0, "atol": 1e-4}
    np.testing.assert_allclose([step["logits"] for step in got["steps"]], logits, **close)
    for layer, weights in enumerate(encoded(translator, sentence)):
        np.testing.assert_allclose(by_head(got["read"]["layers"][layer]["weights"], 4), weights[0], **close)
        for t, step in enumerate(got["steps"]):
            seen = step["layers"][layer]
            np.testing.assert_allclose(
                by_head(seen["self"]["weights"], 4)[:, 0], decoder.weights[layer][0, :, t, : t + 1], **close
            )
            np.testing.assert_allclose(
                by_head(seen["cross"]["weights"], 4)[:, 0], decoder.cross_weights[layer][0, :, t], **close
            )


@pytest.mark.slow
@pytest.mark.one_in(20)
@pytest.mark.parametrize(
    ("sentence", "beams", "alpha"),
    [*zip(SENTENCES, itertools.cycle((4, 2, 8)), itertools.cycle((1.0, 0.0, 2.0, 0.6)), strict=False)],
)
def test_beam_search_keeps_what_the_librarys_keeps(ask, translator, sentence, beams, alpha):
    model, got = translator.model, ask(sentence, beams=beams, alpha=alpha)
    ids = translator.tokenizer.encode(sentence, end=True)
    expected = beam_search(
        model,
        torch.tensor([[2]]),
        beams=beams,
        max_new_tokens=2 * len(ids) + 10,
        end_id=3,
        length_penalty=alpha,
        state=model.start(torch.tensor([ids])),
        trace=True,
    )
    tree = [[(beam["token"], beam["parent"], beam["ended"]) for beam in step] for step in got["tree"]]
    assert tree == [[(beam.token, beam.parent, beam.ended) for beam in step] for step in expected.trace[0]]
    totals = [beam["total"] for step in got["tree"] for beam in step]
    np.testing.assert_allclose(totals, [beam.log_probability for step in expected.trace[0] for beam in step], atol=1e-4)
    step, place = got["done"]["best"]
    np.testing.assert_allclose(got["tree"][step][place]["score"], expected.scores[0, 0], atol=1e-4)
    translation = translator.translate(sentence, beams=beams, length_penalty=alpha)
    assert got["done"]["text"] == translation.text
    assert tuple(step["token"] for step in got["steps"]) == as_shown(translation.tokens)


@pytest.mark.slow
@torch.no_grad()
def test_sampling_draws_what_the_librarys_draws_with_the_same_luck(ask, translator):
    uniforms = np.random.default_rng(3).random(80).tolist()
    for sentence, temperature in zip(SENTENCES[:4], (0.5, 1.0, 1.5, 2.0), strict=True):
        ids = translator.tokenizer.encode(sentence, end=True)
        got = ask(sentence, temperature=temperature, uniforms=uniforms)
        state, token = translator.model.start(torch.tensor([ids])), torch.tensor([2])
        for step, uniform in zip(got["steps"], uniforms, strict=False):
            logits, state = translator.model.step(token[None], state)
            p = next_token_probabilities(logits, temperature=temperature)
            token = pick(p, torch.tensor([uniform], dtype=torch.float64))
            assert step["id"] == int(token)
            for candidate in step["candidates"]:
                np.testing.assert_allclose(candidate["drawn"], p[0, candidate["id"]], atol=1e-4)
        assert int(token) == 3 or len(got["steps"]) == 2 * len(ids) + 10


def translated(seen, sentence=SENTENCES[0], way="greedy"):
    seen.figure.get_by_label("decoding", exact=True).select_option(label=way)
    seen.figure.get_by_label("Your English sentence").fill(sentence)
    return pressed(seen)


def pressed(seen):
    seen.figure.get_by_role("button", name="Translate").click()
    return rested(seen)


def rested(seen):
    expect(seen.figure.locator(".lvm-go")).to_have_attribute("aria-disabled", "false", timeout=PATIENCE_MS)
    expect(seen.figure.locator(".lvm-state")).to_contain_text("tokens in", timeout=PATIENCE_MS)
    return seen.figure


@pytest.mark.parametrize("live", ["disk", pytest.param("server", marks=pytest.mark.slow)], indirect=True)
def test_page_loads_weights_when_asked_and_translates(live, translator):
    assert not [address for address in live.requests if "weights.js" in address]
    figure = translated(live)
    expected = translator.translate(SENTENCES[0], beams=1)
    assert figure.locator(".lvm-french").inner_text() == expected.text
    assert tuple(figure.locator(".lvm-tokens").nth(1).locator("button").all_inner_texts()) == as_shown(expected.tokens)
    assert len([address for address in live.requests if "weights.js" in address]) == 1


@pytest.mark.slow
def test_what_is_chosen_during_a_translation_is_translated_after_it(live, translator):
    menu = live.figure.get_by_label("Example sentences")
    first, words = menu.locator("option").evaluate_all("all => all.map((one) => one.value)")[1:3]
    menu.evaluate(
        """(menu, both) => both.forEach((value) => {
          menu.value = value;
          menu.dispatchEvent(new Event("change"));
        })""",
        [first, words],
    )
    figure = rested(live)
    assert figure.locator(".lvm-french").inner_text() == translator.translate(words, beams=1).text


@pytest.mark.slow
def test_chosen_token_shows_its_mean_cross_attention(live, translator):
    figure = translated(live)
    aligned = translator.alignment(SENTENCES[0], translator.translate(SENTENCES[0], beams=1).text)
    figure.locator(".lvm-tokens").nth(1).get_by_role("button").nth(2).click()
    shown = [float(cell) for cell in figure.locator(".lvm-tokens .lvm-number").all_inner_texts()]
    np.testing.assert_allclose(shown, aligned.weights.mean((0, 1))[2], atol=0.0051)


@pytest.mark.slow
def test_cell_is_computed_again_from_query_and_key(live, translator):
    figure = translated(live)
    figure.get_by_role("button", name="Encoder self-attention, mean of all layers").click()
    figure.locator("td[data-row='3'][data-column='2']").click()
    figure.get_by_role("button", name="layer 2, head 4:").click()
    steps = figure.locator(".lvm-steps")
    weight = float(encoded(translator)[1][0, 3, 3, 2])
    assert float(steps.get_attribute("data-weight")) == pytest.approx(weight, abs=1e-4)
    assert "/ √48 = " in steps.inner_text()


def test_figure_is_worked_from_the_keyboard(standing):
    figure = translated(standing)
    cell = figure.locator("td[data-row='0'][data-column='0']")
    cell.focus()
    cell.press("ArrowRight")
    assert "From ▁Un to ▁brown" in figure.locator(".lvm-why").inner_text().replace("  ", " ")
    figure.get_by_role("button", name="back").press("Enter")
    assert figure.locator("[data-at]").get_attribute("data-at") == str(
        figure.locator(".lvm-tokens").nth(1).locator("button").count() - 2
    )


@pytest.mark.slow
@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("query", "first", "chosen"),
    [
        ("show=beam&beams=3&alpha=0.5", "Beam search", {"decoding": "beam", "beams": "3", "length penalty α": "0.5"}),
        ("show=candidates&temperature=0.7", "Candidates", {"decoding": "sampling", "temperature τ": "0.7"}),
        (
            "show=encoder&layer=3&head=2",
            "The whole model",
            {"decoding": "greedy", "": "Encoder self-attention, layer 3, head 2"},
        ),
        (
            "show=poem&layer=9&head=x&temperature=warm&beams=",
            "The whole model",
            {"decoding": "greedy", "": "Cross-attention, layer 3, head 4"},
        ),
    ],
)
def test_link_opens_the_part_it_asks_for(html, visit, translator, query, first, chosen):
    with visit(f"{(html / PAGE).as_uri()}?{query}", reduced_motion="reduce") as seen:
        seen.figure = seen.page.locator(".lvm")
        figure = pressed(seen)
        assert figure.locator(".lvm-lead + section").get_attribute("aria-label") == first
        assert figure.locator(".lvm-title").inner_text() == chosen.pop("", figure.locator(".lvm-title").inner_text())
        form = figure.locator(".lvm-form")
        assert {name: form.get_by_label(name, exact=True).input_value() for name in chosen} == chosen
        if "layer=3&head=2" in query:
            cells = [float(cell) for cell in figure.locator("td[data-grid='encoder']").all_inner_texts()]
            np.testing.assert_allclose(cells, encoded(translator)[2][0, 1].flatten(), atol=0.0051)
        assert seen.complaints == []


@pytest.mark.slow
def test_beam_is_seen_to_grow(live):
    live.page.evaluate("""() => {
      globalThis.grown = [];
      const [figure, french] = [document.querySelector(".lvm"), document.querySelector(".lvm-french")];
      new MutationObserver(() => {
        if (!french.classList.contains("lvm-grows")) return;
        const columns = new Set([...figure.querySelectorAll(".lvm-node")].map((one) => one.getAttribute("x"))).size;
        globalThis.grown.push([columns, french.textContent, figure.querySelector(".lvm-board").checkVisibility()]);
      }).observe(figure.querySelector(".lvm-tree"), { childList: true });
    }""")
    figure = translated(live, way="beam search")
    columns, texts, boards = zip(*live.page.evaluate("globalThis.grown"), strict=True)
    assert list(columns) == list(range(1, len(columns) + 1)) and len(columns) > 5
    assert len(set(texts)) > 5 and not any(boards)
    expect(figure.locator(".lvm-board")).to_be_visible()
    expect(figure.locator(".lvm-grows")).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figure_passes_axe_at_phone_width(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme, width=390, reduced_motion="reduce") as seen:
        seen.figure = seen.page.locator(".lvm")
        figure = translated(seen, way="beam search")
        figure.get_by_role("button", name="Cross-attention, mean of all layers").click()
        figure.locator("td[data-grid]").first.click()
        figure.get_by_role("button", name="layer 1, head 1:").click()
        assert violations(seen.page, ".lvm") == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_characters_that_the_model_has_never_seen_are_named(standing):
    figure = translated(standing, "A man in a 北京 café.")
    expect(figure.locator(".lvm-missed")).to_contain_text("has never seen 北, 京")
    assert "(unknown)" in figure.inner_text()
    assert not {"<unk>", "</s>", "<s>"} & set(figure.locator("td, th, span, button").all_inner_texts())
    translated(standing)
    expect(figure.locator(".lvm-missed")).to_be_hidden()


@pytest.mark.slow
def test_a_sentence_in_another_language_is_doubted(standing):
    figure = translated(standing, "Zwei Männer spielen Fußball auf der Wiese.")
    expect(figure.locator(".lvm-missed")).to_contain_text("Is this English? 5 of 7 words fall into three or more")
    translated(standing, "Cheerleaders in denim are exercising beside a pool.")
    expect(figure.locator(".lvm-missed")).to_be_hidden()


@pytest.mark.slow
def test_model_says_what_it_was_trained_on_and_offers_what_it_cannot_do(standing, translator):
    figure = standing.figure
    trained = figure.locator(".lvm-trained").inner_text()
    assert "captions of photographs and nothing else: no “I”, no questions" in trained
    translated(standing)
    menu = figure.get_by_label("Example sentences")
    sentence = menu.locator("optgroup[label='Beyond the model'] option").first.get_attribute("value")
    menu.select_option(sentence)
    expected = translator.translate(sentence, beams=1).text
    expect(figure.locator(".lvm-french")).to_have_text(expected, timeout=PATIENCE_MS)


def test_empty_box_gets_a_sentence(standing):
    standing.figure.get_by_label("Your English sentence").fill("  ")
    standing.figure.get_by_role("button", name="Translate").click()
    expect(standing.figure.locator(".lvm-state")).to_contain_text("There is no word in the box", timeout=PATIENCE_MS)
