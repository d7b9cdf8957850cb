"""Attacks by markup: written answers and printed text that try to run, to ask or to hide something on a page.

A page shows that a payload ran by its title, and that it asked for something by the address OUTSIDE.
"""

import base64
import struct
import zlib
from collections.abc import Iterator

from attacks.handin import ALL, ANSWER, TRACE, Attack, Bench, HostileHandIn, changed
from attacks.remarks import OUTPUT_CUT
from softlookup_grader.course.notebooks import grade_id, is_solution

RUN = f"document.title='{TRACE}'"
OUTSIDE = "http://softlookup-was-here.invalid"

PAYLOADS: dict[str, tuple[str, ...]] = {
    "tags that run": (
        f"<script>{RUN}</script>",
        f'<img src=x onerror="{RUN}">',
        f'<svg onload="{RUN}"></svg>',
        f"<svg><script>{RUN}</script></svg>",
        f'<svg><animate onbegin="{RUN}" attributeName=x dur=1s>',
        f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
        f'<iframe src="javascript:parent.{RUN}"></iframe>',
        f'<body onload="{RUN}">',
        f'<details open ontoggle="{RUN}">x</details>',
        f'<input autofocus onfocus="{RUN}">',
        f'<video><source onerror="{RUN}"></video>',
        f'<audio src=x onerror="{RUN}"></audio>',
        f'<object data="javascript:{RUN}"></object>',
        f'<embed src="javascript:{RUN}">',
        f'<marquee onstart="{RUN}">x</marquee>',
        f'<style>@keyframes k{{}}</style><b style="animation:k 1s" onanimationstart="{RUN}">x</b>',
        f'<math><mtext><mglyph><style><img title="</style><img src=x onerror={RUN}>">',
        f'<noscript><p title="</noscript><img src=x onerror={RUN}>">',
        f"<template><script>{RUN}</script></template>",
        f"<ScRiPt\n>{RUN}</sCrIpT>",
        f"<img/src=x/onerror={RUN}>",
        f'<p title="`"><img src=x onerror="{RUN}">`',
        f"<!--><script>{RUN}</script>-->",
        f"<![CDATA[><script>{RUN}</script>]]>",
        f"<?x ><img src=x onerror={RUN}>?>",
    ),
    "tags that ask": (
        f'<meta http-equiv="refresh" content="0;url={OUTSIDE}/refresh">',
        f'<link rel=stylesheet href="{OUTSIDE}/style">',
        f"<style>@import '{OUTSIDE}/import';</style>",
        f'<b style="background:url({OUTSIDE}/style)">x</b>',
        f'<iframe src="{OUTSIDE}/frame"></iframe>',
        f'<img srcset="{OUTSIDE}/srcset 1x">',
        f'<picture><source srcset="{OUTSIDE}/source"><img></picture>',
        f'<video poster="{OUTSIDE}/poster"></video>',
        f'<base href="{OUTSIDE}/base/">',
        f'<link rel=prefetch href="{OUTSIDE}/prefetch"><link rel=dns-prefetch href="{OUTSIDE}">',
        f'<svg><image href="{OUTSIDE}/image"/></svg>',
        f'<svg><use href="{OUTSIDE}/use#x"/></svg>',
        f'<form action="{OUTSIDE}/form"><button autofocus>Full credit</button></form>',
        f'<table background="{OUTSIDE}/table"><tr><td>x</table>',
    ),
    "tags that hide": (
        "</div></div></div></div><h1>Score: 100</h1>",
        '<div style="position:fixed;inset:0;background:white;z-index:9999">Score: 100</div>',
        "<style>.panel{display:none}</style>",
        "<plaintext>",
        "<textarea>",
        "<title>",
        "<xmp>",
        "<select>",
    ),
    "links": (
        f"[click](javascript:{RUN.replace(chr(39), '`')})",
        f"[click](JaVaScRiPt:{TRACE})",
        f"[click](&#106;avascript:{TRACE})",
        f"[click](java\tscript:{TRACE})",
        f"[click](data:text/html;base64,{TRACE})",
        f"[click](vbscript:{TRACE})",
        "[click](file:///etc/passwd)",
        "[click](/api/contents)",
        "[click](//softlookup-was-here.invalid/x)",
        f"<javascript:{TRACE}>",
        f"[click][x]\n\n[x]: javascript:{TRACE}",
        f'[click](http://a "title\\" onmouseover={TRACE}")',
        f'[click](http://a/"onmouseover="{TRACE})',
    ),
    "pictures": (
        f"![x]({OUTSIDE}/picture)",
        f"![x][y]\n\n[y]: {OUTSIDE}/picture",
        "![x](//softlookup-was-here.invalid/picture)",
        f"![x]({OUTSIDE}/picture 'title')",
        f"[![x]({OUTSIDE}/picture)](http://a)",
        "![x](attachment:missing.png)",
        f"![x](attachment:{OUTSIDE}/x.png)",
        '![x" onerror="document.title=1](attachment:missing.png)',
        "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    ),
    "code": (
        f"```mermaid\n<img src=x onerror={RUN}>\n```",
        f"~~~ mermaid\n</pre><script>{RUN}</script>\n~~~",
        f"> ```mermaid\n> <img src=x onerror={RUN}>\n> ```",
        f'```"><img src=x onerror={RUN}>\nx\n```',
        f"```html\n</code></pre><script>{RUN}</script>\n```",
        f"`</code><script>{RUN}</script>`",
    ),
    "formulas": (
        f"$\\href{{javascript:{RUN}}}{{x}}$",
        f"$$\\style{{background:url({OUTSIDE}/formula)}}{{x}}$$",
        f"$\\text{{<img src=x onerror={RUN}>}}$",
        f"$</math><img src=x onerror={RUN}>$",
        f"\\begin{{equation}}<script>{RUN}</script>\\end{{equation}}",
        "$\\require{action}\\toggle{a}{b}\\endtoggle$",
        f'$\\color{{red"onclick="{RUN}}}{{x}}$',
        f"\\\\(<svg onload={RUN}>\\\\)",
        f'$\\mmlToken{{mi}}[href="javascript:{RUN}"]{{x}}$',
        f"$a$<script>{RUN}</script>$b$",
    ),
    "names": (
        "# 04-uniform",
        "# statusmessage",
        '# x" onmouseover="document.title=1',
        f"# <img src=x onerror={RUN}>",
    ),
}
"""What a written answer may hold, by kind."""

PRINTED = f"""
import sys

MARKUP = {[payload for ones in PAYLOADS.values() for payload in ones]!r}
for one in MARKUP:
    print(one)
    print("\\x1b[31m" + one + "\\x1b[0m", file=sys.stderr)
MARKUP
"""
"""Prints every payload, in colour too, and gives them back as a value."""

RAISES = f"""
def $NAME(*given, **named):
    raise type("<img src=x onerror={RUN}>", (Exception,), {{}})("".join(MARKUP))
"""


_UNLIMITED = """
import gc

for one in gc.get_objects():
    if type(one).__name__ == "_Kept":
        one.room = 10**9
for _ in range(4):
    print("$TRACE " * 10_000)


$WRONG
"""
"""Takes away the limit on output that stands in its own process."""


def picture_bomb(width: int, height: int) -> bytes:
    """A small PNG that is huge when it is shown: nothing but zeros, compressed."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    packer = zlib.compressobj(9)
    row = bytes(1 + (width + 7) // 8)
    packed = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    note = chunk(b"tEXt", b"Comment\0" + f"<script>{RUN}</script>".encode())
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + note + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def hand_ins(bench: Bench) -> Iterator[HostileHandIn]:
    """The hand-ins of this kind."""
    written = next((cell for cell in bench.release.cells if cell.cell_type == "markdown" and is_solution(cell)), None)
    if written is None:
        return
    remark = "stand there as plain text"
    texts = {
        "tags": "\n\n".join(payload for kind, ones in PAYLOADS.items() if kind.startswith("tags") for payload in ones),
        "links": "\n\n".join((*PAYLOADS["links"], *PAYLOADS["pictures"])),
        "code-and-formulas": "\n\n".join((*PAYLOADS["code"], *PAYLOADS["formulas"])),
        "begins": "\\begin{a}" * 20_000,
        "brackets": "[" * 190_000,
    }
    for name, text in texts.items():
        notebook = bench.notebook()
        changed(notebook, grade_id(written)).source = text
        yield bench.whole(f"markup-{name}", 0, f"writes {name} into a text answer", notebook, ALL, remark=remark)
    notebook = bench.notebook()
    cell = changed(notebook, grade_id(written))
    cell.source = "My curve: ![curve](attachment:curve.png)"
    bomb = base64.b64encode(picture_bomb(20_000, 20_000)).decode("ascii")
    cell.attachments = {"curve.png": {"image/png": bomb}}
    yield bench.whole("markup-bomb", 0, "attaches a picture of 400 million points", notebook, ALL, remark="left out")
    attack = Attack("markup-unlimited", 0, "patches the limit on its output", _UNLIMITED, ANSWER, remark=OUTPUT_CUT)
    yield bench.coded(attack)
    code = PRINTED + bench.fill(RAISES, bench.target)
    notebook = bench.notebook(**{bench.target.slug.replace("-", "_"): code})
    yield bench.whole("markup-printed", 0, "prints and raises markup", notebook, "others")
