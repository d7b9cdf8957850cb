"""Packages whose names, listed as imports in ``__init__.pyi``, are loaded at their first use, each by itself."""

import ast
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package that finds its names when they are asked for; ``homes`` says in which modules they are."""

    homes: dict[str, str]
    absent: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        """Load the module of a name; AttributeError with the names that the package has, if it lacks this one."""
        if name in type(self).absent:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}: {type(self).absent[name]}")
        if name not in type(self).homes:
            raise AttributeError(
                f"module {self.__name__!r} has no attribute {name!r}; it has {', '.join(sorted(type(self).homes))}"
            )
        attribute = getattr(import_module(type(self).homes[name]), name)
        setattr(self, name, attribute)
        return attribute

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep a module that Python puts here from hiding what it defines under the same name."""
        if isinstance(value, ModuleType) and type(self).homes.get(name) == value.__name__:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """List the names, those not loaded yet included."""
        return sorted({*super().__dir__(), *type(self).homes})


def attach(package: str, absent: Mapping[str, str] | None = None) -> list[str]:
    """Let a package load its names at first use, and give them for ``__all__``; ``absent`` says what else to write."""
    module = sys.modules[package]
    # The loader reads it, since in a page of the book the library is an archive.
    stub_source = module.__spec__.loader.get_data(str(Path(str(module.__file__)).with_suffix(".pyi")))  # type: ignore[union-attr]
    homes = {
        alias.asname or alias.name: str(node.module)
        for node in ast.parse(stub_source).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    module.__class__ = type("LazyPackage", (LazyPackage,), {"homes": homes, "absent": absent or {}})
    return sorted(homes)
