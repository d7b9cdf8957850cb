"""Pack the shipped translator for the pages of the book into _build/live: weights with their worker, figure, styles.

Everything is a script or a stylesheet, which a page can load from the disk. Run again, it makes only what has changed.
"""

import argparse
import json
from functools import partial
from pathlib import Path

from pack_python import bundled, key_of, made

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "_build" / "live"
SOURCES = ROOT / "book" / "_live"
WIDGETS = ROOT / "lib" / "softlookup" / "widgets"


def weights() -> str:
    """The weights, what describes them, and the worker that computes with them."""
    from softlookup.live import as_text, pack
    from softlookup.model import load_translator

    header, data = pack(load_translator())
    record = json.dumps({"header": header, "worker": bundled("worker.js", sources=SOURCES)}, ensure_ascii=False)
    return f'globalThis.softlookupTranslator={record};globalThis.softlookupTranslator.text="{as_text(data)}";'


def page() -> str:
    """The figure's script: what all figures share comes first, and the size of the download is written in."""
    size = (OUT / "weights.js").stat().st_size / 1e6
    own = bundled("page.js", [f'--define:SIZE="{size:.1f} MB"'], SOURCES)
    return f"(() => {{\n{(WIDGETS / 'shared.js').read_text(encoding='utf-8')}\n{own}\n}})();"


def styles() -> str:
    """The figure's stylesheet, behind what all figures share."""
    return "".join(path.read_text(encoding="utf-8") for path in (WIDGETS / "shared.css", SOURCES / "live.css"))


def main(argv: list[str] | None = None) -> int:
    """Pack what has changed."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args(argv)
    OUT.mkdir(parents=True, exist_ok=True)
    library = ROOT / "lib" / "softlookup"
    scripts = [ROOT / "scripts" / name for name in ("pack_python.py", "pack_live.py")]
    sources = [*SOURCES.glob("*"), *(ROOT / "book" / "_python").glob("*.js"), *WIDGETS.glob("shared.*")]
    shipped = [*(library / "model" / "shipped" / "english_french").glob("*"), *(library / "live").glob("*.py")]
    make = partial(made, out=OUT)
    make("weights.js", key_of(scripts, sources, [WIDGETS / "tokenizer.js"], shipped), weights)
    make("page.js", key_of(scripts, sources, [OUT / "weights.js.key"]), page)
    make("live.css", key_of(scripts, sources), styles)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
