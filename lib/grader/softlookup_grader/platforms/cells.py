"""Text of students in a cell of a CSV file, made so that no spreadsheet takes it for a formula.

Which sign separates cells depends on the country, so an apostrophe stands in front of whatever begins a formula, also
after every sign that may begin a cell. Source: OWASP, CSV Injection.
"""

import re

from softlookup_command.plain_text import plain
from softlookup_grader.data.tables import as_number

# The signs that begin a formula, their wide and small forms, and the minus sign of typographers.
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
_BEGINS = re.compile(rf"(^|[,;|\t\r\n\v\f\x85\u2028\u2029\"\uff0c\uff1b])(?=\s*['\"]*\s*[{_SIGNS}])")
_MANY = 10_000


def guarded(text: str) -> str:
    """Text that no spreadsheet takes for a formula, without control characters and reversed writing."""
    return plain(_BEGINS.sub(r"\1'", text), _MANY)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a cell of somebody else's file for a formula; numbers and dashes are none."""
    return as_number(text) is None and bool(text.strip("-\u2212 ")) and _BEGINS.search(text) is not None
