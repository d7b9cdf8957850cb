"""Code of a page in colours: Pygments takes hours over some text that is no sensible code, so that stays plain."""

import functools
import html
import re
from typing import Any

from softlookup_command.plain_text import visible

MAX_COLOURED = 20_000  # characters of a cell that is coloured; no answer is so long

# Pygments takes quadratic time, or worse, over long stretches of blank lines and over long chains of names.
_SLOW = re.compile(r"\s{200}|[\w.]{1000}")


def highlighted(source: str, language: str | None = None, metadata: Any = None) -> str:
    """Render code as nbconvert does, without colours where these would take long."""
    source = visible(source)
    if len(source) > MAX_COLOURED or _SLOW.search(source):
        return f'<div class=" highlight hl-ipython3"><pre><span></span>{html.escape(source, quote=False)}\n</pre></div>'
    return str(_painter()(source, language=language, metadata=metadata))


@functools.cache
def _painter() -> Any:
    from nbconvert.filters.highlight import Highlight2HTML

    return Highlight2HTML(pygments_lexer="ipython3")
