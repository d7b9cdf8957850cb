"""The entries of a config.json, filled with the defaults that transformers has for its model_type."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from softlookup.describing.entries import Entries
from softlookup.describing.strays import passed_by

DEFAULTS = Path(__file__).parent / "decoder_defaults.json"
PLAIN_ROPE: Mapping[str, Any] = {"rope_theta": 10_000.0, "rope_type": "default"}
"""The rotary positions of a model_type that has none on file."""


@cache
def decoder_defaults() -> Mapping[str, Any]:
    """The defaults of each model_type, and other names of entries, as ``scripts/build_decoder_defaults.py`` wrote them.

    It has "transformers", the version; "wrappers", the models of text and images by model_type, and whether their
    output matrix is the table of tokens; "families", for each model_type its "entries" and "names", and its "rope"
    where that is not ``PLAIN_ROPE``.
    """
    table: Mapping[str, Any] = json.loads(DEFAULTS.read_text(encoding="utf-8"))
    return table


class FilledEntries(Entries):
    """A description of a model_type whose defaults are on file: what it leaves out is read from there.

    Unlike in ``Entries``, null is null: it is refused where a number is needed.

    Arguments and errors as in ``Entries``; ValueError, too, if two names of one entry have values that differ.
    """

    def __init__(self, description: Any, kinds: Iterable[str]) -> None:
        self._defaults: Mapping[str, Any] = {}
        super().__init__(description, kinds)
        family = decoder_defaults()["families"][self.model_type]
        self._defaults = family["entries"]
        self.rope: Mapping[str, Any] = family.get("rope", PLAIN_ROPE)
        renamed: dict[str, Any] = {}
        for name, value in self._all.items():
            plain = family["names"].get(name, name)
            if plain in renamed and renamed[plain] != value and None not in (renamed[plain], value):
                raise ValueError(
                    f"{name} is {value!r}, and {plain} is {renamed[plain]!r}; these are names of one entry"
                )
            if renamed.get(plain) is None:
                renamed[plain] = value
        self._all = renamed

    def get(self, name: str, default: Any = None) -> Any:
        """Read an entry; a missing one has its model_type's default, or else the one that is handed in."""
        self._read.add(name)
        if name in self._all and (self._all[name] is not None or self._defaults.get(name) is not None):
            return self._all[name]
        value = self._defaults.get(name)
        return default if value is None else value

    def knows(self, name: str) -> bool:
        """Whether this model_type has the entry."""
        return name in self._defaults

    def has_default(self, name: str) -> bool:
        """Whether this model_type has a value for a missing entry."""
        return self._defaults.get(name) is not None

    def first(self, *names: str) -> str:
        """Find the name, of several, under which this model_type has an entry."""
        for name in names:
            if self.knows(name):
                return name
        raise ValueError(f"the description has none of {', '.join(names)}")

    def maybe(self, name: str, *, least: int = 1) -> int | None:
        """Read a whole number that may be null."""
        return None if self.get(name) is None else self.size(name, least=least)

    def switch(self, name: str | bool) -> bool:
        """Read a flag, where this model_type has it; True and False stand for themselves."""
        return name if isinstance(name, bool) else self.knows(name) and self.flag(name, False)

    def a_list(self, name: str, default: Iterable[Any] = ()) -> list[Any]:
        """Read a list of whole numbers; missing and null mean the default."""
        if (value := self.get(name)) is None:
            return list(default)
        if not isinstance(value, list | tuple) or not all(isinstance(entry, int) for entry in value):
            raise ValueError(f"{name} is {value!r}; wanted a list of whole numbers")
        return list(value)

    def names(self, name: str) -> list[str] | None:
        """Read a list of names; None where it is null or missing."""
        value = self.get(name)
        if value is not None and not (isinstance(value, list | tuple) and all(isinstance(v, str) for v in value)):
            raise ValueError(f"{name} is {value!r}; wanted a list of names")
        return None if value is None else list(value)

    def inside(self, name: str) -> "FilledEntries":
        """Read a mapping, whose entries have no defaults; missing and null are an empty one."""
        value = self.get(name, {})
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} is {value!r}; wanted a mapping")
        inner = object.__new__(FilledEntries)
        inner.model_type, inner._all, inner._read, inner._defaults = self.model_type, value, set(), {}
        return inner

    def for_each(self, name: str, n_layers: int) -> list[Any]:
        """Read a list with a value for each layer."""
        value = self[name]
        if not isinstance(value, list | tuple) or len(value) != n_layers:
            got = f"a list of {len(value)}" if isinstance(value, list | tuple) else repr(value)
            raise ValueError(
                f"{name} is {got}; wanted a list of {n_layers}, a value for each layer of num_hidden_layers"
            )
        return list(value)

    def refuse_the_rest(self, without_effect: Iterable[str] = ()) -> None:
        """Refuse what was not read, is not known to change nothing, and has another value than the default.

        ``without_effect`` are further entries that change nothing of what the caller makes of the description.
        ValueError with all other entries and their values.
        """
        same = {name for name, value in self._all.items() if name in self._defaults and value == self._defaults[name]}
        strays = passed_by(self.model_type, self._all, self._defaults)
        super().refuse_the_rest(same | strays | set(without_effect))
