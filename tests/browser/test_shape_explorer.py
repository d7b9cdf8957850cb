"""The shape explorer in its chapter: sizes that are typed, refused or moved, and what is said of them."""

from types import SimpleNamespace

import pytest
from chromium_hands import Hands
from figure_ways import ORACLES
from working import read

from softlookup_course.widgets import Sizes
from softlookup_course.widgets.head_shapes import describe

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/05_many_heads.html"


@pytest.fixture
def explorer(stands):
    return stands.page.locator(".hsh").first


def set_size(explorer, letter, value):
    box = explorer.locator(f"input[data-letter={letter}]")
    box.fill(str(value))
    box.press("Enter")
    box.blur()


def shown(explorer):
    """The sizes and counts that are shown, which the library counts at these sizes."""
    state = read(Hands(explorer.page), "hsh")
    ORACLES["hsh"].agrees(state)
    return SimpleNamespace(**state["sizes"], counts=state["counts"])


@pytest.mark.parametrize(
    "sizes",
    [
        {"B": 3, "T": 17, "D": 10, "N": 6, "K": 2, "H": 7},
        {"B": 64, "T": 8192, "D": 16384, "N": 128, "K": 128, "H": 512},
        {"B": 1, "T": 1, "D": 1, "N": 1, "K": 1, "H": 1},
    ],
    ids=["unequal", "largest", "smallest"],
)
def test_typed_sizes_show_the_librarys_counts(explorer, sizes):
    explorer.get_by_label("keep N·H = D").uncheck()
    for letter, value in sizes.items():
        set_size(explorer, letter, value)
    counted = shown(explorer)
    assert {letter: getattr(counted, letter) for letter in sizes} == sizes
    explorer.get_by_label("A number has").select_option("2")
    shown(explorer)


def test_doubling_the_heads_at_one_width_changes_the_scores_alone_and_says_so(explorer):
    before = shown(explorer)
    assert before.N * before.H == before.D
    explorer.get_by_label("query heads: more").click()
    after = shown(explorer)
    assert (after.N, after.H) == (2 * before.N, before.H / 2)
    words = explorer.locator(".hsh-words").inner_text()
    assert "parameters unchanged" in words and "operations unchanged" in words and "scores ×2" in words


@pytest.mark.slow
def test_a_number_of_heads_that_does_not_fit_is_moved_and_the_reason_told(explorer):
    set_size(explorer, "N", 7)
    sizes = shown(explorer)
    assert sizes.D % sizes.N == 0 and sizes.N == 8
    set_size(explorer, "K", 3)
    assert shown(explorer).K in (2, 4)
    assert "K must divide N" in explorer.locator(".hsh-words").inner_text()


@pytest.mark.parametrize(
    ("letter", "value", "locked", "reason", "nearest"),
    [
        ("D", 100, True, "D must be a multiple of N = 8", 96),
        ("N", 7.5, True, "sizes are whole numbers", 8),
        ("N", 7, True, "N must divide D = 512", 8),
        ("D", 8000, True, "H would be wider than 512", 4096),
        ("T", 9000, True, "T goes from 1 to 8,192", 8192),
        ("H", 3.2, False, "sizes are whole numbers", 3),
    ],
)
def test_a_size_that_is_not_possible_is_refused_for_its_real_reason(explorer, letter, value, locked, reason, nearest):
    explorer.get_by_label("keep N·H = D").set_checked(locked)
    set_size(explorer, letter, value)
    words = explorer.locator(".hsh-words").inner_text()
    assert reason in words and f"nearest is {nearest:,}." in words
    assert getattr(shown(explorer), letter) == nearest


@pytest.mark.slow
def test_changed_sizes_are_called_the_readers_own_until_a_preset_is_chosen(explorer):
    chooser = explorer.locator("select").first
    title = "one => one.selectedOptions[0].textContent"
    first = chooser.evaluate(title)
    set_size(explorer, "T", 37)
    assert chooser.evaluate(title) == "your own sizes"
    chooser.select_option(index=0)
    assert chooser.evaluate(title) == first and shown(explorer).T == 100


@pytest.mark.slow
def test_one_step_more_width_is_never_refused(explorer):
    explorer.locator("select").first.select_option("two heads of width 2")  # D = 4 = N·H, N = 2: 5 does not fit
    explorer.get_by_label("model width: more").click()
    assert shown(explorer).D == 6
    assert "not possible" not in explorer.locator(".hsh-words").inner_text()


@pytest.mark.slow
def test_fewer_key_value_heads_shrink_the_cache_and_say_so(explorer):
    before = shown(explorer).counts
    explorer.get_by_label("key-value heads: fewer").click()
    after = shown(explorer)
    assert after.K == after.N / 2 and after.counts["cache_bytes"] * 2 == before["cache_bytes"]
    assert after.counts["score_bytes"] == before["score_bytes"]
    assert "cache ×0.5" in explorer.locator(".hsh-words").inner_text()


def test_every_block_says_what_it_is_and_what_it_costs(explorer):
    sizes = {letter: number for letter, number in vars(shown(explorer)).items() if letter != "counts"}
    description = describe(Sizes("", **sizes))
    for card in explorer.locator(".hsh-card").all():
        card.click()
        name, words = card.get_attribute("data-part"), explorer.locator(".hsh-words").inner_text()
        assert words.startswith(f"{name}: ") and " × ".join(f"{n:,}" for n in description["shapes"][name]) in words
        if name in description["flops"]:
            assert f"= {description['flops'][name]:,} operations" in words
        assert card.get_attribute("aria-pressed") == "true"
