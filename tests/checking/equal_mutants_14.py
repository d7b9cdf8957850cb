"""Mutants of chapter 14 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a sum, a product or a conjunction does not depend on the order of its parts"
APART = "what lies between two numbers does not depend on which is taken from which"
LAST = "the axis counted from the end is the same axis of a table"
SIZE = "both tables have that side in common"
BELOW = "no singular value is negative, and no limit either: a place-holder below 0 is never above it"
TRUTH = "True is 1 and False is 0, in comparisons too"
THERE = "what is compared with it is compared with look in the same line, or the one after it"
SHAPE = "only the shape of the table is taken"
NEAR = "one more than a billion is a billion, to nine digits"
ONCE = "a store moves its number once in the public variant"
AT_LIMIT = "whether a difference lies exactly at the limit is a matter of rounding"

EQUAL: list[tuple[str, str, str]] = [
    ("14.rows", "units = 10 ** places * np.abs(weights.sum(axis=-1) - 1)", COMMUTES),
    ("14.rows", "units = np.abs(1 - weights.sum(axis=-1)) * 10 ** places", APART),
    ("14.rows", "return (weights < 0).any(axis=-1) | (units > weights.shape[-1] / 2)", COMMUTES),
    ("14.checksum", "half = 10.0 ** (-places) * 0.5", COMMUTES),
    ("14.checksum", "rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=1)) > printed.shape[1] * half", COMMUTES),
    ("14.checksum", "rows = np.abs(x @ w.sum(axis=1) - printed.sum(axis=1)) > half * printed.shape[1]", APART),
    ("14.checksum", "rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=1)) > half * printed.shape[-1]", LAST),
    ("14.checksum", "rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=1)) > half * w.shape[1]", SIZE),
    ("14.checksum", "rows = np.abs(printed.sum(axis=-1) - x @ w.sum(axis=1)) > half * printed.shape[1]", LAST),
    ("14.checksum", "rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=-1)) > half * printed.shape[1]", LAST),
    ("14.checksum", "columns = np.abs(printed.sum(axis=0) - x.sum(axis=0) @ w) > printed.shape[0] * half", COMMUTES),
    ("14.checksum", "columns = np.abs(x.sum(axis=0) @ w - printed.sum(axis=0)) > half * printed.shape[0]", APART),
    ("14.checksum", "columns = np.abs(printed.sum(axis=0) - x.sum(axis=0) @ w) > half * rows.shape[0]", SIZE),
    ("14.checksum", "columns = np.abs(printed.sum(axis=0) - x.sum(axis=0) @ w) > half * x.shape[0]", SIZE),
    ("14.checksum", "return columns & rows[:, None]", COMMUTES),
    ("14.place", "own = scores[np.arange(len(claimed)), claimed]", SIZE),
    ("14.place", "own = scores[np.arange(len(scores)), claimed]", SIZE),
    ("14.place", "return (scores > own[:, None]).sum(axis=1) + 1", COMMUTES),
    ("14.place", "return 1 + (scores > own[:, None]).sum(axis=-1)", LAST),
    ("14.rank", "values = np.append(np.linalg.svd(scores, compute_uv=False), -1.0)", BELOW),
    ("14.rank", "rounding = math.sqrt(scores.size) * (0.5 * 10.0 ** (-places))", COMMUTES),
    ("14.rank", "rounding = 10.0 ** (-places) * 0.5 * math.sqrt(scores.size)", COMMUTES),
    ("14.uniform", "scaled = scores / math.sqrt(q.shape[-1])", LAST),
    ("14.uniform", "scaled = scores / math.sqrt(k.shape[1])", SIZE),
    (
        "14.uniform",
        "ways = [softmax(scaled), softmax(scores), softmax(scaled, axis=0), np.full_like(scaled, 1 / len(k))]",
        SHAPE,
    ),
    (
        "14.uniform",
        "ways = [softmax(scaled), softmax(scores), softmax(scaled, axis=0), np.full_like(scores, 1 / len(v))]",
        SIZE,
    ),
    ("14.split", "own = slice(width * i, (i + 1) * width)", COMMUTES),
    ("14.split", "own = slice(i * width, width * (i + 1))", COMMUTES),
    ("14.split", "own = slice(i * width, (1 + i) * width)", COMMUTES),
    ("14.moved", "equivariant = len(after) == len(order) and np.allclose(before[order], after)", SIZE),
    ("14.scores", "return (sets, (published[0, 0] > published[-1, 0]).sum())", LAST),
    ("14.leaks", "allowed = (second == look) & (first == look)", COMMUTES),
    ("14.leaks", "allowed = (first == joined) & (second == look)", THERE),
    ("14.leaks", "allowed = (first == one_means_look) & (second == look)", TRUTH),
    ("14.leaks", "allowed = (first == second) & (second == look)", THERE),
    ("14.leaks", "allowed = (first == look) & (second == first)", THERE),
    ("14.leaks", "allowed = (first == look) & (second == joined)", THERE),
    ("14.leaks", "allowed = (first == look) & (second == one_means_look)", TRUTH),
    ("14.leaks", "return ~allowed & (joined == look)", COMMUTES),
    ("14.leaks", "return (joined == one_means_look) & ~allowed", TRUTH),
    ("14.balance", "unit = 1000000001.0", NEAR),
    ("14.balance", "if round(1000000000000.0 * peak / (bandwidth * unit)) == printed:", COMMUTES),
    ("14.balance", "if round(peak * 1000000000000.0 / (unit * bandwidth)) == printed:", COMMUTES),
    ("14.balance", "if round(peak * 1000000000001.0 / (bandwidth * unit)) == printed:", NEAR),
    ("14.intensity", "numbers = moves * stores + loads", COMMUTES),
    ("14.intensity", "numbers = loads + stores * moves", COMMUTES),
    ("14.intensity", "numbers = loads + stores", ONCE),
    ("14.intensity", "per_byte = flops / (bytes_per_number * numbers)", COMMUTES),
    ("14.conventions", "kinds.append(2 if count == adds * 2 else 1 if count == adds else 0)", COMMUTES),
    ("14.conventions", "adds = columns * (times * rows * inner)", COMMUTES),
    ("14.conventions", "adds = inner * (times * rows) * columns", COMMUTES),
    ("14.conventions", "adds = rows * times * inner * columns", COMMUTES),
    (
        "14.rows",
        "return (units >= weights.shape[-1] / 2) | (weights < 0).any(axis=-1)",
        "the task says that sums exactly at the limit do not occur",
    ),
    ("14.checksum", "rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=1)) >= half * printed.shape[1]", AT_LIMIT),
    ("14.checksum", "columns = np.abs(printed.sum(axis=0) - x.sum(axis=0) @ w) >= half * printed.shape[0]", AT_LIMIT),
    ("14.rank", "return (largest, values[largest] >= rounding)", AT_LIMIT),
]
