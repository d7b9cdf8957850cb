"""Chapter 10: answers that passed and are wrong, right ones that lost points, and what the library finds as well."""

import pytest
import torch

from published import everywhere, results, solutions, world, written
from softlookup import model
from softlookup_judge import check, get_task, tasks

ATTEND = (
    "def attend(q, k, v):\n    B, N, T, H = q.shape\n    K, S = k.shape[1:3]\n"
    "    k, v = k.repeat_interleave(N // K, 1), v.repeat_interleave(N // K, 1)\n    s = q @ k.mT / {}\n"
    "    i, j = torch.arange(T)[:, None] + S - T, torch.arange(S)\n    {}"
)
ROOT, MASKED = "math.sqrt(H)", "return torch.softmax(s.masked_fill(j > i, {}), -1) @ v"
TEMPERATURE = (
    "def with_temperature(logits, temperature):\n    if temperature == 0:\n        return {}\n"
    "    return torch.softmax(logits / temperature, -1)"
)
SCORES = (
    "def scores_of(log_p, ids, end_id, alpha):\n    {}\n    n = m.sum(1)\n"
    "    return torch.where(m, log_p, 0).sum(1) / {} ** alpha"
)
FIRST_END, FAIR = "e = (ids == end_id).int()\n    m = e.cumsum(1) - e == 0", "((5 + n) / 6)"
SEARCH = """def beam_search(table, start_id, end_id, beams, limit, alpha):
    going, done = [(0.0, [start_id])], []
    for n in range(1, limit + 1):
        grown = [(s + float(table[t[-1], j]), t + [j]) for s, t in going for j in range(len(table))]
        grown = sorted(grown, reverse=True)
        done += [(s / ((5 + n) / 6) ** alpha, t[1:]) for s, t in grown[:beams] if t[-1] == end_id or n == limit]
        going = {} if n < limit else []
        if not going{}:
            break
    score, text = max(done)
    return text, score
"""
OPEN = "[one for one in grown[:beams] if one[1][-1] != end_id]"

RIGHT = [
    ("10.temperature", TEMPERATURE.format("(logits == logits.amax(-1, keepdim=True)).to(logits)")),
    ("10.attend", ATTEND.format(ROOT, MASKED.format("-1e9"))),
]

SHORT = "    return (probabilities.{}().cumsum(-1) <= u[:, None]).sum(-1)"
DRAW, NEXT = "def draw(probabilities, u):\n", "def next_tokens(logits, lengths):\n"
WARM = "def with_temperature(logits, t):\n    {}\n    return torch.softmax(logits / {}, -1)"
ONE_HOT = "if t {}: return torch.zeros_like(logits).scatter(1, logits.argmax(-1, keepdim=True), 1.0)"
CHOSEN = "logits[torch.arange(len(logits)), lengths - 1].argmax(-1)"
KINDS = ("float()", "to(torch.uint8)")
GREEDY = (
    "def greedy(table, ids, end_id, limit):\n    out = ids.tolist()\n    for _ in range(limit):\n"
    "        out.append(int(table[out[-1]].argmax()))\n{}    return {}"
)
STOP = "        if out[-1] == end_id: break\n"
STEP = (
    "def beam_step(totals, log_p, beams):\n    v = log_p.shape[1]\n    b = (totals[:, None] + log_p).flatten()\n"
    "    b = b.topk(beams)\n    return b.values, (b.indices // v).{0}, (b.indices % v).{0}"
)
PASSED = [
    ("10.temperature", WARM.format(ONE_HOT.format("< 0.2"), "t")),
    ("10.temperature", WARM.format(ONE_HOT.format("== 0"), "max(t, 1e-3)")),
    ("10.temperature", WARM.format(ONE_HOT.format("== 0"), "(t + 1e-7)")),
    *(("10.draw", DRAW + SHORT.format(kind)) for kind in ("half", "bfloat16", "float")),
    ("10.top-k", solutions(10)["10-top-k"].replace('float("-inf")', "-1e4")),
    ("10.positions", solutions(10)["10-positions"].replace("dim=1)", "dim=1, dtype=torch.uint8).long()")),
    ("10.next", f"{NEXT}    return {CHOSEN}.byte().long()"),
    ("10.draw", f"{DRAW}{SHORT.format('double')}.byte().long()"),
    # The largest begins at 0.
    ("10.next", f"{NEXT}    return {CHOSEN.replace('.argmax', '.clamp(min=0).argmax')}"),
    ("10.greedy", GREEDY.replace("]].argmax", "]].clamp(min=0).argmax").format(STOP, "out")),
    ("10.beam", SEARCH.format(OPEN, "").replace("):\n", "):\n    start_id = 0\n", 1)),
    ("10.beam", SEARCH.format(OPEN, "").replace("):\n", "):\n    end_id = 1\n", 1)),
    ("10.beam-step", STEP.replace(".{0}", ".byte().long()")),
    (
        "10.score",
        SCORES.format(FIRST_END, FAIR).replace(
            "torch.where(m, log_p, 0).sum(1)", "torch.where(m, log_p, 0).exp().prod(1).log()"
        ),
    ),
    (
        "10.greedy",  # one token at least
        GREEDY.replace("range(limit)", "range(max(limit, 1))").format("        if out[-1] == end_id: break\n", "out"),
    ),
    (
        "10.greedy",  # cut at an end token that was given
        GREEDY.format("    if end_id in out[:-1]: out = out[: out.index(end_id, 1) + 1]\n", "out"),
    ),
]
OTHER_KINDS = [
    *(("10.next", f"{NEXT}    return {CHOSEN}.{kind}") for kind in KINDS),
    *(
        ("10.greedy", GREEDY.format("        if out[-1] == end_id: break\n", f"torch.tensor(out).{kind}"))
        for kind in KINDS
    ),
]
SINGLY = """def write(embedding, w_q, w_k, w_v, w_o, n_heads, prompt, end_id, limit):
    d, todo, ids, out = embedding.shape[1], prompt.tolist(), [], []
    k = v = torch.zeros(1, n_heads, 0, d // n_heads, dtype=embedding.dtype)
    while len(ids) < limit and end_id not in ids:
        while todo:
            place = sinusoidal(k.shape[2] + 1, d)[-1:].to(embedding)
            x = embedding[todo.pop(0)][None, None] + place
            y, k, v = cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_heads, k, v)
        out.append((x + y)[0, -1] @ embedding.T)
        ids.append(int(out[-1].argmax()))
        todo = ids[-1:]
    return ids, torch.stack(out)
"""
AGAIN = """def write(embedding, w_q, w_k, w_v, w_o, n_heads, prompt, end_id, limit):
    d, ids, out = embedding.shape[1], prompt.tolist(), []
    none = torch.zeros(1, n_heads, 0, d // n_heads, dtype=embedding.dtype)
    for _ in range(limit):
        x = (embedding[ids] + sinusoidal(len(ids), d).to(embedding))[None]
        y, _, _ = cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_heads, none, none)
        out.append((x + y)[0, -1] @ embedding.T)
        ids.append(int(out[-1].argmax()))
        if ids[-1] == end_id: break
    return ids[len(prompt):], torch.stack(out)
"""


@pytest.mark.parametrize(
    "at_zero", ["logits == logits.amax(-1, keepdim=True)", "(logits == logits.amax(-1, keepdim=True)).long()"]
)
def test_probabilities_at_temperature_0_have_the_dtype_of_the_logits(at_zero):
    for result in results("10.temperature", TEMPERATURE.format(at_zero)):
        assert result.verdict == "partial" and result.diagnosis == ("dtype-lost",), result.text()


@pytest.mark.usefixtures("verdicts_alone")
def test_positions_that_keep_float64_beside_a_float32_embedding_cost_a_little():
    source = solutions(10)["10-write"].replace(".to(embedding)", "")
    for result in results("10.write", source):
        assert result.verdict == "partial" and result.points == pytest.approx(5.4), result.text()


@pytest.mark.parametrize(("task_id", "source"), RIGHT, ids=lambda value: value[:14])
def test_right_inference_answers_in_other_words_pass(task_id, source):
    for result in results(task_id, source):
        assert result.verdict == "pass", result.text()


@pytest.mark.one_in(8)
@pytest.mark.parametrize("mistake", get_task("10.beam-step").mistakes, ids=lambda mistake: mistake.slug)
def test_a_wrong_step_does_not_sink_the_search_since_a_lent_one_gives_whole_numbers(mistake):
    step = mistake.applied_to(solutions(10)["10-beam-step"])
    there = world(10, {"10-beam-step": step})
    for result in everywhere("10.beam", there["beam_search"]):
        assert result.verdict == "pass", result.text()


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize(("task_id", "source"), PASSED)
def test_inference_answers_that_passed_and_are_wrong_lose_points(task_id, source):
    for result in results(task_id, source):
        assert result.points < get_task(task_id).points, result.text()


@pytest.mark.parametrize(("task_id", "source"), OTHER_KINDS)
def test_ids_and_positions_are_whole_numbers_that_hold_every_id(task_id, source):
    for result in results(task_id, source):
        assert result.verdict == "wrong" and "int64" in result.text(), result.text()


@pytest.mark.parametrize(("source", "slug"), [(AGAIN, "read-again"), (SINGLY, "prompt-singly")])
def test_a_model_that_writes_is_to_feed_each_token_once_and_the_prompt_in_one_pass(source, slug):
    for result in results("10.write", source):
        assert result.verdict == "wrong" and result.diagnosis == (slug,), result.text()


def test_a_wrong_layer_does_not_make_a_model_feed_more():
    """The lent layer is counted like the student's own: it reads a prompt in one pass."""
    layer = get_task("10.step").mistakes[0].applied_to(solutions(10)["10-step"])
    for result in everywhere("10.write", world(10, {"10-step": layer})["write"]):
        assert result.verdict == "pass", result.text()


def test_a_set_without_the_token_that_crosses_is_named():
    source = (
        "def top_p(p, mass):\n    s, i = p.sort(descending=True)\n    s[s.cumsum(-1) > mass] = 0\n"
        "    q = torch.zeros_like(p).scatter(1, i, s)\n    return q / q.sum(-1, keepdim=True)"
    )
    result = check("10.top-p", written("10.top-p", source))
    assert result.verdict != "pass" and result.diagnosis == ("crossing-dropped",), result.text()


@pytest.mark.parametrize("slug", ["top-left", "no-mask", "newest-only"])
def test_a_wrong_attention_does_not_sink_the_model_that_writes(slug):
    attend = next(task for task in tasks(10) if task.id == "10.attend")
    wrong = attend.mistake(slug).applied_to(solutions(10)["10-attend"])
    assert check("10.write", world(10, {"10-attend": wrong})["write"]).verdict == "pass"


def test_solutions_agree_with_the_librarys_own_functions():
    there = world(10)
    rng = torch.Generator().manual_seed(3)
    logits = torch.randn(5, 40, generator=rng, dtype=torch.float64)
    tempered = there["with_temperature"](logits, 0.7)
    close = torch.testing.assert_close
    close(tempered, model.next_token_probabilities(logits, temperature=0.7))
    close(there["top_k"](logits, 6), model.next_token_probabilities(logits, top_k=6))
    close(there["top_p"](tempered, 0.6), model.next_token_probabilities(logits, temperature=0.7, top_p=0.6))
    luck = torch.rand(5, generator=rng, dtype=torch.float64)
    assert torch.equal(there["draw"](tempered, luck), model.pick(tempered, luck))


@pytest.mark.parametrize("beams", [1, 2, 5])
def test_beam_search_of_the_notebook_finds_what_the_library_finds(beams):
    there = world(10)
    for seed in range(6):
        table = torch.randn(7, 7, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).log_softmax(-1)
        ids, score = there["beam_search"](table, 0, 1, beams, 5, 0.8)
        search = model.beam_search(
            lambda text, state, table=table: (table[text[:, -1]], None),
            torch.zeros(1, 1, dtype=torch.int64),
            beams=beams,
            max_new_tokens=5,
            end_id=1,
            length_penalty=0.8,
        )
        assert list(ids) == search.best.new_ids[0].tolist()
        assert float(score) == pytest.approx(float(search.scores[0, 0]))
