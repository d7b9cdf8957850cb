"""Pack the shipped models for the pages of the book into _build/live: weights with their workers, figures, styles.

Everything is a script or a stylesheet, which a page can load from the disk. Run again, it makes only what has changed.
"""

import argparse
import json
import re
import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

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


def _shown(tokenizer: Any, ids: Any) -> list[str]:
    """Name tokens as the page does."""
    special = {"<s>": "(start)", "</s>": "(end)"}
    tokens = (tokenizer.vocabulary.token(int(token_id)) for token_id in ids)
    return [special.get(token, token) for token in tokens]


def _likeliest(tokenizer: Any, p: Any, count: int, chosen: int | None = None) -> list[list]:
    """Name the likeliest tokens and, behind them, the one that was chosen, with as many digits as the page shows.

    What is not 0 stays so.
    """
    top = p.topk(count).indices.tolist()
    ids = top if chosen is None or chosen in top else [*top, chosen]
    pairs = zip(_shown(tokenizer, ids), p[ids].tolist(), strict=True)
    return [[name, round(share, 4) if share > 0.0005 else float(f"{share:.0e}")] for name, share in pairs]


def _weights(layers: list, causal: bool = False) -> str:
    """Attention weights in hundredths, a character each."""
    rows = (row[: t + 1] if causal else row for layer in layers for head in layer[0] for t, row in enumerate(head))
    return "".join(chr(35 + round(100 * weight)) for row in rows for weight in row.tolist())


def _states(*traces: Any) -> dict[str, Any]:
    """For each token of each trace its vectors in the residual stream: the largest number, and all in 45ths of it."""
    import torch

    rows = torch.cat([torch.stack(trace.states)[:, 0].transpose(0, 1).flatten(0, 1) for trace in traces])
    largest = rows.abs().amax(-1)
    levels = (45 * rows / largest[:, None]).round().int() + 45 + 35
    return {
        "largest": [float(f"{value:.3g}") for value in largest.tolist()],
        "text": "".join(map(chr, levels.flatten().tolist())),
    }


def first() -> str:
    """A greedy translation, its attention weights and its vectors: book/_live/stored.js reads it."""
    import torch

    from softlookup.live import rounded
    from softlookup.looking_inside import logit_lens
    from softlookup.model import Trace, generate, load_translator

    translator = rounded(load_translator())
    model, tokenizer = translator.model, translator.tokenizer
    with torch.no_grad():
        ids = torch.tensor([tokenizer.encode(FIRST, end=True)])
        start = torch.tensor([[model.config.start_id]])
        new = generate(model, start, max_new_tokens=40, end_id=model.config.end_id, state=model.start(ids)).new_ids[0]
        fed = torch.cat((start[0], new[:-1]))
        encoder, decoder = Trace(), Trace()
        model.encode(ids, trace=encoder)
        p = model(ids, fed[None], trace=decoder)[0].softmax(-1)
        lens = [logits[0].softmax(-1) for logits in logit_lens(model, decoder)[1:]]
    names = partial(_shown, tokenizer)
    steps = [
        {
            "fed": a,
            "token": b,
            "candidates": _likeliest(tokenizer, p[t], 8),
            "lens": [_likeliest(tokenizer, each[t], 1)[0] for each in lens],
        }
        for t, (a, b) in enumerate(zip(names(fed), names(new), strict=True))
    ]
    record = {
        "text": FIRST,
        "tokens": names(ids[0]),
        "heads": model.config.n_heads,
        "layers": model.config.n_layers,
        "steps": steps,
        "weights": _weights(encoder.weights) + _weights(decoder.weights, causal=True) + _weights(decoder.cross_weights),
        "states": _states(encoder, decoder),
    }
    return f"globalThis.softlookupFirst={json.dumps(record, ensure_ascii=False)};"


BEGINNING = "ROMEO:\nWhat light is"
"""How the text begins that the writer's page shows before the model is loaded."""


def first_text() -> str:
    """A text that the writer drew, its attention weights and its vectors: book/_live/stored.js reads it."""
    import torch

    from softlookup.live import rounded
    from softlookup.model import Trace, generate, load_writer

    writer = rounded(load_writer())
    model, names = writer.model, partial(_shown, writer.tokenizer)
    prompt, trace = writer.encode(BEGINNING), Trace()
    luck = torch.Generator().manual_seed(11)
    with torch.no_grad():
        ids = generate(
            model, torch.tensor([prompt]), max_new_tokens=24, temperature=0.8, top_p=0.9, generator=luck
        ).ids[0]
        p = model(ids[None, :-1], trace=trace)[0].softmax(-1)
    tokens, begin = names(ids), len(prompt)
    steps = [
        {
            "fed": tokens[t - 1],
            "token": tokens[t],
            "candidates": _likeliest(writer.tokenizer, p[t - 1], 12, int(ids[t])),
        }
        for t in range(begin, len(tokens))
    ]
    record = {
        "text": BEGINNING,
        "tokens": tokens[:begin],
        "heads": model.config.n_heads,
        "layers": model.config.n_layers,
        "steps": steps,
        "weights": _weights(trace.weights, causal=True),
        "states": _states(trace),
    }
    return f"globalThis.softlookupText={json.dumps(record, ensure_ascii=False)};"


def map_parts() -> dict[str, list[dict[str, Any]]]:
    """The parts of each model's map, as chapter 1 names them."""
    from softlookup_course.widgets.machine_parts import PARTS, WRITER_PARTS

    return {"translator": [asdict(part) for part in PARTS], "writer": [asdict(part) for part in WRITER_PARTS]}


def layers_of() -> dict[str, int]:
    """How many layers each shipped model has."""
    shipped = ROOT / "lib" / "library" / "softlookup" / "model" / "published" / "shipped"
    return {
        name: json.loads((shipped / folder / "config.json").read_text("utf-8"))["n_layers"]
        for name, (*_, folder) in MODELS.items()
    }


def sizes() -> dict[str, str]:
    """How much each model's script loads."""
    return {name: f"{(OUT / file).stat().st_size / 1e6:.1f} MB" for name, (file, *_) in MODELS.items()}


def page(name: str) -> str:
    """A script of the figures: what all figures share comes first, and the sizes of the downloads are written in."""
    defined: dict[str, Any] = {"SIZES": sizes()}
    if name in ("whole.js", "whole_writer.js"):
        defined |= {"PARTS": map_parts(), "LAYERS": layers_of()}
    page_script = bundled(name, [f"--define:{key}={json.dumps(value)}" for key, value in defined.items()], SOURCES)
    return f"(() => {{\n{(WIDGETS / 'shared.js').read_text(encoding='utf-8')}\n{page_script}\n}})();"


def first_page(name: str) -> str:
    """A script of the first page's card: of what all figures share, it brings what it uses alone."""
    shared = (WIDGETS / "shared.js").read_text(encoding="utf-8")
    names = re.findall(r"(?m)^(?:const|function) (\w+)", shared)
    with tempfile.TemporaryDirectory(prefix="softlookup-live-") as folder:
        path = Path(folder) / "shared.mjs"
        path.write_text(f"{shared}\nexport {{ {', '.join(names)} }};\n", encoding="utf-8")
        return bundled(name, [f"--define:SIZES={json.dumps(sizes())}", f"--inject:{path}"], SOURCES)


def first_styles() -> str:
    """The card's stylesheet, minified: without the rules for parts that only other figures have."""
    text = bundled("first_sentence.css", sources=SOURCES)
    return re.sub(r"[^{}@]*\.slf-(?!buttons)[^{}]*\{[^{}]*\}", "", text)


def styles() -> str:
    """The figures' stylesheet, behind what all figures share."""
    return "".join(path.read_text(encoding="utf-8") for path in (WIDGETS / "shared.css", SOURCES / "live.css"))


def place_styles() -> str:
    """The styles of the models' own pages, behind those of chapter 1's map."""
    return "".join(
        path.read_text(encoding="utf-8")
        for path in (WIDGETS / "machine_map.css", SOURCES / "place.css", SOURCES / "follow.css")
    )


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
    parts = [WIDGETS / "machine_map.js", WIDGETS / "machine_parts.py"]
    for name in ("page.js", "whole.js", "whole_writer.js"):
        make(
            name,
            key_of(scripts, sources, parts, [OUT / f"{file}.key" for file, *_ in MODELS.values()]),
            partial(page, name),
        )
    looking = [*(library / "looking_inside").glob("*.py")]
    make("first.js", key_of(scripts, [OUT / "weights.js.key"], looking), first)
    make("first_writer.js", key_of(scripts, [OUT / "writer_weights.js.key"]), first_text)
    for name in ("first_sentence.js", "own_sentence.js"):
        make(name, key_of(scripts, sources, [OUT / "weights.js.key"]), partial(first_page, name))
    make("first_sentence.css", key_of(scripts, sources), first_styles)
    make("live.css", key_of(scripts, sources), styles)
    make("place.css", key_of(scripts, sources, [WIDGETS / "machine_map.css"]), place_styles)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
