"""The rules of the house that no linter knows: who imports whom, sizes of files, what no file may hold."""

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from setuptools import find_packages

import softlookup

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lib" / "softlookup"

BESIDE = ("attacks", "benchmarks")
"""Packages of the checkout that are not installed: they import the library, and it finds them by `beside` alone."""

_ROW = re.compile(
    rf"^\| `(?:lib/softlookup/)?((?<=/)[\w/]+?|{'|'.join(BESIDE)})(?:\.py|/)` \|.*\|([^|]*)\|$", re.MULTILINE
)
EVERYTHING = "everything; nothing imports it"
MAY_IMPORT: dict[str, set[str]] = {
    room: {EVERYTHING} if allowed.strip() == EVERYTHING else set(filter(None, allowed.strip().split(", ")))
    for room, allowed in _ROW.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
}
"""What each room of the library, and each package beside it, imports of the others, as ARCHITECTURE.md shows it."""

MACHINE_PATH = re.compile(r"(?<![\w.~$}/-])/(?:work|home|root|Users)/\w")
REGISTRY_HOST = re.compile(
    r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|yarnpkg\.com|download\.pytorch\.org|conda\.anaconda\.org"
    r"|artifactory|jfrog|(?:extra-)?index-url[= ]+https?:",
    re.IGNORECASE,
)


def name_of(path: Path, package: Path = PACKAGE) -> str:
    """A file's dotted name below the package; '' is the package's own __init__. Of a file beside it, the whole name."""
    place = path.relative_to(package if path.is_relative_to(package) else ROOT)
    return ".".join(place.with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def room_of(module: str) -> str:
    """The room of a module, by its dotted name below the package: the longest row that it falls under."""
    parts = module.split(".")
    rooms = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((room for room in rooms if room in MAY_IMPORT), parts[0])


def imports_of(path: Path, package: Path = PACKAGE) -> set[str]:
    """List the modules of ours that one file imports, at any depth of its code, by any way of importing."""
    inside = path.is_relative_to(package)
    parents = ("softlookup", *path.relative_to(package).parent.parts) if inside else path.relative_to(ROOT).parent.parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (base, node.module)))
            # A name may be a module below, or something that the module itself defines.
            found |= {f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base for alias in node.names}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__"):
                found.add(str(node.args[0].value))
    beside = {name for name in found if name.partition(".")[0] in BESIDE}
    return beside | {name.partition(".")[2] for name in found if name.startswith("softlookup.")} - {"__version__"}


def is_module(name: str) -> bool:
    first, *rest = name.split(".")
    place = (ROOT if first in BESIDE else PACKAGE.parent).joinpath(first, *rest)
    return place.is_dir() or place.with_suffix(".py").is_file()


def library_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def checked_files() -> list[Path]:
    """List the library's files, and those of the packages beside it."""
    return library_files() + sorted(path for name in BESIDE for path in (ROOT / name).rglob("*.py"))


def kept_files() -> list[Path]:
    """List what git keeps or would keep: tracked files, and new ones that are not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in sorted(set(listed.split("\0")) - {""}) if (ROOT / name).is_file()]


def as_text(path: Path) -> str:
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", errors="replace")


def test_every_part_of_the_library_has_a_row():
    parts = {room_of(name_of(path)) for path in checked_files()}
    assert parts - {""} == set(MAY_IMPORT)


@pytest.mark.parametrize("path", checked_files(), ids=lambda p: name_of(p) or "softlookup")
def test_a_file_imports_what_the_table_allows(path):
    own = room_of(name_of(path))
    rooms = {room_of(name) for name in imports_of(path)} - {own}
    allowed = {"checking", "checking/inside"} if own == "" else MAY_IMPORT[own]
    assert rooms <= allowed or allowed == {EVERYTHING}


def test_nothing_stands_in_the_table_that_nobody_uses():
    used: dict[str, set[str]] = {}
    for path in checked_files():
        used.setdefault(room_of(name_of(path)), set()).update(room_of(name) for name in imports_of(path))
    left = {room: allowed - used[room] - {EVERYTHING} for room, allowed in MAY_IMPORT.items()}
    assert {room: rows for room, rows in left.items() if rows} == {}
    assert [room for room, allowed in MAY_IMPORT.items() if "cli" in allowed] == ["start"]


def test_the_library_finds_benchmarks_and_attacks_by_one_function_of_the_cli():
    for path in library_files():
        assert not {room_of(name) for name in imports_of(path)} & {*BESIDE}, path
    assert {path.parent.name for path in library_files() if re.search(r"\bbeside\(", as_text(path))} == {"cli"}


def test_what_is_installed_is_the_library_alone():
    packaging = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    found = {name for where in packaging["packages"]["find"]["where"] for name in find_packages(ROOT / where)}
    assert {name.partition(".")[0] for name in found} == {"softlookup"} and set(packaging["package-data"]) <= found


def test_what_runs_beside_a_submission_imports_nothing_from_outside():
    inside = [path for path in library_files() if "inside" in path.parts]
    assert len(inside) > 10
    for path in inside:
        assert {room_of(name).rpartition("/")[2] for name in imports_of(path)} <= {"inside"}, path


def test_no_modules_import_each_other_in_a_circle():
    graph = {name_of(path): imports_of(path) - {name_of(path)} for path in checked_files()}
    graph.pop("")  # the package's own __init__ names `check` for editors alone
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_reference_and_model_never_see_each_other():
    assert "model" not in MAY_IMPORT["reference"] and "reference" not in MAY_IMPORT["model"]


@pytest.mark.parametrize(
    "line",
    [
        "import softlookup.reference",
        "import softlookup.reference.heads as h",
        "from softlookup import reference",
        "from softlookup.reference import softmax",
        "from softlookup.reference.attention import softmax",
        "from .. import reference",
        "from ..reference import softmax",
        "def f():\n    from softlookup.reference import softmax",
        "import importlib\nimportlib.import_module('softlookup.reference')",
    ],
)
def test_every_way_of_importing_is_seen(tmp_path, line):
    path = tmp_path / "model" / "new.py"
    path.parent.mkdir()
    path.write_text(line)
    assert {room_of(name) for name in imports_of(path, tmp_path)} == {"reference"}


def test_importing_the_package_loads_neither_torch_nor_matplotlib():
    code = (
        "import sys, softlookup; softlookup.notation; assert softlookup.__version__;"
        "print(sorted({'torch', 'matplotlib', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_lazy_names_lead_to_the_modules_and_unknown_ones_say_what_there_is():
    from softlookup import model, reference

    assert softlookup.reference is reference and softlookup.model is model
    assert {"check", "reference", "model", "checking", "figures", "widgets"} <= set(dir(softlookup))
    with pytest.raises(AttributeError, match="no attribute 'nothing'; it has .*reference"):
        _ = softlookup.nothing


def test_check_is_the_one_of_checking():
    from softlookup.checking import check

    assert softlookup.check is check


def test_version_is_the_one_of_the_packaging():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert softlookup.__version__ == project["version"]


def test_no_file_is_large_but_the_weights():
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in kept_files()}
    weights = {f"lib/softlookup/model/shipped/{name}/model.safetensors" for name in ("english_french", "shakespeare")}
    assert {name: size for name, size in sizes.items() if size > 250_000 and name not in weights} == {}
    assert sum(size for name, size in sizes.items() if name in weights) < 25_000_000


def test_code_files_are_short():
    code = [p for p in kept_files() if p.suffix in (".py", ".js", ".css", ".sh") and "_vendor" not in p.parts]
    lines = {str(path.relative_to(ROOT)): len(as_text(path).splitlines()) for path in code}
    assert {name: n for name, n in lines.items() if n > 500} == {}
    assert statistics.median(lines.values()) < 200


@pytest.mark.parametrize(
    ("pattern", "bad", "good"),
    [
        (
            MACHINE_PATH,
            "see /home/somebody/x and",
            "see https://example.org/home/somebody, ~/work/x, ./work/x",
        ),
        (MACHINE_PATH, '"/Users/me/course"', "course/root/x, $HOME/work/y and the folder /root"),
        (REGISTRY_HOST, "https://files." + "pythonhosted.org/x", "the package registry"),
        (
            REGISTRY_HOST,
            "--extra-index-" + "url https://mirror.example",
            "PIP_EXTRA_INDEX_URL passes through",
        ),
    ],
)
def test_the_patterns_find_what_they_should_and_no_more(pattern, bad, good):
    assert pattern.search(bad)
    assert not pattern.search(good)


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY_HOST], ids=["machine-path", "registry-host"])
def test_no_kept_file_holds_a_machine_path_or_a_registry_host(pattern):
    this = Path(__file__).resolve()
    found = {
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in kept_files()
        if path != this  # the patterns are tried out above
        for match in [pattern.search(as_text(path))]
        if match
    }
    assert not found
