"""What chapter 6 promises of its tasks as a whole: every mistake of its list has a name, some tasks have variants."""

import pytest

from published import ROOT, constants_of, world
from softlookup_judge import check, tasks


def test_every_listed_mistake_of_positions_is_known_to_some_task():
    known = {mistake.number for task in tasks(6) for mistake in task.mistakes}
    assert set(range(27, 39)) | {70, 71} <= known


def test_three_tasks_have_variants_and_each_says_its_constants_in_the_text():
    varied = [task for task in tasks(6) if len(constants_of(task)) > 1]
    assert {task.id for task in varied} == {"06.relative", "06.buckets", "06.alibi"}
    text = (ROOT / "solutions" / "06_positions.py").read_text(encoding="utf-8")
    for task in varied:
        assert f"[[{task.id}:" in text and len({str(constants) for constants in constants_of(task)}) == len(
            constants_of(task)
        )


@pytest.mark.parametrize(
    ("slug", "source", "named"),
    [
        # As much copied code has it: rotate_half of the transformers library, and the cosines beside it.
        (
            "06-rotary",
            "def rotate(x, start):\n"
            "    half = x.shape[-1] // 2\n"
            "    speeds = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)\n"
            "    turned = torch.arange(start, start + x.shape[2])[:, None] * speeds\n"
            "    turned = torch.cat([turned, turned], dim=-1)\n"
            "    half_turned = torch.cat([-x[..., half:], x[..., :half]], dim=-1)\n"
            "    return (x * turned.cos() + half_turned * turned.sin()).to(x.dtype)",
            "halves",
        ),
        # numpy's slices are views: the second line reads what the first one wrote.
        (
            "06-turn",
            "def turn(x, angle):\n"
            "    y = x.clone()\n"
            "    y[..., 0] = y[..., 0] * math.cos(angle) - y[..., 1] * math.sin(angle)\n"
            "    y[..., 1] = y[..., 0] * math.sin(angle) + y[..., 1] * math.cos(angle)\n"
            "    return y",
            "overwritten",
        ),
        (
            "06-sinusoids",
            "def sinusoids(length, d_model):\n"
            "    p = torch.arange(length)[:, None]\n"
            "    i = torch.arange(d_model)\n"
            "    angle = p / 10000 ** (2 * (i // 2) / d_model)\n"
            "    return torch.where(i % 2 == 0, angle.cos(), angle.sin())",
            "swapped",
        ),
    ],
)
def test_position_mistakes_as_students_write_them_are_named(slug, source, named):
    task_id = slug.replace("-", ".", 1)
    name = source.split("(")[0].removeprefix("def ")
    result = check(task_id, world(6, {slug: source})[name])
    assert result.verdict != "pass" and result.diagnosis == (named,), result.text()
