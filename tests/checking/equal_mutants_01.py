"""Mutants of chapter 1 that are right: task, changed statement, and why nothing tells them apart."""

TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
SAME_LENGTH = "there is one row of logits, and of probabilities, for each label"
WIDTH_OF_STATE = "the state is as wide as its bias, and as its matrix has rows and columns"
ALL_ALIKE = "all four arguments have the same dtype and device"
SAME_DTYPE = "labels are a part of the ids, of the same dtype"

EQUAL: list[tuple[str, ...]] = [
    ("01.recurrent", "state = {}.new_zeros(w_h.shape[0])", ALL_ALIKE, "b; w_h; w_x"),
    ("01.recurrent", "state = x.new_zeros(w_h.shape[{}])", WIDTH_OF_STATE, "1; -1"),
    ("01.recurrent", "state = x.new_zeros(b.shape[0])", WIDTH_OF_STATE),
    ("01.depth", "for i in range(len(done)):", "there is one time for each step"),
    ("01.operations", "table = (2 + multiply_add) * n_tokens ** 2 * width", "2 + 2 and 2 * 2 are the same number"),
    ("01.operations", "equal_at = 2 * width", "the public variant has 4 gates, and 4 - 2 is 2"),
    ("01.push-up", "p = torch.softmax(logits, dim=1)", TWO_AXES),
    ("01.push-up", "onehot = torch.zeros_like(logits)", SAME_LENGTH),
    ("01.push-up", "onehot[torch.arange(len({})), labels] = 1.0", SAME_LENGTH, "logits; onehot; p"),
    ("01.push-up", "gradient = (p - onehot) / len({})", SAME_LENGTH, "logits; onehot; p"),
    ("01.pairs", "features = torch.full((n - 1, n - 1), pad, dtype=labels.dtype)", SAME_DTYPE),
]
