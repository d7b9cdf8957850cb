"""The checkout as one package, softlookup-all, for where a single ``pip install`` is wanted: images, Binder, Colab.

What it holds and needs is read from the parts in lib/, so that it is written once. ``make setup`` installs the parts.
"""

import runpy
import tomllib
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent
HOMES = sorted(path.parent for path in ROOT.glob("lib/*/pyproject.toml"))
PARTS = [tomllib.loads((home / "pyproject.toml").read_text(encoding="utf-8")) for home in HOMES]
EXTRAS = ("book", "instructor", "kernels", "pdf", "published", "student", "train")


def merged(*keys: str) -> dict:
    """A table of all parts in one, by its place in their files."""
    both: dict = {}
    for part in PARTS:
        table = part
        for key in keys:
            table = table.get(key, {})
        both |= table
    return both


def needed(requirements: list[str], extras: dict[str, dict]) -> list[str]:
    """Requirements, each part's own extras in place of the part's name."""
    names = []
    for text in requirements:
        part, _, wanted = text.partition("==")[0].rstrip("]").partition("[")
        if part not in extras:
            names.append(text)
        for extra in filter(None, wanted.split(",")):
            names += needed(extras[part][extra], extras) if part in extras else []
    return sorted(set(names))


projects = {part["project"]["name"]: part["project"] for part in PARTS}
by_part = {name: project.get("optional-dependencies", {}) for name, project in projects.items()}
packages = [name for home in HOMES for name in find_packages(str(home), include=["softlookup*"])]
points = [part["project"].get("entry-points", {}) for part in PARTS]

setup(
    version=projects["softlookup"]["version"],
    install_requires=needed([text for project in projects.values() for text in project["dependencies"]], by_part),
    extras_require={extra: needed(by_part["softlookup-course"][extra], by_part) for extra in EXTRAS},
    entry_points={
        "console_scripts": [f"{name} = {place}" for name, place in merged("project", "scripts").items()],
        **{
            group: [f"{name} = {place}" for point in points for name, place in point.get(group, {}).items()]
            for group in {group for point in points for group in point}
        },
    },
    packages=packages,
    package_dir={
        name: str((home / name).relative_to(ROOT))
        for home in HOMES
        for name in find_packages(str(home), include=["softlookup*"])
        if "." not in name
    },
    package_data=merged("tool", "setuptools", "package-data"),
    cmdclass={"build_py": runpy.run_path(str(ROOT / "lib" / "judge" / "setup.py"), run_name="part")["WithSolutions"]},
)
