"""Environments that hold a part's wheel and what its metadata require, and nothing else; and how large they are."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from functools import cache
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

IMPORT_ALL = """
import json
import pkgutil
from importlib import import_module

missing = {{}}
for module in pkgutil.walk_packages(import_module("{package}").__path__, "{package}."):
    try:
        import_module(module.name)
    except ModuleNotFoundError as error:
        missing[module.name] = error.name
print(json.dumps(missing))
"""

Closure = dict[str, Distribution]
"""Distributions by their normalised names."""


def package_of(part: str) -> str:
    """The name of a part's distribution."""
    return "softlookup" if part == "library" else f"softlookup-{part}"


def build_wheels(folder: Path) -> None:
    """Build the wheels of all parts into a folder, from a copy of their sources: pip leaves folders of its own in it.

    Of several processes the first one does it, and the others wait.
    """
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return
        source = folder.with_suffix(".source")
        for name in ("lib", "solutions"):  # the judge's wheel has the solutions in it
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
            shutil.copytree(ROOT / name, source / name, ignore=ignored, dirs_exist_ok=True)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-index"]
        command += ["--no-deps", "--no-build-isolation", "--wheel-dir", "wheels", *(f"lib/{part}" for part in PARTS)]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        (source / "wheels").rename(folder)


class Wheels:
    """The wheels of all parts in a folder, and the packages of the environment that runs, which they may require."""

    def __init__(self, folder: Path) -> None:
        self.paths = {canonicalize_name(path.name.partition("-")[0]): path for path in folder.glob("*.whl")}
        self.parts: Closure = {name: next(iter(distributions(path=[str(path)]))) for name, path in self.paths.items()}

    def closure(self, part: str, extras: tuple[str, ...] = ()) -> Closure:
        """What is installed with a part and some of its extras: the part, and all that is required, at any depth."""
        closure: Closure = {}
        seen: set[tuple[str, str]] = set()
        waiting = [Requirement(f"{package_of(part)}[{','.join(extras)}]")]
        while waiting:
            requirement = waiting.pop()
            name = canonicalize_name(requirement.name)
            dist = closure[name] = self.parts.get(name) or distribution(name)
            assert requirement.specifier.contains(dist.version, prereleases=True), (str(requirement), dist.version)
            for extra in {"", *requirement.extras}:
                if (name, extra) not in seen:
                    seen.add((name, extra))
                    needs = map(Requirement, dist.requires or ())
                    waiting += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
        return closure

    def course(self) -> Closure:
        """What the one package brought that there was before: all parts, and what they require without extras."""
        return {name: dist for part in PARTS for name, dist in self.closure(part).items()}

    def install(self, folder: Path, part: str, extras: tuple[str, ...] = (), *, linked: bool = True) -> "Alone":
        """Make an environment of a part alone in a new folder.

        Other packages are links to those of the environment that runs; unless ``linked``, their files are there
        themselves, as a sandbox that shows this folder alone has to see them.
        """
        venv.create(folder, symlinks=True, with_pip=False)
        alone = Alone(folder, self.closure(part, extras))
        for name, dist in alone.closure.items():
            if name in self.paths:
                with ZipFile(self.paths[name]) as wheel:
                    wheel.extractall(alone.packages)
            else:
                for path in units(dist):
                    bring(Path(str(dist.locate_file(path))), Path(os.path.normpath(alone.packages / path)), linked)
            for point in dist.entry_points.select(group="console_scripts"):
                script = folder / "bin" / point.name
                script.write_text(SCRIPT.format(python=folder / "bin" / "python", module=point.module, name=point.attr))
                script.chmod(0o755)
        return alone


def units(dist: Distribution) -> set[str]:
    """The files and folders of a distribution, as seen from site-packages; folders that others may share are opened."""
    base = Path(str(dist.locate_file("")))

    @cache
    def is_whole(top: str) -> bool:
        return top.endswith(".dist-info") or (base / top).is_file() or (base / top / "__init__.py").is_file()

    units: set[str] = set()
    for file in dist.files or ():
        if file.parts[0] == "..":
            units.update([str(file)] * ("bin" not in file.parts))  # programs are written anew
        elif "__pycache__" not in file.parts[:2]:
            units.add("/".join(file.parts[: 1 if is_whole(file.parts[0]) else 2]))
    return {path for path in units if (base / path).exists()}


def bring(source: Path, target: Path, linked: bool) -> None:
    """Put a file or folder into an environment."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if linked:
        target.symlink_to(source)
    elif source.is_dir():
        shutil.copytree(source, target, copy_function=name_again)
    else:
        name_again(str(source), str(target))


def name_again(source: str, target: str) -> None:
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
    def packages(self) -> Path:
        """Its site-packages."""
        return self.folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"

    def run(self, program: str, *arguments: str | Path, folder: Path | None = None) -> str:
        """Run one of its programs, as in a shell where it is activated, and nothing else of the user's is there."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "PATH": os.pathsep.join([str(self.folder / "bin"), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"]),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
        }
        command = [str(self.folder / "bin" / program), *map(str, arguments)]
        place = folder or home
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{program} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"[-5000:]
        return done.stdout

    def python(self, code: str) -> str:
        """Run code from a file, so that its functions have a source; what it printed."""
        script = self.folder / "script.py"
        script.write_text(code, encoding="utf-8")
        return self.run("python", script).strip()

    def importable(self, *names: str) -> str:
        """Which of some packages can be imported there."""
        return self.python(f"from importlib.util import find_spec\nprint(*filter(find_spec, {names!r}))")

    def missing(self, package: str) -> dict[str, str]:
        """The modules of a package that cannot be imported there, with what each does not find."""
        return json.loads(self.python(IMPORT_ALL.format(package=package)))

    def installed(self) -> set[str]:
        """The distributions that its Python finds."""
        code = "from importlib.metadata import distributions\nprint(*(dist.name for dist in distributions()))"
        return {canonicalize_name(name) for name in self.python(code).split()}


def count(closure: Closure) -> int:
    """The number of packages, those for GPUs left out."""
    return sum(not name.startswith(FOR_GPUS) for name in closure)
