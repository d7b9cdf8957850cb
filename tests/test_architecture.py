"""The rules of the house that no linter knows: who imports whom, sizes of files, what no file may hold."""

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import softlookup

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "lib" / "softlookup"

# What each part of the library may import of the others. A new part begins with a line here.
MAY_IMPORT: dict[str, set[str]] = {
    "notation": set(),
    "lazily": set(),
    "reference": {"notation"},
    "text": {"notation"},
    "model": {"notation", "text"},
    "roofline": {"notation"},
    "training": {"notation", "text", "model"},
    "audit": {"notation", "reference", "text", "model", "roofline"},
    "figures": {"lazily", "notation", "reference", "model", "text", "roofline"},
    "widgets": {"lazily", "notation", "reference", "model", "text", "roofline"},
    "checks": {"notation", "reference"},
    "grading": {"notation", "checks"},
    "authoring": {"notation", "checks"},
    "teaching": {"notation", "checks"},
    "quick": {"checks"},
    "way": {"checks", "grading", "teaching"},
    "exam": {"notation", "reference", "text", "model", "roofline", "checks", "teaching"},
}
MAY_IMPORT["bench"] = {"notation", "text", "model", "training", "roofline", "checks", "grading"}
MAY_IMPORT["commands"] = MAY_IMPORT["cli"] = {*MAY_IMPORT, "commands"}

MACHINE_PATH = re.compile(r"(?<![\w.~$}/-])/(?:work|home|root|Users)/\w")
REGISTRY_HOST = re.compile(
    r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|yarnpkg\.com|download\.pytorch\.org|conda\.anaconda\.org"
    r"|artifactory|jfrog|(?:extra-)?index-url[= ]+https?:",
    re.IGNORECASE,
)


def part_of(module: str) -> str:
    """Name the part of the library a dotted module belongs to; '' is the package's own __init__."""
    return module.split(".")[1] if "." in module else ""


def imports_of(path: Path, package: Path = PACKAGE) -> set[str]:
    """List the parts that one file imports, at any depth of its code, by any way of importing."""
    parents = ("softlookup", *path.relative_to(package).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (base, node.module)))
            # `from softlookup import model` names a part, `from softlookup.model import x` one name in it.
            found |= {f"{base}.{alias.name}" for alias in node.names} if base == "softlookup" else {base}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__"):
                found.add(str(node.args[0].value))
    found = {name for name in found if name == "softlookup" or name.startswith("softlookup.")}
    parts = {part_of(name) for name in found}
    parts = {"checks" if part == "check" else part for part in parts}  # the one lazy name that is no module
    return parts - {"", "__version__"}


def library_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


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


def test_every_part_of_the_library_has_a_rule():
    parts = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in library_files()}
    assert {"notation", "reference", "model", "roofline", "text", "training"} <= parts
    assert parts - {"__init__"} <= set(MAY_IMPORT)


@pytest.mark.parametrize("path", library_files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down_only(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    allowed = {"checks"} if own == "__init__" else MAY_IMPORT[own] | {own}
    assert imports_of(path) <= allowed


def test_the_rules_themselves_are_those_of_the_design():
    everyone = set(MAY_IMPORT)
    assert MAY_IMPORT["reference"] == {"notation"}
    assert "reference" not in MAY_IMPORT["model"]
    assert not MAY_IMPORT["roofline"] & {"reference", "model"}
    assert {part for part in everyone if "authoring" in MAY_IMPORT[part]} == {"cli", "commands"}
    assert {part for part in everyone if "commands" in MAY_IMPORT[part]} == {"cli", "commands"}
    assert all("cli" not in MAY_IMPORT[part] for part in everyone - {"cli", "commands"})


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
    assert imports_of(path, tmp_path) == {"reference"}


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
    assert {"check", "reference", "model", "checks", "figures", "widgets"} <= set(dir(softlookup))
    with pytest.raises(AttributeError, match="no attribute 'nothing'; it has .*reference"):
        _ = softlookup.nothing


def test_check_is_the_one_of_checks():
    from softlookup.checks import check

    assert softlookup.check is check


def test_version_is_the_one_of_the_packaging():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert softlookup.__version__ == project["version"]


def test_no_file_is_large_but_the_weights():
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in kept_files()}
    weights = {"lib/softlookup/model/shipped/english_french/model.safetensors"}
    assert {name: size for name, size in sizes.items() if size > 250_000 and name not in weights} == {}
    assert sum(size for name, size in sizes.items() if name in weights) < 25_000_000


def test_code_files_are_short():
    code = [p for p in kept_files() if p.suffix in (".py", ".js", ".css", ".sh") and "_vendor" not in p.parts]
    lines = {str(path.relative_to(ROOT)): len(as_text(path).splitlines()) for path in code}
    assert {name: n for name, n in lines.items() if n > 400} == {}
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
