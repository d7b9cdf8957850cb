"""Tasks on blocks of the cache: writing, releasing, attending, and sharing beginnings."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import LARGE, graded
from softlookup_judge.chapters.draws import Rng, far_below, hidden_far_above, normal
from softlookup_judge.chapters.oracles import torch

Tables = list[list[int]]


def _owners(tables: Tables, blocks: int) -> list[int]:
    return [sum(block in table for table in tables) for block in range(blocks)]


def _append_cases(rng: Rng) -> list[Case]:
    def case(label: str, tables: Tables, lengths: list[int], blocks: int, size: int) -> Case:
        return Case(label, (tables, lengths, _owners(tables, blocks), size))

    # Thirty-five sequences on 500 blocks, of which the last two share theirs.
    order = rng.permutation(500).tolist()
    many = [order[9 * i : 9 * i + 1 + i % 9] for i in range(34)]
    written = [4 * len(table) - i % 4 for i, table in enumerate(many)]
    first, second = (int(n) for n in rng.integers(5, 8, 2))
    return [
        case("three sequences, one of them full", [[0, 1], [3], [4, 6]], [5, 4, 7], 9, 4),
        case("a shared last block: the second writer has it alone", [[2, 0], [2, 0]], [6, 6], 5, 4),
        case("shared by three", [[1], [1], [1]], [2, 2, 2], 6, 4),
        case("no block is free: the newest gives way", [[0, 1], [2], [3]], [8, 2, 1], 4, 4),
        case("the one that needs a block is the newest", [[0], [1], [2]], [1, 2, 4], 3, 4),
        case("giving way makes the copy unnecessary", [[0, 1], [2], [0, 1]], [7, 3, 7], 3, 4),
        case("the newest shares its blocks with others", [[0, 1], [2], [0, 3], [0, 4]], [8, 3, 6, 7], 5, 4),
        case("two give way", [[0], [1], [0, 2], [0, 2]], [3, 3, 5, 5], 3, 3),
        case("a full block that is shared", [[5], [5, 2]], [3, 4], 7, 3),
        case("one sequence alone in a full memory", [[1, 0]], [4], 2, 2),
        case("drawn", [[0, 1], [2, 3], [4, 5]], [first, second, 8], 8, 4),
        case("hundreds of blocks", [*many, list(many[-1])], [*written, written[-1]], 500, 4),
        case("a text of 1,200 tokens", [order[:75], order[75:150]], [1200, 1193], 500, 16),
    ]


@graded("16.append", _append_cases, frame="text")
def _append(tables: Tables, lengths: list[int], owners: list[int], block_size: int) -> Any:
    """By what each block is used for: users are counted anew from the tables whenever they are asked for."""
    tables, blocks = [list(table) for table in tables], len(owners)
    # Users that are not in these tables stay.
    extra = [n - users for n, users in zip(owners, _owners(tables, blocks), strict=True)]
    copies: Tables = []
    lost: list[int] = []

    def users() -> list[int]:
        return [n + more for n, more in zip(_owners(tables, blocks), extra, strict=True)]

    def write(sequence: int) -> None:
        table = tables[sequence]
        room = len(table) * block_size - lengths[sequence]
        if room and users()[table[-1]] == 1:
            return
        free = [block for block, n in enumerate(users()) if n == 0]
        if free and room:
            copies.append([table[-1], free[0]])
            tables[sequence] = [*table[:-1], free[0]]
        elif free:
            tables[sequence] = [*table, free[0]]
        else:
            newest = max(i for i in range(len(tables)) if i not in lost)
            lost.append(newest)
            tables[newest] = []
            if newest != sequence:
                write(sequence)

    for index in range(len(tables)):
        if index not in lost:
            write(index)
    return tables, users(), copies, lost


def _free_cases(rng: Rng) -> list[Case]:
    def case(label: str, tables: Tables, blocks: int, ended: list[int]) -> Case:
        return Case(label, (tables, _owners(tables, blocks), ended))

    first_ended = int(rng.integers(0, 3))
    order = rng.permutation(500).tolist()
    many = [order[:5] + order[9 * i + 5 : 9 * i + 6 + i % 9] for i in range(40)]
    return [
        case("one of three, nothing shared", [[2, 0], [1], [4, 3, 5]], 7, [2]),
        case("a shared beginning", [[3, 1, 0], [3, 1, 4]], 6, [0]),
        case("both users of a beginning", [[3, 1, 0], [3, 1, 4]], 6, [1, 0]),
        case("finished and cancelled at once", [[0, 2], [0, 3], [0, 1]], 5, [1, 1]),
        case("a fork of all blocks", [[1, 4], [1, 4], [2]], 5, [1]),
        case("nothing has ended", [[1], [0, 2]], 4, []),
        case("one that holds no block", [[], [2, 1]], 4, [0, 1]),
        case("drawn", [[5, 1], [5, 2, 0], [5, 2, 3]], 7, [first_ended, (first_ended + 1) % 3, first_ended]),
        case("hundreds of blocks", many, 500, rng.permutation(40)[:31].tolist()),
    ]


@graded("16.free", _free_cases, frame="text")
def _free(tables: Tables, owners: list[int], ended: list[int]) -> Any:
    """By the blocks that were held before and are held no longer, in the order in which their last user left."""
    gone = list(dict.fromkeys(ended))
    remaining = [[] if i in gone else list(table) for i, table in enumerate(tables)]
    fewer = [sum(block in tables[i] for i in gone) for block in range(len(owners))]
    now = [n - less for n, less in zip(owners, fewer, strict=True)]
    leaving = [block for i in gone for block in tables[i][::-1]]
    last = {block: position for position, block in enumerate(leaving) if now[block] == 0}
    return remaining, now, sorted(last, key=lambda block: last[block])


def _ragged_cases(rng: Rng) -> list[Case]:
    def case(label: str, heads: tuple[int, int], width: int, size: int, lengths: list[int], blocks: int) -> Case:
        n, k = heads
        counts = [-(-length // size) for length in lengths]
        order = rng.permutation(blocks)
        if (order[: sum(counts)] == np.arange(sum(counts))).all():
            order = order[::-1].copy()
        tables = np.full((len(lengths), max(counts)), -1, dtype="int64")
        begin = 0
        for row, many in zip(tables, counts, strict=True):
            row[:many] = order[begin : begin + many]
            begin += many
        pages = normal(rng, blocks, size, k, width), normal(rng, blocks, size, k, width)
        return Case(label, (normal(rng, len(lengths), n, width), *pages, tables, np.array(lengths)))

    low = case("all scores far below zero, and far above it behind the texts", (4, 2), 4, 2, [5, 2], 6)
    q, keys, values, _, lengths = low.args
    # Whoever fills up with the first block, or with the last, gets a slot far above: both have one that nobody uses.
    tables = np.array([[1, 4, 0], [3, -1, -1]])
    q, keys = far_below(q, keys)
    hidden = np.ones(keys.shape[:2], dtype=bool)
    for row, length in zip(tables, lengths, strict=True):
        hidden[row[np.arange(length) // 2], np.arange(length) % 2] = False
    keys = hidden_far_above(keys, hidden)
    low = replace(low, args=(q, keys, values, tables, lengths), **LARGE)

    return [
        case("B = 3, lengths 9, 2 and 6 in blocks of 4", (4, 2), 5, 4, [9, 2, 6], 8),
        case("as many key-value heads as heads", (3, 3), 4, 2, [5, 1], 6),
        case("one key-value head", (4, 1), 3, 3, [3, 7, 4, 1], 9),
        case("all blocks are full", (6, 3), 2, 4, [8, 8], 7),
        case("one sequence", (2, 1), 7, 5, [7], 4),
        case("blocks of one token", (4, 2), 4, 1, [2, 5, 3], 12),
        case("hundreds of tokens in blocks of 16", (2, 1), 3, 16, [300, 67, 131], 40),
        case("twenty sequences", (2, 1), 2, 3, rng.integers(1, 12, 20).tolist(), 70),
        low,
    ]


@graded("16.ragged", _ragged_cases, parts={"core": 0.9, "large": 0.1}, cuts=False)
def _ragged(q: Any, k_blocks: Any, v_blocks: Any, tables: Any, lengths: Any) -> Any:
    """Each sequence by itself, position by position; torch shares the heads."""
    size, outputs = k_blocks.shape[1], []
    for query, table, length in zip(q, tables.tolist(), lengths.tolist(), strict=True):
        slots = [(table[t // size], t % size) for t in range(int(length))]
        keys, values = (torch.stack([blocks[b, i] for b, i in slots], dim=1) for blocks in (k_blocks, v_blocks))
        out = torch.nn.functional.scaled_dot_product_attention(
            query[None, :, None], keys[None], values[None], enable_gqa=True
        )
        outputs.append(out[0, :, 0])
    return torch.stack(outputs)


def _prefix_cases(rng: Rng) -> list[Case]:
    ids = [int(n) for n in rng.permutation(np.arange(300, 900))[:40]]
    system, question, other = ids[:11], ids[11:18], ids[18:30]
    both = system + question
    near = [700, 704, 705, 9]
    same_sums = [701, 702, 706, 9]  # and the same sum of squares
    alike = [*ids[30:33], ids[33] + 256]
    lengths = [38 if i == 100 else i % 25 for i in range(180)]
    cases = {
        "a common beginning of 11 tokens": (both, [system + other], 4),
        "the same prompt again, all blocks full": (system[:8], [system[:8]], 4),
        "the same prompt again, one token in the last block": (system[:9], [system[:9]], 4),
        "the best of three": (both, [other, system + question[:5], system[:6]], 4),
        "a block that differs in the middle": (system[:12] + question, [system[:4] + other[:4] + both[8:]], 4),
        "the same block at another place": (system[4:8] + system[:4] + question, [system], 4),
        "two blocks of one prompt, the third of another": (both, [system[:8], other[:8] + both[8:]], 4),
        "blocks of one token, two prompts": (system, [system[:3] + other, system[:1] + question], 1),
        "nothing in common": (question, [other, system], 3),
        "another first token, blocks of one token": (question, [system], 1),
        "no earlier prompt": (system, [], 2),
        "an earlier prompt that is shorter than a block": (system, [system[:3], other], 4),
        "a prompt of one token": (system[:1], [system], 1),
        "blocks of one token": (system, [system[:7] + other], 1),
        "ids that agree in their last byte": (alike[:3] + [alike[3] - 256] + question, [alike + question], 4),
        "ids that agree in their last two bytes": (
            alike[:3] + [alike[3] + 2**16] + question,
            [alike + question, alike[:2] + [alike[2] + 2**17] + alike[3:] + question],
            4,
        ),
        "the same tokens in another order within a block": (
            both,
            [system[1::-1] + both[2:], system[:2] + system[3:1:-1] + both[4:]],
            4,
        ),
        "other tokens with the same sum": (near + question, [[699, 705, 705, 9, *question]], 4),
        "other tokens with the same sum and sum of squares": (near + question, [same_sums + question], 4),
        "a long text, one token differs late": (ids * 12, [[*(ids * 12)[:413], 7, *(ids * 12)[414:]], ids * 3], 16),
        "many earlier prompts": (ids, [ids[:n] + rng.integers(900, 999, 5).tolist() for n in lengths], 4),
        "a beginning that goes on in the answer": (system[:10], [system + question], 5),
    }
    return [Case(label, args) for label, args in cases.items()]


@graded("16.prefix", _prefix_cases, frame="text")
def _prefix(prompt: list[int], earlier: list[list[int]], block_size: int) -> int:
    """By a set of beginnings, as a chain of hashes would give it."""
    known = {tuple(ids[:end]) for ids in earlier for end in range(block_size, len(ids) + 1, block_size)}
    ends = [end for end in range(block_size, len(prompt), block_size) if tuple(prompt[:end]) in known]
    return max(ends, default=0)
