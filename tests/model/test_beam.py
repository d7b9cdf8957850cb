"""Beam search: exact where it is exhaustive, and elsewhere equal to a plain one in lists."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_language import Seen, ToyLanguage, table_step

from softlookup.model.decoding.beam import Node, beam_search

END, PAD = 1, 0
INF = math.inf


def score_of(log_p, length, alpha):
    return log_p / ((5 + length) / 6) ** alpha


def continuations(language, prompt, limit):
    """List every continuation that ends, or runs to the limit: (log-probability, tokens)."""
    ended, unended = [], [(0.0, ())]
    for length in range(1, limit + 1):
        longer = []
        for total, tokens in unended:
            for token, log_p in enumerate(language.log_p([*prompt, *tokens])):
                if log_p > -INF:
                    ends = token == END or length == limit
                    (ended if ends else longer).append((total + log_p, (*tokens, token)))
        unended = longer
    return ended


def plain_search(language, prompt, beams, limit, alpha, keep):
    """Search in lists, without ever stopping early: [(score, log-probability, tokens)], best first."""
    live, ended = [(0.0, ())], []
    for length in range(1, limit + 1):
        every = [
            (-(total + log_p), rank, token, tokens)
            for rank, (total, tokens) in enumerate(live)
            for token, log_p in enumerate(language.log_p([*prompt, *tokens]))
            if log_p > -INF
        ]
        live = []
        for minus_total, _, token, tokens in sorted(every)[:beams]:
            written = (*tokens, token)
            if token == END or length == limit:
                ended.append((score_of(-minus_total, length, alpha), -minus_total, written))
            else:
                live.append((-minus_total, written))
    return sorted(ended, key=lambda hypothesis: -hypothesis[0])[:keep]


def assert_equals(got, row, prompt, expected, keep):
    for k in range(keep):
        score, log_p, tokens = expected[k] if k < len(expected) else (-INF, -INF, ())
        padding = (PAD,) * (got.ids.shape[2] - len(prompt) - len(tokens))
        assert tuple(got.ids[row, k].tolist()) == (*prompt, *tokens, *padding)
        assert got.lengths[row, k] == len(tokens)
        assert got.scores[row, k].item() == pytest.approx(score, abs=1e-12)
        assert got.log_probabilities[row, k].item() == pytest.approx(log_p, abs=1e-12)


alphas = st.sampled_from([0, 0.6, 1.0, 2.5])


@given(
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 6),
    alphas,
    st.sampled_from([None, 1, 3]),
    st.sampled_from([0.0, 0.5]),
    st.booleans(),
    st.data(),
)
@settings(max_examples=120)
def test_batched_search_equals_a_plain_one_in_lists(seed, b, beams, limit, alpha, levels, ruled_out, remembers, data):
    keep = data.draw(st.integers(1, beams))
    language = ToyLanguage(seed, 4, levels=levels, ruled_out=ruled_out)
    prompts = torch.randint(4, (b, 2), generator=torch.Generator().manual_seed(seed))
    got = beam_search(
        language.stateful if remembers else language.stateless,
        prompts,
        beams=beams,
        max_new_tokens=limit,
        end_id=END,
        pad_id=PAD,
        length_penalty=alpha,
        keep=keep,
    )
    expected = [plain_search(language, prompt, beams, limit, alpha, keep) for prompt in prompts.tolist()]
    assert got.ids.shape[2] == 2 + max(len(tokens) for row in expected for _, _, tokens in row)
    for row, prompt in enumerate(prompts.tolist()):
        assert_equals(got, row, prompt, expected[row], keep)


@given(st.integers(0, 10**6), st.sampled_from([(2, 4), (3, 3), (4, 2)]), alphas, st.integers(1, 3))
def test_with_room_for_all_it_finds_the_best_of_all_continuations(seed, sizes, alpha, keep):
    v, limit = sizes
    language = ToyLanguage(seed, v)
    prompts = torch.tensor([[0], [1]])
    got = beam_search(
        language.stateless, prompts, beams=v**limit, max_new_tokens=limit, end_id=END, length_penalty=alpha, keep=keep
    )
    for row, prompt in enumerate(prompts.tolist()):
        every = [(score_of(p, len(tokens), alpha), p, tokens) for p, tokens in continuations(language, prompt, limit)]
        assert sum(math.exp(p) for _, p, _ in every) == pytest.approx(1)  # none is missing
        assert_equals(got, row, prompt, sorted(every, reverse=True)[:keep], keep)


def test_finished_prompts_leave_the_batch_and_the_search_stops_when_none_is_left():
    calls = []

    def step(ids, state):
        """Count down to the end token from what the prompt says; one time in ten start again from 8."""
        calls.append(len(ids))
        p = torch.zeros(len(ids), 9, dtype=torch.float64)
        p[:, 8] = 0.1
        p[torch.arange(len(ids)), ids[:, -1] - 1] = 0.9
        return p.log(), None

    got = beam_search(step, torch.tensor([[2], [8], [4]]), beams=2, max_new_tokens=100, end_id=END, length_penalty=0)
    assert got.best.new_ids.tolist() == [[1, 0, 0, 0, 0, 0, 0], [7, 6, 5, 4, 3, 2, 1], [3, 2, 1, 0, 0, 0, 0]]
    # Two rows a prompt; the first prompt ends with the first step, the third with the third.
    assert calls == [3, 4, 4, 2, 2, 2, 2]


def test_a_prompt_stays_open_as_long_as_something_longer_may_win():
    # 0.4 ends at once; 0.6 goes on for sure and ends later: with a high penalty worth the wait.
    rows = [[0.0, 0.4, 0.6, 0.0], [1.0, 0, 0, 0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]
    counts = []

    def step(ids, state):
        counts.append(len(ids))
        return table_step(rows)(ids, state)

    prompts = torch.tensor([[0]])
    for alpha, best in ((0, [2, 3, 1]), (1.0, [2, 3, 1])):
        got = beam_search(step, prompts, beams=2, max_new_tokens=9, end_id=END, length_penalty=alpha)
        assert got.best.new_ids.tolist() == [best]
    assert counts == [1, 1, 1] * 2
    # Turned round, what has ended cannot be passed without a penalty: one call. With one it could, up to the limit.
    rows[0] = [0.0, 0.6, 0.4, 0.0]
    for alpha, n_calls in ((0, 1), (1.0, 3)):
        counts.clear()
        beam_search(step, prompts, beams=2, max_new_tokens=9, end_id=END, length_penalty=alpha)
        assert len(counts) == n_calls


def test_keeping_more_waits_for_more():
    # After 0 the end has 0.9; the rest is slow. The best alone is found at once, the second best takes another step.
    rows = [[0.0, 0.9, 0.1], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
    calls = []

    def step(ids, state):
        calls.append(len(ids))
        return table_step(rows)(ids, state)

    for keep, n_calls in ((1, 1), (2, 2)):
        calls.clear()
        got = beam_search(step, torch.tensor([[0]]), beams=2, max_new_tokens=9, end_id=END, length_penalty=0, keep=keep)
        assert len(calls) == n_calls
    assert got.ids.tolist() == [[[0, 1, 0], [0, 2, 1]]]
    assert got.best.ids.tolist() == [[0, 1]]  # the best alone is not padded up to the others


def test_states_follow_their_hypotheses_and_see_new_tokens_only():
    language = ToyLanguage(3, 5)
    prompts = torch.randint(5, (3, 4))
    got = beam_search(language.stateful, prompts, beams=3, max_new_tokens=5, end_id=END, length_penalty=3.0)
    assert [columns for _, columns in language.calls] == [4] + [1] * (len(language.calls) - 1)
    assert language.calls[0] == (3, 4) and len(language.calls) > 2
    language.calls.clear()
    uncached = beam_search(language.stateless, prompts, beams=3, max_new_tokens=5, end_id=END, length_penalty=3.0)
    assert torch.equal(got.ids, uncached.ids) and torch.equal(got.scores, uncached.scores)
    late = beam_search(
        language.stateful,
        prompts[:, 3:],
        beams=3,
        max_new_tokens=5,
        end_id=END,
        length_penalty=3.0,
        state=Seen(prompts[:, :3]),
    )
    assert torch.equal(late.best.new_ids, got.best.new_ids)


def test_the_trace_tells_the_whole_search():
    language = ToyLanguage(11, 5)
    prompts = torch.randint(5, (3, 2))
    arguments = {"beams": 3, "max_new_tokens": 6, "end_id": END, "length_penalty": 0.6}
    got = beam_search(language.stateless, prompts, trace=True, **arguments)
    plain = beam_search(language.stateless, prompts, **arguments)
    assert plain.trace is None and torch.equal(plain.ids, got.ids)
    assert len(got.trace) == 3 and len({len(steps) for steps in got.trace}) > 1
    for row, steps in enumerate(got.trace):
        written, ended = [()], []
        for depth, nodes in enumerate(steps):
            assert [n.log_probability for n in nodes] == sorted((n.log_probability for n in nodes), reverse=True)
            before = written
            written = [(*before[n.parent], n.token) for n in nodes]
            for node, tokens in zip(nodes, written, strict=True):
                log_p = sum(
                    language.log_p(prompts[row].tolist() + list(tokens[:i]))[tokens[i]] for i in range(len(tokens))
                )
                assert node.log_probability == pytest.approx(log_p, abs=1e-12)
                assert node.ended == (node.token == END or depth == 5)
                ended += [(score_of(log_p, len(tokens), 0.6), tokens)] if node.ended else []
            if depth:
                assert not any(steps[depth - 1][n.parent].ended for n in nodes)
        n = int(got.lengths[row, 0])
        assert max(ended)[1] == tuple(got.best.new_ids[row, :n].tolist())


def test_the_trace_leaves_out_what_is_impossible():
    step = table_step([[0.0, 0.5, 0.5], [1.0, 0, 0], [0.0, 1.0, 0.0]])
    got = beam_search(step, torch.tensor([[0]]), beams=3, max_new_tokens=2, end_id=END, trace=True, keep=3)
    half = torch.tensor(0.5, dtype=torch.float64).log().item()
    assert got.trace == ((((Node(1, 0, half, True), Node(2, 0, half, False))), (Node(1, 1, half, True),)),)
    assert got.lengths.tolist() == [[2, 1, 0]] and got.scores[0, 2] == -INF
    assert got.ids.tolist() == [[[0, 2, 1], [0, 1, 0], [0, 0, 0]]]


def test_a_prompt_mask_goes_where_the_rows_go():
    language = ToyLanguage(8, 4)

    def step(ids, state, mask):
        rows = [row[real].tolist() for row, real in zip(ids, mask, strict=True)]
        return torch.stack([language.row(row) for row in rows]), None

    prompts, mask = torch.tensor([[PAD, 2], [3, 2]]), torch.tensor([[False, True], [True, True]])
    arguments = {"beams": 3, "max_new_tokens": 4, "end_id": END}
    got = beam_search(step, prompts, prompt_mask=mask, **arguments)
    for row, prompt in enumerate(([2], [3, 2])):
        alone = beam_search(language.stateless, torch.tensor([prompt]), **arguments)
        n = int(alone.lengths)
        assert got.best.new_ids[row, :n].tolist() == alone.best.new_ids[0].tolist()
        assert got.scores[row, 0] == alone.scores[0, 0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_logits_of_other_dtypes_are_summed_in_float32(device, dtype):
    language = ToyLanguage(9, 6, dtype=dtype, device=device)
    prompts = torch.randint(6, (2, 2)).to(device)
    got = beam_search(language.stateless, prompts, beams=3, max_new_tokens=4, end_id=END, trace=True)
    for row, prompt in enumerate(prompts.tolist()):
        tokens = got.best.new_ids[row, : int(got.lengths[row, 0])].tolist()
        rows = [torch.log_softmax(language.row(prompt + tokens[:i]).float(), -1) for i in range(len(tokens))]
        total = sum(float(log_p[token]) for log_p, token in zip(rows, tokens, strict=True))
        assert got.log_probabilities[row, 0].item() == pytest.approx(total, abs=1e-5)


def test_defaults_are_four_beams_and_the_papers_length_penalty():
    got = beam_search(ToyLanguage(10, 9).stateless, torch.tensor([[2]]), max_new_tokens=4, end_id=END, trace=True)
    assert max(len(nodes) for nodes in got.trace[0]) == 4
    n, log_p = int(got.lengths), got.log_probabilities.item()
    assert n > 1 and got.scores.item() == pytest.approx(score_of(log_p, n, 0.6), abs=1e-12)


def test_no_graph_is_kept_and_the_prompt_is_left_unchanged():
    table = torch.randn(4, 4, requires_grad=True)
    prompts = torch.tensor([[2], [3]])
    got = beam_search(lambda ids, state: (table[ids[:, -1]], None), prompts, max_new_tokens=3, end_id=END)
    assert not got.scores.requires_grad and prompts.tolist() == [[2], [3]]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"beams": 0}, ValueError, "beams must be at least 1; got 0"),
        ({"beams": 2, "keep": 3}, ValueError, r"keep must be 1 to beams \(2\); got 3"),
        ({"keep": 0}, ValueError, "keep must be 1 to beams"),
        ({"length_penalty": -1.0}, ValueError, "length_penalty must be a finite number of at least 0; got -1.0"),
        ({"length_penalty": INF}, ValueError, "length_penalty .* got inf"),
        ({"max_new_tokens": 0}, ValueError, "max_new_tokens must be at least 1; got 0"),
        ({"end_id": 4}, ValueError, "end_id is 4; the model's tokens are 0 to 3"),
        ({"pad_id": -1}, ValueError, "pad_id is -1"),
        ({"prompt_ids": torch.zeros(0, 1).long()}, ValueError, r"prompt_ids have shape \(0, 1\)"),
        ({"prompt_mask": torch.tensor([[False]])}, ValueError, "every row has to end in a token"),
    ],
)
def test_bad_input_is_named(changes, error, says):
    arguments = {"prompt_ids": torch.tensor([[0]]), "max_new_tokens": 2, "end_id": END} | changes
    with pytest.raises(error, match=says):
        beam_search(lambda ids, state: (torch.zeros(1, 4), None), arguments.pop("prompt_ids"), **arguments)


def test_faulty_logits_are_refused_on_the_way():
    def step(ids, state):
        p = torch.zeros(len(ids), 4)
        if ids.shape[1] == 2:
            p[1] = float("nan")
        return p, None

    with pytest.raises(ValueError, match="row 1 of the logits holds NaN"):
        beam_search(step, torch.tensor([[0]]), beams=3, max_new_tokens=5, end_id=END)
