"""Arrays agree in the short way exactly where the long one, cell by cell, says so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.checking.compare import close, inputs_of, same, tolerance
from softlookup.checking.inside.case import Case

NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 1e-11, 1e-10, 2e-10, 1 + 1e-10, 1 + 3e-10, 1e-5, 2e-5, 1.00002, 1e300, 1e308, -1e308]
    + [np.nan, np.inf, -np.inf]
)


@given(st.data())
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
@pytest.mark.parametrize("exact_zeros", [False, True])
@pytest.mark.parametrize("absolute", [False, True])
def test_same_is_close_in_every_cell(dtype: str, exact_zeros: bool, absolute: bool, data: st.DataObject) -> None:
    case_tolerance = data.draw(st.sampled_from([None, 1e-3]))
    case = Case("", (np.zeros(2),), tolerance=case_tolerance, absolute=absolute, exact_zeros=exact_zeros)
    expected = np.array(data.draw(st.lists(NUMBERS, min_size=3, max_size=3)))
    got = np.where([data.draw(st.booleans()) for _ in expected], expected, data.draw(NUMBERS))
    with np.errstate(all="ignore"):
        got = got.astype(dtype)
        long_way = close(got, expected, tolerance(got, inputs_of(case), case_tolerance), case).all()
    assert same((got,), (expected,), case) == long_way
