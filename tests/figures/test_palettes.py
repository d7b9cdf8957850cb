"""The two palettes can be read, also by colour-blind eyes."""

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from softlookup.figures.theme import PALETTES, Palette, contrast, ink_on, luminance, ramp, style

# Machado, Oliveira and Fernandes (2009), severity 1: what reaches a colour-blind eye, in linear RGB.
EYES = {
    "typical": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(color: str, eye: str) -> np.ndarray:
    """Give the CIELAB coordinates of a colour as one kind of eye sees it."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(EYES[eye] @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.fixture(params=PALETTES, ids=lambda palette: palette.name)
def palette(request: pytest.FixtureRequest) -> Palette:
    return request.param


def test_contrast_of_black_and_white_is_the_standards_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert luminance("#777777") == pytest.approx(0.1845, abs=1e-3)


def test_text_stands_out_from_the_page(palette):
    assert contrast(palette.ink, palette.paper) >= 7
    assert contrast(palette.muted, palette.paper) >= 4.5
    for color in (*palette.series, palette.alarm):  # they also write words
        assert contrast(color, palette.paper) >= 4.5


@pytest.mark.parametrize("eye", EYES)
def test_every_two_series_can_be_told_apart(palette, eye):
    for first, second in combinations(palette.series, 2):
        distance = np.linalg.norm(lab(first, eye) - lab(second, eye))
        assert distance >= 20, f"{first} and {second} are {distance:.1f} apart to {eye} eyes"


def test_numbers_can_be_read_on_every_shade_of_a_heat_map(palette):
    for shade in np.linspace(0, 1, 33):
        face = ramp(palette)(shade)[:3]
        assert contrast(ink_on(face), face) >= 5.5


def test_numbers_of_one_heat_map_share_one_ink(palette):
    assert len({ink_on(ramp(palette)(shade)[:3]) for shade in np.linspace(0, 1, 33)}) == 1


def test_heat_maps_grow_steadily_away_from_the_page(palette):
    steps = [luminance(ramp(palette)(shade)[:3]) for shade in np.linspace(0, 1, 17)]
    growing = np.diff(steps) * (1 if palette.name == "dark" else -1)
    assert (growing > 0).all()


def test_style_leaves_matplotlib_as_it_was(palette):
    before = dict(mpl.rcParams)
    with style(palette):
        assert mpl.rcParams["svg.hashsalt"] == "softlookup"
        assert mpl.rcParams["text.color"] == palette.ink
    assert dict(mpl.rcParams) == before
