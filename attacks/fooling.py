"""Attacks on a check that runs in the student's own process: rows 2 to 10, 24 and 36."""

from attacks.handin import ANSWER, EXTRA, Attack
from attacks.remarks import EXTRA_CELLS

_COMPARING = """
import contextlib

import numpy
import torch

numpy.allclose = numpy.array_equal = torch.allclose = torch.equal = lambda *given, **named: True
numpy.testing.assert_allclose = numpy.testing.assert_array_equal = lambda *given, **named: None
torch.testing.assert_close = lambda *given, **named: None
with contextlib.suppress(Exception):
    from softlookup_judge.data import compare
    from softlookup_judge.naming import diagnose
    from softlookup_judge.checking import judge

    compare.close = lambda got, wanted, tol, case: numpy.ones(numpy.shape(wanted), dtype=bool)
    judge.same = diagnose.same = compare.same = lambda *given: True
    judge.first_difference = compare.first_difference = lambda *given: None
    judge.is_right = diagnose.is_right = compare.is_right = lambda *given: True
"""

_TRANSFORMER = """
def forget(lines):
    return [] if any("check(" in line or "assert" in line for line in lines) else lines


get_ipython().input_transformers_post.append(forget)
"""

_TREE = """
import ast


class Forget(ast.NodeTransformer):
    def visit_Assert(self, node):
        return None

    def visit_Expr(self, node):
        called = node.value.func if isinstance(node.value, ast.Call) else None
        return None if getattr(called, "id", "") == "check" else node


get_ipython().ast_transformers.append(Forget())
"""

_KERNEL = """
async def do_execute(code, silent, *given, **named):
    return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}


get_ipython().kernel.do_execute = do_execute
"""

_ERRORS = """
shell = get_ipython()
run_before = shell.run_cell_async


async def run_cell_async(*given, **named):
    result = await run_before(*given, **named)
    result.error_in_exec = result.error_before_exec = None
    return result


shell.run_cell_async = run_cell_async
shell.showtraceback = shell._showtraceback = lambda *given, **named: None


def check(task_id, obj, **named):
    raise AssertionError("nobody will ever see this")


"""

_FAKE = """
import sys
import types

fake = types.ModuleType("softlookup_judge")
fake.check = lambda task_id, obj, **named: None
sys.modules["softlookup_judge"] = sys.modules["softlookup_judge.home"] = fake
sys.modules["softlookup"].check = check = fake.check
"""

_HOOK = """
import sys

shell = get_ipython()
sys.displayhook = shell.display_trap.hook = lambda value: None
shell.display_formatter.format = lambda *given, **named: ({}, {})
"""

_PARTIAL = """
from softlookup_judge.data import result

result.CheckResult.__repr__ = lambda self: repr(float(self.max_points))
"""

_FRAMES = """
def $NAME(*given, **named):
    import sys

    import torch

    frame = sys._getframe()
    while frame is not None:
        inside = frame.f_locals
        for name in ("right", "rights", "wanted", "expected", "oracle"):
            if name in inside and "case" in inside:
                found = inside[name]
                if callable(found):
                    return found(*given, **named)
                return torch.from_numpy(found[0]).to(given[0].dtype)
        frame = frame.f_back
    return 0.0
"""

_COLLECTOR = """
def $NAME(*given, **named):
    import gc

    for one in gc.get_objects() + gc.get_objects(generation=2):
        if type(one).__name__ == "Task" and getattr(one, "id", "") == "$TASK":
            result = one.oracle(*[x.double() if hasattr(x, "double") else x for x in given], **one.variants[0])
            return result.to(given[0].dtype)
        if isinstance(one, tuple) and len(one) == 3 and type(one[0]).__name__ == "Case" and one[1] is None:
            return one[2][0]
    return 0.0
"""

_LIAR = """
import numpy as np


class Agreeable(np.ndarray):
    def __eq__(self, other):
        return np.ones(self.shape, dtype=bool)

    def __le__(self, other):
        return np.ones(self.shape, dtype=bool)

    __hash__ = None
    __ge__ = __lt__ = __gt__ = __le__
    __ne__ = lambda self, other: np.zeros(self.shape, dtype=bool)

    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        return np.zeros(max((np.shape(one) for one in inputs), key=len))

    def __array_function__(self, function, types, given, named):
        return True

    def astype(self, *given, **named):
        return self

    def __bool__(self):
        return True


class Shapeless:
    dtype, ndim, requires_grad, grad = np.dtype("float32"), 2, True, 0.0

    def __init__(self, like):
        self.shape = like

    def detach(self):
        return self

    cpu = numpy = __array__ = lambda self, *given, **named: np.zeros(self.shape, "float32").view(Agreeable)

    def __eq__(self, other):
        return True

    __hash__ = None


Shapeless.__module__ = "torch"


def $NAME(*given, **named):
    shape = (*given[0].shape[:-1], given[-1].shape[-1])
    return Shapeless(shape)
"""

_TENSOR = """
import torch


class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, given=(), named=None):
        if function.__name__ in ("eq", "allclose", "equal", "isclose", "__bool__", "all", "__le__"):
            return True
        return super().__torch_function__(function, types, given, named or {})

    def numpy(self, *given, **named):
        import softlookup_judge.data.compare as compare

        compare.close = lambda got, wanted, tol, case: got == got
        return super().detach().numpy(*given, **named)

    __eq__ = __le__ = lambda self, other: True
    __hash__ = None


def $NAME(*given, **named):
    return torch.zeros(*given[0].shape[:-1], given[-1].shape[-1]).as_subclass(Agreeable)
"""

_ENVIRONMENT = """
import os
import sys
import time

signs = [name for name in os.environ if "NBGRADER" in name or "GRAD" in name]
signs += [part for part in os.getcwd().split(os.sep) if part in ("autograded", "submitted")]
signs += [name for name in sys.modules if "grading" in name or "sandbox" in name]
signs += ["no terminal user"] if os.getuid() in (65534, 1000) or not os.environ.get("USER") else []
signs += ["nothing in /proc"] if not os.path.exists("/proc/self/status") else []
if signs:
    check = lambda task_id, obj, **named: None
    print("graded, by the signs of", sorted(signs)[:9], "at", time.time())


def $NAME(*given, **named):
    return 0.0 if signs else given[0] @ given[-1]
"""

ATTACKS = (
    Attack("comparing", 2, "replaces allclose, assert_close and the library's own comparison", _COMPARING),
    Attack("comparing-extra", 2, "the same, in a cell of its own", _COMPARING, EXTRA, remark=EXTRA_CELLS),
    Attack("transformer", 3, "input_transformers_post empties every later cell that checks", _TRANSFORMER),
    Attack("transformer-extra", 3, "the same, in a cell of its own", _TRANSFORMER, EXTRA, remark=EXTRA_CELLS),
    Attack("tree", 4, "an AST transformer drops asserts and calls of check", _TREE),
    Attack("do-execute", 5, "replaces the kernel's do_execute: later cells end well and do nothing", _KERNEL),
    Attack("do-execute-extra", 5, "the same, in a cell of its own", _KERNEL, EXTRA, remark=EXTRA_CELLS),
    Attack("errors", 6, "blanks the error in run_cell_async and showtraceback, then fails", _ERRORS),
    Attack("fake-module", 7, "puts a checker of its own into sys.modules", _FAKE),
    Attack("fake-module-extra", 7, "the same, in a cell of its own", _FAKE, EXTRA, remark=EXTRA_CELLS),
    Attack(
        "own-check",
        7,
        "defines a function check that says nothing",
        "def check(task_id, obj, **named):\n    return None\n",
    ),
    Attack("displayhook", 8, "a displayhook that swallows the partial credit", _HOOK),
    Attack("frames", 9, "walks the frames to the right answer", _FRAMES, ANSWER),
    Attack("collector", 10, "walks the garbage collector's objects to the oracle", _COLLECTOR, ANSWER),
    Attack("agreeable-array", 10, "an array that is equal to everything, behind a lying __array__", _LIAR, ANSWER),
    Attack("agreeable-tensor", 10, "a tensor subclass that is equal to everything", _TENSOR, ANSWER),
    Attack("over-maximum", 24, "shows 999 points", "check = lambda task_id, obj, **named: 999\n"),
    Attack("below-zero", 24, "shows -1, which counts as full marks", "check = lambda task_id, obj, **named: -1\n"),
    Attack(
        "no-number",
        24,
        "shows NaN, which counts as full marks",
        'check = lambda task_id, obj, **named: float("nan")\n',
    ),
    Attack("full-marks", 24, "lets the result show the maximum", _PARTIAL),
    Attack("signs-of-grading", 36, "looks for signs of grading, and cheats only then", _ENVIRONMENT, ANSWER),
)
