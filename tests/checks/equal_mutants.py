"""Mutants that pass every check because they are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a product of numbers does not depend on the order of its factors"
TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
WIDTH_OF_K = "keys have the head width of the queries, so their last axis is as long"
ONE_AXIS = "a query, and its row of weights, has one axis here: the first is the last"

SQUARED = "a difference that is squared may be taken either way round"
ONE_COLUMN = "predictions have one column: the first is the last"
AS_MANY_ROWS = "all of them have one row for each example of the batch"

EQUAL: list[tuple[str, str, str]] = [
    ("00.error", "difference = target - predicted[:, 0]", SQUARED),
    ("00.error", "difference = predicted[:, -1] - target", ONE_COLUMN),
    ("00.softmax", "return (e / e.sum(axis=-1, keepdims=True)).tolist()", TWO_AXES),
    ("00.cross-entropy", "log_p = torch.log_softmax(logits, dim=1)", TWO_AXES),
    ("00.cross-entropy", "log_p = torch.log_softmax(logits, dim=--1)", TWO_AXES),
    ("00.cross-entropy", "picked = log_p[torch.arange(len(log_p)), target]", AS_MANY_ROWS),
    ("00.cross-entropy", "picked = log_p[torch.arange(len(logits)), target]", AS_MANY_ROWS),
    ("00.slope", "error = x * w - t", COMMUTES),
    ("00.slope", "return x * (2 * error)", COMMUTES),
    ("00.slope", "return error * 2 * x", COMMUTES),
    ("00.gradient", "return x.T * 2 @ error / len(y)", COMMUTES),
    ("00.gradient", "return 2 * x.T @ error / len(error)", AS_MANY_ROWS),
    ("00.gradient", "return 2 * x.T @ error / len(x)", AS_MANY_ROWS),
    ("00.descent", "w -= w.grad * rate", COMMUTES),
    ("00.descent", "loss = ((y - x @ w) ** 2).mean()", SQUARED),
    (
        "04.by-hand",
        "return [round(float(dot) / math.sqrt(3), 3) for dot in dots]",
        "two decimals are enough, and more are as good",
    ),
    ("04.scale", "return scores / (math.sqrt(head_width) * tau)", COMMUTES),
    ("04.scale", "return scores / math.sqrt(head_width)", "the temperature of the public variant is 1"),
    ("04.column", "scaled = score / math.sqrt(k.shape[-1])", WIDTH_OF_K),
    ("04.column", "scaled = score / math.sqrt(q.shape[-0])", ONE_AXIS),
    ("04.column", "weight = torch.softmax(scaled, dim=-0)", ONE_AXIS),
    ("04.column", "return (v * weight[:, None]).sum(dim=0)", COMMUTES),
    ("04.weights", "s = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])", WIDTH_OF_K),
    ("04.attention", "s = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])", WIDTH_OF_K),
    ("04.spread", "variance = sigma_k ** 2 * (head_width * sigma_q ** 2)", COMMUTES),
    ("04.spread", "variance = sigma_q ** 2 * head_width * sigma_k ** 2", COMMUTES),
    ("04.cost", "numbers = n_keys * (batch * n_queries)", COMMUTES),
    ("04.cost", "numbers = n_queries * batch * n_keys", COMMUTES),
    ("04.cost", "return bytes_per_number * numbers", COMMUTES),
    ("04.softmax-backward", "inner = (da * a).sum(axis=-1, keepdims=True)", COMMUTES),
    ("04.softmax-backward", "return (da - inner) * a", COMMUTES),
    ("04.backward", "root = math.sqrt(q.shape[1])", TWO_AXES),
    ("04.backward", "root = math.sqrt(k.shape[-1])", WIDTH_OF_K),
    ("04.backward", "root = math.sqrt(q.shape[--1])", TWO_AXES),
    ("04.backward", "e = np.exp(s - s.max(axis=1, keepdims=True))", TWO_AXES),
    ("04.backward", "e = np.exp(s - s.max(axis=--1, keepdims=True))", TWO_AXES),
    ("04.backward", "a = e / e.sum(axis=1, keepdims=True)", TWO_AXES),
    ("04.backward", "a = e / e.sum(axis=--1, keepdims=True)", TWO_AXES),
    ("04.backward", "ds = (da - (a * da).sum(axis=-1, keepdims=True)) * a", COMMUTES),
    ("04.backward", "ds = a * (da - (da * a).sum(axis=-1, keepdims=True))", COMMUTES),
    ("04.backward", "ds = a * (da - (a * da).sum(axis=1, keepdims=True))", TWO_AXES),
    ("04.backward", "ds = a * (da - (a * da).sum(axis=--1, keepdims=True))", TWO_AXES),
]
