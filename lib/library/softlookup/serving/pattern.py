"""Regular expressions as automata: which character may follow, whatever the text so far.

Letters of its own: S states, C classes of characters that the pattern does not distinguish.
"""

from dataclasses import dataclass
from string import ascii_letters, digits, whitespace

import numpy as np
from jaxtyping import Bool, Int

from softlookup_inside.untrusted_files import shortened


@dataclass(frozen=True)
class _Characters:
    """One character: of these, or any but these."""

    members: frozenset[str]
    is_negated: bool = False

    def has(self, character: str) -> bool:
        return (character in self.members) != self.is_negated


@dataclass(frozen=True)
class _Star:
    body: int


@dataclass(frozen=True)
class _Choice:
    options: tuple[int, ...]


_Node = _Characters | _Star | _Choice
"""Bodies and options are numbers of sequences."""

_CLASSES = {"d": frozenset(digits), "w": frozenset(ascii_letters + digits + "_"), "s": frozenset(whitespace)}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_OTHER = ""
"""Stands for all characters that the pattern does not mention."""

MOST_PARTS, MOST_MEMBERS, MOST_DEPTH = 20_000, 100_000, 40
"""The most characters of a pattern whose repetitions are written out, of a class, and parentheses within each other."""
MOST_STATES, _MOST_WORK, _MOST_ENTRIES = 10_000, 2_000_000, 20_000_000
_SHORTER = "write a shorter pattern, or one with fewer and smaller counts"


@dataclass(frozen=True, eq=False)
class Automaton:
    """A deterministic automaton over characters. It begins in state 0.

    From each of its states a final state can be reached, so that a text which has not left it can be completed.

    Attributes:
        next_state: The state after a character, -1 where there is none.
        final: In which states the text is complete.
        columns: The column of each character that the pattern mentions.
        other: The column of all other characters.

    Source: Hopcroft, Motwani & Ullman 2006, section 2.2.
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
        ValueError: If the pattern is not of this syntax, or too large; the message names the place or the bound.

    Cost: one look at each state for each character that the pattern mentions. The states may be exponentially many: a
    pattern of more than MOST_STATES is refused.

    Source: Antimirov 1996, section 2 (partial derivatives).

    >>> compile_pattern("(red|green)( wine)?").matches("green wine")
    True
    """
    sequences = _Sequences(pattern)
    start = frozenset({_Parser(pattern, sequences).parse()})
    mentioned = sorted(sequences.classes_of)
    # Characters that stand in the same classes lead to the same states: the first of them is followed for all.
    first_of: dict[tuple[int, ...], str] = {}
    for character in mentioned:
        first_of.setdefault(sequences.classes_of[character], character)
    characters = [*first_of.values(), _OTHER]
    kind_of = {character: index for index, character in enumerate(characters)}
    kinds = [kind_of[first_of[sequences.classes_of[character]]] for character in mentioned] + [len(first_of)]
    numbers, rows, queue = {start: 0}, [], [start]
    for state in queue:  # grows while it is read
        row = []
        for character in characters:
            after = frozenset().union(*(sequences.after(sequence, character) for sequence in state))
            sequences.spend(len(state) + len(after))
            if after and after not in numbers:
                if len(queue) == MOST_STATES:
                    raise ValueError(
                        f"pattern {shortened(repr(pattern))} has more than {MOST_STATES:,} states, which is more than "
                        f"are made: {_SHORTER}"
                    )
                numbers[after] = len(queue)
                queue.append(after)
            row.append(numbers.get(after, -1))
        rows.append(row)
    final = np.array([any(sequences.may_be_empty[sequence] for sequence in state) for state in queue])
    columns = {character: column for column, character in enumerate(mentioned)}
    if len(rows) * len(kinds) > _MOST_ENTRIES:
        raise ValueError(
            f"pattern {shortened(repr(pattern))} has {len(rows):,} states and {len(mentioned):,} characters: its table "
            f"has more than {_MOST_ENTRIES:,} entries: {_SHORTER}"
        )
    return Automaton(np.array(rows, dtype=np.int64)[:, kinds], final, columns, len(mentioned))


class _Sequences:
    """Sequences of nodes by their numbers: each is a first node and the number of the rest, and 0 is the empty one.

    The pattern is for messages alone.

    Attributes:
        may_be_empty: For each sequence, whether the empty text fits it.
        classes_of: For each character that is mentioned, the classes in which it stands, by their numbers.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = shortened(repr(pattern))
        self._parts: list[tuple[_Node, int]] = []
        self._number_of: dict[tuple[_Node, int], int] = {}
        self._after: dict[tuple[int, str], frozenset[int]] = {}
        self._work = 0
        self.may_be_empty = [True]
        self.classes_of: dict[str, tuple[int, ...]] = {}
        self._classes: set[frozenset[str]] = set()

    def spend(self, steps: int) -> None:
        """Count the work, and refuse a pattern that would take too much of it."""
        self._work += steps
        if self._work > _MOST_WORK:
            raise ValueError(f"pattern {self._pattern} needs more than {_MOST_WORK:,} steps to read: {_SHORTER}")

    def join(self, *parts: int | _Node) -> int:
        """Put nodes and sequences after each other."""
        nodes: list[_Node] = []
        sequence = parts[-1] if parts and isinstance(parts[-1], int) else 0
        for part in parts if not sequence else parts[:-1]:
            nodes += self._nodes(part) if isinstance(part, int) else [part]
        self.spend(len(nodes))
        for node in reversed(nodes):
            known = self._number_of.get((node, sequence))
            if known is None:
                self._parts.append((node, sequence))
                known = self._number_of[node, sequence] = len(self._parts)
                self.may_be_empty.append(self._is_optional(node) and self.may_be_empty[sequence])
                if isinstance(node, _Characters):
                    self._mention(node.members)
            sequence = known
        return sequence

    def after(self, sequence: int, character: str) -> frozenset[int]:
        """What may follow the character, where a sequence begins with it."""
        known = self._after.get((sequence, character))
        if known is not None:
            return known
        ends: set[int] = set()
        at = sequence
        while at:
            node, tail = self._parts[at - 1]
            match node:
                case _Characters():
                    ends |= {tail} if node.has(character) else set()
                case _Star():
                    ends |= {self.join(end, at) for end in self.after(node.body, character)}
                case _Choice():
                    for option in node.options:
                        ends |= {self.join(end, tail) for end in self.after(option, character)}
            at = tail if self._is_optional(node) else 0
            self.spend(1 + len(ends))
        self._after[sequence, character] = frozenset(ends)
        return self._after[sequence, character]

    def _mention(self, members: frozenset[str]) -> None:
        if members not in self._classes:
            self.spend(len(members))
            for character in members:
                self.classes_of[character] = (*self.classes_of.get(character, ()), len(self._classes))
            self._classes.add(members)

    def _nodes(self, sequence: int) -> list[_Node]:
        nodes = []
        while sequence:
            node, sequence = self._parts[sequence - 1]
            nodes.append(node)
        return nodes

    def _is_optional(self, node: _Node) -> bool:
        return isinstance(node, _Star) or (
            isinstance(node, _Choice) and any(self.may_be_empty[option] for option in node.options)
        )


class _Parser:
    """Reads a pattern from left to right: alternatives of sequences of repeated atoms."""

    def __init__(self, pattern: str, sequences: _Sequences) -> None:
        self.pattern, self.at = pattern, 0
        self.sequences, self.parts, self.depth = sequences, 0, 0

    def parse(self) -> int:
        sequence = self.alternatives()
        if self.at < len(self.pattern):
            raise self.error("a closing parenthesis without an opening one")
        return sequence

    def error(self, problem: str) -> ValueError:
        return ValueError(f"pattern {shortened(repr(self.pattern))}: {problem} at character {self.at}")

    def add_parts(self, parts: int) -> None:
        """Count characters before they are written out."""
        self.parts += parts
        if self.parts > MOST_PARTS:
            raise self.error(
                f"its repetitions, written out, have more than {MOST_PARTS:,} characters, which is more than are read: "
                f"{_SHORTER};"
            )

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

    def alternatives(self) -> int:
        options = [self.sequence()]
        while self.take("|"):
            self.add_parts(1)
            options.append(self.sequence())
        return options[0] if len(options) == 1 else self.sequences.join(_Choice(tuple(options)))

    def sequence(self) -> int:
        parts: list[int] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            before = self.parts
            body = self.atom()
            parts.append(self.repeated(body, self.parts - before))
        return self.sequences.join(*parts)

    def repeated(self, body: int, size: int) -> int:
        """Repeat a body, which is so many parts of the pattern."""
        join = self.sequences.join
        if self.take("*"):
            repeated = join(_Star(body))
        elif self.take("+"):
            repeated = join(body, _Star(body))
        elif self.take("?"):
            repeated = join(_Choice((body, 0)))
        elif self.take("{"):
            repeated = self.counted(body, size)
        else:
            return body
        if self.pattern[self.at : self.at + 1] in tuple("*+?{"):
            raise self.error("a repetition of a repetition; put the first into parentheses")
        return repeated

    def counted(self, body: int, size: int) -> int:
        least = most = self.count()
        if self.take(","):
            most = self.count()
        if not self.take("}") or most < least:
            raise self.error("a repetition that is neither {n} nor {m,n} with m at most n")
        if not body:
            return 0
        self.add_parts(size * (most - 1))
        if self.sequences.may_be_empty[body]:
            least = most  # each of them may be left out anyway
        optional = 0
        for _ in range(most - least):  # (body(body(body)?)?)?
            optional = self.sequences.join(_Choice((self.sequences.join(body, optional), 0)))
        return self.sequences.join(*[body] * least, optional)

    def count(self) -> int:
        begin = self.at
        while self.pattern[self.at : self.at + 1] in tuple(digits):
            self.at += 1
        if begin == self.at:
            raise self.error("a repetition without its count")
        if self.at - begin > 9:
            raise self.error(f"a count of {self.at - begin} digits, which is more than is read,")
        return int(self.pattern[begin : self.at])

    def atom(self) -> int:
        join = self.sequences.join
        character = self.read()
        if character == "(":
            return self.group()
        self.add_parts(1)
        if character == ".":
            return join(_Characters(frozenset("\n"), is_negated=True))
        if character == "[":
            return join(self.character_class())
        if character == "\\":
            return join(_Characters(self.escaped()))
        if character in "*+?{^$":
            self.at -= 1
            raise self.error(f"{character!r} where a character should stand; write \\{character} for the character")
        return join(_Characters(frozenset(character)))

    def group(self) -> int:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self.error(f"more than {MOST_DEPTH} groups within each other, which is more than are read,")
        body = self.alternatives() if not self.next_is("?") else None
        if body is None or not self.take(")"):
            raise self.error("a group that is not closed, or of another kind than (...)")
        self.depth -= 1
        return body

    def too_large(self) -> ValueError:
        return self.error(
            f"a class of more than {MOST_MEMBERS:,} characters; write those that are not in it, as in [^...],"
        )

    def escaped(self) -> frozenset[str]:
        character = self.read()
        if character in _CLASSES:
            return _CLASSES[character]
        if character.isalnum() and character not in _ESCAPES:
            raise self.error(f"the escape \\{character}, which is not supported,")
        return frozenset(_ESCAPES.get(character, character))

    def character_class(self) -> _Characters:
        is_negated = self.take("^")
        members: set[str] = set()
        while not members or not self.next_is("]"):
            character = self.read()
            first = self.escaped() if character == "\\" else frozenset(character)
            if self.next_is("-") and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                character = self.read()
                last = self.escaped() if character == "\\" else frozenset(character)
                if len(first) > 1 or len(last) > 1 or min(first) > min(last):
                    raise self.error("a range whose ends are not two characters in order")
                if ord(min(last)) - ord(min(first)) >= MOST_MEMBERS:
                    raise self.too_large()
                first = frozenset(map(chr, range(ord(min(first)), ord(min(last)) + 1)))
            members |= first
            if len(members) > MOST_MEMBERS:
                raise self.too_large()
        self.at += 1
        return _Characters(frozenset(members), is_negated)
