"""The names and arguments of torch.distributed: what is here is called as there, and of the rest it is said why not."""

import datetime
import inspect
import re
from enum import EnumMeta

import numpy as np
import pytest
import torch
from torch import distributed

from softlookup.ranks import RankError, run_here, run_on_torch
from softlookup_inside.ranks.names import ALWAYS, EVERYTHING, NOT_HERE, offered
from softlookup_inside.ranks.operations import Operations, P2POp
from tests.ranks.tutorial_programs import TUTORIALS, all_tutorials

X = np.arange(4.0)
HERE = offered(EVERYTHING)
FUNCTIONS = [name for name in HERE if name not in ("ReduceOp", "P2POp")]


def public_names():
    """What torch.distributed calls public, and its other functions and classes, but for what is for its own use."""
    names = set(distributed.distributed_c10d.__all__)
    for name, value in vars(distributed).items():
        if not name.startswith("_") and name not in names and (inspect.isfunction(value) or name.endswith("Store")):
            names.add(name)
    return names


def test_every_public_name_of_torch_is_here_or_has_a_reason_and_none_is_both():
    assert sorted(public_names() - set(HERE) - set(NOT_HERE)) == []
    assert sorted(set(HERE) & set(NOT_HERE)) == []
    assert sorted({*HERE, *NOT_HERE} - set(vars(distributed))) == []


def parameters_of(function, is_torch):
    """Names, kinds and defaults; a reduction is compared by its name."""
    parameters = list(inspect.signature(function).parameters.values())
    if not is_torch:
        parameters = parameters[1:]
    return [(p.name, p.kind, getattr(p.default, "name", p.default)) for p in parameters]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_takes_what_torch_s_takes(name):
    assert parameters_of(getattr(Operations, name), False) == parameters_of(getattr(distributed, name), True)


def test_a_message_of_a_batch_takes_what_torch_s_takes():
    assert parameters_of(P2POp.__init__, False) == parameters_of(distributed.P2POp.__init__, True)[1:]


@pytest.mark.parametrize("world", [2, 4])
@pytest.mark.parametrize("program", TUTORIALS, ids=lambda program: program.__name__)
def test_a_tutorial_s_program_runs(program, world):
    run_here(program, [(X + rank,) for rank in range(world)])


@pytest.mark.parametrize("world", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_tutorials_give_the_same_on_torch_as_here(world):
    inputs = [(X + 10 * rank,) for rank in range(world)]
    here, there = run_here(all_tutorials, inputs).results, run_on_torch(all_tutorials, inputs)
    for results, expected in zip(there, here, strict=True):
        assert len(results) == len(expected) > 30
        for a, b in zip(results, expected, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def result_used(dist):
    g = dist.all_reduce(X.copy())
    return g / 2


def result_added_to_an_array(dist):
    return X + dist.all_gather_into_tensor(np.empty(8), X)


def result_added_in_place(dist):
    total = X.copy()
    total += dist.all_reduce(X.copy())


def result_in_a_list(dist):
    return np.concatenate([X, dist.broadcast(X.copy(), 0)])


def result_added_to_a_tensor(dist):
    return torch.ones(4) + dist.all_reduce(torch.ones(4))


def result_of_send_used(dist):
    return (dist.isend(X, 1), dist.recv(X.copy(), 1))[1] if dist.get_rank() else dist.send(X, 1).shape


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (result_used, r"^all_reduce fills its first argument and returns nothing: write dist.all_reduce\(…\) as"),
        (result_added_to_an_array, "^all_gather_into_tensor fills its first argument and returns nothing"),
        (result_added_in_place, "^all_reduce fills its first argument"),
        (result_in_a_list, "^broadcast fills its first argument"),
        (result_added_to_a_tensor, "^all_reduce fills its first argument"),
        (result_of_send_used, "^send returns nothing"),
        (lambda dist: dist.all_reduce(X.copy(), op="sum"), "^all_reduce needs op=dist.ReduceOp.SUM, AVG, PRODUCT"),
        (lambda dist: dist.all_reduce(X.copy(), op="SUM"), "^all_reduce needs op=dist.ReduceOp.SUM.*got 'SUM'"),
        (lambda dist: dist.all_reduce(np.arange(3), op=dist.ReduceOp.AVG), "needs floats, got int64"),
        (lambda dist: dist.recv(X.copy()), "^recv needs src=, the rank that sends: who comes first is chance"),
        (lambda dist: dist.irecv(tensor=X.copy()), "^irecv needs src="),
        (lambda dist: dist.send(X), "^send needs dst=, the number of a rank"),
        (lambda dist: dist.send(X, 1, tag=3), "^send has no tag= but 0 here"),
        (lambda dist: dist.send(X, 1, group_dst=1), "^send takes dst= or group_dst=, not both"),
        (lambda dist: dist.broadcast(X.copy()), "^broadcast needs src="),
        (lambda dist: dist.all_gather(X, [X, X]), "fills the list from the arrays of all ranks: a list has 2 arrays"),
        (lambda dist: dist.all_gather([X], X), "a list has 2 arrays here, one for each rank; got a list of 1"),
        (lambda dist: dist.all_gather([X[:2], X[:2]], X), "both are of one shape and dtype; got float64 of shape"),
        (
            lambda dist: dist.reduce_scatter([X, X], X),
            "^an argument of reduce_scatter.output, input_list. must be an array, got list",
        ),
        (lambda dist: dist.scatter(X.copy(), [X, X]) or dist.scatter(X.copy(), None), "a list has 2 arrays here"),
        (lambda dist: dist.gather(X, [X, X], dst=1), "only that rank has a list: the others pass None"),
        (lambda dist: dist.gather(X, np.zeros((2, 4)), dst=1), "only that rank has a list: the others pass None"),
        (lambda dist: dist.all_gather([X, X], 1.0), "^an argument of all_gather.* must be an array, got float"),
        (lambda dist: dist.all_to_all_single(np.empty(4), X, [1, 1], [2, 2]), "output_split_sizes are 2 numbers whose"),
        (lambda dist: dist.all_to_all_single(np.empty(4, int), X), "both are of one shape and dtype; got int64 of"),
        (lambda dist: dist.all_reduce(X.copy(), group=[0, 1]), "needs a group that dist.new_group has made, got list"),
        (lambda dist: dist.batch_isend_irecv([dist.isend(X, 1)]), "^batch_isend_irecv takes a list of dist.P2POp"),
        (lambda dist: dist.P2POp(dist.send, X, 1), "^P2POp takes dist.isend or dist.irecv first, .* got send$"),
        (lambda dist: dist.P2POp(dist.isend(X, 1), X, 1), "^P2POp takes .* got PendingMessage$"),
        (lambda dist: dist.P2POp(dist.isend, X), "^P2POp needs peer="),
        (lambda dist: dist.new_group([0, 1], sort_ranks=False), "numbers them in rising order"),
        (lambda dist: dist.get_global_rank(dist.new_group([0, 1]), 2), "names rank 2 of 2: there are 0 to 1"),
        (lambda dist: dist.send(torch.zeros(2, dtype=torch.bfloat16), 1), "this tensor cannot be sent or filled here"),
        (lambda dist: dist.broadcast(np.broadcast_to(X, (4,)), 0), "cannot be written"),
        (
            lambda dist: dist.all_reduce(X.copy(), async_op=True),
            r"rank 0 calls all_reduce with async_op=True and never",
        ),
    ],
)
def test_what_does_not_go_is_said_in_a_sentence(program, words):
    with pytest.raises(RankError) as caught:
        run_here(program, [(), ()])
    assert re.search(words, str(caught.value)), caught.value


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda dist: dist.send(), r"^dist.send\(tensor, dst, group, tag, group_dst\): missing a required argument"),
        (lambda dist: dist.all_reduce(X, sum=True), r"^dist.all_reduce\(tensor, op, group, async_op\): got an unexpe"),
        (lambda dist: dist.barrier(None, False, None, None, 5), r"^dist.barrier\(group.*: too many positional"),
    ],
)
def test_wrong_arguments_are_those_of_dist_and_name_no_class(program, words):
    with pytest.raises(TypeError, match=words) as caught:
        run_here(program, [(), ()])
    assert "Recorder" not in str(caught.value) and "Operations" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("all_gather_object", "^torch.distributed has 'all_gather_object', and dist has not: what it sends is pickled"),
        ("init_process_group", "the ranks are there when a program begins"),
        ("reduce_op", "renamed it: ReduceOp"),
        ("all_reduce_", "^dist has no 'all_reduce_'; similar names are all_reduce"),
    ],
)
def test_a_name_that_is_not_here_says_why(name, words):
    with pytest.raises(AttributeError, match=words):
        run_here(lambda dist: getattr(dist, name), [()])


def test_a_reduction_that_is_not_here_says_which_are():
    with pytest.raises(AttributeError, match=r"^dist.ReduceOp has SUM, AVG, PRODUCT, MIN, MAX here, and no BAND"):
        run_here(lambda dist: dist.ReduceOp.BAND, [()])


@pytest.mark.parametrize(
    ("offers", "more"),
    [
        (("send", "recv"), ()),
        (("send", "recv", "isend", "irecv"), ("batch_isend_irecv", "P2POp")),
        (("all_reduce",), ("ReduceOp",)),
        (("all_gather_into_tensor",), ("all_gather", "all_gather_single")),
    ],
)
def test_other_forms_come_with_what_a_task_offers_and_no_other_collectives(offers, more):
    assert set(offered(offers)) == {*ALWAYS, *offers, *more}


def test_what_returns_nothing_harms_no_program_that_leaves_it_alone():
    def program(dist):
        array = X.copy()
        work = dist.all_reduce(array, async_op=False)
        if work is not None:
            work.wait()
        assert not work and repr(work) == "None"
        return array

    assert run_here(program, [(), ()]).results[0][0].tolist() == [0, 2, 4, 6]


def test_results_of_an_asynchronous_collective_are_hidden_until_wait():
    def program(dist):
        array, gathered = X.copy(), np.zeros(8)
        gathered[4 * dist.get_rank() : 4 * dist.get_rank() + 4] = X
        first = dist.all_reduce(array, async_op=True)
        second = dist.all_gather_into_tensor(
            gathered, gathered[4 * dist.get_rank() : 4 * dist.get_rank() + 4], async_op=True
        )
        early = array.copy()
        assert first.wait() and second.wait() and first.wait()
        return early, array, gathered

    early, array, gathered = run_here(program, [(), ()]).results[1]
    assert np.isnan(early).all() and (array == 2 * X).all() and (gathered == np.tile(X, 2)).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64"])
def test_an_array_that_is_on_its_way_is_hidden_and_not_written(dtype):
    def program(way, dist):
        rank, array = dist.get_rank(), np.ones(4, dtype)
        sent = dist.isend(np.ones(4, dtype), 1 - rank) if way else None
        pending = dist.irecv(array, 1 - rank) if way else dist.all_reduce(array, async_op=True)
        assert not (array <= 2).any()
        array *= 1 if np.issubdtype(dtype, np.floating) else 2
        pending.wait()
        if sent:
            sent.wait()

    for way, name in enumerate(["all_reduce", "irecv"]):
        with np.errstate(invalid="ignore"), pytest.raises(RankError, match=f"^an array that {name} fills has changed"):
            run_here(program, [(way,), (way,)])


def test_the_source_of_a_broadcast_may_read_its_array_before_wait():
    def program(dist):
        array = X + dist.get_rank()
        pending = dist.broadcast(array, 0, async_op=True)
        with np.errstate(invalid="ignore"):
            early = array * 2
        assert pending.wait(datetime.timedelta(seconds=1))
        return early, array

    outcome = run_here(program, [(), ()])
    assert (outcome.results[0][0] == 2 * X).all() and np.isnan(outcome.results[1][0]).all()
    assert (outcome.results[1][1] == X).all()


def test_what_a_message_on_its_way_has_not_is_said():
    with pytest.raises(AttributeError, match=r"has wait\(\) and is_completed\(\), and no 'get_future'"):
        run_here(lambda dist: dist.all_reduce(X.copy(), async_op=True).get_future(), [()])


def test_an_input_of_an_asynchronous_collective_stays_as_it_is_until_wait():
    def program(dist):
        array, gathered = X.copy(), np.zeros(8)
        work = dist.all_gather_into_tensor(gathered, array, async_op=True)
        array += 1
        work.wait()

    with pytest.raises(RankError, match=r"all_gather_into_tensor sends has changed before its wait\(\)"):
        run_here(program, [(), ()])


def test_a_tensor_is_filled_in_its_own_memory():
    def program(x, dist):
        dist.all_reduce(x)
        parameter = torch.nn.Parameter(torch.ones(2))
        dist.broadcast(parameter, 0)
        return x

    tensors = [(torch.ones(3),) for _ in range(3)]
    assert run_here(program, tensors).results[1][0].tolist() == [3, 3, 3]
    assert isinstance(Operations.ReduceOp, EnumMeta)
