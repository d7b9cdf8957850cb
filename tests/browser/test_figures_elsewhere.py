"""Every interactive figure in Firefox and WebKit, by mouse and keys: the numbers are the library's there too."""

import pytest
from figure_ways import ORACLES, WAYS
from working import drag_all, press_all, strike_all

pytestmark = [pytest.mark.browser, pytest.mark.book, pytest.mark.slow]


@pytest.fixture(params=sorted(WAYS))
def figure(request: pytest.FixtureRequest) -> str:
    return request.param


def test_figure_obeys_the_mouse_in_the_other_engines(engine, figure):
    engine.resize(1280)
    engine.visit(engine.files + ORACLES[figure].page)
    press_all(engine, figure)
    drag_all(engine, figure)
    assert engine.complaints() == []


def test_figure_obeys_the_keys_in_the_other_engines(engine, figure):
    engine.resize(1280)
    engine.visit(engine.files + ORACLES[figure].page)
    strike_all(engine, figure)
    assert engine.complaints() == []
