"""The page on attacks tells what the committed results say."""

import re

import pytest
from built_book import ROOT

from attacks import ROWS

PAGE = (ROOT / "book" / "attacks.md").read_text(encoding="utf-8")
CELLS = re.findall(r"^```\{code-cell\} python3\n(?::[^\n]*\n)*(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

SOME = {
    "attack-01-a": {
        "row": 1,
        "does": "a | pipe, `ticks`, $dollars$ and <b>",
        "stock": {"outcome": "raised", "score": 39.0, "deserved": 37.0, "leaked": True, "left": ["x"]},
        "ours": {"outcome": "as deserved", "score": 37.0, "deserved": 37.0, "told": ""},
        "before": {"score": 39.0, "deserved": 37.0, "seconds": 1.0},
    },
    "attack-27-b": {
        "row": 27,
        "does": "never ends",
        "stock": {"outcome": "hung (stopped after 300 s)", "score": None, "deserved": 37.0},
        "ours": {"outcome": "lowered", "score": 36.5, "deserved": 37.0},
    },
    "attack-39-zip-c": {"row": 39, "does": "a zip", "stock": {"outcome": "no grade", "score": None, "deserved": 0.0}},
    "more": {"row": 0, "does": "later", "stock": {"outcome": "batch stopped", "score": None, "deserved": 1.0}},
}


def run(monkeypatch: pytest.MonkeyPatch, results: dict | None = None) -> tuple[dict, str]:
    """Run the page's cells: what they hand to sentences, and the table."""
    import softlookup_course.figures.page as page

    values: dict = {}
    monkeypatch.setattr(page, "say", values.update)
    monkeypatch.chdir(ROOT / "book")
    names: dict = {}
    exec(CELLS[0], names)  # noqa: S102 - the project's own page
    if results is not None:
        names["results"] = results
    exec(CELLS[1], names)  # noqa: S102
    body, _, last = CELLS[-1].rstrip().rpartition("\n")
    exec(body, names)  # noqa: S102
    return {**values, "results": names["results"]}, eval(last, names).data  # noqa: S307


def test_counts_are_of_the_right_things(monkeypatch: pytest.MonkeyPatch):
    values, _ = run(monkeypatch, SOME)
    values = {name: value for name, value in values.items() if name != "results" and not name.startswith("siege")}
    expected = {"tried": 4, "stock_seen": 4, "stock_raised": 1, "stock_stopped": 2, "stock_lost": 1, "stock_leaked": 1}
    assert values == expected | {"ours_seen": 2, "ours_raised": 0, "ours_stopped": 0, "found": 1}


def test_table_has_a_line_for_each_and_nothing_in_it_is_markup(monkeypatch: pytest.MonkeyPatch):
    _, table = run(monkeypatch, SOME)
    first, second, third, last = table.splitlines()[2:]
    assert first.startswith(r"| 1 | a \| pipe, \`ticks\`, \$dollars\$ and \<b\> | **raised**: 39 for 37, leaked, left")
    assert first.endswith("| as deserved; in an earlier version 39 for 37 |")
    assert "hung (stopped after 300 s) | **lowered**: 36.5 for 37 |" in second
    assert third.endswith("| no grade | left out when it is collected |")
    assert last.startswith("| 0 |") and last.endswith("| not run |")


def test_results_say_that_nothing_got_through(monkeypatch: pytest.MonkeyPatch):
    values, table = run(monkeypatch)
    assert values["tried"] == len(values["results"]) == len(table.splitlines()) - 2 > 0
    assert values["stock_raised"] > 0
    assert values["ours_raised"] == values["ours_stopped"] == 0
    # Both columns or one: a table that is half run would tell half of it.
    ran = [name for name, row in values["results"].items() if "ours" in row]
    assert not ran or len(ran) == len([name for name in values["results"] if "-zip-" not in name])


def test_every_row_of_the_list_has_a_defence():
    named: set[int] = set()
    defences = PAGE.split("## Which defences does the grader have?")[1].split("##")[0]
    for inside in re.findall(r"^\|[^|]*\(([\d, to]+)\) \|", defences, re.MULTILINE):
        for part in inside.split(", "):
            first, _, last = part.partition(" to ")
            named |= set(range(int(first), int(last or first) + 1))
    assert named == set(range(1, ROWS + 1))
