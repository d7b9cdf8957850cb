"""Two other browsers behind one small set of calls: Firefox through puppeteer-core, WebKitGTK through WebDriver."""

import json
import os
import shutil
import subprocess
import sysconfig
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from softlookup_course.browser import SETTLED

PATIENCE_S = 120
HOW_TO_GET = "`sh scripts/engines.sh` (a part of `make test-long`) installs {} where it is run as root"


class NoEngine(Exception):
    """A browser is not on this machine; the message says how to get it."""


class Engine(ABC):
    """One window of a browser. Places are in pixels of the page's window; scripts are functions without arguments."""

    name: str
    files: str  # the built book's folder, by file://
    served: str  # the same from a server

    @abstractmethod
    def open(self, address: str) -> None:
        """Open an address and wait for its load event."""

    @abstractmethod
    def run(self, script: str) -> Any:
        """Run a function in the page, wait for what it promises, and give it as plain Python."""

    @abstractmethod
    def resize(self, width: int, height: int = 900) -> None:
        """Give the page's window this size."""

    @abstractmethod
    def point(self, *steps: tuple[Any, ...]) -> None:
        """Work the mouse: ("move", x, y), ("down",), ("up",)."""

    @abstractmethod
    def press(self, key: str) -> None:
        """Press a key and let go: "ArrowRight", "Enter", "Tab", " "."""

    @abstractmethod
    def complaints(self) -> list[str]:
        """Give errors and warnings since the page was opened, failed requests among them."""

    @abstractmethod
    def close(self) -> None:
        """End the browser."""

    def visit(self, address: str) -> None:
        """Open a page and wait until formulas and figures stand."""
        self.open(address)
        self.run(SETTLED)

    def middle(self, css: str, number: int = 0) -> tuple[float, float]:
        """Bring an element into the middle of the window; give the place of its own middle."""
        place = self.run(
            f"""async () => {{
                  const one = document.querySelectorAll({json.dumps(css)})[{number}];
                  if (!one) return null;
                  one.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }});
                  await new Promise(requestAnimationFrame);
                  const box = one.getBoundingClientRect();
                  return [box.x + box.width / 2, box.y + box.height / 2];
                }}"""
        )
        assert place is not None, f"{self.name}: nothing on the page is {css} (number {number})"
        return place[0], place[1]

    def click(self, css: str, number: int = 0) -> None:
        """Press the mouse in the middle of an element, as a reader would."""
        x, y = self.middle(css, number)
        self.point(("move", x, y), ("down",), ("up",))

    def focus(self, css: str, number: int = 0) -> None:
        """Give an element the focus."""
        self.middle(css, number)
        self.run(f"() => {{ document.querySelectorAll({json.dumps(css)})[{number}].focus(); return true; }}")


class Firefox(Engine):
    """Debian's Firefox; a small script of Node's speaks to it, and lines of JSON go to and fro.

    The checkout holds puppeteer-core. NoEngine if something for it is missing.
    """

    name = "Firefox"

    def __init__(self, root: Path) -> None:
        binary = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
        node = shutil.which("node", path=sysconfig.get_path("scripts")) or shutil.which("node")
        puppeteer = root / "book" / "_vendor" / "node_modules" / "puppeteer-core"
        if binary is None:
            raise NoEngine("no Firefox here: " + HOW_TO_GET.format("firefox-esr"))
        if node is None or not puppeteer.exists():
            raise NoEngine("puppeteer-core or Node is missing: `make setup` brings both")
        driver = Path(__file__).with_name("firefox_driver.mjs")
        self._node = subprocess.Popen(
            [node, str(driver), str(puppeteer), binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._ask("start")

    def _ask(self, what: str, **more: Any) -> Any:
        assert self._node.stdin and self._node.stdout
        self._node.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self._node.stdin.flush()
        line = self._node.stdout.readline()
        assert line, "the driver of Firefox has ended"
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"Firefox, {what}: {answer['error']}")
        return answer.get("value")

    def open(self, address: str) -> None:
        """Open an address and wait for its load event."""
        self._ask("open", address=address)

    def run(self, script: str) -> Any:
        """Run a function in the page."""
        return self._ask("run", script=script)

    def resize(self, width: int, height: int = 900) -> None:
        """Give the page's window this size."""
        self._ask("resize", width=width, height=height)

    def point(self, *steps: tuple[Any, ...]) -> None:
        """Work the mouse."""
        self._ask("point", steps=steps)

    def press(self, key: str) -> None:
        """Press a key and let go."""
        self._ask("press", key=key)

    def complaints(self) -> list[str]:
        """Give errors and warnings since the page was opened."""
        return self._ask("complaints")

    def close(self) -> None:
        """End the browser."""
        assert self._node.stdin and self._node.stdout
        try:
            self._ask("close")
            self._node.wait(timeout=PATIENCE_S)
        finally:
            self._node.kill()
            self._node.wait()
            self._node.stdin.close()
            self._node.stdout.close()


KEYS = {
    "Enter": "\ue007",
    "Tab": "\ue004",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}
"""WebDriver's names of the keys that write nothing."""

SMALL_TOOLBAR = "* { min-width: 0; min-height: 0; padding: 0; margin: 0; border-width: 0; }"
"""MiniBrowser's own buttons would keep its window from getting as narrow as a phone."""


class WebKit(Engine):
    """WebKitGTK's MiniBrowser on a screen that nobody sees, driven by WebDriver over HTTP.

    WebDriver tells nothing of errors, so a page has to keep them itself, in ``softlookupComplaints``. ``home`` is an
    empty folder for what the browser keeps. NoEngine if something for it is missing.
    """

    name = "WebKit"

    def __init__(self, home: Path) -> None:
        binaries = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
        if not binaries or not shutil.which("WebKitWebDriver") or not shutil.which("Xvfb"):
            raise NoEngine("no WebKitGTK to drive here: " + HOW_TO_GET.format("webkit2gtk-driver and xvfb"))
        (home / "gtk-3.0").mkdir(parents=True)
        (home / "gtk-3.0" / "gtk.css").write_text(SMALL_TOOLBAR, encoding="utf-8")
        read, write = os.pipe()
        screen = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
        self._screen = subprocess.Popen(screen, pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            display = pipe.readline().strip()
        environment = {"WEBKIT_DISABLE_COMPOSITING_MODE": "1", "DISPLAY": f":{display}", "NO_AT_BRIDGE": "1"}
        environment |= {f"XDG_{part}_HOME": str(home) for part in ("CONFIG", "CACHE", "DATA")}
        port = _free_port()
        self._driver = subprocess.Popen(
            ["WebKitWebDriver", f"--port={port}"],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._address = f"http://127.0.0.1:{port}"
        self._wait_for_driver()
        options = {"binary": str(binaries[-1]), "args": ["--automation"]}
        capabilities = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self._address += f"/session/{self._ask('POST', '/session', capabilities)['sessionId']}"
        milliseconds = 1000 * PATIENCE_S
        self._ask("POST", "/timeouts", {"script": milliseconds, "pageLoad": milliseconds})

    def _wait_for_driver(self) -> None:
        """Ask until the driver listens; the kernel refuses at once until then."""
        for _ in range(100_000):
            try:
                self._ask("GET", "/status")
                return
            except urllib.error.URLError:
                if self._driver.poll() is not None:
                    break
        raise NoEngine("WebKitWebDriver does not start")

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._address + path, data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=2 * PATIENCE_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise RuntimeError(f"WebKit, {path}: {error.read().decode()[:500]}") from None

    def open(self, address: str) -> None:
        """Open an address and wait for its load event."""
        self._ask("POST", "/url", {"url": "about:blank"})  # else a new fragment or query alone would load nothing
        self._ask("POST", "/url", {"url": address})

    def run(self, script: str) -> Any:
        """Run a function in the page."""
        body = f"""const done = arguments[arguments.length - 1];
                   Promise.resolve().then({script})
                     .then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));"""
        answer = self._ask("POST", "/execute/async", {"script": body, "args": []})
        if "error" in answer:
            raise RuntimeError(f"WebKit, a script: {answer['error']}")
        return answer.get("value")

    def resize(self, width: int, height: int = 900) -> None:
        """Give the page's window this size."""
        rect = {"width": width, "height": height}
        self._ask("POST", "/window/rect", rect)
        arrived = f"while (innerWidth !== {width}) await new Promise(requestAnimationFrame);"
        self.run(f"async () => {{ {arrived} return true; }}")

    def _act(self, kind: str, actions: list[dict[str, Any]], **more: Any) -> None:
        self._ask("POST", "/actions", {"actions": [{"type": kind, "id": kind, "actions": actions, **more}]})

    def point(self, *steps: tuple[Any, ...]) -> None:
        """Work the mouse."""
        acts = {"down": {"type": "pointerDown", "button": 0}, "up": {"type": "pointerUp", "button": 0}}
        made = [
            {"type": "pointerMove", "x": round(step[1]), "y": round(step[2]), "duration": 0, "origin": "viewport"}
            if step[0] == "move"
            else acts[step[0]]
            for step in steps
        ]
        self._act("pointer", made, parameters={"pointerType": "mouse"})

    def press(self, key: str) -> None:
        """Press a key and let go."""
        value = KEYS.get(key, key)
        self._act("key", [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}])

    def complaints(self) -> list[str]:
        """Give errors and warnings since the page was opened."""
        return self.run("() => window.softlookupComplaints ?? ['this page keeps no list of complaints']")

    def close(self) -> None:
        """End the browser."""
        try:
            self._ask("DELETE", "")
        finally:
            for process in (self._driver, self._screen):
                process.terminate()
                process.wait()


def _free_port() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
