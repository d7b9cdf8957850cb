"""A page's Python, which all tests ask: after each question it is as it was before."""

import pytest
from page_process import Page


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    made = Page(tmp_path_factory.mktemp("page"))
    yield made
    made.process.stdin.close()
    made.process.stdout.close()
    assert made.process.wait(20) == 0
