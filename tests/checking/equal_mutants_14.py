"""Mutants of chapter 14 that are right: task, changed statement, and why nothing tells them apart."""

LAST = "the axis counted from the end is the same axis of a table"
SIZE = "both tables have that side in common"
BELOW = "no singular value is negative, and no limit either: a place-holder below 0 is never above it"
TRUTH = "True is 1 and False is 0, in comparisons too"
THERE = "what is compared with it is compared with look in the same line, or the one after it"
SHAPE = "only the shape of the table is taken"
NEAR = "one more than a billion is a billion, to nine digits"
ONCE = "a store moves its number once in the public variant"
AT_LIMIT = "whether a difference lies exactly at the limit is a matter of rounding"
WAYS = "ways = [softmax(scaled), softmax(scores), softmax(scaled, axis=0), np.full_like({})]"

EQUAL: list[tuple[str, ...]] = [
    ("14.checksum", "rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=1)) > half * printed.shape[-1]", LAST),
    ("14.checksum", "rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=1)) > half * w.shape[1]", SIZE),
    ("14.checksum", "rows = np.abs(printed.sum(axis=-1) - x @ w.sum(axis=1)) > half * printed.shape[1]", LAST),
    ("14.checksum", "rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=-1)) > half * printed.shape[1]", LAST),
    ("14.checksum", "columns = np.abs(printed.sum(axis=0) - x.sum(axis=0) @ w) > half * {}.shape[0]", SIZE, "rows; x"),
    ("14.place", "own = scores[np.arange(len({})), claimed]", SIZE, "claimed; scores"),
    ("14.place", "return 1 + (scores > own[:, None]).sum(axis=-1)", LAST),
    ("14.rank", "values = np.append(np.linalg.svd(scores, compute_uv=False), -1.0)", BELOW),
    ("14.uniform", "scaled = scores / math.sqrt(q.shape[-1])", LAST),
    ("14.uniform", "scaled = scores / math.sqrt(k.shape[1])", SIZE),
    ("14.uniform", WAYS.format("scaled, 1 / len(k)"), SHAPE),
    ("14.uniform", WAYS.format("scores, 1 / len(v)"), SIZE),
    ("14.moved", "equivariant = len(after) == len(order) and np.allclose(before[order], after)", SIZE),
    ("14.scores", "return (sets, (published[0, 0] > published[-1, 0]).sum())", LAST),
    ("14.leaks", "allowed = (first == {}) & (second == look)", THERE, "joined; second"),
    ("14.leaks", "allowed = (first == one_means_look) & (second == look)", TRUTH),
    ("14.leaks", "allowed = (first == look) & (second == {})", THERE, "first; joined"),
    ("14.leaks", "allowed = (first == look) & (second == one_means_look)", TRUTH),
    ("14.leaks", "return (joined == one_means_look) & ~allowed", TRUTH),
    ("14.balance", "unit = 1000000001.0", NEAR),
    ("14.balance", "if round(peak * 1000000000001.0 / (bandwidth * unit)) == printed:", NEAR),
    ("14.intensity", "numbers = loads + stores", ONCE),
    ("14.rows", "return (units >= weights.shape[-1] / 2) | (weights < 0).any(axis=-1)", AT_LIMIT),
    ("14.checksum", "rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=1)) >= half * printed.shape[1]", AT_LIMIT),
    ("14.checksum", "columns = np.abs(printed.sum(axis=0) - x.sum(axis=0) @ w) >= half * printed.shape[0]", AT_LIMIT),
    ("14.rank", "return (largest, values[largest] >= rounding)", AT_LIMIT),
]
