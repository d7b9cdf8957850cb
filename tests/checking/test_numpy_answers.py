"""Answers in numpy, handed tensors: ``in_numpy`` turns them round and hides nothing from the checks."""

import numpy as np
import torch

from softlookup import in_numpy
from softlookup_judge import check


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_tensors_come_in_and_go_out_in_their_dtype():
    both = in_numpy(lambda x, n: (x[::-1] / np.sqrt(n), x.sum(), n))
    turned, total, n = both(torch.arange(3, dtype=torch.float32), 4)
    assert turned.dtype == total.dtype == torch.float32 and turned.tolist() == [1.0, 0.5, 0.0] and n == 4
    assert total.shape == ()
    assert isinstance(in_numpy(softmax)(np.zeros(4)), np.ndarray)
    assert in_numpy(lambda x: x > 0)(torch.ones(2)).dtype == torch.bool


def test_numbers_are_right_and_gradients_are_missing():
    assert check("04.softmax", in_numpy(softmax)).verdict == "pass"

    def attention(q, k, v, mask=None):
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
        hidden = np.zeros(scores.shape, dtype=bool) if mask is None else ~np.broadcast_to(mask, scores.shape)
        e = np.where(hidden, 0, np.exp(scores - np.where(hidden, -np.inf, scores).max(-1, keepdims=True, initial=-1e9)))
        return e / np.maximum(e.sum(-1, keepdims=True), 1e-300) @ v

    result = check("04.attention", in_numpy(attention))
    assert result.verdict == "partial" and "gradient" in result.text()


def test_shortcuts_inside_are_seen():
    forbidden = in_numpy(lambda x: torch.softmax(torch.as_tensor(x), -1).numpy())
    assert check("04.softmax", forbidden).diagnosis == ("forbidden-shortcut",)


WEIGHTS = """
def attention_weights(q, k, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return softmax(scores)
"""


def test_sound_functions_stand_in_for_wrong_ones_between_cells():
    world = {"np": np, "in_numpy": in_numpy}
    wrong = "def softmax(x):\n    e = np.exp(x)\n    return e / e.sum()\n"
    for name, source, function in (("softmax", wrong, "softmax"), ("weights", WEIGHTS, "attention_weights")):
        text = f"{source}\n{function} = in_numpy({function})\n"
        exec(compile(text, f"<submission {name}>", "exec"), world)
    result = check("04.weights", world["attention_weights"])
    assert result.verdict == "pass" and "04.softmax" in result.text(), result.text()


def test_lists_are_turned_too():
    rows = in_numpy(lambda x: [row / 2 for row in x])(torch.ones(2, 3))
    assert isinstance(rows, list) and rows[0].dtype == torch.float32
