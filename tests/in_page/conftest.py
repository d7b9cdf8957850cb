"""A page's Python for each test that asks for it."""

import pytest
from page_process import Page


@pytest.fixture
def page(tmp_path):
    made = Page(tmp_path)
    yield made
    made.process.stdin.close()
    made.process.stdout.close()
    assert made.process.wait(20) == 0
