"""Answers as a submission may send them: all that a frame can carry, and above all what is nearly right.

A student's own code can only return what the probe passes on. A process that writes its answers by itself can send any
arrays of the kinds that travel, in any number that the question asks for, and failures of any kind with any words.
"""

import json
import random
from collections.abc import Iterator, Sequence

import numpy as np

from softlookup_grader.sandbox.session import _KINDS
from softlookup_inside.asking.calling import called, inputs_for
from softlookup_inside.asking.case import Arrays, Case
from softlookup_inside.asking.probe import Answer, Failure
from softlookup_inside.sandbox.frames import DTYPES, MAX_AXES
from softlookup_judge.data.published import answer
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import mistaken
from softlookup_judge.judging.questions import TaskQuestions

DTYPE = sorted(DTYPES)
KINDS = sorted(_KINDS)
WORDS = (
    *("", ".", "...", "x" * 2000, "{", "{0}", "{x}", "%s %d %", "\\", "\\n`", "`", "``code`", "a\nb\tc"),
    *("<script>x</script>", "&amp;", "</pre>", "$x$", "\N{RIGHT-TO-LEFT OVERRIDE}".strip(), "né 中 🜁"),
    *("line 3 of `f`: x = {}", "'\"", "%(x)s"),
)
ODD = (
    *(0, 1, -1, 2, 255, 256, 127, -128, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1),
    *(0.5, -0.0, 1e-320, -1e-320, 5e-324, 65504.0, 65520.0, 3.4e38, 1e300, 1.79e308, -1.79e308),
    *(float("nan"), float("inf"), float("-inf")),
)
"""Numbers at the ends of what a dtype holds, and a little beyond."""

JSON_TEXTS = (
    *(b"", b" ", b"1", b"1.0", b"-0", b"-0.0", b"1e999", b"-1e999", b"1e5", b"NaN", b"Infinity", b"-Infinity", b"true"),
    *(b"false", b"null", b"[]", b"{}", b'{"":[]}', b'{"":{}}', b'{"":1}', b'{"":"ab"}', b'{"":["ab"]}', b'{"":[[1]]}'),
    *(b'{"":[[1,2,3]]}', b'{"":[[[{"":[]}],1]]}', b'{"":[[{"":[]},1]]}', b'{"":[],"":[]}', b'{"a":1}'),
    b'{"":[],"a":1}',
    *(b'{"":[["a",1],["a",2]]}', b'{"":[["b",1],["a",2]]}', b'{"":[[1,2],[true,3]]}', b'{"":[[NaN,1],[NaN,2]]}'),
    *(b'"\\ud800"', b'"\\u0041"', b'"A"', b'"\\/"', b'"\xc3\xa9"', b"\xef\xbb\xbf[]", b"[1 ,2]", b"[1,2]\n"),
    b"[1,2]\x00",
    *(b"9" * 19, b"9" * 4000, b"9" * 5000, b"-" + b"9" * 30, b"[" * 7 + b"]" * 7, b"[" * 100 + b"]" * 100, b"[" * 5000),
    *(b"0" * 5000, b"[" + b"1," * 25_000 + b"1]", b'"' + b"a" * 210_000 + b'"', b"\xff\xfe[\x00]\x00", b"[]]", b"[[]"),
    *(b'[1.0,true,NaN,null,"\\u0041",1e999]', b'{"":[[["a","b"],1]]}', b'{"":[[[["a"],["b"]],1]]}'),
    b'"\\ud83d\\ude00"',
)


class Sends:
    """A student whose process answers with what it likes."""

    def __init__(self, sent: Sequence[Answer]) -> None:
        self.sent = sent

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        """One answer for each case."""
        return iter(self.sent)

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        """No function is lent."""
        return ()

    def differed(self, at: int) -> bool:
        """None was lent, so none gave anything else."""
        return False


class SendsRecords(Sends):
    """A student whose process answers each question to a rank with a record that is nearly one of an honest rank.

    Args:
        task: The task.
        rng: Decides what is wrong with some of the records.
    """

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(())
        self._rng, self._share = rng, rng.choice((0.0, 0.02, 0.2, 1.0))
        self._function = answer(variant_of(task), _slips(task, rng)[:1])

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        """One record for each rank that is asked."""
        return iter([self._record(case, results) for case in cases])

    def _record(self, case: Case, results: int) -> Answer:
        rng = self._rng
        try:
            with np.errstate(all="ignore"):
                arrays = called(self._function, case, inputs_for(case), results)
        except Exception as error:
            return Answer(None, Failure("raised", str(error)))
        if rng.random() >= self._share:
            return Answer(arrays)
        if rng.random() < 0.2:
            return Answer(None, Failure(rng.choice(KINDS), rng.choice(WORDS), rng.choice(WORDS)), rng.choice(WORDS))
        at, how = rng.randrange(2), rng.choice([way for way in HOW if way != "failure"])
        with np.errstate(all="ignore"):
            changed = _changed(arrays[at], case, how, rng.choice(("<i8", "<i8", rng.choice(DTYPE))), rng)
        return Answer((changed, arrays[1]) if at == 0 else (arrays[0], changed))


def sender(task: Task, task_questions: TaskQuestions, rng: random.Random) -> Sends:
    """What one submission sends to a task's questions."""
    if any(case.world for case in task_questions.cases):
        return SendsRecords(task, rng)
    return Sends(sent(task, task_questions, rng))


def sent(task: Task, task_questions: TaskQuestions, rng: random.Random) -> list[Answer]:
    """What one submission sends: an answer to each question, and to the first once more.

    Most are of one kind for all questions, since what is wrong everywhere goes farthest in the judge.
    """
    how, slips = rng.choice(HOW), _slips(task, rng)
    dtype = rng.choice(DTYPE)
    answers = []
    for case, right in zip(
        (*task_questions.cases, task_questions.cases[0]),
        (*task_questions.rights, task_questions.rights[0]),
        strict=True,
    ):
        answers.append(_answer(task, case, right, how if rng.random() < 0.9 else rng.choice(HOW), slips, dtype, rng))
    if rng.random() < 0.7:
        answers[-1] = answers[0]
    return answers


def _slips(task: Task, rng: random.Random) -> tuple[str, ...]:
    slugs = [mistake.slug for mistake in task.mistakes if mistake.symptom is None]
    return tuple(rng.sample(slugs, min(len(slugs), rng.choice((0, 1, 1, 2)))))


def _answer(
    task: Task, case: Case, right: Arrays, how: str, slips: tuple[str, ...], dtype: str, rng: random.Random
) -> Answer:
    printed = rng.choice(WORDS)
    if how == "failure":
        return Answer(None, Failure(rng.choice(KINDS), rng.choice(WORDS), rng.choice(WORDS)), printed)
    base = right
    if slips and not case.gradients:
        wrong = mistaken(variant_of(task), slips, case)
        base = right if wrong is None else tuple(np.asarray(array) for array in wrong)
    with np.errstate(all="ignore"):
        arrays = tuple(_changed(array, case, how, dtype, rng) for array in base)
    for result in arrays:
        assert result.dtype.newbyteorder("<").str in DTYPES and result.ndim <= MAX_AXES
    if case.keeps_dtype and arrays[0].dtype != case.dtype:
        return Answer(None, Failure("dtype", "The dtype is another one."), printed)
    return Answer(arrays, None, printed)


def _changed(right: np.ndarray, case: Case, how: str, dtype: str, rng: random.Random) -> np.ndarray:
    """One result, changed in one way."""
    if case.frame == "text" and how in ("odd", "cell", "cast", "text", "json"):
        return changed_text(right, how, dtype, rng)
    if how == "cast":
        return right.astype(dtype)
    if how == "odd":
        return np.full(right.shape, rng.choice(ODD)).astype(dtype)
    if how == "cell" and right.size:
        array = right.astype(dtype if rng.random() < 0.5 else np.float64)
        for _ in range(rng.choice((1, 1, 3, array.size))):
            array.flat[rng.randrange(array.size)] = np.asarray(rng.choice(ODD)).astype(array.dtype)
        return array
    if how == "shape":
        return reshaped(right, rng)
    if how == "text":
        return np.frombuffer(rng.choice(JSON_TEXTS), np.uint8).copy()
    kind = np.dtype(dtype)
    shape = tuple(rng.choice((0, 1, 1, 2, 3, 5)) for _ in range(rng.choice((0, 1, 2, 3, 4, 6, MAX_AXES))))
    shape = right.shape if rng.random() < 0.5 else shape if np.prod(shape) < 10_000 else (0, 10**7)
    count = int(np.prod(shape)) * kind.itemsize
    raw = rng.randbytes(count) if kind.kind != "b" else bytes(rng.choices((0, 1), k=count))
    return np.frombuffer(raw, kind).reshape(shape).copy()


def reshaped(right: np.ndarray, rng: random.Random) -> np.ndarray:
    """The right numbers, more or fewer of them, or none, in another shape."""
    ways = [right.reshape(-1), right.T, right[None], right[..., None], np.stack([right, right])]
    ways += [right[..., :0] if right.ndim else right.reshape(-1)[:0], np.zeros((0, 10**7)), np.zeros((10**7, 0))]
    ways += [
        right.reshape(right.shape + (1,) * (MAX_AXES - right.ndim)),
        np.zeros((0,) * MAX_AXES),
        np.float64(right.sum()),
    ]
    if right.size and right.ndim:
        ways += [right[0], right[:-1], right[..., -1], np.concatenate([right, right])]
    return np.array(rng.choice(ways))


def changed_text(right: np.ndarray, how: str, dtype: str, rng: random.Random) -> np.ndarray:
    """Bytes that are near those of the right text, or far from any."""
    raw = right.astype(np.uint8).tobytes()
    if how == "cast":
        return right.astype(dtype)
    if how == "odd":
        return np.frombuffer(rng.randbytes(rng.choice((0, 1, len(raw)))), np.uint8).copy()
    if how == "text":
        return np.frombuffer(rng.choice(JSON_TEXTS), np.uint8).copy()
    if how == "cell" and raw:
        buffer = bytearray(raw)
        for _ in range(rng.choice((1, 1, 2, 5))):
            buffer[rng.randrange(len(buffer))] = rng.choice(b'[]{}":, 019-ea.\\u\x00\xff')
        return np.frombuffer(bytes(buffer), np.uint8).copy()
    return np.frombuffer(_rewritten(raw, rng), np.uint8).copy()


def _rewritten(raw: bytes, rng: random.Random) -> bytes:
    """The same JSON, or one that is a little other, written as to_bytes does not write it."""
    value = json.loads(raw)
    way = rng.randrange(8)
    if way == 0:
        return json.dumps(value).encode()
    if way == 1:
        return json.dumps(value, indent=1).encode()
    if way == 2:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b" "
    if way == 3:
        return raw.replace(b"1", b"true").replace(b"0", b"false")
    if way == 4:
        return b"".join(b"%d.0" % (c - 48) if 48 <= c < 58 else bytes([c]) for c in raw)
    if way == 5:
        return raw.replace(b'{"":', b'{"":[],"":') if b'{"":' in raw else b" " + raw
    return json.dumps(_mutated(value, rng), separators=(",", ":")).encode()


def _mutated(value: object, rng: random.Random) -> object:
    """A part of a value replaced, dropped, doubled or wrapped."""
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        way = rng.randrange(5)
        if way == 0:
            return value[:at] + value[at + 1 :]
        if way == 1:
            return value[: at + 1] + value[at:]
        return value[:at] + [_mutated(value[at], rng)] + value[at + 1 :]
    if isinstance(value, dict) and rng.random() < 0.85:
        return {key: _mutated(part, rng) for key, part in value.items()}
    others = (
        *(None, True, False, 0, -1, 1.0, 0.5, 1e300, 10**30, "", "a", "\ud800"),
        *([], {}, {"": []}, {"": [[1, 2]]}, [value]),
    )
    return rng.choice(others)


HOW = ("failure", "cast", "cast", "odd", "cell", "cell", "shape", "random", "text", "json", "json")
"""Ways to answer; "json" is a way to change texts alone, and elsewhere numbers at random."""
