"""The reference of the library: whole, said in full, and linked with the sections in both ways."""

import importlib
import inspect
import re
from html.parser import HTMLParser
from types import ModuleType

import public_names
import pytest
from built_book import HTML, ROOT, need_book, page_at

NAMES = [
    name for package in public_names.PACKAGES for names in public_names.documented(package).values() for name in names
]
SECTION = re.compile(r"^\(([\w-]+)\)=\n#", re.M)


def sections():
    """Name the labelled sections of all pages, as places: "04_one_head.html#one-head-weights"."""
    return {
        f"{page.stem}.html#{label}"
        for page in (ROOT / "book").glob("*.md")
        for label in SECTION.findall(page.read_text(encoding="utf-8"))
    }


def page_of(name):
    """The page of a package, or of a name in it."""
    return "checking" if name.startswith("softlookup_judge") else name.split(".")[1]


@pytest.mark.parametrize("package", public_names.PACKAGES)
def test_every_public_name_of_a_package_is_shown(package):
    whole = importlib.import_module(package)
    assert whole.__all__ == sorted(set(whole.__all__), key=whole.__all__.index)
    modules = {name for name in whole.__all__ if isinstance(getattr(whole, name), ModuleType)}
    assert {f"{package}.{name}" for name in whole.__all__ if name not in modules} <= set(NAMES)
    assert {getattr(whole, name).__name__ for name in modules} <= set(public_names.documented(package))


def test_every_name_leads_to_a_section_that_exists():
    there = sections()
    lost = {name: public_names.places_of(name) for name in NAMES}
    assert {name: places for name, places in lost.items() if not places or not there.issuperset(places)} == {}


def test_names_of_sections_are_there_once_and_their_labels_too():
    labels = {
        f"{page.stem}.html#{label}"
        for page in (ROOT / "book").glob("*.md")
        for label in re.findall(r"^\(([\w-]+)\)=$", page.read_text(encoding="utf-8"), re.M)
    }
    assert set(public_names.sections()) - labels == set()
    in_rows = {
        (row["anchor"], name)
        for row in public_names.rows().values()
        for kind in ("library", "figures", "widgets")
        for name in row.get(kind, [])
    }
    for place, names in public_names.sections().items():
        assert len(set(names)) == len(names), place
        for name in names:
            assert public_names.find(name) is not None and (place, name) not in in_rows, f"{place}: {name}"


def undocumented(call, doc):
    """Say what a docstring leaves out: arguments, the result, errors that the code raises."""
    if inspect.isclass(call) and (issubclass(call, Exception) or getattr(call, "_is_protocol", False)):
        return  # nobody makes one of a protocol
    signature = inspect.signature(inspect.unwrap(call))
    for name in signature.parameters:
        if name not in {"self", "cls"} and not re.search(rf"^    \*{{0,2}}{name}:", doc, re.M):
            yield f"the argument {name}"
    if inspect.isfunction(call) and signature.return_annotation not in (None, inspect.Signature.empty):
        if "Returns:" not in doc and "Yields:" not in doc:
            yield "what it returns"


def raised(code):
    return set(re.findall(r"\braise (\w+)\(", inspect.getsource(code)))


@pytest.mark.parametrize("name", NAMES)
def test_docstring_of_a_public_name_is_whole(name):
    thing, doc = public_names.find(name), public_names.doc_of(name)
    assert doc, "no docstring"
    if public_names.kind_of(name) == "data":
        return
    obj = inspect.unwrap(thing)
    missing = [*undocumented(obj, doc)]
    if inspect.isclass(obj):
        start = obj.__dict__.get("__post_init__", obj.__dict__.get("__init__"))
        written = start is not None and start.__code__.co_filename == inspect.getsourcefile(obj)
        missing += [error for error in (raised(start) if written else ()) if error not in doc]
        for part, member in vars(obj).items():
            member = getattr(member, "__func__", member)
            if inspect.isfunction(member) and not part.startswith("_") and part != "extra_repr":
                member_doc = inspect.getdoc(member) or ""
                missing += [
                    f"{part}: {entry}"
                    for entry in [
                        *undocumented(member, member_doc),
                        *(raised(member) - set(re.findall(r"\w+", member_doc))),
                    ]
                ]
    else:
        missing += [error for error in raised(obj) if error not in doc]
    assert missing == []


class Lines(HTMLParser):
    """The links in the lines "In the library" of a page, by the section that they end."""

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.inside = [], {}, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag in {"section", "span"} and attributes.get("id"):
            if tag == "section":
                self.open.append({attributes["id"]})
            elif self.open and not self.links.get(id(self.open[-1])):
                self.open[-1].add(attributes["id"])
        elif tag == "section":
            self.open.append(set())
        if tag == "p" and "in-the-library" in attributes.get("class", ""):
            self.inside = True
        if tag == "a" and self.inside and "14_slides" not in attributes["href"]:  # the slides' link shares the line
            for name in self.open[-1]:
                self.links.setdefault(name, []).append(attributes["href"])

    def handle_endtag(self, tag):
        if tag == "section":
            self.open.pop()
        if tag == "p":
            self.inside = False


@pytest.mark.book
def test_every_name_stands_on_its_page_and_links_to_its_sections():
    need_book()
    for package in public_names.PACKAGES:
        page = page_at(HTML / "book" / "reference" / f"{page_of(package)}.html")
        for name in (name for names in public_names.documented(package).values() for name in names):
            assert name in page.ids, name
            assert {f"../{place}" for place in public_names.places_of(name)} <= set(page.links), name


@pytest.mark.book
def test_every_section_links_to_the_names_that_it_explains():
    need_book()
    pages = {}
    for place, names in public_names.names_at().items():
        page, _, label = place.partition("#")
        if page not in pages:
            pages[page] = Lines((HTML / "book" / page).read_text(encoding="utf-8")).links
        expected = [f"reference/{page_of(name)}.html#{name}" for name in names]
        assert pages[page].get(label) == expected, place
