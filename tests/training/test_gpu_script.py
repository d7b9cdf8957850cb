"""`python -m benchmarks.gpu`: what matters most comes first, and no limit costs a figure that was measured before."""

import json
import sys

import pytest

from benchmarks import gpt2, gpu
from benchmarks.gpt2 import RunSpeed, bench_gpt2


def test_parts_run_in_their_order_within_their_limits_and_the_rest_of_the_time(tmp_path, monkeypatch, capsys):
    clock, calls = [0.0], []
    monkeypatch.setattr(gpu.time, "perf_counter", lambda: clock[0])

    def run(command, limit_s, log):
        calls.append((command[-1], limit_s, log))
        clock[0] += 100
        return int(len(calls) == 2)

    names = ["first-tests", "training", "gpt2", "launches", "roofline"]
    assert gpu.run_parts(tmp_path, names, False, run, total_s=375) == 2
    (first, *rest) = calls
    assert first[0] == "tests/tiles" and first[1] == gpu.PARTS["first-tests"].limit_s
    assert [limit for _, limit, _ in rest] == [gpu.PARTS["training"].limit_s, 175, 75]
    assert {log for _, _, log in calls} == {tmp_path / "log.txt"}
    output = capsys.readouterr().out
    assert "== training: FAILED in 100 s" in output and "failed: training, roofline (no time left)" in output


def test_all_parts_come_with_the_tests_and_the_largest_model_first():
    assert [*gpu.PARTS][:3] == ["first-tests", "tests", "gpt2"]
    first = [gpu.PARTS[name].limit_s for name in [*gpu.PARTS][:4]]
    assert sum(first) <= gpu.TOTAL_S < 600
    files = gpu._files_of_tests()
    assert {"tests/training/test_plain_loss.py", "tests/tiles/test_published_kernels.py"} <= {*files}
    again = {*gpu._command("tests", None, False)} & {*files}
    assert again and not [file for file in again if "plain_loss" in file or "tiles" in file]


@pytest.mark.slow
def test_what_a_command_prints_stays_in_the_log_when_it_is_stopped(tmp_path, capsys):
    log = tmp_path / "log.txt"
    assert gpu._run([sys.executable, "-c", "print('measured')"], 60, log) == 0
    assert gpu._run([sys.executable, "-uc", "print('begun'); import time; time.sleep(99)"], 4, log) == -1
    assert log.read_text().split() == ["measured", "begun"] == capsys.readouterr().out.split()


@pytest.mark.slow
def test_a_quick_run_on_a_cpu_leaves_records_of_all_parts_under_their_names(tmp_path):
    (tmp_path / "records.json").write_text('{"roofline": 1}')
    assert gpu.main([str(tmp_path), "--quick", "layers"]) == 0
    records = json.loads((tmp_path / "records.json").read_text())
    assert records["roofline"] == 1 and records["layers"]["machine"]
    assert not list(tmp_path.glob("*.runs.json"))


def test_unknown_parts_are_refused(tmp_path, capsys):
    assert gpu.main([str(tmp_path / "out"), "poetry"]) == 2
    assert "there is no part poetry; wanted some of first-tests, tests," in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_an_interrupted_bench_goes_on_after_what_was_measured_and_slow_ways_come_last(tmp_path, monkeypatch):
    measured = []

    def measure(way, plan, device):
        if len(measured) == 2:
            raise KeyboardInterrupt
        measured.append(way)
        return RunSpeed(way.name, way.compiled, 1.0, 1.0, 1.0, None, 0.0, (4.0, 2.0))

    monkeypatch.setattr(gpt2, "_measured", measure)
    file = tmp_path / "gpt2.runs.json"
    with pytest.raises(KeyboardInterrupt):
        bench_gpt2(quick=True, runs_file=file)
    assert [way.compiled for way in measured] == [True, True] and len(json.loads(file.read_text())["runs"]) == 2
    before = measured.copy()
    measured.clear()
    monkeypatch.setattr(gpt2, "_measured", lambda way, *rest: measured.append(way) or measure_anew(way))

    def measure_anew(way):
        return RunSpeed(way.name, way.compiled, 1.0, 1.0, 1.0, None, 0.0, (4.0, 2.0))

    record = bench_gpt2(quick=True, runs_file=file)
    assert not {*before} & {*measured} and measured[-1].name == "torch" == record["runs"][0]["name"]
    assert len(record["runs"]) == 4 and not file.exists()
