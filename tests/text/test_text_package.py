"""The package as a whole: light to import, its examples true."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

from softlookup import text

MODULES = [f"softlookup.text.{module.name}" for module in pkgutil.iter_modules(text.__path__)]


def test_importing_it_loads_nothing_heavy():
    code = "import sys, softlookup.text; print(sorted({'torch', 'tokenizers', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_show(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_all_names_are_there_and_have_a_docstring():
    assert list(text.__all__) == sorted(text.__all__)
    for name in text.__all__:
        assert getattr(text, name).__doc__
