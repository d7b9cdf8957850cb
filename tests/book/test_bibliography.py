"""The bibliography: each work can be opened, and stands under the authors and the year by which the text cites it."""

import re
from collections import Counter
from pathlib import Path

import author_year_list
import pytest
from prose import PAGES, prose
from pybtex.database import parse_file

ROOT = Path(__file__).resolve().parents[2]
WORKS = parse_file(str(ROOT / "book" / "references.bib")).entries

LINKS = {
    "doi": re.compile(r"10\.\d{4,9}/\S+"),
    "eprint": re.compile(r"\d{4}\.\d{4,5}|[a-z-]+/\d{7}"),
    "url": re.compile(r"https://\S+"),
}
"""Fields that become links, and what stands in them."""

NEITHER = {
    *("glorot2010", "jozefowicz2015", "diamos2016", "bengio2003", "srivastava2014"),  # PMLR, JMLR
    *("gage1994", "watson1964", "radford2019", "goodfellow2016"),
    *("pedregosa2011", "radford2018", "devlin2018code", "chollet2015", "karpathy2019"),
    *("nvidia2021a100", "nvidia2023h100", "nvidia2024h200"),  # data sheets
    *("nvidia2025hgx", "nvidia2025dgx", "nvidia2025gb200", "amd2023mi300x", "yu2022"),
    *("nostalgebraist2020", "elhage2021", "bricken2023", "uszkoreit2017", "schulman2020kl"),
    *("tazi2025", "google2025v5p", "google2025v6e", "google2025jax"),
    *("nvidia2025hopper", "nvidia2025practices", "nvidia2022hopper", "triton2026"),  # manuals
}
"""Works without a DOI and not on arXiv: they link to the publisher's page."""

MENTION = re.compile(
    r"(?P<first>[A-Z][\w'’-]+)"
    r"(?:(?:, [A-Z][\w'’-]+)*,? and [A-Z][\w'’-]+|(?: and others| et al\.))"
    r"[ ,(]+(?P<year>(?:19|20)\d\d[a-z]?)\b"
)


@pytest.fixture(scope="module")
def listed():
    """Each work as the bibliography lists it."""
    return {entry.key: entry for entry in author_year_list.Style().format_entries(WORKS.values())}


@pytest.mark.parametrize("key", WORKS)
def test_every_work_has_a_link_that_can_be_opened(key, listed):
    fields = WORKS[key].fields
    link_names = [name for name in LINKS if name in fields]
    assert link_names, f"{key}: give it a doi, an eprint (its arXiv number) or, where it has neither, a url"
    assert all(LINKS[name].fullmatch(fields[name]) for name in link_names)
    assert (link_names == ["url"]) == (key in NEITHER)
    assert not re.search(r"arXiv:|doi:|https?:", " ".join(fields.get(name, "") for name in ("note", "journal")))
    written = listed[key].text.render_as("html")
    assert re.search(r'href="https://(?:doi\.org/10\.|arxiv\.org/abs/|\S+\.\S+)', written)


def test_works_are_listed_by_the_authors_and_the_year_of_the_text(listed):
    labels = {key: entry.label for key, entry in listed.items()}
    assert labels["shazeer2019"] == "Shazeer, 2019"
    assert labels["bengio1994"] == "Bengio et al., 1994"
    assert labels["williams1989"] == "Williams and Zipser, 1989"
    assert labels["touvron2023"] == "Touvron et al., 2023a"
    assert [label for label, count in Counter(labels.values()).items() if count > 1] == []
    of_one = [label[:-1] for label in labels.values() if label[-1].isalpha()]
    in_order = [label for label in labels.values() if label[-1].isalpha()]
    for stem in set(of_one):
        assert [label[-1] for label in in_order if label[:-1] == stem] == list("abcdef"[: of_one.count(stem)])
    for key, label in labels.items():
        assert label.endswith(f", {WORKS[key].fields['year']}")


def test_two_works_under_one_label_are_refused():
    work = WORKS["shazeer2019"]
    with pytest.raises(ValueError, match="two works as Shazeer, 2019: write a letter"):
        list(author_year_list.Labels().format_labels([work, work]))


def test_works_that_sentences_name_by_author_and_year_are_listed():
    known = {
        (re.sub(r"[{}]", "", work.persons["author"][0].last_names[-1]), work.fields["year"]) for work in WORKS.values()
    }
    named = {
        (match["first"], match["year"]): page.name
        for page in PAGES
        if "instructors" not in page.name
        for match in MENTION.finditer(prose(page.read_text(encoding="utf-8")))
    }
    assert {work: page for work, page in named.items() if work not in known} == {}


def test_a_sentence_that_names_a_work_is_found():
    for text in ("by Ainslie et al. (2023)", "Press, Smith and Lewis, 2022", "Jain and Wallace (2019)"):
        assert MENTION.search(text), text
