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
EXTRAS = ("book", "instructor", "kernels", "pdf", "peers", "published", "student", "train")


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
packages = {name: home for home in HOMES for name in find_packages(str(home), include=["softlookup*"])}
points = [project.get("entry-points", {}) for project in projects.values()]

setup(
    version=projects["softlookup"]["version"],
    install_requires=needed([text for project in projects.values() for text in project["dependencies"]], by_part),
    extras_require={extra: needed(by_part["softlookup-course"][extra], by_part) for extra in EXTRAS},
    entry_points={
        "console_scripts": [
            f"{name} = {place}" for project in projects.values() for name, place in project.get("scripts", {}).items()
        ],
        **{
            group: [f"{name} = {place}" for point in points for name, place in point.get(group, {}).items()]
            for group in {group for point in points for group in point}
        },
    },
    packages=[*packages],
    package_dir={name: str((home / name).relative_to(ROOT)) for name, home in packages.items() if "." not in name},
    package_data={
        name: patterns
        for part in PARTS
        for name, patterns in part["tool"]["setuptools"].get("package-data", {}).items()
    },
    cmdclass={"build_py": runpy.run_path(str(ROOT / "lib" / "judge" / "setup.py"), run_name="part")["WithSolutions"]},
)
