"""The page that asks a coding assistant to teach, not to solve: where the tools look for it.

Nearly all tools read ``AGENTS.md``. The others are handed one line that leads there.
"""

from collections.abc import Mapping
from pathlib import Path

_LEADS = b"@AGENTS.md\n"


def assistants_files() -> Mapping[str, bytes]:
    """The files, by name: the page, and those that lead to it."""
    page = Path(__file__).with_name("tutor.md").read_bytes()
    return {"AGENTS.md": page, "CLAUDE.md": _LEADS, "GEMINI.md": _LEADS}
