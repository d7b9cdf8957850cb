"""The language model, live: what the page computes is what the library's model gives with the same rounded weights."""

import numpy as np
import pytest
import torch
from book_browser import violations
from live_pages import PATIENCE_MS, worker
from playwright.sync_api import expect

from softlookup.live import rounded
from softlookup.model import Trace, generate, load_writer, next_token_probabilities, pick

pytestmark = [pytest.mark.browser, pytest.mark.book]

PAGE = "book/live_writer.html"
UNIFORMS = np.random.default_rng(5).random(200).tolist()
SETTINGS = (
    ("ROMEO:\nWhat light is", {"temperature": 0, "topK": None, "topP": None}),
    ("First Citizen:\n\nWe will  not", {"temperature": 0.8, "topK": None, "topP": 0.9}),
    ("O", {"temperature": 1.5, "topK": 7, "topP": None}),
    ("KING RICHARD:\nMy «naïve» lord, the queen is", {"temperature": 1.0, "topK": 20, "topP": 0.5}),
)


@pytest.fixture(scope="module")
def writer():
    return rounded(load_writer())


@pytest.fixture(scope="module")
def ask(chromium, html):
    with worker(chromium, html, "writer_weights", "softlookupWriter") as send:
        plain = {"tokens": 40, "uniforms": UNIFORMS}
        yield lambda text, **how: send({"write": {"text": text, "how": plain | how}})


@pytest.mark.slow
@pytest.mark.one_in(8)
@pytest.mark.parametrize(("text", "how"), SETTINGS)
@torch.no_grad()
def test_text_logits_and_attention_are_the_librarys(ask, writer, text, how):
    got = ask(text, **how)
    prompt, steps = writer.encode(text), got["steps"]
    assert got["read"]["ids"] == prompt and len(steps) == 40
    ids = [*prompt, *(step["id"] for step in steps)]
    assert got["done"]["text"] == writer.decode(ids).replace("<unk>", "(unknown)")
    trace, close = Trace(), {"rtol": 0, "atol": 1e-4}
    logits = writer.model(torch.tensor([ids[:-1]]), trace=trace)[0]
    np.testing.assert_allclose([step["logits"] for step in steps], logits[len(prompt) - 1 :], **close)
    for layer, weights in enumerate(trace.weights):
        rows = [
            *got["read"]["layers"][layer]["weights"],
            *(step["layers"][layer]["weights"][0] for step in steps[1:]),
        ]
        for t, row in enumerate(rows):
            np.testing.assert_allclose(np.reshape(row, (6, -1)), weights[0, :, t, : t + 1], **close)


@pytest.mark.slow
@pytest.mark.one_in(8)
@pytest.mark.parametrize(("text", "how"), SETTINGS)
@torch.no_grad()
def test_draws_are_the_librarys_with_the_same_luck(ask, writer, text, how):
    got = ask(text, **how)
    for step, uniform in zip(got["steps"], UNIFORMS, strict=False):
        p = next_token_probabilities(
            torch.tensor([step["logits"]]), temperature=how["temperature"], top_k=how["topK"], top_p=how["topP"]
        )
        assert step["id"] == int(pick(p, torch.tensor([uniform], dtype=torch.float64)))
        np.testing.assert_allclose(
            [candidate["drawn"] for candidate in step["candidates"]],
            p[0, [candidate["id"] for candidate in step["candidates"]]],
            atol=1e-5,
        )


@pytest.mark.slow
def test_writing_ends_where_the_context_is_full(ask, writer):
    most = writer.model.config.max_length
    got = ask("and " * (most - 3), temperature=0, topK=None, topP=None)
    assert len(got["read"]["ids"]) == most - 3 and len(got["steps"]) == 4 and got["done"]["full"]


def settled(figure, tokens):
    expect(figure.get_by_role("button", name="Write on")).to_have_attribute(
        "aria-disabled", "false", timeout=PATIENCE_MS
    )
    expect(figure.locator(".lvm-state")).to_contain_text(f"{tokens} tokens in", timeout=PATIENCE_MS)
    return figure


def slider(figure, label):
    return figure.get_by_role("slider", name=label)


def set_to(figure, **settings):
    """Move sliders; what waits for the end of a move (change) does not hear of it."""
    for label, value in settings.items():
        slider(figure, label.replace("_", "-")).evaluate("(input, value) => { input.value = value; }", value)
        slider(figure, label.replace("_", "-")).dispatch_event("input")


def wrote(seen, text="ROMEO:\nWhat light is", **settings):
    set_to(seen.figure, temperature=0, tokens=20)
    set_to(seen.figure, **settings)
    seen.figure.get_by_label("How does the text begin?").fill(text)
    seen.figure.get_by_role("button", name="Write on").click()
    return settled(seen.figure, settings.get("tokens", 20))


@pytest.mark.parametrize("live", [pytest.param("disk", marks=pytest.mark.slow), "server"], indirect=True)
def test_page_loads_its_own_weights_when_asked_and_writes_on(live, writer):
    def loaded():
        return [address.rsplit("/", 1)[1] for address in live.requests if "weights.js" in address]

    assert loaded() == []
    figure = wrote(live)
    assert loaded() == ["writer_weights.js"]
    expected = writer.write("ROMEO:\nWhat light is", max_new_tokens=20)
    assert figure.locator(".lvm-written").text_content() == expected
    tokens = [writer.tokenizer.vocabulary.token(i) for i in writer.encode("ROMEO:\nWhat light is")]
    assert figure.locator(".lvm-text .lvm-given").all_inner_texts() == tokens
    assert figure.locator(".lvm-text [data-step]").count() == 20


@pytest.mark.slow
def test_a_setting_that_changes_keeps_the_luck_and_a_press_draws_anew(live):
    figure = wrote(live, temperature=1.5, top_p=0.9)
    first = figure.locator(".lvm-written").text_content()
    for top_p, same in ((0.3, False), (0.9, True)):
        set_to(figure, top_p=top_p)
        slider(figure, "top-p").dispatch_event("change")
        settled(figure, 20)
        assert (figure.locator(".lvm-written").text_content() == first) is same
    figure.get_by_role("button", name="Write on").click()
    settled(figure, 20)
    assert figure.locator(".lvm-written").text_content() != first


@pytest.mark.slow
def test_candidates_show_what_is_cut(live):
    figure = wrote(live, temperature=1, top_k=3, top_p=1)
    rows = figure.locator(".lvm-candidates tbody tr")
    back = figure.get_by_role("button", name="back")
    for at in range(19, -1, -1):
        assert figure.locator("[data-at]").get_attribute("data-at") == str(at)
        assert [row.split()[-1] for row in rows.all_inner_texts()].count("cut") == rows.count() - 3
        assert "3 tokens are kept of 2,000" in figure.locator(".lvm-part").first.inner_text()
        back.click()


def test_cell_is_computed_again_from_query_and_shared_key(standing, writer):
    figure = wrote(standing)
    figure.locator("td[data-row='9'][data-column='5']").click()
    figure.get_by_role("button", name="layer 2, head 5").click()
    prompt, trace = torch.tensor([writer.encode("ROMEO:\nWhat light is")]), Trace()
    ids = generate(writer.model, prompt, max_new_tokens=20).ids[0, :-1]
    with torch.no_grad():
        writer.model(ids[None], trace=trace)
    first = len(ids) - figure.locator(".lvm-map tbody tr").count()
    steps = figure.locator(".lvm-steps")
    weight = float(trace.weights[1][0, 4, first + 9, first + 5])
    assert float(steps.get_attribute("data-weight")) == pytest.approx(weight, abs=1e-4)
    assert "/ √32 = " in steps.inner_text()
    assert "Query head 5 shares key-value head 2" in figure.locator(".lvm-why").inner_text()


@pytest.mark.slow
def test_rows_of_the_map_and_what_stands_before_it_sum_to_one(live):
    figure = wrote(live, tokens=30)
    for row in figure.locator(".lvm-map tbody tr").all():
        assert sum(float(cell) for cell in row.locator("td:not(.lvm-masked)").all_inner_texts()) == pytest.approx(
            1, abs=0.09
        )


def test_stop_ends_the_text(standing):
    wrote(standing)
    set_to(standing.figure, tokens=200)
    # Pressed from within the page: a press from outside may come when everything is written.
    standing.page.evaluate("""() => new Promise((done) => {
      const button = (name) => [...document.querySelectorAll(".lvm button")].find((one) => one.textContent === name);
      const tokens = document.querySelector(".lvm-text");
      const watch = new MutationObserver(() => {
        const written = tokens.querySelectorAll("[data-step]").length;
        if (written < 3 || written > 19) return;
        watch.disconnect();
        button("Stop").click();
        done();
      });
      button("Write on").click();
      watch.observe(tokens, { childList: true });
    })""")
    expect(standing.figure.get_by_role("button", name="Write on")).to_have_attribute(
        "aria-disabled", "false", timeout=PATIENCE_MS
    )
    assert 3 <= standing.figure.locator(".lvm-text [data-step]").count() < 200


@pytest.mark.slow
def test_figure_is_worked_from_the_keyboard(live):
    figure = wrote(live)
    box = figure.get_by_label("How does the text begin?")
    box.fill("JULIET:")
    box.press("Enter")
    box.press("ControlOrMeta+Enter")
    expect(figure.locator(".lvm-own")).to_have_text("JULIET:\n", timeout=PATIENCE_MS, use_inner_text=False)
    settled(figure, 20)
    cell = figure.locator("td[data-row='1'][data-column='0']")
    cell.focus()
    cell.press("ArrowRight")
    assert figure.locator(".lvm-asked").get_attribute("data-column") == "1"
    figure.get_by_role("button", name="back").press("Enter")
    assert figure.locator("[data-at]").get_attribute("data-at") == "18"


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figure_passes_axe_at_phone_width(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme, width=390, reduced_motion="reduce") as seen:
        seen.figure = seen.page.locator(".lvm")
        figure = wrote(seen, tokens=40)
        figure.locator("td[data-grid]").first.click()
        figure.get_by_role("button", name="layer 1, head 1").click()
        assert violations(seen.page, ".lvm") == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_empty_box_and_unknown_characters_get_a_sentence(standing):
    standing.figure.get_by_label("How does the text begin?").fill("  ")
    standing.figure.get_by_role("button", name="Write on").click()
    expect(standing.figure.locator(".lvm-state")).to_contain_text("There is no word in the box", timeout=PATIENCE_MS)
    figure = wrote(standing, "Zoë")
    assert "has never seen ë." in figure.locator(".lvm-state").inner_text()
    assert "(unknown)" in figure.locator(".lvm-text").inner_text() and "<unk>" not in figure.inner_text()
