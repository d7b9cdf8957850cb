"""Streams: exact counts, and all ways give the same numbers. The bench: its record, and that it outlives trouble."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import compiled, ways
from benchmarks.clock import Timed, spread, timed
from benchmarks.harness import measured
from benchmarks.roofline import bench_roofline
from benchmarks.roofline_points import product_point, stream_points
from softlookup.roofline import CHAIN, FUSED, measured_hardware, streams

MEASURED = Path(__file__).resolve().parents[2] / "book" / "measured" / "roofline.json"
needs_compiler = pytest.mark.skipif(compiled.compiler() is None, reason="no C compiler")


@pytest.fixture(scope="module", autouse=True)
def kept_apart(tmp_path_factory):
    """Compiled loops go to a folder of this test's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        compiled.loops.cache_clear()
        yield
    compiled.loops.cache_clear()


@pytest.fixture(scope="module")
def record():
    return bench_roofline(quick=True)


@pytest.fixture(scope="module")
def full_run():
    return json.loads(MEASURED.read_text(encoding="utf-8"))


def test_intensities_are_a_twelfth_and_three_twentieths_exactly():
    assert CHAIN.intensity() == Fraction(1, 12) == streams.ADD.intensity() == streams.MUL.intensity()
    assert FUSED.intensity() == Fraction(3, 20) and FUSED.intensity(2) == Fraction(3, 10)


def test_one_pass_moves_five_ninths_of_the_bytes():
    n = 12_345
    assert (CHAIN.n_bytes(n), FUSED.n_bytes(n)) == (36 * n, 20 * n)
    assert Fraction(CHAIN.n_bytes(n), FUSED.n_bytes(n)) == Fraction(9, 5)
    allocated = [stream.n_bytes(n, write_allocate=True) for stream in (CHAIN, FUSED)]
    assert Fraction(*allocated) == 2 and CHAIN.n_flops(n) == FUSED.n_flops(n) == 3 * n


def test_passes_of_the_chain_add_up_to_its_counts():
    steps = (streams.ADD, streams.MUL, streams.ADD)
    for field in ("reads", "writes", "operations"):
        assert sum(getattr(step, field) for step in steps) == getattr(CHAIN, field)


@pytest.mark.parametrize("n", [32, 96, ways.BLOCK + 64, 3 * ways.BLOCK])
def test_every_way_computes_the_same_numbers(n):
    arrays = ways.operands(n, seed=3)
    a, b, c, d, e = (array.astype(np.float64) if i < 4 else array for i, array in enumerate(arrays[:5]))
    for way, calls in ways.ways(arrays).items():
        for kind, call in calls.items():
            e.fill(np.nan)
            call()
            np.testing.assert_allclose(e, d + (a + b) * c, rtol=3e-7, err_msg=f"{way} {kind}")


@needs_compiler
def test_compiled_loops_give_the_bits_of_numpy():
    arrays = ways.operands(4096, seed=5)
    a, b, c, d, e, *_ = arrays
    expected = d + (a + b) * c
    for call in ways.ways(arrays)["C"].values():
        e.fill(np.nan)
        call()
        assert np.array_equal(e, expected)
    assert compiled.run("dot", a, b) == pytest.approx(float(a @ b), rel=1e-4)
    compiled.run("sum_of_four", a, b, c, d, e)
    np.testing.assert_allclose(e, a + b + c + d, rtol=1e-6)


@needs_compiler
def test_compiled_loops_are_kept_and_foreign_arrays_refused(tmp_path, monkeypatch):
    compiled.run("scale", np.ones(32, np.float32), np.ones(32, np.float32))
    assert len(list(compiled.kept_in().glob("streams-*.so"))) == 1
    for bad in (np.ones(32), np.ones(33, np.float32), np.ones((2, 16), np.float32)):
        with pytest.raises(ValueError, match="array 1 of scale: got .*, wanted float32"):
            compiled.run("scale", np.ones(32, np.float32), bad)


def test_without_a_compiler_the_rest_goes_on_and_says_so(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler-anywhere")
    compiled.loops.cache_clear()
    try:
        with pytest.raises(compiled.NoCompiler, match=r"no C compiler \(looked for no-such-compiler-anywhere\)"):
            compiled.loops()
        assert set(ways.ways(ways.operands(64))) == {"numpy", "torch"}
        roof, points = stream_points(64, 96)
        assert roof.name.startswith("numpy") and all(not point.name.startswith("C") for point in points)
        alone = bench_roofline(quick=True)
        assert "no C compiler" in alone["compiler"] and set(alone["fused"]) == {"numpy", "torch"}
        assert alone["ratio"] > 0
    finally:
        compiled.loops.cache_clear()


def test_a_compiler_that_fails_is_named(monkeypatch, tmp_path):
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\necho 'cannot do it' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    compiled.loops.cache_clear()
    try:
        with pytest.raises(compiled.NoCompiler, match="could not compile the loops: cannot do it"):
            compiled.loops()
    finally:
        compiled.loops.cache_clear()


@pytest.mark.parametrize("n", [0, -32, 33])
def test_lengths_that_loops_cannot_take_are_refused(n):
    with pytest.raises(ValueError, match=f"n is {n}, wanted a multiple of 32 above 0"):
        ways.operands(n)


def test_points_count_products_as_torchs_own_counter_does():
    from torch.utils.flop_counter import FlopCounterMode

    point = product_point((3, 5, 7), "float64")
    with FlopCounterMode(display=False) as counter:
        point.call()
    assert point.n_flops == counter.get_total_flops() and point.n_bytes == 8 * (15 + 35 + 21)


def test_disturbed_times_are_tried_again_and_quiet_ones_are_taken(monkeypatch):
    from benchmarks import clock as measure

    cpu, wall = iter([0.0, 0.5, 10.0, 11.0]), iter([0.0, 1.0, 10.0, 11.0])
    monkeypatch.setattr(measure.time, "thread_time", lambda: next(cpu))
    monkeypatch.setattr(measure.time, "perf_counter", lambda: next(wall))
    assert timed(lambda: None) == Timed(1.0, 0.0, 2)
    with pytest.raises(ValueError, match="repeats is 0"):
        timed(lambda: None, repeats=0)


def test_spread_gives_quartiles():
    assert spread([4.0, 1.0, 3.0, 2.0, 5.0]) == {"median": 3.0, "low": 2.0, "high": 4.0, "n": 5}
    assert spread([2.0])["high"] == 2.0
    with pytest.raises(ValueError, match="got no values"):
        spread([])


def test_record_has_roofs_points_and_noise(record):
    assert {"stream", "product"} == {row["kind"] for row in record["points"]}
    assert all(row["ratio_low"] <= row["ratio"] <= row["ratio_high"] for row in record["points"])
    assert record["bandwidth"]["median"] > 0 and {"float32", "float64"} <= set(record["rates"])
    assert {"sweep", "start_s", "functions"} == set(record["left_out"])
    assert record["noise"]["tries"] >= record["noise"]["points"] > 0
    json.dumps(record)


def test_threads_are_given_back(record):
    before = torch.get_num_threads()
    bench_roofline(quick=True)
    assert torch.get_num_threads() == before


def test_committed_run_of_the_roofline_is_a_whole_one_with_the_same_fields(record, full_run):
    assert measured(full_run) == measured(record)
    assert full_run["stream_over_cache"] >= 4 and full_run["rounds"] >= 7
    assert full_run["errors"]["streams"]["median"] < 0.15 and full_run["errors"]["products"]["median"] < 0.15
    assert full_run["errors"]["streams"]["n"] >= 10 and full_run["errors"]["products"]["n"] >= 30


def test_errors_of_the_committed_run_follow_from_its_points(full_run):
    for kind in ("stream", "product"):
        errors = [abs(row["ratio"] - 1) for row in full_run["points"] if row["kind"] == kind]
        assert full_run["errors"][f"{kind}s"]["median"] == pytest.approx(np.median(errors), rel=1e-2)
    machine = measured_hardware(full_run)
    assert machine.bandwidth_bytes_per_s == full_run["bandwidth"]["median"]


def test_command_writes_the_record_and_refuses_a_device_that_is_not_there(tmp_path):
    from click.testing import CliRunner

    from softlookup_command.commands import main

    file = tmp_path / "roofline.json"
    done = CliRunner().invoke(main, ["bench", "roofline", "--quick", "--json", str(file)])
    assert done.exit_code == 0, done.output
    assert json.loads(file.read_text())["bench"] == "roofline"
    refused = CliRunner().invoke(main, ["bench", "roofline", "--quick", "--device", "tpu"])
    assert refused.exit_code == 2 and "there is no device tpu here; wanted cpu" in refused.stderr


@pytest.mark.gpu
def test_bench_runs_on_a_gpu():
    record = bench_roofline(device="cuda", quick=True)
    assert {"float32", "tf32", "bfloat16", "float16"} <= set(record["rates"]) and record["ratio"] >= 0
