"""Courses of stock nbgrader get the same gradebook here, row by row, but for the rows that differ on purpose."""

import pytest
from sandbox_tools import NEEDS_SANDBOX

from benchmarks.stock_cases import GROUPS
from benchmarks.stock_equality import compare, differences, on_purpose_different


@pytest.mark.one_in(16)
@NEEDS_SANDBOX
@pytest.mark.parametrize(
    ("group", "case"), [pytest.param(group, case, id=case.name) for group in GROUPS for case in GROUPS[group]]
)
def test_stock_course_gets_the_same_gradebook(group, case):
    result = compare(group, case)
    assert result.rows
    assert list(result.different) == on_purpose_different().get(case.name, {}).get("rows", [])


def test_cases_differ_in_their_names_and_what_differs_on_purpose_says_why():
    names = [case.name for group in GROUPS.values() for case in group]
    assert len({*names}) == len(names)
    for name, entry in on_purpose_different().items():
        assert name in names and entry["rows"] and entry["differs"].endswith("."), name


def test_differences_name_each_row_with_the_fields_of_both():
    stock = {"foo": {"score": 1.0, "late": None}, "bar": {"score": 1.0}}
    here = {"foo": {"score": 2.0, "late": None}, "baz": {"score": 0.0}}
    assert differences(stock, stock) == []
    assert differences(stock, here) == ["bar: only stock score 1.0", "baz: only here score 0.0", "foo: score 1.0 / 2.0"]
