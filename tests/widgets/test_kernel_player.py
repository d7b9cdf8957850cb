"""The film of a kernel: its steps add up to what the launch costs, its cells are those reached, and it is small."""

import json
from functools import cache

import numpy as np
import pytest

from softlookup import roofline as rl
from softlookup.tiles import KernelError, LaunchError, jit, tl
from softlookup_course.widgets import KernelPlayer
from softlookup_course.widgets.kernel_player import describe
from softlookup_course.widgets.kernel_recording import MOST_STEPS, film
from softlookup_course.widgets.played_kernels import KERNELS

A100 = rl.hardware("A100 80GB SXM")
LAUNCHES = [(name, tile) for name, played in KERNELS.items() for tile in played.tiles]


@jit
def doubled(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@jit
def idle(x, BLOCK: tl.constexpr):
    tl.zeros((BLOCK,), tl.float32)


def per_block(arguments):
    return (-(-arguments["n"] // arguments["BLOCK"]),)


def vectors(n):
    return np.arange(n, dtype=np.float32), np.zeros(n, np.float32)


@cache
def launches_of(name):
    return describe(KERNELS[name], A100)


def numbers_of(line):
    return [[int(number) for number in part.split()] for part in line.split(";") if part]


def sums(record):
    steps = [numbers_of(line) for line in record["steps"]]
    moved = [sum(move[2] for _, *moves in steps for move in moves if move[1] == stored) for stored in (0, 1)]
    return (*moved, sum(head[3] for head, *_ in steps), max(head[2] for head, *_ in steps))


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "tile"), LAUNCHES)
def test_steps_add_up_to_the_traffic_of_the_launch(name, tile):
    grid, named = KERNELS[name].launch(tile)
    traffic = KERNELS[name].kernel.launch(grid, **named)
    record = next(launch for launch in launches_of(name) if launch["tile"] == tile)
    expected = (traffic.read_bytes, traffic.written_bytes, traffic.flops, traffic.chip_bytes)
    assert sums(record) == expected == tuple(record[name] for name in ("read", "written", "flops", "chip"))
    assert sum(array["read"] for array in record["arrays"]) == traffic.read_bytes
    programs = [head[:2] for head, *_ in map(numbers_of, record["steps"])]
    assert programs == sorted(programs) and {p for first, last in programs for p in range(first, last + 1)} == set(
        range(record["programs"])
    )


def test_step_names_every_tile_that_lies_on_chip_and_its_own_operations():
    x, y = vectors(100)
    steps = []
    traffic = doubled.launch((4,), x, y, 100, BLOCK=32, watch=steps.append)
    assert all(sum(step.on_chip.values()) == step.chip_bytes for step in steps)
    assert sum(step.flops for step in steps) == traffic.flops == 4 * 32
    first = [step for step in steps if step.program == 0]
    load = next(row for row, step in enumerate(first) if step.name == "load")
    assert first[load].on_chip == {load: 4 * 32} and not first[0].on_chip


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "tile"), LAUNCHES)
def test_played_kernels_compute_what_they_are_called(name, tile):
    grid, named = KERNELS[name].launch(tile)
    KERNELS[name].kernel.launch(grid, **named)
    scores = named["x"] if "x" in named else named["a"] if "a" in named else named["q"] @ named["k"].T * named["scale"]
    if name == "attention":
        scores = np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    softmax = powers / powers.sum(axis=1, keepdims=True)
    expected = {"product": lambda: scores @ named["b"], "attention": lambda: softmax @ named["v"]}
    np.testing.assert_allclose(
        named["y" if "y" in named else "out"], expected.get(name, lambda: softmax)(), rtol=1e-4, atol=1e-4
    )


def test_tiles_do_to_the_bytes_what_the_chapter_says():
    launches = {name: launches_of(name) for name in KERNELS}
    for smaller, larger in zip(launches["product"], launches["product"][1:], strict=False):
        assert smaller["read"] == 2 * larger["read"] and smaller["intensity"] < larger["intensity"]
    assert {launch["read"] / launch["least"] for launch in launches["softmax"]} == {1}
    assert {launch["read"] / launch["least"] for launch in launches["three-reads"]} == {3}
    for launch in launches["attention"]:  # of n blocks of keys the program of a block reads its own and those before
        n = KERNELS["attention"].tiles[-1] // launch["tile"]
        assert [array["read"] / array["bytes"] for array in launch["arrays"][:3]] == [1, (n + 1) / 2, (n + 1) / 2]
    bounds = [launch["bound"] for launch in launches["product"]]
    assert bounds == ["memory", "memory", "compute", "compute"]


def test_causal_attention_holds_no_row_of_scores():
    first = launches_of("attention")[0]
    shapes = {shape for state in first["states"] for shape in state.partition("|")[2].split(";") if shape}
    assert "16 16" in shapes and not [shape for shape in shapes if "128" in shape]


@pytest.mark.slow
def test_figure_of_the_chapter_is_small():
    assert len(json.dumps(KernelPlayer().kernels)) < 40_000


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 200, 700])
def test_long_launches_are_shortened_and_lose_nothing(count):
    x, y = vectors(16 * count)
    traffic, record = film(doubled, (count,), x, y, 16 * count, BLOCK=16)
    assert len(record["steps"]) == 3 * count if count == 3 else len(record["steps"]) <= 2 * MOST_STEPS
    assert sums(record)[:3] == (x.nbytes, y.nbytes, traffic.flops)


def test_a_vector_is_one_row_of_cells_and_its_end_is_masked():
    x, y = vectors(100)
    _, record = film(doubled, (4,), x, y, 100, BLOCK=32)
    assert record["arrays"][0]["shape"] == [1, 100] and record["cell"] == 8
    loads = [moves[0] for _, *moves in map(numbers_of, record["steps"]) if moves and not moves[0][1]]
    assert loads == [[0, 0, 128, 0, 0, 1, 4], [0, 0, 128, 0, 4, 1, 4], [0, 0, 128, 0, 8, 1, 4], [0, 0, 16, 0, 12, 1, 1]]


@jit
def paged_sums(pages, table, out, BLOCK: tl.constexpr):
    page = tl.load(table + tl.program_id(0))
    at = page * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(pages + at), 0))


def test_single_numbers_and_places_that_are_read_from_memory_are_played():
    pages, table = np.arange(64, dtype=np.float32), np.array([3, 0, 2], np.int32)
    _, record = film(paged_sums, (3,), pages, table, np.zeros(3, np.float32), BLOCK=16)
    moves = [move for line in record["steps"] for move in numbers_of(line)[1:]]
    assert [move[3:] for move in moves if move[0] == 0] == [[0, 12, 1, 4], [0, 0, 1, 4], [0, 8, 1, 4]]


def test_readers_kernel_is_played_on_copies_and_with_several_tiles():
    x, y = vectors(100)
    figure = KernelPlayer.of(doubled, per_block, x, y, 100, BLOCK=(16, 64))
    assert not y.any()
    (kernel,) = figure.kernels
    assert [launch["tile"] for launch in kernel["launches"]] == [16, 64] and kernel["tile_name"] == "BLOCK"
    assert [launch["programs"] for launch in kernel["launches"]] == [7, 2]
    assert kernel["title"] == "kernel doubled" and kernel["text"].startswith("@jit\ndef doubled(x, y, n, BLOCK")
    single = KernelPlayer.of(doubled, (4,), x, y, 100, BLOCK=32).kernels[0]["launches"]
    assert [launch["read"] for launch in single] == [400]


def test_errors_of_a_readers_kernel_reach_the_reader():
    x, y = vectors(100)
    with pytest.raises(LaunchError, match="outside of its 100 numbers"):
        KernelPlayer.of(doubled, (4,), x, y, 128, BLOCK=32)
    with pytest.raises(KernelError, match="power of 2"):
        KernelPlayer.of(doubled, (4,), x, y, 100, BLOCK=30)
    with pytest.raises(ValueError, match="several sizes, got n, BLOCK"):
        KernelPlayer.of(doubled, (4,), x, y, n=(1, 2), BLOCK=(16, 32))
    with pytest.raises(ValueError, match="`BLOCK` is a tuple of whole numbers, got"):
        KernelPlayer.of(doubled, (4,), x, y, 100, BLOCK=(16, "32"))
    with pytest.raises(ValueError, match="'doubled' has no size of a tile"):
        KernelPlayer.of(doubled, (1,), x, y, 16, BLOCK=())
    with pytest.raises(ValueError, match="nothing to play"):
        KernelPlayer.of(idle, (1,), x, BLOCK=16)
    with pytest.raises(ValueError, match="no array"):
        film(doubled, (1,), 1, 2, 3, BLOCK=16)


@pytest.mark.slow
def test_stand_in_has_the_costs_of_every_launch():
    html = KernelPlayer(("product",)).fallback
    for launch in launches_of("product"):
        assert f"<td>{launch['tile']}</td><td>{launch['read']:,}</td>" in html
        assert f"<td>{launch['intensity']:.2f}</td><td>{launch['bound']}</td>" in html
