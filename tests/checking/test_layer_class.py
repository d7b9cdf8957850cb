"""A layer's class as an answer: made with sizes, given weights in place of its own, and asked for gradients."""

import numpy as np
import pytest
import torch

from published import solutions, world
from softlookup_inside.asking.case import Case, LayerAnswer
from softlookup_inside.asking.probe import run
from softlookup_judge import check, get_task
from softlookup_judge.chapters.ch08_decoder_and_masks.whole import shapes
from softlookup_judge.checking.local import stand_in
from softlookup_judge.data.variant import variant_of

LAYER = """
import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        {made}

    def forward(self, x, shift=0.0):
        return x @ self.w + shift
"""
MADE = "self.w = nn.Parameter(torch.empty(rows, columns))"
W, X = np.arange(6.0).reshape(2, 3), np.array([[1.0, -1.0]])


def layer(made=MADE):
    world_: dict = {"__name__": "__main__"}
    exec(compile(LAYER.format(made=made), "<submission layer>", "exec"), world_)
    return world_["Scaled"]


def case(*more, **kind):
    return Case("a layer", (2, 3, W, X, *more), sizes=2, parameters=("w",), **kind)


def test_class_computes_with_the_weights_that_it_is_given():
    answer = run(layer(), case())
    np.testing.assert_array_equal(answer.arrays[0], X @ W)
    np.testing.assert_array_equal(run(layer(), case(2.0)).arrays[0], X @ W + 2)


def test_gradients_of_given_weights_and_of_inputs_come_back():
    answer = run(layer(), case(gradients=(2, 3), upstream=np.ones((1, 3))))
    np.testing.assert_array_equal(answer.arrays[0], X.T @ np.ones((1, 3)))
    np.testing.assert_array_equal(answer.arrays[1], np.ones((1, 3)) @ W.T)


def test_function_of_everything_will_do_as_well():
    answer = run(lambda rows, columns, w, x: x @ w, case())
    np.testing.assert_array_equal(answer.arrays[0], X @ W)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        ("self.w = torch.empty(rows, columns)", "`self.w` is a plain tensor"),
        ("self.weight = nn.Parameter(torch.empty(rows, columns))", "no parameter `w`; it has weight"),
        ("pass", "no parameter `w`; it has none at all"),
        ("self.w = nn.Parameter(torch.empty(columns, rows))", "the shape (3, 2), wanted is (2, 3)"),
        (MADE + "; self.b = nn.Parameter(torch.zeros(columns))", "besides those asked for: b"),
    ],
)
def test_other_parameters_are_told_apart(made, says):
    failure = run(layer(made), case()).failure
    assert failure.kind == "no-parameter" and says in failure.message


def test_class_that_is_no_module_is_told():
    class Plain:
        def __init__(self, rows, columns):
            self.w = None

    failure = run(Plain, case()).failure
    assert failure.kind == "no-parameter" and "no torch.nn.Module" in failure.message


def test_lost_dtype_of_a_layer_is_seen_though_its_first_arguments_are_sizes():
    wide = run(lambda rows, columns, w, x: (x @ w).float(), case(keeps_dtype=True))
    assert wide.failure.kind == "dtype" and "float64" in wide.failure.message
    assert run(layer(), case(keeps_dtype=True)).failure is None


def test_case_without_an_array_has_no_dtype():
    with pytest.raises(ValueError, match="the case 'numbers' has no array"):
        _ = Case("numbers", (1, 2)).dtype


def test_one_method_left_blank_is_a_blank_task():
    source = solutions(5)["05-multi-head"]
    for method in ("__init__", "forward"):
        head, _, rest = source.partition(f"def {method}(")
        signature = rest.split("\n", 1)[0]
        blank = f"{head}def {method}({signature}\n        raise NotImplementedError\n"
        blank += "" if method == "forward" else "    def forward(self, x, mask=None):\n        return x\n"
        result = check("05.multi-head", world(5, {"05-multi-head": blank})["MultiHeadAttention"])
        assert (result.verdict, result.points) == ("blank", 0), result.text()


def test_layer_itself_instead_of_its_class_says_what_went_wrong():
    made = world(5)["MultiHeadAttention"](4, 2, 2, 2)
    result = check("05.multi-head", made)
    assert result.verdict == "error" and result.points == 0


def with_mistake(task_id, slug):
    task = get_task(task_id)
    mistake = next(mistake for mistake in task.mistakes if mistake.slug == slug)
    return task.slug, mistake.applied_to(solutions(task.chapter)[task.slug])


@pytest.mark.slow
def test_a_sound_layer_stands_in_for_a_wrong_class_of_an_earlier_task():
    wrong = dict([with_mistake("08.decoder-layer", "post-norm")])
    result = check("08.transformer", world(8, wrong)["Transformer"])
    assert result.verdict == "pass" and "from task 08.decoder-layer" in result.message
    wrong |= dict([with_mistake("08.transformer", "norms-exchanged")])
    assert check("08.transformer", world(8, wrong)["Transformer"]).diagnosis == ("norms-exchanged",)


def test_a_class_that_lacks_parameters_is_not_made_sound():
    wrong = dict([with_mistake("08.decoder-layer", "other-parameters")])
    assert check("08.transformer", world(8, wrong)["Transformer"]).verdict != "pass"


def test_what_is_lent_has_the_precision_of_what_it_is_given():
    rotate = stand_in(variant_of(get_task("06.rotary")), "torch")
    for dtype in (torch.float32, torch.float64):
        assert rotate(torch.ones(1, 1, 3, 4, dtype=dtype), 0).dtype == dtype


def test_names_with_a_star_are_those_of_all_layers_in_turn():
    stack = LayerAnswer(2, ("table", "down.*.w", "down.*.b", "up.*.w", "norm.weight"), depth=1)
    assert stack.names((9, 0)) == ["table", "norm.weight"]
    down = ["down.0.w", "down.0.b", "down.1.w", "down.1.b"]
    assert stack.names((9, 2)) == ["table", *down, "up.0.w", "up.1.w", "norm.weight"]


@pytest.mark.parametrize("n_layers", [1, 3])
def test_a_whole_models_names_are_those_that_its_cases_give(n_layers):
    task = get_task("08.transformer")
    assert task.layer.names((7, 4, 2, 3, n_layers, 0)) == list(shapes(7, 4, n_layers, 3))
