"""Write the address of the published book into _config.yml, and leave the rest of the file as it is.

python scripts/set_address.py https://example.org/soft-lookup/
"""

import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

CONFIG = Path(__file__).resolve().parents[1] / "_config.yml"
_BOOK = re.compile(r'(?m)^(      book: )"[^"\n]*"')


def with_address(text: str, address: str) -> str:
    """The settings with an address of the book.

    ValueError if it is no address, or the settings have no place for one.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or re.search(r'[\s"\\]', address):
        raise ValueError(f"{address!r} is no address: give one such as https://example.org/soft-lookup/")
    changed, count = _BOOK.subn(rf'\g<1>"{address}"', text)
    if count != 1:
        raise ValueError(f"softlookup_launch in the settings has {count} lines for book, and should have one")
    return changed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        CONFIG.write_text(with_address(CONFIG.read_text(encoding="utf-8"), sys.argv[1]), encoding="utf-8")
    except ValueError as error:
        sys.exit(str(error))
