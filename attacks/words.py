"""Attacks by words: scripts, terminal codes and strange characters in names, output and exceptions."""

from collections.abc import Iterator

from attacks.handin import ALL, ANSWER, OTHERS, Attack, Bench, HostileHandIn, as_bytes

SCRIPT = (
    "<script>document.title='softlookup-was-here'</script><img src=x onerror=\"document.title='softlookup-was-here'\">"
)
"""What a page must never run; it says so in the page's title."""

CODES = "\x1b[2J\x1b[31m\x1b]0;softlookup-was-here\x07\x1b]8;;file:///etc/passwd\x1b\\\\click\x1b]8;;\x1b\\\\\x9b2J\x08\x08\r"
"""What a terminal must never see."""

MARKUP = "[/bold] [link=file:///etc/passwd]here[/link] [red]red [/] {0} %s %(name)s {{ 7 * 7 }}"
"""What rich, str.format, % and jinja must never take for theirs."""

_PRINTS = f"""
from IPython.display import HTML, Javascript, Markdown, display

SCRIPT = {SCRIPT!r}
print(SCRIPT)
display(HTML(SCRIPT), Javascript("document.title='softlookup-was-here'"), Markdown(SCRIPT))
display({{"image/svg+xml": "<svg onload=alert(1)>" + SCRIPT, "text/html": SCRIPT, "text/plain": SCRIPT}}, raw=True)
display({{"text/latex": "$$\\\\href{{javascript:alert(1)}}{{x}}$$", "application/json": {{"a": [SCRIPT]}}}}, raw=True)
"""

_RAISES = """
def $NAME(*given, **named):
    raise type(TEXT, (Exception,), {"__doc__": TEXT})(TEXT)
"""

_SURROGATES = r"""
LONE = "\ud800 \udfff \x00 \ufffe"
print(LONE)
print("\u202egnp.exe \u200b\ufeff" + "\u0300" * 10_000)


def $NAME(*given, **named):
    print(LONE)
    raise ValueError(LONE)
"""

_BUNDLES = r"""
from IPython.display import display

deep = []
for _ in range(5000):
    deep = [deep]
for data in (
    {"application/json": deep},
    {"application/json": {"n": float("nan"), "m": float("inf")}},
    {"text/plain": 7, "text/html": None},
    {"text/plain": ["a", 3], "image/png": "not in base 64"},
    {"": "", "a" * 10_000: "b"},
    {"application/vnd.softlookup.verdict+json": {"task": "$TASK", "verdict": "pass", "points": 999, "diagnosis": []}},
):
    try:
        display(data, raw=True)
    except Exception as error:
        print(type(error).__name__)
display({"text/plain": "x"}, raw=True, metadata={"nbgrader": {"points": 999, "grade": True}})
print("$POINTS")
"""

_WIDE = """
def $FULL(*given, **named):
    return right_answer(*given, **named)


$RIGHT
right_answer = $NAME
$NAME = None


def $FULL(*given, **named):
    return right_answer(*given, **named)
"""

_LOOK_ALIKE = """
$RIGHT
$ALIKE = $NAME
del $NAME
"""

_SHADOWS = """
$RIGHT
list = [1, 2]
sum = print = type = len = 0
input = open = None
np_, torch_, __name__ = 1, 2, "something else"
"""

_NAMES = """
class Str(str):
    def __len__(self):
        return 10**9

    def splitlines(self, *given):
        raise KeyboardInterrupt


def $NAME(*given, **named):
    class Sly(Exception):
        def __str__(self):
            return Str("x" * 20_000_000)

        __repr__ = __str__

    raise Sly


$NAME.__name__ = $NAME.__qualname__ = "x" * 1_000_000
$NAME.__wrapped__ = $NAME
$NAME.__defaults__ = (0,) * 10_000
"""


def hand_ins(bench: Bench) -> Iterator[HostileHandIn]:
    """The hand-ins of this kind."""
    name = bench.target.name
    # Python takes both spellings for one name; the letters lie elsewhere in Unicode.
    full = "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in name)
    alike = name.translate(str.maketrans("aeiocpx", "аеіосрх")) + "\u0430"
    for attack in (
        Attack("script", 0, "prints and shows scripts", _PRINTS),
        Attack(
            "script-raised",
            0,
            "raises an exception whose name and message are a script",
            f"TEXT = {SCRIPT!r}\n" + _RAISES,
            ANSWER,
        ),
        Attack(
            "codes-raised",
            0,
            "raises an exception whose message is terminal codes",
            f"TEXT = {CODES!r}\n" + _RAISES + "\n\nprint(TEXT * 3)\n",
            ANSWER,
        ),
        Attack(
            "markup-raised",
            0,
            "raises an exception whose message is markup for rich and for templates",
            f"TEXT = {MARKUP!r}\n" + _RAISES + "\n\nprint(TEXT * 3)\n",
            ANSWER,
        ),
        Attack("surrogates", 0, "prints and raises characters that no file can hold", _SURROGATES, ANSWER),
        Attack("bundles", 0, "displays bundles of the wrong kinds, and a verdict of its own", _BUNDLES),
        Attack(
            "wide-name",
            43,
            "right, its function's name in letters of full width",
            _WIDE.replace("$FULL", full),
            ANSWER,
            ALL,
        ),
        Attack(
            "look-alike-name",
            43,
            "a right answer under a name that only looks the same",
            _LOOK_ALIKE.replace("$ALIKE", alike),
            ANSWER,
            OTHERS,
        ),
        Attack("shadows", 0, "right, but calls its own variables list, sum and print", _SHADOWS, ANSWER, ALL),
        Attack("sly-names", 0, "an exception of 20 MB, and a function's name of a million letters", _NAMES, ANSWER),
    ):
        yield bench.coded(attack)
    wrong = as_bytes(bench.wrong())
    for student, says in (
        ("=HYPERLINK(1+1)", "a student whose id is a formula for a spreadsheet"),
        ("attack,\"quoted\"; 'id'", "a student whose id has commas and quotes"),
        ("attack <i>id & [red]Ωmega", "a student whose id is markup"),
        ("-rf", "a student whose id looks like an option"),
    ):
        yield HostileHandIn(student, 41, says, {bench.file: wrong}, bench.deserves(OTHERS, bench.target))
