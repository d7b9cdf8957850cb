"""Mutants that pass every check because they are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a product of numbers does not depend on the order of its factors"
TWO_AXES = "the task's arrays have two axes, so axis 1 is the last one"
WIDTH_OF_K = "keys have the head width of the queries, so their last axis is as long"
ONE_AXIS = "a query, and its row of weights, has one axis here: the first is the last"

SAME_WEIGHT = "apple and banana have the same weight in the public variant"
NO_LENGTH = "a dot product with a vector of zeros is 0, and 0 over any number is 0"
SAME_SHAPE = "scores and what is made of them have one shape"
ADDS_UP = "a sum does not depend on the order of its terms"

EQUAL: list[tuple[str, str, str]] = [
    ("03.pad", "mask = np.zeros(ids.shape)", "0 and 1 compare like False and True"),
    ("03.pair-counts", "counts[pair] = times + counts.get(pair, 0)", "a sum does not depend on the order of its terms"),
    (
        "03.merge",
        "if tuple(symbols[place:2 + place]) == pair:",
        "a sum does not depend on the order of its terms",
    ),
    ("03.merge", "result.append(pair[0] + pair[-1])", "a pair has two halves: place 1 is the last"),
    (
        "03.encode",
        "pairs = [pair for pair in pairwise(symbols) if pair in merges]",
        "the ranks have the merges as keys",
    ),
    ("03.embed", "x = math.sqrt(table.shape[-1]) * table[ids]", COMMUTES),
    ("03.embed", "x = table[ids] * math.sqrt(table.shape[1])", TWO_AXES),
    ("03.embed", "x = table[ids] * math.sqrt(table.shape[--1])", TWO_AXES),
    ("02.by-hand", "weights = np.array([banana, banana, lemon])", SAME_WEIGHT),
    ("02.by-hand", "weights = np.array([apple, apple, lemon])", SAME_WEIGHT),
    ("02.mix", "weights = amounts / amounts.sum(axis=1, keepdims=True)", TWO_AXES),
    ("02.mix", "weights = amounts / amounts.sum(axis=--1, keepdims=True)", TWO_AXES),
    (
        "02.similarity",
        "lengths = np.linalg.norm(k, axis=-1)[None, :] * np.linalg.norm(q, axis=-1)[:, None]",
        COMMUTES,
    ),
    (
        "02.similarity",
        "lengths = np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=-1)[None, :]",
        TWO_AXES,
    ),
    (
        "02.similarity",
        "lengths = np.linalg.norm(q, axis=-1)[:, None] * np.linalg.norm(k, axis=1)[None, :]",
        TWO_AXES,
    ),
    (
        "02.similarity",
        "lengths = np.linalg.norm(q, axis=--1)[:, None] * np.linalg.norm(k, axis=-1)[None, :]",
        TWO_AXES,
    ),
    (
        "02.similarity",
        "lengths = np.linalg.norm(q, axis=-1)[:, None] * np.linalg.norm(k, axis=--1)[None, :]",
        TWO_AXES,
    ),
    ("02.similarity", "return dots / np.where(lengths == 0, 2, lengths)", NO_LENGTH),
    ("02.similarity", "return dots / np.where(lengths == 0, -1, lengths)", NO_LENGTH),
    ("02.similarity", "return dots / np.where(dots == 0, 1, lengths)", NO_LENGTH),
    ("02.limit", "best = scores == scores.max(axis=1, keepdims=True)", TWO_AXES),
    ("02.limit", "best = scores == scores.max(axis=--1, keepdims=True)", TWO_AXES),
    ("02.limit", "cold = best / best.sum(axis=1, keepdims=True) @ v", TWO_AXES),
    ("02.limit", "cold = best / best.sum(axis=--1, keepdims=True) @ v", TWO_AXES),
    ("02.limit", "hot = np.full_like(scores, 1 / scores.shape[1]) @ v", TWO_AXES),
    ("02.limit", "hot = np.full_like(scores, 1 / scores.shape[--1]) @ v", TWO_AXES),
    ("02.limit", "hot = np.full_like(scores, 1 / best.shape[-1]) @ v", SAME_SHAPE),
    ("02.lead", "return math.log(odds * (n_keys - 1)) * tau", COMMUTES),
    ("02.lead", "return tau * math.log((n_keys - 1) * odds)", COMMUTES),
    ("02.analogy", "target = table[c] + (table[a] - table[b])", ADDS_UP),
    (
        "02.analogy",
        "cosines = table @ target / (np.linalg.norm(target) * np.linalg.norm(table, axis=1))",
        COMMUTES,
    ),
    (
        "02.analogy",
        "cosines = table @ target / (np.linalg.norm(table, axis=-1) * np.linalg.norm(target))",
        TWO_AXES,
    ),
SAME_LENGTH = "there is one row of logits, and of probabilities, for each label"
WIDTH_OF_STATE = "the state is as wide as its bias, and as its matrix has rows and columns"
ALL_ALIKE = "all four arguments have the same dtype and device"
SUMS_COMMUTE = "a sum does not depend on the order of its terms"

EQUAL: list[tuple[str, str, str]] = [
    ("01.recurrent", "state = b.new_zeros(w_h.shape[0])", ALL_ALIKE),
    ("01.recurrent", "state = w_h.new_zeros(w_h.shape[0])", ALL_ALIKE),
    ("01.recurrent", "state = w_x.new_zeros(w_h.shape[0])", ALL_ALIKE),
    ("01.recurrent", "state = x.new_zeros(w_h.shape[1])", WIDTH_OF_STATE),
    ("01.recurrent", "state = x.new_zeros(w_h.shape[-1])", WIDTH_OF_STATE),
    ("01.recurrent", "state = x.new_zeros(b.shape[0])", WIDTH_OF_STATE),
    ("01.recurrent", "state = torch.tanh(b + (x_t @ w_x + state @ w_h))", SUMS_COMMUTE),
    ("01.recurrent", "state = torch.tanh(state @ w_h + x_t @ w_x + b)", SUMS_COMMUTE),
    ("01.depth", "done = len(needs) * [0]", "a list repeated n times is n times the list"),
    ("01.depth", "for i in range(len(done)):", "there is one time for each step"),
    ("01.depth", "done[i] = max(before) + 1", SUMS_COMMUTE),
    ("01.operations", "one_matrix = width ** 2 * (multiply_add * n_tokens)", COMMUTES),
    ("01.operations", "one_matrix = n_tokens * multiply_add * width ** 2", COMMUTES),
    ("01.operations", "recurrent = one_matrix * (gates * 2)", COMMUTES),
    ("01.operations", "recurrent = 2 * gates * one_matrix", COMMUTES),
    ("01.operations", "projections = one_matrix * 4", COMMUTES),
    ("01.operations", "table = width * (2 * multiply_add * n_tokens ** 2)", COMMUTES),
    ("01.operations", "table = n_tokens ** 2 * (2 * multiply_add) * width", COMMUTES),
    ("01.operations", "table = multiply_add * 2 * n_tokens ** 2 * width", COMMUTES),
    ("01.operations", "table = (2 + multiply_add) * n_tokens ** 2 * width", "2 + 2 and 2 * 2 are the same number"),
    ("01.operations", "attention = table + projections", SUMS_COMMUTE),
    ("01.operations", "equal_at = width * (gates - 2)", COMMUTES),
    ("01.operations", "equal_at = 2 * width", "the public variant has 4 gates, and 4 - 2 is 2"),
    ("01.pairs", "features[t, :t + 1] = ids[:1 + t]", SUMS_COMMUTE),
    ("01.pairs", "features[t, :1 + t] = ids[:t + 1]", SUMS_COMMUTE),
    ("01.push-up", "p = torch.softmax(logits, dim=1)", TWO_AXES),
    ("01.push-up", "p = torch.softmax(logits, dim=--1)", TWO_AXES),
    ("01.push-up", "onehot = torch.zeros_like(logits)", SAME_LENGTH),
    ("01.push-up", "onehot[torch.arange(len(logits)), labels] = 1.0", SAME_LENGTH),
    ("01.push-up", "onehot[torch.arange(len(onehot)), labels] = 1.0", SAME_LENGTH),
    ("01.push-up", "onehot[torch.arange(len(p)), labels] = 1.0", SAME_LENGTH),
    ("01.push-up", "gradient = (p - onehot) / len(logits)", SAME_LENGTH),
    ("01.push-up", "gradient = (p - onehot) / len(onehot)", SAME_LENGTH),
    ("01.push-up", "gradient = (p - onehot) / len(p)", SAME_LENGTH),
    ("01.push-up", "return logits - gradient * rate", COMMUTES),
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
