"""Calls that are refused with a sentence, as one test."""

from collections.abc import Callable
from typing import Any

import pytest


def refused(*cases: tuple[Any, ...]) -> Callable[[tuple[Any, ...]], None]:
    """A test of calls, each with a pattern of its message; the error stands between them where it is no ValueError."""

    @pytest.mark.usefixtures("unchecked")
    @pytest.mark.parametrize("case", cases)
    def test(case: tuple[Any, ...]) -> None:
        call, *error, message = case
        with pytest.raises(*(error or [ValueError]), match=message):
            call()

    return test
