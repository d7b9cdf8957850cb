"""The three figures of chapter 10: whatever is moved, their numbers are the library's."""

import json

import numpy as np
import pytest
from book_browser import axe_findings

from softlookup_course.widgets import beam_tree, cache_growth, sampling_explorer

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/10_inference.html"
ALL = (".smp", ".bmt", ".kvc")


@pytest.fixture
def page(stands):
    yield stands.page
    assert stands.complaints == []


def state_with(page, trait):
    """What a figure was built with, as the page keeps it."""
    states = page.locator("script[type='application/vnd.jupyter.widget-state+json']").first.text_content()
    for state in json.loads(states)["state"].values():
        if trait in state["state"]:
            return state["state"]
    raise AssertionError(f"the page keeps nothing with {trait}")


def set_slider(figure, name, value):
    figure.locator(f"input[data-slider={name}]").evaluate(
        "(box, value) => { box.value = value; box.dispatchEvent(new Event('input', {bubbles: true})); }", value
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("tau", "k", "p", "u"),
    [(1, 51, 1, 0.5), (0.5, 51, 1, 0.97), (2, 5, 1, 0.3), (1.3, 51, 0.8, 0.71), (0, 51, 1, 0.9), (0.7, 20, 0.6, 0.2)],
)
def test_sampling_shows_the_librarys_probabilities_and_draw(page, tau, k, p, u):
    state, figure = state_with(page, "choices"), page.locator(".smp").first
    for place, choice in enumerate(state["choices"]):
        figure.locator("select").select_option(index=place)
        for name, value in (("tau", tau), ("k", k), ("p", p), ("u", u)):
            set_slider(figure, name, value)
        expected = sampling_explorer.describe(choice["logits"], tau, None if k > 50 else k, None if p == 1 else p, u)
        shown = figure.evaluate("one => [one.probabilities, +one.dataset.kept, +one.dataset.drawn]")
        np.testing.assert_allclose(shown[0], expected["probabilities"], atol=1e-12)
        assert shown[1:] == [expected["kept"], expected["drawn"]]
        assert state["tokens"][expected["drawn"]] in figure.locator(".smp-words").inner_text()
        rows = figure.locator("tbody tr").evaluate_all(
            "all => all.map((one) => [+one.dataset.before, +one.dataset.after])"
        )
        np.testing.assert_allclose(np.sum(rows, axis=0), 1, atol=1e-9)
        best = np.argsort(-np.array(choice["logits"]), kind="stable")[:10]
        np.testing.assert_allclose([row[0] for row in rows[:10]], np.array(expected["plain"])[best], atol=1e-12)


def test_a_hundred_draws_are_counted_and_forgotten_when_the_temperature_moves(page):
    figure = page.locator(".smp").first
    figure.get_by_role("button", name="draw 100").click()
    count = "all => all.reduce((sum, one) => sum + Number(one.lastChild.textContent || 0), 0)"
    assert figure.locator("tbody tr").evaluate_all(count) == 100
    set_slider(figure, "tau", 0.5)
    assert figure.locator("tbody tr").evaluate_all(count) == 0


@pytest.mark.slow
def test_beam_tree_walks_through_every_step_and_ranks_as_the_library_does(page):
    state, figure = state_with(page, "searches"), page.locator(".bmt").first
    back, onward = figure.get_by_role("button", name="back"), figure.get_by_role("button", name="next step")
    for search in state["searches"]:
        figure.locator(f"button[data-beams='{search['beams']}']").click()
        for alpha, stop in zip(state["alphas"], search["stops"], strict=True):
            figure.get_by_label("length penalty").select_option(str(alpha).removesuffix(".0"))
            while back.is_enabled():
                back.click()
            for step in search["steps"][:stop]:
                rows = figure.locator(".bmt-table tbody tr").evaluate_all(
                    "all => all.map((one) => [+one.dataset.total, one.dataset.how, one.dataset.ids])"
                )
                expected = [
                    [
                        beam["total"],
                        "ended" if beam["ended"] else "kept" if beam["kept"] else "dropped",
                        ",".join(map(str, beam["ids"])),
                    ]
                    for beam in step
                ]
                assert rows == expected
                if step is not search["steps"][stop - 1]:
                    onward.click()
            assert onward.is_disabled()
            still = any(beam["kept"] and not beam["ended"] for beam in search["steps"][stop - 1])
            assert ("None can win any more" in figure.locator(".bmt-words").inner_text()) is still
            shown = figure.locator(".bmt-ends li").evaluate_all(
                "all => all.map((one) => [+one.dataset.score, one.dataset.ids])"
            )
            expected = beam_tree.finished(search["steps"][:stop], alpha)
            assert [ids for _, ids in shown] == [",".join(map(str, ids)) for _, ids in expected]
            np.testing.assert_allclose([score for score, _ in shown], [score for score, _ in expected])


def test_cache_growth_counts_as_the_library_does(page):
    state, figure = state_with(page, "prompt"), page.locator(".kvc").first
    n, prompt = len(state["tokens"]), state["prompt"]
    names = {"layers": "n_layers", "heads": "n_kv_heads", "width": "head_width", "each": "each"}
    for sizes in (
        {"layers": 4, "heads": 8, "width": 64, "each": 2},
        {"layers": 80, "heads": 1, "width": 128, "each": 4},
    ):
        for name, value in sizes.items():
            figure.locator(f"select[data-size={name}]").select_option(str(value))
        for cached in (True, False):
            figure.locator(f"button[data-cached={str(cached).lower()}]").click()
            while figure.get_by_role("button", name="back").is_enabled():
                figure.get_by_role("button", name="back").click()
            for step in range(1, n - prompt + 1):
                expected = cache_growth.describe(
                    n, prompt, step, cached=cached, **{names[name]: value for name, value in sizes.items()}
                )
                shown = figure.evaluate("one => ({...one.dataset})")
                assert {name: int(shown[name]) for name in expected} == expected and int(shown["step"]) == step
                assert figure.locator(".kvc-key.kvc-there").count() == expected["kept"]
                assert figure.locator(".kvc-is-in").count() == expected["through"]
                if step < n - prompt:
                    figure.get_by_role("button", name="next pass").click()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_inference_figures_pass_axe(html, visit, theme):
    with visit((html / PAGE).as_uri(), theme=theme) as seen:
        assert axe_findings(seen.page, *ALL) == []


@pytest.mark.slow
def test_inference_figures_stay_within_a_narrow_phone(html, visit):
    with visit((html / PAGE).as_uri(), width=360, has_touch=True, is_mobile=True) as seen:
        for figure in ALL:
            assert seen.page.locator(figure).first.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
