"""Take out of a WebAssembly module what a page has no use for: names for debuggers, and functions of packages.

The functions of one object file stand together in a module, so that a package is a range between two of them. A
function in such a range keeps its place and loses its body, unless something that stays calls it by its name. Calls
through tables of pointers are not followed: a range must not hold what such a table leads to.
"""

from collections.abc import Iterable, Iterator

CODE, IMPORTS, CUSTOM = 10, 2, 0
TRAP = b"\x03\x00\x00\x0b"
"""A body of three bytes: no variables, `unreachable`, `end`."""

_ONE = {0x0C, 0x0D, 0x14, 0x15, 0x18, 0x07, 0x08, 0x09, *range(0x20, 0x27), 0x3F, 0x40, 0xD0, *range(0xD4, 0xD7)}
"""Instructions followed by one number."""
_NONE = {0x00, 0x01, 0x05, 0x0A, 0x0B, 0x0F, 0x19, 0x1A, 0x1B, 0xD1, 0xD3, *range(0x45, 0xC5)}
"""Instructions followed by nothing."""


class Module:
    """A module's functions: where their bodies lie, what they are called, whom they call."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.sections: list[tuple[int, int, int]] = []
        self.bodies: list[tuple[int, int]] = []
        self.names: dict[str, int] = {}
        self.imported = 0
        at = 8
        while at < len(data):
            kind = data[at]
            length, begin = self._number(at + 1)
            self.sections.append((kind, begin, begin + length))
            at = begin + length
        for kind, begin, end in self.sections:
            if kind == IMPORTS:
                self._read_imports(begin)
            elif kind == CODE:
                self._read_bodies(begin)
            elif kind == CUSTOM:
                self._read_names(begin, end)

    def without(self, ranges: Iterable[tuple[str, str]]) -> bytes:
        """The module with the functions of some ranges emptied, and without what debuggers read.

        A range has the names of the function before it, which stays, and of the one behind its end, which stays too.
        KeyError if the module has no function of such a name.
        """
        cut = {n for first, last in ranges for n in range(self.names[first] + 1, self.names[last])}
        queue = [n for n in range(self.imported, self.imported + len(self.bodies)) if n not in cut]
        seen = set(queue)
        while queue:
            for called in self._called(queue.pop()):
                if called >= self.imported and called not in seen:
                    seen.add(called)
                    queue.append(called)
        code = bytearray(_written(len(self.bodies)))
        for number, (begin, end) in enumerate(self.bodies, self.imported):
            code += _written(end - begin) + self.data[begin:end] if number in seen else TRAP
        module = bytearray(self.data[:8])
        for kind, begin, end in self.sections:
            if kind != CUSTOM:
                content = code if kind == CODE else self.data[begin:end]
                module += bytes([kind]) + _written(len(content)) + content
        return bytes(module)

    def _number(self, at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = self.data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if not byte & 128:
                return value, at

    def _past(self, at: int, count: int = 1) -> int:
        """The place behind some numbers."""
        for _ in range(count):
            while self.data[at] & 128:
                at += 1
            at += 1
        return at

    def _read_imports(self, at: int) -> None:
        count, at = self._number(at)
        for _ in range(count):
            for _ in range(2):
                length, at = self._number(at)
                at += length
            kind = self.data[at]
            if kind == 0:
                self.imported += 1
                at = self._past(at + 1)
            else:
                raise ValueError("this module imports more than functions, which is not read here")

    def _read_bodies(self, at: int) -> None:
        count, at = self._number(at)
        for _ in range(count):
            length, at = self._number(at)
            self.bodies.append((at, at + length))
            at += length

    def _read_names(self, at: int, end: int) -> None:
        length, at = self._number(at)
        if self.data[at : at + length] != b"name":
            return
        at += length
        while at < end:
            kind = self.data[at]
            length, at = self._number(at + 1)
            if kind == 1:
                count, place = self._number(at)
                for _ in range(count):
                    number, place = self._number(place)
                    size, place = self._number(place)
                    self.names.setdefault(self.data[place : place + size].decode("utf-8", "replace"), number)
                    place += size
            at += length

    def _called(self, number: int) -> Iterator[int]:
        """The functions that one calls, or takes the address of.

        If an instruction is not known, so that nobody can tell where the next one begins, it is a ValueError.
        """
        data, past = self.data, self._past
        at, end = self.bodies[number - self.imported]
        groups, at = self._number(at)
        at = past(at, 2 * groups)
        while at < end:
            code = data[at]
            at += 1
            if code in _NONE:
                continue
            if code in (0x10, 0x12, 0xD2):  # call, return_call, ref.func
                called, at = self._number(at)
                yield called
            elif code in _ONE or code in (0x02, 0x03, 0x04, 0x06, 0x41, 0x42):
                at = past(at)
            elif code in (0x11, 0x13) or 0x28 <= code <= 0x3E:
                at = past(at, 2)
            elif code == 0x0E:
                count, at = self._number(at)
                at = past(at, count + 1)
            elif code == 0x1C:
                count, at = self._number(at)
                at = past(at, count)
            elif code == 0x1F:
                count, at = self._number(past(at))
                for _ in range(count):
                    at = past(at + 1, 2 if data[at] < 2 else 1)
            elif code in (0x43, 0x44):
                at += 4 if code == 0x43 else 8
            elif code in (0xFC, 0xFD, 0xFE):
                more, at = self._number(at)
                at = self._past_long(code, more, at)
            else:
                raise ValueError(f"instruction {code:#x} at {at - 1} is not known")

    def _past_long(self, code: int, more: int, at: int) -> int:
        """The place behind what follows an instruction of two numbers."""
        if code == 0xFC:
            return self._past(at, 0 if more < 8 else 2 if more in (8, 10, 12, 14) else 1)
        if code == 0xFE:
            return at + 1 if more == 3 else self._past(at, 2)
        if more <= 11 or more in (92, 93):
            return self._past(at, 2)
        if more in (12, 13):
            return at + 16
        if 84 <= more <= 91:
            return self._past(at, 2) + 1
        return at + 1 if 21 <= more <= 34 else at


def _written(value: int) -> bytes:
    out = bytearray()
    while True:
        value, byte = value >> 7, value & 127
        out.append(byte | 128 if value else byte)
        if not value:
            return bytes(out)
