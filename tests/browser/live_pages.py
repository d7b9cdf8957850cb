"""What the tests of the live figures share: the page's own worker, asked without the page around it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

PATIENCE_MS = 90_000
ASK = """async ([packed, message]) => {
  const send = (sent, record = { steps: [], tree: [] }) => new Promise((done, failed) => {
    globalThis.modelWorker.onmessage = ({ data }) => {
      if (data.read) record.read = data.read;
      if (data.grew) record.tree.push(data.grew);
      if (data.wrote) record.steps.push(data.wrote);
      if (data.failed) failed(new Error(data.failed));
      if ("done" in data) done({ ...record, done: data.done });
    };
    globalThis.modelWorker.postMessage({ number: 1, ...sent });
  });
  if (!globalThis.modelWorker) {
    const { header, text, worker } = globalThis[packed];
    globalThis.modelWorker = new Worker(URL.createObjectURL(new Blob([worker], { type: "text/javascript" })));
    await send({ begin: { header, text } });
  }
  return JSON.parse(JSON.stringify(await send(message), (_, one) => (ArrayBuffer.isView(one) ? [...one] : one)));
}"""


@contextmanager
def worker(chromium: Browser, html: Path, weights: str, packed: str) -> Iterator[Callable[[dict], Any]]:
    """Give what asks the worker that a script of weights brings."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto((html / "book/mistakes.html").as_uri())
    page.add_script_tag(url=f"../_static/live/{weights}.js")
    yield lambda message: page.evaluate(ASK, [packed, message])
    context.close()
