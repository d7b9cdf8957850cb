"""Chapter 12: answers that passed and are wrong, a right one close to them, and two names for two mistakes."""

from published import everywhere, world
from softlookup_judge import get_task

SOLVED = (
    "def smallest_batch(t, d, f, size, ridge):\n    most = 2 / size / (1 / d + 1 / f)\n    if most {0} ridge:\n"
    "        return 0\n    rows = 1 / (2 / size / ridge - 1 / d - 1 / f)\n    return {1}"
)
STEP = (
    "def decode_step(b, weights, cache, flops, gb, tflop):\n    move, work = (weights + b * cache) / gb / 1e9, "
    "b * flops / tflop / 1e12\n    step = {}\n    return {}"
)
STACKS = (
    "def translator_flops(b, s, t, d, f, layers, v):\n    def look(asking, seen):\n"
    "        return {0} * asking * d * d + {1} * seen * d * d + 4 * asking * seen * d\n"
    "    encoder = look(s, s) + 4 * s * d * f\n    decoder = look(t, t) + look(t, s) + 4 * t * d * f\n"
    "    return {2}"
)
BOTH = "b * layers * encoder, b * (layers * decoder + 2 * t * d * v)"


def written(task_id, source):
    return world(12, {get_task(task_id).slug: source})[get_task(task_id).name]


def test_counts_in_float32_by_torchs_own_choice_are_right():
    source = (
        "def product_cost(r, i, o, s):\n    import torch\n    f, b = 2*r*i*o, s*(r*i+i*o+r*o)\n"
        "    return torch.tensor([f, b, f / b])"
    )
    for result in everywhere("12.product", written("12.product", source)):
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
