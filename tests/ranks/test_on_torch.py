"""The same programs on processes of torch.distributed."""

import multiprocessing
import os

import numpy as np
import pytest

from softlookup.ranks.in_process import run_here
from softlookup.ranks.on_torch import ProcessError, run_on_torch
from tests.ranks.programs import all_programs
from tests.ranks.test_collectives import inputs_of


@pytest.mark.parametrize("world", [2, 4])
def test_programs_give_the_same_on_torch_as_here(world):
    inputs = inputs_of(world, 2 * world)
    here, there = run_here(all_programs, inputs).results, run_on_torch(all_programs, inputs)
    for results, expected in zip(there, here, strict=True):
        assert len(results) == len(expected)
        for a, b in zip(results, expected, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def fails(dist):
    if dist.get_rank() == 1:
        raise KeyError("no such layer\nand more")
    dist.recv(np.empty(1), 1)


def vanishes(dist):
    if dist.get_rank() == 1:
        os._exit(3)
    dist.recv(np.empty(1), 1)


def waits(dist):
    dist.recv(np.empty(1), 1 - dist.get_rank())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "seconds", "words"),
    [
        (fails, 60, "rank 1 raises KeyError: 'no such layer"),
        (vanishes, 60, "the process of rank 1 has ended without a result|rank 0 raises RuntimeError"),
        (waits, 4, "after 4 s these ranks have not ended: 0, 1|rank [01] raises RuntimeError"),
    ],
)
def test_a_rank_that_goes_wrong_ends_all_of_them_with_a_sentence(program, seconds, words):
    with pytest.raises(ProcessError, match=words):
        run_on_torch(program, [(), ()], seconds)
    assert multiprocessing.active_children() == []
