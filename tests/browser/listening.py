"""Pages that keep their own errors, for a driver that tells of none."""

import os
import shutil
from pathlib import Path

LISTENER = """<script>
  window.softlookupComplaints = [];
  addEventListener('error', (event) => softlookupComplaints.push(event.message
    ? `error: ${event.message}` : `failed: ${event.target.src ?? event.target.href}`), true);
  addEventListener('unhandledrejection', (event) => softlookupComplaints.push(`rejected: ${event.reason}`));
  for (const kind of ['error', 'warn']) {
    const said = console[kind].bind(console);
    console[kind] = (...words) => { softlookupComplaints.push(`console: ${words.join(' ')}`); said(...words); };
  }
</script>"""


def listening(html: Path, copy: Path) -> Path:
    """Put the built book side by side once more, its files linked, each page with a listener before all scripts."""
    shutil.copytree(html, copy, copy_function=os.link if _same_disk(html, copy.parent) else shutil.copy2)
    for page in copy.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.unlink()  # a link: the book itself must not change
        head, tag, rest = text.partition("<head>")
        page.write_text(f"{head}{tag}{LISTENER if tag else ''}{rest}", encoding="utf-8")
    return copy


def _same_disk(first: Path, second: Path) -> bool:
    return first.stat().st_dev == second.stat().st_dev
