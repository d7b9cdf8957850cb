"""What publishes the course and what images install: the files name what exists."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from set_address import with_address

from softlookup_judge.authoring import find_root

ROOT = find_root()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PARTS = {
    path.parent.name: tomllib.loads(path.read_text())["project"] for path in (ROOT / "lib").glob("*/pyproject.toml")
}


def test_extras_that_are_installed_exist_and_have_pinned_versions():
    extras = PARTS["course"]["optional-dependencies"]
    groups = [*re.findall(r"\.\[([a-z,]+)\]", (ROOT / "Dockerfile").read_text())]
    groups += re.findall(r"^\.\[([a-z,]+)\]", (ROOT / "binder" / "requirements.txt").read_text(), re.M)
    assert groups and all(name in extras for group in groups for name in group.split(","))
    pinned = {
        line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line
    }
    for extra in ("student", "instructor"):
        names = {re.split(r"[<>=[]", requirement)[0].lower() for requirement in extras[extra]}
        assert {name for name in names if not name.startswith("softlookup")} <= pinned


def test_binder_gets_a_python_that_the_project_allows():
    (line,) = (ROOT / "binder" / "runtime.txt").read_text().split()
    name, _, python = line.partition("-")
    assert name == "python" and SpecifierSet(PROJECT["requires-python"]).contains(f"{python}.0")


def test_images_name_accounts_by_number_so_that_they_are_seen_not_to_be_root():
    stages = (ROOT / "Dockerfile").read_text().split("\nFROM ")[1:]
    assert len(stages) == 2
    for stage in stages:
        *_, last = re.findall(r"^USER (.+)$", stage, re.M)
        assert int(last) > 0 and f"--uid {last} " in stage


def test_options_that_a_container_needs_are_the_same_wherever_they_are_written():
    options = {"--security-opt seccomp=unconfined", "--security-opt systempaths=unconfined", "--user"}
    page = (ROOT / "book" / "instructors_later.md").read_text()
    for text in ((ROOT / "Dockerfile").read_text(), page):
        (command,) = re.findall(r"docker run -it (?:.|\\\n#)*?soft-lookup-grader", text)
        assert {option for option in options if option in command} == options


def test_pinned_versions_are_those_that_the_project_allows():
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    pinned = {name.lower(): version for name, version in pinned.items()}
    needed = [
        Requirement(text)
        for part in PARTS.values()
        for text in part["dependencies"]
        if not text.startswith("softlookup")
    ]
    assert [
        requirement.name
        for requirement in needed
        if not requirement.specifier.contains(pinned[requirement.name.lower()])
    ] == []
    nbgrader = next(requirement for requirement in needed if requirement.name == "nbgrader")
    assert not nbgrader.specifier.contains("0.9.5"), "its Validate button reads files outside the served folder"


def test_workflow_calls_commands_of_the_makefile_and_publishes_what_is_built():
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "book.yml").read_text())
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    steps = [step for job in flow["jobs"].values() for step in job["steps"]]
    called = [name for step in steps for name in re.findall(r"^make (.+)$", step.get("run", ""), re.M)]
    assert {name for line in called for name in line.split()} <= targets and "test" in called
    assert flow["jobs"]["publish"]["needs"] == "test"
    assert [step["with"]["path"] for step in steps if "pages-artifact" in step.get("uses", "")] == ["_build/html"]
    (script,) = (path for step in steps for path in re.findall(r"scripts/\w+\.py", step.get("run", "")))
    assert (ROOT / script).is_file()


def test_workflow_tests_all_pythons_and_requires_the_sandbox():
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "book.yml").read_text())["jobs"]["test"]
    pythons = job["strategy"]["matrix"]["python"]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"] and job["strategy"]["fail-fast"] is False
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    tools = (ROOT / "tests" / "grading" / "sandbox_tools.py").read_text()
    assert re.search(r'^REQUIRED = "(.+)"$', tools, re.M)[1] in job["env"]
    runs = [step.get("run", "") for step in job["steps"]]
    allowed = next(at for at, run in enumerate(runs) if "kernel.apparmor_restrict_unprivileged_userns=0" in run)
    assert allowed < runs.index(".venv/bin/softlookup doctor") < runs.index("make test")


def test_long_tests_and_a_mac_run_once_a_night_and_never_in_ci():
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text())
    assert len(flow[True]["schedule"]) == 1, "YAML reads the word on as true"
    long, mac = flow["jobs"]["long"], flow["jobs"]["mac"]
    assert "make test-long" in [step.get("run") for step in long["steps"]]
    assert "SOFTLOOKUP_SANDBOX_REQUIRED" in long["env"]
    folders = re.findall(r"tests/\w+", " ".join(step.get("run", "") for step in mac["steps"]))
    assert mac["runs-on"] == "macos-latest" and folders and all((ROOT / folder).is_dir() for folder in folders)
    assert "test-long" not in (ROOT / ".ci" / "run").read_text()


def test_address_of_the_book_is_set_and_nothing_else():
    before = (ROOT / "_config.yml").read_text()
    after = with_address(before, "https://example.org/soft-lookup/")
    read = yaml.safe_load(after)["sphinx"]["config"]["softlookup_launch"]
    assert read["book"] == "https://example.org/soft-lookup/"
    changed = [(old, new) for old, new in zip(before.splitlines(), after.splitlines(), strict=True) if old != new]
    assert len(changed) == 1


@pytest.mark.parametrize("address", ["", "example.org", 'https://example.org/"', "ftp://x/", "https://a b/"])
def test_what_is_no_address_is_refused(address: str):
    with pytest.raises(ValueError, match="is no address"):
        with_address((ROOT / "_config.yml").read_text(), address)
