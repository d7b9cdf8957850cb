"""Arrays agree in the short way exactly where the long one, cell by cell, says so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup_inside.asking.case import Case
from softlookup_judge.data.compare import close, first_difference, same, tolerance

NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 1e-11, 1e-10, 2e-10, 1 + 1e-10, 1 + 3e-10, 1e-5, 2e-5, 1.00002, 1e300, 1e308, -1e308]
    + [np.nan, np.inf, -np.inf]
)


def test_float32_in_place_of_float64_is_excused_unless_bytes_count() -> None:
    expected = np.array([1 / 3])
    got = expected.astype(np.float32)
    for world, is_same in ((0, True), (2, False)):
        case = Case("", ([expected, expected],), tolerance=1e-12, world=world)
        assert same((got,), (expected,), case) == is_same
        assert (first_difference((got,), (expected,), case) is None) == is_same


@pytest.mark.one_in(6)
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
        long_way = close(got, expected, tolerance(got, case), case).all()
    assert same((got,), (expected,), case) == long_way


@pytest.mark.parametrize("count", [7, 7_500_000_000, 2**53 + 1, 2**62 + 1])
def test_whole_numbers_agree_exactly_however_large(count: int) -> None:
    case, expected = Case("", (1,), frame="plain"), np.array(count)
    for off_by in (-1, 1):
        wrong = np.array(count + off_by)
        assert not same((wrong,), (expected,), case)
        assert first_difference((wrong,), (expected,), case) is not None
    assert same((np.array(count),), (expected,), case)
    assert same((np.array(float(count)),), (expected,), case)


@pytest.mark.parametrize(("got", "is_same"), [(7.5e9 + 0.03, False), (7.5e9 * (1 + 3e-16), True), (7.5e9 + 1, False)])
def test_a_float_stands_for_a_whole_number_but_for_its_last_digits(got: float, is_same: bool) -> None:
    assert same((np.array(got),), (np.array(7_500_000_000),), Case("", (1,), frame="plain")) == is_same
