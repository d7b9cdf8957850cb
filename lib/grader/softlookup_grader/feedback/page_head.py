"""The head of nbgrader's pages, so that nothing of a page is loaded from another machine."""

import re
from pathlib import Path

from softlookup_grader.judging.cleaning import POLICY

TEMPLATE = Path(__file__).with_name("local_page.html.j2")
"""Stands in front of nbgrader's templates, of feedback and the formgrader alike, and hands their head to a filter."""

_FORMGRADER_POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:"
"""The formgrader runs scripts of its own server, some of which make functions of text."""
_NO_MATHJAX = """<script>
var MathJax = {Hub: {Startup: {signal: {Interest: function (tell) {setTimeout(tell, 0, "End");}}}}};
</script>"""
"""The formgrader's script waits until MathJax is done before it goes to the answer that was looked at last."""
# nbgrader's templates ask an outside host for MathJax, and take no other address for it.
_MATHJAX = re.compile(r"<!-- Load mathjax -->.*?<!-- End of mathjax configuration -->", re.S)


def feedback_head(head: str) -> str:
    """Let a feedback page run no script and load nothing; a filter for nbconvert's templates."""
    return _with_policy(head, POLICY, "")


def formgrader_head(head: str) -> str:
    """Let a page of the formgrader load from its own server alone; a filter for nbconvert's templates."""
    return _with_policy(head, _FORMGRADER_POLICY, _NO_MATHJAX)


def policy_tag(policy: str) -> str:
    """The element that gives a page its content security policy."""
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def _with_policy(head: str, policy: str, instead: str) -> str:
    return _MATHJAX.sub(instead, head.replace("<head>", f"<head>\n{policy_tag(policy)}", 1))
