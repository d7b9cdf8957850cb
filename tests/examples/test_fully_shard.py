"""Fully sharded data parallelism on two real processes, started as a reader starts them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import fully_shard
import pytest

FILE = Path(fully_shard.__file__)
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the loopback has another name")


def launched(file):
    """What a file does on two ranks, which talk over this machine's loopback alone, on a free port."""
    torchrun = [sys.executable, *"-m torch.distributed.run --standalone --nproc-per-node 2".split(), str(file)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    return subprocess.run(torchrun, capture_output=True, text=True, timeout=120, env=environment, check=False)


@pytest.mark.slow
@ON_LINUX
def test_two_ranks_have_the_losses_of_one_and_half_of_its_weights():
    result = launched(FILE)
    assert result.returncode == 0, result.stderr
    losses = re.findall(r"loss (\d\.\d+) alone, (\d\.\d+) on 2 ranks", result.stdout)
    alone, together = ([float(pair[at]) for pair in losses] for at in (0, 1))
    assert len(losses) == fully_shard.STEPS and together == pytest.approx(alone, abs=2e-4)
    assert alone[-1] < alone[0]
    counts = re.search(r"rank 0 has ([\d,]+) of ([\d,]+) weights", result.stdout).groups()
    here, whole = (int(count.replace(",", "")) for count in counts)
    assert whole / 2 <= here < 0.52 * whole


@pytest.mark.slow
@ON_LINUX
def test_ranks_that_take_the_same_rows_have_other_losses(tmp_path):
    text, wrong = FILE.read_text(encoding="utf-8"), tmp_path / "wrong.py"
    assert text.count("ids[rank::world]") == 1
    wrong.write_text(text.replace("ids[rank::world]", "ids[::world]"), encoding="utf-8")
    result = launched(wrong)
    assert result.returncode != 0 and "AssertionError: Tensor-likes are not close" in result.stderr


def test_without_torchrun_the_file_says_how_to_start_it(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(SystemExit, match="Start this file with: torchrun --standalone --nproc-per-node 2"):
        fully_shard.main()
