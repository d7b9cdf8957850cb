"""Pack the shipped models for the pages of the book into _build/live: weights with their workers, figures, styles.

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


MODELS = {
    "translator": ("weights.js", "worker.js", "softlookupTranslator", "english_french"),
    "writer": ("writer_weights.js", "writer_worker.js", "softlookupWriter", "shakespeare"),
}
"""Of each model: its script, the source of its worker, the global that the script sets, and the folder it ships in."""


def weights(name: str) -> str:
    """A model's weights, what describes them, and the worker that computes with them."""
    from softlookup.live import as_text, pack
    from softlookup.model import load_translator, load_writer

    _, worker, variable, _ = MODELS[name]
    header, data = pack(load_translator() if name == "translator" else load_writer())
    record = json.dumps({"header": header, "worker": bundled(worker, sources=SOURCES)}, ensure_ascii=False)
    return f'globalThis.{variable}={record};globalThis.{variable}.text="{as_text(data)}";'


def page() -> str:
    """The figures' script: what all figures share comes first, and the sizes of the downloads are written in."""
    sizes = {name: f"{(OUT / file).stat().st_size / 1e6:.1f} MB" for name, (file, *_) in MODELS.items()}
    page_script = bundled("page.js", [f"--define:SIZES={json.dumps(sizes)}"], SOURCES)
    return f"(() => {{\n{(WIDGETS / 'shared.js').read_text(encoding='utf-8')}\n{page_script}\n}})();"


def styles() -> str:
    """The figures' stylesheet, behind what all figures share."""
    return "".join(path.read_text(encoding="utf-8") for path in (WIDGETS / "shared.css", SOURCES / "live.css"))


def main(argv: list[str] | None = None) -> int:
    """Pack what has changed."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args(argv)
    OUT.mkdir(parents=True, exist_ok=True)
    library = ROOT / "lib" / "softlookup"
    scripts = [ROOT / "scripts" / name for name in ("pack_python.py", "pack_live.py")]
    sources = [*SOURCES.glob("*"), *(ROOT / "book" / "_python").glob("*.js"), *WIDGETS.glob("shared.*")]
    make = partial(made, out=OUT)
    for name, (file, _, _, folder) in MODELS.items():
        shipped = [*(library / "model" / "shipped" / folder).glob("*"), *(library / "live").glob("*.py")]
        make(file, key_of(scripts, sources, [WIDGETS / "tokenizer.js"], shipped), partial(weights, name))
    make("page.js", key_of(scripts, sources, [OUT / f"{file}.key" for file, *_ in MODELS.values()]), page)
    make("open.js", key_of(scripts, sources), lambda: bundled("open.js", sources=SOURCES))
    make("live.css", key_of(scripts, sources), styles)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
