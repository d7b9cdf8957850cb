"""Chapter 3: answers that are wrong on some input only, and right ones of odd shape."""

import itertools
import re

import numpy as np
import pytest
import torch

from published import solutions, world
from softlookup.checks import check, get_task
from softlookup.checks.home import LocalStudent
from softlookup.checks.judge import judge

DEF = {task_id: solutions(3)[task_id.replace(".", "-")] for task_id in ("03.bpe", "03.encode", "03.merge", "03.pad")}


def everywhere(task_id, obj):
    task = get_task(task_id)
    yield check(task_id, obj)
    for seed in range(3):
        yield judge(task, LocalStudent(task, obj), seed=seed)


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
    "encode: the letters": ("03.encode", lambda word, merges: list(word)),
    "encode: the word": ("03.encode", lambda word, merges: [word]),
    "encode: merges made at the first place only, once each": (
        "03.encode",
        lambda word, merges: _first_places(list(word), merges),
    ),
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
    "tied: log-probabilities": ("03.tied-logits", lambda x, t: torch.log_softmax(x @ t.T, -1)),
    "tied: centred": ("03.tied-logits", lambda x, t: x @ (t - t.mean(0)).T),
}


def _first_places(symbols, merges):
    for left, right in merges:
        for i in range(len(symbols) - 1):
            if (symbols[i], symbols[i + 1]) == (left, right):
                symbols[i : i + 2] = [left + right]
                break
    return symbols


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
    "line",
    ["torch.nn.functional.one_hot(ids, len(table)).float()", "reference.one_hot(ids.numpy(), len(table))"],
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


def test_pad_that_relies_on_ids_passes_only_with_the_right_pad_id():
    def by_ids(sequences, pad_id):
        longest = max(map(len, sequences))
        ids = np.array([[*row, *[pad_id] * (longest - len(row))] for row in sequences])
        return ids, ids != pad_id

    assert check("03.pad", by_ids).verdict == "pass"
