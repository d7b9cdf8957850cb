"""What goes wrong in a parallel program gets a kind and a sentence."""

import numpy as np
import pytest

from softlookup.ranks.in_process import run_here
from softlookup.ranks.records import WorldError
from softlookup.ranks.world import run
from softlookup_inside.ranks.dist import record
from softlookup_inside.ranks.packing import MOST_ROWS, WIDTH, pack_inbox, unpack_inbox
from softlookup_inside.ranks.recording import RankError

X = np.arange(4.0)


def ring_of_sends(dist):
    dist.send(X, (dist.get_rank() + 1) % dist.get_world_size())
    dist.recv(X.copy(), (dist.get_rank() - 1) % dist.get_world_size())


def ring_of_receives(dist):
    dist.recv(X.copy(), (dist.get_rank() + 1) % dist.get_world_size())
    dist.send(X, (dist.get_rank() - 1) % dist.get_world_size())


def waits_too_early(dist):
    peer = dist.get_rank() ^ 1
    dist.isend(X, peer).wait()
    dist.recv(X.copy(), peer)


def two_behind_a_circle(dist):
    rank = dist.get_rank()
    if rank == 0:
        dist.recv(X.copy(), 1)
    else:
        dist.recv(X.copy(), 3 - rank)


def nobody_sends(dist):
    if dist.get_rank() == 1:
        dist.recv(X.copy(), 0)


def nobody_reads(dist):
    if dist.get_rank() == 0:
        dist.send(X, 1)


def nobody_reads_isend(dist):
    if dist.get_rank() == 0:
        dist.isend(X, 1).wait()


def waits_for_one_that_waits_for_nobody(dist):
    rank = dist.get_rank()
    if rank < 2:
        dist.recv(X.copy(), rank + 1)


def no_wait(dist):
    if dist.get_rank() == 0:
        dist.isend(X, 1)
    else:
        dist.recv(X.copy(), 0)


def no_wait_for_a_receive(dist):
    if dist.get_rank() == 0:
        dist.send(X, 1)
    else:
        dist.irecv(X.copy(), 0)


def other_shape(dist):
    dist.send(X, 1) if dist.get_rank() == 0 else dist.recv(np.empty((2, 2)), 0)


def other_dtype(dist):
    dist.send(X, 1) if dist.get_rank() == 0 else dist.recv(np.empty(4, np.float32), 0)


def second_message_of_another_shape(dist):
    if dist.get_rank() == 0:
        dist.send(X, 1)
        dist.send(X[:2], 1)
    else:
        dist.recv(X.copy(), 0)
        dist.recv(X.copy(), 0)


def overtaken_by_a_collective(dist):
    array, pending = X.copy(), dist.irecv(np.empty(2), 1) if dist.get_rank() == 0 else None
    dist.all_reduce(array)
    pending.wait() if pending else dist.send(X[:2], 0)


def overtaken_by_a_barrier(dist):
    pending = dist.irecv(np.empty(1, np.uint8), 1) if dist.get_rank() == 0 else None
    dist.barrier()
    pending.wait() if pending else dist.send(np.ones(1, np.uint8), 0)


def groups_in_another_order(dist):
    groups = [dist.new_group([0, 1]), dist.new_group([0, 1])]
    for group in groups[:: 1 - 2 * dist.get_rank()]:
        dist.all_reduce(X.copy(), group=group)


def sent_in_a_group_alone(dist):
    group = dist.new_group([0, 1])
    dist.recv(X.copy(), 0) if dist.get_rank() else dist.send(X, 1, group=group)


def another_collective(dist):
    dist.reduce(X.copy(), 0) if dist.get_rank() else dist.gather(X, [X.copy(), X.copy()])


def collective_left_out(dist):
    if dist.get_rank() == 0:
        dist.all_reduce(X.copy())


def collective_of_other_arrays(dist):
    dist.all_reduce(np.zeros(4 + 2 * dist.get_rank()))


CHANCE = np.random.default_rng(0)


def chance(dist):
    if dist.get_rank() == 0:
        dist.send(CHANCE.normal(size=4), 1)
        dist.recv(X.copy(), 1)
    else:
        dist.recv(X.copy(), 0)
        dist.send(X, 0)


@pytest.mark.parametrize(
    ("program", "world", "kind", "words"),
    [
        (ring_of_sends, 3, "deadlock", "rank 0 waits for rank 1, 1 for 2, 2 for 0$"),
        (ring_of_sends, 2, "deadlock", "rank 0 waits for rank 1, 1 for 0$"),
        (ring_of_receives, 3, "deadlock", "rank 0 waits for rank 1, 1 for 2, 2 for 0$"),
        (waits_too_early, 2, "deadlock", "rank 0 waits for rank 1, 1 for 0$"),
        (two_behind_a_circle, 3, "deadlock", "rank 1 waits for rank 2, 2 for 1$"),
        (nobody_sends, 2, "unsent", "^rank 1 receives from rank 0, which ends without sending it$"),
        (nobody_reads, 2, "unread", "^rank 0 sends to rank 1, which ends without receiving it$"),
        (nobody_reads_isend, 2, "unread", "^rank 0 sends to rank 1, which ends without receiving it$"),
        (waits_for_one_that_waits_for_nobody, 3, "unsent", "^rank 1 receives from rank 2, which ends"),
        (no_wait, 2, "no-wait", r"^rank 0 calls isend to rank 1 and never wait\(\) on it$"),
        (no_wait_for_a_receive, 2, "no-wait", r"^rank 1 calls irecv from rank 0 and never wait\(\) on it$"),
        (other_shape, 2, "mismatch", r"float64 of shape \(4,\) to rank 1, which receives float64 of shape \(2, 2\)"),
        (other_dtype, 2, "mismatch", r"float64 of shape \(4,\) to rank 1, which receives float32 of shape \(4,\)"),
        (second_message_of_another_shape, 2, "mismatch", r"float64 of shape \(2,\) to rank 1"),
        (
            overtaken_by_a_collective,
            2,
            "mismatch",
            "^rank 1 sends in all_reduce to rank 0, which receives it in irecv:",
        ),
        (overtaken_by_a_barrier, 2, "mismatch", "^rank 1 sends in barrier to rank 0, which receives it in irecv:"),
        (
            groups_in_another_order,
            2,
            "mismatch",
            "in all_reduce for group . to rank ., which .* in all_reduce for group",
        ),
        (sent_in_a_group_alone, 2, "mismatch", "^rank 0 sends in send for group 1 to rank 1, .* receives it in recv:"),
        (another_collective, 2, "mismatch", "^rank 1 sends in reduce to rank 0, which receives it in gather:"),
        (
            collective_left_out,
            2,
            "unsent",
            "^in all_reduce, rank 0 receives from rank 1, which ends .*: call it on all",
        ),
        (collective_of_other_arrays, 2, "mismatch", r"^in all_reduce, rank . sends float64 .* do not fit$"),
        (chance, 2, "not-deterministic", "^rank 0 does something else when it is run again"),
    ],
)
def test_a_program_whose_messages_do_not_meet_is_refused_in_words(program, world, kind, words):
    with pytest.raises(WorldError, match=words) as caught:
        run_here(program, [()] * world)
    assert caught.value.kind == kind


def changed_before_wait(dist):
    x = X.copy()
    if dist.get_rank() == 0:
        sent = dist.isend(x, 1)
        x += 1
        sent.wait()
    else:
        dist.recv(x, 0)


@pytest.mark.parametrize(
    ("program", "error", "words"),
    [
        (lambda dist: dist.send(X, 2), RankError, "send names rank 2: in a world of 2 there are 0 to 1"),
        (lambda dist: dist.recv(X.copy(), -1), RankError, "recv names rank -1"),
        (lambda dist: dist.isend(X, 0), RankError, "rank 0 calls isend with itself"),
        (lambda dist: dist.send(X, 1.0), RankError, "send needs the number of a rank, got 1.0"),
        (lambda dist: dist.send(2.0, 1), RankError, "what send sends must be an array, got float"),
        (lambda dist: dist.send(X.astype(complex), 1), RankError, "holds complex128: messages hold bool"),
        (lambda dist: dist.send(X[::2], 1), RankError, "not in one piece"),
        (lambda dist: dist.recv(X[::2], 1), RankError, "not in one piece"),
        (lambda dist: dist.send(np.zeros((1,) * 5), 1), RankError, "has 5 axes: at most 4"),
        (lambda dist: dist.recv(np.broadcast_to(X, (4,)), 1), RankError, "cannot be written"),
        (lambda dist: dist.broadcast(X, 2), RankError, "broadcast names rank 2"),
        (
            lambda dist: dist.all_gather_into_tensor(np.empty(4), X),
            RankError,
            r"^all_gather_into_tensor\(output_tensor, input_tensor\) fills its first array from the second ones of all "
            "ranks; the first holds 2 times the numbers of the other: got 4 of float64 for 4 of float64",
        ),
        (
            lambda dist: dist.reduce_scatter_tensor(np.empty(4), X),
            RankError,
            r"^reduce_scatter_tensor\(output, input\) fills its first array from the second ones of all ranks; the "
            "second holds 2 times the numbers of the other: got 4 of float64 for 4 of float64",
        ),
        (lambda dist: dist.all_to_all_single(np.empty(3), X[:3]), RankError, "into 2 equal parts, and this is 3 long"),
        (lambda dist: dist.all_together(X), AttributeError, "dist has no 'all_together'"),
        (lambda dist: dist.send(np.zeros(100_001), 1), RankError, "more than 800,000 bytes"),
        (changed_before_wait, RankError, r"has changed before its wait\(\)"),
        (lambda dist: 1 / 0, ZeroDivisionError, "division"),
    ],
)
def test_a_rank_that_does_what_no_program_may_do_raises(program, error, words):
    with pytest.raises(error, match=words) as caught:
        run_here(program, [(), ()])
    assert caught.value.__notes__ == ["It is rank 0 of 2 that raises this."]


def test_too_many_messages_are_refused():
    def program(dist):
        for _ in range(MOST_ROWS + 1):
            dist.send(X, 1)

    with pytest.raises(RankError, match="more than 4,000 operations"):
        run_here(program, [(), ()])


def test_a_dist_with_some_names_says_which():
    with pytest.raises(AttributeError, match="no 'all_reduce' here: it has get_rank, get_world_size, send, recv\n"):
        run_here(lambda dist: dist.all_reduce(X), [(), ()], offers=("send", "recv"))


def test_what_swallows_every_exception_still_waits_for_its_message():
    def program(dist):
        x = np.zeros(1)
        if dist.get_rank():
            dist.send(np.ones(1), 0)
            return x
        try:
            dist.recv(x, 1)
        except BaseException:  # a student's bare except
            x[:] = -1
        finally:
            x = x + 1
        return x

    (first,), _ = run_here(program, [(), ()]).results
    assert first == 2


def test_an_array_is_no_message_before_its_wait():
    def program(dist):
        if dist.get_rank():
            dist.send(X, 0)
            return X
        buffer = X.copy()
        pending = dist.irecv(buffer, 1)
        early = buffer.copy()
        pending.wait()
        pending.wait()
        return early, buffer

    (early, buffer), _ = run_here(program, [(), ()]).results
    assert np.isnan(early).all() and (buffer == X).all()


@pytest.mark.parametrize("world", [0, 65])
def test_a_world_has_some_ranks(world):
    with pytest.raises(ValueError, match="1 to 64 ranks"):
        run_here(lambda dist: None, [()] * world)


EMPTY = pack_inbox({})


def made(*rows, words=()):
    table = np.zeros((len(rows), WIDTH), np.int64)
    for row, numbers in zip(table, rows, strict=True):
        row[: len(numbers)] = numbers
    return table, np.array(words, np.int64)


END = (6, -1, -1, -1, -1)
FORGED = {
    "rows of floats": (np.zeros((1, WIDTH)), EMPTY[1]),
    "too few columns": (np.zeros((1, WIDTH - 1), np.int64), EMPTY[1]),
    "one array": (EMPTY[0],),
    "no operation": EMPTY,
    "unknown operation": made((7, 1, -1, 8, 0), END),
    "negative operation": made((-1, 1, -1, 8, 0), END),
    "to itself": made((0, 0, -1, 8, 0), END, words=[0]),
    "to nobody": made((0, 2, -1, 8, 0), END, words=[0]),
    "unknown dtype": made((0, 1, -1, 9, 0), END, words=[0]),
    "too many axes": made((0, 1, -1, 8, 5), END, words=[0]),
    "negative size": made((0, 1, -1, 8, 1, -1), END, words=[0]),
    "negative group": made((0, 1, -1, 8, 0, 0, 0, 0, 0, -1, 0), END, words=[0]),
    "unknown collective": made((0, 1, -1, 8, 0, 0, 0, 0, 0, 0, 99), END, words=[0]),
    "negative collective": made((0, 1, -1, 8, 0, 0, 0, 0, 0, 0, -1), END, words=[0]),
    "hidden size": made((0, 1, -1, 8, 1, 1, 7), END, words=[0]),
    "huge size": made((0, 1, -1, 8, 4, 2**62, 2**62, 2**62, 2**62), END, words=[0]),
    "too few words": made((0, 1, -1, 8, 1, 2), END, words=[0]),
    "too many words": made((0, 1, -1, 8, 1, 1), END, words=[0, 0]),
    "a wait for nothing": made((4, -1, 0, -1, -1), END),
    "a wait for a send": made((0, 1, -1, 8, 0), (4, -1, 0, -1, -1), END, words=[0]),
    "two waits": made((2, 1, -1, 8, 0), (4, -1, 0, -1, -1), (4, -1, 0, -1, -1), END, words=[0]),
    "after the end": made(END, END),
    "a message after results": made((5, -1, -1, 8, 0), (0, 1, -1, 8, 0), END, words=[0, 0]),
    "no end": made((5, -1, -1, 8, 0), words=[0]),
    "stops at a send": made((0, 1, -1, 8, 0), words=[0]),
    "stops at an irecv": made((3, 1, -1, 8, 0)),
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_a_forged_record_is_no_record(forged):
    def ask(inboxes):
        return {rank: made(END) if rank else forged for rank in inboxes}

    with pytest.raises(WorldError) as caught:
        run(ask, 2)
    assert caught.value.kind == "record"


def test_a_rank_that_does_not_go_on_with_its_message_is_refused():
    def ask(inboxes):
        return {rank: made((0, 0, -1, 8, 0), END, words=[1]) if rank else made((1, 1, -1, 8, 0)) for rank in inboxes}

    with pytest.raises(WorldError, match="does not go on") as caught:
        run(ask, 2)
    assert caught.value.kind == "record"


def test_booleans_of_a_record_are_0_and_1():
    outcome = run(lambda inboxes: {0: made((5, -1, -1, 0, 1, 2), END, words=[0x0200])}, 1)
    assert outcome.results[0][0].view(np.uint8).tolist() == [0, 1]


def test_an_inbox_holds_bytes_and_neither_dtypes_nor_shapes():
    inbox = {2: [X, np.zeros((0, 3), bool)], 0: [np.array(7, np.int16)]}
    again = unpack_inbox(pack_inbox(inbox))
    assert sorted(again) == [0, 2]
    for source, arrays in inbox.items():
        for a, b in zip(again[source], arrays, strict=True):
            assert a.dtype == np.uint8 and a.shape == (b.nbytes,) and a.tobytes() == b.tobytes()
    rows, words = record(lambda dist: (X,), 0, 1, EMPTY)
    assert rows.shape == (2, WIDTH) and (words.view(np.float64) == X).all()
