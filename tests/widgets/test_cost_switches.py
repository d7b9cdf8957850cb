"""The figure that changes one model: its counts are those of configs, and each change lowers what it is for."""

import re

import pytest

from softlookup.roofline.config_json import QUOTED, cache_bytes, sizes, token_operations
from softlookup_course.widgets import CostSwitches, cost_switches

LLAMA = QUOTED["Llama 2 7B"]
LONG = cost_switches.LENGTHS[-1]


def priced(*changes, length=LONG):
    return cost_switches.describe(LLAMA, changes, length)


def cost(now):
    return now["stored"] + now["cache"], now["met"] + now["cache"], now["weights"] + now["mixing"]


@pytest.mark.parametrize("changes", [(), ("heads",), ("latent",), ("experts",), ("heads", "experts")])
def test_without_windows_and_bits_the_counts_are_those_of_the_config(changes):
    config, now = cost_switches.changed_config(LLAMA, changes), priced(*changes)
    assert now["cache"] == cache_bytes(config, LONG) and now["stored"] == 2 * sizes(config).total
    assert (now["weights"], now["mixing"]) == token_operations(config, LONG)
    assert now["met"] == 2 * sizes(config).in_products


def test_windows_of_every_sixth_layer_hold_what_gemmas_layers_hold():
    layers = cost_switches.cached_by_layer(32, 4096, ["windows"])
    assert [layer for layer, positions in enumerate(layers) if positions == 4096] == [5, 11, 17, 23, 29]
    assert set(layers) == {1024, 4096}
    assert cost_switches.cached_by_layer(32, 512, ["windows"]) == [512] * 32


def test_each_change_lowers_what_the_chapter_says_and_factors_multiply():
    memory, fetched, operations = cost(priced())
    windows = cost(priced("windows"))
    assert all(new < 0.45 * old for new, old in zip(windows[1:], (fetched, operations), strict=True))
    for changes in (("heads",), ("bits",)):
        new = cost(priced(*changes))
        assert new[0] < memory and new[1] < fetched
        assert new[2] == pytest.approx(operations, rel=0.03)
    latent, experts = cost(priced("latent")), cost(priced("experts"))
    assert latent[1] < fetched and latent[2] > 3 * operations
    assert experts[0] > 1.7 * memory and 1.05 < experts[1] / fetched < 1.15
    shares = [priced(change)["cache"] / priced()["cache"] for change in ("heads", "windows", "bits")]
    together = priced("heads", "windows", "bits")["cache"] / priced()["cache"]
    assert together == pytest.approx(shares[0] * shares[1] * shares[2])


def test_stand_in_shows_each_change_and_all_choices_can_be_described():
    html = CostSwitches("Llama 2 7B", "H100 SXM").fallback
    names = re.findall(r'<th scope="row">([^<]+)</th>', html)
    assert names == ["as published", *cost_switches.CHANGES.values(), "8 key-value heads, windows of 1,024, 4 bits"]
    assert len({frozenset(choice) for choice in cost_switches.every_choice()}) == 24
    figure = CostSwitches("Llama 2 7B", "H100 SXM")
    assert set(figure.records) == {"", "heads", "latent", "experts", "heads+experts", "latent+experts"}
