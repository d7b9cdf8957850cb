"""What counts as a shortcut, and what does not."""

import pytest

from published import world
from softlookup_judge import check


@pytest.mark.parametrize("call", ["torch.nn.LogSoftmax(-1)(x).exp()", "torch.nn.Softmin(-1)(-x)",
                                  "torch.distributions.Categorical(logits=x).probs"])  # fmt: skip
def test_softmax_by_its_relatives_is_a_shortcut(call):
    obj = world(4, {"04-softmax": f"def softmax(x):\n    return {call}\n"})["softmax"]
    assert check("04.softmax", obj).diagnosis == ("forbidden-shortcut",)


@pytest.mark.parametrize("call", ["dz @ torch.autograd.grad", "z.backward"])
def test_gradients_by_hand_are_by_hand(call):
    obj = world(4, {"04-backward": f"def attention_backward(q, k, v, dz):\n    {call}\n    return q, k, v\n"})
    assert check("04.backward", obj["attention_backward"]).diagnosis == ("forbidden-shortcut",)


@pytest.mark.parametrize("name", ["grad", "backward", "softmax"])
def test_a_global_of_the_same_name_hides_no_shortcut(name):
    line = {"grad": "torch.autograd.grad(q, q)", "backward": "torch.tensor(1.0).backward()", "softmax": "q.softmax(-1)"}
    task, function = ("04.softmax", "softmax") if name == "softmax" else ("04.backward", "attention_backward")
    parameters = "q" if name == "softmax" else "q, k, v, dz"
    obj = world(4, {task.replace(".", "-"): f"{name} = 1\ndef {function}({parameters}):\n    return {line[name]}\n"})
    assert check(task, obj[function]).diagnosis == ("forbidden-shortcut",)


def test_a_function_of_ones_own_with_a_forbidden_last_name_is_no_shortcut():
    source = "def grad(a, da):\n    return a * (da - (a * da).sum(-1, keepdims=True))\n"
    source += "def softmax_backward(a, da):\n    return grad(a, da)\n"
    assert check("04.softmax-backward", world(4, {"04-softmax-backward": source})["softmax_backward"]).verdict == "pass"


def test_a_method_of_ones_own_that_is_named_softmax_is_no_shortcut():
    source = (
        "class Soft:\n    def softmax(self, x):\n        e = torch.exp(x - x.amax(-1, keepdim=True))\n"
        "        return e / e.sum(-1, keepdim=True)\n\ndef softmax(x):\n    return Soft().softmax(x)\n"
    )
    assert check("04.softmax", world(4, {"04-softmax": source})["softmax"]).verdict == "pass"
