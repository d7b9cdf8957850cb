"""Mutants of chapter 16 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a sum, a product or a repeated list does not depend on the order of its parts"
BEHIND = "the same axis, counted from the other end, or the last, which is meant without a word"
SIZE = "both have that side in common"
COUNT = "both lists have as many entries"
MIRRORED = "the place that far from the end is the same one"
EARLY = "no request arrives before 0, so the later of the two times is the arrival"
STRICT = "the lists are equally long"
WRITERS = "as many sequences as there are blocks can write; those behind have been preempted by then"
FILLED = "every running request is given a number of its own in one of the two loops"
SET = "it is set again before it is read or returned"
LIMIT = "no question takes that many steps"
PADDED = "no logit behind the vocabulary is allowed"
FIRST = "the first division has a rate above 0, and so is always taken"
NO_RATE = "with no machine of a kind no request is completed"
SLOWER = "what decoding allows falls with each machine more, so it is above the best rate as long as the rate itself is"
NO_GAIN = "a round without a draft is never faster than the large model alone"
PERCENTILES = (
    "return ([percentile(first, {}), percentile(first, 95)], [percentile(between, {}), percentile(between, 95)])"
)

EQUAL: list[tuple[str, ...]] = [
    ("16.latencies", PERCENTILES.format(-50, 50), MIRRORED),
    ("16.latencies", PERCENTILES.format(50, -50), MIRRORED),
    ("16.batches", "waiting, time = ([], -1)", EARLY),
    ("16.batches", "while len(waiting) < len(arrivals):", COUNT),
    ("16.batches", "waiting += [length + time for length in batch]", COMMUTES),
    ("16.batches", "batch = [lengths[i] for i in range(first, len(arrivals)) if arrivals[i] <= time][:slots]", COUNT),
    ("16.batches", "continuous, free_at = ([], [-1] * slots)", EARLY),
    ("16.batches", "for arrival, length in zip(arrivals, lengths):", STRICT),
    ("16.batches", "for arrival, length in zip(arrivals, lengths, strict=False):", STRICT),
    ("16.batches", "free_at[place] = length + max(free_at[place], arrival)", COMMUTES),
    ("16.append", "copies, preempted, running = ([], [], list(range(len(lengths))))", COUNT),
    ("16.append", "for one in range(len({})):", COUNT, "lengths; running"),
    ("16.append", "for one in range(len(owners)):", WRITERS),
    ("16.ragged", "groups = q.shape[1] // k_blocks.shape[-2]", BEHIND),
    ("16.ragged", "groups = q.shape[1] // v_blocks.shape[2]", SIZE),
    ("16.ragged", "keys = k_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=-2)", BEHIND),
    ("16.ragged", "values = v_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=-2)", BEHIND),
    ("16.ragged", "scores = torch.einsum('bnh,bsnh->bns', q, keys) / math.sqrt({}.shape[-1])", SIZE, "k_blocks; keys"),
    ("16.ragged", "scores = torch.einsum('bnh,bsnh->bns', q, keys) / math.sqrt(v_blocks.shape[-1])", SIZE),
    ("16.ragged", "scores = torch.einsum('bnh,bsnh->bns', q, keys) / math.sqrt(values.shape[-1])", SIZE),
    ("16.ragged", "behind = torch.arange(values.shape[1]) >= lengths[:, None]", SIZE),
    ("16.admit", "needed = math.ceil((new + prompt) / block_size)", COMMUTES),
    ("16.schedule", "now, new = ([{}] * len(running), [0] * len(waiting))", FILLED, "1; -1"),
    ("16.schedule", "if len(now) + i < most:", COUNT),
    ("16.simulate", "computed, written, first, last = ([0] * many, [-1] * many, [0.0] * many, [0.0] * many)", SET),
    ("16.simulate", "computed, written, first, last = ([0] * many, [0] * many, [1.0] * many, [0.0] * many)", SET),
    ("16.simulate", "computed, written, first, last = ([0] * many, [0] * many, [-1.0] * many, [0.0] * many)", SET),
    ("16.simulate", "computed, written, first, last = ([0] * many, [0] * many, [0.0] * many, [1.0] * many)", SET),
    ("16.simulate", "computed, written, first, last = ([0] * many, [0] * many, [0.0] * many, [-1.0] * many)", SET),
    ("16.simulate", "now, queue, running = (-1.0, list(range(many)), [])", EARLY),
    ("16.simulate", "for _ in range({}):", LIMIT, "1001; 999"),
    ("16.simulate", "tokens = dict(zip(running + waiting, [*old, *begun]))", STRICT),
    ("16.simulate", "tokens = dict(zip(running + waiting, [*old, *begun], strict=False))", STRICT),
    ("16.simulate", "for i in tokens:", SET),
    ("16.speedup", "for k in range(0, most + 1):", NO_GAIN),
    ("16.constrained-step", "allowed = torch.nn.functional.pad(mask, (0, logits.shape[-1] - mask.shape[1]))", BEHIND),
    ("16.constrained-step", "allowed = torch.nn.functional.pad(mask, (0, logits.shape[1] - mask.shape[-1]))", BEHIND),
    ("16.constrained-step", "least = scores.topk(min(k, scores.shape[1])).values[:, -1:]", BEHIND),
    ("16.constrained-step", "least = scores.topk(min(k, scores.shape[1]), dim=1).values[:, -1:]", BEHIND),
    ("16.constrained-step", "least = scores.topk(min(k, scores.shape[-1]), dim=-1).values[:, -1:]", BEHIND),
    ("16.constrained-step", "least = scores.topk(min(k, {}.shape[1]), dim=-1).values[:, -1:]", SIZE, "allowed; logits"),
    ("16.constrained-step", "least = scores.topk(min(k, mask.shape[1]), dim=-1).values[:, -1:]", PADDED),
    ("16.constrained-step", "p = torch.softmax(scores.masked_fill(scores < least, -torch.inf), dim=1)", BEHIND),
    ("16.constrained-step", "return p.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)", PADDED),
    ("16.constrained-step", "return p.masked_fill(~allowed.any(dim=1, keepdim=True), 0.0)", BEHIND),
    ("16.split-pools", "best, most = ({}, 0.0)", FIRST, "1; -1"),
    ("16.split-pools", "best, most = (0, -1.0)", FIRST),
    ("16.split-pools", "for senders in range({}, machines):", NO_RATE, "0; -1"),
    ("16.split-pools", "if written > most:", SLOWER),
    ("16.split-sum", "for start in range(0, x.shape[-1], size):", BEHIND),
    ("16.split-sum", "for column in x[:, start:start + size].unbind(dim=-1):", BEHIND),
    ("16.split-sum", "for column in x[:, start:size + start].unbind(dim=1):", COMMUTES),
]
