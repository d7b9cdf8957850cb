"""The figures of chapter 19: films that add up to the traffic, whose numbers reach whom, shards and pipelines."""

import json
from itertools import product

import numpy as np
import pytest

from softlookup.ranks import LinkSpeed, RankError, WorldError, run_here
from softlookup_course.widgets import (
    PipelineChart,
    RankPlayer,
    ShardedMemory,
    TensorParallelCut,
    sharded_memory,
    tensor_parallel_cut,
)
from softlookup_course.widgets.played_programs import PROGRAMS, WORLDS, ring_attention
from softlookup_course.widgets.rank_player import SIZES, describe
from softlookup_course.widgets.rank_recording import LINKS, MOST_PLAYED_WORLD, played, with_contents

MESSAGES = ("send", "recv", "isend", "irecv")


def rows_of(film):
    return [tuple(map(int, line.split())) for line in film["messages"]]


def reached(film):
    """The sets of ranks whose numbers have reached each rank's blocks, after the last step."""
    have = np.array(film["start"])
    for line in film["arrivals"]:
        for rank, block, mask in (map(int, each.split()) for each in line.split(";") if each):
            assert mask & have[rank, block] == have[rank, block] != mask, "sets grow"
            have[rank, block] = mask
    return have


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_film_adds_up_to_the_traffic_and_everything_reaches_everybody(name, world):
    traffic, _, film = played(PROGRAMS[name], world)
    rows = rows_of(film)
    assert rows == [(each.step, each.src, each.dst, each.n_bytes) for each in traffic.messages]
    assert film["busiest"] == traffic.busiest_link_bytes and film["most"] == max(traffic.sent_bytes)
    assert film["steps"] == traffic.steps == len(film["arrivals"]) == max(row[0] for row in rows)
    assert (reached(film) == 2 ** film["rows"] - 1).all()


@pytest.mark.parametrize("world", WORLDS)
def test_programs_send_what_the_chapter_says(world):
    films = {name: played(program, world)[2] for name, program in PROGRAMS.items()}
    units = {name: played(program, world)[1] for name, program in PROGRAMS.items()}
    shares = {name: (film["busiest"] / units[name], film["most"] / units[name]) for name, film in films.items()}
    assert shares["ring"] == pytest.approx((2 * (world - 1) / world,) * 2)
    assert shares["gather"] == (1, world - 1) and shares["attention"] == (world - 1,) * 2
    assert shares["tree"] == (1, np.log2(world)) and shares["root"] == (1, world - 1)
    steps = {name: film["steps"] for name, film in films.items()}
    assert steps == {
        "ring": 2 * (world - 1),
        "gather": world - 1,
        "tree": np.log2(world),
        "root": world - 1,
        "attention": world - 1,
    }


@pytest.mark.parametrize("world", [1, *WORLDS])
def test_played_programs_compute_what_they_are_called(world):
    rng = np.random.default_rng(19)
    x = rng.normal(size=(world, 11))
    for name, program in PROGRAMS.items():
        if name == "attention":
            continue
        results = run_here(program.function, [(each,) for each in x]).results
        expected = x[0] if program.begins == "root" else x.sum(axis=0)
        np.testing.assert_allclose([result[0] for result in results], [expected] * world, rtol=1e-12)
    q, k, v = rng.normal(size=(3, world, 3, 4))
    results = run_here(ring_attention, list(zip(q, k, v, strict=True))).results
    q, k, v = (each.reshape(-1, 4) for each in (q, k, v))
    powers = np.exp(q @ k.T / 2)
    expected = (powers / powers.sum(axis=1, keepdims=True)) @ v
    np.testing.assert_allclose(np.concatenate([result[0] for result in results]), expected, rtol=1e-10)


@pytest.mark.parametrize("name", PROGRAMS)
def test_times_are_those_of_messages_of_that_size(name):
    """The figure plays few numbers and scales their bytes; here the array has its real size."""
    program, world, size = PROGRAMS[name], 4, 4_000
    film = describe(program, sizes=[size], worlds=[world])[0]
    numbers = size // 4
    x = np.zeros(numbers, np.float32)
    args = (np.ones((1, numbers // 2)), *x.reshape(2, 1, -1)) if name == "attention" else (x,)
    traffic = run_here(program.function, [args] * world).traffic
    for link, speed in LINKS.items():
        assert film["times"][0][link][-1] == pytest.approx(speed.seconds(traffic), rel=1e-4)
        assert film["times"][0][link] == sorted(film["times"][0][link])
    assert film["busiest"] * size / film["unit"] == traffic.busiest_link_bytes


def test_small_arrays_favour_few_steps_and_large_ones_few_bytes():
    times = {
        name: [[by_link[link][-1] for by_link in describe(PROGRAMS[name], worlds=[8])[0]["times"]] for link in LINKS]
        for name in ("ring", "gather")
    }
    for ring, gather in zip(times["ring"], times["gather"], strict=True):
        assert ring[0] > gather[0] and ring[-1] < gather[-1] and len(ring) == len(SIZES)


def swap(x, dist):
    other, part = 1 - dist.get_rank(), np.empty_like(x)
    sent = dist.isend(x, other)
    dist.recv(part, other)
    sent.wait()
    return x + part


def test_readers_program_is_played_on_copies_with_what_its_messages_bring():
    inputs = [(np.ones(6, np.float32),), (np.zeros(6, np.float32),)]
    figure = RankPlayer.of(swap, inputs, {"mine: 1 s, 24 B/s": LinkSpeed(1.0, 24.0)})
    assert inputs[0][0].sum() == 6
    (program,) = figure.programs
    (film,) = program["films"]
    assert program["title"] == "program swap" and film["unit"] == 24 and film["sizes"] == [24]
    assert sorted(film["messages"]) == ["1 0 1 24", "1 1 0 24"] and film["times"] == [{"mine: 1 s, 24 B/s": [2.0]}]
    assert film["rows"] == 2 and (reached(film) == 3).all()


def test_finished_collectives_of_large_arrays_are_seen_part_by_part():
    def sums(x, dist):
        dist.all_reduce(x)

    film = with_contents(sums, [(np.ones(99, np.float32),)] * 3, ("all_reduce",))["film"]
    assert np.shape(film["start"]) == (3, 3) and (reached(film) == 7).all()


@pytest.mark.parametrize(
    "inputs",
    [
        [(np.ones(2), np.ones(2))] * 2,
        [(np.ones(2),), (np.ones(3)[:2].astype(np.float32),)],
        [(np.ones(2, np.int64),)] * 2,
    ],
)
def test_where_it_cannot_be_told_whose_numbers_arrive_nothing_is_shown(inputs):
    def swaps(*args):
        *arrays, dist = args
        return swap(np.ones(2) * arrays[0].sum(), dist)

    film = with_contents(swaps, inputs, MESSAGES)["film"]
    assert film["rows"] == 0 and film["start"] == film["arrivals"] == [] and len(film["messages"]) == 2


def test_program_that_sends_other_messages_for_other_numbers_shows_no_contents():
    def picky(x, dist):
        return swap(x[: 1 + (x[0] > 0.5)].copy() if dist.get_rank() < 2 else x, dist)

    def failing(x, dist):
        assert x.max() <= 1
        return swap(x, dist)

    for function in (lambda x, dist: picky(x - 1, dist), failing, lambda x, dist: swap(x * 0.3, dist)):
        assert with_contents(function, [(np.ones(4),)] * 2, MESSAGES)["film"]["rows"] == 0


def test_errors_of_a_readers_program_reach_the_reader():
    x = [(np.ones(2),)] * 2
    with pytest.raises(WorldError, match="wait for each other for ever"):
        RankPlayer.of(lambda x, dist: dist.send(x, 1 - dist.get_rank()), x)
    with pytest.raises(RankError, match="with itself"):
        RankPlayer.of(lambda x, dist: dist.send(x, dist.get_rank()), x)
    with pytest.raises(ValueError, match="and this one sends 0"):
        RankPlayer.of(lambda x, dist: x, x)
    with pytest.raises(ValueError, match=f"room for {MOST_PLAYED_WORLD} ranks, got the inputs of 17"):
        RankPlayer.of(swap, x * 8 + x[:1])
    with pytest.raises(AttributeError, match="dist has no 'isend' here"):
        RankPlayer.of(swap, x, offers=("send",))


def test_figures_are_small_and_their_stand_ins_have_their_numbers():
    player, chart, shards = RankPlayer(), PipelineChart(), ShardedMemory()
    for figure, traits in ((player, player.programs), (chart, chart.runs), (shards, shards.rows)):
        assert len(json.dumps(traits)) < 40_000
        assert figure.fallback.count("<tr>") > 10
    assert "<td>8</td><td>14</td><td>112</td><td>1.75</td><td>1.75</td>" in player.fallback
    assert '<th scope="row">1F1B</th><td>4</td><td>8</td><td>33</td><td>27.3 %</td><td>4</td>' in chart.fallback
    assert "<td>64</td><td>0.2 GB</td><td>0.2 GB</td><td>1.4 GB</td><td>1.9 GB</td><td>44.3 GB</td>" in shards.fallback


def test_memory_is_that_of_the_zero_paper():
    """Figure 1: 7.5 billion parameters on 64 ranks."""
    rows = [sharded_memory.describe(7_500_000_000, stage, 64) for stage in range(4)]
    assert [round(sum(row["bytes"]) / 1e9, 1) for row in rows] == [120.0, 31.4, 16.6, 1.9]
    ratios = [row["sent"] / rows[0]["sent"] for row in rows]
    assert ratios == [1, 1, 1, 1.5]
    assert sharded_memory.describe(10, 3, 1)["sent"] == 0


@pytest.mark.parametrize(("first", "second"), [*product(tensor_parallel_cut.CUTS, repeat=2)])
def test_cut_network_gives_the_whole_networks_output_and_sends_what_rings_send(first, second):
    run = tensor_parallel_cut.describe(first, second)
    x, w_in, w_out = map(np.array, (tensor_parallel_cut.X, tensor_parallel_cut.W_IN, tensor_parallel_cut.W_OUT))
    hidden = np.maximum(x @ w_in, 0)
    assert run["output"] == (hidden @ w_out).tolist()
    link = LinkSpeed(0, 1)  # its seconds are bytes
    expected = {"nothing": 0, "reduce-scatter": link.reduce_scatter_s(4 * hidden.size, 2)}
    expected |= {
        "all-gather": link.all_gather_s(4 * hidden.size, 2),
        "all-reduce": link.all_reduce_s(4 * hidden.size, 2),
    }
    assert run["between"]["bytes"] == expected[run["between"]["collective"]]
    assert run["after"]["bytes"] == expected[run["after"]["collective"]] * x.shape[1] / w_in.shape[1]
    pieces = [np.array(each) for each in run["z"]]
    assert (sum(pieces) if first == "rows" else np.hstack(pieces)).tolist() == (x @ w_in).tolist()


def test_only_columns_then_rows_sends_nothing_in_the_middle_and_it_sends_least():
    figure = TensorParallelCut()
    totals = {tuple(run["cuts"]): run["between"]["bytes"] + run["after"]["bytes"] for run in figure.runs}
    assert min(totals, key=totals.get) == ("columns", "rows") and sorted(totals.values()) == [16, 24, 32, 40]
    assert [run["cuts"] for run in figure.runs if not run["between"]["bytes"]] == [["columns", "rows"]]
    assert '<th scope="row">columns, rows</th><td>nothing</td><td>all-reduce</td><td>16</td>' in figure.fallback
    assert np.maximum(figure.runs[3]["z"], 0).sum(0).tolist() != np.maximum(np.sum(figure.runs[3]["z"], 0), 0).tolist()
