"""How long a reader waits for Python in the page: the first verdict, the next page's, and those after."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from softlookup.bench.site.browser import opened, settle

PAGE = "exercises/04_one_head/04_one_head.html"
ANSWERS = {
    "04.project": ("x @ w_q, x @ w_k, x @ w_v", "x @ w_k, x @ w_q, x @ w_v"),
    "04.scores": ("q @ np.swapaxes(k, -1, -2)", "k @ np.swapaxes(q, -1, -2)"),
    "04.scale": ("scores / np.sqrt(head_width)", "scores / head_width"),
    "04.mix": ("weights @ v", "np.swapaxes(weights, -1, -2) @ v"),
}
"""Tasks with the body of a right answer and of a wrong one, in numpy."""

PUT = """([id, body]) => {
  const cell = document.querySelector(`section:has(> span#exercise-${id.replace(".", "-")}) .tag_answer-cell pre`);
  const source = `${cell.textContent.match(/^def .*:$/m)[0]}\\n    return ${body}\\n`;
  const kept = JSON.parse(localStorage.getItem("softlookup-in-page") ?? "{}");
  localStorage.setItem("softlookup-in-page", JSON.stringify({ ...kept, [id]: { source, verdict: "unchecked" } }));
}"""
CHECK = """async (box) => {
  const button = box.querySelector(".slp-check");
  const begun = performance.now();
  button.click();
  while (button.getAttribute("aria-disabled") === "true") await new Promise((done) => setTimeout(done, 2));
  return [performance.now() - begun, box.querySelector(".slp-out").innerText];
}"""


def _verdict(page: Any, task: str, body: str, word: str) -> float:
    """Check an answer, and give the seconds that it took from the press of the button."""
    section = page.locator(f"section:has(> span#exercise-{task.replace('.', '-')})")
    page.evaluate(PUT, [task, body])
    section.locator(".slp-open").click()
    box = section.locator(".slp-box")
    box.locator(".cm-content").wait_for()
    took_ms, said = box.evaluate(CHECK)
    if word not in said:
        raise RuntimeError(f"{task} in the page says {said[:200]!r}, where {word!r} is wanted")
    return float(took_ms) / 1000


def _verdicts(page: Any, rounds: int) -> Iterator[float]:
    """Verdicts on right and wrong answers in turn, in seconds; editors are opened before the time is taken."""
    for _ in range(rounds):
        for which, word in ((0, "Right"), (1, "Not yet")):
            opened(page, page.url)  # its Python is started again
            settle(page)
            for task, bodies in ANSWERS.items():
                yield _verdict(page, task, bodies[which], word)


def wait_for_verdicts(browser: Any, addresses: dict[str, str], html: Path, *, rounds: int = 3) -> dict[str, Any]:
    """Do tasks in a page, from the disk and from a server, and take the time.

    Args:
        browser: Playwright's.
        addresses: The book's address, by a name for each way to open it.
        html: The built book.
        rounds: How often all answers are checked.

    Returns:
        Sizes of what a press loads, and for each way in seconds: ``first`` verdict in a browser that has kept nothing,
        the first one in a ``next_page`` of the same browser, and median and 95th percentile of those ``after`` it.
    """
    packed = html / "_static" / "python"
    loaded = ("editor.js", "notebook_4.js", "engine.js", "tasks_4.js")
    record: dict[str, Any] = {"bytes_after_press": {name: (packed / name).stat().st_size for name in loaded}}
    for way, address in addresses.items():
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        try:
            page = opened(context.new_page(), address + PAGE)
            settle(page)
            task, (right, _) = next(iter(ANSWERS.items()))
            first = _verdict(page, task, right, "Right")
            taken = list(_verdicts(page, rounds))
        finally:
            context.close()
        starts, after = taken[:: len(ANSWERS)], [s for n, s in enumerate(taken) if n % len(ANSWERS)]
        record[way] = {
            "first": round(first, 2),
            "next_page": round(median(starts), 2),
            "after": {"median": round(median(after), 3), "p95": round(quantiles(after, n=20)[-1], 3)},
            "count": len(after),
        }
    return record
