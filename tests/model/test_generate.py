"""Writing token by token: equal to one row at a time by hand, whatever stands beside it and whatever is remembered."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from toy_language import Seen, ToyLanguage, table_step

from softlookup.model.decoding.generate import generate
from softlookup.model.decoding.sampling import next_token_probabilities, pick
from softlookup.model.decoding.stepping import Prefixes

END, PAD = 1, 0


def by_hand(language, prompt, max_new_tokens, end_id):
    """Write one row greedily; return its new tokens and their log-probability."""
    written, total = [], 0.0
    while len(written) < max_new_tokens and (not written or written[-1] != end_id):
        log_p = language.log_p(prompt + written)
        token = max(range(language.vocab_size), key=lambda i: (log_p[i], -i))
        written.append(token)
        total += log_p[token]
    return written, total


@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 7),
    st.sampled_from([None, END]),
    st.sampled_from([PAD, END, 3]),
    st.sampled_from([None, 2]),
    st.booleans(),
    st.booleans(),
)
def test_greedy_rows_equal_each_row_written_alone(seed, b, t, limit, end_id, pad_id, levels, remembers, drop):
    language = ToyLanguage(seed, 4, levels=levels, ruled_out=0.2)
    prompts = torch.randint(4, (b, t), generator=torch.Generator().manual_seed(seed))
    step = language.stateful if remembers else language.stateless
    got = generate(step, prompts, max_new_tokens=limit, end_id=end_id, pad_id=pad_id, drop_finished=drop)
    expected = [by_hand(language, prompt, limit, end_id) for prompt in prompts.tolist()]
    longest = max(len(written) for written, _ in expected)
    rows = [
        prompt + written + [pad_id] * (longest - len(written))
        for prompt, (written, _) in zip(prompts.tolist(), expected, strict=True)
    ]
    assert got.ids.tolist() == rows
    assert got.lengths.tolist() == [len(written) for written, _ in expected]
    assert got.log_probabilities.tolist() == pytest.approx([total for _, total in expected], abs=1e-12)
    assert got.new_ids.tolist() == [row[t:] for row in rows] and got.prompt_length == t


ENDS_AFTER = torch.tensor([[2], [4], [3]])


def countdown(ids, state):
    """Step: a language that counts down to the end token, 1; it starts where the prompt says."""
    return torch.eye(5, dtype=torch.float64)[ids[:, -1] - 1].log(), state


@pytest.mark.parametrize(
    ("drop", "rows"), [(True, [3, 2, 1]), (False, [3, 3, 3])], ids=["finished-rows-leave", "finished-rows-stay"]
)
def test_rows_stop_one_by_one_and_the_whole_when_all_have(drop, rows):
    calls = []

    def step(ids, state):
        calls.append(len(ids))
        # What follows a pad does not matter, but has to be a distribution.
        return countdown(ids.clamp(min=1), state)

    got = generate(step, ENDS_AFTER, max_new_tokens=50, end_id=1, pad_id=0, drop_finished=drop)
    assert got.ids.tolist() == [[2, 1, 0, 0], [4, 3, 2, 1], [3, 2, 1, 0]]
    assert got.lengths.tolist() == [1, 3, 2]
    assert calls == rows


def test_a_state_is_given_new_tokens_only_and_no_state_all_of_them():
    language = ToyLanguage(1, 4)
    prompts = torch.tensor([[2, 3, 2], [3, 3, 0]])
    uncached = generate(language.stateless, prompts, max_new_tokens=3)
    assert language.calls == [(2, 3), (2, 4), (2, 5)]
    language.calls.clear()
    cached = generate(language.stateful, prompts, max_new_tokens=3)
    assert language.calls == [(2, 3), (2, 1), (2, 1)]
    assert torch.equal(cached.ids, uncached.ids)


def test_a_state_from_before_the_prompt_is_continued_from():
    language = ToyLanguage(2, 4)
    whole = torch.tensor([[2, 3, 2], [3, 3, 0]])
    expected = generate(language.stateful, whole, max_new_tokens=4)
    got = generate(language.stateful, whole[:, 2:], max_new_tokens=4, state=Seen(whole[:, :2]))
    assert torch.equal(got.new_ids, expected.new_ids)


@pytest.mark.parametrize("settings", [{}, {"top_k": 2}, {"top_p": 0.7}, {"temperature": 2.0, "top_k": 3, "top_p": 0.8}])
@pytest.mark.parametrize("drop", [True, False])
def test_drawn_tokens_are_the_picks_of_the_generators_numbers(settings, drop):
    language, limit = ToyLanguage(3, 5), 6
    settings = {"temperature": 1.0} | settings
    prompts = torch.randint(5, (8, 2))
    got = generate(
        language.stateless,
        prompts,
        max_new_tokens=limit,
        end_id=END,
        generator=torch.Generator().manual_seed(7),
        drop_finished=drop,
        **settings,
    )
    luck = torch.Generator().manual_seed(7)
    numbers = torch.stack([torch.rand(8, generator=luck, dtype=torch.float64) for _ in range(limit)], dim=1)
    for row, (prompt, uniforms) in enumerate(zip(prompts.tolist(), numbers, strict=True)):
        written, total = [], 0.0
        for uniform in uniforms:
            logits = language.row(prompt + written)[None]
            token = pick(next_token_probabilities(logits, **settings), uniform[None]).item()
            written.append(token)
            total += language.log_p(prompt + written[:-1])[token]  # the model's own, not what was drawn from
            if token == END:
                break
        n = len(written)
        assert got.new_ids[row].tolist() == written + [PAD] * (got.new_ids.shape[1] - n)
        assert got.lengths[row] == n
        assert got.log_probabilities[row].item() == pytest.approx(total, abs=1e-12)
    assert 1 < len({tuple(row) for row in got.new_ids.tolist()})


def test_draws_repeat_with_the_seed_and_differ_without(device):
    language = ToyLanguage(4, 5, device=device)
    prompts = torch.randint(5, (4, 2)).to(device)

    def draw(seed):
        luck = None if seed is None else torch.Generator(device).manual_seed(seed)
        return generate(language.stateless, prompts, max_new_tokens=5, temperature=1.0, generator=luck).ids

    assert torch.equal(draw(1), draw(1)) and not torch.equal(draw(1), draw(2))
    torch.manual_seed(5)
    first = draw(None)
    torch.manual_seed(5)
    assert torch.equal(draw(None), first) and not torch.equal(draw(None), first)


def test_a_generator_of_the_cpu_serves_any_device(device):
    language = ToyLanguage(4, 5, device=device)
    prompts = torch.randint(5, (4, 2))
    draws = [
        generate(
            lambda ids, state, d=d: (language.stateless(ids, state)[0].to(d), None),
            prompts.to(d),
            max_new_tokens=5,
            temperature=1.0,
            generator=torch.Generator().manual_seed(1),
        ).ids.cpu()
        for d in ("cpu", device)
    ]
    assert torch.equal(*draws)


class Masked(ToyLanguage):
    """A language that reads the prompt's mask: tokens that are none do not count."""

    def masked(self, ids, state, mask):
        assert mask.dtype == torch.bool and mask.shape == ids.shape
        self.calls.append(mask.tolist())
        rows = [
            [i for i, real in zip(*pair, strict=True) if real] for pair in zip(ids.tolist(), mask.tolist(), strict=True)
        ]
        return torch.stack([self.row(prefix) for prefix in rows]), None

    def first_masked(self, ids, state, mask=None):
        if state is None:
            logits, _ = self.masked(ids, None, mask)
            return logits, Kept(
                [[i for i, real in zip(*p, strict=True) if real] for p in zip(ids.tolist(), mask.tolist(), strict=True)]
            )
        assert mask is None
        new_state = Kept([old + new for old, new in zip(state.rows, ids.tolist(), strict=True)])
        return torch.stack([self.row(prefix) for prefix in new_state.rows]), new_state

    def start(self, mask):
        return Started(mask)

    def step(self, ids, state):
        if isinstance(state, Started):
            return self.first_masked(ids, None, state.mask)
        return self.first_masked(ids, state)


class Started:
    def __init__(self, mask):
        self.mask = mask

    def select(self, rows):
        return Started(self.mask[rows])


class Kept:
    def __init__(self, rows):
        self.rows = rows

    def select(self, rows):
        return Kept([self.rows[i] for i in rows.tolist()])


@pytest.mark.parametrize("way", ["masked", "first_masked", "model"])
def test_prompts_of_unequal_lengths_equal_each_alone(way):
    language = Masked(6, 4)
    prompts = torch.tensor([[PAD, PAD, 2], [3, 2, 2], [PAD, 2, 3], [PAD, PAD, 3]])
    mask = torch.tensor([[0, 0, 1], [1, 1, 1], [0, 1, 1], [0, 0, 1]]).bool()
    step = language if way == "model" else getattr(language, way)
    got = generate(step, prompts, max_new_tokens=9, end_id=END, prompt_mask=mask)
    alone = [by_hand(language, prompt[real].tolist(), 9, END)[0] for prompt, real in zip(prompts, mask, strict=True)]
    assert [row[:n] for row, n in zip(got.new_ids.tolist(), got.lengths.tolist(), strict=True)] == alone
    assert len({len(written) for written in alone}) > 1  # rows have left the batch on the way


def test_inputs_are_left_unchanged_and_no_graph_is_kept():
    table = torch.randn(4, 4, requires_grad=True)
    prompts = torch.tensor([[2], [3]], dtype=torch.int32)
    got = generate(lambda ids, state: (table[ids[:, -1]], None), prompts, max_new_tokens=3)
    assert prompts.tolist() == [[2], [3]] and not got.log_probabilities.requires_grad
    assert got.ids.dtype == torch.int64


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_logits_of_any_dtype_will_do(device, dtype):
    step = table_step([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2]], dtype)
    got = generate(
        lambda ids, state: (step(ids.cpu(), state)[0].to(device), None),
        torch.tensor([[0]], device=device),
        max_new_tokens=3,
    )
    assert got.ids.tolist() == [[0, 2, 1, 0]]
    assert got.log_probabilities.exp().item() == pytest.approx(0.7 * 0.6 * 0.5, rel=1e-2)


def test_selecting_the_rows_that_are_there_copies_nothing():
    class Counting(Seen):
        def select(self, rows):
            raise AssertionError("nothing was to be selected")

    prefixes = Prefixes(lambda ids, state: (torch.zeros(2, 4), state), torch.tensor([[2], [3]]), Counting(None))
    prefixes.next_log_probabilities()
    before = prefixes.ids
    prefixes.select(torch.tensor([0, 1]))
    assert prefixes.ids is before
    with pytest.raises(AssertionError):
        prefixes.select(torch.tensor([1, 0]))


def test_a_model_that_would_drop_numbers_is_refused():
    class Model(torch.nn.Sequential):
        def step(self, ids, state):
            return self(torch.ones(len(ids), 4)), None

    for model in (Model(torch.nn.Dropout(0.0)), Model(torch.nn.Dropout(0.5)).eval()):
        assert generate(model, torch.tensor([[2]]), max_new_tokens=1).ids.tolist() == [[2, 0]]
    with pytest.raises(ValueError, match=r"in training mode and would drop numbers at random; call eval\(\) first"):
        generate(Model(torch.nn.Dropout(0.5)), torch.tensor([[2]]), max_new_tokens=1)


def returning(result):
    return lambda ids, state: result


GOOD = torch.tensor([[2], [3]])
MASK = torch.tensor([[True], [True]])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"prompt_ids": GOOD.double()}, TypeError, "prompt_ids have dtype torch.float64; wanted whole numbers"),
        ({"prompt_ids": GOOD[:, 0]}, ValueError, r"prompt_ids have shape \(2,\); wanted \(B, T\)"),
        ({"prompt_ids": GOOD[:0]}, ValueError, r"prompt_ids have shape \(0, 1\)"),
        ({"prompt_ids": GOOD[:, :0]}, ValueError, r"prompt_ids have shape \(2, 0\)"),
        ({"prompt_ids": torch.tensor([[2], [-1]])}, ValueError, r"prompt_ids holds id -1 at \(1, 0\).* 0 to 3"),
        ({"prompt_ids": torch.tensor([[4], [1]])}, ValueError, r"prompt_ids holds id 4 at \(0, 0\).* 0 to 3"),
        ({"end_id": 4}, ValueError, "end_id is 4; the model's tokens are 0 to 3"),
        ({"end_id": -1}, ValueError, "end_id is -1"),
        ({"pad_id": 4}, ValueError, "pad_id is 4; the model's tokens are 0 to 3"),
        ({"max_new_tokens": 0}, ValueError, "max_new_tokens must be at least 1; got 0"),
        ({"temperature": -1.0}, ValueError, "temperature must be"),
        ({"top_k": 0}, ValueError, "top_k must be"),
        ({"top_p": 2.0}, ValueError, "top_p must be"),
        ({"step": 3}, TypeError, "step is a int; wanted a function, or a model with a method step"),
        ({"step": returning(torch.zeros(2, 4))}, TypeError, r"step returned a Tensor; wanted \(logits, state\)"),
        ({"step": returning((1, 2, 3))}, TypeError, r"step returned a tuple; wanted \(logits, state\)"),
        ({"step": returning((None, None))}, TypeError, r"wanted \(logits, state\)"),
        (
            {"step": returning((torch.zeros(2, 4), 5))},
            TypeError,
            r"a state of type int; wanted one with select\(rows\)",
        ),
        ({"step": returning((torch.zeros(2, 4), None)), "state": Seen(GOOD)}, TypeError, "a state of type NoneType"),
        (
            {"step": returning((torch.zeros(2, 1, 4), None))},
            ValueError,
            r"logits of shape \(2, 1, 4\) for 2 sequences; wanted \(2, V\), those of the next token alone",
        ),
        ({"step": returning((torch.zeros(3, 4), None))}, ValueError, r"logits of shape \(3, 4\) for 2 sequences"),
        ({"step": returning((GOOD, None))}, TypeError, "logits of dtype torch.int64; wanted a floating-point dtype"),
        (
            {"step": returning((torch.zeros(2, 4, device="meta"), None))},
            ValueError,
            "logits on meta; prompt_ids are on cpu",
        ),
        ({"step": returning((torch.full((2, 4), float("nan")), None))}, ValueError, "row 0 of the logits holds NaN"),
        ({"prompt_mask": MASK.long()}, TypeError, "prompt_mask has dtype torch.int64; wanted torch.bool"),
        ({"prompt_mask": MASK[:1]}, ValueError, r"prompt_mask has shape \(1, 1\), prompt_ids \(2, 1\)"),
        ({"prompt_mask": ~MASK}, ValueError, "every row has to end in a token, without gaps"),
        (
            {"prompt_ids": GOOD.expand(2, 3), "prompt_mask": torch.tensor([[True, False, True]] * 2)},
            ValueError,
            "False on the left alone",
        ),
        ({"prompt_mask": MASK, "state": Seen(GOOD)}, ValueError, "prompt_mask and state are both given"),
    ],
)
def test_bad_input_is_named(changes, error, says):
    arguments = {"step": returning((torch.zeros(2, 4), None)), "prompt_ids": GOOD, "max_new_tokens": 2} | changes
    with pytest.raises(error, match=says):
        generate(arguments.pop("step"), arguments.pop("prompt_ids"), **arguments)
