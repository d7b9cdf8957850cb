"""Addresses of a course: what buttons and the link to report a mistake lead to, on its pages too; what is refused."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, unquote, urlsplit

import exercise_notebooks as notebooks
import launch
import pytest
import report_links as reports
import yaml
from built_book import HTML, ROOT, Page, need_book, page_at, pages

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


LAB, HUB, OPEN = "https://lab.example.org", "https://hub.example.org", "https://example.org/open?path={notebook}&x=1"
OPENS = [
    *(({"jupyterlab": lab}, "lab", f"{LAB}/lab/tree/{NOTEBOOK}") for lab in (LAB, f"{LAB}/", f"{LAB}/lab/tree")),
    ({"jupyterhub": f"{HUB}/"}, "hub", f"{HUB}/hub/user-redirect/lab/tree/{NOTEBOOK}"),
    *(
        ({key: OPEN}, opens, f"https://example.org/open?path={NOTEBOOK}&x=1")
        for key, opens in (("jupyterlab", "lab"), ("jupyterhub", "hub"), ("colab", "on_colab"))
    ),
]


@pytest.mark.parametrize(("settings", "opens", "address"), OPENS)
def test_an_address_of_the_course_opens_the_notebook(settings, opens, address):
    assert getattr(places(**settings), opens)(NOTEBOOK) == address


def test_a_space_in_a_path_is_written_as_addresses_have_it():
    assert "path=exercises/a%20b.ipynb&" in places(colab=OPEN).on_colab("exercises/a b.ipynb")


def test_a_hub_fetches_from_the_repository_where_one_is_named():
    address = places("https://git.example.org/a/soft-lookup.git", "main", jupyterhub=HUB).hub(NOTEBOOK)
    parts = urlsplit(address)
    assert parts.path == "/hub/user-redirect/git-pull"
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert query["repo"] == "https://git.example.org/a/soft-lookup.git" and query["branch"] == "main"
    assert query["urlpath"] == f"lab/tree/soft-lookup/{NOTEBOOK}"


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


NAME = "04_one_head"
CONF = """
import sys

sys.path.insert(0, {extensions!r})
extensions = ["myst_nb", "sphinx_design", "exercise_pages", "report_links"]
nb_execution_mode = "off"
myst_enable_extensions = ["dollarmath"]
templates_path = ["templates"]
html_theme = "basic"
html_theme_options = {{"nosidebar": True}}
html_copy_source = False
root_doc = "book/index"
softlookup_launch = {{
    "jupyterlab": "https://lab.example.org",
    "jupyterhub": "https://hub.example.org",
    "colab": "https://colab.example.org/{{notebook}}",
    "install": "git+https://git.example.org/soft-lookup",
}}
softlookup_report = "mailto:ada@example.org"
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A book of one chapter and its exercises, built with addresses of its own."""
    root = tmp_path_factory.mktemp("course")
    exercise = notebooks.exercises(ROOT)[f"exercises/{NAME}/{NAME}"]
    (root / "conf.py").write_text(CONF.format(extensions=str(ROOT / "book" / "_ext")))
    for folder in ("book", "templates", f"exercises/{NAME}"):
        (root / folder).mkdir(parents=True)
    (root / exercise.path).write_bytes((ROOT / exercise.path).read_bytes())
    (root / "_toc.yml").write_text(
        f"root: book/index\nchapters:\n- file: book/x\n  sections:\n  - file: {exercise.docname}\n"
    )
    labels = sorted({row.label for row in exercise.rows} | {"before-run", "before-check"})
    sections = "\n\n".join(f"({label})=\n## {label}" for label in labels)
    (root / "book" / "x.md").write_text(f"# One & only\n\nTry `04.scale`.\n\n{sections}\n")
    (root / "book" / "mistakes.md").write_text("---\norphan: true\n---\n# Found a mistake?\n")
    (root / "book" / "index.md").write_text(f"# A course\n\n```{{toctree}}\nx\n../{exercise.docname}\n```\n")
    link = (ROOT / "book" / "_templates" / "report-link.html").read_text(encoding="utf-8")
    layout = '{% extends "!layout.html" %}{% block footer %}' + link + "{% endblock %}"
    (root / "templates" / "layout.html").write_text(layout)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", str(root), str(root / "html")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return root / "html"


@pytest.mark.slow
def test_every_address_that_is_set_has_its_button(course):
    links = [unescape(link) for link in Page(course / f"exercises/{NAME}/{NAME}.html").links]
    path = f"exercises/{NAME}/{NAME}.ipynb"
    assert f"https://lab.example.org/lab/tree/{path}" in links
    assert f"https://hub.example.org/hub/user-redirect/lab/tree/{path}" in links
    assert f"https://colab.example.org/{path}" in links
    assert not [link for link in links if "localhost" in link]


@pytest.mark.slow
def test_page_says_that_the_first_cell_fetches_the_library(course):
    html = (course / f"exercises/{NAME}/{NAME}.html").read_text(encoding="utf-8")
    assert "fetches the library where it is missing" in html and "opens JupyterLab" not in html


def test_link_to_report_a_mistake_leads_to_the_courses_address_with_the_page_filled_in(course):
    mails = [link for link in Page(course / "book/x.html").links if link.startswith("mailto:")]
    assert len(mails) == 1
    assert mails[0].startswith("mailto:ada@example.org?subject=Mistake%3A%20One%20%26%20only&body=Page%3A%20One")
