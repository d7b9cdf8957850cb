"""Mutants of chapter 19 that are right: task, changed statement, and why nothing tells them apart."""

ANY_NEGATIVE = "numpy takes any negative length for the one that is left"
NEGATIVE = "a negative index counts from the end, as the remainder does"
NO_ORDER = "the order of numbers that are added or multiplied"
ONE_MORE = "in one step more there is nobody left to send to"
ONE_SIZE = "all parts have one size and dtype, and so have a rank's arrays"
PUBLISHED_LAYOUT = "the order of ranks in the published notebook"
FIRST_KEEPS_MOST = "the first stage keeps a micro-batch before and after all others do, so that none keeps more"
AS_WIDE = "an expert's output is as wide as its input"
ONE_ORDER = "all ranks make the groups in one order"
BATCH_FIRST = "the first group with a rank is that of its batch"

COLLECTIVES = [
    ("19.broadcast", "for step in range({}.bit_length()):", ONE_MORE, "(world + 1); world; (world - 0); (world - -1)"),
    ("19.broadcast", "for step in range((1 - world).bit_length()):", "bit_length leaves out the sign"),
    ("19.reduce-scatter", "to, into = (rank - step - 1, (rank - step - 2) % world)", NEGATIVE),
    ("19.reduce-scatter", "to, into = ((rank - step - 1) % world, rank - step - 2)", NEGATIVE),
    ("19.reduce-scatter", "received = np.empty_like(parts[{}])", ONE_SIZE, "rank; step; to"),
    ("19.all-gather", "to, into = (rank - step, (rank - step - 1) % world)", NEGATIVE),
    ("19.all-gather", "to, into = ((rank - step) % world, rank - step - 1)", NEGATIVE),
    ("19.all-gather", "return np.concatenate(rows)", PUBLISHED_LAYOUT),
    ("19.gradient", "both = np.append(total, np.float32(len(x)))", ONE_SIZE),
    ("19.fsdp", "w = np.empty(world * shard.size, {}.dtype)", ONE_SIZE, "velocity; x; y"),
    ("19.fsdp", "w = np.empty(world * velocity.size, shard.dtype)", ONE_SIZE),
    ("19.fsdp", "slope = 2 * x.T @ (x @ w - y) / len(x)", ONE_SIZE),
    ("19.fsdp", "part = np.empty_like(velocity)", ONE_SIZE),
]

ALIKE = "both arrays have the same shape and dtype"
BROADCAST = "numpy spreads zeros over what is added to them"
ONE_LENGTH = "there are as many labels as examples"
ONE_NUMBER = "of one number the first is the last"
LAST_OF_TWO = "of two axes 1 is the last one"
FIRST_IS_ZERO = "micro-batches are counted from 0 in the published notebook"

PARALLEL = [
    (
        "19.heads",
        "q, k, v = ((x @ w).reshape(len(x), heads, -2).swapaxes(0, 1) for w in (w_q, w_k, w_v))",
        ANY_NEGATIVE,
    ),
    ("19.heads", "scores = q @ k.swapaxes(1, 2) / math.sqrt({}.shape[-1])", ALIKE, "k; v"),
    ("19.heads", "y = z.swapaxes(0, 1).reshape(len(x), -2) @ w_o", ANY_NEGATIVE),
    ("19.schedule", "forwards = [f'F{i}' for i in range(micro_batches)]", FIRST_IS_ZERO),
    ("19.schedule", "backwards = [f'B{i}' for i in range(micro_batches)]", FIRST_IS_ZERO),
    ("19.bubble", "clocks = [-1.0] * stages", "what the first pass needs is never ready before 0 s"),
    ("19.bubble", "clocks[stage] = duration + max(clocks[stage], ready)", NO_ORDER),
    ("19.bubble", "ready = -1.0", "the clock of a stage is never below 0"),
    ("19.bubble", "for _ in range(sum((len(order) for order in to_do))):", "the lists are copies, still whole there"),
    ("19.bubble", "most = {}", "a stage keeps at least the first micro-batch", "1; -1"),
    ("19.bubble", "for order in orders[:1]:", FIRST_KEEPS_MOST),
    ("19.experts", "world, width = (dist.get_world_size(), x.shape[-1])", LAST_OF_TWO),
    ("19.experts", "world, width = (dist.get_world_size(), w_out.shape[1])", AS_WIDE),
    ("19.experts", "e = np.exp(scores - scores.max(axis=1, keepdims=True))", LAST_OF_TWO),
    ("19.experts", "gates = e / e.sum(axis=1, keepdims=True)", LAST_OF_TWO),
    ("19.experts", "chosen = e.argmax(axis=-1)", "the exponential grows with the score"),
    ("19.experts", "chosen = gates.argmax(axis=-1)", "the softmax grows with the score"),
    ("19.experts", "chosen = scores.argmax(axis=1)", LAST_OF_TWO),
    ("19.experts", "sent = np.zeros((world, capacity, width), {}.dtype)", ALIKE, "e; gates; scores; w_in; w_out"),
    ("19.experts", "sent = np.zeros((world, capacity, width), w_router.dtype)", ALIKE),
    ("19.experts", "back = np.empty_like({})", ALIKE, "arrived; results"),
    ("19.ring-attention", "block, width = {}.shape", ALIKE, "k; v"),
    ("19.ring-attention", "top = np.full((block, 1), -np.inf, {}.dtype)", ALIKE, "k; v"),
    ("19.ring-attention", "total = np.zeros((block, 1), {}.dtype)", ALIKE, "k; top; v"),
    *(
        ("19.ring-attention", f"out = np.zeros_like({name})", ALIKE if name in "kv" else BROADCAST)
        for name in ("block", "k", "rank", "top", "total", "v", "width", "world")
    ),
    ("19.ring-attention", "new = np.maximum(top, scores.max(axis=1, keepdims=True))", LAST_OF_TWO),
    ("19.ring-attention", "total = total * fade + weights.sum(axis=1, keepdims=True)", LAST_OF_TWO),
    ("19.ring-attention", "out = out * fade + weights @ pair[-1]", "of two arrays the second is the last"),
    ("19.two-by-two", "groups = {tuple(pair): dist.new_group(pair) for pair in same_half + same_batch}", ONE_ORDER),
    ("19.two-by-two", "batch_group = next((groups[tuple(pair)] for pair in groups if rank in pair))", BATCH_FIRST),
    ("19.two-by-two", "rows = np.arange(len(labels))", ONE_LENGTH),
    ("19.two-by-two", "count = np.array([len({})], np.float64)", ONE_LENGTH, "labels; rows"),
    ("19.two-by-two", "logits = logits - logits.max(axis=1, keepdims=True)", LAST_OF_TWO),
    ("19.two-by-two", "shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)", LAST_OF_TWO),
    ("19.two-by-two", "loss = -np.log(shares[rows, labels]).sum() / count[-1]", ONE_NUMBER),
    ("19.two-by-two", "slope = shares / count[-1]", ONE_NUMBER),
    ("19.two-by-two", "slope[rows, labels] -= 1 / count[-1]", ONE_NUMBER),
    ("19.two-by-two", "sums = np.concatenate([d_in.reshape(-2), d_out.reshape(-1), [loss]])", ANY_NEGATIVE),
    ("19.two-by-two", "sums = np.concatenate([d_in.reshape(-1), d_out.reshape(-2), [loss]])", ANY_NEGATIVE),
    *(
        ("19.two-by-two", f"d_in, d_out = (sums[{first}].reshape({a}.shape), sums[{second}].reshape({b}.shape))", ALIKE)
        for first, a, second, b in (
            (":w_in.size", "d_in", "w_in.size:-1", "w_out"),
            (":w_in.size", "w_in", "w_in.size:-1", "d_out"),
            (":d_in.size", "w_in", "w_in.size:-1", "w_out"),
            (":w_in.size", "w_in", "d_in.size:-1", "w_out"),
        )
    ),
]

EQUAL: list[tuple[str, ...]] = [*COLLECTIVES, *PARALLEL]
