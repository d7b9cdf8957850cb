"""Strange answers, stored ones and fickle ones: rows 23, 44, 46 and 47."""

import base64
import json
import zlib
from collections.abc import Iterator

import numpy as np

from attacks.handin import ALL, ANSWER, OTHERS, Attack, Bench, HostileHandIn
from attacks.remarks import MEMORY
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.judging.questions import HOME_SEED, draw

_SHAPE = "shape = (*given[0].shape[:-1], given[-1].shape[-1])"
_RIGHT_THEN = (
    "$RIGHT\nright_$NAME = $NAME\n\n\ndef $NAME(*given, **named):\n    import numpy as np\n    import torch\n\n"
)


def _answer(expression: str, before: str = "") -> str:
    """A function that returns one strange thing."""
    body = f"    import numpy as np\n    import torch\n\n    {_SHAPE}\n    return {expression}\n"
    return f"{before}def $NAME(*given, **named):\n{body}"


_CLASSES = """
import fractions
import itertools
import os
import pathlib
import time


class Pickled:
    def __reduce__(self):
        return os.system, ("touch /tmp/$TRACE-pickled",)

    def __array__(self, *given, **named):
        raise ValueError("no array")


class Waits:
    def __float__(self):
        time.sleep(300)

    def __array__(self, *given, **named):
        while True:
            pass


class Numbers(fractions.Fraction):
    def __float__(self):
        os.write(1, b"called")
        return float("nan")


class Copies:
    def __deepcopy__(self, memo):
        os._exit(0)

    __copy__ = __reduce_ex__ = __deepcopy__


loop = []
loop.append(loop)
deep = []
for _ in range(100_000):
    deep = [deep]
"""

_STRANGE = {
    "huge": ("torch.zeros(30_000, 30_000).expand(1000, 30_000, 30_000)", "an array of 3.6 terabytes, of strides 0"),
    "large": ("torch.zeros(*shape, 100_000_000)", "an array of gigabytes"),
    "not-numbers": ("torch.full(shape, float('nan'))", "NaN in the right shape"),
    "infinite": ("torch.full(shape, float('inf'))", "infinities in the right shape"),
    "objects": ("np.full(shape, Pickled(), dtype=object)", "an array of objects that run code when unpickled"),
    "pickled": ("Pickled()", "an object that runs code when unpickled"),
    "copies": ("[Copies()]", "an object that ends the process when copied"),
    "complex": ("torch.zeros(shape, dtype=torch.complex64)", "complex numbers"),
    "text": ("np.full(shape, '0.0')", "text that looks like numbers"),
    "dates": ("np.full(shape, 0, dtype='datetime64[s]')", "dates"),
    "records": ("np.zeros(shape, dtype=[('a', 'f4'), ('b', 'O')])", "records"),
    "long-double": ("np.zeros(shape, dtype=np.longdouble)", "a dtype of 16 bytes"),
    "empty": ("torch.zeros(0, 2**40)", "no number at all, in an enormous shape"),
    "no-axes": ("torch.tensor(0.0)", "a number where a table is wanted"),
    "many-axes": ("torch.zeros((1,) * 60)", "sixty axes"),
    "meta": ("torch.zeros(shape, device='meta')", "a tensor without any numbers"),
    "sparse": ("torch.zeros(shape).to_sparse()", "a sparse tensor"),
    "nested": ("torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])", "a nested tensor"),
    "quantized": ("torch.quantize_per_tensor(torch.zeros(shape), 0.1, 0, torch.quint8)", "a quantized tensor"),
    "masked": ("np.ma.masked_all(shape)", "a masked array"),
    "huge-number": ("1 << 10_000_000", "a number of three million digits"),
    "loop": ("loop", "a list that holds itself"),
    "deep": ("deep", "100,000 lists inside each other"),
    "endless-list": ("itertools.count()", "an iterator without end"),
    "waits": ("Waits()", "an object whose conversion never ends"),
    "fraction": ("Numbers(1, 3)", "a number of a class of its own"),
    "path": ("pathlib.Path('/etc/passwd')", "a path"),
    "coroutine": ("(lambda: (yield))()", "a generator"),
    "class": (
        "type('Tensor', (), {'__module__': 'torch', 'detach': lambda self: self, 'cpu': exit})()",
        "a false tensor",
    ),
}

_FITTING = {
    "negative-strides": ("np.flip(np.flip(right.numpy(), 0).copy(), 0)", "the right numbers, with negative strides"),
    "wrong-endian": ("right.numpy().astype('>f4')", "the right numbers, the other way round in memory"),
    "subclass": ("right.as_subclass(torch.nn.Parameter)", "the right numbers, as a parameter"),
    "fortran-order": ("np.asfortranarray(right.numpy())", "the right numbers, in Fortran's order"),
}

_STORED = """
import base64
import json
import zlib

import torch

STORED = json.loads(zlib.decompress(base64.b64decode("%s")))


def $NAME(*given, **named):
    key = repr([round(float(x), 4) for one in given for x in one.detach().flatten()[:8]])
    shape, numbers = STORED.get(key, ([1], [0.0]))
    return torch.tensor(numbers, dtype=given[0].dtype).reshape(shape)
"""

_ONCE = """
asked = 0
$RIGHT
right_$NAME = $NAME


def $NAME(*given, **named):
    global asked
    asked += 1
    result = right_$NAME(*given, **named)
    return result if asked == 1 else result + 1
"""

_DRIFTS = """
asked = 0
$RIGHT
right_$NAME = $NAME


def $NAME(*given, **named):
    global asked
    asked += 1
    return right_$NAME(*given, **named) + 0.001 * (asked - 1)
"""

_CACHE = """
$RIGHT
right_$NAME = $NAME
cache = {}


def $NAME(*given, **named):
    key = len(given)
    if key not in cache:
        cache[key] = right_$NAME(*given, **named)
    return cache[key]
"""

_LATE_STDERR = """
import os

$RIGHT
quiet_$NAME = $NAME


def $NAME(*given, **named):
    os.write(2, b"note: this answer is written with care\\n")
    return quiet_$NAME(*given, **named)


import logging
import sys
import warnings

logging.basicConfig(stream=sys.stderr, force=True)
logging.warning("a word of caution")
warnings.warn("this is only a warning")
print("and another", file=sys.stderr)
"""

_MILLION = """
for _ in range(300):
    check("$TASK", lambda *given, **named: 0.0)
$WRONG
"""


def hand_ins(bench: Bench) -> Iterator[HostileHandIn]:
    """The hand-ins of this kind."""
    for name, (expression, says) in _STRANGE.items():
        # What cannot be held is asked of the last task, so that nothing hangs on how it is stopped.
        last = name in ("huge", "large", "endless-list", "waits", "copies", "class", "deep", "huge-number")
        expression = expression.replace("shape", "(2, 3)") if last else expression
        code = _answer(expression, _CLASSES.lstrip() + "\n\n").replace(_SHAPE, "pass" if last else _SHAPE)
        remark = MEMORY if name in ("huge", "large") else ""
        yield bench.coded(Attack(f"answers-{name}", 44, f"answers with {says}", code, ANSWER, OTHERS, last, remark))
    for name, (expression, says) in _FITTING.items():
        code = f"{_RIGHT_THEN}    right = right_$NAME(*given, **named)\n    return {expression}\n"
        yield bench.coded(Attack(f"answers-{name}", 44, f"answers with {says}", code, ANSWER, ALL))
    for attack in (
        Attack("warns", 23, "right, but writes warnings to stderr", _LATE_STDERR, ANSWER, ALL),
        Attack("million", 44, "asks the judge the same question again and again", _MILLION, ANSWER),
        Attack("once", 47, "right only the first time it is asked", _ONCE, ANSWER),
        Attack("drifts", 47, "a little more wrong each time", _DRIFTS, ANSWER),
        Attack("cache", 47, "an innocent cache under too small a key", _CACHE, ANSWER),
    ):
        yield bench.coded(attack)
    # These know the questions by their numbers and shapes; some tasks are asked with texts, tables or lists.
    cases = draw(variant_of(bench.target), HOME_SEED)
    if all(isinstance(arg, np.ndarray | int | float) for case in cases for arg in case.args):
        stored, says = _STORED % stored_answers(bench), "holds the answers to the questions that are asked at home"
        yield bench.coded(Attack("stored", 46, says, stored, ANSWER))
        says = "right only in the order in which questions are asked at home"
        yield bench.coded(Attack("in-order", 47, says, _in_order(bench), ANSWER))


def stored_answers(bench: Bench) -> str:
    """The right answers to the target's questions at home, by their first numbers: compressed JSON in base 64."""
    task = bench.target
    answers = {}
    for case in draw(variant_of(task), HOME_SEED):
        firsts = [round(float(x), 4) for arg in case.args for x in np.asarray(arg).astype(float).flatten()[:8]]
        right = expected_results(variant_of(task), case)[0]
        answers[repr(firsts)] = (list(right.shape), [float(x) for x in right.flatten()])
    return base64.b64encode(zlib.compress(json.dumps(answers).encode(), 9)).decode()


def _in_order(bench: Bench) -> str:
    sizes = [tuple(np.shape(case.args[0])) for case in draw(variant_of(bench.target), HOME_SEED)]
    return f"""
SIZES = {[*sizes, sizes[0]]!r}
asked = 0
$RIGHT
right_$NAME = $NAME


def $NAME(*given, **named):
    global asked
    as_at_home = asked < len(SIZES) and tuple(given[0].shape) == SIZES[asked]
    asked += 1
    result = right_$NAME(*given, **named)
    return result if as_at_home else result + 1
"""
