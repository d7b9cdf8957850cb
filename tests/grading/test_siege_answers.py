"""Answers in unusual styles keep their points, and what a task forbids has no second door."""

import functools
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

import nbformat
import numpy as np
import pytest
import scipy.special
import torch
from sandbox_tools import ABOUT, NEEDS_SANDBOX, SOUND, ask, hold

from softlookup_grader.judging.names import Leaning
from softlookup_grader.judging.rebuild import ReleasedCheck
from softlookup_grader.judging.remote import Remote
from softlookup_grader.sandbox import bubble
from softlookup_grader.sandbox.session import OutOfTime
from softlookup_inside.asking.answers import to_array
from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.gates import NotAllowed, closed
from softlookup_inside.asking.layers import called_like
from softlookup_inside.asking.probe import Answer
from softlookup_inside.asking.source import functions_behind, screen, standing_in
from softlookup_judge.checking.catalogue import get_task, tasks
from softlookup_judge.data.variant import variant_of


def made(source: str, name: str) -> Any:
    """What a notebook's cell defines."""
    world: dict[str, Any] = {"__name__": "__main__", "torch": torch}
    exec(compile(source, "<ipython-input-1>", "exec"), world)
    return world[name]


MUTUAL = """
def make():
    def even(n):
        return softmax(n) if n == 0 else odd(n - 1)
    def odd(n):
        return even(n - 1)
    return even
softmax = lambda n: "own"
answer = make()
"""


DEFAULT = "softmax = lambda n: 'own'\ndef answer(n, soft=softmax): return soft(n)"


@pytest.mark.parametrize(("source", "names"), [(MUTUAL, ["even", "odd"]), (DEFAULT, ["answer"])])
def test_a_lent_function_stands_in_closures_and_defaults_for_its_time(source: str, names: list[str]) -> None:
    answer = made(source, "answer")
    assert [function.__name__ for function in functions_behind(answer)] == names
    with standing_in(answer, {"softmax": lambda student_function: lambda n: "lent"}):
        assert answer(2) == "lent"
    assert answer(2) == "own"


@pytest.mark.parametrize(
    "source",
    [
        "class Node:\n    def backward(self, da): return da\n"
        "def make(): return Node()\ndef answer(a, da): return make().backward(da)",
        "class Node:\n    def run(self, da): self.backward = da\n"
        "def answer(a, da):\n    node = make(); node.run(da)\n    return node.backward\ndef make(): return Node()",
        "from types import SimpleNamespace\ndef make(): return SimpleNamespace(backward=lambda da: da)\n"
        "def answer(a, da): return make().backward(da)",
    ],
)
def test_an_attribute_of_the_students_own_is_no_shortcut_and_one_of_torchs_is(source: str) -> None:
    assert screen(made(source, "answer"), get_task("04.backward").barred) is None
    assert screen(made("def answer(x): return x.softmax(-1)", "answer"), ("torch.softmax",)) == "torch.softmax"


def test_what_comes_out_of_a_forbidden_package_is_a_shortcut() -> None:
    answer = made("def answer(x): return part(x)", "answer")
    part = types.FunctionType((lambda x: x).__code__, {}, "part")
    part.__module__ = "transformers.models.bert.modeling_bert"
    answer.__globals__["part"] = part
    assert screen(answer, get_task("13.published").barred) == "transformers"


WEIGHTS = "def attention_weights(q, k, mask=None): return "


@pytest.mark.parametrize(
    "cells",
    [
        *({"04-weights": f"{first}\n{WEIGHTS}softmax(q)"} for first in ("%%time", "%matplotlib inline", "torch.exp?")),
        {"04-weights": f"!pip install einops\n{WEIGHTS}softmax(q)"},
        {"04-mix": "weigh = lambda x: softmax(x)", "04-weights": f"{WEIGHTS}weigh(q)"},
    ],
)
def test_leaning_is_seen_behind_lines_for_jupyter_and_lambdas(cells: dict[str, str]) -> None:
    code_cells = [
        nbformat.v4.new_code_cell(text, metadata={"nbgrader": {"grade_id": name, "solution": True}})
        for name, text in {"04-softmax": "def softmax(x): ...", **cells}.items()
    ]
    leaning = Leaning(nbformat.v4.new_notebook(cells=code_cells)).on(get_task("04.weights"))
    assert leaning == ("04.softmax",)


def test_a_lent_function_is_called_with_the_names_of_the_students_own() -> None:
    def sinusoids(length: int, d_model: int, dim: int = -1) -> None: ...

    call = called_like(sinusoids, lambda *args, **named: (args, named))
    assert call(d_model=4, length=3) == ((3, 4), {})
    assert call(3, d_model=4, other=5) == ((3, 4), {"other": 5})
    assert call(3, dim=0) == ((3,), {"dim": 0})


class Slow:
    """A session that is out of time from some question on."""

    def __init__(self, after: int) -> None:
        self.after, self.watch = after, types.SimpleNamespace(waited=0.0)

    def ask(self, cases: Sequence[Case], *others: Any) -> list[Answer]:
        self.after -= 1
        if self.after < 0:
            raise OutOfTime
        return [Answer((np.zeros(1),)) for _ in cases]


def test_a_round_with_lent_functions_that_takes_too_long_takes_no_points() -> None:
    check = ReleasedCheck(variant_of(get_task("04.weights")), "attention_weights", True, ())
    cases = [Case("a", ()), Case("b", ()), Case("c", ())]
    known = {"04.softmax": variant_of(get_task("04.softmax"))}
    answers = list(Remote(Slow(1), check, dict, 5.0, known).answers(cases, 1, ("04.softmax",)))  # type: ignore[arg-type]
    assert [answer.failure and answer.failure.kind for answer in answers] == [None, "raised", "raised"]
    with pytest.raises(OutOfTime):
        list(Remote(Slow(0), check, dict, 5.0, {}).answers(cases, 1))  # type: ignore[arg-type]


class Named(torch.Tensor):
    """A student's own kind of tensor."""


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(2, requires_grad=True).as_subclass(Named),
        torch.complex(torch.ones(2), -torch.ones(2)).conj().imag,
        np.ones(2, dtype=np.longdouble),
    ],
)
def test_unusual_arrays_are_taken_as_plain_ones(value: Any) -> None:
    assert to_array(value).tolist() == [1.0, 1.0]
    assert to_array(value).dtype in (np.float32, np.float64)


def test_whole_numbers_that_numpy_does_not_hold_are_taken_as_floats() -> None:
    assert to_array(6 * 10**23) == 6e23 and to_array([10**23, 1]).tolist() == [1e23, 1.0]


def test_a_search_for_nan_that_a_notebook_switched_on_is_off_in_checks() -> None:
    with torch.autograd.set_detect_anomaly(True), calm_torch():
        assert not torch.is_anomaly_enabled()


def derivative(way: str) -> Callable[[], Any]:
    """The derivative of a softmax by a way that is no function of torch's."""

    def call() -> Any:
        leaf = torch.ones(3, requires_grad=True)
        result = leaf.exp() / leaf.exp().sum()
        if way == "node":
            return result.grad_fn(torch.ones(3))  # type: ignore[misc]
        run = torch.autograd.Variable._execution_engine.run_backward  # type: ignore[attr-defined]
        return run((result,), (torch.ones(3),), False, False, (leaf,), allow_unreachable=True, accumulate_grad=False)

    return call


def forward_mode() -> Any:
    torch._C._enter_dual_level()
    try:
        return torch._make_dual(torch.ones(3), torch.ones(3), level=0)
    finally:
        torch._C._exit_dual_level(level=0)


def fused_adam() -> Any:
    tensors = [torch.ones(2)]
    numbers = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0, "eps": 1e-8}
    return torch._fused_adam_(
        tensors, tensors, tensors, tensors, [], [torch.ones(())], amsgrad=False, maximize=False, **numbers
    )


def encoder_layer() -> Any:
    x, wide, square, row = torch.ones(1, 2, 4), torch.ones(12, 4), torch.ones(4, 4), torch.ones(4)
    norms = (True, False, 1e-5, row, row, row, row)
    return torch._transformer_encoder_layer_fwd(
        x, 4, 2, wide, torch.ones(12), square, row, *norms, square, row, square, row
    )


def written_out(name: str) -> Callable[[], Any]:
    import torch._decomp.decompositions
    import torch._refs.nn.functional

    x = torch.ones(2, 3)
    return {
        "softmax": lambda: torch._refs.softmax(x, -1),
        "logsumexp": lambda: torch._refs.logsumexp(x, -1),
        "decomposed": lambda: torch._decomp.decompositions._softmax(x, -1, False),
        "norm": lambda: torch._refs.native_layer_norm(x, (3,), x[0], x[0], 1e-5),
        "gelu": lambda: torch._refs.nn.functional.gelu(x),
        "nll": lambda: torch._refs.nn.functional.nll_loss(x, torch.zeros(2, dtype=torch.long)),
    }[name]


def softmax_backward(function: Callable[..., Any]) -> Callable[[], Any]:
    return lambda: function(ROWS, ROWS, -1, torch.float64)


def layer_norm_backward() -> Any:
    column, row = ROWS[:, :1], ROWS[0]
    return torch.ops.aten.native_layer_norm_backward(ROWS, ROWS, [3], column, column, row, row, [True] * 3)


ROWS = torch.ones(2, 3, dtype=torch.float64)


@pytest.mark.parametrize(
    ("task_id", "call"),
    [
        ("04.softmax", lambda: torch.logcumsumexp(ROWS, -1)),
        ("04.softmax", lambda: scipy.special.logsumexp(ROWS.numpy(), axis=-1)),
        ("04.softmax", lambda: scipy.special.log_softmax(ROWS.numpy(), axis=-1)),
        ("04.softmax-backward", softmax_backward(torch._softmax_backward_data)),
        ("04.softmax-backward", softmax_backward(torch.ops.aten._softmax_backward_data.default)),
        ("07.layer-norm-backward", layer_norm_backward),
        ("04.softmax", written_out("softmax")),
        ("04.softmax", written_out("logsumexp")),
        ("04.softmax", written_out("decomposed")),
        ("07.layer-norm", written_out("norm")),
        ("07.gelu", written_out("gelu")),
        ("09.cross-entropy", written_out("nll")),
        ("04.backward", derivative("engine")),
        ("04.backward", derivative("node")),
        ("04.backward", forward_mode),
        ("09.adam", fused_adam),
        ("07.encoder", encoder_layer),
    ],
)
def test_the_same_under_another_name_is_behind_a_gate(task_id: str, call: Callable[[], Any]) -> None:
    with closed(get_task(task_id).barred) as gates, pytest.raises(NotAllowed):
        call()
    assert gates.used
    call()  # afterwards all is as it was


def test_no_answer_may_use_the_interactive_figures() -> None:
    """One of them searches with a beam, as a task asks for."""
    assert all("softlookup_course.widgets" in task.barred for task in tasks())


@NEEDS_SANDBOX
def test_packages_with_answers_are_covered_in_the_sandbox(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "transformers").mkdir()
    monkeypatch.setattr(bubble.sysconfig, "get_path", lambda name: str(tmp_path))
    command = bubble._bubblewrap()
    covered = [place for option, place in zip(command, command[1:], strict=False) if option == "--tmpfs"]
    assert any(place.endswith("/transformers") for place in covered)


@NEEDS_SANDBOX
def test_figures_that_a_cell_asks_for_do_not_end_it(begin: Callable[..., Any]) -> None:
    session = begin()
    for first in ("%matplotlib inline", "%matplotlib widget"):
        assert session.run(f"{first}\nx = 1").trouble == ""


@NEEDS_SANDBOX
def test_compiled_code_is_seen_in_every_question(begin: Callable[..., Any]) -> None:
    session = begin()
    compiled = "import torch\ncompiled = torch.jit.trace(lambda x: x.softmax(0), torch.ones(1))\nasked = []\n"
    later = "def f(x):\n    asked.append(x)\n    return compiled(x) if len(asked) == 3 else x"
    assert hold(session, compiled + later).there
    session.check("", {**ABOUT, "forbids": ["torch.softmax"]})
    cases = [Case("", (np.zeros(1),), frame="torch") for _ in range(3)]
    answers = session.ask(cases, 1, (), functools.partial(int), time.monotonic() + 3)
    assert [answer.failure and answer.failure.kind for answer in answers] == [None, None, "shortcut"]


@NEEDS_SANDBOX
def test_calling_a_lent_function_too_often_ends_no_process(begin: Callable[..., Any]) -> None:
    session = begin()
    session.run("def lent(x): return x\ndef f(x): return sum(lent(x) for _ in range(502))")
    session.check("", {**ABOUT, "earlier": {"lent": "04.a"}})
    answer = ask(session, 1.0, lent=SOUND["lent"], sound=lambda name, args, named, upstream: 1.0, frame="plain")
    assert answer.failure is not None and "too often" in answer.failure.message
    assert session.run("1 + 1").trouble == ""
