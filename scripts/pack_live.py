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
WIDGETS = ROOT / "lib" / "course" / "softlookup_course" / "widgets"


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


FIRST = "A brown dog carries a yellow ball out of the water."
"""The sentence whose translation the translator's page shows before the model is loaded."""


def first() -> str:
    """A greedy translation and all its attention weights, in hundredths: book/_live/stored.js reads it."""
    import torch

    from softlookup.live import rounded
    from softlookup.looking_inside import logit_lens
    from softlookup.model import Trace, generate, load_translator

    translator = rounded(load_translator())
    model, tokenizer = translator.model, translator.tokenizer
    special = {"<s>": "(start)", "</s>": "(end)"}

    def names(ids: torch.Tensor) -> list[str]:
        tokens = (tokenizer.vocabulary.token(int(token_id)) for token_id in ids)
        return [special.get(token, token) for token in tokens]

    def likeliest(p: torch.Tensor, count: int) -> list[list]:
        top = p.topk(count)
        pairs = zip(names(top.indices), top.values.tolist(), strict=True)
        # As many digits as the page shows; what is not 0 stays so.
        return [[name, round(share, 4) if share > 0.0005 else float(f"{share:.0e}")] for name, share in pairs]

    def text_of(weights: list[torch.Tensor], causal: bool = False) -> str:
        rows = (row[: t + 1] if causal else row for layer in weights for head in layer[0] for t, row in enumerate(head))
        return "".join(chr(35 + round(100 * weight)) for row in rows for weight in row.tolist())

    with torch.no_grad():
        ids = torch.tensor([tokenizer.encode(FIRST, end=True)])
        start = torch.tensor([[model.config.start_id]])
        new = generate(model, start, max_new_tokens=40, end_id=model.config.end_id, state=model.start(ids)).new_ids[0]
        fed = torch.cat((start[0], new[:-1]))
        encoder, decoder = Trace(), Trace()
        model.encode(ids, trace=encoder)
        p = model(ids, fed[None], trace=decoder)[0].softmax(-1)
        lens = [logits[0].softmax(-1) for logits in logit_lens(model, decoder)[1:]]
    steps = [
        {"fed": a, "token": b, "candidates": likeliest(p[t], 8), "lens": [likeliest(each[t], 1)[0] for each in lens]}
        for t, (a, b) in enumerate(zip(names(fed), names(new), strict=True))
    ]
    weights = text_of(encoder.weights) + text_of(decoder.weights, causal=True) + text_of(decoder.cross_weights)
    record = {"text": FIRST, "tokens": names(ids[0]), "heads": model.config.n_heads, "layers": model.config.n_layers}
    return (
        f"globalThis.softlookupFirst={json.dumps(record | {'steps': steps, 'weights': weights}, ensure_ascii=False)};"
    )


def page(name: str) -> str:
    """A script of the figures: what all figures share comes first, and the sizes of the downloads are written in."""
    sizes = {name: f"{(OUT / file).stat().st_size / 1e6:.1f} MB" for name, (file, *_) in MODELS.items()}
    page_script = bundled(name, [f"--define:SIZES={json.dumps(sizes)}"], SOURCES)
    return f"(() => {{\n{(WIDGETS / 'shared.js').read_text(encoding='utf-8')}\n{page_script}\n}})();"


def styles() -> str:
    """The figures' stylesheet, behind what all figures share."""
    return "".join(path.read_text(encoding="utf-8") for path in (WIDGETS / "shared.css", SOURCES / "live.css"))


def main(argv: list[str] | None = None) -> int:
    """Pack what has changed."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args(argv)
    OUT.mkdir(parents=True, exist_ok=True)
    library = ROOT / "lib" / "library" / "softlookup"
    scripts = [ROOT / "scripts" / name for name in ("pack_python.py", "pack_live.py")]
    sources = [*SOURCES.glob("*"), *(ROOT / "book" / "_python").glob("*.js"), *WIDGETS.glob("shared.*")]
    make = partial(made, out=OUT)
    for name, (file, _, _, folder) in MODELS.items():
        shipped = [*(library / "model" / "published" / "shipped" / folder).glob("*"), *(library / "live").glob("*.py")]
        make(file, key_of(scripts, sources, [WIDGETS / "tokenizer.js"], shipped), partial(weights, name))
    for name in ("page.js", "whole.js"):
        make(name, key_of(scripts, sources, [OUT / f"{file}.key" for file, *_ in MODELS.values()]), partial(page, name))
    make("first.js", key_of(scripts, [OUT / "weights.js.key"], [*(library / "looking_inside").glob("*.py")]), first)
    make("open.js", key_of(scripts, sources), lambda: bundled("open.js", sources=SOURCES))
    make("live.css", key_of(scripts, sources), styles)
    make("place.css", key_of(scripts, sources), partial((SOURCES / "place.css").read_text, "utf-8"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
