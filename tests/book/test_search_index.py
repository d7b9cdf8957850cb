"""The search: what it takes from pages, and whether learners' queries find the right section first."""

import gzip
import json
import os
import re
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import page_sections as parts
import plain_formulas as formulas
import pytest
import search_index as search
from built_book import HTML, ROOT, need_book, page_at, pages

SCRIPTS = HTML / "_static" / "search"
SEARCHES = tomllib.loads(Path(__file__).with_name("searches.toml").read_text(encoding="utf-8"))
QUERIES = SEARCHES["short"] | SEARCHES["questions"]
FIRST, OF = 36, 40
"""So many of the learners' queries must have their section first; all have it among the first three."""
LIBRARY_BYTES, SECTIONS_BYTES = 60_000, 450_000
"""Most for the script with the library, and for all text gzipped. Both are loaded when somebody searches."""

RUN = """
import { readFileSync } from "node:fs";
const { Ranking } = await import(process.argv[1]);
(0, eval)(readFileSync(process.argv[2], "utf8"));
const { pages, sections } = globalThis.softlookupSections;
const ranking = await new Ranking(globalThis.softlookupSections).filled();
const told = (section) => `${pages[sections[section][0]][0]}#${sections[section][1]}`;
const first = (query) => ranking.find(query).slice(0, 10).map(({ section }) => told(section));
console.log(JSON.stringify(Object.fromEntries(JSON.parse(readFileSync(0)).map((query) => [query, first(query)]))));
"""
PAGE = r"""
<article class="bd-article"><section id="a-head"><h1>A head<a class="headerlink" href="#a-head">#</a></h1>
<p>The <a href="g.html"><span class="std-term">mask</span></a> is <span class="math">\(\sqrt{d_k}\)</span> wide.</p>
<div class="cell"><div class="cell_input"><pre>code = 1</pre></div>
<div class="cell_output"><table><tr><td>7</td></tr></table><figcaption>A caption.</figcaption></div></div>
<section id="why-scale"><span id="head-scale"></span><h2>Why scale by <span class="math">\(H\)</span>?</h2>
<div class="math">\[\frac{a}{b}\]</div><ul><li><p>one</p></li><li><p>two</p></li></ul></section></section></article>
"""


@pytest.fixture(scope="module")
def record():
    need_book()
    text = (SCRIPTS / "sections.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("globalThis.softlookupSections=").rstrip(";"))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The first ten addresses for each query, from one run in node."""
    need_book()
    script = tmp_path_factory.mktemp("search") / "ranking.mjs"
    modules = ROOT / "book" / "_vendor" / "node_modules"
    script.write_text(search.bundle(ROOT / "book/_search/ranking.js", modules, "--format=esm"), encoding="utf-8")
    queries = [*QUERIES, "atention sink", "the of and", "qqqqzzzz", "residu", "softmax"]
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    command = ["node", "--input-type=module", "-e", RUN, script.as_uri(), str(SCRIPTS / "sections.js")]
    done = subprocess.run(
        command, input=json.dumps(queries), capture_output=True, text=True, env=os.environ | {"PATH": path}
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\(QK^\top / \sqrt{H}\)", "QKᵀ / √H"),
        (r"\[\tfrac{1}{\sqrt{d_k}}\]", "1/√d_k"),
        (r"W_{Q} \in \mathbb{R}^{D \times H}", "W_Q ∈ R^(D × H)"),
        (r"x^{(i)} + e^(", "x^(i) + e^("),
        (r"-\log p_{\text{label}}", "- log p_label"),
        (r"\underbrace{2r}_{\text{square}} \cdot \bar{x}", "2r · x\u0304"),
        (r"\begin{bmatrix} 1 & 0 \end{bmatrix}", ""),
    ],
)
def test_formulas_become_plain_text(tex, expected):
    assert formulas.plain(tex) == expected


def test_a_page_is_cut_into_its_sections_without_code_and_tables_of_cells():
    head, scale = parts.sections(PAGE)
    assert (head.anchor, head.level, head.title) == ("a-head", 1, "A head")
    assert head.text == "The mask is √d_k wide. A caption." and list(head.keys) == ["mask"]
    assert (scale.anchor, scale.level, scale.title, scale.text) == ("head-scale", 2, "Why scale by H?", "a/b one two")
    assert parts.sections("<main>nothing</main>") == []


def test_names_of_one_thing_come_from_the_table_and_from_the_glossary():
    entries = [("cache, KV cache", "Keys."), ("ridge", "Flat. Also called balance."), ("token", "A unit.")]
    groups = search.synonyms([parts.Section("", 2, title, [text]) for title, text in entries])
    assert ["ridge", "ridge point", "machine balance", "balance"] in groups
    assert any({"KV cache", "cache", "key-value cache"} <= set(group) for group in groups)
    assert ["token"] not in groups


@pytest.mark.book
def test_every_section_leads_to_an_anchor_and_quotes_no_tex(record):
    anchors = {path.relative_to(HTML).as_posix(): set(page_at(path).ids) for path in pages()}
    lost = [
        f"{record['pages'][page][0]}#{anchor}"
        for page, anchor, *_ in record["sections"]
        if anchor and anchor not in anchors[record["pages"][page][0]]
    ]
    assert lost == [] and len(record["sections"]) > 1000
    named = re.compile(r"\\(?:frac|sqrt|text|operatorname|mathrm|begin|cdot|top|left)|[_^]\{|\$\$")
    prose = [text for page, *_, text, _ in record["sections"] if record["pages"][page][2] != "reference"]
    assert [text for text in prose if named.search(text)] == []
    assert {name for name in anchors if name.startswith(("book/", "exercises/"))} == {at for at, *_ in record["pages"]}


@pytest.mark.book
def test_learners_queries_find_the_right_section_first(results):
    assert len(QUERIES) >= OF
    places = {query: [*results[query], f"book/{at}".replace("#", ".html#")] for query, at in QUERIES.items()}
    rank = {query: addresses.index(addresses[-1]) + 1 for query, addresses in places.items()}
    late = {query: (rank[query], places[query][0]) for query in QUERIES if rank[query] > 1}
    assert len(QUERIES) - len(late) >= FIRST, late
    assert {query: entry for query, entry in late.items() if entry[0] > 3} == {}


@pytest.mark.book
def test_typos_unfinished_and_empty_queries_are_met(results):
    assert "book/glossary.html#term-attention-sink" in results["atention sink"]
    assert any("residual" in address for address in results["residu"])
    assert results["the of and"] == results["qqqqzzzz"] == []
    kinds = [search.kind_of(address.partition(".html")[0]) for address in results["softmax"]]
    assert kinds[0] == "chapter" and kinds.count("chapter") > kinds.count("exercises")


@pytest.mark.book
def test_search_is_light_and_its_library_brings_its_licence():
    need_book()
    assert (SCRIPTS / "search.js").stat().st_size < LIBRARY_BYTES
    assert len(gzip.compress((SCRIPTS / "sections.js").read_bytes(), 6)) < SECTIONS_BYTES
    assert "Permission is hereby granted" in (SCRIPTS / "minisearch-licence.txt").read_text(encoding="utf-8")
