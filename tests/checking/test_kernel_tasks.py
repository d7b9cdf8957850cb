"""What chapter 18 promises of its tasks as a whole: variants change code, and the notebook's text says how."""

from published import ROOT, constants_of
from softlookup.authoring import read_solution
from softlookup.checking import tasks
from softlookup.checking.published import solution
from softlookup.checking.variant import variant_of

VARIED = [task for task in tasks(18) if len(constants_of(task)) > 1]


def _text(task, number):
    cells = read_solution(ROOT / "solutions" / "18_kernels.py", {task.id: number}).cells
    return next(cell.source for cell in cells if f"### Task {task.id} ·" in cell.source)


def test_at_least_six_tasks_have_variants_with_texts_and_code_that_differ():
    assert len(VARIED) >= 6
    for task in VARIED:
        numbers = range(len(constants_of(task)))
        assert len({_text(task, number) for number in numbers}) == len(numbers), task.id
        assert len({solution(variant_of(task, number)) for number in numbers}) == len(numbers), task.id


def test_an_expression_stands_in_the_code_as_it_is():
    (product,) = (task for task in VARIED if task.id == "18.product")
    assert "a_at = across * m + rows\n" in solution(variant_of(product, 1))
    assert "stored **column after column**" in _text(product, 1)
