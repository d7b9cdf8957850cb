"""How long a reader waits for Python in the page, and what it weighs: in each browser that is here."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from benchmarks.site.engines import Engine, Firefox, NoEngine, WebKit
from softlookup_course.browser import SETTLED, opened

PAGE = "exercises/04_one_head/04_one_head.html"
ANSWERS = {
    "04.project": ("x @ w_q, x @ w_k, x @ w_v", "x @ w_k, x @ w_q, x @ w_v"),
    "04.scores": ("q @ np.swapaxes(k, -1, -2)", "k @ np.swapaxes(q, -1, -2)"),
    "04.scale": ("scores / np.sqrt(head_width)", "scores / head_width"),
    "04.mix": ("weights @ v", "np.swapaxes(weights, -1, -2) @ v"),
}
"""Tasks with the body of a right answer and of a wrong one, in numpy."""

FORGET = "() => { localStorage.clear(); return true; }"
CHECK = """async () => {
  const [id, body] = %s;
  const section = document.querySelector(`section:has(> span#exercise-${id.replace(".", "-")})`);
  const found = async (css) => {
    for (;;) {
      const one = section.querySelector(css);
      if (one) return one;
      await new Promise((done) => setTimeout(done, 2));
    }
  };
  const head = section.querySelector(".tag_answer-cell pre").textContent.match(/^def .*:$/m)[0];
  const { read, write } = globalThis.softlookupKept;
  write("in-page", { ...read("in-page"), [id]: { source: `${head}\\n    return ${body}\\n`, verdict: "unchecked" } });
  section.querySelector(".slp-open").click();
  await found(".slp-box .cm-content");
  const begun = performance.now();
  section.querySelector(".slp-check").click();
  await found(".slp-check[aria-disabled='false']");
  return [performance.now() - begun, section.querySelector(".slp-out").innerText];
}"""
"""Opens a task's editor with an answer, and takes the time from the press of *Check* to the verdict."""


class Window(Protocol):
    """A window of a browser."""

    def open(self, address: str) -> None:
        """Open an address and wait for its load event."""

    def run(self, script: str) -> Any:
        """Run a function in the page, wait for what it promises, and give it as plain Python."""


class Chromium:
    """A window of Playwright's Chromium that has kept nothing."""

    def __init__(self, context: Any) -> None:
        self._page = context.new_page()

    def open(self, address: str) -> None:
        """Open an address and wait for its load event."""
        opened(self._page, address)

    def run(self, script: str) -> Any:
        """Run a function in the page."""
        return self._page.evaluate(script)


@dataclass(frozen=True)
class LaterVerdicts:
    """Seconds until a verdict where Python has started already."""

    median: float
    p95: float


@dataclass(frozen=True)
class VerdictWaits:
    """Seconds until the first verdict of a browser that has kept nothing, the first on a next page, and later ones."""

    first: float
    next_page: float
    after: LaterVerdicts
    count: int


@dataclass(frozen=True)
class ChromiumWaits:
    """Bytes that a press loads, waits by way to open the book, and what Chromium's memory grows by."""

    bytes_after_press: dict[str, int]
    chromium: dict[str, VerdictWaits]
    chromium_memory_growth_mb: int


@dataclass(frozen=True)
class AllWaits(ChromiumWaits):
    """With the other browsers: waits by way, or why one was left out."""

    firefox: dict[str, VerdictWaits] | str
    webkit: dict[str, VerdictWaits] | str


def _visit(window: Window, address: str) -> None:
    window.open(address)
    window.run(SETTLED)


def _verdict(window: Window, task: str, body: str, word: str) -> float:
    """Check an answer, and give the seconds that it took from the press of the button."""
    took_ms, output = window.run(CHECK % json.dumps([task, body]))
    if word not in output:
        raise RuntimeError(f"{task} in the page says {output[:200]!r}, where {word!r} is wanted")
    return float(took_ms) / 1000


def _verdicts(window: Window, address: str, rounds: int) -> Iterator[float]:
    """Verdicts on right and wrong answers in turn, in seconds; editors are opened before the time is taken."""
    for _ in range(rounds):
        for which, word in ((0, "Right"), (1, "Not yet")):
            _visit(window, address)  # its Python is started again
            for task, bodies in ANSWERS.items():
                yield _verdict(window, task, bodies[which], word)


def _waits(window: Window, address: str, rounds: int) -> VerdictWaits:
    _visit(window, address)
    window.run(FORGET)
    task, (right, _) = next(iter(ANSWERS.items()))
    first = _verdict(window, task, right, "Right")
    taken = list(_verdicts(window, address, rounds))
    starts, after = taken[:: len(ANSWERS)], [s for n, s in enumerate(taken) if n % len(ANSWERS)]
    later = LaterVerdicts(round(median(after), 3), round(quantiles(after, n=20)[-1], 3))
    return VerdictWaits(round(first, 2), round(median(starts), 2), later, len(after))


def memory_mb(root: int) -> float:
    """Memory of a process and all that it started, in units of 10^6 bytes; what several share counts once.

    ``root`` is the process's number.

    Source:
        https://docs.kernel.org/filesystems/proc.html (``smaps_rollup``: Pss).
    """
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    family, more = {root}, {root}
    while more:
        more = {child for child, parent in parents.items() if parent in more} - family
        family |= more
    return sum(_pss_kib(process) for process in family) * 1024 / 1e6


def _parent(entry: Path) -> int:
    """The number of a process's parent; 0 if the process has ended."""
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _pss_kib(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def wait_for_verdicts(
    browser: Any, addresses: dict[str, str], root: Path, *, rounds: int = 3, others: bool = False
) -> ChromiumWaits:
    """Do tasks in a page, from the disk and from a server, and take the time.

    The browser is Playwright's Chromium; the book's addresses are by a name for each way to open it, and ``root`` is
    the checkout, with the book built in ``_build/html``. All answers are checked ``rounds`` times. With ``others``
    Firefox and WebKitGTK are asked, too, and it gives ``AllWaits``; one that is not here is left out, with the reason.
    Memory grows from the page before the press to the last verdict.
    """
    packed = root / "_build" / "html" / "_static" / "python"
    loaded = {name: [packed / name] for name in ("editor.js", "notebook_4.js", "tasks_4.js")}
    loaded["engine.js"] = list(packed.glob("engine*.js"))  # with the scripts that hold its files
    chromium, grown = {}, []
    for way, address in addresses.items():
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        try:
            window = Chromium(context)
            _visit(window, address + PAGE)
            before = memory_mb(os.getpid())
            chromium[way] = _waits(window, address + PAGE, rounds)
            grown.append(round(memory_mb(os.getpid()) - before))
        finally:
            context.close()
    waits = ChromiumWaits(
        {name: sum(path.stat().st_size for path in paths) for name, paths in loaded.items()}, chromium, max(grown)
    )
    if not others:
        return waits
    elsewhere = _elsewhere(addresses, root)
    return AllWaits(**vars(waits), firefox=elsewhere["firefox"], webkit=elsewhere["webkit"])


def _elsewhere(addresses: dict[str, str], root: Path) -> dict[str, dict[str, VerdictWaits] | str]:
    """The same in the other browsers, once."""
    by_browser: dict[str, dict[str, VerdictWaits] | str] = {}
    with TemporaryDirectory(prefix="softlookup-webkit-") as folder:
        for name, start in {"firefox": lambda: Firefox(root), "webkit": lambda: WebKit(Path(folder))}.items():
            try:
                engine: Engine = start()
            except NoEngine as missing:
                by_browser[name] = str(missing)
                continue
            try:
                by_browser[name] = {way: _waits(engine, address + PAGE, 1) for way, address in addresses.items()}
            finally:
                engine.close()
    return by_browser
