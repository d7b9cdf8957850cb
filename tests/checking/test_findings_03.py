"""Chapter 3: answers that are wrong on some input only, and right ones of odd shape."""

import functools
import itertools
import re
from collections import Counter

import numpy as np
import pytest
import torch

from published import everywhere, solutions, world
from softlookup_judge import check, get_task

DEF_PAD = world(3)["pad"]


def _twice_used(symbols, pair):
    here = [tuple(two) == tuple(pair) for two in itertools.pairwise(symbols)]
    return [
        "".join(pair) if starts else symbol
        for symbol, starts, ends in zip(symbols, [*here, False], [False, *here], strict=False)
        if starts or not ends
    ]


def _one_hot_float(ids, table):
    hot = torch.eye(len(table))[ids]
    return hot, hot @ table.float()


def _two_axes(ids, table):
    hot = (ids[..., None] == torch.arange(len(table))).to(table.dtype)
    return (hot, hot @ table) if ids.ndim < 3 else (hot[0], hot[0] @ table)


WRONG = {
    "words: underscores for apostrophes": ("03.words", lambda t: re.findall(r"\w+|[^\w\s]", t.replace("'", "_"))),
    "words: a word needs a letter": ("03.words", lambda t: re.findall(r"[^\W\d]\w*|[^\w\s]|\d", t)),
    "words: gaps at the ends": ("03.words", lambda t: re.split(r"\s+", re.sub(r"([^\w\s])", r" \1 ", t))),
    "words: only the first line": ("03.words", lambda t: re.findall(r"\w+|[^\w\s]", t.split("\n")[0])),
    "vocabulary: a list": ("03.vocabulary", lambda t: ["<pad>", "<unk>", "<s>", "</s>", *sorted(set(t))]),
    "vocabulary: small letters before capitals": (
        "03.vocabulary",
        lambda t: {
            w: i
            for i, w in enumerate(
                ["<pad>", "<unk>", "<s>", "</s>"]
                + sorted((w for w in set(t) if t.count(w) > 1), key=lambda w: (-t.count(w), w.lower()))
            )
        },
    ),
    "ids: unknown once": (
        "03.ids",
        lambda t, v: [v["<s>"], *(v.get(w, v["<unk>"]) for w in dict.fromkeys(t)), v["</s>"]],
    ),
    "pad: floats": ("03.pad", lambda s, p: (DEF_PAD(s, p)[0].astype(float), DEF_PAD(s, p)[1])),
    "pad: squeezed": ("03.pad", lambda s, p: tuple(a.squeeze() for a in DEF_PAD(s, p))),
    "pad: squeezed behind": (
        "03.pad",
        lambda s, p: tuple(a.squeeze(1) if a.shape[1] == 1 else a for a in DEF_PAD(s, p)),
    ),
    "pad: rows of lists": ("03.pad", lambda s, p: (s, [[True] * len(r) for r in s])),
    "pair counts: a list of pairs": (
        "03.pair-counts",
        lambda words: [(pair, n) for s, n in words for pair in itertools.pairwise(s)],
    ),
    "merge: the text replaced": (
        "03.merge",
        lambda s, p: f"|{'|'.join(s)}|".replace(f"|{p[0]}|{p[1]}|", f"|{p[0]}{p[1]}|").strip("|").split("|"),
    ),
    "merge: a string": ("03.merge", lambda s, p: "".join(s)),
    "encode: a right half used twice": (
        "03.encode",
        lambda word, merges: functools.reduce(_twice_used, merges, list(word)),
    ),
    "one-hot: float32 whatever the table is": ("03.one-hot", _one_hot_float),
    "one-hot: whole numbers": (
        "03.one-hot",
        lambda ids, table: ((ids[..., None] == torch.arange(len(table))).long(), table[ids]),
    ),
    "one-hot: two axes at most": ("03.one-hot", lambda ids, table: _two_axes(ids, table)),
    "embed: two axes at most": (
        "03.embed",
        lambda ids, table: (
            (table * (torch.arange(len(table)) != 0)[:, None])[ids if ids.ndim < 3 else ids[0]] * table.shape[-1] ** 0.5
        ),
    ),
    "table gradient: two axes at most": (
        "03.table-gradient",
        lambda ids, d, v: (
            np.eye(v)[ids[:1].ravel() if ids.ndim > 2 else ids.ravel()].T
            @ (d[:1] if ids.ndim > 2 else d).reshape(-1, d.shape[-1])
        ),
    ),
    "pad: ids alone": ("03.pad", lambda s, p: DEF_PAD(s, p)[0]),
    "encode: the letters": ("03.encode", lambda word, merges: list(word)),
    "encode: the word": ("03.encode", lambda word, merges: [word]),
    "one-hot: booleans and a lookup of the first sequence": (
        "03.one-hot",
        lambda ids, table: ((ids[..., None] == torch.arange(len(table))), table[ids[:1]]),
    ),
    "one-hot: sorted ids": (
        "03.one-hot",
        lambda ids, table: (torch.eye(len(table))[ids.sort().values], table[ids.sort().values]),
    ),
    "embed: norm made equal": (
        "03.embed",
        lambda ids, table: torch.nn.functional.normalize(table, dim=-1)[ids] * table.shape[-1] ** 0.5,
    ),
    "embed: padded row of the table changed in place": (
        "03.embed",
        lambda ids, table: table.index_fill_(0, torch.tensor([0]), 0.0)[ids] * table.shape[-1] ** 0.5,
    ),
    "table gradient: read from the places in order": (
        "03.table-gradient",
        lambda ids, d, v: np.resize(d.reshape(-1, d.shape[-1]), (v, d.shape[-1])),
    ),
    "tied: centred": ("03.tied-logits", lambda x, t: x @ (t - t.mean(0)).T),
}


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize("name", WRONG)
def test_answers_that_are_wrong_somewhere_do_not_pass(name):
    task_id, obj = WRONG[name]
    for result in everywhere(task_id, obj):
        assert result.verdict != "pass", result.text()
        assert result.points < result.max_points


def test_a_slip_in_an_earlier_task_costs_nothing_in_the_later_ones():
    for earlier_id in ("03.pair-counts", "03.merge"):
        for mistake in get_task(earlier_id).mistakes:
            source = mistake.applied_to(solutions(3)[get_task(earlier_id).slug])
            for later in ("03.bpe", "03.encode"):
                obj = world(3, {get_task(earlier_id).slug: source})[get_task(later).name]
                result = check(later, obj)
                assert result.verdict == "pass", f"{later} with {earlier_id} {mistake.slug}: {result.text()}"


@pytest.mark.parametrize(
    "line", ["torch.nn.functional.one_hot(ids, len(table)).float()", "reference.one_hot(ids.numpy(), len(table))"]
)
def test_a_ready_made_one_hot_row_is_a_shortcut(line):
    head = "from softlookup import reference\ndef one_hot_lookup(ids, table):\n"
    source = f"{head}    hot = {line}\n    return hot, table[ids]\n"
    result = check("03.one-hot", world(3, {"03-one-hot": source})["one_hot_lookup"])
    assert result.diagnosis == ("forbidden-shortcut",), result.text()


def test_a_generator_is_told_to_become_a_list():
    def split_words(text):
        yield from re.findall(r"\w+|[^\w\s]", text)

    assert "put `list(…)` around it" in check("03.words", split_words).message


def test_vocabulary_sorted_backwards_is_not_called_the_order_of_meeting():
    def backwards(tokens):
        counts = Counter(tokens)
        frequent = sorted((t for t in counts if counts[t] > 1), key=lambda t: (counts[t], t), reverse=True)
        return {t: i for i, t in enumerate(["<pad>", "<unk>", "<s>", "</s>", *frequent])}

    assert check("03.vocabulary", backwards).diagnosis == ("tie-last",)


def test_one_array_where_two_are_wanted_is_told_so():
    for task_id, obj in (("03.pad", lambda s, p: DEF_PAD(s, p)[0]), ("03.one-hot", lambda ids, table: table[ids])):
        assert "Your function returned one array, of shape (" in check(task_id, obj).message
        assert "where 2 results are returned together" in check(task_id, obj).message


def test_a_mask_from_ids_is_named():
    def by_ids(sequences, pad_id):
        longest = max(map(len, sequences))
        ids = np.array([[*row, *[pad_id] * (longest - len(row))] for row in sequences])
        return ids, ids != pad_id

    assert check("03.pad", by_ids).diagnosis == ("mask-from-ids",)


def test_white_space_is_that_of_every_script():
    def ascii_alone(text):
        return re.findall(r"\w+|[^\w \t\n\r\f\v]", text)

    assert check("03.words", ascii_alone).diagnosis == ("ascii-white-space",)
