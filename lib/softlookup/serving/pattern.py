"""Regular expressions as automata: which character may follow, whatever the text so far.

Letters of its own: S states, C classes of characters that the pattern does not distinguish.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_letters, digits, whitespace

import numpy as np
from jaxtyping import Bool, Int


@dataclass(frozen=True)
class _Characters:
    """One character: of these, or any but these."""

    members: frozenset[str]
    is_negated: bool = False

    def has(self, character: str) -> bool:
        return (character in self.members) != self.is_negated


@dataclass(frozen=True)
class _Star:
    body: "_Sequence"


@dataclass(frozen=True)
class _Choice:
    options: tuple["_Sequence", ...]


_Node = _Characters | _Star | _Choice
_Sequence = tuple[_Node, ...]

_CLASSES = {"d": frozenset(digits), "w": frozenset(ascii_letters + digits + "_"), "s": frozenset(whitespace)}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_OTHER = ""
"""Stands for all characters that the pattern does not mention."""


@dataclass(frozen=True, eq=False)
class Automaton:
    """A deterministic automaton over characters. It begins in state 0.

    From each of its states a final state can be reached, so that a text which has not left it can be completed.

    Attributes:
        next_state: The state after a character, -1 where there is none.
        final: In which states the text is complete.
        columns: The column of each character that the pattern mentions.
        other: The column of all other characters.

    Source: Hopcroft, Motwani & Ullman 2006, section 2.2. Book: 16_serving.html#serving-structured.
    """

    next_state: Int[np.ndarray, "S C"]
    final: Bool[np.ndarray, " S"]
    columns: dict[str, int]
    other: int

    def walk(self, state: int, text: str) -> int:
        """Follow a text.

        Args:
            state: Where to begin.
            text: Characters; none of them leaves the state as it is.

        Returns:
            The state behind the text, or -1 where it leaves the automaton.

        Book: 16_serving.html#serving-structured.
        """
        for character in text:
            state = int(self.next_state[state, self.columns.get(character, self.other)])
            if state < 0:
                break
        return state

    def matches(self, text: str) -> bool:
        """Say whether the whole text fits the pattern.

        Args:
            text: Any text.

        Returns:
            True if it ends in a final state.

        Book: 16_serving.html#serving-structured.
        """
        state = self.walk(0, text)
        return state >= 0 and bool(self.final[state])


def compile_pattern(pattern: str) -> Automaton:
    r"""Turn a regular expression into an automaton.

    It reads what `re.fullmatch` reads, of this part of its syntax: characters, `.`, classes such as `[a-z]` and
    `[^"]`, `\d`, `\w`, `\s` (of ASCII), escapes, groups, `|`, `*`, `+`, `?`, `{n}` and `{m,n}`.

    Args:
        pattern: The regular expression.

    Returns:
        The automaton. Its states are the sets of what may follow.

    Raises:
        ValueError: If the pattern is not of this syntax; the message names the place.

    Cost: one look at each state for each character that the pattern mentions. The states may be exponentially many.

    Source: Antimirov 1996, section 2 (partial derivatives). Book: 16_serving.html#serving-structured.

    >>> compile_pattern("(red|green)( wine)?").matches("green wine")
    True
    """
    start = frozenset({_Parser(pattern).parse()})
    mentioned = sorted({character for sequence in start for character in _mentioned(sequence)})
    characters = [*mentioned, _OTHER]
    numbers, rows, queue = {start: 0}, [], [start]
    for state in queue:  # grows while it is read
        row = []
        for character in characters:
            after = frozenset(rest for sequence in state for rest in _after(sequence, character))
            if after and after not in numbers:
                numbers[after] = len(queue)
                queue.append(after)
            row.append(numbers.get(after, -1))
        rows.append(row)
    final = np.array([any(map(_may_be_empty, state)) for state in queue])
    columns = {character: column for column, character in enumerate(mentioned)}
    return Automaton(np.array(rows, dtype=np.int64), final, columns, len(mentioned))


def _after(sequence: _Sequence, character: str) -> set[_Sequence]:
    """What may follow the character, where the sequence begins with it."""
    if not sequence:
        return set()
    node, rest = sequence[0], sequence[1:]
    match node:
        case _Characters():
            return {rest} if node.has(character) else set()
        case _Star():
            ends = {(*end, node) for end in _after(node.body, character)}
        case _Choice():
            ends = {end for option in node.options for end in _after(option, character)}
    follows = {end + rest for end in ends}
    return follows | _after(rest, character) if _may_be_empty((node,)) else follows


def _may_be_empty(sequence: _Sequence) -> bool:
    return all(
        isinstance(node, _Star) or (isinstance(node, _Choice) and any(map(_may_be_empty, node.options)))
        for node in sequence
    )


def _mentioned(sequence: _Sequence) -> Iterator[str]:
    for node in sequence:
        match node:
            case _Characters():
                yield from node.members
            case _Star():
                yield from _mentioned(node.body)
            case _Choice():
                for option in node.options:
                    yield from _mentioned(option)


class _Parser:
    """Reads a pattern from left to right: alternatives of sequences of repeated atoms."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def parse(self) -> _Sequence:
        sequence = self.alternatives()
        if self.at < len(self.pattern):
            raise self.error("a closing parenthesis without an opening one")
        return sequence

    def error(self, problem: str) -> ValueError:
        return ValueError(f"pattern {self.pattern!r}: {problem} at character {self.at}")

    def next_is(self, character: str) -> bool:
        return self.pattern[self.at : self.at + 1] == character

    def take(self, character: str) -> bool:
        is_there = self.next_is(character)
        self.at += is_there
        return is_there

    def read(self) -> str:
        if self.at == len(self.pattern):
            raise self.error("the pattern ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def alternatives(self) -> _Sequence:
        options = [self.sequence()]
        while self.take("|"):
            options.append(self.sequence())
        return options[0] if len(options) == 1 else (_Choice(tuple(options)),)

    def sequence(self) -> _Sequence:
        nodes: _Sequence = ()
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            nodes += self.repeated(self.atom())
        return nodes

    def repeated(self, body: _Sequence) -> _Sequence:
        if self.take("*"):
            repeated: _Sequence = (_Star(body),)
        elif self.take("+"):
            repeated = (*body, _Star(body))
        elif self.take("?"):
            repeated = (_Choice((body, ())),)
        elif self.take("{"):
            repeated = self.counted(body)
        else:
            return body
        if self.pattern[self.at : self.at + 1] in tuple("*+?{"):
            raise self.error("a repetition of a repetition; put the first into parentheses")
        return repeated

    def counted(self, body: _Sequence) -> _Sequence:
        least = most = self.count()
        if self.take(","):
            most = self.count()
        if not self.take("}") or most < least:
            raise self.error("a repetition that is neither {n} nor {m,n} with m at most n")
        optional: _Sequence = ()
        for _ in range(most - least):  # (body(body(body)?)?)?
            optional = (_Choice((body + optional, ())),)
        return body * least + optional

    def count(self) -> int:
        begin = self.at
        while self.pattern[self.at : self.at + 1] in tuple(digits):
            self.at += 1
        if begin == self.at:
            raise self.error("a repetition without its count")
        return int(self.pattern[begin : self.at])

    def atom(self) -> _Sequence:
        character = self.read()
        if character == "(":
            body = self.alternatives() if not self.next_is("?") else None
            if body is None or not self.take(")"):
                raise self.error("a group that is not closed, or of another kind than (...)")
            return body
        if character == ".":
            return (_Characters(frozenset("\n"), is_negated=True),)
        if character == "[":
            return (self.character_class(),)
        if character == "\\":
            return (_Characters(self.escaped()),)
        if character in "*+?{^$":
            self.at -= 1
            raise self.error(f"{character!r} where a character should stand; write \\{character} for the character")
        return (_Characters(frozenset(character)),)

    def escaped(self) -> frozenset[str]:
        character = self.read()
        if character in _CLASSES:
            return _CLASSES[character]
        if character.isalnum() and character not in _ESCAPES:
            raise self.error(f"the escape \\{character}, which is not supported,")
        return frozenset(_ESCAPES.get(character, character))

    def character_class(self) -> _Characters:
        is_negated = self.take("^")
        members: frozenset[str] = frozenset()
        while not members or not self.next_is("]"):
            character = self.read()
            first = self.escaped() if character == "\\" else frozenset(character)
            if self.next_is("-") and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                character = self.read()
                last = self.escaped() if character == "\\" else frozenset(character)
                if len(first) > 1 or len(last) > 1 or min(first) > min(last):
                    raise self.error("a range whose ends are not two characters in order")
                first = frozenset(map(chr, range(ord(min(first)), ord(min(last)) + 1)))
            members |= first
        self.at += 1
        return _Characters(members, is_negated)
