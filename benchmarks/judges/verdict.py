"""What a judge says of one answer, and what a judge has to offer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """One function as a judge asks for it.

    Attributes:
        task: The judge's own name of the task.
        kinds: The kinds of inputs that the task's text, signature or tests ask for (see ``probes``).
        made: Gives an answer the signature that the judge wants.
        exempt: Wrong answers that the task's own text allows.
    """

    task: str
    kinds: str
    made: Callable[[Callable[..., Any]], Any]
    exempt: tuple[str, ...] = ()

    def asks(self, wrong: str, differs: frozenset[str]) -> bool:
        """Whether a wrong answer violates what is asked."""
        return wrong not in self.exempt and bool(differs & {kind.strip() for kind in self.kinds.split(",")})


@dataclass(frozen=True)
class Verdict:
    """What a judge said: whether it accepts, its words, the mistakes that it names, and its time in seconds."""

    accepted: bool
    message: str
    seconds: float
    named: tuple[str, ...] = ()


@dataclass(frozen=True)
class PeerJudge:
    """A judge that can be asked.

    Attributes:
        name: What the record calls it.
        version: Which version or commit this is.
        licence: Under which licence it is published.
        exercises: Function -> how the judge asks for it.
        verdict: Takes the task's name and the answer in the judge's signature.
    """

    name: str
    version: str
    licence: str
    exercises: Mapping[str, Asked]
    verdict: Callable[[str, Any], Verdict]


class Missing(Exception):
    """A judge's files are not in the folder of peers; says what to put there."""


def installed(peers: Path | None, package: str, requirement: str) -> str:
    """Put a package of the peers' folder on the path and say its version, or say how to get it."""
    import sys
    from importlib.metadata import Distribution, distributions

    packages: dict[str, Distribution] = {}
    if peers is not None:
        packages = {distribution.metadata["Name"]: distribution for distribution in distributions(path=[str(peers)])}
    if peers is None or package not in packages:
        raise Missing(f"{package} is not in the folder of peers: pip install --no-deps --target PEERS {requirement}")
    sys.path.insert(0, str(peers))
    return packages[package].version


def commit(repository: Path) -> str:
    """The commit of a repository in the folder of peers."""
    import subprocess

    command = ["git", "-C", str(repository), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()[:12] or "unknown"
