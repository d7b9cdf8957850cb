"""Programs that are drawn: whatever meets is counted, whatever does not meet is refused."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.ranks.in_process import run_here
from softlookup.ranks.links import LinkSpeed
from softlookup.ranks.records import WorldError


@st.composite
def message_lists(draw):
    """A world, and messages in an order in which they can be sent one after the other."""
    world = draw(st.integers(2, 5))
    pairs = st.sampled_from([(a, b) for a in range(world) for b in range(world) if a != b])
    sizes = st.integers(0, 4)
    ways = st.tuples(st.booleans(), st.booleans())
    return world, draw(st.lists(st.tuples(pairs, sizes, ways), max_size=25))


def program_of(messages):
    """What each rank does: its end of each message, in the common order."""

    def program(dist):
        rank, pending, received = dist.get_rank(), [], []
        for number, ((src, dst), size, (now_sent, now_received)) in enumerate(messages):
            if rank == src:
                array = np.full(size, float(number))
                dist.send(array, dst) if now_sent else pending.append(dist.isend(array, dst))
            elif rank == dst:
                received.append(np.empty(size))
                dist.recv(received[-1], src) if now_received else pending.append(dist.irecv(received[-1], src))
        for each in pending:
            each.wait()
        return tuple(received)

    return program


@settings(max_examples=60, deadline=None)
@given(message_lists())
def test_messages_in_a_common_order_arrive_and_are_counted(drawn):
    world, messages = drawn
    outcome = run_here(program_of(messages), [()] * world)
    for rank, results in enumerate(outcome.results):
        expected = [np.full(size, float(n)) for n, ((_, dst), size, _) in enumerate(messages) if dst == rank]
        assert [array.tolist() for array in results] == [array.tolist() for array in expected]
    traffic = outcome.traffic
    links = Counter()
    for link, size, _ in messages:
        links[link] += 8 * size or 1  # an empty message says something by being sent
    assert traffic.link_bytes == dict(links)
    assert sum(traffic.sent_bytes) == sum(traffic.received_bytes) == sum(links.values())
    assert traffic.steps <= len(messages)
    assert [m.step for m in traffic.messages] == sorted(m.step for m in traffic.messages)
    # With a second for each message and free bytes, no schedule is shorter than the chain, or than the busiest rank.
    seconds = LinkSpeed(1.0, float("inf")).seconds(traffic)
    busiest = max(
        [0, *Counter(m.src for m in traffic.messages).values(), *Counter(m.dst for m in traffic.messages).values()]
    )
    assert max(traffic.steps, busiest) <= seconds + 1e-9 <= len(messages) + 1e-9


@settings(max_examples=60, deadline=None)
@given(message_lists(), st.randoms(use_true_random=False))
def test_blocking_messages_in_any_order_stand_still_exactly_where_a_search_says_so(drawn, random):
    world, messages = drawn
    ends = [[] for _ in range(world)]
    for (src, dst), _, _ in messages[:8]:
        ends[src].append(("send", dst))
        ends[dst].append(("recv", src))
    for each in ends:
        random.shuffle(each)

    def program(dist):
        for name, peer in ends[dist.get_rank()]:
            getattr(dist, name)(np.zeros(1), peer)

    remaining = [list(each) for each in ends]
    moved = True
    while moved:
        moved = False
        for a, b in itertools.permutations(range(world), 2):
            if remaining[a][:1] == [("send", b)] and remaining[b][:1] == [("recv", a)]:
                remaining[a].pop(0)
                remaining[b].pop(0)
                moved = True
    if any(remaining):
        with pytest.raises(WorldError) as caught:
            run_here(program, [()] * world)
        assert caught.value.kind in ("deadlock", "unsent", "unread")
    else:
        assert len(run_here(program, [()] * world).traffic.messages) == len(messages[:8])
