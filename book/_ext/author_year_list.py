"""The bibliography, listed as the text cites: "Ainslie et al., 2023" stands before the work, in place of a number.

Two works of the same authors and year have letters behind their years in ``references.bib``, which the text shows too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from pybtex.database import Entry
from pybtex.plugin import find_plugin, register_plugin
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinxcontrib.bibtex.style.referencing.basic_author_year import BasicAuthorYearParentheticalReferenceStyle
from sphinxcontrib.bibtex.style.template import join, year

_STYLE = BasicAuthorYearParentheticalReferenceStyle()


def cited_as(entry: Entry) -> str:
    """Authors and year of a work, in the words in which the text cites it."""
    words = join(sep=_STYLE.author_year_sep)[_STYLE.person.author_or_editor_or_title(full=False), year]
    return str(words.format_data({"entry": entry, "style": _STYLE}))


class Labels(BaseLabelStyle):
    """Authors and year as labels."""

    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        """Give each work its label; ValueError if two works would have the same one."""
        labels = [cited_as(entry) for entry in sorted_entries]
        if twice := [label for label, count in Counter(labels).items() if count > 1]:
            raise ValueError(f"references.bib has two works as {twice[0]}: write a letter behind their years, 2023a")
        yield from labels


class Style(PlainStyle):
    """Sorted and written as in the plain style, with authors and year in front."""

    default_label_style = Labels


FOR_EACH_CITATION = (("pybtex.backends", "plaintext"), ("pybtex.style.names", "last"))
"""Plugins that are looked for at each citation, among the entry points of all installed packages: once is enough."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook it in."""
    app.setup_extension("sphinxcontrib.bibtex")
    for group, name in FOR_EACH_CITATION:
        register_plugin(group, name, find_plugin(group, name), force=True)
    register_plugin("pybtex.style.formatting", "author_year_list", Style)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
