"""Blocks and scheduler: every block is owned or free at every step, the oldest goes on, nobody leaves without need."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.model import Config
from softlookup.serving import Blocks, CostRunner, Costs, Request, Rules, Server

CONFIG = Config(9, d_model=2, n_heads=1, n_layers=1, max_length=40)
ONE_A_STEP = Costs(chunk=0, token=0, pair=0, batch=1, row=0, slot=0)


def assert_whole(blocks):
    """Each block is in as many tables as it has owners, and free exactly where it has none."""
    tables = [blocks.table(sequence) for sequence in blocks._tables]
    in_tables = Counter(block for table in tables for block in table)
    assert [in_tables[block] for block in range(len(blocks.owners))] == blocks.owners
    assert blocks.n_free == blocks.owners.count(0) == len(blocks.owners) - len(in_tables)
    for sequence, table in zip(blocks._tables, tables, strict=True):
        assert len(set(table)) == len(table) == -(-blocks.length(sequence) // blocks.block_size)


@st.composite
def ways_of_blocks(draw):
    prompts = draw(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=9), min_size=1, max_size=4))
    acts = st.tuples(st.sampled_from(["begin", "grow", "end"]), st.integers(0, 20), st.integers(0, 9))
    return prompts, draw(st.lists(acts, max_size=25)), draw(st.integers(1, 9)), draw(st.integers(1, 4))


@given(ways_of_blocks(), st.booleans())
def test_blocks_owned_and_free_are_all_whatever_is_done(way, share):
    prompts, acts, n_blocks, size = way
    blocks = Blocks(CONFIG, n_blocks, size, share=share)
    begun = {}
    for act, which, tokens in acts:
        if act == "begin":
            prompt = prompts[which % len(prompts)]
            sequence = blocks.start_for(prompt)
            begun[sequence] = prompt
            assert blocks.length(sequence) < len(prompt) and (share or blocks.length(sequence) == 0)
        elif begun:
            sequence = sorted(begun)[which % len(begun)]
            before = (blocks.table(sequence), blocks.length(sequence), blocks.n_free)
            if act == "grow" and blocks.needed(sequence, tokens) > blocks.n_free:
                with pytest.raises(MemoryError, match=f"{blocks.n_free} of {n_blocks} blocks are free"):
                    blocks.grow(sequence, tokens)
                assert (blocks.table(sequence), blocks.length(sequence), blocks.n_free) == before
            elif act == "grow":
                blocks.grow(sequence, tokens)
                assert blocks.table(sequence)[: len(before[0])] == before[0]
            else:
                blocks.remember(sequence, begun.pop(sequence)[: blocks.length(sequence)])
                blocks.release(sequence)
        assert_whole(blocks)


def test_blocks_refuse_to_shrink_and_sequences_that_are_not_there():
    blocks = Blocks(CONFIG, 4, 2)
    sequence = blocks.start()
    blocks.grow(sequence, 3)
    for call in (blocks.grow, blocks.needed):
        with pytest.raises(ValueError, match="tokens is -1; wanted at least 0"):
            call(sequence, -1)
    assert (blocks.length(sequence), blocks.table(sequence)) == (3, [0, 1])
    for call in (blocks.table, blocks.length, blocks.release):
        with pytest.raises(KeyError, match="no sequence 7"):
            call(7)
    with pytest.raises(ValueError, match="block_size 0"):
        Blocks(CONFIG, 4, 0)


requests = st.lists(
    st.builds(Request, st.lists(st.integers(0, 2), min_size=1, max_size=12).map(tuple), st.integers(1, 12)),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=300)
@given(
    requests,
    st.sampled_from(["continuous", "wait"]),
    st.integers(1, 5),
    st.none() | st.integers(0, 6),
    st.integers(2, 14),
    st.integers(1, 4),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 7)), max_size=3),
)
def test_every_step_keeps_the_blocks_goes_on_with_the_oldest_and_preempts_for_a_reason(
    requests, policy, most, extra, n_blocks, size, share, cancelled
):
    rules = Rules(policy, most=most, budget=None if extra is None else most + extra)
    blocks = Blocks(CONFIG, n_blocks, size, share=share)
    server = Server(CostRunner(ONE_A_STEP), blocks, rules)
    scheduler, order, batch = server.scheduler, {}, set()
    for request in requests:
        tokens = len(request.prompt) + request.max_new_tokens - 1
        assert server.submit(request) == (-(-tokens // size) <= n_blocks)
        order[request] = len(order)
    for step in range(400):
        for when, which in cancelled:
            if when == step:
                server.cancel(requests[which % len(requests)])
        living = [request for request in requests if request.state in ("waiting", "running")]
        before, had = list(scheduler.running), scheduler.preempted
        if not living:
            break
        plan = dict(scheduler.step())
        assert_whole(blocks)
        assert living[0] in plan, "the oldest request does not go on"
        assert set(plan) <= set(scheduler.running) and all(0 < plan[request] <= request.missing for request in plan)
        assert rules.budget is None or sum(plan.values()) <= rules.budget
        assert len(scheduler.running) <= most
        assert all(
            blocks.length(request.sequence) == request.computed + plan.get(request, 0) for request in scheduler.running
        )
        assert [order[request] for request in (*scheduler.running, *scheduler.waiting)] == [
            order[request] for request in living
        ]
        left = [request for request in before if request not in scheduler.running]
        assert scheduler.preempted - had == len(left)
        if left:
            assert set(scheduler.running) < set(before), "somebody enters in a step that preempts"
            if not share:  # there is no room for the oldest of those who left
                assert -(-len(left[0].ids) // size) > blocks.n_free
        batch = set(living[:most]) if not before else batch  # of a policy that waits: chosen when nobody runs
        assert policy == "continuous" or cancelled or set(scheduler.running) <= batch
        server.runner.run(list(plan.items()))
        for request, new in plan.items():
            request.computed += new
            if request.missing == 0:
                server._hand_out(request, 0, server.runner.now())
        assert_whole(blocks)
    assert blocks.n_free == n_blocks and not scheduler.running and not scheduler.waiting
    finished = [request for request in requests if request.state == "finished"]
    assert all(len(request.written) == request.max_new_tokens for request in finished)
    assert {request.state for request in requests} <= {"finished", "refused", "cancelled"}


def test_who_had_to_leave_comes_back_when_another_has_ended():
    blocks = Blocks(CONFIG, 40, 1, share=False)
    server = Server(CostRunner(ONE_A_STEP), blocks, Rules(most=3, budget=8))
    requests = [Request((5,) * 6, 26) for _ in range(3)]
    server.serve(requests)
    assert [request.state for request in requests] == ["finished"] * 3
    computed = sum(new for step, _ in server.steps for new, _ in step)
    # Each has to compute 31 tokens. Of three two fit for a while, then one: who leaves computes anew what it had.
    assert (server.scheduler.preempted, computed) == (3, 139)


def test_a_batch_that_waits_is_all_who_waited_though_the_budget_admits_them_one_by_one():
    blocks = Blocks(CONFIG, 40, 1)
    server = Server(CostRunner(ONE_A_STEP), blocks, Rules("wait", most=3, budget=5))
    requests = [Request((n,) * 5, 4) for n in range(5)]
    for request in requests:
        server.submit(request)
    together = []
    while server.step():
        together.append([i for i, request in enumerate(requests) if request.state == "running"])
    assert together[2] == [0, 1, 2]
    assert not any({0, 1, 2} & {*now} and {3, 4} & {*now} for now in together)
    assert [3, 4] in together


@pytest.mark.parametrize(
    ("prompt", "new", "says"),
    [
        ((5,) * 30, 20, "may need 49 positions, and the model has 40"),
        ((5,) * 30, 200, "may need 115 blocks of the cache, which has 30"),
        ((5, 9), 3, "holds id 9; the model has ids 0 to 8"),
        ((-1, 5), 3, "holds id -1; the model has ids 0 to 8"),
    ],
)
def test_a_request_that_can_never_be_served_is_refused_when_it_comes_and_the_server_lives_on(prompt, new, says):
    server = Server(CostRunner(ONE_A_STEP), Blocks(CONFIG, 30, 2))
    requests = [Request((5,), 3), Request(prompt, new), Request((5,) * 30, 11)]  # the last just fits
    server.serve(requests)
    assert [request.state for request in requests] == ["finished", "refused", "finished"]
    assert says in requests[1].reason


def test_blocks_that_no_request_has_do_not_hang_the_server():
    blocks = Blocks(CONFIG, 4, 2)
    blocks.grow(blocks.start(), 6)
    server = Server(CostRunner(ONE_A_STEP), blocks)
    requests = [Request((5,) * 3, 2), Request((5,), 2)]
    server.serve(requests)
    assert [request.state for request in requests] == ["refused", "finished"]
    assert "1 blocks are free" in requests[0].reason
