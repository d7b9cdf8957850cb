"""Mutants of chapter 5 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a product of numbers does not depend on the order of its factors"
TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
WIDTH_OF_K = "keys have the head width of the queries, so their last axis is as long"
FOUR_AXES = "the arrays have four axes, so axis 2 is the last but one"

EQUAL: list[tuple[str, ...]] = [
    ("05.init", "return math.sqrt(numerator / (fan_out + fan_in))", COMMUTES),
    ("05.init", "return math.sqrt(numerator / (d_model + fan_out))", "fan_in is the model width by another name"),
    ("05.heads", "s = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])", WIDTH_OF_K),
    ("05.shares", "rows = w_o.reshape(n_heads, head_width, w_o.shape[1])", TWO_AXES),
    ("05.heads", "s = q @ k.transpose(2, -1) / math.sqrt(q.shape[-1])", FOUR_AXES),
]
