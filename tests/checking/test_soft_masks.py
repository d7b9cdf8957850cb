"""Hiding by a subtraction, as in ``scores - 1e4 * ~mask``, goes wrong where a hidden score is far above the rest."""

import ast

import pytest

from published import ALL_TASKS, solutions, world
from softlookup_judge import check

INFINITY = {"-torch.inf", "-math.inf", "-np.inf", "float('-inf')"}
RIGHT = {
    "10.top-k": "what is left out is never above what is chosen",
    "15.absorb": "the text says that scores are in the hundreds",
}
"""Tasks where a subtraction is right."""


class _Subtraction(ast.NodeTransformer):
    """Writes ``scores - 1e4 * hidden`` for what puts an infinity where something is hidden."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name, args = ast.unparse(node.func), [*map(ast.unparse, node.args)]
        if name.endswith(".masked_fill") and args[1] in INFINITY:
            scores, hidden = name.removesuffix(".masked_fill"), args[0]
        elif name in ("torch.where", "np.where") and args[2] in INFINITY:
            scores, hidden = args[1], f"~({args[0]})"
        else:
            return node
        return ast.parse(f"({scores} - 1e4 * ({hidden}))", mode="eval").body


def _subtracting(task):
    published = solutions(task.chapter).get(task.slug, "")
    if "inf" not in published:
        return ""
    source = ast.unparse(ast.parse(published))
    changed = ast.unparse(ast.fix_missing_locations(_Subtraction().visit(ast.parse(source))))
    return changed if changed != source else ""


@pytest.mark.one_in(8)
@pytest.mark.parametrize("task", [task for task in ALL_TASKS if _subtracting(task)], ids=lambda task: task.id)
def test_a_subtraction_is_no_mask(task):
    function = world(task.chapter, {task.slug: _subtracting(task)})[task.name]
    assert (check(task.id, function).verdict == "pass") is (task.id in RIGHT)
