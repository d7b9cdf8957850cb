"""Points for what the library computed: derivatives called by hand, other ways to a log-sum-exp, one part alone."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import scipy.special
import torch

from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer, run
from softlookup_judge.checking.catalogue import get_task
from softlookup_judge.checking.judge import judge
from softlookup_judge.data.result import CheckResult
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import questions


class AsInGrading:
    """Answers as the sandbox gives them: every question is looked into."""

    def __init__(self, task: Task, obj: Callable[..., Any]) -> None:
        self.task, self.obj = task, obj

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        return (run(self.obj, case, results, self.task.barred) for case in cases)

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        return ()

    def differed(self, at: int) -> bool:
        return False


def judged(task_id: str, obj: Callable[..., Any]) -> CheckResult:
    task = get_task(task_id)
    return judge(
        variant_of(task), AsInGrading(task, obj), task_questions=questions(variant_of(task), 11, shuffled=True)
    )


def from_logs(log_sum: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: (x - torch.as_tensor(log_sum(x))).exp()


@pytest.mark.parametrize(
    "torch_backward", [torch._softmax_backward_data, torch.ops.aten._softmax_backward_data.default]
)
def test_a_derivative_of_torchs_own_is_a_shortcut_where_gradients_are_to_be_written(torch_backward: Any) -> None:
    def softmax_backward(a: np.ndarray, da: np.ndarray) -> np.ndarray:
        return torch_backward(torch.from_numpy(da), torch.from_numpy(a), -1, torch.float64).numpy()

    assert (result := judged("04.softmax-backward", softmax_backward)).points == 0
    assert result.diagnosis == ("forbidden-shortcut",)


def test_a_layer_norms_derivative_of_torchs_own_is_a_shortcut() -> None:
    def layer_norm_backward(g: Any, x: Any, gain: Any, eps: float) -> Any:
        as_torch = [torch.as_tensor(array) for array in (g, x, gain)]
        mean, var = as_torch[1].mean(-1, keepdim=True), as_torch[1].var(-1, keepdim=True, correction=0)
        sizes, mask = [as_torch[1].shape[-1]], [True, True, True]
        torch_backward = torch.ops.aten.native_layer_norm_backward
        return torch_backward(*as_torch[:2], sizes, mean, (var + eps).rsqrt(), as_torch[2], as_torch[2], mask)

    assert judged("07.layer-norm-backward", layer_norm_backward).diagnosis == ("forbidden-shortcut",)


def test_a_gradient_written_with_torchs_plain_operations_is_right() -> None:
    def softmax_backward(a: np.ndarray, da: np.ndarray) -> torch.Tensor:
        weights, upstream = torch.from_numpy(a), torch.from_numpy(da)
        return weights * (upstream - (weights * upstream).sum(-1, keepdim=True))

    assert judged("04.softmax-backward", softmax_backward).verdict == "pass"


@pytest.mark.parametrize(
    "log_sum",
    [
        lambda x: torch.logcumsumexp(x, -1)[..., -1:],
        lambda x: scipy.special.logsumexp(x.numpy(), axis=-1, keepdims=True),
        lambda x: x - torch.from_numpy(scipy.special.log_softmax(x.numpy(), axis=-1)),
    ],
)
def test_every_ready_made_log_sum_exp_is_a_shortcut(log_sum: Callable[[torch.Tensor], Any]) -> None:
    assert judged("04.softmax", from_logs(log_sum)).diagnosis == ("forbidden-shortcut",)


def test_compiled_code_that_large_numbers_alone_reach_is_seen() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        hidden = torch.jit.trace(lambda x: x.softmax(-1), torch.zeros(2, 3), check_trace=False)

    def softmax(x: torch.Tensor) -> torch.Tensor:
        e = x.exp()
        return hidden(x) if e.isinf().any() else e / e.sum(-1, keepdim=True)

    assert judged("04.softmax", softmax).diagnosis == ("forbidden-shortcut",)
