"""The script that brings the other browsers: what it says where it may not install, and that it then does nothing."""

import subprocess
from pathlib import Path

import pytest
from book_browser import ROOT


def run(folder: Path, *programs: str) -> subprocess.CompletedProcess[str]:
    """Run the script as a user who is not root, on a machine with these programs and no others."""
    for name, does in {"id": "echo 1000", **dict.fromkeys(programs, "exit 9")}.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        path.chmod(0o755)
    script = ["/bin/sh", str(ROOT / "scripts" / "engines.sh")]
    return subprocess.run(script, env={"PATH": str(folder)}, capture_output=True, text=True, check=True)


@pytest.mark.parametrize(
    ("programs", "says"),
    [
        (["apt-get"], ["apt install firefox-esr", "apt install webkit2gtk-driver xvfb"]),
        (["firefox-esr", "WebKitWebDriver"], ["WebKitGTK cannot be driven"]),
        (["firefox", "WebKitWebDriver", "Xvfb"], []),
    ],
)
def test_engines_script_says_what_is_missing_where_it_may_not_install(tmp_path, programs, says):
    output = run(tmp_path, *programs).stdout
    assert "Installing" not in output and all(words in output for words in says) and bool(output) == bool(says)
    assert ("Firefox is not installed" in output) == (programs == ["apt-get"])
