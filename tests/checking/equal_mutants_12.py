"""Mutants of chapter 12 that are right: task, changed statement, and why nothing tells them apart."""

NEAR = "one more than a trillion is a trillion, to twelve digits"
SAME = "weights and gradients are the same number, set in one line"
TWO = "a number has two bytes in the public variant, and 2 + 2 is 2 * 2"
LARGE = "what a row gains is far from 0 in the questions, so that a limit of 1 or -1 parts them as well"

EQUAL: list[tuple[str, ...]] = [
    ("12.days", "flops_per_s = n_devices * sheet['dense'] * 1000000000001.0 * share", NEAR),
    ("12.states", "return (gradients, gradients, master, adam)", SAME),
    ("12.states", "return (weights, weights, master, adam)", SAME),
    ("12.cache", "each = (2 + size) * n_layers * n_kv_heads * head_width * context", TWO),
    ("12.ridge", "if gained <= 1:", LARGE),
    ("12.step", "computing_s = batch * token_flops / (tflop_per_s * 1000000000001.0)", NEAR),
]
