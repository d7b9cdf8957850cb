"""Collectives of other people in the world on numpy, and its finished ones: values, bytes, steps and time."""

import math

import numpy as np
import pytest

from softlookup.ranks.in_process import run_here
from softlookup.ranks.links import LinkSpeed
from tests.ranks.programs import SUMS, all_pairs, given_parts, halving_and_doubling, ring_all_reduce, tree_broadcast

WORLDS = (1, 2, 3, 4, 5, 8)


def inputs_of(world, size, dtype="float64"):
    rng = np.random.default_rng([world, size])
    return [(rng.integers(-50, 50, size).astype(dtype),) for _ in range(world)]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("program", SUMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("size", [1, 7, 24])
def test_every_rank_gets_the_sum(world, program, size):
    inputs = inputs_of(world, size)
    outcome = run_here(program, inputs)
    total = np.sum([x for (x,) in inputs], axis=0)
    assert len(outcome.results) == world
    for (result,) in outcome.results:
        np.testing.assert_array_equal(result, total)


@pytest.mark.parametrize("world", [1, 2, 4, 8])
def test_halving_and_doubling_gives_the_sum_in_few_steps(world):
    inputs = inputs_of(world, 16)
    outcome = run_here(halving_and_doubling, inputs)
    for (result,) in outcome.results:
        np.testing.assert_array_equal(result, np.sum([x for (x,) in inputs], axis=0))
    # Blocking sends and receives of two ranks take two steps for each exchange.
    assert outcome.traffic.steps == 4 * int(math.log2(world))


@pytest.mark.parametrize("world", WORLDS)
def test_a_tree_reaches_all_ranks_in_as_many_steps_as_the_logarithm(world):
    inputs = inputs_of(world, 5)
    outcome = run_here(tree_broadcast, inputs)
    assert all((result == inputs[0][0]).all() for (result,) in outcome.results)
    assert outcome.traffic.steps == math.ceil(math.log2(world))
    assert len(outcome.traffic.messages) == world - 1


@pytest.mark.parametrize("world", WORLDS[1:])
def test_a_ring_sends_the_bytes_that_the_formula_says_over_each_link(world):
    size = 6 * world
    for program in (ring_all_reduce, lambda x, dist: dist.all_reduce(x)):
        traffic = run_here(program, inputs_of(world, size)).traffic
        bytes_per_link = 2 * (world - 1) * size * 8 // world
        assert traffic.link_bytes == {(rank, (rank + 1) % world): bytes_per_link for rank in range(world)}
        assert traffic.sent_bytes == traffic.received_bytes == [bytes_per_link] * world
        assert traffic.link_messages == dict.fromkeys(traffic.link_bytes, 2 * (world - 1))
        assert traffic.busiest_link_bytes == traffic.busiest_rank_bytes == bytes_per_link
        assert traffic.steps == 2 * (world - 1)


@pytest.mark.parametrize("world", WORLDS)
def test_all_pairs_load_each_link_with_an_array_and_each_rank_with_all_others(world):
    traffic = run_here(all_pairs, inputs_of(world, 6)).traffic
    assert traffic.busiest_link_bytes == (48 if world > 1 else 0)
    assert traffic.busiest_rank_bytes == 48 * (world - 1)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("dtype", ["float32", "int64", "float16"])
def test_the_finished_collectives_do_what_torch_says(world, dtype):
    inputs = inputs_of(world, 3 * world, dtype)
    x = np.stack([x for (x,) in inputs])
    for rank, results in enumerate(run_here(given_parts, inputs).results):
        reduced, spread, gathered, scattered, exchanged, number = results
        np.testing.assert_array_equal(reduced, x.sum(axis=0))
        np.testing.assert_array_equal(spread, x[-1])
        np.testing.assert_array_equal(gathered, x.reshape(-1))
        np.testing.assert_array_equal(scattered, x.sum(axis=0).reshape(world, -1)[rank])
        np.testing.assert_array_equal(exchanged, x.reshape(world, world, -1)[:, rank].reshape(-1))
        assert number == rank and reduced.dtype == dtype


@pytest.mark.parametrize("world", WORLDS)
def test_an_all_reduce_of_fewer_numbers_than_ranks_is_right(world):
    def program(x, dist):
        dist.all_reduce(x)
        return x

    for shape in ((), (2,), (0, 3), (2, 3)):
        results = run_here(program, [(np.full(shape, rank, np.int64),) for rank in range(world)]).results
        assert all(result.shape == shape and (result == world * (world - 1) // 2).all() for (result,) in results)


def test_time_is_latency_and_bytes_along_the_chain():
    traffic = run_here(lambda x, dist: dist.all_reduce(x), inputs_of(4, 400)).traffic
    link = LinkSpeed(latency_s=1e-5, bytes_per_s=1e6)
    assert link.seconds(traffic) == pytest.approx(6 * (1e-5 + 800 / 1e6))
    assert link.seconds(run_here(lambda x, dist: None, inputs_of(3, 1)).traffic) == 0


def test_a_rank_sends_one_message_at_a_time_and_receives_one_beside_it():
    def everybody_to_everybody(x, dist):
        rank, world = dist.get_rank(), dist.get_world_size()
        pending = [dist.isend(x, (rank + far) % world) for far in range(1, world)]
        pending += [dist.irecv(np.empty_like(x), (rank - far) % world) for far in range(1, world)]
        for each in pending:
            each.wait()

    traffic = run_here(everybody_to_everybody, inputs_of(4, 10)).traffic
    assert traffic.steps == 1
    ends = LinkSpeed(0.0, 80.0).ends_s(traffic)
    for rank in range(4):
        for end in ("src", "dst"):
            times = sorted(
                at for at, message in zip(ends, traffic.messages, strict=True) if getattr(message, end) == rank
            )
            assert all(later - earlier >= 1 - 1e-12 for earlier, later in zip(times, times[1:], strict=False))


def test_a_message_waits_for_what_its_sender_waited_for():
    def relay(x, dist):
        rank, world = dist.get_rank(), dist.get_world_size()
        if rank:
            dist.recv(x, rank - 1)
        if rank + 1 < world:
            dist.send(x, rank + 1)
        return x

    traffic = run_here(relay, inputs_of(5, 2)).traffic
    assert [(m.step, m.src, m.dst, m.n_bytes) for m in traffic.messages] == [(r + 1, r, r + 1, 16) for r in range(4)]
    assert LinkSpeed(1.0, 16.0).ends_s(traffic) == pytest.approx([2.0, 4.0, 6.0, 8.0])


@pytest.mark.parametrize("bad", [(-1.0, 1.0), (0.0, 0.0), (0.0, float("nan"))])
def test_a_link_that_cannot_be_is_refused(bad):
    with pytest.raises(ValueError, match="a link has a latency of 0 s or more"):
        LinkSpeed(*bad)
