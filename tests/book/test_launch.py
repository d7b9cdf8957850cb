"""Addresses of a course: what the pages' buttons and the link to report a mistake lead to, and what is refused."""

import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, unquote, urlsplit

import launch
import pytest
import report_links as reports
import yaml
from built_book import HTML, ROOT, need_book, page_at, pages

NOTEBOOK = "exercises/04_one_head/04_one_head.ipynb"
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))


def places(repository="", branch="", **settings):
    return launch.Places.of(settings, repository, branch)


def test_as_shipped_no_address_is_set_and_the_reader_has_a_lab_of_their_own():
    shipped = CONFIG["sphinx"]["config"]
    assert set(shipped["softlookup_launch"]) == launch.KEYS
    assert not any(shipped["softlookup_launch"].values()) and not shipped["softlookup_report"]
    assert not CONFIG["repository"]["url"]
    addresses = launch.Places.of(shipped["softlookup_launch"])
    assert addresses.lab(NOTEBOOK) == f"http://localhost:8888/lab/tree/{NOTEBOOK}"
    assert addresses.hub(NOTEBOOK) == addresses.on_colab(NOTEBOOK) == ""


@pytest.mark.parametrize(
    "address", ["https://lab.example.org", "https://lab.example.org/", "https://lab.example.org/lab/tree"]
)
def test_a_lab_of_the_course_opens_the_notebook_in_its_tree(address):
    assert places(jupyterlab=address).lab(NOTEBOOK) == f"https://lab.example.org/lab/tree/{NOTEBOOK}"


def test_a_hub_fetches_from_the_repository_where_one_is_named():
    address = places("https://git.example.org/a/soft-lookup.git", "main", jupyterhub="https://hub.example.org").hub(
        NOTEBOOK
    )
    parts = urlsplit(address)
    assert parts.path == "/hub/user-redirect/git-pull"
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert query["repo"] == "https://git.example.org/a/soft-lookup.git" and query["branch"] == "main"
    assert query["urlpath"] == f"lab/tree/soft-lookup/{NOTEBOOK}"


def test_a_hub_without_a_repository_opens_what_it_has():
    address = places(jupyterhub="https://hub.example.org/").hub(NOTEBOOK)
    assert address == f"https://hub.example.org/hub/user-redirect/lab/tree/{NOTEBOOK}"


@pytest.mark.parametrize(("key", "opens"), [("jupyterlab", "lab"), ("jupyterhub", "hub"), ("colab", "on_colab")])
def test_an_address_with_a_place_for_the_notebook_is_filled(key, opens):
    addresses = places("https://git.example.org/a", **{key: "https://example.org/open?path={notebook}&x=1"})
    assert getattr(addresses, opens)("exercises/a b.ipynb") == "https://example.org/open?path=exercises/a%20b.ipynb&x=1"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"jupiter": "https://example.org"}, "softlookup_launch has jupiter; it knows book, colab"),
        ({"jupyterhub": "hub.example.org"}, "jupyterhub is 'hub.example.org', wanted an address with https://"),
        ({"jupyterlab": "javascript:alert(1)"}, "jupyterlab is 'javascript:alert\\(1\\)', wanted"),
        ({"colab": "https://example.org"}, "colab is 'https://example.org', wanted an address with {notebook}"),
    ],
)
def test_settings_of_no_use_are_refused(settings, message):
    with pytest.raises(launch.BadAddress, match=message):
        places(**settings)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("mailto:ada@example.org", "mailto:ada@example.org?subject={title}&body={body}"),
        ("https://git.example.org/a/issues/new", "https://git.example.org/a/issues/new?title={title}&body={body}"),
        ("https://example.org/new?kind=book", "https://example.org/new?kind=book&title={title}&body={body}"),
        ("https://example.org/new?issue[title]={title}", "https://example.org/new?issue[title]={title}"),
    ],
)
def test_report_address_gets_places_where_it_has_none(address, expected):
    assert reports.template(address) == expected


@pytest.mark.parametrize("address", ["ada@example.org", "javascript:alert(1)", "https://example.org/{name}"])
def test_report_address_of_no_use_is_refused(address):
    with pytest.raises(Exception, match="_config.yml: softlookup_report"):
        reports.template(address)


def test_report_names_page_file_and_build_without_any_script():
    address = reports.filled(
        "mailto:ada@example.org?subject={title}&body={body}", "Heads & tails", "book/x.html", "1-2"
    )
    query = parse_qs(urlsplit(address).query, keep_blank_values=True)
    assert query["subject"] == ["Mistake: Heads & tails"]
    assert query["body"][0].splitlines()[:3] == ["Page: Heads & tails", "File: book/x.html", "Build: 1-2"]


def test_build_names_the_library_and_its_hash():
    import softlookup

    root = Path(reports.__file__).parents[2]
    build = reports.build_of(SimpleNamespace(softlookup_package="softlookup"), root)
    assert re.fullmatch(rf"{re.escape(softlookup.__version__)}-[0-9a-f]{{12}}", build)


@pytest.mark.book
def test_every_page_has_a_link_to_report_a_mistake_that_leads_to_the_page_on_mistakes():
    need_book()
    report_page = (HTML / f"{reports.OWN_PAGE}.html").resolve()
    seen = 0
    for path in pages():
        if path == HTML / "index.html":
            continue
        links = re.findall(r'<a class="report-link" href="([^"]*)"[^>]*data-page="([^"]+)"', path.read_text("utf-8"))
        assert links, path
        for href, title in links:
            assert (path.parent / unquote(href)).resolve() == report_page or (path == report_page and href == "#")
            assert "<" not in title
            seen += 1
    assert seen > 80


@pytest.mark.book
def test_pages_lead_to_no_hub_and_no_colab_as_shipped():
    need_book()
    outside = {
        link for path in (HTML / "exercises").rglob("*.html") for link in page_at(path).links if urlsplit(link).netloc
    }
    assert all(link.startswith("http://localhost:8888/lab/tree/my_work/") for link in outside)
    assert len(outside) == len(list((ROOT / "exercises").glob("[0-9]*/*.ipynb")))
