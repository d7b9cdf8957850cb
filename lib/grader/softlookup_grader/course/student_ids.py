"""Which names of folders can be students' ids: those that gradebook, commands and formgrader all take as they are."""

import difflib
import unicodedata
from collections import Counter
from collections.abc import Collection

MOST = 128  # characters that nbgrader's gradebook has room for; SQLite takes more, PostgreSQL does not

_SPECIAL = {
    "*?[]": "nbgrader takes for a pattern",
    "#%\\": "the formgrader's addresses take for something else",
    '"<>&`': "web pages take for something else",
}


def id_trouble(name: str) -> str:
    """Why a folder's name cannot be a student's id, half a sentence; empty if it can.

    >>> id_trouble("ada"), id_trouble("a*")
    ('', "its name holds '*', which nbgrader takes for a pattern")
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        return "its name is not text in UTF-8"
    if not name or "/" in name:
        return "its name cannot be that of a folder"
    if name.startswith("."):
        return "its name begins with a dot, which hides a folder"
    if name.startswith("-"):
        return "its name begins with a hyphen, which commands take for an option"
    if name != name.strip():
        return "its name begins or ends with a blank, which nbgrader cuts off"
    if any(unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" for c in name):
        return "its name holds characters that cannot be seen"
    for signs, meaning in _SPECIAL.items():
        sign = next((sign for sign in signs if sign in name), "")
        if sign:
            return f"its name holds {sign!r}, which {meaning}"
    if len(name) > MOST:
        return f"its name has {len(name)} characters, and the gradebook has room for {MOST}"
    return ""


def left_out(names: Collection[str]) -> dict[str, str]:
    """Which of these folders nobody's submissions are taken from, each with the reason."""
    reasons = {name: why for name in names if (why := id_trouble(name))}
    alike = Counter(_spelt(name) for name in names if name not in reasons)
    for name in names:
        if name not in reasons and alike[_spelt(name)] > 1:
            reasons[name] = "another folder's name differs from it in capitals or in the composition of letters alone"
    return reasons


def quoted_id(name: str) -> str:
    r"""A folder's name, quoted, as it can be shown on one line.

    >>> quoted_id("é" + chr(10)), quoted_id("a" * 99)
    ("'é\\n'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'")
    """
    return repr(name if len(name) <= 60 else name[:60] + "…")


def nobody(student: str, everybody: Collection[str]) -> str:
    """Say that nobody in the class has an id, and which ids may be meant.

    >>> nobody("123", ["00123", "ada"])
    "nobody in the class has the id '123'; did you mean 00123?"
    """
    why = id_trouble(student)
    hint = (
        f": {why}"
        if why
        else did_you_mean(student, everybody) or ": ids are those of the class list and the folders of submitted/"
    )
    return f"nobody in the class has the id {quoted_id(student)}{hint}"


def did_you_mean(student: str, everybody: Collection[str]) -> str:
    """The ids that an unknown one may stand for, half a sentence: other leading zeros, close names."""
    near = {name: None for name in everybody if _spelt(name).lstrip("0") == _spelt(student).lstrip("0")}
    near |= dict.fromkeys(difflib.get_close_matches(student, everybody, n=3))
    near.pop(student, None)
    return f"; did you mean {', '.join(list(near)[:3])}?" if near else ""


def _spelt(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
