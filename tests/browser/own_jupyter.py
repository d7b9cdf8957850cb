"""A Jupyter server for tests: on a free port, with nobody's settings, and stopped when the test is over."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, Route


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def own_folders(home: Path, **more: str) -> dict[str, str]:
    """The variables that keep a server's settings, logs and secrets in a folder."""
    folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime", "JUPYTER_DATA_DIR": "data", **more}
    return {name: str(home / folder) for name, folder in folders.items()}


@contextmanager
def running(
    command: Sequence[str],
    port: int,
    token: str,
    *,
    cwd: Path,
    env: Mapping[str, str],
    home: Path,
    start_s: float,
    stop_s: float,
) -> Iterator[str]:
    """Start a server and wait until it answers; gives its address."""
    address = f"http://127.0.0.1:{port}/"
    with open(home / "log", "wb") as log:
        process = subprocess.Popen(command, cwd=cwd, env=env, stdout=log, stderr=log)
        try:
            until = time.monotonic() + start_s
            while not answers(address, token):
                assert process.poll() is None, (home / "log").read_text()[-2000:]
                assert time.monotonic() < until, "the server does not answer"
                time.sleep(0.2)
            yield address
        finally:
            process.terminate()
            try:
                process.wait(stop_s)
            except subprocess.TimeoutExpired:  # it waits for a kernel that is still beginning
                process.kill()
                process.wait()


@contextmanager
def running_formgrader(root: Path, home: Path, token: str) -> Iterator[str]:
    """Start a Jupyter server with formgrader in a course's folder; gives its address."""
    port = free_port()
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    env = {**os.environ, **own_folders(home), "PATH": path}
    options = {
        "ip": "127.0.0.1",
        "port": port,
        "port_retries": 0,
        "open_browser": False,
        "allow_root": True,
        "root_dir": root,
        "jpserver_extensions": "nbgrader.server_extensions.formgrader=True",
    }
    command = [sys.executable, "-m", "jupyter_server", *(f"--ServerApp.{name}={is_}" for name, is_ in options.items())]
    command.append(f"--IdentityProvider.token={token}")
    with running(command, port, token, cwd=root, env=env, home=home, start_s=90, stop_s=30) as address:
        yield address


def answers(address: str, token: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}api?token={token}", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


@dataclass
class Seen:
    """What happened on a page beside its being shown: requests to elsewhere; dialogs, windows, pages; errors."""

    requests: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@contextmanager
def watched(chromium: Browser, *addresses: str, within: str) -> Iterator[tuple[Page, Seen]]:
    """Open pages, one after the other, and write down what the last one does. Nothing leaves this machine."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    seen = Seen()

    def decide(route: Route) -> None:
        url = route.request.url
        if url.startswith((within, "data:", "blob:")):
            route.continue_()
        else:
            seen.requests.append(url)
            route.abort()

    try:
        page = context.new_page()
        for address in addresses[:-1]:
            page.goto(address, wait_until="load")
        context.route("**/*", decide)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("dialog", lambda dialog: (seen.events.append(f"dialog {dialog.message}"), dialog.dismiss()))
        context.on("page", lambda other: seen.events.append(f"window {other.url}"))
        page.on("framenavigated", lambda frame: seen.events.append(f"page {frame.url}"))
        page.goto(addresses[-1], wait_until="load")
        yield page, seen
    finally:
        context.close()
