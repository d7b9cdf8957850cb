"""Chapter 6: answers that passed and are wrong, right ones that lost points, and mistakes that had no name."""

import math

import pytest

from published import results, written
from softlookup_judge import check, get_task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

ROWS = (
    "def distance_rows(n_queries, n_keys, start):\n    i = torch.arange(n_queries)[:, None] + start\n"
    "    j = torch.arange(n_keys)\n    return {}"
)
ALIBI = (
    "def alibi(n, t, s, start):\n    h = torch.arange(1, n + 1, dtype=torch.float64)\n    m = {}\n"
    "    i, j = torch.arange(t)[:, None] + start, torch.arange(s)\n    return {}"
)
SLOPES, FALL = "2 ** (-8 * h / n)", "-m[:, None, None] * (i - j).clamp(min=0)"
PUBLISHED = (
    "def alibi(n, t, s, start):\n    def slopes(n):\n        if math.log2(n).is_integer():\n"
    "            first = 2 ** (-(2 ** -(math.log2(n) - 3)))\n            return [first * first**i for i in range(n)]\n"
    "        near = 2 ** math.floor(math.log2(n))\n        return slopes(near) + slopes(2 * near)[0::2][: n - near]\n"
    "    back = (torch.arange(t)[:, None] + start - torch.arange(s)).clamp(min=0)\n"
    "    return -torch.tensor(slopes(n))[:, None, None] * back"
)
ROTATE = (
    "def rotate(x, start):\n    B, N, T, H = x.shape\n"
    "    speeds = 10000.0 ** (-torch.arange(0, H, 2, dtype=torch.float64) / H)\n"
    "    a = {0} * speeds\n    c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)\n    {1}"
)
PLACES = "torch.arange(start, start + T)[:, None]"
NEIGHBOURS = "p, q = x[..., ::2], x[..., 1::2]\n    return torch.stack([p * c - q * s, p * s + q * c], -1).flatten(-2)"
CACHED = (
    "def cached_attention(q, k, v):\n    T, S = q.shape[2], k.shape[2]\n    q, k = rotate(q, {0}), rotate(k, {1})\n"
    "    s = q @ k.mT / {2}\n    i, j = torch.arange(T)[:, None] + S - T, torch.arange(S)\n"
    "    s = s.masked_fill({3})\n    return torch.softmax(s, -1) @ v"
)
ROOT, FUTURE = "math.sqrt(q.shape[-1])", "j > i, -torch.inf"
SHAW = (
    "def relative_scores(q, k, table, rows):\n"
    "    return (q @ k.mT + torch.einsum('bnth,tsh->bnts', {}, table[rows])) / {}"
)

ROOTS_IN_FLOAT32 = [
    (
        "06.add",
        "def add_positions(x, table, start):\n"
        "    return x * torch.sqrt(torch.tensor(x.shape[2])) + table[start : start + x.shape[1]].to(x.dtype)",
    ),
    ("06.shaw", SHAW.format("q", "torch.sqrt(torch.tensor(q.shape[-1]))")),
    (
        "06.turn",
        "def turn(x, angle):\n    c, s = torch.tensor(angle).cos(), torch.tensor(angle).sin()\n"
        "    return torch.stack([x[..., 0] * c - x[..., 1] * s, x[..., 0] * s + x[..., 1] * c], -1)",
    ),
    (
        "06.angles",
        "def position_angles(positions, width, base):\n"
        "    return positions.double()[:, None] * base ** (-torch.arange(0, width, 2) / width)",
    ),
]


@pytest.mark.parametrize(("task_id", "source"), ROOTS_IN_FLOAT32, ids=lambda value: value[:8])
def test_a_root_or_a_sine_taken_in_float32_costs_nothing(task_id, source):
    for result in results(task_id, source, range(3)):
        assert result.verdict == "pass", result.text()


def test_scores_that_do_not_look_at_the_rows_given_do_not_pass():
    source = (
        "def relative_scores(q, k, table, rows):\n    T, S, c = q.shape[2], k.shape[2], len(table) // 2\n"
        "    apart = torch.arange(S) - torch.arange(S - T, S)[:, None]\n"
        "    r = table[apart.clamp(-c, c) + c]\n"
        "    return (q @ k.mT + torch.einsum('bnth,tsh->bnts', q, r)) / math.sqrt(q.shape[-1])"
    )
    for result in results("06.shaw", source, range(3)):
        assert result.verdict == "wrong" and result.diagnosis == ("rows-anew",), result.text()


def test_published_slopes_pass_since_all_numbers_of_heads_are_powers_of_two():
    for result in results("06.alibi", PUBLISHED, range(3)):
        assert result.verdict == "pass", result.text()
    assert all(math.log2(case.args[0]).is_integer() for case in draw(variant_of(get_task("06.alibi")), 0))


def test_a_slip_in_one_of_the_two_calls_is_named():
    for first, second, slug in (("", ", causal", "mask-after-alone"), (", causal", "", "mask-before-alone")):
        source = (
            f"def permutation_gap(x, order, causal):\n    return attend(x[order]{first}) - attend(x{second})[order]"
        )
        assert results("06.equivariance", source)[0].diagnosis == (slug,)


SQUEEZED = [
    ("06.alibi", ALIBI.format(SLOPES, f"({FALL}).squeeze(-1)")),
    ("06.relative", ROWS.format("((j - i).clamp(-4, 4) + 4).squeeze(-1)")),
]


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "source"), SQUEEZED)
def test_axes_of_length_one_have_to_stay(task_id, source):
    for result in results(task_id, source, range(3)):
        assert result.verdict in ("wrong", "partial"), result.text()


def test_a_table_of_another_dtype_does_not_change_that_of_the_embeddings():
    source = (
        "def add_positions(x, table, start):\n    return x * math.sqrt(x.shape[2]) + table[start : start + x.shape[1]]"
    )
    for result in results("06.add", source, range(3)):
        assert result.verdict == "partial" and "cast the rows of the table" in result.text(), result.text()


def test_keys_turned_too_far_are_not_called_queries_from_the_beginning():
    result = check("06.cached", written("06.cached", CACHED.format("S - T", "S - T", ROOT, FUTURE)))
    assert "stood at the position of the first key" in result.text()


def test_later_keys_are_hidden_however_large_their_scores_are():
    lowered = CACHED.format("S - T", "0", ROOT, FUTURE).replace(f"s.masked_fill({FUTURE})", "s - 1e4 * (j > i)")
    for result in results("06.cached", lowered, range(3)):
        assert result.verdict == "partial" and result.diagnosis == ("lowered",), result.text()


def test_angles_in_float32_are_too_coarse_far_down_a_text():
    for result in results(
        "06.rotary", ROTATE.replace("torch.float64", "torch.float32").format(PLACES, NEIGHBOURS), range(3)
    ):
        assert result.verdict == "partial" and result.diagnosis == ("angles-in-float32",), result.text()
