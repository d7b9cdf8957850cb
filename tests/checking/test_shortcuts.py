"""What counts as a shortcut, and what does not."""

import pytest

from published import written
from softlookup_judge import check

SOFTMAX = "alias = torch.softmax\ndef helper(x):\n    return x.softmax(-1)\ndef softmax(x):\n    {}\n"
BACKWARD = "def attention_backward(q, k, v, dz):\n    {}\n    return q, k, v\n"
SHORTCUTS = [
    *(
        ("04.softmax", SOFTMAX.format(line))
        for line in (
            "return torch.softmax(x, dim=-1)",
            "return x.softmax(-1)",
            "return torch.nn.functional.softmax(x, dim=-1)",
            "import torch.nn.functional as F\n    return F.softmax(x, dim=-1)",
            "return torch.exp(x - torch.logsumexp(x, -1, keepdim=True))",
            "from softlookup.reference import softmax as s\n    return s(x.numpy())",
            "return alias(x, dim=-1)",
            "return helper(x)",
            "return [torch.softmax(row, -1) for row in x]",
            "return torch.nn.LogSoftmax(-1)(x).exp()",
            "return torch.nn.Softmin(-1)(-x)",
            "return torch.distributions.Categorical(logits=x).probs",
        )
    ),
    ("04.softmax", "softmax = 1\ndef softmax(q):\n    return q.softmax(-1)\n"),
    ("04.softmax", "softmax = torch.nn.Softmax(dim=-1)\n"),
    ("04.softmax", "import functools\nsoftmax = functools.partial(torch.softmax, dim=-1)\n"),
    ("04.softmax", "sm = torch.nn.Softmax(dim=-1)\ndef softmax(x):\n    return sm(x)\n"),
    ("04.attention", "attention = torch.nn.functional.scaled_dot_product_attention\n"),
    (
        "04.attention",
        "from softlookup.model import scaled_dot_product_attention as sdpa\ndef attention(q, k, v, mask=None):\n"
        "    return sdpa(q, k, v, mask)\n",
    ),
    ("04.backward", BACKWARD.format("dz @ torch.autograd.grad")),
    ("04.backward", BACKWARD.format("z.backward")),
    ("04.backward", "grad = 1\n" + BACKWARD.format("torch.autograd.grad(q, q)")),
    ("04.backward", "backward = 1\n" + BACKWARD.format("torch.tensor(1.0).backward()")),
    ("04.backward", "from torch.func import jacrev\n" + BACKWARD.format("jacrev(q)")),
]
OWN = [
    (
        "04.weights",
        "def attention_weights(q, k, mask=None):\n    s = scores(q, k) / q.shape[-1] ** 0.5\n    if mask is None:\n"
        "        return softmax(s)\n    return softmax(s.masked_fill(~mask, float('-inf'))).nan_to_num(0.0)\n",
    ),
    (
        "04.softmax-backward",
        "def grad(a, da):\n    return a * (da - (a * da).sum(-1, keepdims=True))\n"
        "def softmax_backward(a, da):\n    return grad(a, da)\n",
    ),
    (
        "04.softmax-backward",
        "class Head:\n    def backward(self, a, da):\n        self.grad = a * (da - (a * da).sum(-1, keepdims=True))\n"
        "        return self.grad\ndef softmax_backward(a, da):\n    return Head().backward(a, da)\n",
    ),
    (
        "04.softmax",
        "class Soft:\n    def softmax(self, x):\n        e = torch.exp(x - x.amax(-1, keepdim=True))\n"
        "        return e / e.sum(-1, keepdim=True)\ndef softmax(x):\n    return Soft().softmax(x)\n",
    ),
    (
        "04.attention",
        "class Wrapper:\n    def __init__(self):\n        self.model = self.run\n"
        "    def run(self, q, k, v, mask):\n        s = q @ k.mT / math.sqrt(q.shape[-1])\n"
        "        s = s if mask is None else s.masked_fill(~mask, -1e30)\n        a = torch.softmax(s, -1)\n"
        "        return (a if mask is None else a * mask) @ v\n"
        "def attention(q, k, v, mask=None):\n    return Wrapper().model(q, k, v, mask)\n",
    ),
]
"""Names of one's own that are called as what is forbidden is."""


@pytest.mark.parametrize(("task_id", "source"), SHORTCUTS)
def test_shortcuts_are_named(task_id, source):
    result = check(task_id, written(task_id, source))
    assert (result.verdict, result.diagnosis) == ("wrong", ("forbidden-shortcut",)), result.text()
    assert "not allowed" in result.message


@pytest.mark.parametrize(("task_id", "source"), OWN)
def test_names_of_ones_own_are_no_shortcuts(task_id, source):
    result = check(task_id, written(task_id, source))
    assert result.verdict == "pass", result.text()
