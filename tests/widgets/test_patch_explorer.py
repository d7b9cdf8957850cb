"""The patch explorer's numbers in Python: patches as the model cuts them, maps as they were given."""

import re

import numpy as np
import torch

from softlookup.model import patchify
from softlookup_course.widgets import PatchExplorer, Picture
from softlookup_course.widgets.patch_explorer import describe, static_table

RNG = np.random.default_rng(13)
PIXELS = RNG.integers(0, 17, (4, 6)) / 16
MAPS = RNG.dirichlet(np.ones(7), (2, 3))
PICTURE = Picture(
    "a <3>", PIXELS.tolist(), 2, [0.1, 0.7, 0.2], MAPS.tolist(), MAPS[0, 0].tolist(), [0.1, -0.2, 0, 0, 0.4, 0]
)


def test_patches_are_cut_as_the_model_cuts_them():
    cut = patchify(torch.tensor(PIXELS)[None, None], 2)[0]
    assert describe(PICTURE)["patches"] == (16 * cut).int().tolist()


def test_views_are_the_maps_that_were_given():
    views = describe(PICTURE)["views"]
    assert [view["kind"] for view in views] == ["lost", "rollout", *["mean", "head", "head", "head"] * 2]
    assert views[0]["values"] == [0.1, -0.2, 0, 0, 0.4, 0] and views[0]["own"] is None
    np.testing.assert_allclose([views[2]["own"], *views[2]["values"]], MAPS[0].mean(0))
    np.testing.assert_allclose([views[9]["own"], *views[9]["values"]], MAPS[1, 2])
    assert all(abs(view["own"] + sum(view["values"]) - 1) < 1e-9 for view in views[1:])


def test_best_class_is_the_likeliest_one():
    description = describe(PICTURE)
    assert (description["best"], description["sure"], description["down"], description["across"]) == (1, 0.7, 2, 3)


def test_stand_in_of_the_patch_explorer_holds_the_costs_and_no_markup_of_a_title():
    html = static_table(PICTURE)
    assert "<3>" not in html and "read as 1 with probability 0.70" in html
    assert [float(number) for number in re.findall(r"<td>(-?[\d.]+)</td>", html)] == [0.1, -0.2, 0, 0, 0.4, 0]


def test_script_of_the_patch_explorer_explains_every_kind_of_view():
    kinds = {view["kind"] for view in describe(PICTURE)["views"]}
    about = re.search(r"const ABOUT = \{(.*?)\n\};", str(PatchExplorer._esm), re.S)[1]
    assert set(re.findall(r"^  (\w+):", about, re.M)) == kinds
