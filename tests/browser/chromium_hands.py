"""Chromium behind the calls of `engines.Engine`, with a finger besides the mouse, through Chromium's own protocol."""

from typing import Any

from playwright.sync_api import Page

from benchmarks.site.engines import Engine

STEPS = 12
"""Places that a finger passes on its way; Chromium takes the first few for finding out whether it scrolls."""


class Hands(Engine):
    """A page in Chromium, worked by mouse, keys or finger."""

    name = "Chromium"

    def __init__(self, page: Page, finger: bool = False) -> None:
        self.page = page
        self.finger = finger
        self._wire = page.context.new_cdp_session(page)

    def open(self, address: str) -> None:
        self.page.goto(address, wait_until="load")

    def run(self, script: str) -> Any:
        return self.page.evaluate(script)

    def resize(self, width: int, height: int = 900) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def point(self, *steps: tuple[Any, ...]) -> None:
        if self.finger:
            return self._touch(*steps)
        for step in steps:
            if step[0] == "move":
                self.page.mouse.move(step[1], step[2])
            else:
                getattr(self.page.mouse, step[0])()

    def _touch(self, *steps: tuple[Any, ...]) -> None:
        """The same steps with a finger: it is put down, moved along in small steps, and lifted."""
        at, down = (0.0, 0.0), False
        for step in steps:
            if step[0] == "move" and down:
                for part in range(1, STEPS + 1):
                    x, y = (a + (b - a) * part / STEPS for a, b in zip(at, step[1:], strict=True))
                    self._send("touchMove", [{"x": x, "y": y}])
            if step[0] == "move":
                at = step[1:]
            elif step[0] == "down":
                self._send("touchStart", [{"x": at[0], "y": at[1]}])
                down = True
            else:
                self._send("touchEnd", [])
                down = False

    def _send(self, kind: str, points: list[dict[str, float]]) -> None:
        self._wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def complaints(self) -> list[str]:
        return []

    def close(self) -> None:
        self._wire.detach()
