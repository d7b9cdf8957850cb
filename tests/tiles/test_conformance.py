"""A kernel is refused here if Triton's compiler refuses it, and taken if that takes it."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from softlookup.tiles import KernelError
from softlookup_inside.tiles.tracing import record
from tests.tiles import conformance
from tests.tiles.compiling import ARCHITECTURES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("text", conformance.texts("taken"))
def test_kernel_that_triton_takes_is_taken(text: str) -> None:
    kernel = conformance.kernel_of(text)
    for n in (7, 2):
        record(kernel, (2,), conformance.arguments(n))


@pytest.mark.parametrize("text", conformance.texts("refused"))
def test_kernel_that_triton_refuses_is_refused(text: str) -> None:
    with pytest.raises((KernelError, TypeError)) as refusal:
        kernel = conformance.kernel_of(text)
        for n in (7, 2):
            record(kernel, (2,), conformance.arguments(n))
    if refusal.type is TypeError:
        assert "integer" in str(refusal.value)


def compiled(*groups: str) -> dict[str, dict[str, list[str]]]:
    """What Triton's compiler says of the kernels of some groups of ``compiling.py``."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed: `make test-long` adds it on Linux")
    path = os.pathsep.join(["tests/checking", *sys.path])
    environment = {**os.environ, "TRITON_INTERPRET": "0", "PYTHONPATH": path}
    command = [sys.executable, "-m", "tests.tiles.compiling", *groups]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    refusals: dict[str, dict[str, list[str]]] = json.loads(ended.stdout.splitlines()[-1])
    return refusals


@pytest.mark.slow
@pytest.mark.parametrize("group", ["taken", "in tests", "published", "right answers"])
def test_triton_compiles_what_is_taken(group: str) -> None:
    refusals = compiled(group)[group]
    assert len(refusals) > 20
    assert {name: refusal for name, refusal in refusals.items() if any(refusal)} == {}


@pytest.mark.slow
def test_triton_refuses_what_is_refused() -> None:
    refusals = compiled("refused")["refused"]
    assert [text for text, refusal in refusals.items() if not all(refusal)] == []
    assert {len(refusal) for refusal in refusals.values()} == {len(ARCHITECTURES)}
