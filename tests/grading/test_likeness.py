"""Near-identical solution cells: what is found, what is left alone, and that it stays quick."""

import random
import time

import nbformat
import pytest

from softlookup_course.samples.handins import answers, filled, rewritten
from softlookup_course.samples.sample_class import hand_ins
from softlookup_grader.reports.similarity import alike, cells_of, code_tokens, given_by, own_tokens, rarity
from softlookup_judge.authoring import make_release

ONE = '''def weights(q, k, mask=None):
    """q (T, H), k (S, H) -> (T, S)."""
    table = q @ k.transpose(-2, -1)
    table = table / q.shape[-1] ** 0.5
    if mask is not None:
        table[~mask] = -float("inf")
    top = table.amax(dim=-1, keepdim=True)
    e = (table - top).exp()
    return e / e.sum(dim=-1, keepdim=True)'''

BLANK = '''def weights(q, k, mask=None):
    """q (T, H), k (S, H) -> (T, S)."""
    # YOUR CODE HERE
    raise NotImplementedError()'''


def honest(rng: random.Random, cell: int) -> str:
    """An answer as one of many might write it: statements drawn from a stock of its cell."""
    stock = random.Random(cell)
    lines = []
    for number in range(6):
        kinds = [
            f"a{number} = x.{stock.choice(['sum', 'amax', 'mean', 'exp'])}(dim={stock.randint(-2, 2)}) "
            f"{stock.choice('+-*/')} torch.{stock.choice(['exp', 'log', 'sqrt'])}(y, {stock.randint(0, 99)})"
            for _ in range(60)
        ]
        lines.append(kinds[min(int(rng.paretovariate(0.8)), 59)])
    return "def f(x, y):\n    " + "\n    ".join(lines) + "\n    return a5"


def crowd(size: int, cells: int = 8) -> dict[str, dict[str, str]]:
    return {f"s{n}": {f"c{c}": honest(random.Random(f"{n} {c}"), c) for c in range(cells)} for n in range(size)}


def as_tokens(texts: dict[str, dict[str, str]]) -> dict[str, dict[str, tuple[str, ...]]]:
    released_tokens = code_tokens("def f(x, y):\n    raise NotImplementedError()")
    return {
        who: {c: own_tokens(code_tokens(text), released_tokens) for c, text in cells.items()}
        for who, cells in texts.items()
    }


def renamed(text: str) -> str:
    """The same in other words: other names, comments, blank lines, other spacing."""
    for number in range(6):
        text = text.replace(f"a{number}", f"result_{number * 7}")
    return text.replace("\n    ", "\n\n\t# my own idea\n\t").replace(" + ", "+")


def test_tokens_do_not_see_names_comments_docstrings_and_layout():
    other = ONE.replace("table", "s").replace("top", "peak").replace('"""q (T, H), k (S, H) -> (T, S)."""\n', "\n\n")
    other = other.replace("    e = ", "    # stable\n    z = ").replace("e /", "z /").replace("e.sum(", "z.sum(  ")
    assert other != ONE and code_tokens(other) == code_tokens(ONE)


@pytest.mark.parametrize(("old", "new"), [(".amax(", ".amin("), ("-2, -1", "-1, -2"), ("** 0.5", "** 0.25")])
def test_tokens_see_what_the_code_does(old, new):
    assert code_tokens(ONE.replace(old, new)) != code_tokens(ONE)


def test_what_the_release_gave_is_no_ones_own():
    released_tokens = code_tokens(BLANK)
    assert own_tokens(released_tokens, released_tokens) == ()
    student_tokens = own_tokens(code_tokens(ONE), released_tokens)
    assert student_tokens[:4] == ("n4", "=", "n1", "@") and student_tokens[-1] == ")" and "def" not in student_tokens


@pytest.mark.parametrize(
    "text", ["def f(:\n  '", "    )(", "\x00\ud800", "f('" + "(" * 3000, "'''" + "a\n" * 20_000, ""]
)
def test_code_that_is_no_python_has_tokens_too(text):
    assert code_tokens(text) == code_tokens(text)
    assert all(isinstance(token, str) for token in code_tokens(text))


@pytest.mark.parametrize("size", [12, 60])
def test_a_renamed_copy_is_found_and_nobody_else(size):
    texts = crowd(size)
    texts["copycat"] = {cell: renamed(text) for cell, text in texts["s3"].items()}
    assert texts["copycat"]["c0"] != texts["s3"]["c0"]
    pairs = alike(as_tokens(texts))
    assert [(pair.first, pair.second) for pair in pairs] == [("copycat", "s3")]
    assert pairs == alike(dict(reversed(as_tokens(texts).items()))), "in any order"
    assert pairs[0].fraction == 1 and len(pairs[0].cells) > 4


def test_one_long_cell_that_is_copied_and_touched_up_is_found():
    texts = crowd(40)
    texts["s3"]["c2"] = ONE
    texts["s9"]["c2"] = ONE.replace("    top =", "    print('checking')\n    top =").replace("table", "s")
    pairs = alike(as_tokens(texts))
    assert [(pair.first, pair.second, pair.cells) for pair in pairs] == [("s3", "s9", ("c2",))]
    assert 0 < pairs[0].fraction < 0.5


def test_what_half_of_the_class_wrote_says_nothing():
    texts = crowd(40)
    for number in range(20):
        texts[f"s{number}"] = dict(texts["s0"])
    assert [pair for pair in alike(as_tokens(texts)) if pair.first in texts and pair.second == "s0"] == []


def test_one_liners_say_little_however_rare():
    texts = as_tokens({f"s{n}": {f"c{c}": f"def f(x, y):\n    return x.a{n}(y)" for c in range(8)} for n in range(30)})
    texts["s1"] = texts["s2"]
    assert alike(texts) == []


def test_rarity_falls_from_one_to_nothing_at_half():
    values = [rarity(holders, 50) for holders in range(2, 30)]
    assert values == sorted(values, reverse=True) and values[0] == 1 and values[23:] == [0.0] * 5
    assert rarity(2, 4) == 0, "in a class of four nothing is rare"


def test_the_sample_class_shares_the_published_answers_and_has_no_pairs(source):
    release = make_release(source)
    released_tokens = given_by(release)
    submissions = {}
    for handed in hand_ins(source, release):
        if handed.text and handed.student != "not-json":
            submissions[handed.student] = cells_of(nbformat.reads(handed.text, as_version=4), released_tokens)
    assert submissions["blank"] == {} and len(submissions) > 10
    assert alike(submissions) == []


def test_cells_are_taken_by_name_once_and_only_solutions(source):
    release = make_release(source)
    right = answers(source)
    notebook = filled(release, right)
    double = nbformat.from_dict(dict(next(c for c in notebook.cells if c.metadata.get("nbgrader"))))
    notebook.cells.append(double)
    twin = next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "04-scale")
    notebook.cells.append(nbformat.from_dict({**twin, "source": "something_else()"}))
    cells = cells_of(notebook, given_by(release))
    assert set(cells) == set(right) and cells == cells_of(filled(release, right), given_by(release))
    assert cells["04-uniform"][:2] == ("every", "token")
    assert cells_of(filled(release, {"04-mix": rewritten(right["04-mix"])}), given_by(release)).keys() == {"04-mix"}


@pytest.mark.slow
def test_a_large_class_takes_seconds_of_a_processor():
    texts = as_tokens(crowd(40))
    many = {f"t{n}": {c: texts[f"s{(n * 7 + at) % 40}"][c] for at, c in enumerate(texts["s0"])} for n in range(1500)}
    begun = time.process_time()
    alike(many)
    assert time.process_time() - begun < 20
