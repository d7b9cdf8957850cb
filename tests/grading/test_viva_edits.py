"""Edits of a student's function, small inputs, and how results stand on paper: nothing of it runs here."""

import ast

import numpy as np
import pytest

from softlookup_course.viva.cases import TASKS, small_cases
from softlookup_course.viva.shown import STOPS, apart, array_text, inputs_text, result_text
from softlookup_judge.checking.catalogue import get_task
from softlookup_judge.data.published import solution
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.mistakes.student_function import MOST_LINES, function_in

WEIGHTS = """
import math

def weights(q,  k, mask = None):
    s = (q @ k.mT) / math.sqrt( q.shape[-1] )   # wie im Buch: ä
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    return s.softmax(dim = -1)
""".strip()


def afters(cell, name):
    return {(mutant.line, mutant.rule): mutant.after.strip() for mutant in function_in(cell, name).mutants}


def test_an_edit_changes_one_line_and_keeps_all_other_characters():
    function = function_in(WEIGHTS, "weights")
    for mutant in function.mutants:
        before, after = WEIGHTS.split("\n"), mutant.source.split("\n")
        at = mutant.line + function.node.lineno - 2
        assert len(before) == len(after) and before[:at] + before[at + 1 :] == after[:at] + after[at + 1 :]
        assert before[at] == mutant.before and before[at] != after[at]
        ast.parse(mutant.source)


def test_the_edits_are_those_that_a_person_can_follow():
    edits = afters(WEIGHTS, "weights")
    assert edits[2, "transposed"] == "s = (q @ k) / math.sqrt( q.shape[-1] )   # wie im Buch: ä"
    assert edits[2, "root"] == "s = (q @ k.mT) / q.shape[-1]   # wie im Buch: ä"
    assert edits[2, "factor"] == "s = q @ k.mT   # wie im Buch: ä"
    assert edits[2, "elementwise"] == "s = (q * k.mT) / math.sqrt( q.shape[-1] )   # wie im Buch: ä"
    assert edits[4, "inverted"] == "s = s.masked_fill(mask, -math.inf)"
    assert edits[4, "filled"] == "s = s.masked_fill(~mask, 0.0)"
    assert edits[4, "line"] == "pass" and edits[5, "axis"] == "return s.softmax(dim=-2)"
    function = function_in(WEIGHTS, "weights")
    travels = {(mutant.line, mutant.rule): mutant.travels for mutant in function.mutants}
    assert travels[2, "transposed"] > travels[4, "inverted"] > travels[5, "axis"] - 1, "further the earlier it is"
    mutant = next(mutant for mutant in function.mutants if mutant.rule == "axis")
    rows = function.numbered_lines(mutant).split("\n")
    assert rows[-2:] == [" 5 -     return s.softmax(dim = -1)", " 5 +     return s.softmax(dim=-2)"]
    assert len(rows) == len(function.lines) + 1 <= MOST_LINES


def test_what_is_shown_of_an_edit_is_python_without_the_line_that_is_gone():
    cell = (
        "def f(x, mask):\n    if mask:\n        x = x + 1\n    else:\n        x = -x\n        x = x + 2\n    return x"
    )
    function = function_in(cell, "f")
    for mutant in function.mutants:
        rows = [row[5:] for row in function.numbered_lines(mutant).split("\n") if row[3] != "-"]
        assert ast.dump(ast.parse("\n".join(rows))) == ast.dump(ast.parse(mutant.source)) or not mutant.after
        ast.parse("\n".join(rows))
    gone = {(mutant.line, mutant.after.strip(), mutant.says) for mutant in function.mutants if mutant.rule == "line"}
    assert gone == {(at, "pass" * (at == 3), f"line {at} is taken out") for at in (3, 5, 6)}


@pytest.mark.parametrize(
    "cell",
    [
        "def f(x:\n",
        "x = 1",
        "f = lambda x: x",
        "@decorated\ndef f(x):\n    return x",
        "def f(x):\n    return x\n\ndef f(x):\n    return 2 * x",
        "def f(x):\n    return x  # \u202e reversed",
        "def f(x):\n    return x\x00",
        "def f(x):\r\n    return x",
        "def f(x):\n" + "    x = x + 1\n" * 5_000 + "    return x",
        "def f(x):\n    return " + "-" * 1_500 + "x",
        "def f(x):\n    return " + "(" * 300 + "x" + ")" * 300,
        "def f(x):\n    return x" + " + 1" * 400,
        "def f(x):\n    return x  # " + "m" * 200,
    ],
)
def test_what_is_no_plain_short_function_is_not_asked_about(cell):
    assert function_in(cell, "f") is None


@pytest.mark.parametrize("task_id", TASKS)
def test_small_inputs_have_a_right_answer_that_fits_on_paper(task_id):
    variant = variant_of(get_task(task_id))
    function = function_in(solution(variant), variant.task.name)
    assert function is not None and function.mutants, "its published answer has edits"
    for seed in range(5):
        cases = small_cases(variant, np.random.default_rng(seed))
        assert cases
        for case in cases:
            right = expected_results(variant, case)
            assert all(array.size and not np.isnan(array.astype(float)).any() for array in right)
            for array in (value for value in case.args if isinstance(value, np.ndarray)):
                numbers = array.astype(float)
                exact = [np.allclose(np.round(part, 2), part, atol=1e-4) for part in (numbers, np.exp(numbers))]
                assert array.size <= 18 and any(exact)


@pytest.mark.parametrize("task_id", ["04.weights", "08.leak", "10.top-k"])
def test_small_inputs_follow_a_variants_convention(task_id):
    task = get_task(task_id)
    turned = next(n for n, convention in enumerate(task.conventions) if convention and convention.turned)
    assert small_cases(variant_of(task, turned), np.random.default_rng(1))


def test_numbers_have_two_decimals_and_need_no_calculator_to_tell_apart():
    assert array_text(np.array([[True], [False]])) == "[[ True],\n [False]]"
    assert (array_text(np.array(-0.001)), array_text(np.array(1.005))) == ("0.00", "1.01")
    assert array_text(np.array([np.nan, 1.5])) == "[ nan, 1.50]"
    assert result_text((np.zeros((5, 5)),), ("z",)) == "" and result_text((), ("z",)) == STOPS
    assert not apart((np.array([0.27, 0.73]),), (np.array([0.31, 0.69]),))
    assert apart((np.array([0.27, 0.73]),), (np.array([0.12, 0.88]),))
    assert apart((np.array([1.0]),), (np.array([np.nan]),)) and apart((np.zeros(2),), ()) and not apart((), ())


LAYER = """
class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w_q, self.w_k = (nn.Parameter(torch.empty(d, d)) for _ in range(2))
        self.norm_1 = nn.LayerNorm(d)

    def helper(self, x):
        return x.mT / 2

    def forward(self, x, memory, mask, memory_mask):
        q = x @ self.w_q
        x = x + self.cross(self.norm_1(x), memory, memory_mask)
        x = x + self.attention(x, x, mask)
        return self.norm_1(x + self.think(x))
""".strip()


def test_the_methods_of_a_class_are_edited_but_not_what_makes_its_parts():
    function = function_in(LAYER, "Layer")
    edits = {(mutant.line, mutant.rule, function.becomes(mutant).strip()) for mutant in function.mutants}
    assert {line for line, *_ in edits} == {8, 11, 12, 13, 14}
    assert {
        (8, "transposed", "return x / 2"),
        (12, "residual", "x = self.cross(self.norm_1(x), memory, memory_mask)"),
        (12, "moved", "x = self.norm_1(x + self.cross(x, memory, memory_mask))"),
        (12, "skipped", "x = x + self.cross(x, memory, memory_mask)"),
        (12, "unmasked", "x = x + self.cross(self.norm_1(x), memory, None)"),
        (12, "argument", "x = x + self.cross(self.norm_1(x), x, memory_mask)"),
        (12, "argument", "x = x + self.cross(self.norm_1(x), memory, mask)"),
        (12, "line", ""),
        (14, "moved", "return x + self.think(self.norm_1(x))"),
    } <= edits
    assert not any(rule == "argument" and "mask, memory_mask" in line for _, rule, line in edits)


def test_two_lines_change_places():
    function = function_in(LAYER, "Layer")
    mutant = next(mutant for mutant in function.mutants if mutant.rule == "order")
    assert mutant.says == "line 12 is moved behind line 13"
    rows = function.numbered_lines(mutant).split("\n")
    assert [row[:4] for row in rows[11:14]] == ["12 -", "13  ", "12 +"] and rows[11][5:] == rows[13][5:]
    assert mutant.source.split("\n")[11:13] == LAYER.split("\n")[12:10:-1]


@pytest.mark.parametrize("words", ["forward(self, y)", "__call__(self, y)"])
def test_a_class_with_two_methods_that_are_called_or_none_is_not_asked_about(words):
    other = f"    def {words}:\n        return y.mT\n\n"
    assert function_in(LAYER.replace("    def helper", other + "    def helper"), "Layer") is None
    assert function_in(LAYER.replace("def forward", "def result"), "Layer") is None
    assert function_in(LAYER.replace("    def helper", "    @property\n    def helper"), "Layer") is None


SILLY = """
def f(x, k):  # a comment tells it
    rows = x  # and this one, too
    for at in range(k):
        rows = (rows[:, None] + x).sum(0)
    return rows
""".strip()


def test_no_edit_is_idle_and_no_comment_is_shown():
    function = function_in(SILLY, "f")
    lines = [mutant.after.strip() for mutant in function.mutants]
    assert not [line for line in lines if line == "rows = rows" or "range(1" in line or "(rows[:, None])" in line]
    assert not function_in("def g(x):\n    return x.exp()", "g").mutants
    for mutant in (None, *function.mutants):
        assert "#" not in function.numbered_lines(mutant)
    assert function.numbered_lines().count("\n") == 4 and function.statements == 4


def test_arguments_that_nobody_confuses_keep_their_places():
    cell = "def h(q, k, mask):\n    return weigh(scale(scores(q, k), q.shape[-1]), mask) + weigh(q, mask)"
    lines = [mutant.after for mutant in function_in(cell, "h").mutants]
    assert any("scores(k, q)" in line for line in lines)
    assert not any("weigh(mask" in line or "scale(q.shape" in line for line in lines)


def test_logarithms_are_shown_as_such():
    variant = variant_of(get_task("04.softmax"))
    texts = [inputs_text(variant, case)[0] for case in small_cases(variant, np.random.default_rng(0))]
    assert all("ln 2" in text and "0" in text for text in texts)
