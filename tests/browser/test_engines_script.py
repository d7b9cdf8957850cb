"""The script that brings the other browsers: what it says where it may not install, and that it then does nothing."""

import subprocess
from pathlib import Path

from book_browser import ROOT


def run(folder: Path, *programs: str) -> subprocess.CompletedProcess[str]:
    """Run the script as a user who is not root, on a machine with these programs and no others."""
    for name, does in {"id": "echo 1000", **dict.fromkeys(programs, "exit 9")}.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        path.chmod(0o755)
    script = ["/bin/sh", str(ROOT / "scripts" / "engines.sh")]
    return subprocess.run(script, env={"PATH": str(folder)}, capture_output=True, text=True, check=True)


def test_engines_script_says_what_is_missing_where_it_may_not_install(tmp_path):
    output = run(tmp_path, "apt-get").stdout
    assert "Installing" not in output
    assert "apt install firefox-esr" in output and "apt install webkit2gtk-driver xvfb" in output


def test_engines_script_says_nothing_where_both_browsers_are_there(tmp_path):
    assert run(tmp_path, "firefox", "WebKitWebDriver", "Xvfb").stdout == ""


def test_engines_script_names_the_one_browser_that_is_missing(tmp_path):
    output = run(tmp_path, "firefox-esr", "WebKitWebDriver").stdout
    assert "Firefox is not installed" not in output and "WebKitGTK cannot be driven" in output
