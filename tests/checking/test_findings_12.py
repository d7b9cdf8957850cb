"""Chapter 12: answers that passed and are wrong, right ones close to them, and mistakes that had no name."""

import pytest

from published import everywhere, solutions, world
from softlookup_judge import get_task

SEARCH = (
    "def smallest_batch(t, d, f, size, ridge):\n    for b in range(1, {0}):\n        rows = b * t\n"
    "        if 2 * rows * d * f / (size * (rows * d + d * f + rows * f)) {1} ridge:\n"
    "            return b\n    return 0"
)
SOLVED = (
    "def smallest_batch(t, d, f, size, ridge):\n    most = 2 / size / (1 / d + 1 / f)\n    if most {0} ridge:\n"
    "        return 0\n    rows = 1 / (2 / size / ridge - 1 / d - 1 / f)\n    return {1}"
)
FITS = (
    "def largest_batch(memory, p, layers, n, k, h, s):\n    room = memory * 1e9 - 2 * p\n"
    "    each = 4 * layers * k * h * s\n    return {}"
)
DAYS = "def training_time(p, tokens, n, sheet, share):\n    return 6 * p * tokens / ({}) / 86400"
LAYER = (
    "def layer_flops(t, s, d, n, k, h, f, gated, causal):\n"
    "    weights = d * h * (2 * n + 2 * k) + d * f * (2 + gated)\n"
    "    pairs = {0}\n    return 2 * t * weights + {1}"
)
PAIRS, WORK = "t * s - (t * (t - 1) // 2 if causal else 0)", "4 * pairs * n * h"
STEP = (
    "def decode_step(b, weights, cache, flops, gb, tflop):\n    move, work = (weights + b * cache) / gb / 1e9, "
    "b * flops / tflop / 1e12\n    step = {}\n    return {}"
)
KEPT = (
    "def activation_bytes(b, t, d, n, f, fused):\n    x, hidden, maps = b * t * d, b * t * f, b * n * t * t\n"
    "    return 2 * ({0} * x + 2 * hidden + ({1}))"
)
STATES = (
    "def state_bytes(n, recipe):\n"
    "    w, g, m, a = {{'float32': (4, 4, 0, 8), 'autocast': {0}, 'master': {1}}}[recipe]\n"
    "    return w * n, g * n, m * n, a * n"
)
TOKEN = "def token_flops(w, layers, n, h, s):\n    there = {}\n    return there, 3 * there"
MODEL = (
    "def count_model(v, d, n, k, h, f, layers, tied):\n    matrices = layers * d * ({0} + 2 * k * h + 3 * f)\n"
    "    table, gains = v * d, d * (2 * layers + 1)\n    return matrices + gains + table * (1 if tied else 2), {1}"
)
STACKS = (
    "def translator_flops(b, s, t, d, f, layers, v):\n    def look(asking, seen):\n"
    "        return {0} * asking * d * d + {1} * seen * d * d + 4 * asking * seen * d\n"
    "    encoder = look(s, s) + 4 * s * d * f\n    decoder = look(t, t) + look(t, s) + 4 * t * d * f\n"
    "    return {2}"
)
BOTH = "b * layers * encoder, b * (layers * decoder + 2 * t * d * v)"
DECODE = (
    "def decode_intensities(b, s, d, f, n, k, h, size):\n    dense = 2 * b * d * f / ({0})\n"
    "    scores = 2 * b * n * s * h / ({1})\n    return dense / size, scores / size"
)
MATRIX, SQUARE = "b * d + d * f + b * f", "b * (n * h + k * s * h + n * s)"

NAMED = [
    (
        "12.product",
        "def product_cost(r, i, o, s):\n    f, b = 2*r*i*o - r*o, s*(r*i+i*o+r*o)\n    return f, b, f / b",
        "sums-less-one",
    ),
    (
        "12.product",
        "def product_cost(r, i, o, s):\n    f, b = 2*r*i*o, s*(r*i+i*o+r*o)\n    return f, b, f // b",
        "whole-number",
    ),
    ("12.layer", LAYER.format(PAIRS, "4 * pairs * d"), "scores-of-model-width"),
    ("12.layer", LAYER.format(PAIRS, "4 * pairs * h"), "one-head"),
    ("12.layer", LAYER.format(PAIRS, WORK + " + 4 * (s - t) * d * k * h"), "keys-made-anew"),
    ("12.layer", LAYER.format("t * (t + 1) // 2 if causal else t * t", WORK), "new-alone"),
    ("12.layer", LAYER.format("t * (s - t) + t * t // 2 if causal else t * s", WORK), "half-the-square"),
    ("12.layer", LAYER.format(PAIRS, WORK).replace("2 + gated", "3"), "gate-always"),
    ("12.parameters", MODEL.format("2 * d", "matrices + table"), "heads-fill-model"),
    ("12.parameters", MODEL.format("2 * n * h", "matrices + (0 if tied else table)"), "tied-logits-forgotten"),
    ("12.parameters", MODEL.format("2 * n * h", "matrices + table * (1 if tied else 2)"), "lookup-in-products"),
    ("12.parameters", MODEL.format("2 * n * h", "matrices + table + gains"), "gains-in-products"),
    ("12.token", TOKEN.format("2 * w + 4 * layers * h * s"), "one-head"),
    ("12.token", TOKEN.format("2 * w + 4 * layers * n * h * (s - 1)"), "itself-left-out"),
    ("12.token", TOKEN.format("s * (2 * w + 4 * layers * n * h * s)"), "whole-text"),
    ("12.encoder-decoder", STACKS.format(4, 4, BOTH.replace("layers", "1")), "one-layer"),
    ("12.encoder-decoder", STACKS.format(4, 4, BOTH + " + b * layers * encoder"), "sum-of-both"),
    ("12.days", DAYS.format("n * list(sheet.values())[0] * 1e12 * share"), "first-of-sheet"),
    ("12.days", DAYS.format("n * sheet['dense'] * 1e12 / share"), "share-turned"),
    ("12.states", STATES.format("(4, 4, 2, 8)", "(2, 2, 4, 8)"), "copies-counted"),
    ("12.states", STATES.format("(4, 2, 0, 8)", "(2, 2, 4, 8)"), "autocast-gradients"),
    ("12.states", STATES.format("(4, 4, 0, 8)", "(2, 2, 0, 12)"), "master-with-adam"),
    ("12.states", STATES.format("(4, 4, 0, 8)", "(2, 2, 4, 12)"), "master-twice"),
    ("12.activations", KEPT.format(7, "0 if fused else maps"), "one-forgotten"),
    ("12.activations", KEPT.format(8, "maps if fused else 0"), "fused-turned"),
    ("12.activations", KEPT.format(8, "0 if fused else maps // 2"), "causal-halved"),
    (
        "12.activations",
        "def activation_bytes(b, t, d, n, f, fused):\n    return b * t * d * (34 + 5 * n * t / d)",
        "paper-formula",
    ),
    ("12.cache", FITS.format("max(0, room / each)"), "fraction"),
    ("12.cache", FITS.format("max(0, round(room / each))"), "to-the-nearest"),
    ("12.cache", FITS.format("max(1, int(room // each))"), "one-at-least"),
    ("12.cache", FITS.format("len(range(int(each), int(max(room, 0)), int(each)))"), "byte-to-spare"),
    ("12.decode", DECODE.format(MATRIX, "b * (k * s * h + n * s)"), "queries-unread"),
    ("12.decode", DECODE.format(MATRIX, "b * (n * h + 2 * k * s * h + n * s)"), "values-too"),
    ("12.decode", DECODE.format("b * d + d * f", SQUARE), "dense-result-unwritten"),
    ("12.ridge", SEARCH.format(10**5, ">"), "above-the-ridge"),
    ("12.ridge", SEARCH.format(1000, ">="), "search-ends"),
    ("12.ridge", SOLVED.format("<=", "math.floor(rows / t) + 1"), "above-the-ridge"),
    ("12.ridge", SOLVED.format("<=", "rows / t"), "fraction"),
    ("12.step", STEP.format("move", "step, b / step"), "moving-alone"),
    ("12.step", STEP.format("work", "step, b / step"), "computing-alone"),
    ("12.step", STEP.format("max(move, work)", "b / step, step"), "pair-swapped"),
]
RIGHT = [
    ("12.ridge", SEARCH.format(10**5, ">=")),
    ("12.ridge", SOLVED.format("<=", "math.ceil(rows / t)")),
    ("12.cache", FITS.format("max(0, int(room // each))")),
    ("12.days", DAYS.format("n * sheet.get('dense') * 1e12 * share")),
    ("12.layer", LAYER.format(PAIRS, WORK)),
    ("12.parameters", MODEL.format("2 * n * h", "matrices + table")),
    ("12.token", TOKEN.format("2 * w + 4 * layers * n * h * s")),
    ("12.encoder-decoder", STACKS.format(4, 4, BOTH)),
    ("12.states", STATES.format("(4, 4, 0, 8)", "(2, 2, 4, 8)")),
    ("12.activations", KEPT.format(8, "0 if fused else maps")),
    ("12.decode", DECODE.format(MATRIX, SQUARE)),
    ("12.step", STEP.format("max(move, work)", "step, b / step")),
    (
        "12.product",
        "def product_cost(r, i, o, s):\n    import torch\n    f, b = 2*r*i*o, s*(r*i+i*o+r*o)\n"
        "    return torch.tensor([f, b, f / b])",  # float32 by torch's own choice
    ),
]
STEPS = [
    ("hidden-unmoved", ("x + 4 * square + hidden", "x + 4 * square")),
    ("relu-free", ("(hidden, 2 * hidden)", "(0, 2 * hidden)")),
    ("full-width", ("2 * scores * head_width", "2 * scores * n_heads * head_width")),
    ("per-number", ("flops / n_bytes", "flops * bytes_per_number / n_bytes")),
    ("triangle", ("n_tokens**2", "n_tokens * (n_tokens + 1) / 2")),
    ("batch-forgotten", ('"""Five', 'batch = 1\n    """Five')),
]


def written(task_id, source):
    return world(12, {get_task(task_id).slug: source})[get_task(task_id).name]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("task_id", "source", "slug"), NAMED)
def test_answers_as_students_write_them_wrongly_have_a_name(task_id, source, slug):
    for result in everywhere(task_id, written(task_id, source)):
        assert result.verdict in ("wrong", "partial") and result.diagnosis == (slug,), result.text()


@pytest.mark.parametrize(("slug", "edit"), STEPS, ids=[slug for slug, _ in STEPS])
def test_slips_in_one_step_of_the_table_have_a_name(slug, edit):
    source = solutions(12)["12-table"].replace(*edit)
    for result in everywhere("12.table", written("12.table", source)):
        assert result.diagnosis == (slug,), result.text()


@pytest.mark.parametrize(("task_id", "source"), RIGHT)
def test_right_answers_of_the_same_form_pass(task_id, source):
    for result in everywhere(task_id, written(task_id, source)):
        assert result.verdict == "pass", result.text()


def test_a_limit_that_is_not_seen_as_one_does_not_pass():
    """On the ridge that no batch reaches, who asks "below" divides by zero."""
    for result in everywhere("12.ridge", written("12.ridge", SOLVED.format("<", "math.ceil(rows / t)"))):
        assert result.verdict == "error" and "ZeroDivisionError" in result.text()


def test_the_bandwidth_of_one_card_does_not_pass():
    source = STEP.replace("/ gb /", "/ 2039 /").format("max(move, work)", "step, b / step")
    for result in everywhere("12.step", written("12.step", source)):
        assert result.verdict == "wrong", result.text()


def test_one_missing_read_beside_another_is_two_names():
    source = "def product_cost(r, i, o, s):\n    f, b = 2*r*i*o, s*i*o\n    return f, b, f / b"
    for result in everywhere("12.product", written("12.product", source)):
        assert set(result.diagnosis) == {"input-unread", "result-unwritten"}, result.text()


def test_a_product_missing_in_both_kinds_of_attention_is_two_names():
    for result in everywhere("12.encoder-decoder", written("12.encoder-decoder", STACKS.format(4, 2, BOTH))):
        assert set(result.diagnosis) == {"output-forgotten", "memory-half"}, result.text()


def test_what_is_said_of_a_key_head_for_each_query_head_is_true_of_both_ways_to_count_so():
    source = (
        "def decode_intensities(B, S, D, F, N, K, H, b):\n    n = B * D + D * F + B * F\n"
        "    return 2 * B * D * F / (n * b), 2 * {0} * S * H / (({0} * H + {0} * S * H + {0} * S) * b)"
    )
    for heads in "NK":
        for result in everywhere("12.decode", written("12.decode", source.format(heads))):
            assert result.diagnosis == ("own-keys",) and "equally many heads" in result.text(), result.text()
