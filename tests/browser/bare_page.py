"""A page with one figure and nothing else, so that figures can be worked without a built book."""

import json

from book_browser import ROOT

BARE = """<!DOCTYPE html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8"><title>t</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head><body {body}>
<main style="padding-top: 130px"><h1 id="figure">A figure</h1>
<div class="widget-fallback">stands in</div><script type="application/vnd.jupyter.widget-view+json">{view}</script>
<script type="application/vnd.jupyter.widget-state+json">{state}</script><script src="{runner}"></script>
<p style="height: 900px"></p></main></body></html>"""

RUNNER = (ROOT / "book" / "_ext" / "widgets.js").as_uri()


class BarePages:
    """Opens such pages, and collects what they complain of."""

    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder
        self.contexts, self.complaints = [], []

    def show(self, data, css, address="", theme="light", *, body="", clock=False, **options):
        """Open a page with a figure, given as `ipywidgets.embed.embed_data` gives it, and wait until it stands.

        What plays there runs on as far as the page's clock is moved, if there is one; ``body`` are attributes.
        """
        view, state = json.dumps(data["view_specs"][0]), json.dumps(data["manager_state"]).replace("</", "<\\/")
        path = self.folder / "bare.html"
        path.write_text(BARE.format(theme=theme, body=body, view=view, state=state, runner=RUNNER), encoding="utf-8")
        self.contexts.append(self.browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options))
        page = self.contexts[-1].new_page()
        if clock:
            page.clock.install()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(path.as_uri() + address)
        page.wait_for_selector(css)
        return page

    def close(self):
        """Close all pages; none may have complained."""
        for context in self.contexts:
            context.close()
        assert not self.complaints, self.complaints
