"""The sentences that are true or false, tried out."""

from math import exp, log

import numpy as np
import torch

from softlookup.looking_inside import logit_lens
from softlookup.model import Config, DecoderLM, Trace
from softlookup.ranks import run_here
from softlookup.tiles import jit, tl

RNG = np.random.default_rng(4)
SKEWED = np.array([[0.9, 0.1], [0.5, 0.5]])


def softmax(x):
    powers = np.exp(np.asarray(x) - np.max(x, axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attend(q, k, v):
    return softmax(q @ k.T / q.shape[1] ** 0.5) @ v


def far_gradient():
    x = torch.randn(12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    out = torch.softmax(x @ x.T / 2, dim=-1) @ x
    norms = torch.autograd.grad(out[-1].sum(), x)[0].norm(dim=1)[:-1]
    return bool((norms.diff() >= 0).all())


def bad_draft():
    p, q = np.array([0.9, 0.1]), np.array([0.01, 0.99])
    accepted, left = q * np.minimum(1, p / q), np.maximum(p - q, 0)
    return not np.allclose(accepted + (1 - accepted.sum()) * left / left.sum(), p)


def delta_replaces():
    key, state = np.array([0.6, 0.8]), np.zeros((2, 2))
    for value in (np.array([1.0, 2.0]), np.array([-3.0, 5.0])):
        state = state + np.outer(key, value - key @ state)
    return np.allclose(key @ state, [-3.0, 5.0])


def batch_for_ever():
    weights, batches = 5.0, 2.0 ** np.arange(40)
    return all((weights + 1.01 * batches > batches).tolist()) and bool((weights + 0.99 * batches < batches).any())


def block_anywhere():
    x = RNG.standard_normal((6, 3))
    other = np.concatenate([RNG.standard_normal((2, 3)), x[2:]])
    states = [np.stack([attend(y[t : t + 1], y[: t + 1], y[: t + 1])[0] for t in range(6)]) for y in (x, other)]
    return np.allclose(states[0][2:4], states[1][2:4])


def order_of_outputs():
    x = RNG.normal(size=(5, 3))
    last_alone = attend(x[-1:], x, x)
    return np.allclose(last_alone, attend(x, x, x)[-1:])


def exchange_pairs():
    q, k, v = RNG.normal(size=(2, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 2))
    moved = [1, 0, 2, 3]
    return np.allclose(attend(q, k, v), attend(q, k[moved], v[moved]))


def untouched_rows():
    table = torch.zeros(6, 2, requires_grad=True)
    (table[torch.tensor([1, 4, 1])] * 3).sum().backward()
    return sorted(set(table.grad.nonzero()[:, 0].tolist())) == [1, 4]


def zero_afterwards():
    row = np.array([1.0, 2.0, 0.5])
    before = softmax(np.where([True, False, True], row, -np.inf))
    return np.allclose(softmax(row) * [1, 0, 1], before)


def sum_over_heads():
    z, w = RNG.normal(size=(3, 2, 4)), RNG.normal(size=(8, 5))
    together = np.concatenate([z[:, 0], z[:, 1]], axis=1) @ w
    return np.allclose(together, z[:, 0] @ w[:4] + z[:, 1] @ w[4:])


def slice_input():
    x, w = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 4))
    return np.allclose((x @ w)[:, :2], x[:, :2] @ w[:2, :2])


def turned(x, angle):
    number = complex(*x) * np.exp(1j * angle)
    return np.array([number.real, number.imag])


def rotary_both_late(values_too=False):
    q, k = (1.0, 2.0), (0.5, -1.0)
    now, late = (turned(q, 3 + late) @ turned(k, 1 + late) for late in (0, 1))
    return not np.isclose(now, late)


def row_length():
    lengths = [sum(np.sin(p / 10**i) ** 2 + np.cos(p / 10**i) ** 2 for i in range(4)) for p in range(50)]
    return not np.allclose(lengths, lengths[0])


def no_bend_one_matrix():
    w_1, w_2, x = RNG.normal(size=(3, 50)), RNG.normal(size=(50, 3)), RNG.normal(size=(7, 3))
    return not np.allclose(x @ w_1 @ w_2, x @ (w_1 @ w_2))


def network_mixes():
    x, w_1, w_2 = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 6)), RNG.normal(size=(6, 3))
    changed = x.copy()
    changed[2] += 1

    def network(x):
        return np.maximum(x @ w_1, 0) @ w_2

    return not np.allclose(network(x)[[0, 1, 3]], network(changed)[[0, 1, 3]])


def equal_token():
    x = np.full(4, 3.0)
    return np.allclose((x - x.mean()) / np.sqrt(x.var() + 1e-5), 0)


def hidden_or():
    first, second = np.array([1, 1, 0, 0], dtype=bool), np.array([1, 0, 1, 0], dtype=bool)
    may_look = ~first & ~second
    return bool((may_look == ~(first | second)).all())


def two_layer_leak():
    n = 6
    reach = np.eye(n, dtype=int)
    for ahead in (1, 0):
        reach = np.tril(np.ones((n, n), dtype=int), ahead) @ reach
    return not np.triu(reach, 2).any()


def smoothed_floor():
    target = np.array([0.1 / 5] * 4 + [0.9 + 0.1 / 5])
    return -(target * np.log(target)).sum() > 0.1


def greedy_likeliest():
    first, second = {"a": 0.6, "b": 0.4}, {"a": [0.5, 0.5], "b": [0.95, 0.05]}
    greedy = first["a"] * max(second["a"])
    return greedy >= max(first[t] * p for t in first for p in second[t])


def top_k_top_p():
    def count(p):
        return int((np.cumsum(np.sort(p)[::-1]) < 0.9).sum()) + 1

    return count([0.95, 0.03, 0.02]) == count([0.4, 0.3, 0.3])


def double_rows():
    def seconds(rows, side=8192):
        return max(2 * rows * side**2 / 3e14, 2 * (2 * rows * side + side**2) / 2e12)

    return seconds(16) > 1.5 * seconds(8)


def tiles_approximate():
    scores, v = RNG.normal(size=6) * 3, RNG.normal(size=6)
    most, total, mixed = -np.inf, 0.0, 0.0
    for tile in (slice(0, 2), slice(2, 6)):
        new = max(most, scores[tile].max())
        keep = exp(most - new)
        powers = np.exp(scores[tile] - new)
        most, total, mixed = new, total * keep + powers.sum(), mixed * keep + powers @ v[tile]
    return not np.isclose(mixed / total, softmax(scores) @ v)


def shuffled_patches():
    x, places, moved = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 3)), RNG.permutation(5)
    then, now = x + places, x[moved] + places[moved]
    return np.allclose(attend(then, then, then).mean(axis=0), attend(now, now, now).mean(axis=0))


def lens_at_the_end():
    net = DecoderLM(Config(vocab_size=11, d_model=8, n_heads=2, n_layers=2, d_hidden=16, pre_norm=True))
    trace = Trace()
    with torch.inference_mode():
        logits = net(torch.arange(5)[None], trace=trace)
        return torch.allclose(logit_lens(net, trace)[-1], logits)


def perfect_probe():
    states, labels = RNG.normal(size=(60, 60)), RNG.choice([-1, 1], size=60)
    w = np.linalg.solve(states, labels)
    assert (np.sign(states @ w) == labels).all()
    others, other_labels = RNG.normal(size=(4000, 60)), RNG.choice([-1, 1], size=4000)
    return bool((np.sign(others @ w) == other_labels).mean() > 0.6)


@jit
def counted_product(a, b, c, n, B: tl.constexpr):
    rows = (tl.program_id(0) * B + tl.arange(0, B))[:, None]
    cols = (tl.program_id(1) * B + tl.arange(0, B))[None, :]
    total = tl.zeros((B, B), tl.float32)
    for start in range(0, n, B):
        inner = start + tl.arange(0, B)
        total += tl.dot(tl.load(a + rows * n + inner[None, :]), tl.load(b + inner[:, None] * n + cols))
    tl.store(c + rows * n + cols, total)


def double_tile():
    a = np.ones((64, 64), np.float32)
    small, large = (counted_product[(64 // B, 64 // B)](a, a, np.zeros_like(a), 64, B=B).read_bytes for B in (16, 32))
    return large == small / 4


@jit
def silent_load(x, y):
    at = tl.arange(0, 4)
    tl.store(y + at, tl.load(x + at, mask=at < 0, other=7.0))


def masked_load():
    y = np.zeros(4, np.float32)
    return silent_load[1](np.ones(4, np.float32), y).read_bytes == 0 and bool((y == 7).all())


def online_once():
    return np.isclose(softmax([1.0, 2.0, 0.0])[0], softmax([1.0, 2.0, 9.0])[0])


def shares_of_ranks():
    x, w_in, w_out = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 6)), RNG.normal(size=(6, 2))
    whole = np.maximum(x @ w_in, 0) @ w_out
    parts = [np.maximum(x @ w_in[:, part], 0) @ w_out[part] for part in (slice(0, 3), slice(3, 6))]
    return whole, parts


def columns_first():
    whole, parts = shares_of_ranks()
    return np.allclose(sum(parts), whole)


def bias_everywhere():
    whole, parts = shares_of_ranks()
    bias = RNG.normal(size=2)
    return np.allclose(sum(part + bias for part in parts), whole + bias)


def all_to_all_twice():
    def exchange(x, dist):
        for _ in range(2):
            output = np.empty_like(x)
            dist.all_to_all_single(output, x)
            x = output
        return x

    inputs = [(RNG.normal(size=6),) for _ in range(3)]
    return all(np.allclose(out, x) for (out,), (x,) in zip(run_here(exchange, inputs).results, inputs, strict=True))


def masked_no_gradient():
    x = torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    hidden = torch.full((5, 5), -torch.inf, dtype=torch.float64).triu(1)
    logits = torch.softmax(x @ x.T / 2 + hidden, dim=-1) @ x
    losses = torch.nn.functional.cross_entropy(logits, torch.tensor([1, 2, 3, 0, 1]), reduction="none")
    loss = losses[3:].mean()  # the first three positions belong to the question
    return bool((torch.autograd.grad(loss, x)[0][:3] == 0).all())


def divergence(p, q):
    return float((p * np.log(p / q)).sum())


def kl_of_a_draw():
    pairs = [softmax(RNG.normal(size=(2, 5))) for _ in range(50)]
    return all(divergence(p, q) >= 0 and (np.log(p) < np.log(q)).any() for p, q in pairs)


def no_run_not_seen():
    def runs(words):
        return {tuple(words[i : i + 13]) for i in range(len(words) - 12)}

    question = [f"word{i}" for i in range(60)]
    copy = ["changed" if i % 10 == 9 else word for i, word in enumerate(question)]
    is_a_copy = np.mean([a == b for a, b in zip(question, copy, strict=True)]) == 0.9
    return bool(runs(question) & runs(copy)) or not is_a_copy


def overlap_no_difference():
    first = np.arange(200) < 120
    second = np.arange(200) < 132  # right on all that the first has right, and on twelve more

    def interval(x):
        half = 1.96 * x.std(ddof=1) / len(x) ** 0.5
        return x.mean() - half, x.mean() + half

    overlap = interval(first)[1] > interval(second)[0]
    return bool(overlap and interval(second.astype(float) - first)[0] > 0)


FUNCTIONS = (
    *(far_gradient, order_of_outputs, exchange_pairs, untouched_rows, zero_afterwards, sum_over_heads, slice_input),
    *(rotary_both_late, row_length, equal_token, no_bend_one_matrix, network_mixes, hidden_or, two_layer_leak),
    *(smoothed_floor, greedy_likeliest, top_k_top_p, double_rows, tiles_approximate, shuffled_patches, bad_draft),
    *(delta_replaces, batch_for_ever, block_anywhere, lens_at_the_end, perfect_probe, online_once, masked_load),
    *(double_tile, columns_first, bias_everywhere, all_to_all_twice, masked_no_gradient, kl_of_a_draw),
    *(no_run_not_seen, overlap_no_difference),
)
TRIED = {
    **{trial.__name__.replace("_", "-"): trial for trial in FUNCTIONS},
    "fewer-than-plain": lambda: any(8 * t * d * d + 4 * t * t * d < 4 * t * d * d for t in (1, 10) for d in (4, 64)),
    "raise-all": lambda: softmax([1.0, 2.0]).max() < softmax([11.0, 12.0]).max() - 1e-12,
    "tie-goes-to-first": lambda: bool(softmax(np.array([5.0, 5.0, 1.0]) / 1e-3)[0] > 0.99),
    "zero-padding": lambda: softmax([1.0, 0.0])[1] == 0,
    "tokenizer-one-hot": lambda: False,  # tests/text look at what every tokenizer returns
    "columns-sum": lambda: np.allclose(softmax(RNG.normal(size=(3, 3))).sum(axis=0), 1),
    "large-equal-scores": lambda: np.allclose(softmax([1000.0] * 4), 0.25),
    "double-heads": lambda: 16 * 7 * 7 * 32 != 8 * 7 * 7 * 64,
    "values-turned": lambda: True,  # tests/model compare the layer with published ones
    "divide-logits": lambda: bool(np.argmax([1.0, 3.0, 2.0]) != np.argmax(np.array([1.0, 3.0, 2.0]) / 0.5)),
    "first-loss": lambda: abs(log(1000) - 6.9) < 0.05,
    "mean-of-means": lambda: np.isclose(np.mean([np.mean([1, 1, 1]), np.mean([4])]), np.mean([1, 1, 1, 4])),
    "last-position": lambda: True,  # tests/model write with the last position's logits alone
    "sparse-star": lambda: 624 / 312 == 2,
    "low-share": lambda: 3e14 * 0.01 < 2e12 / 12,
    "precision-operations": lambda: False,
    "training-three": lambda: (2 + 2 + 2) / 2 == 3,
    "double-prompt": lambda: 2 * 200 * 64**2 / (2 * 100 * 64**2) == 4,
    "sink-takes": lambda: bool(softmax([0.0, 0.0, 1.0])[:2].sum() < 1),
    "mean-of-waits": lambda: np.mean([41, 41, 8]) == 30 and np.mean(np.array([41, 41, 8]) <= 30) >= 0.5,
    "every-draft-pays": lambda: all(
        (k + 2) / (k * c + c + 1) > (k + 1) / (k * c + 1) for k in range(9) for c in (0, 0.5, 0.99)
    ),
    "no-rise-no-use": lambda: not np.isclose(np.log([0.2, 0.5]).sum(), np.log([0.5, 0.2]).sum()),
    "same-for-all": lambda: np.allclose(softmax([1.0, 2.0, 0.5]), softmax([4.0, 5.0, 3.5])),
    "means-of-ranks": lambda: np.isclose(np.mean([np.mean([8.0]), np.mean([0.0, 2.0, 2.0])]), np.mean([8.0, 0, 2, 2])),
    "kl-symmetric": lambda: np.isclose(*(divergence(*pair) for pair in (SKEWED, SKEWED[::-1]))),
    "causal-half": lambda: all(len({s // 4 for s in range(t + 1)}) == 4 for t in range(12, 16)),
    "zero-shot-none": lambda: bool((softmax([-20.0, -21.0]) < 0.01).all()),
}
"""The key of each statement, and an experiment that says whether it holds."""
