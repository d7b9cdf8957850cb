"""The two palettes can be read, also by colour-blind eyes."""

import re
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from softlookup_course.figures import latent_scores, show
from softlookup_course.figures.theme import PALETTES, Palette, contrast, ink_on, luminance, ramp, style

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


ROOT = Path(__file__).resolve().parents[2]
WIDGETS = ROOT / "lib" / "course" / "softlookup_course" / "widgets"
LIVE = ROOT / "book" / "_live"
STYLES = [*sorted(WIDGETS.glob("*.css")), LIVE / "live.css", LIVE / "first_sentence.css"]
MIXED = re.compile(
    r"color-mix\(in srgb, rgb\(var\(--slf-(\w+)\)\) calc\(var\(--[\w-]+(?:, 0)?\) \* (\d+)%\), (?:var\(--slf-)?(\w+)"
)
STRENGTH = re.compile(r"--(?:slw|ens)-strength: ([\d.]+);")


def css_scales() -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """Give the scales of the pages: empty and full end in the light and in the dark theme."""
    shared = (WIDGETS / "shared.css").read_text(encoding="utf-8")
    named = dict.fromkeys(re.findall(r"--slf-(\w+):", shared))
    themes = [{name: re.findall(rf"--slf-{name}: ([^;]+);", shared)[theme] for name in named} for theme in range(2)]

    def rgb(text: str) -> np.ndarray:
        return np.array(to_rgb(text) if text.startswith("#") else [int(part) / 255 for part in text.split()])

    scales = {}
    for path in STYLES:
        text = path.read_text(encoding="utf-8")
        kinds = {(hue, float(share) / 100, float(share) / 100, ground) for hue, share, ground in MIXED.findall(text)}
        if strength := STRENGTH.findall(text):
            kinds |= {(hue, *map(float, strength), "paper") for hue in ("query", "key", "value", "mixed")}
        for hue, *shares, ground in kinds:
            ends = []
            for theme, share in zip(themes, shares, strict=True):
                empty = rgb(theme["paper" if ground == "transparent" else ground])
                ends.append((empty, empty + share * (rgb(theme[hue]) - empty)))
            scales[f"{path.stem}: {hue} on {ground}"] = ends
    return scales


def least_step(colors: np.ndarray) -> float:
    """Give the smallest difference in CIE L* between neighbours."""
    return float(np.abs(np.diff([lab(tuple(color), "typical")[0] for color in colors])).min())


def test_small_weights_can_be_told_apart_in_the_dark_as_well_as_in_the_light():
    tenths = np.linspace(0, 1, 11)[:, None]
    steps = {"figures": [least_step(ramp(palette)(tenths[:, 0])[:, :3]) for palette in PALETTES]}
    for name, ends in css_scales().items():
        steps[name] = [least_step(empty + tenths * (full - empty)) for empty, full in ends]
    assert len(steps) > 10
    assert {name: both for name, both in steps.items() if both[1] < both[0] or both[0] < 1.4} == {}


def test_lines_between_cells_are_no_stronger_in_the_dark():
    light, dark = (contrast(palette.mesh, palette.paper) for palette in PALETTES)
    assert 1.3 < dark < light + 0.1


def test_style_leaves_matplotlib_as_it_was(palette):
    before = dict(mpl.rcParams)
    with style(palette):
        assert mpl.rcParams["svg.hashsalt"] == "softlookup"
        assert mpl.rcParams["text.color"] == palette.ink
    assert dict(mpl.rcParams) == before


def test_png_is_drawn_where_a_page_is_not_all_html(monkeypatch):
    shown = show(latent_scores)
    assert shown._repr_png_().startswith(b"\x89PNG")
    monkeypatch.setenv("SOFTLOOKUP_HTML_ONLY", "1")
    assert shown._repr_png_() is None
