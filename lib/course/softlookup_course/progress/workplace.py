"""A student's own copies of the notebooks: in a folder that git ignores, given out once and never written over."""

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from softlookup_course.progress.assistants import assistants_files
from softlookup_course.progress.reading import BLANK, BLANK_WORDS
from softlookup_grader.data.disk import write_whole

WORK = "my_work"
"""The folder of a checkout that holds a student's own copies."""

WELCOME = f"{WORK}/welcome/welcome.ipynb"
"""The notebook that JupyterLab opens on."""

START = "softlookup"
"""The address at which the server that ``softlookup lab`` starts opens that notebook."""

GIVEN = ".given.json"
"""Which bytes were given out, by name: who has changed nothing gets a newer notebook, who has keeps what is theirs."""


class NoLab(RuntimeError):
    """JupyterLab is not installed; the message says how it gets there."""


@dataclass
class GivenOut:
    """Which notebooks are new, renewed or kept as somebody's work, and files for assistants that were written."""

    new: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    assistants: list[str] = field(default_factory=list)


def give_out(root: Path) -> GivenOut:
    """Copy the exercises to where a student works on them; nothing that was changed there is ever written over."""
    folder = root / WORK
    folder.mkdir(exist_ok=True)
    hashes = _read(folder / GIVEN)
    recorded = GivenOut()
    for source in sorted((root / "exercises").glob("*/*.ipynb")):
        name, target = source.stem, folder / source.parent.name / source.name
        fresh = _for_this_python(source.read_bytes())
        released = _hash(fresh)
        if not target.exists():
            recorded.new.append(name)
        elif released == hashes.get(name):
            continue
        elif _hash(target.read_bytes()) == hashes.get(name):
            recorded.renewed.append(name)
        elif _hash(target.read_bytes()) != released:
            recorded.edited.append(name)
            continue
        write_whole(target, fresh)
        # Who worked in exercises/ before has answers there: the copy of them is somebody's work from the first moment.
        hashes.pop(name, None)
        if _bare(fresh):
            hashes[name] = released
    for name, text in assistants_files().items():
        target, before = folder / name, hashes.get(name)
        is_new = before is None and not target.exists()  # who deleted one does not get it again
        if is_new or (target.is_file() and _hash(target.read_bytes()) == before != _hash(text)):
            write_whole(target, text)
            hashes[name] = _hash(text)
            recorded.assistants += [name] * is_new
    write_whole(folder / GIVEN, json.dumps(hashes, indent=1, sort_keys=True).encode() + b"\n")
    return recorded


def notebooks_folder(root: Path) -> Path:
    """Where a student's notebooks are: in ``my_work`` if it is there, else in ``exercises``."""
    return root / WORK if (root / WORK).is_dir() else root / "exercises"


def lab_command(root: Path, more: Sequence[str] = ()) -> list[str]:
    """What starts JupyterLab, rooted at the checkout so that links into the book work; NoLab if it is not there."""
    from importlib.util import find_spec

    if find_spec("jupyterlab") is None:
        raise NoLab("JupyterLab is not installed here: run 'make setup', or 'pip install jupyterlab'")
    return [
        *(sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}"),
        f"--LabApp.default_url=/{START}",
        "--ServerApp.jpserver_extensions={'softlookup_course.progress.serving': True}",
        f"--LabApp.extra_labextensions_path={Path(__file__).with_name('jupyter') / 'labextensions'}",
        *(["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
        *more,
    ]


def lab_environment() -> dict[str, str]:
    """The environment in which kernels and cells find this Python, and Jupyter asks for no news."""
    before = {"PATH": os.path.dirname(sys.executable), "JUPYTER_CONFIG_PATH": str(Path(__file__).with_name("jupyter"))}
    joined = {name: os.pathsep.join(filter(None, (path, os.environ.get(name)))) for name, path in before.items()}
    return {**os.environ, **joined}


def _for_this_python(content: bytes) -> bytes:
    """A notebook that names its language as the kernel will: else JupyterLab writes that in, and it looks changed."""
    from ipykernel.ipkernel import IPythonKernel

    try:
        notebook = json.loads(content)
        notebook["metadata"]["language_info"] = IPythonKernel.language_info
    except (ValueError, KeyError, TypeError):
        return content
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode() + content[len(content.rstrip()) :]


def _bare(content: bytes) -> bool:
    """Whether nobody has written or run anything in a notebook."""
    try:
        cells = json.loads(content)["cells"]
        return all(_untouched(cell) for cell in cells)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def _untouched(cell: dict[str, Any]) -> bool:
    if cell.get("outputs") or cell.get("execution_count"):
        return False
    answer = cell["metadata"].get("nbgrader", {}).get("solution")
    return not answer or any(mark in "".join(cell["source"]) for mark in (BLANK, BLANK_WORDS))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read(path: Path) -> dict[str, str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(recorded) for name, recorded in content.items()} if isinstance(content, dict) else {}
