"""The items as a page shows them: a list that can be narrowed by lecture, chapter and verdict, in plain HTML."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from softlookup.slide_audit.item import VERDICTS, Found, Item

_STYLE = """<style>
.slf-audit select,.slf-audit button{font:inherit;color:inherit;background:var(--pst-color-background);border:1px solid
var(--pst-color-border);border-radius:4px;padding:.25em .4em;max-width:100%}
.slf-audit button{margin:.3em 0 .9em}
.slf-audit .narrow{display:flex;flex-wrap:wrap;gap:.6em 1.2em;margin:1em 0}
.slf-audit .narrow label{display:flex;flex-direction:column;font-size:.9em}
.slf-audit article{border-top:1px solid var(--pst-color-border);padding:.8em 0;scroll-margin-top:5em}
.slf-audit article h3{margin:0 0 .3em;font-size:1.05rem}
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
  const picks = [...list.querySelectorAll("select")], all = [...list.querySelectorAll("article")];
  const told = list.querySelector("[role=status]"), every = list.querySelector("button");
  let section = new URLSearchParams(location.search).get("section");
  if (!all.some((one) => one.dataset.section === section)) section = "";
  const narrow = () => {
    let shown = 0;
    for (const one of all) {
      one.hidden = picks.some((pick) => pick.value && one.dataset[pick.name] !== pick.value)
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
    const wanted = document.getElementById(location.hash.slice(1));
    if (!all.includes(wanted)) return;
    for (const pick of picks) pick.value = "";
    widen();
    wanted.scrollIntoView();
  };
  for (const pick of picks) pick.addEventListener("change", widen);
  every.addEventListener("click", widen);
  addEventListener("hashchange", arrive);
  narrow();
  arrive();
});
</script>"""


def chapter_of(item: Item) -> str:
    """The number of the chapter whose section explains an item, "04"."""
    return item.section[:2]


def as_html(items: Sequence[Item], titles: dict[str, str], found: Mapping[str, Found]) -> str:
    """All items as one list with three ways to narrow it.

    Args:
        items: What to show.
        titles: What each lecture is called, by its number.
        found: What working out each item gave, by its id.

    Returns:
        HTML that needs nothing but the book's own colours; the list can be read without its script.
    """
    verdicts = Counter(one.verdict for one in items)
    chapters = sorted({chapter_of(one) for one in items})
    picks = [
        _pick("lecture", "Lecture", [(key, titles[key]) for key in sorted({one.lecture for one in items})]),
        _pick("chapter", "Chapter", [(key, str(int(key))) for key in chapters]),
        _pick("verdict", "Verdict", [(key, f"{VERDICTS[key]} ({verdicts[key]})") for key in VERDICTS if verdicts[key]]),
    ]
    head = f'<div class="narrow">{"".join(picks)}</div><p role="status">{len(items)} statements</p>'
    head += '<button type="button" hidden>Show all</button>'
    articles = "".join(_article(one, titles, found[one.id]) for one in items)
    return f'{_STYLE}<div class="slf-audit">{head}{articles}</div>{_SCRIPT}'


def sections(items: Sequence[Item]) -> dict[str, dict[str, int]]:
    """How many items each section explains.

    Args:
        items: All items.

    Returns:
        Counts by page, "04_one_head", and label, "one-head-project".
    """
    found: dict[str, dict[str, int]] = {}
    for one in items:
        page, label = one.section.split("#")
        counts = found.setdefault(page, {})
        counts[label] = counts.get(label, 0) + 1
    return found


def _pick(name: str, label: str, options: Sequence[tuple[str, str]]) -> str:
    inside = "".join(f'<option value="{key}">{escape(text)}</option>' for key, text in options)
    return f'<label>{label}<select name="{name}"><option value="">all</option>{inside}</select></label>'


def _article(item: Item, titles: dict[str, str], found: Found) -> str:
    page, anchor = item.section.split("#")
    badge = f'<span class="verdict {item.verdict}">{VERDICTS[item.verdict]}</span>'
    lines = [
        f"<h3>{item.id}. {escape(item.slide)} {badge}</h3>",
        f"<p>{escape(titles[item.lecture])}. <em>Stated:</em> {escape(item.states)}</p>",
        f"<p><em>Computed:</em> {escape(found.truth)}</p>"
        if item.kind != "cited"
        else f"<p><em>Published:</em> {escape(found.truth)}</p>",
        _tables(found),
    ]
    for label, said in (("How to tell", item.tell), ("What probably happened", item.cause), ("The audit", item.audit)):
        if said:
            lines.append(f"<p><em>{label}:</em> {escape(said)}</p>")
    if item.kind == "damage":
        lines.append("<p>The slide's text may have been damaged when it was extracted.</p>")
    read = [f'<a href="{page}.html#{anchor}">the section that explains it</a>']
    read += [f'<a href="bibliography.html">source: {key}</a>' for key in item.source]
    lines.append(f"<p>{', '.join(read)}</p>")
    data = f'data-lecture="{item.lecture}" data-chapter="{chapter_of(item)}" data-verdict="{item.verdict}"'
    data += f' data-section="{anchor}"'
    return f'<article id="{item.id}" {data}>{"".join(lines)}</article>'


def _tables(found: Found) -> str:
    if found.printed is None or found.true is None or found.off is None or found.agrees:
        return ""
    shown = _table("printed", found.printed, found.places, found.off) + _table("computed", found.true, found.places)
    return f'<div class="tables">{shown}</div>'


def _table(caption: str, numbers: np.ndarray, places: int, off: np.ndarray | None = None) -> str:
    rows = []
    marks = np.zeros(numbers.shape, dtype=bool) if off is None else off
    for row, mark in zip(np.atleast_2d(numbers), np.atleast_2d(marks), strict=True):
        cells = (
            f"<td{' class=off' if m else ''}>{f'{n:.{places}f}'.replace('-', '−')}</td>"  # a true minus
            for n, m in zip(row, mark, strict=True)
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><caption>{caption}</caption>{''.join(rows)}</table>"
