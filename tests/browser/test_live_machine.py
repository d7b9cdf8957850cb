"""The whole translator as a picture: its numbers are the library's, and it opens by mouse, key, finger and link."""

import re
from functools import cache
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import torch
from book_browser import violations
from live_pages import PATIENCE_MS
from playwright.sync_api import expect

from softlookup.live import rounded
from softlookup.looking_inside import logit_lens
from softlookup.model import Trace, load_translator

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/live.html"
DOG = "A brown dog carries a yellow ball out of the water."
POOL = "Two men are playing pool in a bar."
SWIM = "A boy jumps into a pool."
KINDS = {"Encoder self-attention": "encoder", "Decoder self-attention": "self", "Cross-attention": "cross"}
NAME = re.compile(r"(.+), (?:layer (\d)|mean of all layers), (?:head (\d)|mean of all heads)")
PIXELS = """() => [...document.querySelectorAll(".lvm-thumb")].map((thumb) => {
  const { width, height } = thumb.firstChild;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const copy = canvas.getContext("2d", { willReadFrequently: true });
  copy.drawImage(thumb.firstChild, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  return [thumb.getAttribute("aria-label"), width, [...data].filter((_, i) => i % 4 === 3)];
})"""
TOUR = [  # French token, kind, layer, head, row, the column that has the largest weight; of steps with a head
    *[None] * 3,
    (0, "encoder", 2, 1, "carries", "dog"),
    (0, "encoder", 1, 4, "a", "ball"),
    *[None] * 3,
    (1, "cross", 3, 4, "chien", "dog"),
    (2, "cross", 3, 4, "brun", "brown"),
    (4, "cross", 3, 2, "une", "ball"),
    (3, "cross", 1, 1, "porte", "brown"),
    (5, "self", 1, 2, "une", "(start)"),
    *[None] * 2,
    (4, "encoder", 3, 1, "pool", "playing"),
]


@cache
def passed(sentence):
    """What the library's rounded model computes on a sentence and its greedy translation."""
    translator = rounded(load_translator())
    model, tokenizer = translator.model, translator.tokenizer

    def names(ids):
        tokens = [tokenizer.vocabulary.token(int(token_id)).removeprefix("▁") for token_id in ids]
        return [{"<s>": "(start)", "</s>": "(end)"}.get(token, token) for token in tokens]

    source = tokenizer.encode(sentence, end=True)
    target = tokenizer.encode(translator.translate(sentence, beams=1).text, end=True)
    fed, encoder, decoder = [2, *target[:-1]], Trace(), Trace()
    with torch.no_grad():
        model.encode(torch.tensor([source]), trace=encoder)
        model(torch.tensor([source]), torch.tensor([fed]), trace=decoder)
        lens = [logits[0].softmax(-1).max(-1) for logits in logit_lens(model, decoder)[1:]]
    weights = {"encoder": encoder.weights, "self": decoder.weights, "cross": decoder.cross_weights}
    stacked = {kind: torch.cat(layers).numpy() for kind, layers in weights.items()}  # (layers, heads, rows, columns)
    rows, columns = names(source), {"encoder": names(source), "self": names(fed), "cross": names(source)}
    rows = {"encoder": rows, "self": names(fed), "cross": names(target)}
    return stacked, rows, columns, [(names(top.indices), top.values.tolist()) for top in lens]


@pytest.fixture(scope="module")
def standing(html, visit):
    """The page, opened once; with a finger as well as a mouse."""
    with visit((html / PAGE).as_uri(), width=1366, reduced_motion="reduce", has_touch=True) as seen:
        seen.figure = seen.page.locator(".lvm")
        yield seen
        assert seen.complaints == []


def translated(seen, sentence):
    seen.figure.get_by_label("Your English sentence").fill(sentence)
    seen.figure.get_by_role("button", name="Translate").click()
    expect(seen.figure.locator(".lvm-go")).to_have_attribute("aria-disabled", "false", timeout=PATIENCE_MS)


def is_open(seen, name):
    expect(seen.figure.locator(".lvm-title")).to_have_text(name)
    expect(seen.figure.locator(".lvm-thumb[aria-pressed=true]")).to_have_attribute("aria-label", name)


def check_thumbnails(seen, sentence):
    weights, *_ = passed(sentence)
    thumbs = seen.page.evaluate(PIXELS)
    assert len(thumbs) == 63
    for name, width, alpha in thumbs:
        kind, layer, head = NAME.fullmatch(name).groups()
        head_weights = weights[KINDS[kind]]
        expected = head_weights.mean((0, 1)) if layer is None else head_weights[int(layer) - 1, int(head) - 1]
        drawn = (np.reshape(alpha, (-1, width)) / 255) ** (1 / 0.7)
        np.testing.assert_allclose(drawn, expected, atol=0.012, err_msg=name)


def check_stream(seen, sentence, step):
    tokens, shares = zip(*(([*names][step], p[step]) for names, p in passed(sentence)[3]), strict=True)
    stops = [stop.rsplit(" ", 1) for stop in seen.figure.locator(".lvm-stop").all_inner_texts()]
    assert [token for token, _ in stops] == list(tokens)
    np.testing.assert_allclose([float(share) for _, share in stops], shares, atol=0.0051)


def test_stored_translation_has_the_models_numbers_before_it_is_loaded(standing):
    assert not [address for address in standing.requests if "weights.js" in address]
    assert urlsplit(standing.page.url).fragment == "", "the address is the page's until a reader chooses something"
    check_thumbnails(standing, DOG)
    check_stream(standing, DOG, 2)
    cells = [float(cell) for cell in standing.figure.locator("td[data-grid='cross']").all_inner_texts()]
    np.testing.assert_allclose(cells, passed(DOG)[0]["cross"][2, 3].flatten(), atol=0.0051)


def test_thumbnail_opens_by_mouse_key_and_finger(standing):
    figure = standing.figure
    first = "Encoder self-attention, layer 1, head 1"
    figure.get_by_role("button", name=first).click()
    is_open(standing, first)
    for key in (*["ArrowRight"] * 4, "ArrowDown", "ArrowRight"):
        standing.page.keyboard.press(key)
    standing.page.keyboard.press("Enter")
    is_open(standing, "Cross-attention, layer 2, head 2")
    assert figure.locator(".lvm-thumb[tabindex='0']").count() == 1
    figure.get_by_role("button", name="Decoder self-attention, layer 5, head 2").tap()
    is_open(standing, "Decoder self-attention, layer 5, head 2")
    figure.locator(".lvm-threads").get_by_role("button", name="▁jaune").click()
    expect(figure.locator(".lvm-bar[data-at]")).to_have_attribute("data-at", "7")


@pytest.mark.slow
def test_picture_of_another_sentence_has_the_librarys_numbers(standing):
    translated(standing, POOL)
    check_thumbnails(standing, POOL)
    check_stream(standing, POOL, -1)


@pytest.mark.slow
def test_weight_of_the_stored_translation_is_computed_when_asked(html, visit):
    with visit((html / PAGE).as_uri(), reduced_motion="reduce") as seen:
        figure = seen.page.locator(".lvm")
        figure.locator("td[data-row='2'][data-column='1']").click()
        figure.get_by_role("button", name="Compute it").click()
        steps = figure.locator(".lvm-steps")
        expect(steps).to_be_visible(timeout=PATIENCE_MS)
        weight = float(passed(DOG)[0]["cross"][2, 3, 2, 1])
        assert float(steps.get_attribute("data-weight")) == pytest.approx(weight, abs=1e-4)


@pytest.mark.slow
def test_link_leads_to_the_same_sentence_head_and_token(html, visit):
    place = {"text": POOL, "show": "self", "layer": "4", "head": "2", "token": "6", "beams": "3", "alpha": "0.5"}
    link = f"{(html / PAGE).as_uri()}#{'&'.join(f'{name}={value}' for name, value in place.items())}"
    with visit(link.replace(" ", "+"), reduced_motion="reduce") as seen:
        seen.figure = seen.page.locator(".lvm")
        expect(seen.figure.locator(".lvm-state")).to_contain_text("tokens in", timeout=PATIENCE_MS)
        expect(seen.figure.locator(".lvm-bar[data-at]")).to_have_attribute("data-at", "5")
        is_open(seen, "Decoder self-attention, layer 4, head 2")
        seen.figure.get_by_role("button", name="Copy link").click()
        copied = seen.figure.get_by_label("Link to what is shown").input_value()
        assert {name: value for name, [value] in parse_qs(urlsplit(copied).fragment).items()} == place
        assert seen.complaints == []


@pytest.mark.slow
def test_tour_says_what_the_library_computes(standing):
    figure, says = standing.figure, standing.figure.locator(".lvm-tour-says")
    weights, rows, columns, lens = passed(DOG)
    first = weights["encoder"][1, 0].argmax(-1)[1:] == np.arange(len(rows["encoder"]) - 1)
    assert (rows["encoder"][9], columns["encoder"][weights["encoder"][0, 3, 9].argmax()]) == ("the", "water")
    model, vectors = rounded(load_translator()).model, Trace()
    with torch.no_grad():
        ids = torch.tensor([load_translator().tokenizer.encode(DOG, end=True)])
        model.encode(ids, trace=vectors)
        layer = model.encoder.layers[0]
        stream = vectors.states[0][0, 4] + vectors.attention[0][0, 4]
        network = layer.feed_forward
        active = layer.feed_forward_residual.norm(stream) @ network.w_1 + network.b_1 > 0
    lengths = [
        float(vector.norm())
        for vector in (vectors.states[0][0, 4], vectors.attention[0][0, 4], vectors.states[-1][0, 4])
    ]
    more = {
        1: f"{len(rows['encoder'])} tokens",
        2: "dog selects a row",
        4: f"{first.sum()} of {len(first)} tokens",
        5: f"water ({weights['encoder'][0, 3, 9].max():.2f})",
        6: f"length {lengths[1]:.2f}, to one of length {lengths[0]:.2f}",
        7: f"{int(active.sum())} of 1,536 hidden units",
        8: f"{lengths[0]:.2f} at first and {lengths[2]:.2f} after",
        14: ", ".join(f"{names[3]} ({p[3]:.2f})" for names, p in lens),
        15: "brun (0.78), then marron (0.12)",
        16: "billard",
    }
    figure.get_by_role("button", name="Take the tour").click()
    for number, claim in enumerate(TOUR, 1):
        expect(figure.locator(".lvm-tour .lvm-number")).to_have_text(f"{number} of {len(TOUR)}")
        expect(says).not_to_contain_text(re.compile("Translating|Loading"), timeout=PATIENCE_MS)
        text = says.inner_text()
        assert figure.locator(".lvm-here").count() == 1 and 1 <= len(re.findall(r"[.?!]”?(?: |$)", text)) <= 2, text
        assert parse_qs(urlsplit(standing.page.url).fragment)["tour"] == [str(number)] and more.get(number, "") in text
        if claim:
            step, kind, layer, head, row, column = claim
            weights, rows, columns, _ = passed(POOL if number == 16 else DOG)
            head_weights = weights[kind][layer - 1, head - 1]
            at = 4 if (kind, row) == ("encoder", "a") else rows[kind].index(row)
            most = int(head_weights[at].argmax())
            assert columns[kind][most] == column
            assert f"{column} ({head_weights[at, most]:.2f})" in text and row in text
            assert figure.locator(".lvm-bar[data-at]").get_attribute("data-at") == str(step)
            figure.locator(f"td[data-row='{at}'][data-column='{most}']").wait_for()
        if number == 14:
            assert rows["self"][3] in text and rows["cross"][3] in text
        if number < len(TOUR):
            figure.locator(".lvm-tour").get_by_role("button", name="Next").click()
    translated_alone = {text: rounded(load_translator()).translate(text, beams=1).text for text in (POOL, SWIM)}
    assert "billard" in translated_alone[POOL] and "piscine" in translated_alone[SWIM]
    figure.get_by_role("button", name="Leave", exact=True).click()
    expect(figure.get_by_role("button", name="Take the tour")).to_be_visible()
    assert "tour" not in parse_qs(urlsplit(standing.page.url).fragment)


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), [("light", 1366), ("dark", 360)])
def test_picture_fits_and_passes_axe(html, visit, theme, width):
    with visit((html / PAGE).as_uri(), theme=theme, width=width, reduced_motion="reduce") as seen:
        figure = seen.page.locator(".lvm")
        figure.get_by_role("button", name="Take the tour").click()
        assert violations(seen.page, ".lvm") == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        sizes = figure.locator(".lvm-thumb, .lvm-end[aria-pressed]").evaluate_all(
            "all => all.map((one) => Math.min(one.offsetWidth, one.offsetHeight))"
        )
        assert min(sizes) >= 24
        across = figure.locator(".lvm-place, .lvm-board").evaluate_all(
            "all => all.map((one) => one.scrollWidth - one.clientWidth)"
        )
        assert max(across) == 0 if width == 1366 else across[0] > 0
