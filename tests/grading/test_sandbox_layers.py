"""A layer's class is answered in the sandbox as at home: sizes, given weights, gradients, and what it is told."""

import numpy as np
from sandbox_tools import ABOUT, LIMITS, NEEDS_SANDBOX, ask, hold

from softlookup_grader.data.work import Limits

pytestmark = NEEDS_SANDBOX

ROOMY = Limits(**{**vars(LIMITS), "memory_mb": 1000, "answer_s": 20, "cell_s": 20, "cpu_s": 30})
SOURCE = """
import torch
from torch import nn

class f(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.w = {made}

    def forward(self, x):
        return x @ self.w
"""
W, X = np.arange(6.0).reshape(2, 3), np.array([[1.0, -1.0]])
LAYER = {"frame": "torch", "sizes": 2, "parameters": ("w",), "seconds": 20.0}


def test_class_answers_with_given_weights_and_their_gradients(begin):
    session = begin(ROOMY)
    assert hold(session, SOURCE.format(made="nn.Parameter(torch.empty(rows, columns))")).callable
    np.testing.assert_array_equal(ask(session, 2, 3, W, X, **LAYER).arrays[0], X @ W)
    back = ask(session, 2, 3, W, X, results=2, gradients=(2, 3), upstream=np.ones((1, 3)), **LAYER).arrays
    np.testing.assert_array_equal(back[0], X.T @ np.ones((1, 3)))
    np.testing.assert_array_equal(back[1], np.ones((1, 3)) @ W.T)


def test_lost_dtype_and_missing_parameter_of_a_class_come_back_as_words(begin):
    session = begin(ROOMY)
    hold(session, SOURCE.format(made="torch.ones(rows, columns)"))
    failure = ask(session, 2, 3, W, X, **LAYER).failure
    assert failure.kind == "no-parameter" and "plain tensor" in failure.message
    session.run(SOURCE.format(made="nn.Parameter(torch.empty(rows, columns))").replace("@ self.w", "@ self.w.float()"))
    session.run("def g(rows, columns, w, x): return (x @ w).float()")
    assert session.check("", {**ABOUT, "expression": "g"}).there
    assert ask(session, 2, 3, W, X, keeps_dtype=True, **LAYER).failure.kind == "dtype"
