"""Sentences that were said of answers for which they are not true."""

import linecache
import math

import numpy as np
import pytest
import torch

from softlookup_judge import check, get_task
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.naming.verdict import ORDER, SAME_AS_TIMES, SAME_AS_TWO, SAME_EVERYWHERE


def positions(real, n_new):
    return torch.arange(real.shape[1]).expand(real.shape)[:, -n_new:]


def leak(masks):
    itself = torch.eye(masks.shape[-1], dtype=torch.bool)
    reached = itself.float()
    for mask in masks:
        reached = (mask | itself).float() @ reached
    seen = reached > 0
    return seen.T, seen.triu(1).any()


def init(d_model, n_heads, head_width):
    return math.sqrt(6 / (2 * d_model))


def scored(log_p, ids, end_id, counted, lengths, alpha):
    return torch.where(counted, log_p, 0.0).sum(dim=1) / ((5 + lengths) / 6) ** alpha


def one_end(log_p, ids, end_id, alpha):
    counted = ids != end_id
    return scored(log_p, ids, end_id, counted, counted.sum(dim=1) + 1, alpha)


def whole_steps(log_p, ids, end_id, alpha):
    ends = (ids == end_id).int()
    counted = ends.cumsum(dim=1) - ends == 0
    return torch.where(counted, log_p, 0.0).sum(dim=1) / ((5 + counted.sum(dim=1)) // 6) ** alpha


def heads(q, k, v, mask=None):
    e = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    if mask is not None:
        e = e * (mask[:, None] if mask.ndim == 3 else mask)
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30) @ v


def softmax_less_the_mean(x):
    e = torch.exp(x - x.mean(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def weights_whose_blind_rows_are_made_equal(q, k, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -torch.inf)
    return torch.softmax(s, dim=-1).nan_to_num(1 / k.shape[-2])


def reading_alone(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    weights = params * bytes_each
    return weights / bandwidth, (weights + batch * cached * cache_bytes) / bandwidth


def each_machines_rate(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    """It takes the rates for those of each machine."""
    second = price * machines / 3600 / utilisation / machines
    costs = second / input_rate, second / output_rate
    return 1e6 * costs[0], 1e6 * costs[1], prompt * costs[0] + answer * costs[1]


def without_eps(task_id):
    solution = answer(variant_of(get_task(task_id)), ())
    at = list(get_task(task_id).parameters).index("eps")
    return lambda *args: solution(*args[:at], 0.0, *args[at + 1 :])


def nan_made_zero(x):
    e = x.exp()
    return torch.nan_to_num(e / e.sum(dim=-1, keepdim=True))


def first_kept_and_crossing_dropped(probabilities, p):
    s, ids = probabilities.sort(dim=-1, descending=True)
    cut = s * ((s.cumsum(dim=-1) <= p) | (torch.arange(s.shape[-1]) == 0))
    cut = torch.zeros_like(probabilities).scatter(-1, ids, cut)
    return cut / cut.sum(dim=-1, keepdim=True)


def all_paths(masks):
    seen, _ = answer(variant_of(get_task("08.leak")), ())(masks)
    return seen, seen.triu(1).all()


def gain_alone(states, gain, w_out, eps):
    return (states * gain) @ w_out


def columns_as_they_are(w):
    """It brings no column to the length 1."""
    squares, lengths = (w.mT @ w).square(), w.norm(dim=0)
    total = squares.sum(dim=1)
    return lengths, total - squares.diagonal(), torch.where(total > 0, lengths**2 / total.clamp(min=1e-300), 0.0)


def mean_of_squared_errors(states, labels, shown, ridge):
    return answer(variant_of(get_task("17.probe")), ())(states, labels, shown, ridge * int(shown.sum()))


@pytest.mark.parametrize(
    ("task_id", "answer", "false"),
    [
        ("10.positions", positions, "Padding gets position -1"),
        ("08.leak", leak, "counts the past as a leak"),
        ("05.init", init, "The numerator is half"),
        ("10.score", one_end, "as if the start token had been generated"),
        ("10.score", whole_steps, "not divided at all"),
        ("05.heads", heads, "have already underflowed"),
        ("04.softmax", softmax_less_the_mean, "The largest absolute value is subtracted"),
        ("04.weights", weights_whose_blind_rows_are_made_equal, "because masked scores are set"),
        ("16.phases", reading_alone, "is computed for one token"),
        ("16.cost", each_machines_rate, "One machine is paid"),
        ("17.lens", without_eps("17.lens"), "constant of its own"),
        ("17.attribute-heads", without_eps("17.attribute-heads"), "constant of its own"),
        ("17.difference", without_eps("17.difference"), "constant of its own"),
        ("15.qk-norm", without_eps("15.qk-norm"), "constant of its own"),
        ("17.probe", mean_of_squared_errors, "is multiplied by the number of states"),
    ],
)
def test_sentence_is_not_said_where_it_is_not_true(task_id, answer, false):
    result = check(task_id, answer)
    assert result.verdict in ("wrong", "partial") and result.diagnosis
    assert false not in result.text() or SAME_AS_TWO in result.text(), result.text()


@pytest.mark.parametrize(
    ("task_id", "answer", "number"),
    [
        ("17.patch", lambda clean, corrupted, mixes, weights, read: torch.ones(len(mixes), len(clean)), "1"),
        ("14.checksum", lambda x, w, printed, places: np.ones(printed.shape, dtype=bool), "True"),
        ("01.depth", lambda needs: np.zeros(len(needs), dtype=int), "0"),
    ],
)
def test_of_an_answer_that_is_one_number_everywhere_no_mistake_is_sure(task_id, answer, number):
    result = check(task_id, answer)
    assert result.diagnosis and result.sentences[0] == SAME_EVERYWHERE.format(number), result.text()


def test_two_mistakes_that_show_one_by_one_are_told_as_they_are():
    pair = ("no-eps", "summed-variance")
    result = check("07.layer-norm", answer(variant_of(get_task("07.layer-norm")), pair))
    assert result.diagnosis == pair and SAME_AS_TWO not in result.text()


@pytest.mark.parametrize(
    ("task_id", "function", "name"),
    [("08.leak", all_paths, "all-for-any"), ("17.lens", gain_alone, "divisor-left-out")],
)
def test_one_mistake_is_not_told_as_two(task_id, function, name):
    assert check(task_id, function).diagnosis == (name,)


def twice(task_id, function):
    """The verdict on a second try, which says what can be seen of an answer."""
    return [check(task_id, function) for _ in range(2)][1]


def test_an_answer_that_is_right_where_a_mistake_is_wrong_does_not_get_its_name():
    assert "clamped" not in check("04.softmax", nan_made_zero).text()


def test_the_name_of_a_dropped_token_holds_where_the_first_is_always_kept():
    task, number = conventions_of(
        "10.top-p", lambda convention: convention.order and convention.turned and convention.turned_results
    )
    result = check(task.id, lambda p, x: first_kept_and_crossing_dropped(x.mT, p).mT, variant=number)
    assert result.diagnosis == ("crossing-dropped",) and "no token is kept" not in result.text(), result.text()


def test_a_result_without_a_finite_number_is_not_right_but_for_them():
    assert "is right but for" not in twice("04.softmax", lambda x: x * math.nan).text()


def test_numbers_that_sum_to_1_by_chance_are_no_rows_of_weights():
    assert "sum to 1" not in twice("17.superposition", columns_as_they_are).text()


def conventions_of(task_id, has):
    """A task, and the number of a variant of it whose convention has what is asked for."""
    task = get_task(task_id)
    return task, next(
        number for number, convention in enumerate(task.conventions) if convention is not None and has(convention)
    )


def test_cells_of_a_result_with_its_axes_exchanged_are_called_by_no_other_place():
    task, number = conventions_of("04.weights", lambda convention: convention.turned_results == (0,))
    for mistake in ("mask-inverted", "no-sqrt"):
        result = check(task.id, answer(variant_of(task, number), (mistake,)), variant=number)
        assert "is masked and has the weight" not in result.text() and "of your weights sums" not in result.text()


def test_half_of_what_is_asked_for_twice_need_not_be_the_mistake_that_halves():
    task, number = conventions_of("10.cache-bytes", lambda convention: convention.times == 2)
    solution = answer(variant_of(task, number), ())
    result = check(task.id, lambda *sizes: solution(*sizes) // 2, variant=number)
    assert result.sentences[0] == SAME_AS_TIMES.format(2), result.text()


def test_a_window_that_is_ignored_is_no_other_order_of_arguments():
    task, number = conventions_of("15.cache", lambda convention: convention.order == (1, 0, 2))
    result = check(task.id, answer(variant_of(task, number), ("window-ignored",)), variant=number)
    assert result.diagnosis == ("window-ignored",), result.text()


def test_an_exception_under_another_order_points_to_the_order():
    task, number = conventions_of("04.weights", lambda convention: convention.order)

    def raises(*args):
        raise ZeroDivisionError("none")

    assert ORDER in check(task.id, raises, variant=number).text()
    assert ORDER not in check(task.id, raises).text()


def test_results_that_begin_with_a_preposition_and_matrices_are_named():
    task, number = conventions_of("17.silence", lambda convention: convention.turned_results)
    assert "Return `with" in variant_of(task, number).in_words()
    mistake = task.mistakes[0].slug
    assert "of with" not in check(task.id, answer(variant_of(task), (mistake,))).text()
    result = check("10.write", answer(variant_of(get_task("10.write")), ("read-again",)))
    assert "multiplied with `w_q`" in result.text(), result.text()


def in_cells(*sources):
    """The names that cells leave, each of which is a file of its own."""
    world = {"np": np}
    for number, source in enumerate(sources):
        name = f"<ipython-input-{number}>"
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
        exec(compile(source, name, "exec"), world)
    return world


CALLS = "def all_reduce(x, dist):\n    return all_gather(reduce_scatter(x, dist), dist)\n"
BLANK = "all_gather = None\n\ndef reduce_scatter(x, dist):\n    raise NotImplementedError()\n"
HELPED = "def half(x):\n    return x + None\n\ndef all_gather(x, dist):\n    return half(x)\n"
GATHERS = "def reduce_scatter(x, dist):\n    return x\n"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (
            (BLANK, CALLS),
            [
                "It calls `reduce_scatter`, which is still blank (rank 0, in another cell).",
                "`reduce_scatter` is your answer to task 19.reduce-scatter: write that first.",
            ],
        ),
        (
            (GATHERS + HELPED, CALLS),
            [
                "line 4 of `half` in another cell, called by `all_gather` in another cell: return x + None",
                "`all_gather` is your answer to task 19.all-gather: look there",
            ],
        ),
        ((BLANK + CALLS,), ["It calls `reduce_scatter`, which is still blank (rank 0)."]),
        ((GATHERS + HELPED + CALLS,), ["line 4 of `half`, called by `all_gather`: return x + None"]),
    ],
)
def test_an_exception_in_another_function_names_it_and_its_task(cells, words):
    result = check("19.all-reduce", in_cells(*cells)["all_reduce"])
    assert all(word in result.text() for word in words), result.text()
    assert ("is your answer to task" in result.text()) is (len(cells) > 1)


def test_floats_in_an_array_of_whole_numbers_are_explained():
    def mix(amounts, values):
        amounts = amounts.copy()
        amounts /= amounts.sum(axis=-1, keepdims=True)
        return amounts @ values

    assert "takes no floats: write `x = x / y` for `x /= y`" in check("02.mix", mix).text()


def test_several_results_are_spoken_of_where_the_first_of_them_is_right():
    assert "several results? The first of them is right." in check("04.mix", lambda w, v: [w @ v, w @ v]).text()
    assert "The first of them is right" not in check("04.mix", lambda w, v: [w @ v + 1, w @ v]).text()
    assert "take `[0]`" not in check("04.mix", lambda w, v: (w @ v + 1)[None]).text()


def test_a_sign_that_is_wrong_once_is_no_sign_changed():
    solution = answer(variant_of(get_task("00.cross-entropy")), ())
    seen = []

    def once(*args):
        seen.append(args)
        return -solution(*args) if len(seen) == 1 else solution(*args)

    result = check("00.cross-entropy", once)
    assert result.verdict == "wrong" and "sign changed" not in result.text(), result.text()
