"""Environments that hold a part's wheel and what its metadata require, and nothing else; and how large they are."""

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("command", "inside", "library", "judge", "grader", "course")
FOR_GPUS = ("nvidia-", "cuda-", "triton")
"""How the names of packages begin that torch requires where it was built for CUDA; they are not counted."""

SCRIPT = """#!{python}
import sys

from {module} import {name}

if __name__ == "__main__":
    sys.exit({name}())
"""
"""A program in bin/; processes that it starts may import it."""

Closure = dict[str, Distribution]
"""Distributions by their normalised names."""


def named(part: str) -> str:
    """The name of a part's distribution."""
    return "softlookup" if part == "library" else f"softlookup-{part}"


def build_wheels(folder: Path) -> None:
    """Build the wheels of all parts into a folder, from a copy of their sources: pip leaves its own folders in it."""
    source = folder / "source"
    nothing = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "README.md.*")
    for name in ("lib", "solutions"):  # the judge's wheel has the solutions in it
        shutil.copytree(ROOT / name, source / name, ignore=nothing)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-index"]
    command += ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    done = subprocess.run(
        [*command, *(f"lib/{part}" for part in PARTS)], cwd=source, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]


class Wheels:
    """The wheels of all parts in a folder, and what lies around them in the environment that runs."""

    def __init__(self, folder: Path) -> None:
        self.paths = {canonicalize_name(path.name.partition("-")[0]): path for path in folder.glob("*.whl")}
        self.parts: Closure = {name: next(iter(distributions(path=[str(path)]))) for name, path in self.paths.items()}

    def closure(self, part: str, extras: tuple[str, ...] = ()) -> Closure:
        """What is installed with a part and some of its extras: the part, and all that is required, at any depth."""
        closure: Closure = {}
        seen: set[tuple[str, str]] = set()
        waiting = [Requirement(f"{named(part)}[{','.join(extras)}]")]
        while waiting:
            requirement = waiting.pop()
            name = canonicalize_name(requirement.name)
            dist = closure[name] = self.parts.get(name) or distribution(name)
            assert dist.version in requirement.specifier, f"{requirement} is required, and {dist.version} is there"
            for extra in {"", *requirement.extras} - {extra for known, extra in seen if known == name}:
                seen.add((name, extra))
                needed = map(Requirement, dist.requires or ())
                waiting += [other for other in needed if not other.marker or other.marker.evaluate({"extra": extra})]
        return closure

    def course(self) -> Closure:
        """What the old single package brought: all parts, and what they require without extras."""
        return {name: dist for part in PARTS for name, dist in self.closure(part).items()}

    def install(self, folder: Path, part: str, extras: tuple[str, ...] = (), *, linked: bool = True) -> "Alone":
        """Make an environment of a part alone in a new folder.

        Other packages are links to those of the environment that runs; unless ``linked``, their files are there
        themselves, as a sandbox that shows this folder alone has to see them.
        """
        closure = self.closure(part, extras)
        venv.create(folder, symlinks=True, with_pip=False)
        alone = Alone(folder, closure)
        for name, dist in closure.items():
            if name in self.paths:
                ZipFile(self.paths[name]).extractall(alone.packages)
            else:
                for path in units(dist):
                    source, target = Path(dist.locate_file(path)), Path(os.path.normpath(alone.packages / path))
                    target.parent.mkdir(parents=True, exist_ok=True)
                    bring(source, target, linked)
            for point in dist.entry_points.select(group="console_scripts"):
                script = folder / "bin" / point.name
                script.write_text(SCRIPT.format(python=alone.python, module=point.module, name=point.attr))
                script.chmod(0o755)
        return alone


def units(dist: Distribution) -> set[Path]:
    """The files and folders of a distribution, from site-packages; a folder that others may share is looked into."""
    units = set()
    for file in dist.files or ():
        path, place = Path(*file.parts), Path(dist.locate_file(file))
        if path.parts[0] == "..":
            if "bin" not in path.parts and place.is_file():  # scripts are written anew
                units.add(path)
            continue
        top = Path(dist.locate_file(path.parts[0]))
        whole = top.is_file() or top.suffix == ".dist-info" or (top / "__init__.py").is_file()
        units.add(Path(*path.parts[: 1 if whole else 2]))
    return {path for path in units if path.name != "__pycache__" and Path(dist.locate_file(path)).exists()}


def bring(source: Path, target: Path, linked: bool) -> None:
    """Put a file or folder into an environment."""
    if linked:
        target.symlink_to(source)
    elif source.is_dir():
        shutil.copytree(source, target, copy_function=hard_link)
    else:
        hard_link(source, target)


def hard_link(source: str | Path, target: str | Path) -> None:
    """Give a file a second name, or copy it where that is on another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@dataclass(frozen=True)
class Alone:
    """An environment: its folder, and the distributions that it has."""

    folder: Path
    closure: Closure

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @cached_property
    def packages(self) -> Path:
        """Its site-packages."""
        return self.folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"

    def run(self, *command: str | Path, cwd: Path | None = None, **more: str) -> str:
        """Run one of its programs, by its name in bin/, as in a shell where it is activated; what it printed."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        paths = os.pathsep.join([str(self.folder / "bin"), *os.defpath.split(os.pathsep), "/usr/sbin"])
        env = {"PATH": paths, "HOME": str(home), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1", **more}
        program, *arguments = map(str, command)
        done = subprocess.run(
            [str(self.folder / "bin" / program), *arguments],
            cwd=cwd or home,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{program} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"[-6000:]
        return done.stdout


def count(closure: Closure) -> int:
    """The number of packages, those for GPUs left out."""
    return sum(not name.startswith(FOR_GPUS) for name in closure)


def megabytes(closure: Closure) -> float:
    """The size of the installed files in MB, as packages list them: nothing compiled later, nothing for GPUs."""
    sizes = [
        file.size or 0 for name, dist in closure.items() if not name.startswith(FOR_GPUS) for file in dist.files or ()
    ]
    return sum(sizes) / 1e6
