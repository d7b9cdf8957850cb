"""Pyodide in place of the Python that the book carries: what a page asks of it, and says where it is missing."""

import pack_python
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.book]

PYODIDE = """export async function loadPyodide({ indexURL }) {
  const files = {};
  return {
    loadedPackages: {},
    async loadPackage(name) { if (%s) this.loadedPackages[name] = indexURL; },
    FS: { writeFile: (name, bytes) => { files[name] = bytes.length; } },
    runPython: () => {},
    pyimport: (name) => ({
      answer(request) {
        const { do: asked, cells } = JSON.parse(request);
        const printed = JSON.stringify({ name, files: Object.keys(files), last: cells?.at(-1) });
        return JSON.stringify({ result: asked === "run" ? { printed, error: "", tables: [] } : "begun" });
      },
    }),
  };
}"""
"""Answers what is asked as Pyodide does, as far as the page asks it."""


@pytest.fixture
def run_cell(server, visit):
    """Run the playground's first cell with a Pyodide; give what the box says."""

    def run(script):
        with visit(server + "book/playground.html", alone=True) as seen:
            page = seen.page
            engine, scripts = pack_python.engine("_static/pyodide/")
            scripts["engine.js"] = engine

            def hand_over(route):
                name = route.request.url.rpartition("/")[2]
                route.fulfill(body=scripts[name], content_type="text/javascript")

            page.route("**/python/engine*.js", hand_over)
            there = {"body": script, "content_type": "text/javascript"} if script else {"status": 404}
            page.route("**/_static/pyodide/pyodide.mjs", lambda route: route.fulfill(**there))
            page.click(".slp-try .slp-open")
            page.wait_for_selector(".slp-box .slp-out > *")
            return page.inner_text(".slp-box")

    return run


def test_cell_runs_in_pyodide_with_the_books_library(run_cell):
    output = run_cell(PYODIDE % "true")
    assert '"name":"softlookup_course.in_page.session","files":["/tmp/softlookup.zip"]' in output
    assert "np." in output


@pytest.mark.slow
def test_page_says_what_is_missing(run_cell):
    assert "There is no numpy for Pyodide in http" in run_cell(PYODIDE % "false")
    assert "Pyodide could not be started from http" in run_cell("")
