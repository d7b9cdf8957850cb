"""Mutants of chapter 16 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a sum, a product or a repeated list does not depend on the order of its parts"
BEHIND = "the same axis, counted from the other end"
SIZE = "both have that side in common"
COUNT = "both lists have as many entries"
MIRRORED = "the place that far from the end is the same one"
EARLY = "no request arrives before 0, so the later of the two times is the arrival"
STRICT = "the lists are equally long"
WRITERS = "as many sequences as there are blocks can write; those behind have been preempted by then"
FILLED = "every running request is given a number of its own in one of the two loops"
NO_GAIN = "a round without a draft is never faster than the large model alone"

EQUAL: list[tuple[str, str, str]] = [
    ("16.phases", "weights = bytes_each * params", COMMUTES),
    ("16.phases", "caches = cache_bytes * (batch * cached)", COMMUTES),
    ("16.phases", "caches = cached * batch * cache_bytes", COMMUTES),
    ("16.phases", "prefill = max(prompt * (2 * params) / peak, weights / bandwidth)", COMMUTES),
    ("16.phases", "prefill = max(params * 2 * prompt / peak, weights / bandwidth)", COMMUTES),
    ("16.phases", "step = max(batch * (2 * params) / peak, (weights + caches) / bandwidth)", COMMUTES),
    ("16.phases", "step = max(2 * params * batch / peak, (caches + weights) / bandwidth)", COMMUTES),
    ("16.phases", "step = max(params * 2 * batch / peak, (weights + caches) / bandwidth)", COMMUTES),
    ("16.latencies", "return sorted(values)[math.ceil(len(values) * percent / 100) - 1]", COMMUTES),
    (
        "16.latencies",
        "return ([percentile(first, -50), percentile(first, 95)], [percentile(between, 50), percentile(between, 95)])",
        MIRRORED,
    ),
    (
        "16.latencies",
        "return ([percentile(first, 50), percentile(first, 95)], [percentile(between, -50), percentile(between, 95)])",
        MIRRORED,
    ),
    ("16.batch-limit", "weights = bytes_each * params / bandwidth", COMMUTES),
    ("16.batch-limit", "computing = params * 2 / peak", COMMUTES),
    ("16.batch-limit", "reading = cache_bytes * cached / bandwidth", COMMUTES),
    ("16.batches", "waiting, time = ([], -1)", EARLY),
    ("16.batches", "while len(waiting) < len(arrivals):", COUNT),
    ("16.batches", "waiting += [length + time for length in batch]", COMMUTES),
    (
        "16.batches",
        "batch = [lengths[i] for i in range(first, len(arrivals)) if arrivals[i] <= time][:slots]",
        COUNT,
    ),
    ("16.batches", "continuous, free_at = ([], slots * [0])", COMMUTES),
    ("16.batches", "continuous, free_at = ([], [-1] * slots)", EARLY),
    ("16.batches", "for arrival, length in zip(arrivals, lengths):", STRICT),
    ("16.batches", "for arrival, length in zip(arrivals, lengths, strict=False):", STRICT),
    ("16.batches", "free_at[place] = length + max(free_at[place], arrival)", COMMUTES),
    ("16.append", "copies, preempted, running = ([], [], list(range(len(lengths))))", COUNT),
    ("16.append", "for one in range(len(lengths)):", COUNT),
    ("16.append", "for one in range(len(running)):", COUNT),
    ("16.append", "for one in range(len(owners)):", WRITERS),
    ("16.ragged", "groups = q.shape[1] // k_blocks.shape[-2]", BEHIND),
    ("16.ragged", "groups = q.shape[1] // v_blocks.shape[2]", SIZE),
    ("16.ragged", "keys = k_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=-2)", BEHIND),
    ("16.ragged", "values = v_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=-2)", BEHIND),
    ("16.ragged", "scores = torch.einsum('bnh,bsnh->bns', q, keys) / math.sqrt(k_blocks.shape[-1])", SIZE),
    ("16.ragged", "scores = torch.einsum('bnh,bsnh->bns', q, keys) / math.sqrt(v_blocks.shape[-1])", SIZE),
    ("16.ragged", "scores = torch.einsum('bnh,bsnh->bns', q, keys) / math.sqrt(keys.shape[-1])", SIZE),
    ("16.ragged", "scores = torch.einsum('bnh,bsnh->bns', q, keys) / math.sqrt(values.shape[-1])", SIZE),
    ("16.ragged", "behind = torch.arange(values.shape[1]) >= lengths[:, None]", SIZE),
    ("16.prefix", "return block_size * (min(longest, len(prompt) - 1) // block_size)", COMMUTES),
    (
        "16.admit",
        "numbers = config['head_dim'] * (2 * config['num_hidden_layers'] * config['num_key_value_heads'])",
        COMMUTES,
    ),
    (
        "16.admit",
        "numbers = config['num_key_value_heads'] * (2 * config['num_hidden_layers']) * config['head_dim']",
        COMMUTES,
    ),
    (
        "16.admit",
        "numbers = config['num_hidden_layers'] * 2 * config['num_key_value_heads'] * config['head_dim']",
        COMMUTES,
    ),
    ("16.admit", "blocks = (memory - weights - reserve) // (bytes_each * (block_size * numbers))", COMMUTES),
    ("16.admit", "blocks = (memory - weights - reserve) // (numbers * block_size * bytes_each)", COMMUTES),
    ("16.admit", "needed = math.ceil((new + prompt) / block_size)", COMMUTES),
    ("16.schedule", "now, new = (len(running) * [0], [0] * len(waiting))", COMMUTES),
    ("16.schedule", "now, new = ([0] * len(running), len(waiting) * [0])", COMMUTES),
    ("16.schedule", "now, new = ([1] * len(running), [0] * len(waiting))", FILLED),
    ("16.schedule", "now, new = ([-1] * len(running), [0] * len(waiting))", FILLED),
    ("16.schedule", "if i + len(running) < most:", COMMUTES),
    ("16.schedule", "if len(now) + i < most:", COUNT),
    ("16.speedup", "for k in range(0, most + 1):", NO_GAIN),
    ("16.speedup", "for k in range(1, 1 + most):", COMMUTES),
    ("16.speedup", "steps = 1 + k * draft_cost", COMMUTES),
    ("16.speedup", "steps = draft_cost * k + 1", COMMUTES),
    ("16.speedup", "tokens = sum((acceptance ** i for i in range(1 + k)))", COMMUTES),
    ("16.cost", "second = machines * price / 3600", COMMUTES),
    ("16.cost", "for_input = second * 1000000.0 / (input_rate * utilisation)", COMMUTES),
    ("16.cost", "for_input = 1000000.0 * second / (utilisation * input_rate)", COMMUTES),
    ("16.cost", "for_output = second * 1000000.0 / (output_rate * utilisation)", COMMUTES),
    ("16.cost", "for_output = 1000000.0 * second / (utilisation * output_rate)", COMMUTES),
    (
        "16.cost",
        "return (for_input, for_output, (answer * for_output + prompt * for_input) / 1000000.0)",
        COMMUTES,
    ),
    (
        "16.cost",
        "return (for_input, for_output, (for_input * prompt + answer * for_output) / 1000000.0)",
        COMMUTES,
    ),
    (
        "16.cost",
        "return (for_input, for_output, (prompt * for_input + for_output * answer) / 1000000.0)",
        COMMUTES,
    ),
]
