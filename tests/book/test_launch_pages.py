"""A course that has set its addresses: what stands on its pages then."""

import subprocess
import sys
from html import unescape

import exercise_notebooks as notebooks
import pytest
from built_book import ROOT, Page

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


def test_page_says_that_the_first_cell_fetches_the_library(course):
    html = (course / f"exercises/{NAME}/{NAME}.html").read_text(encoding="utf-8")
    assert "fetches the library where it is missing" in html and "opens JupyterLab" not in html


def test_link_to_report_a_mistake_leads_to_the_courses_address_with_the_page_filled_in(course):
    mails = [link for link in Page(course / "book/x.html").links if link.startswith("mailto:")]
    assert len(mails) == 1
    assert mails[0].startswith("mailto:ada@example.org?subject=Mistake%3A%20One%20%26%20only&body=Page%3A%20One")


def test_name_of_a_task_on_a_page_leads_to_it(course):
    assert f"../exercises/{NAME}/{NAME}.html#exercise-04-scale" in Page(course / "book/x.html").links
