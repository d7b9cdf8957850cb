"""Mutants of chapter 4 that are right: task, changed statement, and why nothing tells them apart."""

TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
WIDTH_OF_K = "keys have the head width of the queries, so their last axis is as long"
ONE_AXIS = "a query, and its row of weights, has one axis here: the first is the last"
DECIMALS = "two decimals are enough, and more are as good"

EQUAL: list[tuple[str, ...]] = [
    ("04.by-hand", "return [round(float(dot) / math.sqrt(3), 3) for dot in dots]", DECIMALS),
    ("04.scale", "return scores / math.sqrt(head_width)", "the temperature of the public variant is 1"),
    ("04.column", "scaled = score / math.sqrt(k.shape[-1])", WIDTH_OF_K),
    ("04.column", "scaled = score / math.sqrt(q.shape[-0])", ONE_AXIS),
    ("04.column", "weight = torch.softmax(scaled, dim=-0)", ONE_AXIS),
    ("04.weights", "s = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])", WIDTH_OF_K),
    ("04.attention", "s = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])", WIDTH_OF_K),
    ("04.backward", "root = math.sqrt(q.shape[1])", TWO_AXES),
    ("04.backward", "root = math.sqrt(k.shape[-1])", WIDTH_OF_K),
    ("04.backward", "e = np.exp(s - s.max(axis=1, keepdims=True))", TWO_AXES),
    ("04.backward", "a = e / e.sum(axis=1, keepdims=True)", TWO_AXES),
    ("04.backward", "ds = a * (da - (a * da).sum(axis=1, keepdims=True))", TWO_AXES),
]
