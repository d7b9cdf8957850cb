"""Chapter 18: kernels that only seem to be cheap, that are another kernel by turns, or that cost the judge time."""

from attacks.handin import AnswerAttack
from attacks.remarks import LAUNCH

_WITHOUT_TEXT = """
$NAME.__wrapped__.__code__ = $NAME.__wrapped__.__code__.replace(co_filename="nowhere")
"""
"""Hides a kernel's text, in which much of this is refused: it would not compile in Triton."""

_SCALARS = """
@jit
def softmax_long(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    kept = [tl.load(x + row * n + j) + 0.0 for j in range(n)]
    top = kept[0]
    for number in kept[1:]:
        top = tl.maximum(top, number)
    total = 0.0
    for number in kept:
        total = total + tl.exp(number - top)
    for j, number in enumerate(kept):
        tl.store(y + row * n + j, tl.exp(number - top) / total)
"""

_TILES_OF_ONE = """
@jit
def softmax_long(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    place = row * n + tl.arange(0, 1)
    kept = [tl.load(x + place + j) + 0.0 for j in range(n)]
    top = kept[0]
    for number in kept[1:]:
        top = tl.maximum(top, number)
    total = tl.exp(kept[0] - top)
    for number in kept[1:]:
        total = total + tl.exp(number - top)
    for j, number in enumerate(kept):
        tl.store(y + place + j, tl.exp(number - top) / total)
"""

_BY_TURNS = """
turns = []
$RIGHT
right_$NAME = $NAME.__wrapped__


def by_turns(x, y, out, a, n, BLOCK: tl.constexpr):
    turns.append(n)
    if len(turns) % 64 < 12:
        right_$NAME(x, y, out, a, n, BLOCK)
    else:
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


$NAME = jit(by_turns)
"""

_WRONG_ONCE_IN_TEN = _BY_TURNS.replace("% 64 < 12", "% 10")

_NOWHERE = """
@jit
def scaled_add(x, y, out, a, n, BLOCK: tl.constexpr):
    tl.load(x + tl.full((16,), 2**52, tl.int64) * 1000)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, a * tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)
"""


def _slow(work: str) -> str:
    """A right sum that computes something else besides, 600 times on 131,072 numbers."""
    return f"""
@jit
def scaled_add(x, y, out, a, n, BLOCK: tl.constexpr):
    t = tl.full((131072,), 6e-8, tl.float16)
    u = tl.full((131072,), 0.9, tl.float16)
    whole = tl.full((131072,), 7, tl.int64)
    for _ in range(600):
        {work}
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, a * tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)
"""


_FORGED = """
import numpy as np

from softlookup_inside.tiles import recording

$RIGHT
right_$NAME = $NAME.__wrapped__


def forged(x, y, out, a, n, BLOCK: tl.constexpr):
    right_$NAME(x, y, out, a, n, BLOCK)
    rows = recording.recorder().rows
    for row in rows:
        rows[rows.index(row)] = (*row[:2], 2**40, -7, 10**9, *row[5:])


$NAME = jit(forged)
"""

_ALL_BY_ONE_PROGRAM = """
from softlookup_inside.tiles import recording

$RIGHT
right_$NAME = $NAME.__wrapped__


def all_by_one(x, y, out, a, n, BLOCK: tl.constexpr):
    recorder = recording.recorder()
    if recorder.number == 0:
        for number in range(cdiv(n, BLOCK)):
            recorder.program = (number, 0, 0)
            right_$NAME(x, y, out, a, n, BLOCK)


$NAME = jit(all_by_one)
"""

_HOLDS_SCORES = """
@jit
def attention(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    wide = tl.arange(0, H)
    at = rows[:, None] * H + wide[None, :]
    q_tile = tl.load(q + at, mask=rows[:, None] < T, other=0.0)
    top = tl.full((B,), -float("inf"), tl.float32)
    scores = []
    for start in range(0, S, B):
        cols = start + tl.arange(0, B)
        k_tile = tl.load(k + cols[None, :] * H + wide[:, None], mask=cols[None, :] < S, other=0.0)
        tile = tl.where(cols[None, :] < S, scale * tl.dot(q_tile, k_tile), -float("inf"))
        top = tl.maximum(top, tl.max(tile, 1))
        scores.append(tile)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for j, tile in enumerate(scores):
        cols = j * B + tl.arange(0, B)
        weights = tl.exp(tile - top[:, None])
        total += tl.sum(weights, 1)
        v_tile = tl.load(v + cols[:, None] * H + wide[None, :], mask=cols[:, None] < S, other=0.0)
        out += tl.dot(weights, v_tile)
    tl.store(o + at, out / total[:, None], mask=rows[:, None] < T)
"""

_HOLDS_CAUSAL_SCORES = (
    _HOLDS_SCORES.replace("def attention", "def causal_attention")
    .replace("T, S, H:", "T, H:")
    .replace("range(0, S, B)", "range(0, (tl.program_id(0) + 1) * B, B)")
    .replace("cols[None, :] < S, scale", "rows[:, None] >= cols[None, :], scale")
    .replace("< S", "< T")
)

_HOLDS_HALF = """
@jit
def softmax_long(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    part = BLOCK // 2
    parts = {}

    def load(start):
        cols = start + tl.arange(0, part)
        return tl.load(x + row * n + cols, mask=cols < n, other=-float("inf"))

    top, total = -float("inf"), 0.0
    for start in range(0, n, part):
        tile = load(start)
        if start < n // 2:
            parts[start] = tile
        top = tl.maximum(top, tl.max(tile, 0))
    for start in range(0, n, part):
        total = total + tl.sum(tl.exp((parts[start] if start in parts else load(start)) - top), 0)
    for start in range(0, n, part):
        cols = start + tl.arange(0, part)
        tile = parts[start] if start in parts else load(start)
        tl.store(y + row * n + cols, tl.exp(tile - top) / total, mask=cols < n)
"""

ANSWERS = (
    AnswerAttack("scalars", "18.online", "loads a row that does not fit as single numbers", _SCALARS + _WITHOUT_TEXT),
    AnswerAttack("tiles-of-one", "18.online", "loads it as tiles of one number", _TILES_OF_ONE + _WITHOUT_TEXT),
    AnswerAttack(
        "held-scores",
        "18.attention",
        "holds all scores on chip and rescales nothing",
        _HOLDS_SCORES + _WITHOUT_TEXT,
        0.7,
    ),
    AnswerAttack(
        "held-causal", "18.causal", "holds all scores that are seen", _HOLDS_CAUSAL_SCORES + _WITHOUT_TEXT, 0.7
    ),
    AnswerAttack(
        "held-half",
        "18.online",
        "holds half of a row, and reads the rest three times",
        _HOLDS_HALF + _WITHOUT_TEXT,
        0.7,
    ),
    AnswerAttack("turns", "18.add", "is another kernel in 52 of 64 calls", _BY_TURNS + _WITHOUT_TEXT),
    AnswerAttack("turns-rare", "18.add", "is another kernel in every tenth call", _WRONG_ONCE_IN_TEN + _WITHOUT_TEXT),
    AnswerAttack("nowhere", "18.add", "loads from places beyond 64 bits", _NOWHERE, 0.0, LAUNCH),
    AnswerAttack("forged", "18.add", "changes the record of its launch", _FORGED + _WITHOUT_TEXT),
    AnswerAttack(
        "one-program",
        "18.add",
        "records the work of all programs as that of the first",
        _ALL_BY_ONE_PROGRAM + _WITHOUT_TEXT,
        0.7,
    ),
    AnswerAttack("subnormal", "18.add", "multiplies the smallest numbers of float16", _slow("t * u")),
    AnswerAttack("whole-numbers", "18.add", "divides whole numbers of 64 bits", _slow("whole // 3")),
    AnswerAttack("sums", "18.add", "adds up numbers of float16", _slow("tl.sum(u, 0)")),
    AnswerAttack("remainders", "18.add", "takes remainders of floats", _slow("u.to(tl.float32) % 1e-30")),
)
