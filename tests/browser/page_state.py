"""What every page has to be, whichever browser shows it: the functions of `page_state.js`, ready to be run."""

from pathlib import Path

_FUNCTIONS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def _named(name: str) -> str:
    return f"() => ({_FUNCTIONS}).{name}()"


UNFOLD, CONTENT, LAYOUT, SCROLLED, SEARCH = map(_named, ("unfold", "content", "layout", "scrolled", "search"))


def only_findings(findings: dict[str, list[str]]) -> dict[str, list[str]]:
    """Leave out the names under which nothing was found."""
    return {name: problems for name, problems in findings.items() if problems}
