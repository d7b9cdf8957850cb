"""Cleans what students write before it becomes HTML: a written answer, and a page as a whole.

nbconvert, formgrader and JupyterLab render an answer, so what is stored has to be harmless by itself. nh3 is asked to
clean what formgrader would show: what it leaves alone stays as it is, else tags and addresses are escaped, or the
answer becomes a block of code.
"""

import re
from collections.abc import Collection
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import nh3

from softlookup_command.plain_text import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from nbconvert.filters.markdown_mistune import MarkdownWithMath

MAX_WRITTEN = 10_000  # characters of a written answer that are rendered; a longer one is cut, and shown as plain text

MAX_ENVIRONMENTS = 200
"""How often a written answer may begin a LaTeX environment: nbconvert takes quadratic time over those."""

MAX_MARKS = 4_000  # characters with a meaning in markdown, in one written answer

NOT_SHOWN = (
    "HTML, outside pictures, links that do not begin with http, TeX commands for links and styles, or too many signs"
)
"""What a written answer is shown without, for a remark."""

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'"
)
"""The content security policy of a page: it shows text, styles and its own pictures, and asks nobody for anything."""

_PICTURE = "data:image/png;base64,AAAA"  # stands for any attachment while an answer is tried

_TAGS = frozenset(
    "a b blockquote br code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i img input kbd li ol p pre s span strong sub sup "
    "table tbody td th thead tr u ul".split()
)
_TAKEN = r"\d\d-|notebook|statusmessage|top$|toc$"
"""Beginnings of the names that elements of a page have; a heading gets its name from its text."""

_ALLOWED = {
    **{f"h{level}": {"id": rf"(?!{_TAKEN})[^\s]+"} for level in range(1, 7)},
    "a": {"href": r"https?://.*|#.*", "title": ".*", "class": "anchor-link"},
    "img": {"src": "", "alt": ".*", "title": ".*"},
    "input": {"class": "task-list-item-checkbox", "type": "checkbox", "disabled": "", "checked": ""},
    "li": {"class": "task-list-item"},
    "code": {"class": r"language-\S+"},
    "div": {"class": "highlight"},
    "span": {"class": "[a-z]{1,3}[0-9]?"},
    "ol": {"start": r"\d{1,6}"},
    "td": {"style": "text-align:(left|right|center);?"},
    "th": {"style": "text-align:(left|right|center);?"},
}

_MACROS = re.compile(
    r"\\(?=(?:href|url|require|style|class|cssId|bbox|unicode|mmlToken|data|tooltip|texttip|mathtip|toggle|enclose"
    r"|HtmlExt\w*|html\w*|verb)(?![A-Za-z]))"
)
"""TeX commands with which MathJax would make links, styles and the like."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_MARKS = re.compile(r"[\\`*_{}\[\]<>|$~&!]")
_BARE = re.compile(rf"</?(?:{'|'.join(sorted(_TAGS - {'img', 'input'}))})[ /]*>|<a href=\"https?://[^\"<>]*\">")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_PLACE = re.compile(r"\](?=\(\s*<?(?!https?://|#)|\s*:)")
_IMAGE = re.compile(r"!\[")
_HEADING = re.compile(rf"^ {{0,3}}#{{1,6}}[ \t]+(?=(?:{_TAKEN.replace('-', '[ -]')}))(.*?)[ \t]*#*[ \t]*$", re.M)
_FORMULA = re.compile(r"\$\$[^$]+\$\$|\$[^$\n]+\$|\\begin\{([^}\n]+)\}.*?\\end\{\1\}", re.S)
_READ_AS_HTML = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")
_CODE_OR_FORMULA = re.compile(
    r"(^ {0,3}`{3,}[^`]*?^ {0,3}`{3,}|^ {0,3}~{3,}[^~]*?^ {0,3}~{3,}|`[^`\n]+`|``[^\n]+?``"
    r"|\$\$[^$]+\$\$|\$[^$\n]+\$)",
    re.M,
)
_DIAGRAM = re.compile(r"^([ >]*(?:`{3,}|~{3,})[ \t]*)mermaid", re.M)


def safe_markdown(text: str, attachments: Collection[str] = ()) -> tuple[str, bool]:
    r"""Make a written answer, with pictures attached, harmless for whatever renders it.

    >>> safe_markdown("Since $a<b$ and `x<y>`, **all** is *well*.")
    ('Since $a<b$ and `x<y>`, **all** is *well*.', False)
    >>> safe_markdown("<img src=x onerror=alert(1)>")
    ('&lt;img src=x onerror=alert(1)>', True)
    """
    text = visible(_CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    if _is_simple(text):
        tame = _MACROS.sub(r"\\ ", text)
        # A blank in a formula is not seen, and keeps programs that find another end of it from reading HTML there.
        blanks = _with_blanks(tame)
        for candidate in (tame, blanks):
            if _is_clean(candidate, attachments):
                return candidate, tame != text
        for candidate in (tame, blanks):
            if _is_clean(escaped := _escaped(candidate), attachments):
                return escaped, True
    return _as_code(text), True


def _is_simple(text: str) -> bool:
    """Whether rendering this text cannot take long."""
    return (
        len(text) <= MAX_WRITTEN
        and text.count("\\begin") <= MAX_ENVIRONMENTS
        and len(_MARKS.findall(text)) <= MAX_MARKS
    )


def _escaped(text: str) -> str:
    """The text with tags and addresses as plain text; code and formulas stay as they are."""
    parts = _CODE_OR_FORMULA.split(text)
    parts[::2] = [_PLACE.sub(r"\\]", _IMAGE.sub(r"\\![", _TAG.sub("&lt;", part))) for part in parts[::2]]
    parts[::2] = [_HEADING.sub(r"**\1**", part) for part in parts[::2]]
    return _DIAGRAM.sub(r"\1text", "".join(parts))


def _with_blanks(text: str) -> str:
    """The text with a blank within what could be a tag or a picture in a formula."""
    return _FORMULA.sub(lambda match: _READ_AS_HTML.sub(r"\g<0> ", match[0]), text)


def _is_clean(text: str, attachments: Collection[str]) -> bool:
    """Whether a text is harmless, both for who finds its formulas as nbconvert does and for who finds none."""
    return _renders_clean(text, attachments) and _asks_nobody(text)


def _asks_nobody(text: str) -> bool:
    """Whether CommonMark finds no HTML and no outside picture, also where JupyterLab ends a formula elsewhere."""
    try:
        blocks = _commonmark().parse(text)
    except Exception:  # text too deep for the parser
        return False
    for token in (token for block in blocks for token in (block, *(block.children or ()))):
        if token.type == "image" and not str(token.attrs["src"]).startswith("attachment:"):
            return False
        if token.type in ("html_block", "html_inline") and _TAG.search(_BARE.sub("", token.content)):
            return False
    return True


@cache
def _commonmark() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def _as_code(text: str) -> str:
    more = len(text) - MAX_WRITTEN
    if more > 0:
        text = f"{text[:MAX_WRITTEN]}\n[{more:,} characters more, which are not shown]"
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _renders_clean(text: str, attachments: Collection[str]) -> bool:
    """Whether the sanitiser finds nothing to take away from what nbconvert makes of this text."""
    try:
        rendered = _nbconvert(tuple(attachments)).render(text)
    except Exception:  # a picture that is not there, or text too deep for the parser
        return False
    return _plain_form(rendered) == _plain_form(_cleaned(rendered, re.escape(_PICTURE)))


@lru_cache(maxsize=16)
def _nbconvert(attachments: tuple[str, ...]) -> "MarkdownWithMath":
    """The renderer of nbconvert, with pictures of such names."""
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    pictures = {name: {"image/png": "AAAA"} for name in attachments}
    return MarkdownWithMath(renderer=IPythonRenderer(escape=False, attachments=pictures))


def clean_html(html: str, elements: Collection[str] = (), attributes: Collection[str] = ()) -> str:
    """Clean HTML that was made from a student's markdown, with its pictures within it, for a page."""
    return _cleaned(html, "data:image/(png|jpeg);base64,[A-Za-z0-9+/=]*", elements, attributes)


def _cleaned(html: str, picture: str, elements: Collection[str] = (), attributes: Collection[str] = ()) -> str:
    def attribute(tag: str, name: str, value: str) -> str | None:
        pattern = picture if (tag, name) == ("img", "src") else _ALLOWED.get(tag, {}).get(name)
        if pattern is None:
            return value if tag in elements else None
        return value if re.fullmatch(pattern, value, re.S) else None

    return nh3.clean(
        html,
        tags=_TAGS | set(elements),
        clean_content_tags=set(),
        attributes={tag: set(kinds) for tag, kinds in _ALLOWED.items()} | {tag: set(attributes) for tag in elements},
        attribute_filter=attribute,
        url_schemes={"http", "https", "data"},
        link_rel=None,
    )


_SAME = ((" />", ">"), ("/>", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&#x27;", "'"), ("\xa0", "&nbsp;"), ('=""', ""))
_NUMBERED = re.compile(r"&#(\d{1,7});")


def _plain_form(html: str) -> str:
    """HTML without differences that have no meaning: how a tag ends, how a quotation mark or a sign is written."""
    for old, new in _SAME:
        html = html.replace(old, new)
    return _NUMBERED.sub(lambda m: chr(int(m[1])) if 160 < int(m[1]) < 0x110000 else m[0], html)
