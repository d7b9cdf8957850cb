"""Tags a release of the course: the version of all parts, with its section of CHANGELOG.md as the tag's message.

Usage: python scripts/release.py
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class NotReady(Exception):
    """Something is missing for a release; the message says what."""


def section(changelog: str, version: str) -> str:
    """The text below ``## VERSION`` in a changelog, up to the next version.

    NotReady if there is no such section, or nothing in it.
    """
    match = re.search(rf"(?ms)^## {re.escape(version)}(?: .*?)?$\n(.*?)(?=^## |\Z)", changelog)
    if not match or not match[1].strip():
        raise NotReady(f"CHANGELOG.md has no section '## {version}': write down what is new in it")
    return match[1].strip()


def release(root: Path) -> str:
    """Tag the commit that is checked out, and give the tag's name.

    NotReady if files disagree about the version, the changelog says nothing of it, something is not committed, or the
    tag is there already.
    """
    version = _version(root)
    text = section((root / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    match = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    if not match or match[1] != version:
        raise NotReady(
            f"CITATION.cff has version {match[1] if match else 'none'}, and lib/*/pyproject.toml have {version}"
        )
    if _git(root, "status", "--porcelain"):
        raise NotReady("there are changes that are not committed: commit them first")
    tag = f"v{version}"
    if _git(root, "tag", "--list", tag):
        raise NotReady(f"the tag {tag} is there already: raise the version in lib/*/pyproject.toml")
    # Headings of the changelog begin with #, which git would take for comments.
    _git(root, "tag", "--annotate", tag, "--cleanup=verbatim", "--message", f"Soft Lookup {version}\n\n{text}\n")
    return tag


def _version(root: Path) -> str:
    """The version that all parts have."""
    files = sorted(root.glob("lib/*/pyproject.toml"))
    versions = {tomllib.loads(path.read_text(encoding="utf-8"))["project"]["version"] for path in files}
    if len(versions) != 1:
        raise NotReady(f"the files lib/*/pyproject.toml have the versions {', '.join(sorted(versions))}: make them one")
    return versions.pop()


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", root, *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    try:
        print(f"tagged {release(ROOT)}: publish it with 'git push origin main --follow-tags'")
    except NotReady as error:
        sys.exit(f"release: {error}")
