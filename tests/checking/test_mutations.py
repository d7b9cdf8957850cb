"""The engine of mutations: what it changes, what it leaves since nothing would change, and what it leaves behind."""

import ast

import pytest

from mutants import mutants
from softlookup_judge.mistakes.mutations import applied, changes
from softlookup_judge.mistakes.student_function import function_in


def lines(code, arguments="x, y, n"):
    return {mutant.line for mutant in mutants("", f"def f({arguments}):\n    {code}")}


@pytest.mark.parametrize(
    ("code", "swapped", "is_tried"),
    [
        ("return 2 * x + y", "return y + 2 * x", False),
        ("return x * y", "return y * x", False),
        ("return x & y", "return y & x", False),
        ("return x - y", "return y - x", True),
        ("return x @ y", "return y @ x", True),
        ("return x + y", "return y + x", True),
        ("return [n] + y", "return y + [n]", True),
        ("return x[n - 1:] + y[:n]", "return y[:n] + x[n - 1:]", True),
        ("return (x - y) ** 2", "return (y - x) ** 2", False),
        ("return (x - y) ** 3", "return (y - x) ** 3", True),
        ("return abs(x - y)", "return abs(y - x)", False),
        ("return (x - y).abs()", "return (y - x).abs()", False),
    ],
)
def test_sides_are_swapped_where_the_order_may_matter(code, swapped, is_tried):
    assert (swapped in lines(code)) == is_tried


def test_a_sign_is_dropped_once():
    assert "return x.sum(1)" in lines("return x.sum(-1)")
    assert not any("--" in line for line in lines("return x.sum(-1)"))


def test_each_sign_of_a_chain_is_changed_alone():
    assert {"return x < y < n", "return x <= y <= n"} <= lines("return x <= y < n")


def test_a_tree_is_as_it_was_after_each_change():
    tree = ast.parse("def f(x, mask):\n    x = x - 1\n    x = x * 2\n    return x[:, 0].masked_fill(~mask, 0)")
    before = ast.dump(tree)
    some = list(changes(tree))
    assert all(applied([change], lambda: ast.dump(tree)) != before for change in some) and ast.dump(tree) == before
    with pytest.raises(ZeroDivisionError):
        applied(some[:1], lambda: 1 / 0)
    assert ast.dump(tree) == before


@pytest.mark.parametrize(
    ("line", "rule", "after"),
    [
        ("return d * (q @ w).mT", "transposed", "return d * (q @ w)"),
        ("return q & w & d", "either", "return (q | w) & d"),
        ("return q[:2]", "off-by-one", "return q[:3]"),
        ("return (d + 1) % w", "off-by-one", "return d % w"),
        ("return f( q,d )-w", "sign", "return f( q,d )+w"),
        ("return q - w * 'a'", "swapped", "return (w * 'a') - q"),
    ],
)
def test_a_changed_line_means_what_the_change_means(line, rule, after):
    function = function_in(f"def g(q, w, d):\n    {line}", "g")
    assert after in {mutant.after.strip() for mutant in function.mutants if mutant.rule == rule}
