"""A token on its way through the live models: each station has the library's numbers and says what made them."""

import math
import re

import numpy as np
import pytest
import torch
from book_browser import violations
from live_pages import PATIENCE_MS, worker
from playwright.sync_api import expect

from softlookup.live import rounded
from softlookup.model import Trace, load_translator, load_writer

pytestmark = [pytest.mark.browser, pytest.mark.book]

DOG = "A brown dog carries a yellow ball out of the water."
PARAGRAPH = "ROMEO:\nWhat light is this?"
CLOSE = {"rtol": 1e-4, "atol": 2e-4}


def remade(station, by_name, trail, tensors):
    """Compute a station anew from those that it says it was made from."""
    of = [np.array(by_name[name]["values"]) for name in station["of"]]
    width, heads, kind = trail["d_model"], trail["n_heads"], station["kind"]
    head_width = width // heads
    if kind == "sum":
        return of[0] + of[1]
    if kind == "gated":
        return of[0] / (1 + np.exp(-of[0])) * of[1]
    if kind == "norm":
        centred = of[0] if trail.get("rms") else of[0] - of[0].mean()
        normed = centred / np.sqrt((centred**2).mean() + trail["norm_eps"]) * tensors[f"{station['tensor']}.gain"]
        return normed if trail.get("rms") else normed + tensors[f"{station['tensor']}.shift"]
    if kind == "product":
        bias = tensors[station["bias"]] if "bias" in station else 0
        product = of[0] @ tensors[station["matrix"]] + bias
        return product.clip(0) if station.get("relu") else product
    if kind == "turned":
        pairs = of[0].reshape(-1, 2)
        angles = station["position"] / trail["rotary_base"] ** (np.arange(0, head_width, 2) / head_width)
        angles = np.tile(angles, len(pairs) // len(angles))
        turned = (pairs[:, 0] + 1j * pairs[:, 1]) * np.exp(1j * angles)
        return np.stack([turned.real, turned.imag], -1).ravel()
    if kind == "weights":
        q, keys = of[0].reshape(heads, head_width), np.array(station["keys"])
        keys = keys.reshape(len(keys), -1, head_width).repeat(width // keys.shape[1], 1)
        return torch.tensor(np.einsum("nh,snh->ns", q, keys) / math.sqrt(head_width)).softmax(-1).numpy().ravel()
    if kind == "mixed":
        vectors = np.array(station["vectors"])
        vectors = vectors.reshape(len(vectors), -1, head_width).repeat(width // vectors.shape[1], 1)
        return np.einsum("ns,snh->nh", of[0].reshape(heads, -1), vectors).ravel()
    if kind == "row":
        return tensors["embedder.tokens.table"][station["id"]] * station["times"]
    assert kind == "wave"
    i = np.arange(width)
    angles = station["position"] / 10_000 ** ((i - i % 2) / width)
    return np.where(i % 2, np.cos(angles), np.sin(angles))


def check(trail, model):
    # Matrices of the page have outputs as rows; those of the library are applied from the left.
    tensors = {name: parameter.detach().numpy() for name, parameter in model.named_parameters()}
    by_name = {station["name"]: station for station in trail["stations"]}
    for station in trail["stations"]:
        expected = remade(station, by_name, trail, tensors)
        np.testing.assert_allclose(station["values"], expected, **CLOSE, err_msg=station["name"])
        assert all(name in by_name for name in station["of"])
        if "all" in station:
            names, rows = station["all"]["names"], station["all"]["rows"]
            assert len(names) == len(rows) and any(np.allclose(row, station["values"], **CLOSE) for row in rows)
            assert names[[np.allclose(row, station["values"], **CLOSE) for row in rows].index(True)] == trail["token"]
    return by_name


@pytest.mark.slow
@torch.no_grad()
def test_stations_of_the_translator_are_the_librarys(chromium, html):
    translator = rounded(load_translator())
    model, tokenizer = translator.model, translator.tokenizer
    ids = tokenizer.encode(DOG, end=True)
    written = tokenizer.encode(translator.translate(DOG, beams=1).text, end=True)
    fed, encoder, decoder = [2, *written[:-1]], Trace(), Trace()
    memory, _ = model.encode(torch.tensor([ids]), trace=encoder)
    logits = model(torch.tensor([ids]), torch.tensor([fed]), trace=decoder)[0]
    with worker(chromium, html, "weights", "softlookupTranslator") as ask:

        def trail(side, at):
            return ask({"trail": {"ids": ids, "written": written, "side": side, "at": at}})["done"]

        for at in (0, 4):
            reads = check(trail("encoder", at), model)
            np.testing.assert_allclose(reads["encoder.norm"]["values"], memory[0, at], **CLOSE)
            for layer in range(5):
                name = f"encoder.layers.{layer}.feed_forward_residual"
                np.testing.assert_allclose(reads[name]["values"], encoder.states[layer + 1][0, at], **CLOSE)
        for at in (0, 5):
            writes = check(trail("decoder", at), model)
            table = model.embedder.tokens.table.detach().numpy()
            np.testing.assert_allclose(table @ np.array(writes["decoder.norm"]["values"]), logits[at], **CLOSE)
            for layer in range(5):
                name = f"decoder.layers.{layer}.feed_forward_residual"
                np.testing.assert_allclose(writes[name]["values"], decoder.states[layer + 1][0, at], **CLOSE)


@pytest.mark.slow
@torch.no_grad()
def test_stations_of_the_writer_are_the_librarys(chromium, html):
    writer = rounded(load_writer())
    ids, trace = writer.encode(PARAGRAPH), Trace()
    logits = writer.model(torch.tensor([ids]), trace=trace)[0]
    with worker(chromium, html, "writer_weights", "softlookupWriter") as ask:
        stations = check(ask({"trail": {"ids": ids}})["done"], writer.model)
    table = writer.model.embedder.tokens.table.detach().numpy()
    np.testing.assert_allclose(table @ np.array(stations["decoder.norm"]["values"]), logits[-1], **CLOSE)
    for layer in range(5):
        name = f"decoder.layers.{layer}.feed_forward_residual"
        np.testing.assert_allclose(stations[name]["values"], trace.states[layer + 1][0, -1], **CLOSE)


def loaded(seen):
    seen.page.get_by_role("button", name=re.compile("^Show every vector")).click()
    expect(seen.page.locator(".lvm-trail-row")).not_to_have_count(6, timeout=PATIENCE_MS)


def row(seen, station):
    return seen.page.locator(f".lvm-trail-row[data-station='{station}']")


@pytest.fixture(scope="module")
def followed(html, visit):
    """The translator's page, with the word *brown* followed."""
    with visit((html / "book/live.html").as_uri(), width=1366, reduced_motion="reduce") as seen:
        expect(seen.page.locator(".lvm-trail-row")).to_have_count(6)  # the residual stream is known without the model
        seen.page.locator(".lvm-english").get_by_role("button", name="brown", exact=True).click()
        loaded(seen)
        yield seen
        assert seen.complaints == []


@pytest.mark.slow
def test_number_frames_what_it_was_made_from_and_a_press_calculates(followed):
    attention = "encoder.layers.0.attention"
    strip = row(followed, f"{attention}.q").get_by_role("button", name=re.compile("^query(:|, number)"))
    strip.focus()
    followed.page.keyboard.press("ArrowRight")
    assert "number 2 of 192 (head 1)" in followed.page.locator(".lvm-pointed").inner_text()
    assert row(followed, "encoder.layers.0.attention_residual.norm").get_attribute("class").endswith("lvm-source")
    followed.page.keyboard.press("Enter")
    why = followed.page.locator(".lvm-made")
    expect(why).to_contain_text("The largest products")
    number = re.search(r"number 2 of 192 \(head 1\): (\S+)", why.inner_text())[1]
    assert why.locator("dd").last.inner_text() == number
    assert followed.page.locator(".slm-part[aria-current]").get_attribute("data-slug") == "self-attention"
    row(followed, f"{attention}.k").get_by_role("button", name="key of every token").click()
    expect(why).to_contain_text("13 × 192")
    assert why.locator(".lvm-strip").count() == 13


@pytest.mark.slow
def test_path_leads_through_every_part_of_every_layer(followed):
    page = followed.page
    page.locator(".slm-part[data-slug='source']").click()
    seen = [page.locator(".slm-part[aria-current]").get_attribute("data-slug")]
    for _ in range(10 + 12 + 4 * 5 + 4 * 7 - 1):
        page.locator(".lvm-follow").get_by_role("button", name="part ▸").click()
        seen.append(page.locator(".slm-part[aria-current]").get_attribute("data-slug"))
    assert len(set(seen)) == 22 and seen[-1] == "distribution"
    assert (seen.count("self-attention"), seen.count("cross-attention")) == (5, 5)


@pytest.mark.slow
def test_bars_bend_at_once(followed):
    candidates = followed.page.locator(".lvm-next")
    rows = candidates.locator("tbody tr")
    before = [float(share.split()[0]) for share in rows.locator(".lvm-number").all_inner_texts()]
    for name, value in (("temperature", 2), ("top-k", 3)):
        slider = candidates.get_by_role("slider", name=name)
        slider.evaluate("(input, value) => { input.value = value; }", value)
        slider.dispatch_event("input")
    drawn = [text.split()[-1] for text in rows.all_inner_texts()]
    assert drawn.count("cut") == rows.count() - 3
    shares = np.sqrt(before[:3])  # at temperature 2
    top = [float(row.locator(".lvm-number").last.inner_text().split()[0]) for row in rows.all()[:3]]
    np.testing.assert_allclose(top, 100 * shares / shares.sum(), atol=2)
    assert "3 tokens are kept of 4,000 (top-k 3)" in candidates.inner_text()


@pytest.mark.slow
@pytest.mark.parametrize("page", ["live", "live_writer"])
@pytest.mark.parametrize(("theme", "width"), [("light", 1366), ("dark", 390)])
def test_followed_token_fits_and_passes_axe(html, visit, page, theme, width):
    with visit((html / f"book/{page}.html").as_uri(), theme=theme, width=width, reduced_motion="reduce") as seen:
        loaded(seen)
        seen.page.locator(".lvm-trail-row button.lvm-strip").nth(3).click()
        expect(seen.page.locator(".lvm-made")).not_to_be_empty()
        assert violations(seen.page, ".lvm") == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert seen.complaints == []
