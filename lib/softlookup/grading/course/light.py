"""nbformat, imported without the second and a half that one of its dependencies takes to build a grammar.

jsonschema builds a parser for internationalised addresses when it is imported, if it finds the package for that.
Notebooks hold no such thing, and every process that grades would wait for it.
"""

import sys

_SLOW = "rfc3987_syntax"

if _SLOW in sys.modules:
    import nbformat
else:
    sys.modules[_SLOW] = None  # type: ignore[assignment]
    try:
        import nbformat
    finally:
        del sys.modules[_SLOW]

__all__ = ["nbformat"]
