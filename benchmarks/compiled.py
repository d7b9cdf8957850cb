"""The loops of streams.c, compiled by this machine's own compiler when they are first asked for, and kept."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import ctypes

SOURCE = Path(__file__).with_name("streams.c")
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fno-tree-loop-distribute-patterns", "-shared", "-fPIC")
"""A multiply-add stays two roundings, so that all ways give the same bits; a loop that copies stays a loop."""


class NoCompiler(RuntimeError):
    """There is no C compiler here, or it refused; the message says what is missing."""


def compiler() -> str | None:
    """The C compiler of this machine, None if none is found."""
    chosen = os.environ.get("CC")
    return next((path for name in ([chosen] if chosen else COMPILERS) if (path := shutil.which(name))), None)


def kept_in() -> Path:
    """The folder that keeps compiled loops: the reader's own cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "softlookup"


@cache
def loops() -> "ctypes.CDLL":
    """Compile streams.c, or take what an earlier run has compiled.

    ``run`` calls the functions of the library. NoCompiler if there is none ("no C compiler (looked for cc, gcc, clang):
    ..."), or it failed.

    Cost: about a second at the first call on a machine.
    """
    compiler_path = compiler()
    if compiler_path is None:
        names = os.environ.get("CC") or ", ".join(COMPILERS)
        raise NoCompiler(f"no C compiler (looked for {names}): the compiled loops are left out")
    key = hashlib.sha256(
        "\0".join([SOURCE.read_text("utf-8"), compiler_path, _processor(), *FLAGS]).encode()
    ).hexdigest()[:16]
    try:
        folder = kept_in()
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="softlookup-"))
    library = folder / f"streams-{key}.so"
    if not library.exists():
        _compile(compiler_path, library)
    try:
        import ctypes  # a page of the book has none

        return ctypes.CDLL(str(library))
    except OSError as error:
        raise NoCompiler(f"{compiler_path} made a library that does not load here ({error})") from None


def _compile(compiler_path: str, library: Path) -> None:
    """Written beside its place and moved there whole, so that two runs at once do no harm."""
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = Path(folder) / library.name
        words = [compiler_path, *FLAGS, str(SOURCE), "-o", str(made)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:  # not every compiler knows every flag
            plain = [compiler_path, "-O3", "-shared", "-fPIC", str(SOURCE), "-o", str(made)]
            done = subprocess.run(plain, capture_output=True, text=True)
        if done.returncode:
            first = (done.stderr.strip().splitlines() or ["no message"])[0]
            raise NoCompiler(f"{compiler_path} could not compile the loops: {first}")
        made.replace(library)


def _processor() -> str:
    """What the machine's instructions depend on: code made for another one must not be taken."""
    info = Path("/proc/cpuinfo")
    if not info.is_file():
        return os.uname().machine if hasattr(os, "uname") else "unknown"
    lines = info.read_text(errors="replace").splitlines()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "unknown")


def run(name: str, *arrays: np.ndarray) -> float:
    """Call one of the loops.

    Args:
        name: A function of streams.c, such as "fused".
        *arrays: One-axis float32 arrays of one length, a multiple of 32, in the function's order.

    Returns:
        What the function returns, 0 for most.

    Raises:
        NoCompiler: If it cannot be compiled here.
        ValueError: If an array is of another kind: "array 2 of fused: got float64 (8,), wanted float32 (8,), ...".
    """
    import ctypes

    library = loops()
    n = arrays[0].size
    for place, array in enumerate(arrays):
        if array.dtype != np.float32 or array.shape != (n,) or not array.flags.c_contiguous or n % 32:
            raise ValueError(
                f"array {place} of {name}: got {array.dtype} {array.shape}, wanted float32 ({n},), contiguous, "
                "its length a multiple of 32"
            )
    call = getattr(library, name)
    call.restype = ctypes.c_float if name == "dot" else ctypes.c_int if name == "fused_around" else None
    result = call(ctypes.c_ssize_t(n), *(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    return float(result or 0)
