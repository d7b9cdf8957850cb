"""What the planner says that a card sends, beside the counted messages of programs that do it."""

import math

import numpy as np
import pytest
import torch

from softlookup.ranks import LinkSpeed, run_here
from softlookup.roofline import Hardware, Layout, TrainingCluster, layout_cost
from softlookup.roofline.planner_sizes import PlannerSizes
from softlookup_judge.checking.catalogue import tasks
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of

LINK = LinkSpeed(0.25, 1000.0, "slow")
FAST = TrainingCluster(Hardware("fast", {"bfloat16": 1e30}, 1e30, 1e30, "made up"), LINK, LINK)
SEQUENCE, D, RANKS = 32, 6, (2, 4)
DENSE = PlannerSizes("dense", D=D, N=4, K=4, H=3, F=8, V=16, L=1, whole=960)
MIXED = DENSE.but(experts=4, chosen=1, hidden=8, expert_layers=1)


def planned(layout, sizes=DENSE, sequences=1, recipe="float32"):
    return layout_cost(sizes, layout, FAST, tokens=sequences * SEQUENCE, sequence=SEQUENCE, recipe=recipe)


def program(name):
    return answer(variant_of(next(task for task in tasks(19) if task.id == name)), ())


def run(function, inputs):
    return run_here(function, inputs).traffic


def normal(*shape):
    # The planner has numbers of 2 bytes.
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float16)


@pytest.mark.parametrize("world", RANKS)
def test_tokens_to_experts_and_back(world):
    capacity = SEQUENCE // world
    inputs = [(normal(SEQUENCE, D), normal(D, world), normal(D, 8), normal(8, D), capacity) for _ in range(world)]
    traffic = run(program("19.experts"), inputs)
    got = planned(Layout(world, expert=world), MIXED, sequences=world)
    # Back the gradients of results go to the experts, and those of tokens come home.
    assert got.expert_s == pytest.approx(2 * LINK.seconds(traffic))
    assert traffic.busiest_rank_bytes == 2 * (world - 1) * capacity * D * 2


def ring_backward(q, k, v, out, lse, d_out, dist):
    """Keys and values go round, their gradients with them, and a step further than they."""
    rank, world = dist.get_rank(), dist.get_world_size()
    scale = 1 / math.sqrt(q.shape[1])
    delta = (d_out * out).sum(axis=1, keepdims=True)
    pair, slopes, d_q = np.stack([k, v]), np.zeros((2, *k.shape), k.dtype), np.zeros_like(q)

    def pass_on(array):
        arriving = np.empty_like(array)
        sent = dist.isend(array, (rank + 1) % world)
        dist.recv(arriving, (rank - 1) % world)
        sent.wait()
        return arriving

    for step in range(world):
        weights = np.exp(q @ pair[0].T * scale - lse)
        d_scores = weights * (d_out @ pair[1].T - delta) * scale
        d_q += d_scores @ pair[0]
        slopes = pass_on(slopes + np.stack([d_scores.T @ q, weights.T @ d_out]))
        pair = pass_on(pair) if step < world - 1 else pair
    return d_q, *slopes


@pytest.mark.parametrize("world", RANKS)
def test_keys_values_and_their_gradients_round_the_ring(world):
    heads, rows = 4 * 3, SEQUENCE // world  # all heads' keys as one
    q, k, v, d_out = (torch.tensor(x, dtype=torch.float64) for x in normal(4, SEQUENCE, heads))
    for x in (q, k, v):
        x.requires_grad_()
    scores = q @ k.T / math.sqrt(heads)
    out, lse = scores.softmax(dim=1) @ v, scores.logsumexp(dim=1, keepdim=True)
    out.backward(d_out)
    arrays = [x.detach().numpy().reshape(world, rows, -1) for x in (q, k, v, out, lse, d_out)]
    back = run_here(ring_backward, list(zip(*arrays, strict=True)))
    for place, x in enumerate((q, k, v)):
        np.testing.assert_allclose(np.concatenate([got[place] for got in back.results]), x.grad, atol=1e-9)
    halves = [(*(array[rank].astype(np.float16) for array in arrays[:3]),) for rank in range(world)]
    there = run(program("19.ring-attention"), halves)
    # The way back was counted in float64.
    n_bytes = there.busiest_rank_bytes + back.traffic.busiest_rank_bytes / 4
    got = planned(Layout(1, context=world))
    assert got.context_s == pytest.approx((there.steps + back.traffic.steps) * LINK.latency_s + n_bytes / 1000)
    again = planned(Layout(1, context=world, recompute="layers"))
    assert again.context_s - got.context_s == pytest.approx(LINK.seconds(there))


@pytest.mark.parametrize("world", RANKS)
def test_attention_hides_the_ring_as_far_as_it_takes(world):
    slow = Hardware("slow", {"bfloat16": 2000.0}, 1e30, 1e30, "made up")
    got = layout_cost(
        DENSE, Layout(1, context=world), TrainingCluster(slow, LINK, LINK), tokens=SEQUENCE, sequence=SEQUENCE
    )
    exposed = 0.0
    # Scores and mixing are two products forward, and five back.
    for products, steps in ((2, world - 1), (5, 2 * world - 1)):
        pairs = sum(range(1, SEQUENCE + 1)) / world
        message_s = 0.25 + 2 * (SEQUENCE // world) * 12 * 2 / 1000
        exposed += max(0.0, steps * message_s - products * 2 * 4 * 3 * pairs / 2000)
    assert got.context_s == pytest.approx(exposed)


@pytest.mark.parametrize("world", RANKS)
def test_activations_of_a_layer_in_columns_and_rows(world):
    share, heads = 8 // world, 4 // world
    columns = [
        (normal(SEQUENCE, D), normal(D, share), normal(share), normal(share, D), normal(D)) for _ in range(world)
    ]
    wide = 3 * heads
    by_heads = [
        (normal(SEQUENCE, D), *(normal(D, wide) for _ in range(3)), normal(wide, D), heads) for _ in range(world)
    ]
    forward_s = LINK.seconds(run(program("19.feed-forward"), columns)) + LINK.seconds(
        run(program("19.heads"), by_heads)
    )
    assert planned(Layout(1, tensor=world)).tensor_s == pytest.approx(2 * forward_s)


@pytest.mark.parametrize("world", RANKS)
def test_shards_of_weights_and_gradients(world):
    n = 960

    def sharded(dist):
        shard, whole = np.zeros(n // world, np.float32), np.zeros(n, np.float32)
        dist.all_gather_into_tensor(whole, shard)
        dist.reduce_scatter_tensor(shard, whole)

    def replicated(dist):
        dist.all_reduce(np.zeros(n, np.float32))

    assert planned(Layout(world, zero=1), sequences=world).data_s == pytest.approx(
        LINK.seconds(run(sharded, [()] * world))
    )
    assert planned(Layout(world), sequences=world).data_s == pytest.approx(LINK.seconds(run(replicated, [()] * world)))
    # Cards that share a sequence have the same weights, and add up their gradients as replicas do.
    assert planned(Layout(1, context=world)).data_s == planned(Layout(world), sequences=world).data_s


def test_gradients_of_experts_are_added_up_where_the_same_experts_are():
    sizes = MIXED.but(whole=960 + 800, routed=800)
    got = planned(Layout(4, expert=2), sizes, sequences=4)

    def program(dist):
        dist.all_reduce(np.zeros(960, np.float32))
        groups = [dist.new_group(ranks) for ranks in ([0, 2], [1, 3])]
        dist.all_reduce(np.zeros(400, np.float32), group=groups[dist.get_rank() % 2])

    assert got.data_s == pytest.approx(LINK.seconds(run(program, [()] * 4)))
    assert planned(Layout(4, expert=4), sizes, sequences=4).data_s == pytest.approx(LINK.all_reduce_s(960 * 4, 4))


@pytest.mark.parametrize("world", RANKS)
def test_activations_and_gradients_through_a_pipeline(world):
    def there_and_back(x, dist):
        rank, last = dist.get_rank(), dist.get_world_size() - 1
        for rank_from, rank_to in ((rank - 1, rank + 1), (rank + 1, rank - 1)):
            if 0 <= rank_from <= last:
                dist.recv(x, rank_from)
            if 0 <= rank_to <= last:
                dist.send(x, rank_to)

    traffic = run(there_and_back, [(normal(SEQUENCE, D),)] * world)
    assert planned(Layout(1, pipeline=world), DENSE.but(L=2)).pipeline_s == pytest.approx(LINK.seconds(traffic))
