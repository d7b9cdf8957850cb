"""Right answers in other words, as the sample class hands them in, are right: for every task."""

import ast

import pytest
from small_class import ROOT

from softlookup_course.samples.handins import answers, rewritten
from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution
from softlookup_judge import tasks
from softlookup_judge.authoring import assignments, read_solution
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import variant_of

SCOPES = '''
import os

x, counter = 100, 0


def answer(value):
    return value + 1


def outer(a, *rest, key=2, **more):
    """What is called total here stays so in words."""
    total = 0

    def add(n, scale=1):
        nonlocal total
        total += n * scale
        return total

    def local_x():
        x = 3
        return x

    class Box:
        size = 4

        def grow(self, by):
            new = self.size + by
            return new

    try:
        raise ValueError("k")
    except ValueError as error:
        text = str(error)
    match [1, 2, {"u": 5, "v": 6}]:
        case [first, *others, {"u": fifth, **more_items}]:
            pair = first, others, fifth, more_items
        case _ as whole:
            pair = whole
    import os.path as path

    squares = [i * i for i in range(a) if (last := i) >= 0]
    plus = lambda z, w=total: z + w + total
    my_keep, keep = 1, 2
    for index, item in enumerate(rest):
        total += index * item
    else:
        done = True
    del done
    table = dict(total=total, key=key)

    def items():
        for squared in squares:
            yield squared
        return 5

    add(n=2, scale=3)
    key += 1
    note: str = f"{total:>{key}} {total=} {text!r}"
    found = answer(total), (lambda: x)(), local_x(), Box.size, Box().grow(by=2), note, pair, path.sep, last, plus(1)
    return found, keep, my_keep, table, list(items()), sorted(more), (lambda: total)()


class Counted:
    base = 1

    @property
    def double(self):
        value = self.base * 2
        return value

    @double.setter
    def double(self, value):
        half = value // 2
        self.base = half

    def summed(self):
        __mangled = 2
        return __class__.base + __mangled


def by_name(a):
    t = 3
    return eval("t") + locals()["t"] + a


def counts():
    global counter
    counter = 5
    inner = counter
    return inner


def run():
    counted = Counted()
    counted.double = 8
    return outer(3, 4, 5, key=7, z=1), counted.double, counted.summed(), by_name(1), counts(), counter
'''


def results(text):
    names = {}
    exec(compile(text, "<answer>", "exec"), names)
    return names["run"]()


def test_names_change_in_every_scope_alike_and_mean_what_they_meant():
    text = rewritten(SCOPES)
    assert results(text) == results(SCOPES)
    variables = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    for name in ("total", "text", "pair", "squares", "i", "last", "item", "squared", "inner", "half", "new", "first"):
        assert f"my_{name}" in variables and name not in variables
    assert {"my_x", "my_a", "my_key", "my_t", "my_counter"} & variables == set()


NESTED = """
def f(n):
    def g(k):
        m = k + 1
        return m
    m = g(n)
    return m
"""


def test_a_function_within_another_keeps_its_arguments():
    names = {}
    exec(rewritten(NESTED), names)
    assert names["f"](3) == 4


@pytest.mark.slow
@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", assignments(ROOT))
def test_every_published_answer_in_other_words_is_right(name):
    source = read_solution(ROOT / "solutions" / f"{name}.py")
    published, known = answers(source), tasks(int(name[:2]))
    texts = {task.slug: rewritten(published[task.slug]) for task in known}
    assert all(ast.dump(ast.parse(text)) != ast.dump(ast.parse(published[slug])) for slug, text in texts.items())
    names = {"__name__": "__main__"}
    for cell in source.cells:
        if cell.cell_type == "code" and (is_solution(cell) or not is_graded(cell)):
            exec(compile(texts.get(grade_id(cell), cell.source), f"<cell {cell.id}>", "exec"), names)
    for task in known:
        result = judge(variant_of(task), LocalStudent(variant_of(task), names[task.name]), seed=3)
        assert (result.verdict, result.points) == ("pass", task.points), f"{task.id}: {result.text()}"
