"""The items as a page shows them: a list that can be narrowed by lecture, chapter and verdict, in plain HTML."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from softlookup_course.slide_audit.item import VERDICTS, Found, Item

_STYLE = """<style>
.slf-audit button{font:inherit;font-size:.9em;color:inherit;background:var(--pst-color-background);border:1px solid
var(--pst-color-text-muted);border-radius:1em;padding:.2em .8em;min-width:2.2em;min-height:2em;max-width:100%}
.slf-audit button[aria-pressed=true]{color:var(--pst-color-background);background:var(--pst-color-text-base);
border-color:var(--pst-color-text-base)}
.slf-audit .every{margin:.3em 0 .9em}
.slf-audit .narrow{margin:1em 0}
.slf-audit .narrow[hidden]{display:none}
.slf-audit .pick{display:flex;flex-wrap:wrap;align-items:center;gap:.4em;margin:.5em 0}
.slf-audit .pick span{min-width:4.5em;font-weight:600}
.slf-audit .whole>summary{font-weight:600}
.slf-audit article{border-top:1px solid var(--pst-color-border);scroll-margin-top:5em}
.slf-audit article details[open]{padding-bottom:.8em}
.slf-audit summary{padding:.5em 0;cursor:pointer}
.slf-audit article h3{display:inline;margin:0;font-size:1.05rem}
.slf-audit .verdict{display:inline-block;border:1px solid currentColor;border-radius:3px;padding:0 .4em;font-size:.85em}
.slf-audit .verdict.wrong,.slf-audit .verdict.inconsistent{color:var(--book-key)}
.slf-audit .verdict.correct{color:var(--book-value)}
.slf-audit .tables{display:flex;flex-wrap:wrap;gap:1.2em;overflow-x:auto}
.slf-audit table{width:auto;font-size:.85em;font-variant-numeric:tabular-nums;border-collapse:separate;
border-spacing:2px}
.slf-audit td{padding:.1em .45em;text-align:right;border:2px solid transparent}
.slf-audit td.off{border-color:var(--book-key);font-weight:600}
.slf-audit p{margin:.25em 0}
</style>"""

_SCRIPT = """<script>
document.querySelectorAll(".slf-audit").forEach((list) => {
  const picks = [...list.querySelectorAll(".pick")], all = [...list.querySelectorAll("article")];
  const told = list.querySelector("[role=status]"), every = list.querySelector(".every");
  const chips = (pick) => [...pick.querySelectorAll("button")];
  const press = (pick, chip) => chips(pick).forEach((one) => one.setAttribute("aria-pressed", String(one === chip)));
  const pressed = (pick) => chips(pick).find((one) => one.getAttribute("aria-pressed") === "true").dataset.value;
  let section = new URLSearchParams(location.search).get("section");
  if (!all.some((one) => one.dataset.section === section)) section = "";
  const opening = "wrong";
  const choose = (value) => {
    const chip = chips(picks[0]).find((one) => one.dataset.value === value);
    if (chip) press(picks[0], chip);
  };
  const narrow = () => {
    let shown = 0;
    for (const one of all) {
      one.hidden = picks.some((pick) => pressed(pick) && one.dataset[pick.dataset.pick] !== pressed(pick))
        || Boolean(section && one.dataset.section !== section);
      shown += !one.hidden;
    }
    told.textContent = `${shown} of ${all.length} statements` + (section ? ", those of one section" : "");
    every.hidden = !section;
  };
  const widen = () => {
    section = "";
    narrow();
  };
  const arrive = () => {
    if (section || location.hash === "#slides-all") list.querySelector(".whole").open = true;
    const wanted = document.getElementById(location.hash.slice(1));
    if (!all.includes(wanted)) return;
    for (const pick of picks) press(pick, chips(pick)[0]);
    widen();
    list.querySelector(".whole").open = true;
    wanted.querySelector("details").open = true;
    wanted.scrollIntoView();
  };
  for (const pick of picks) {
    for (const chip of chips(pick)) {
      chip.addEventListener("click", () => {
        press(pick, chip);
        widen();
      });
    }
  }
  list.querySelector(".narrow").hidden = false;
  every.addEventListener("click", widen);
  addEventListener("hashchange", arrive);
  if (!section) choose(opening);
  narrow();
  arrive();
});
</script>"""


def chapter_of(item: Item) -> str:
    """The number of the chapter whose section explains an item, "04"."""
    return item.section[:2]


def by_lecture(items: Sequence[Item]) -> list[Item]:
    """The items in the order of their lectures, as a page lists them."""
    return sorted(items, key=lambda item: item.lecture)


def as_html(
    items: Sequence[Item], titles: dict[str, str], results: Mapping[str, Found], headings: Mapping[str, str]
) -> str:
    """All items as one folded list, lecture by lecture, with chips that narrow it; without its script it shows all."""
    verdicts = Counter(item.verdict for item in items)
    chapters = sorted({chapter_of(item) for item in items})
    picks = [
        _pick("verdict", "Verdict", [(key, f"{VERDICTS[key]} ({verdicts[key]})") for key in VERDICTS if verdicts[key]]),
        _pick("lecture", "Lecture", [(key, key) for key in sorted({item.lecture for item in items})]),
        _pick("chapter", "Chapter", [(key, str(int(key))) for key in chapters]),
    ]
    head = f'<div class="narrow" hidden>{"".join(picks)}</div><p role="status">{len(items)} statements</p>'
    head += '<button type="button" class="every" hidden>Show all</button>'
    articles = "".join(_article(item, titles, results[item.id], headings[item.section]) for item in by_lecture(items))
    whole = (
        f'<details class="whole"><summary>Open the list of {len(items)} statements</summary>{head}{articles}</details>'
    )
    return f'{_STYLE}<div class="slf-audit">{whole}</div>{_SCRIPT}'


def headings_of(items: Sequence[Item], book: Path) -> dict[str, str]:
    """The heading of each section that explains an item, from the book's pages; a LookupError for a missing label."""
    pages: dict[str, dict[str, str]] = {}
    headings: dict[str, str] = {}
    for where in sorted({item.section for item in items}):
        page, label = where.split("#")
        if page not in pages:
            pages[page] = _labelled((book / f"{page}.md").read_text(encoding="utf-8"))
        if label not in pages[page]:
            raise LookupError(f"{page}.md has no label {label}")
        headings[where] = pages[page][label]
    return headings


def _labelled(text: str) -> dict[str, str]:
    """The heading that each label of a page belongs to."""
    headings: dict[str, str] = {}
    waiting: list[str] = []
    heading = fence = ""
    for line in text.splitlines():
        mark = re.match(r" *(`{3,}|~{3,}|:{3,})", line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        elif fence or not line.strip():
            continue
        elif label := re.fullmatch(r"\(([a-z0-9-]+)\)= *", line):
            waiting.append(label[1])
        else:
            if title := re.match(r"#{1,6} +(.+?) *$", line):
                heading = _plain(title[1])
            headings |= dict.fromkeys(waiting, heading)
            waiting = []
    return headings


def _plain(heading: str) -> str:
    """A heading without markup: roles and links as their words, small formulas as signs."""
    heading = re.sub(r"\{[a-z:]+\}`([^`<]*?)(?: *<[^`]*>)?`", r"\1", heading)
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    for formula, sign in ((r"\\times\b", "×"), (r"\\cdot\b", "·"), (r"\\sqrt\{?(\w+)\}?", r"√\1"), (r"[$`*]", "")):
        heading = re.sub(formula, sign, heading)
    return heading


def sections(items: Sequence[Item]) -> dict[str, dict[str, int]]:
    """How many items each section explains, by page, "04_one_head", and label, "one-head-project"."""
    counts_by_page: dict[str, dict[str, int]] = {}
    for item in items:
        page, label = item.section.split("#")
        counts = counts_by_page.setdefault(page, {})
        counts[label] = counts.get(label, 0) + 1
    return counts_by_page


def _pick(name: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    chips = "".join(
        f'<button type="button" aria-pressed="{str(not key).lower()}" data-value="{key}">{escape(text)}</button>'
        for key, text in (("", "all"), *options)
    )
    return f'<div class="pick" role="group" aria-label="{label}" data-pick="{name}"><span>{label}</span>{chips}</div>'


def _article(item: Item, titles: dict[str, str], result: Found, heading: str) -> str:
    page, anchor = item.section.split("#")
    badge = f'<span class="verdict {item.verdict}">{VERDICTS[item.verdict]}</span>'
    lines = [
        f"<p>{escape(titles[item.lecture])}. <em>Stated:</em> {escape(item.states)}</p>",
        f"<p><em>Computed:</em> {escape(result.truth)}</p>"
        if item.kind != "cited"
        else f"<p><em>Published:</em> {escape(result.truth)}</p>",
        _tables(result),
    ]
    remarks = {"How to tell": item.tell, "What probably happened": item.cause, "Another audit": item.audit}
    for label, text in remarks.items():
        if text:
            lines.append(f"<p><em>{label}:</em> {escape(text)}</p>")
    if item.kind == "damage":
        lines.append("<p>The slide's text may have been damaged when it was extracted: not counted above.</p>")
    if item.kind == "writing":
        lines.append("<p>A slip of writing: not counted above.</p>")
    chapter = int(chapter_of(item))
    lines.append(
        f'<p><em>Explained in chapter {chapter}:</em> <a href="{page}.html#{anchor}">{escape(heading)}</a></p>'
    )
    if item.source:
        sources = ", ".join(f'<a href="bibliography.html">{key}</a>' for key in item.source)
        lines.append(f"<p><em>Sources:</em> {sources}</p>")
    data = f'data-lecture="{item.lecture}" data-chapter="{chapter_of(item)}" data-verdict="{item.verdict}"'
    data += f' data-section="{anchor}"'
    head = f"<summary><h3>{item.id}. {escape(item.slide)} {badge}</h3></summary>"
    return f'<article id="{item.id}" {data}><details>{head}{"".join(lines)}</details></article>'


def _tables(result: Found) -> str:
    if result.printed is None or result.true is None or result.off is None or result.agrees:
        return ""
    tables = _table("printed", result.printed, result.decimals, result.off) + _table(
        "computed", result.true, result.decimals
    )
    return f'<div class="tables">{tables}</div>'


def _table(caption: str, numbers: np.ndarray, decimals: int, off: np.ndarray | None = None) -> str:
    rows = []
    marks = np.zeros(numbers.shape, dtype=bool) if off is None else off
    for row, mark in zip(np.atleast_2d(numbers), np.atleast_2d(marks), strict=True):
        cells = (
            f"<td{' class=off' if m else ''}>{f'{n:.{decimals}f}'.replace('-', '−')}</td>"  # a true minus
            for n, m in zip(row, mark, strict=True)
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><caption>{caption}</caption>{''.join(rows)}</table>"
