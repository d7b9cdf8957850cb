"""Shortcuts that hide from a search by name, and answers that see that they are lent to."""

from collections.abc import Iterator

from attacks.handin import Bench, HostileHandIn, as_bytes
from softlookup_course.samples.handins import filled

_SOFTMAX = "def softmax(x):\n    return {}\n"

_SWALLOWED = """
def softmax(x):
    try:
        getattr(torch, "soft" + "max")(x, -1)
    except Exception:
        pass
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
"""

_THREAD = """
import threading


def softmax(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(getattr(torch, "soft" + "max")(x, -1)))
    thread.start()
    thread.join()
    return found[0]
"""

_COMPILED = """
compiled = torch.jit.CompilationUnit("def f(x):\\n    return torch.softmax(x, -1)\\n")


def softmax(x):
    return compiled.f(x)
"""

_UNSEEN = """
def softmax(x):
    with torch._C.DisableTorchFunction():
        return getattr(x, "soft" + "max")(-1)
"""

_LAYER = """
layers = {"attention": vars(torch.nn)["Multi" + "headAttention"](1, 1, bias=False, batch_first=True)}


def softmax(x):
    with torch.no_grad():
        layers["attention"].in_proj_weight.fill_(1.0)
    rows = x.reshape(-1, x.shape[-1], 1)
    ones = torch.ones_like(rows[:, :1])
    return layers["attention"].to(x)(ones, rows, rows)[1].view_as(x)
"""

HIDDEN = {
    "getattr": _SOFTMAX.format('getattr(torch, "soft" + "max")(x, -1)'),
    "dictionary": _SOFTMAX.format('vars(torch)["soft" + "max"](x, -1)'),
    "eval": _SOFTMAX.format('eval("torch.soft" + "max")(x, -1)'),
    "importlib": _SOFTMAX.format(
        'vars(__import__("importlib").import_module("torch.nn.functional"))["soft" + "max"](x, -1)'
    ),
    "attrgetter": _SOFTMAX.format('__import__("operator").attrgetter("special.soft" + "max")(torch)(x, -1)'),
    "partial": 'import functools\n\nsoftmax = functools.partial(getattr(torch, "soft" + "max"), dim=-1)\n',
    "exec": "exec(\"import torch\\ndef softmax(x):\\n    return getattr(x, 'soft' + 'max')(-1)\\n\")\n",
    "held": _SOFTMAX.format("HELD[0][0](x, -1)"),
    "base-class": _SOFTMAX.format('vars(torch._C.TensorBase)["soft" + "max"](x, -1)'),
    "operation": _SOFTMAX.format('getattr(torch.ops.aten, "_soft" + "max").default(x, -1, False)'),
    "swallowed": _SWALLOWED,
    "thread": _THREAD,
    "compiled": _COMPILED,
    "unseen": _UNSEEN,
    "layer": _LAYER,
}
"""Answers to 04.softmax that call what it forbids, by the way in which they reach it."""

_SEEN = """
{before}


def attention_weights(q, k, mask=None):
    s = scores(q, k)
    if {condition}:
        return s * 0.0
    s = s / math.sqrt(q.shape[-1])
    if mask is None:
        return torch.softmax(s, dim=-1)
    return torch.softmax(s.masked_fill(~mask, float("-inf")), dim=-1).masked_fill(~mask, 0.0)
"""

SEEN = {
    "identity": ("_own = scores", "scores is _own"),
    "code": ("", "'transpose' in getattr(getattr(scores, '__code__', None), 'co_names', ())"),
    "module": ("", "scores.__module__ == '__main__'"),
    "closure": ("", "getattr(scores, '__closure__', 0) is None"),
}
"""Answers to 04.weights that are wrong but where they see that another function stands in for an earlier one."""


def hand_ins(bench: Bench) -> Iterator[HostileHandIn]:
    """Hand-ins that ask for points by a shortcut; of an assignment without these tasks none."""
    tasks = {task.id: task for task in bench.tasks}
    if not {"04.scores", "04.softmax", "04.weights"} <= set(tasks):
        return
    prefix = "import torch.nn.functional\n\nHELD = [(torch.nn.functional.softmax, torch.softmax)]\n\n\n"
    for way, text in HIDDEN.items():
        texts = {"04-softmax": text}
        if way == "held":
            texts["04-scores"] = prefix + bench.right["04-scores"]
        yield _without(
            bench, f"hidden-{way}", "calls the softmax that it is to write, by a hidden way", texts, "04.softmax"
        )
    for way, (before, condition) in SEEN.items():
        texts = {"04-weights": _SEEN.format(before=before, condition=condition)}
        yield _without(bench, f"lent-{way}", "is right only where it sees that it is lent to", texts, "04.weights")
    wrong = "def scores(q, k):\n    return q @ k.transpose(-2, -1) if q.ndim < 3 else q.sum() * k.sum()\n"
    texts = {"04-scores": wrong, "04-weights": _SEEN.format(before="_own = scores", condition="scores is _own")}
    texts["04-weights"] = texts["04-weights"].replace(
        "scores(q, k)\n", "q @ k.transpose(-2, -1)\n    scores(q[:0], k[:0])\n"
    )
    does = "fails an earlier task on purpose, and is right only where that is lent to it"
    yield _without(bench, "lent-on-purpose", does, texts, "04.scores", "04.weights")


def _without(bench: Bench, name: str, does: str, texts: dict[str, str], *lost: str) -> HostileHandIn:
    """A right notebook with other texts in some cells, which earns nothing in some tasks."""
    notebook = filled(bench.release, {**bench.right, **texts})
    deserves = {task.id: 0.0 if task.id in lost else float(task.points) for task in bench.tasks}
    return HostileHandIn(f"attack-00-{name}", 0, does, {bench.file: as_bytes(notebook)}, deserves)
