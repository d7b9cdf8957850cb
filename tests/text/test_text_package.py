"""The package as a whole: light to import, and every public name explained."""

import subprocess
import sys

from softlookup import text


def test_importing_it_loads_nothing_heavy():
    code = "import sys, softlookup.text; print(sorted({'torch', 'tokenizers', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_names_are_there_and_have_a_docstring():
    assert list(text.__all__) == sorted(text.__all__)
    for name in text.__all__:
        assert getattr(text, name).__doc__
