"""The rules of the house that no linter knows: who imports whom, sizes of files, what no file may hold."""

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from setuptools import find_packages

import softlookup

ROOT = Path(__file__).resolve().parents[1]
LIB = ROOT / "lib"
PACKAGES = {path.parent.name: path.parent for path in LIB.glob("*/*/__init__.py")}
"""The project's packages, by the name under which they are imported."""

OUTSIDE = ("attacks", "benchmarks", "book/_ext", "examples", "scripts")
"""Folders beside the library whose imports of it are checked, too: to check one more, name it here."""

_MAY_IMPORT = re.compile(r"^(?:`(\w+)\.py` may|May) import: (.+)\.$", re.MULTILINE)
EVERYTHING, NOTHING = "everything", "nothing"


def read_rooms() -> dict[str, set[str]]:
    """Read what each room may import of the others from the READMEs: a line for the folder, or for one module in it."""
    folders = [*map(Path, ROOMS), *(ROOT / name for name in OUTSIDE)]
    allowed = {}
    for folder in folders:
        for module, rooms in _MAY_IMPORT.findall((folder / "README.md").read_text(encoding="utf-8")):
            room = in_rooms(name_of(folder / module))
            assert room not in allowed, f"{room} has two lines"
            allowed[room] = set() if rooms == NOTHING else set(rooms.split(", "))
    return allowed


def name_of(path: Path, above: Path | None = None) -> str:
    """A file's dotted name, as it is imported."""
    above = above or (LIB / path.relative_to(LIB).parts[0] if path.is_relative_to(LIB) else ROOT)
    return ".".join(path.relative_to(above).parts).removesuffix(".py").removesuffix(".__init__")


def in_rooms(module: str) -> str:
    """A dotted name as READMEs write it: "softlookup_judge.naming.words" is in judge/naming."""
    package, _, rest = module.partition(".")
    short = {"softlookup": "library"}.get(package, package.removeprefix("softlookup_"))
    return f"{short}.{rest}".rstrip(".").replace(".", "/")


ROOMS = [str(path.parent) for package in PACKAGES.values() for path in package.rglob("README.md")]
MAY_IMPORT = read_rooms()
"""What each room may import of the others."""

MACHINE_PATH = re.compile(r"(?<![\w.~$}/-])/(?:work|home|root|Users)/\w")
REGISTRY_HOST = re.compile(
    r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|yarnpkg\.com|download\.pytorch\.org|conda\.anaconda\.org"
    r"|artifactory|jfrog|(?:extra-)?index-url[= ]+https?:",
    re.IGNORECASE,
)


def room_of(module: str) -> str:
    """The room of a module, by its dotted name: the deepest folder with a line that it lies in."""
    parts = in_rooms(module).split("/")
    rooms = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((room for room in rooms if room in MAY_IMPORT), parts[0])


def nodes_of(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


@cache
def imports_of(path: Path, above: Path | None = None) -> set[str]:
    """List the modules of ours that one file imports, at any depth of its code, by any way of importing."""
    parents = name_of(path.parent, above).split(".")
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (base, node.module)))
            # A name may be a module below, or something that the module itself defines.
            names |= {f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base for alias in node.names}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__"):
                names.add(str(node.args[0].value))
    return {name for name in names if name.partition(".")[0] in (*PACKAGES, *OUTSIDE)} - {"softlookup.__version__"}


@cache
def is_module(name: str) -> bool:
    package, *rest = name.split(".")
    place = PACKAGES.get(package, ROOT / package).joinpath(*rest)
    return place.is_dir() or place.with_suffix(".py").is_file()


@cache
def library_files() -> list[Path]:
    return sorted(path for package in PACKAGES.values() for path in package.rglob("*.py"))


@cache
def checked_files() -> list[Path]:
    """List the files whose imports the READMEs speak of."""
    return library_files() + [path for name in OUTSIDE for path in sorted((ROOT / name).rglob("*.py"))]


@cache
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


def test_every_room_has_a_readme_that_says_what_it_may_import():
    assert {room_of(name_of(path)) for path in checked_files()} == set(MAY_IMPORT)
    folders = {path.parent for package in PACKAGES.values() for path in package.glob("*/*.py")}
    assert folders <= {Path(room) for room in ROOMS}


def test_a_readme_is_short_and_names_files_that_are_there():
    folders = [ROOT / name for name in (*OUTSIDE, "solutions", "tests")]
    for path in [*(Path(room) / "README.md" for room in ROOMS), *(folder / "README.md" for folder in folders)]:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 40, path
        first = re.findall(r"^\d\. `([^`]+)`", text, re.MULTILINE)
        assert len(first) == 3 and all((path.parent / name).exists() for name in first), path


def test_the_architecture_fits_on_a_few_screens_and_names_folders_that_are_there():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.encode()) <= 10_000
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text)]
    assert links and not [link for link in links if link and not (ROOT / link).exists()]


JOURNEYS = {"A check at home": 8, "One submission graded": 8, "One page built": 6}
"""The journeys of ARCHITECTURE.md, with the number of their stages."""


def functions_of(path: Path) -> set[str]:
    """List the functions and methods of a file by their names, private ones without the underscore in front."""
    return {node.name.lstrip("_") for node in nodes_of(path) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("journey", JOURNEYS)
def test_a_stage_has_the_name_of_a_function_in_its_files(journey):
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {journey}\n")[2].partition("\n## ")[0]
    stages = re.findall(r"^\d\. \*\*([a-z ]+)\*\*: (.+)$", section, re.MULTILINE)
    assert len(stages) == JOURNEYS[journey]
    code = [*library_files(), *(ROOT / "scripts").glob("*.py"), *(ROOT / "book" / "_ext").glob("*.py")]
    for stage, words in stages:
        names = re.findall(r"`([\w/]+\.py)`", words)
        files = {name: [path for path in code if f"/{path.as_posix()}".endswith(f"/{name}")] for name in names}
        assert names and all(files.values()), (stage, files)
        assert any(stage.replace(" ", "_") in functions_of(path) for some in files.values() for path in some), stage


def test_a_file_imports_what_its_readme_allows():
    not_allowed = {}
    for path in checked_files():
        room = room_of(name_of(path))
        rooms = {room_of(name) for name in imports_of(path)} - {room}
        if MAY_IMPORT[room] != {EVERYTHING} and not rooms <= MAY_IMPORT[room]:
            not_allowed[str(path.relative_to(ROOT))] = rooms - MAY_IMPORT[room]
    assert not_allowed == {}


def test_nothing_is_allowed_that_nobody_uses():
    used: dict[str, set[str]] = {}
    for path in checked_files():
        used.setdefault(room_of(name_of(path)), set()).update(room_of(name) for name in imports_of(path))
    left = {room: allowed - used[room] - {EVERYTHING} for room, allowed in MAY_IMPORT.items()}
    assert {room: rooms for room, rooms in left.items() if rooms} == {}


NEEDS = {
    "command": set(),
    "inside": set(),
    "library": {"command", "inside"},
    "judge": {"inside", "library"},
    "grader": {"command", "inside", "judge"},
    "course": {"command", "inside", "library", "judge", "grader"},
}
"""Which parts a part may import. The library's own ``check`` and ``hint`` ask for the judge when they are used."""


def part_of(room: str) -> str:
    return room.partition("/")[0]


def test_a_part_imports_what_its_own_package_says_that_it_needs():
    used: dict[str, set[str]] = {part: set() for part in NEEDS}
    for path in library_files():
        if path != PACKAGES["softlookup"] / "__init__.py":
            used[part_of(room_of(name_of(path)))] |= {part_of(room_of(name)) for name in imports_of(path)}
    assert {part: others - {part} for part, others in used.items()} == NEEDS
    for part, others in NEEDS.items():
        project = tomllib.loads((LIB / part / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        texts = [*project["dependencies"], *project.get("optional-dependencies", {}).get("tasks", [])]
        names = {re.split(r"[\[=<>]", text)[0] for text in texts if text.startswith("softlookup")}
        assert {name.removeprefix("softlookup-").replace("softlookup", "library") for name in names} <= others, part


def test_rooms_import_each_other_in_one_direction():
    graph: dict[str, set[str]] = {}
    for path in library_files():
        room = room_of(name_of(path))
        if path.name != "__init__.py" or len(path.relative_to(LIB).parts) > 3:
            graph.setdefault(room, set()).update({room_of(name) for name in imports_of(path)} - {room})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_the_parts_find_benchmarks_and_attacks_by_one_function_of_the_commands():
    for path in library_files():
        assert not {room_of(name) for name in imports_of(path)} & {*OUTSIDE}, path
    assert {name_of(path.parent) for path in library_files() if re.search(r"\bbeside\(", as_text(path))} == {
        "softlookup_course.commands"
    }


def test_what_is_installed_of_a_part_is_its_package_alone():
    for part in NEEDS:
        file = tomllib.loads((LIB / part / "pyproject.toml").read_text(encoding="utf-8"))
        packaging = file["tool"]["setuptools"]
        names = set(find_packages(str(LIB / part), include=packaging["packages"]["find"]["include"]))
        assert len({name.partition(".")[0] for name in names}) == 1 and set(packaging.get("package-data", {})) <= names
        assert file["project"]["version"] == softlookup.__version__


def test_what_a_submission_gets_of_the_parts_lacks_nothing_that_it_imports():
    from softlookup_grader.sandbox.bubble import beside_submissions

    there = {in_rooms(f"{package}.{name}") for package, names in beside_submissions().items() for name in names}
    there |= {room for room in MAY_IMPORT if room.rpartition("/")[0] in there or part_of(room) == "inside"} | {
        "library"
    }
    assert {
        room: MAY_IMPORT[room] - there for room in there & MAY_IMPORT.keys() - {"library"} if MAY_IMPORT[room] - there
    } == {}


def private_names_of_torch(nodes: Iterator[ast.AST]) -> set[str]:
    """List the names under torch that begin with an underscore, as code uses them; names in texts do not count."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            if not node.attr.startswith("_"):
                continue
            dotted = ast.unparse(node)
        elif isinstance(node, ast.ImportFrom):
            dotted = f"{node.module}.{node.names[0].name}"
        elif isinstance(node, ast.Import):
            dotted = node.names[0].name
        else:
            continue
        if re.match(r"torch\..*?(?<![\w])_(?!_)\w", dotted):
            names.add(dotted)
    return names


def test_private_names_of_torch_stand_in_one_module():
    source = "import torch\nfrom torch.utils._pytree import tree_map\ntorch._foreach_copy_([], [])\ntorch.__version__\n"
    assert private_names_of_torch(ast.walk(ast.parse(source))) == {
        "torch.utils._pytree.tree_map",
        "torch._foreach_copy_",
    }
    maybe = [path for path in library_files() if re.search(r"torch\b", as_text(path))]
    using = {name_of(path) for path in maybe if private_names_of_torch(nodes_of(path))}
    assert using == {"softlookup_inside.torch_internals"}


def test_no_modules_import_each_other_in_a_circle():
    graph = {name_of(path): imports_of(path) - {name_of(path)} for path in checked_files()}
    graph.pop("softlookup")  # its __init__ names `check` for editors alone
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_reference_and_model_never_see_each_other():
    for room, allowed in MAY_IMPORT.items():
        other = {"library/reference": "library/model", "library/model": "library/reference"}.get(
            room[:15].rstrip("/"), ""
        )
        assert not other or not [name for name in allowed if name.startswith(other)], room


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
    path = tmp_path / "softlookup" / "model" / "new.py"
    path.parent.mkdir(parents=True)
    path.write_text(line)
    assert {room_of(name) for name in imports_of(path, tmp_path)} == {"library/reference"}


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
    assert {"check", "hint", "reference", "model", "training"} <= set(dir(softlookup))
    with pytest.raises(AttributeError, match="no attribute 'nothing'; it has .*reference"):
        _ = softlookup.nothing


def test_check_is_the_one_of_checking():
    from softlookup_judge import check

    assert softlookup.check is check


def test_no_file_is_large_but_the_weights():
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in kept_files()}
    weights = {
        f"lib/library/softlookup/model/published/shipped/{name}/model.safetensors"
        for name in ("english_french", "shakespeare")
    }
    assert {name: size for name, size in sizes.items() if size > 250_000 and name not in weights} == {}
    assert sum(size for name, size in sizes.items() if name in weights) < 25_000_000


def test_code_files_are_short():
    code = [p for p in kept_files() if p.suffix in (".py", ".js", ".css", ".sh") and "_vendor" not in p.parts]
    lines = {str(path.relative_to(ROOT)): len(as_text(path).splitlines()) for path in code}
    # The source of a notebook is as long as its tasks make it.
    assert {name: n for name, n in lines.items() if n > (600 if name.startswith("solutions/") else 500)} == {}
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
    matches = {
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in kept_files()
        if path != this  # the patterns are tried out above
        for match in [pattern.search(as_text(path))]
        if match
    }
    assert not matches


def test_no_two_classes_share_a_name():
    """One word, one meaning: the library, benchmarks and attacks have each public name of a class once."""
    both = {
        "MultiHeadAttention": "answers of two peers must have the name that is asked for",
        "Sizes": "public in widgets and in roofline",
    }
    places: dict[str, list[str]] = {}
    for path in [*library_files(), *(path for name in OUTSIDE[:2] for path in (ROOT / name).rglob("*.py"))]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    assert {name: where for name, where in places.items() if len(set(where)) > 1 and name not in both} == {}


def bound_names(path):
    """List the names that a file gives to arguments, variables, functions and classes."""
    for node in nodes_of(path):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def test_no_name_is_a_word_that_says_nothing():
    """docs/naming.md names the words, and the public names that wait for a version; what is gone leaves the table."""
    text = (ROOT / "docs" / "naming.md").read_text(encoding="utf-8")
    words = set(re.findall(r"`(\w+)`", re.search(r"^These words: (.+)\.$", text, re.M)[1]))
    allowed: dict[str, set[str]] = {}
    for files, names in re.findall(r"^\| (`\S+\.py`.*?) \| (.+?) \|", text, re.M):
        for path in re.findall(r"`(\S+)`", files):
            allowed.setdefault(path, set()).update(re.findall(r"`(\w+)`", names))
    left = {}
    for folder in ("lib", *OUTSIDE[:2], "scripts", "book/_ext", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            if names := words & set(bound_names(path)):
                left[path.relative_to(ROOT).as_posix()] = names
    assert len(words) >= 15
    assert {
        path: names - allowed.get(path, set()) for path, names in left.items() if names - allowed.get(path, set())
    } == {}
    assert sorted(allowed) == sorted(left), "the table names files that have none of the words any more"


def test_no_file_of_the_library_gains_a_name_that_is_to_be_replaced():
    """docs/naming.md says what each such word is called instead; naming_counts.toml how often a file still binds it.

    A count that fell falls in the table, too: so none rises again.
    """
    text = (ROOT / "docs" / "naming.md").read_text(encoding="utf-8").partition("## Words to replace")[2]
    rows = re.findall(r"^\| (`.+?) \|.*\| (.+?) \|$", text.partition("\n## ")[0], re.M)
    words = {word for names, new in rows if new != "stays" for word in re.findall(r"`(\w+)`", names)}
    counts = {}
    for path in library_files():
        if names := Counter(name for name in bound_names(path) if name in words):
            counts[path.relative_to(ROOT).as_posix()] = dict(sorted(names.items()))
    listed = tomllib.loads((ROOT / "tests" / "naming_counts.toml").read_text(encoding="utf-8"))
    lines = [
        f'"{path}" = {{ {", ".join(f"{word} = {n}" for word, n in row.items())} }}' for path, row in counts.items()
    ]
    assert len(words) >= 30
    assert counts == listed, "the table would be:\n" + "\n".join(lines)
    assert sum(sum(names.values()) for names in listed.values()) < 300


def test_no_two_test_files_share_a_name():
    """pytest imports them by their names alone, and collects the first of two."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))
