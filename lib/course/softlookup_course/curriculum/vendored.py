"""What pages load in the browser, copied from what set-up has fetched, so that no page reaches outside."""

import shutil
from pathlib import Path

MODULES = Path("book/_vendor/node_modules")
MATHJAX = Path("mathjax/es5")
MATHJAX_PARTS = ("tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions")


def checkout(start: Path | None = None) -> Path:
    """The course's checkout: the nearest folder upwards, or the library's own; a FileNotFoundError if there is none."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if (folder / "_toc.yml").is_file() and (folder / "book" / "_ext").is_dir():
            return folder
    raise FileNotFoundError(
        f"no checkout of the course above {here}: run this in the folder that holds _toc.yml and book/"
    )


def vendored(package: Path, probe: str, root: Path | None = None) -> Path:
    """Find a package that set-up has fetched; if it is not there, a FileNotFoundError says what to run."""
    folder = (root or checkout()) / MODULES / package
    if not (folder / probe).exists():
        raise FileNotFoundError(f"{folder} has no {probe}: 'make setup' fetches it")
    return folder


def copy_parts(source: Path, parts: tuple[str, ...], target: Path) -> None:
    """Copy files and folders, and leave what is there already with the same size."""
    for part in parts:
        files = [source / part] if (source / part).is_file() else sorted((source / part).rglob("*"))
        for file in files:
            copy = target / file.relative_to(source)
            if file.is_file() and not (copy.exists() and copy.stat().st_size == file.stat().st_size):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)


def copy_mathjax(target: Path, root: Path | None = None) -> None:
    """Put MathJax with its fonts into a folder."""
    copy_parts(vendored(MATHJAX, MATHJAX_PARTS[0], root), MATHJAX_PARTS, target)
