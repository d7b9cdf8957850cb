"""How smoothly an interactive figure follows the mouse, against a page with nothing on it in the same browser."""

from dataclasses import dataclass
from statistics import median
from typing import Any

from softlookup_course.browser import VIEW, opened, settle

MOVES = 90
"""Movements of the mouse in one drag: a second and a half at sixty frames a second."""

EMPTY = "<!doctype html><title>nothing</title><main style='height:800px'>nothing</main>"

RECORD = """() => {
  window.stamps = [];
  window.recording = true;
  const step = (now) => { window.stamps.push(now); if (window.recording) requestAnimationFrame(step); };
  requestAnimationFrame(step);
}"""
STOP = "() => { window.recording = false; return window.stamps; }"

# What can be dragged in a figure, or else the figure itself, with what the mouse has to do: along it, or over it.
GRIP = """(figure) => {
  const sliders = [...figure.querySelectorAll("input[type=range], [role=slider]")]
    .filter((one) => one.checkVisibility());
  const grip = sliders.find((one) => one.closest("svg")) ?? sliders[0] ?? figure;
  grip.scrollIntoView({ block: "center" });
  const box = grip.getBoundingClientRect();
  const middle = [box.x + box.width / 2, box.y + box.height / 2];
  if (grip.matches("input")) return { how: "slider", from: [box.x + 8, middle[1]], to: [box.right - 8, middle[1]] };
  if (grip !== figure) return { how: "handle", from: middle, to: [middle[0] + 60, middle[1] + 40] };
  const [top, low] = [Math.max(box.y, 8), Math.min(box.bottom, innerHeight - 8)];
  return { how: "pointer", from: [box.x + 8, top + 8], to: [box.right - 8, low - 8] };
}"""


@dataclass(frozen=True)
class FrameTimes:
    """Time from frame to frame in a drag, and for how long of each the page was busy."""

    median_ms: float
    worst_ms: float
    frames_per_s: float
    busy_ms_per_frame: float
    frames: int


@dataclass(frozen=True)
class FigureFrames:
    """The same in a figure, with how the mouse was used."""

    how: str
    median_ms: float
    worst_ms: float
    frames_per_s: float
    busy_ms_per_frame: float
    frames: int


def frames_of(page: Any, start: list[float], end: list[float], press: bool) -> FrameTimes:
    """Drag from one place to another, in CSS pixels, and back, and look at the frames meanwhile.

    The page is Playwright's, with what is dragged in its window; ``press`` says that the mouse's button is held. It
    gives the median and the worst time from frame to frame in milliseconds, frames a second at the median, and for how
    many milliseconds of each frame the page was busy.
    """
    console = page.context.new_cdp_session(page)
    console.send("Performance.enable")

    def busy_s() -> float:
        described = {metric["name"]: metric["value"] for metric in console.send("Performance.getMetrics")["metrics"]}
        return float(described["TaskDuration"])

    page.mouse.move(*start)
    if press:
        page.mouse.down()
    page.evaluate(RECORD)
    before = busy_s()
    for turn in range(MOVES):
        share = 1 - abs(2 * turn / (MOVES - 1) - 1)
        page.mouse.move(*(a + share * (b - a) for a, b in zip(start, end, strict=True)))
    stamps = page.evaluate(STOP)
    busy = busy_s() - before
    if press:
        page.mouse.up()
    console.detach()
    steps = [b - a for a, b in zip(stamps, stamps[1:], strict=False)]
    middle = median(steps)
    return FrameTimes(
        median_ms=round(middle, 2),
        worst_ms=round(max(steps), 2),
        frames_per_s=round(1000 / middle, 1),
        busy_ms_per_frame=round(1000 * busy / len(steps), 2),
        frames=len(steps),
    )


def frames_of_empty_page(browser: Any) -> FrameTimes:
    """Drag over a page that does nothing: as many frames as this browser has on this machine, now."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        page.set_content(EMPTY)
        return frames_of(page, [200, 200], [800, 500], press=True)
    finally:
        page.close()


def frames_of_figures(browser: Any, address: str, names: list[str]) -> dict[str, FigureFrames]:
    """Drag in every interactive figure of these pages: frames by page and the figure's own name."""
    by_figure: dict[str, FigureFrames] = {}
    for name in names:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        try:
            opened(page, address + name)
            if not page.locator(VIEW).count():
                continue
            settle(page)
            for figure in page.locator(".widget-area > .slf, .widget-area .slf").all():
                described = figure.get_attribute("aria-label") or str(figure.get_attribute("class"))
                grip = figure.evaluate(GRIP)
                measured = frames_of(page, grip["from"], grip["to"], press=grip["how"] != "pointer")
                by_figure[f"{name}: {described}"] = FigureFrames(grip["how"], **vars(measured))
        finally:
            page.close()
    return by_figure
