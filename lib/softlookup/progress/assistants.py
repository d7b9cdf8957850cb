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


def add_assistants(folder: Path) -> list[str]:
    """Write those files that are not there; what somebody wrote there stays.

    Args:
        folder: A folder that is there.

    Returns:
        The names of those that were written.
    """
    missing = {name: text for name, text in assistants_files().items() if not (folder / name).exists()}
    for name, text in missing.items():
        (folder / name).write_bytes(text)
    return list(missing)


def remove_assistants(folder: Path) -> list[str]:
    """Remove those files that are as they were written.

    Returns:
        The names of those that somebody changed, and that stay.
    """
    changed = []
    for name, text in assistants_files().items():
        path = folder / name
        if path.is_file() and path.read_bytes() != text:
            changed.append(name)
        else:
            path.unlink(missing_ok=True)
    return changed
