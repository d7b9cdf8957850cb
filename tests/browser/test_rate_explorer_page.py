"""The learning-rate explorer in its chapter: where it opens."""

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.book]
PAGE = "book/09_training.html"
RECORD = json.loads((Path(__file__).resolve().parents[2] / "book/measured/schedules.json").read_text(encoding="utf-8"))


@pytest.fixture
def explorer(stands):
    return stands.page.locator(".lrx").first


def test_explorer_opens_where_a_warmup_helps_most(explorer):
    assert explorer.locator("button[aria-pressed=true]").inner_text() == f"{RECORD['best_peak']:g}"
