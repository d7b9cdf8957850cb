"""Mutants of chapter 19 that are right: task, changed statement, and why nothing tells them apart."""

NEGATIVE = "a negative index counts from the end, as the remainder does"
NO_ORDER = "the order of numbers that are added or multiplied"
ONE_MORE = "in one step more there is nobody left to send to"
ONE_SIZE = "all parts have one size and dtype, and so have a rank's arrays"
PUBLISHED_LAYOUT = "the order of ranks in the published notebook"

COLLECTIVES = [
    ("19.broadcast", "for step in range((world + 1).bit_length()):", ONE_MORE),
    ("19.broadcast", "for step in range((1 - world).bit_length()):", "bit_length leaves out the sign"),
    ("19.broadcast", "for step in range(world.bit_length()):", ONE_MORE),
    ("19.broadcast", "for step in range((world - 0).bit_length()):", ONE_MORE),
    ("19.broadcast", "for step in range((world - -1).bit_length()):", ONE_MORE),
    ("19.broadcast", "if place < reach and reach + place < world:", NO_ORDER),
    ("19.broadcast", "elif reach <= place < reach * 2:", NO_ORDER),
    ("19.broadcast", "dist.send(array, (reach + rank) % world)", NO_ORDER),
    ("19.reduce-scatter", "parts[into] = received + parts[into]", NO_ORDER),
    ("19.reduce-scatter", "to, into = (rank - step - 1, (rank - step - 2) % world)", NEGATIVE),
    ("19.reduce-scatter", "to, into = ((rank - step - 1) % world, rank - step - 2)", NEGATIVE),
    ("19.reduce-scatter", "received = np.empty_like(parts[rank])", ONE_SIZE),
    ("19.reduce-scatter", "received = np.empty_like(parts[step])", ONE_SIZE),
    ("19.reduce-scatter", "received = np.empty_like(parts[to])", ONE_SIZE),
    ("19.reduce-scatter", "sent = dist.isend(parts[to], (1 + rank) % world)", NO_ORDER),
    ("19.all-gather", "to, into = (rank - step, (rank - step - 1) % world)", NEGATIVE),
    ("19.all-gather", "to, into = ((rank - step) % world, rank - step - 1)", NEGATIVE),
    ("19.all-gather", "sent = dist.isend(rows[to], (1 + rank) % world)", NO_ORDER),
    ("19.all-gather", "return np.concatenate(rows)", PUBLISHED_LAYOUT),
    ("19.all-reduce", "for step in range((world - 1) * 2):", NO_ORDER),
    ("19.all-reduce", "both = received + parts[into]", NO_ORDER),
    ("19.all-reduce", "sent = dist.isend(parts[to], (1 + rank) % world)", NO_ORDER),
    ("19.gradient", "total = x.T * factor @ (x @ w - y)", NO_ORDER),
    ("19.gradient", "both = np.append(total, np.float32(len(x)))", ONE_SIZE),
    ("19.memory", "weights = (share if stage == 3 else parameters) * 2", NO_ORDER),
    ("19.memory", "gradients = (share if stage >= 2 else parameters) * 2", NO_ORDER),
    ("19.memory", "optimiser = (share if stage >= 1 else parameters) * optimiser_bytes", NO_ORDER),
    ("19.memory", "return (optimiser + (weights + gradients), passes * (world - 1) * 2 * share)", NO_ORDER),
    ("19.memory", "return (weights + gradients + optimiser, share * (passes * (world - 1) * 2))", NO_ORDER),
    ("19.memory", "return (gradients + weights + optimiser, passes * (world - 1) * 2 * share)", NO_ORDER),
    ("19.memory", "return (weights + gradients + optimiser, 2 * (passes * (world - 1)) * share)", NO_ORDER),
    ("19.memory", "return (weights + gradients + optimiser, (world - 1) * passes * 2 * share)", NO_ORDER),
    ("19.fsdp", "w = np.empty(shard.size * world, shard.dtype)", NO_ORDER),
    ("19.fsdp", "w = np.empty(world * shard.size, velocity.dtype)", ONE_SIZE),
    ("19.fsdp", "w = np.empty(world * shard.size, x.dtype)", ONE_SIZE),
    ("19.fsdp", "w = np.empty(world * shard.size, y.dtype)", ONE_SIZE),
    ("19.fsdp", "w = np.empty(world * velocity.size, shard.dtype)", ONE_SIZE),
    ("19.fsdp", "slope = x.T * 2 @ (x @ w - y) / len(y)", NO_ORDER),
    ("19.fsdp", "slope = 2 * x.T @ (x @ w - y) / len(x)", ONE_SIZE),
    ("19.fsdp", "part = np.empty_like(velocity)", ONE_SIZE),
    ("19.fsdp", "velocity = part / world + beta * velocity", NO_ORDER),
    ("19.fsdp", "velocity = velocity * beta + part / world", NO_ORDER),
    ("19.fsdp", "return (shard - velocity * rate, velocity)", NO_ORDER),
]

EQUAL: list[tuple[str, str, str]] = [*COLLECTIVES]
