"""Serve everything a page needs from the book's own folder: no server, no network.

npm puts MathJax into ``book/_vendor/node_modules`` at set-up (``scripts/vendor.py``). What pages use of it is
copied to ``_static/vendor`` of the built book. It is not kept in the source's ``_static`` folder, because
Jupyter Book puts a script tag on every page for every .js file that it finds there.

Interactive figures are anywidgets, which bring their own script; ``widgets.js`` runs them in 6 kB. The usual
widget manager has 3.6 MB, replaces the page's icon font by files that it then looks for in the wrong place, and
complains in the console.
"""

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any

from fontTools import subset
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from softlookup_course.widgets.interactive import without_comments

VENDOR = "vendor"
"""Folder under ``_static`` of the built book."""

MATHJAX = "mathjax/es5"
MATHJAX_PARTS = ["tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions"]
"""The one bundle that pages load, its fonts, and the TeX packages that it loads when a formula asks."""

FONTS = {
    "@fontsource-variable/ibm-plex-sans": [
        "ibm-plex-sans-latin-wght-normal",
        "ibm-plex-sans-latin-wght-italic",
        "ibm-plex-sans-latin-ext-wght-normal",
        "ibm-plex-sans-greek-wght-normal",
    ],
    "@fontsource/ibm-plex-mono": ["ibm-plex-mono-latin-400-normal", "ibm-plex-mono-latin-600-normal"],
}
"""The faces that ``book/_static/fonts.css`` describes, by script; a page loads those that it has letters of."""

FACE_START = f"{VENDOR}/faces.js"
SLANTED_START = f"{VENDOR}/slanted.js"
EARLY = {
    FACE_START: ("ibm-plex-sans-latin-wght-normal", "ibm-plex-mono-latin-400-normal"),
    SLANTED_START: ("ibm-plex-sans-latin-wght-italic",),
}
"""Faces that are there before a page is first drawn, so that no line breaks anew: they come as scripts. Every page has
the first, and pages with slanted letters the second."""

DESCRIBED = re.compile(r"@font-face \{([^}]*)\}")
SLANTED = re.compile(r'<(?:em|i|cite|dfn|var)\b(?! class="fa)')
"""What browsers and the theme show slanted; an icon is no letter."""

VIEW = re.compile(r'<script type="application/vnd\.jupyter\.widget-view\+json">(?P<json>.*?)</script>', re.S)
WIDGET_START = f"{VENDOR}/widgets.js"
FACE = re.compile(r"@font-face\s*\{[^}]*/fontawesome/[^}]*\}")
"""The theme's own descriptions of its icon font; Firefox follows them although book.css describes the font again."""

ICON_RULE = re.compile(r'(?:\.fa-[\w-]+:before,?)+\{content:"(?P<sign>[^"]*)"\}')
"""The theme's names of the 1900 icons of its whole font: a fifth of the styles of a page, gzipped."""

ICONS = {
    "bars": 0xF0C9,
    "list": 0xF03A,
    "download": 0xF019,
    "code": 0xF121,
    "file": 0xF15B,
    "file-pdf": 0xF1C1,
    "magnifying-glass": 0xF002,
    "search-minus": 0xF010,
    "sun": 0xF185,
    "moon": 0xF186,
    "circle-half-stroke": 0xF042,
    "angle-left": 0xF104,
    "angle-right": 0xF105,
    "angle-down": 0xF107,
    "chevron-down": 0xF078,
    "arrow-up": 0xF062,
    "outdent": 0xF03B,
    "xmark": 0xF00D,
    "check-circle": 0xF058,
    "info-circle": 0xF05A,
    "exclamation-triangle": 0xF071,
    "exclamation-circle": 0xF06A,
    "times-circle": 0xF057,
    "lightbulb": 0xF0EB,
    "external-link": 0xF35D,
    "share": 0xF064,
    "bell": 0xF0F3,
    "pencil": 0xF303,
}
"""The icons that the theme draws, by code point in its icon font: a few kB instead of a script of 1.5 MB."""


def node_modules(app: Sphinx) -> Path:
    """Find the packages that set-up has fetched; if they are not there, an ExtensionError says what to run."""
    folder = Path(__file__).resolve().parents[1] / "_vendor" / "node_modules"
    if not (folder / MATHJAX / MATHJAX_PARTS[0]).exists():
        raise ExtensionError(f"{folder} has no MathJax: run `python scripts/vendor.py` (a part of `make setup`) first")
    return folder


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder unless the copy there is as new and as large."""
    if source.is_dir():
        for path in source.rglob("*"):
            if path.is_file():
                copy(path, target / path.relative_to(source))
        return
    if target.exists():
        old, new = target.stat(), source.stat()
        if old.st_size == new.st_size and old.st_mtime >= new.st_mtime:
            return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def subset_icons(font: Path, target: Path) -> None:
    """Write the few icons that pages show as a small font of their own."""
    options = subset.Options(flavor="woff", layout_features=[], name_IDs=[0, 1, 2, 13, 14], notdef_outline=True)
    with subset.load_font(str(font), options) as whole:
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=ICONS.values())
        cutter.subset(whole)
        subset.save_font(whole, str(target), options)


def early_faces(stylesheet: str, fonts: Path, names: tuple[str, ...]) -> str:
    """Write a script that adds `EARLY` faces: [family, file in base64, descriptors] each, and what reads them.

    ``stylesheet`` is the text of fonts.css, which says what each file, by its name in the folder ``fonts``, holds.
    """
    faces = []
    for name in names:
        (rule,) = (rule for rule in DESCRIBED.findall(stylesheet) if f"/{name}.woff2" in rule)
        rules = dict(re.findall(r"([\w-]+): (.*?);", rule))
        how = {"weight": rules["font-weight"], "style": rules["font-style"], "unicodeRange": rules["unicode-range"]}
        data = base64.b64encode((fonts / f"{name}.woff2").read_bytes()).decode()
        faces.append([rules["font-family"].strip('"'), data, how])
    if names == EARLY[FACE_START]:
        # By it MathJax's letters find the line, whatever face stands in for them meanwhile.
        zero = fonts.parent / "mathjax/output/chtml/fonts/woff-v2/MathJax_Zero.woff"
        faces.append(["MJXZERO", base64.b64encode(zero.read_bytes()).decode(), {}])
    script = Path(__file__).with_name("faces.js").read_text(encoding="utf-8")
    return f"globalThis.softlookupFaces={json.dumps(faces)};\n{script}"


def start_slanted(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """On pages with slanted letters, load these before the page is drawn."""
    if SLANTED.search(context.get("body", "")):
        app.add_js_file(SLANTED_START, priority=100)


def install(app: Sphinx) -> None:
    """Copy MathJax, the fonts, the runner of widgets and the icons into the built book."""
    if app.builder.format != "html":
        return
    modules = node_modules(app)
    static = Path(app.outdir) / "_static"
    for part in MATHJAX_PARTS:
        copy(modules / MATHJAX / part, static / VENDOR / "mathjax" / part)
    for package, faces in FONTS.items():
        for face in faces:
            copy(modules / package / "files" / f"{face}.woff2", static / VENDOR / "fonts" / f"{face}.woff2")
        copy(modules / package / "LICENSE", static / VENDOR / "fonts" / f"{package.rpartition('/')[2]}-licence.txt")
    copy(Path(__file__).with_name("widgets.js"), static / WIDGET_START)
    stylesheet = (Path(__file__).parents[1] / "_static/fonts.css").read_text(encoding="utf-8")
    for script, names in EARLY.items():
        (static / script).write_text(early_faces(stylesheet, static / VENDOR / "fonts", names), encoding="utf-8")

    import pydata_sphinx_theme

    theme = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
    icons = static / VENDOR / "icons.woff"
    if not icons.exists() or icons.stat().st_mtime < Path(__file__).stat().st_mtime:
        subset_icons(theme / "vendor/fontawesome/webfonts/fa-solid-900.ttf", icons)


def fallbacks(app: Sphinx, pagename: str) -> dict[str, str]:
    """Collect the HTML that a page's widgets bring for readers without scripts, by model id."""
    env: Any = app.env  # where myst-nb notes what widgets need
    files = env.nb_metadata.get(pagename, {}).get("js_files", {})
    _, attributes = files.get("ipywidgets_state", (None, {"body": "{}"}))
    models = json.loads(attributes["body"]).get("state", {})
    html = {name: model["state"].get("fallback", "") for name, model in models.items()}
    return {name: text for name, text in html.items() if text}


def start_widgets(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """On pages with widgets, load what runs them, and put each one's fallback where it will appear."""
    if VIEW.search(context.get("body", "")) is None:
        return
    app.add_js_file(WIDGET_START, loading_method="defer")
    html = fallbacks(app, pagename)

    def with_fallback(view: re.Match[str]) -> str:
        fallback = html.get(json.loads(view["json"])["model_id"])
        return f'<div class="widget-fallback">{fallback}</div>{view[0]}' if fallback else view[0]

    context["body"] = VIEW.sub(with_fallback, context["body"])


FORMULA = re.compile(r'class="[^"]*\bmath\b|\\[(\[]')
"""What MathJax typesets: Sphinx's own formulas, and those between its signs in what cells and questions write."""


WORK = {
    "tex-chtml.js": FORMULA,
    "panels.js": re.compile(r"\bdata-panels="),
    "design-tabs.js": re.compile(r'class="[^"]*\bsd-tab-'),
    "togglebutton.js": re.compile(r'class="[^"]*(?:\btoggle\b|\btag_hide|\badmonition\b[^"]*\bdropdown\b)'),
}
"""What of a page each of these scripts works on."""


def drop_idle_scripts(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Leave out of a page the scripts that find nothing to do there.

    Sphinx loads MathJax too where a page below in the contents has a formula.
    """
    body = context.get("body", "")
    idle = tuple(name for name, needs in WORK.items() if needs.search(body) is None)
    context["script_files"][:] = [
        file
        for file in context["script_files"]
        if not (idle and str(file.filename or "").endswith(idle))
        and not ("tex-chtml.js" in idle and str(file.attributes.get("body", "")).startswith("window.MathJax"))
    ]


def without_idle_icons(stylesheet: str) -> str:
    """Leave out what styles say of icons that our font has no letter for."""
    letters = {f"\\{code:x}" for code in ICONS.values()}
    return ICON_RULE.sub(lambda rule: rule[0] if rule["sign"] in letters else "", stylesheet)


def sweep(app: Sphinx, exception: Exception | None) -> None:
    """Drop the theme's icon scripts, fonts and source maps, which no page loads any more, and our scripts' comments.

    Of the theme's styles go the descriptions of that font and of icons that no page has.
    """
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    (static / "scripts/fontawesome.js").unlink(missing_ok=True)
    shutil.rmtree(static / "vendor/fontawesome", ignore_errors=True)
    for leftover in [*static.rglob("*.map"), *static.rglob("*.LICENSE.txt")]:
        leftover.unlink()
    sources = (Path(__file__).parents[1] / "_static").glob("*.[cj]s*")
    for file in [static / WIDGET_START, *(static / source.name for source in sources)]:
        file.write_text(without_comments(file.read_text(encoding="utf-8")), encoding="utf-8")
    for style in (static / "styles").glob("*.css"):
        text = style.read_text(encoding="utf-8")
        style.write_text(without_idle_icons(FACE.sub("", text)), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Hook the copying in. ``mathjax_path`` in _config.yml names the copy."""
    # Jupyter Book always sets this value of sphinx_comments, and would warn where that extension is left out.
    app.add_config_value("comments_config", {}, "")
    app.add_js_file(FACE_START, priority=100)  # before all other scripts, and before the page's text
    app.connect("builder-inited", install)
    app.connect("html-page-context", start_widgets)
    app.connect("html-page-context", start_slanted, priority=900)  # when all has been written into the page's body
    app.connect("html-page-context", drop_idle_scripts, priority=900)  # after Sphinx has put it there
    app.connect("build-finished", sweep, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
