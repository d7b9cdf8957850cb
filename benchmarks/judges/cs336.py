"""The tests of CS336's first assignment, run by pytest with the answers in place of its adapters.

The tests that read weights from ``tests/fixtures/ts_tests/model.pt`` (embedding, norm, SwiGLU, layers, whole models)
are not asked.
"""

import contextlib
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.judges.verdict import Asked, Missing, PeerJudge, Verdict, commit

Function = Callable[..., Any]
FOLDER = "assignment1-basics"


def _attention(f: Function) -> dict[str, Function]:
    return {"run_scaled_dot_product_attention": lambda Q, K, V, mask=None: f(Q, K, V, mask)}


def _rope(f: Function) -> dict[str, Function]:
    def run_rope(d_k: int, theta: float, max_seq_len: int, in_query_or_key: Any, token_positions: Any) -> Any:
        return f(in_query_or_key, token_positions.reshape(-1))

    return {"run_rope": run_rope}


def _clip(f: Function) -> dict[str, Function]:
    def run_gradient_clipping(parameters: Any, max_l2_norm: float) -> None:
        with_gradient = [p for p in parameters if p.grad is not None]
        for p, g in zip(with_gradient, f([p.grad for p in with_gradient], max_l2_norm)[0], strict=True):
            p.grad.copy_(g)

    return {"run_gradient_clipping": run_gradient_clipping}


def _adamw(f: Function) -> dict[str, Function]:
    class AdamW(torch.optim.Optimizer):
        def __init__(self, params: Any, lr: float, weight_decay: float, betas: Any, eps: float) -> None:
            super().__init__(params, {"lr": lr, "decay": weight_decay, "betas": betas, "eps": eps})

        @torch.no_grad()
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    t = state.get("t", 0) + 1
                    zero = torch.zeros_like(p)
                    moments = state.get("m", zero), state.get("v", zero)
                    w, m, v = f(p.detach(), p.grad, *moments, t, group["lr"], *group["betas"], group["eps"])
                    p.copy_(w - group["lr"] * group["decay"] * p)
                    state.update(t=t, m=m, v=v)

    return {"get_adamw_cls": lambda: AdamW}


def _cosine(f: Function) -> dict[str, Function]:
    def run_get_lr_cosine_schedule(
        it: int, max_learning_rate: float, min_learning_rate: float, warmup_iters: int, cosine_cycle_iters: int
    ) -> Any:
        return f(it, warmup_iters, cosine_cycle_iters, max_learning_rate, min_learning_rate)

    return {"run_get_lr_cosine_schedule": run_get_lr_cosine_schedule}


_NN, _OPTIMIZER, _MODEL = "tests/test_nn_utils.py::", "tests/test_optimizer.py::", "tests/test_model.py::"
ASKED = {
    "softmax": Asked(_NN + "test_softmax_matches_pytorch", "plain, axis, large", lambda f: {"run_softmax": f}),
    "attention": Asked(
        f"{_MODEL}test_scaled_dot_product_attention {_MODEL}test_4d_scaled_dot_product_attention",
        "plain, heads, unequal, mask, batch mask",
        _attention,
    ),
    "rope": Asked(_MODEL + "test_rope", "plain, heads, offset", _rope),
    "cross_entropy": Asked(_NN + "test_cross_entropy", "plain, large", lambda f: {"run_cross_entropy": f}),
    "adam": Asked(_OPTIMIZER + "test_adamw", "first, later, small", _adamw),
    "cosine": Asked(_OPTIMIZER + "test_get_lr_cosine_schedule", "rising, falling, bottom, after", _cosine),
    "clip": Asked(_NN + "test_gradient_clipping", "one, several, below", _clip),
}


class _Placed:
    """A plug-in of pytest: puts an answer in the place of an adapter, and notes what the tests say."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer, self.failed, self.passed, self.seconds = answer, list[str](), 0, 0.0

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for item in items:
            for name, function in self.answer.items():
                setattr(item.module, name, function)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds += report.duration
        if report.failed:
            self.failed.append(report.longrepr.reprcrash.message)
        elif report.when == "call":
            self.passed += 1


def opened(peers: Path | None) -> PeerJudge:
    """The tests of a clone of ``stanford-cs336/assignment1-basics`` in the folder of peers."""
    folder = peers and peers / FOLDER
    if folder is None or not (folder / "tests" / "test_nn_utils.py").is_file():
        raise Missing(f"{FOLDER} is not in the folder of peers: clone stanford-cs336/{FOLDER} there")
    import pytest

    os.chdir(folder)  # its snapshots are named from there
    sys.path[:0] = [str(folder), str(peers)]

    def verdict(task: str, answer: Any) -> Verdict:
        placed = _Placed(answer)
        with contextlib.redirect_stdout(io.StringIO()):
            options = ["-q", "-p", "no:cacheprovider", "-p", "no:jaxtyping", "--rootdir", str(folder)]
            pytest.main([*options, *task.split()], plugins=[placed])
        expected = len(task.split())
        return Verdict(placed.passed == expected and not placed.failed, " ".join(placed.failed), placed.seconds)

    return PeerJudge("CS336", commit(folder), "MIT", ASKED, verdict)
