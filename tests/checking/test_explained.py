"""One sentence on an exception of numpy or torch, with the names and shapes of the line that raised it."""

import linecache

import numpy as np
import pytest
import torch

from softlookup_inside.asking.explained import MOST_LETTERS, explained
from softlookup_judge import check

Q, K, V = np.zeros((2, 3, 4)), np.zeros((2, 5, 4)), np.zeros((2, 5, 6))

SAYS = {
    "q @ k": "`q` has shape (2, 3, 4) and `k` (2, 5, 4): for `@` the second needs 4 rows, and it has 5. "
    "Did you mean `q @ np.swapaxes(k, -1, -2)`?",
    "np.matmul(q, k)": "Did you mean `q @ np.swapaxes(k, -1, -2)`?",
    "q @ k.T": "`k.T` (4, 5, 2): for `@` the second needs 4 rows, and it has 5. Did you mean `q @ np.swapaxes(k, ",
    "q @ np.transpose(k)": "Did you mean `q @ np.swapaxes(k, -1, -2)`?",
    "q @ np.zeros(3)": "",
    "q @ stack": "`stack` (3, 4, 5): the axes before the last two do not fit; at axis -1, 2 meets 3.",
    "np.swapaxes(q, -1, -2) @ np.swapaxes(k, -1, -2)": "Did you mean",
    "(q @ np.swapaxes(k, -1, -2)) @ k @ q": "",
    "q @ 3.0": "",
    "q @ n": "write `*`",
    "q - q.max(-1)": "",
    "q - q.sum(axis=-1)": "`q.sum(axis=-1)` (2, 3): broadcasting aligns axes from the right; at axis -1, 4 meets 3.",
    "q[:, :2] @ k[0, None]": "`q[:, :2]` has shape (2, 2, 4) and `k[0, None]` (1, 5, 4)",
    "np.exp(q) / np.exp(q).sum(-1)": "",
    "q - m": "at axis -1, 4 meets 3. Did you mean `m[..., None]`?",
    "q + k": "at axis -2, 3 meets 5",
    "np.where(mask, q, 0)": "`mask` has shape (5,) and `q` (2, 3, 4)",
    "np.einsum('btk,bsv->bts', q, k, v)": "",
    "np.einsum('td,bsd->bts', q, k)": "`q` has shape (2, 3, 4), 3 axes, and `td` names 2: `...td` stands for any axes",
    "np.einsum('btd,btd->bt', q, k)": "the letter t stands for 3 in `q` and for 5 in `k`",
    "np.einsum('...td,...td->...t', q, k)": "the letter t stands for 3 in `q` and for 5 in `k`",
    "q.reshape(2, 3, 2, 3)": "`q` has shape (2, 3, 4), 24 numbers, and the shape (2, 3, 2, 3) has 36.",
    "q.reshape(2, 7, -1)": "that is no multiple of 14, which the other axes of (2, 7, -1) need",
    "q[:, 3]": "along axis 1 indices go from 0 to 2, and 3 is asked",
    "q[0, 0, 0, 0]": "3 axes: there are more indices than axes",
    "rows[3]": "`rows` has 2 entries: indices go from 0 to 1.",
    "helper(q)": "`helper` takes (a, b), and this line hands over 1 argument.",
    "nothing @ q": "`nothing` is None here: a function that ends without `return` gives None.",
    "gives_none(q)[0]": "`gives_none` gave None",
    "nothing.shape": "`nothing` is None here",
}
GIVEN = """
def helper(a, b):
    return a


def gives_none(a):
    a + 1


"""


def raised(expression, names):
    """The exception that an expression raises in a function of a student's, None if it raises none."""
    source = f"{GIVEN}def answer({', '.join(names)}):\n    return 1 + ({expression})\n"
    linecache.cache["<submission 1>"] = (len(source), None, source.splitlines(keepends=True), "<submission 1>")
    space = {"np": np, "torch": torch}
    exec(compile(source, "<submission 1>", "exec"), space)
    try:
        space["answer"](**names)
    except Exception as error:
        return error
    return None


def sentence_on(expression, names):
    error = raised(expression, names)
    assert error is not None, expression
    return explained(error, lambda name: name.startswith("<submission"))


@pytest.mark.parametrize("expression", SAYS)
def test_sentence_has_the_names_and_shapes_of_the_line(expression):
    names = {"q": Q, "k": K, "v": V, "m": np.zeros((2, 3)), "n": 3, "mask": np.zeros(5, bool), "rows": [1, 2]}
    sentence = sentence_on(expression, names | {"nothing": None, "stack": np.zeros((3, 4, 5))})
    assert (SAYS[expression] in sentence) if SAYS[expression] else len(sentence) <= MOST_LETTERS
    assert "  " not in sentence


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        (
            "q @ k",
            "`q` has shape (2, 3, 4) and `k` (2, 5, 4): for `@` the second needs 4 rows, and it has 5. "
            "Did you mean `q @ k.mT`?",
        ),
        ("q.matmul(k)", "Did you mean `q @ k.mT`?"),
        ("torch.matmul(q, k)", "Did you mean `q @ k.mT`?"),
        ("q + k", "at axis -2, 3 meets 5"),
        ("torch.einsum('btd,btd->bt', q, k)", "the letter t stands for 3 in `q` and for 5 in `k`"),
        ("q.view(2, 3, 2, 3)", "24 numbers, and the shape (2, 3, 2, 3) has 36"),
        ("q[:, 3]", "along axis 1 indices go from 0 to 2, and 3 is asked"),
    ],
)
def test_sentence_on_tensors(expression, sentence):
    assert sentence in sentence_on(expression, {"q": torch.zeros(2, 3, 4), "k": torch.zeros(2, 5, 4)})


def test_every_suggested_product_fits():
    shapes = [(3, 4), (4, 3), (5, 4), (4, 5), (2, 3, 4), (2, 5, 4), (2, 4, 5), (4,), (5,)]
    count = 0
    for a in shapes:
        for b in shapes:
            for text in ("q @ k", "q @ np.swapaxes(k, -1, -2)", "q.T @ k"):
                names = {"q": np.zeros(a), "k": np.zeros(b)}
                error = raised(text, names)
                sentence = explained(error, lambda name: name.startswith("<submission")) if error else ""
                if "Did you mean" in sentence:
                    eval(sentence.rpartition("`?")[0].rpartition("`")[2], {"np": np}, names)
                    count += 1
    assert count > 20


class Hostile(np.ndarray):
    """An array whose every attribute is a trap."""

    def __getattribute__(self, name):
        raise SystemExit(name)


class HostileInt(int):
    def __repr__(self):
        raise SystemExit("repr")


def test_nothing_of_a_students_objects_is_called():
    hostile = np.zeros((2, 3)).view(Hostile)
    error = raised("fail()", {"fail": lambda: Q @ K, "hostile": hostile})
    assert explained(error, lambda name: name.startswith("<submission")) == ""

    class Loud(ValueError):
        def __str__(self):
            raise SystemExit("str")

    assert explained(Loud("x"), lambda name: True) == ""
    try:
        np.zeros(3)[HostileInt(7)]
    except IndexError as caught:
        assert len(explained(caught, lambda name: True)) <= MOST_LETTERS


def test_long_names_make_no_long_sentence():
    name = "q" * 5000
    assert len(sentence_on(f"{name} @ k", {name: Q, "k": K})) <= MOST_LETTERS


def test_check_says_it_in_place_of_the_general_sentence():
    source = "def mix(weights, v):\n    return weights.sum(-1) @ v[..., :2, :]\n"
    linecache.cache["<submission 2>"] = (len(source), None, source.splitlines(keepends=True), "<submission 2>")
    space = {}
    exec(compile(source, "<submission 2>", "exec"), space)
    text = check("04.mix", space["mix"]).text()
    assert "has shape (" in text and "A matrix product needs" not in text


def test_check_says_that_a_function_takes_other_arguments():
    text = check("04.scores", lambda q: q).text()
    assert "Your function takes (q), and the task calls it with 2 arguments." in text
