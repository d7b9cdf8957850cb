"""A search by section: what stands in each section of the built book, and the script that ranks and shows it.

``_static/search/sections.js`` is a script and not JSON, since a page on the disk may load a script and nothing else.
``_static/search/search.js`` is ``book/_search`` with MiniSearch in it. Neither is loaded before somebody searches.
"""

import json
import os
import re
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from offline import copy, node_modules
from page_sections import Section, sections
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.errors import ExtensionError

PLACE = "search"
"""Folder under ``_static`` of the built book."""

KINDS = {
    "instructors": r"book/(instructors|attacks|before_you_adopt)",
    "reference": r"book/(reference/|coverage|bibliography|mistakes)",
    "exercises": r"exercises/|book/exercises$",
    "glossary": r"book/(glossary|formulas|notation)$",
    "slides": r"book/14_",
    "details": r"book/\d\d_\w+_(more|parts|glance|practice|capstone)$",
    "chapter": r"book/\d\d_",
    "guide": r"",
}
"""The kind of a page by its name, the first that fits. What each weighs stands in ``book/_search/ranking.js``."""

SYNONYMS = """
square root, sqrt, √
square root of H, sqrt H, √H, sqrt d_k, √d_k, sqrt(d_k), square root of d_k, square root of the head width
grouped-query attention, GQA, multi-query attention, MQA, multi-query and grouped-query attention
large, big
multi-head attention, MHA, multihead attention
byte-pair encoding, BPE
structured decoding, constrained decoding, guided decoding, structured output, JSON mode
KV cache, key-value cache, KV caching, cached keys and values
causal mask, look-ahead mask, lookahead mask, autoregressive mask, triangular mask, subsequent mask, causal masking
padding mask, pad mask, attention mask, key padding mask, mask padding
feed-forward network, FFN, feedforward, MLP, multilayer perceptron
layer normalisation, layer norm, LayerNorm
RMSNorm, RMS norm, root mean square norm
pre-LN, pre-norm, prenorm
post-LN, post-norm, postnorm
rotary positions, RoPE, rotary embedding, rotary position embedding, rotary encoding
sinusoids, sinusoidal encoding, sinusoidal position encoding, sinusoidal positional encoding, sine and cosine
position encoding, positional encoding, position embedding, positional embedding
without positions, without position encoding, without positional encoding, no positional encoding
combining two masks, padding and causal masks, causal and padding masks, combined masks
learned positions, learned position embedding, learned positional embedding
head width, d_k, dk, d_head, head dimension
model width, d_model, hidden size, embedding dimension
residual connection, skip connection, shortcut connection
tied weights, weight tying, tied embedding, shared embedding
label smoothing, smoothed labels
warm-up, warmup
dot product, dotproduct
arithmetic intensity, operational intensity
length penalty, length normalisation
ridge, ridge point, machine balance
fully masked row, all masked row
recurrent layer, RNN, recurrent network, recurrent neural network
vision transformer, ViT
top-p, nucleus sampling
top-k, top k sampling
recomputation, gradient checkpointing, activation checkpointing
FlashAttention, flash attention
cross-attention, encoder-decoder attention
number of parameters, how many parameters, parameter count
FLOP, operations
Adam, optimiser, optimizer
memory-bound, bandwidth-bound
supervised fine-tuning, SFT, instruction tuning, instruction fine-tuning
reward model, RLHF, reinforcement learning from human feedback, reward modelling, reward modeling
LoRA, low-rank adaptation, low-rank adapter, PEFT, parameter-efficient fine-tuning
chat template, prompt template, chat format
DPO, direct preference optimisation, direct preference optimization, preference optimisation
GRPO, group relative policy optimisation, group relative policy optimization, RLVR, verifiable rewards
KL divergence, Kullback-Leibler, relative entropy, KL penalty
distillation, knowledge distillation, teacher and student
reward hacking, reward overoptimisation, reward overoptimization, Goodhart
calibration, ECE, expected calibration error
contamination, data leakage, train-test overlap, benchmark leakage
pass@k, pass at k
best-of-n, best of n
bits per byte, BPB
loss mask, label mask, ignore index, completion-only loss
packing, sequence packing, sample packing
mixture of experts, MoE, mixture-of-experts
backward pass, backpropagation, backprop, back-propagation
""".strip()
"""Names of one thing, a line each, beside those that share a definition in the glossary."""


def kind_of(page: str) -> str:
    """The kind of a page, by its name.

    Examples:
        >>> [kind_of(page) for page in ("book/04_one_head", "book/06_positions_more", "book/index")]
        ['chapter', 'details', 'guide']
    """
    return next(kind for kind, names in KINDS.items() if re.match(names, page))


def synonyms(entries: list[Section]) -> list[list[str]]:
    """Names of one thing: the short table, and entries of the glossary under one definition or with another name."""
    groups = [line.split(", ") for line in SYNONYMS.splitlines()]
    for entry in entries:
        also = re.findall(r"[Aa]lso called ([a-z -]+)[.;,]", entry.text)
        names = [re.sub(r" \(.*", "", name) for name in [*entry.title.split(", "), *also]]
        known = next((group for group in groups if {*map(str.lower, group)} & {*map(str.lower, names)}), None)
        if known is None:
            groups.append(names)
        else:
            known += [name for name in names if name.lower() not in map(str.lower, known)]
    return [group for group in groups if len(group) > 1 or " " in group[0] or "-" in group[0]]


def record(out: Path, pages: list[str]) -> dict[str, Any]:
    """What the search knows of some pages of the built book, in the folder ``out``.

    ``pages``, each with address, title and kind; ``sections``, each with the number of its page, anchor, level of its
    heading, title, text, and the words that it defines or links; ``synonyms``.
    """
    index: dict[str, Any] = {"pages": [], "sections": [], "synonyms": []}
    for name in pages:
        built = out / f"{name}.html"
        parts = sections(built.read_text(encoding="utf-8")) if built.exists() else []
        if not parts:
            continue
        number = len(index["pages"])
        index["pages"].append([f"{name}.html", parts[0].title, kind_of(name)])
        index["sections"] += [
            [number, section.anchor, section.level, section.title, section.text, ", ".join(section.keys)]
            for section in parts
        ]
        if name == "book/glossary":
            index["synonyms"] = synonyms(parts[1:])
    return index


def bundle(source: Path, modules: Path, *options: str) -> str:
    """A script with all that it imports, as one; ExtensionError if esbuild finds a mistake in it."""
    command = [str(modules / ".bin" / "esbuild"), "--bundle", "--minify", "--loader:.css=text", str(source), *options]
    # esbuild needs node, which set-up puts beside Python; the packages lie in no folder above the source.
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    environment = os.environ | {"NODE_PATH": str(modules), "PATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise ExtensionError(f"{source} could not be bundled:\n{done.stderr}")
    return done.stdout


START = (
    'addEventListener("focusin",({target})=>{if(window.softlookupSearch||!target.matches(".bd-search input"))return;'
    'window.softlookupSearch=1;const one=document.createElement("script");'
    'one.src=document.documentElement.dataset.content_root+"_static/search/search.js";document.head.append(one)});'
)
"""On every page: the search is loaded as soon as somebody stands in its field."""


def write(app: Sphinx, error: Exception | None) -> None:
    """Write both scripts beside the built pages, and the library's licence."""
    if error is not None or app.builder.name != "html":
        return
    place = Path(app.outdir, "_static", PLACE)
    place.mkdir(parents=True, exist_ok=True)
    index = json.dumps(record(Path(app.outdir), sorted(app.env.found_docs)), ensure_ascii=False, separators=(",", ":"))
    (place / "sections.js").write_text(f"globalThis.softlookupSections={index};", encoding="utf-8")
    modules = node_modules(app)
    script = bundle(Path(__file__).resolve().parents[1] / "_search" / "search.js", modules, "--format=iife")
    (place / "search.js").write_text(script, encoding="utf-8")
    copy(modules / "minisearch/LICENSE.txt", place / "minisearch-licence.txt")


def without_sphinxs(app: Sphinx) -> None:
    """Have Sphinx make no index of its own: the words of all pages, stemmed, which nothing here reads."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        app.builder.search = False


def search_page(app: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
    """The page that shows what was found, which Sphinx makes beside its own index alone."""
    return [("search", {}, "search.html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook into Sphinx."""
    app.add_js_file(None, body=START)
    app.connect("builder-inited", without_sphinxs)
    app.connect("html-collect-pages", search_page)
    app.connect("build-finished", write, priority=950)  # when other extensions have written into the pages
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
