"""A book of two pages about a library of two modules, to see which page runs when."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from built_book import ROOT

PAGE = """\
---
jupytext:
  text_representation: {{extension: .md, format_name: myst}}
kernelspec: {{name: python3, display_name: Python 3}}
---
# {title}

Some words.

```{{code-cell}} python
{code}
```
"""
FILES = ("fresh_cells.py", "forked_kernels.py", "kernel_server.py", "page_needs.py", "kernel_watch.py", "as_shown.py")
CONF = """\
extensions = ["myst_nb", "fresh_cells"]
softlookup_package = "tinylib"
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
html_theme = "basic"
exclude_patterns = ["_build"]
"""
ONE = "import json\nfrom tinylib.one import number\n[number, json.load(open('measured/one.json'))]"
TWO = "from tinylib.two import number\nnumber"


SOMELIB = {
    "lib/somelib/__init__.py": "",
    "lib/somelib/one.py": "number = 1\n",
    "lib/somelib/two.py": "number = 2\n",
}
"""A library of two modules."""


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder, and the folders in which they are."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class SmallBook:
    """The files of the book, its builds, and what each page shows."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("book/_ext/conf.py", CONF)
        for name in FILES:
            shutil.copy(ROOT / "book" / "_ext" / name, root / "book" / "_ext" / name)
        self.write("index.md", "# All\n\n```{toctree}\nbook/first\nbook/second\n```\n")
        self.write("lib/tinylib/__init__.py", "")
        self.write("lib/tinylib/one.py", "number = 11\n")
        self.write("lib/tinylib/two.py", "number = 22\n")
        self.write("book/measured/one.json", "111\n")
        self.page("first", ONE)
        self.page("second", TWO)

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        write_files(self.root, {name: text})

    def page(self, name: str, code: str, title: str = "A page") -> None:
        """Write a page with one cell."""
        self.write(f"book/{name}.md", PAGE.format(title=title, code=code))

    def build(self, *, fails: bool = False, **environment: str) -> list[str]:
        """Build as ``make book`` does; give the pages whose cells ran, as Sphinx's log names them."""
        paths = [str(self.root / "lib"), str(self.root / "book" / "_ext"), environment.pop("front", "")]
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, reversed(paths))),
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        }
        out = self.root / "_build"
        command = [sys.executable, "-m", "sphinx", "-W", "-b", "html", "-c", "book/_ext", "-d", f"{out}/.doctrees"]
        done = subprocess.run(
            [*command, ".", f"{out}/html"], cwd=self.root, env=env, capture_output=True, text=True, timeout=240
        )
        assert bool(done.returncode) is fails, done.stdout[-3000:] + done.stderr[-3000:]
        assert fails or "Executing notebook" not in done.stderr, "myst-nb ran a page that nobody watched"
        lines = [line.split(": ") for line in done.stdout.splitlines() if line.startswith("book/") and " s (" in line]
        return sorted(line[0].removeprefix("book/") for line in lines)

    def shows(self, name: str) -> str:
        """Read what the page's cell gave."""
        text = (self.root / "_build" / "html" / "book" / f"{name}.html").read_text(encoding="utf-8")
        return text.partition('class="cell_output')[2].partition("</pre>")[0].rpartition("</span>")[2] or text
