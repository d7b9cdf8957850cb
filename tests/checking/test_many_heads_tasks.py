"""What chapter 5 promises of its tasks as a whole: every mistake of its list has a name, some tasks have variants."""

import pytest

from published import constants_of, world
from softlookup_judge import check, tasks


def test_every_listed_mistake_of_many_heads_is_known_to_some_task():
    known = {mistake.number for task in tasks(5) for mistake in task.mistakes}
    assert set(range(15, 27)) <= known


def test_at_least_two_tasks_have_variants_and_each_says_what_it_asks():
    varied = [task for task in tasks(5) if len(constants_of(task)) > 1]
    assert len(varied) >= 2
    for task in varied:
        texts = [str(constants.get("asked", constants.get("named"))) for constants in constants_of(task)]
        assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("source", "slug"),
    [
        ("    b, t, m = x.shape\n    return x.view(b, n_heads, t, m // n_heads)", "reshape-alone"),
        ("    return x.unflatten(-1, (n_heads, -1))", "not-transposed"),
    ],
)
def test_splits_as_students_write_them_wrongly_are_named(source, slug):
    written = world(5, {"05-split": f"def split_heads(x, n_heads):\n{source}"})["split_heads"]
    result = check("05.split", written)
    assert (result.points, result.diagnosis) == (0, (slug,)), result.text()


def test_right_split_of_one_batch_axis_alone_keeps_most_of_its_points():
    source = "    b, t, m = x.shape\n    return x.view(b, t, n_heads, m // n_heads).transpose(1, 2)"
    written = world(5, {"05-split": f"def split_heads(x, n_heads):\n{source}"})["split_heads"]
    result = check("05.split", written)
    assert (result.verdict, result.points) == ("partial", pytest.approx(0.7 * 3)), result.text()
