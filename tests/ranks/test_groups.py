"""Groups of ranks: collectives among some of them, and a group that not all ranks make."""

import numpy as np
import pytest

from softlookup.ranks.in_process import run_here
from softlookup.ranks.on_torch import run_on_torch
from softlookup.ranks.records import WorldError
from softlookup_inside.ranks.recording import RankError


def rows_and_columns(x, dist):
    """Ranks in two rows: sums of a row, then the column's last array, and what each rank's numbers are."""
    rank, world = dist.get_rank(), dist.get_world_size()
    width = world // 2
    rows = [dist.new_group(list(range(width * row, width * row + width))) for row in range(2)]
    columns = [dist.new_group([width + column, column]) for column in range(width)]
    row, column = rows[rank // width], columns[rank % width]
    total, spread = x.copy(), x.copy()
    dist.all_reduce(total, group=row)
    dist.broadcast(spread, width + rank % width, group=column)
    gathered = np.empty(width * x.size, x.dtype)
    dist.all_gather_into_tensor(gathered, x, group=row)
    scattered = np.empty(x.size // 2, x.dtype)
    dist.reduce_scatter_tensor(scattered, x, group=column)
    exchanged = np.empty_like(x)
    dist.all_to_all_single(exchanged, x, group=column)
    numbers = [dist.get_rank(row), dist.get_world_size(column), dist.get_rank(rows[1 - rank // width])]
    return total, spread, gathered, scattered, exchanged, np.array([*numbers, row.rank(), column.size()])


def inputs_of(world):
    return [(10.0 * rank + np.arange(6.0),) for rank in range(world)]


@pytest.mark.parametrize("world", [2, 4, 6])
def test_collectives_of_a_group_are_among_its_ranks(world):
    inputs = inputs_of(world)
    x = np.stack([x for (x,) in inputs]).reshape(2, world // 2, 6)
    outcome = run_here(rows_and_columns, inputs)
    for rank, (total, spread, gathered, scattered, exchanged, numbers) in enumerate(outcome.results):
        row, column = divmod(rank, world // 2)
        np.testing.assert_array_equal(total, x[row].sum(axis=0))
        np.testing.assert_array_equal(spread, x[1, column])
        np.testing.assert_array_equal(gathered, x[row].reshape(-1))
        np.testing.assert_array_equal(scattered, x[:, column].sum(axis=0).reshape(2, 3)[row])
        np.testing.assert_array_equal(exchanged, x[:, column].reshape(2, 2, 3)[:, row].reshape(-1))
        assert numbers.tolist() == [column, 2, -1, column, 2]
    width = world // 2
    assert all(src // width == dst // width or src % width == dst % width for src, dst in outcome.traffic.link_bytes)


def test_groups_do_the_same_on_torch():
    inputs = inputs_of(4)
    for here, there in zip(
        run_here(rows_and_columns, inputs).results, run_on_torch(rows_and_columns, inputs), strict=True
    ):
        for a, b in zip(here, there, strict=True):
            np.testing.assert_array_equal(a, b)


def left_out_by_one(dist):
    if dist.get_rank() != 2:
        dist.new_group([0, 1])


def in_another_order(dist):
    first = dist.get_rank() == 1
    dist.new_group([0, 1 + first])
    dist.new_group([0, 2 - first])


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (
            left_out_by_one,
            r"rank 0 and rank 2 differ in their call 1 of new_group: \[0, 1\] on rank 0, no such call on",
        ),
        (
            in_another_order,
            r"rank 0 and rank 1 differ in their call 1 of new_group: \[0, 1\] on rank 0, \[0, 2\] on ra",
        ),
    ],
)
def test_a_group_that_not_all_ranks_make_is_refused(program, words):
    with pytest.raises(WorldError, match=words) as caught:
        run_here(program, [()] * 3)
    assert caught.value.kind == "groups"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda dist: dist.new_group([0, 3]), "new_group needs different ranks, in a world of 3 out of 0 to 2; got"),
        (lambda dist: dist.new_group([]), "new_group needs different ranks"),
        (lambda dist: dist.new_group([1, 1]), "new_group needs different ranks"),
        (lambda dist: dist.new_group(2), "new_group needs a list of ranks, got 2"),
        (lambda dist: dist.all_reduce(np.ones(2), group=dist.new_group([1, 2])), "rank 0 calls all_reduce for a group"),
        (
            lambda dist: dist.broadcast(np.ones(2), 2, group=dist.new_group([0, 1])),
            r"broadcast names rank 2, and the group has the ranks \[0, 1\]",
        ),
    ],
)
def test_what_no_group_can_be_or_do_is_refused(program, words):
    with pytest.raises(RankError, match=words):
        run_here(program, [()] * 3)


def test_a_group_is_there_where_it_is_offered():
    with pytest.raises(AttributeError, match="dist has no 'new_group' here"):
        run_here(lambda dist: dist.new_group([0]), [()], offers=("all_reduce",))
