"""The bench of newer parts: what its pieces do; the committed run is a whole one. Losses are not tested."""

from dataclasses import replace

import pytest
import torch

from benchmarks.changed import bench_changed, published
from benchmarks.changed.drafts import accept_draft, speculative_generate
from benchmarks.changed.sizes import QUICK
from benchmarks.changed.small import recall
from softlookup.model import Config, DecoderLM, generate, pick


@pytest.mark.slow
def test_record_has_all_experiments(tmp_path):
    (tmp_path / "book").mkdir()
    record = bench_changed(quick=True, root=tmp_path) if not published.installed() else None
    if record is None:
        pytest.skip("SmolLM2 is installed, and would read a book of no pages")
    assert record["window"] is None and record["cache_bits"] is None and record["ratio"] is None
    for name, ways in {
        "expert_load": {"without", "with_bias"},
        "largest_logit": {"none_x1", "none_x10", "head_x1", "head_x10"},
        "stretched": {"as_trained", "ntk", "yarn", "yarn_4"},
        "recall": {"linear", "delta"},
        "muon": {"adamw", "adamw_high", "muon"},
    }.items():
        assert ways < record[name].keys()
    assert record["draft"]["by_length"]["2"]["tokens_per_pass"] >= 1


def test_the_delta_rule_gives_the_newest_value_where_keys_are_nearly_orthogonal():
    accuracy = recall(replace(QUICK, state_width=512, seeds=(1, 2, 3)))
    assert set(accuracy.delta.values()) == {1.0}
    assert max(accuracy.linear.values()) < 1


@pytest.mark.parametrize("key_axis", [2, 3])
def test_a_cache_of_few_bits_hands_out_earlier_groups_rounded_and_the_newest_as_it_is(key_axis):
    cache = published._FewBits(2, key_axis)
    k, v = torch.randn(2, 1, 1, 4, 8)
    cache.append(k[:, :, :2], v[:, :, :2])
    all_k, all_v = cache.append(k[:, :, 2:], v[:, :, 2:])
    for seen, whole, axis in ((all_k, k, key_axis), (all_v, v, 3)):
        first = whole[:, :, :2]
        least, most = first.amin(axis, keepdim=True), first.amax(axis, keepdim=True)
        step = (most - least) / 3
        torch.testing.assert_close(seen[:, :, :2], ((first - least) / step).round() * step + least)
        torch.testing.assert_close(seen[:, :, 2:], whole[:, :, 2:])
    assert cache.length == 4


def test_prose_is_what_has_no_markup(tmp_path):
    plain = "A sentence that is long enough to be read, with nothing in it that a page's markup would need at all."
    page = f"# Title\n\n{plain}\n\n{plain} With $x$.\n\n| a | table |\n- {plain}\nshort\n"
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "01_page.md").write_text(page)
    assert published.prose(tmp_path) == plain
    with pytest.raises(FileNotFoundError, match="has no page"):
        published.prose(tmp_path / "book")


# Speculative sampling: whatever the draft, the text is distributed as the large model's own; greedy text is equal.


DRAWS = 100_000
P = torch.tensor([[0.5, 0.3, 0.15, 0.05, 0.0], [0.1, 0.2, 0.3, 0.1, 0.3], [0.05, 0.05, 0.4, 0.4, 0.1]])
Q = torch.tensor([[0.2, 0.2, 0.2, 0.2, 0.2], [0.0, 0.6, 0.1, 0.3, 0.0]])


def language_model(seed, vocab_size=7, **parts):
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_hidden": 24, "max_length": 64}
    model = DecoderLM(Config(vocab_size, **{**sizes, "positions": "rotary", "dropout": 0.0, **parts})).double().eval()
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.7)  # so that models differ in what they write
    return model


def chi_squared(tokens, p):
    """How far counts are from their probabilities; about the number of possible tokens less one, by chance."""
    counts, expected = torch.bincount(tokens, minlength=len(p)).double(), p.double() * len(tokens)
    assert not counts[expected == 0].any()
    return float(((counts - expected).square() / expected)[expected > 0].sum())


def drafted(n):
    generator = torch.Generator().manual_seed(4)
    uniforms = torch.rand(n, 5, generator=generator, dtype=torch.float64)
    tokens = torch.stack([pick(Q[t].expand(n, -1), uniforms[:, t]) for t in range(2)], dim=1)
    return tokens, uniforms[:, 2:]


def test_tokens_are_distributed_as_the_large_models():
    tokens, uniforms = drafted(DRAWS)
    count, following = accept_draft(P.expand(DRAWS, -1, -1), Q.expand(DRAWS, -1, -1), tokens, uniforms)
    text = torch.cat((tokens, following[:, None]), dim=1)
    text[torch.arange(DRAWS), count] = following
    for t in range(3):
        written = count >= t
        assert written.double().mean() > 0.2
        assert chi_squared(text[written, t], P[t]) < 20, t
    # The share that is accepted is what the two distributions have in common.
    assert (count >= 1).double().mean() == pytest.approx(float(torch.minimum(P[0], Q[0]).sum()), abs=0.01)


def test_as_many_are_accepted_as_transformers_accepts():
    utils = pytest.importorskip("transformers.generation.utils")
    for seed in range(30):
        torch.manual_seed(seed)
        p, q = torch.randn(1, 5, 6).softmax(-1), torch.randn(1, 4, 6).softmax(-1)
        tokens = torch.randint(6, (1, 4))
        state = torch.random.get_rng_state()
        accepted, count = utils._speculative_sampling(tokens, q.log(), 4, p.log())
        torch.random.set_rng_state(state)
        luck = torch.rand(1, 4)
        uniforms = torch.cat((luck, torch.rand(1, 1)), dim=1)
        n_accepted, _ = accept_draft(p, q, tokens, uniforms)
        assert int(n_accepted) == int(count) and accepted.shape[1] == int(count) + 1


@pytest.mark.slow
@pytest.mark.one_in(6)
@pytest.mark.parametrize("n_draft", [1, 3, 20])
def test_greedy_text_is_that_of_generate(n_draft):
    model, prompt = language_model(0), torch.tensor([[2, 4, 1]])
    expected = generate(model, prompt, max_new_tokens=25).ids
    for seed in (0, 1, 2):
        got = speculative_generate(
            model, language_model(seed), prompt, max_new_tokens=25, n_draft=n_draft, temperature=0.0
        )
        assert torch.equal(got.ids, expected)
        assert sum(got.accepted) + len(got.accepted) == 25
        assert (got.accepted == got.drafted) is (seed == 0)


@pytest.mark.slow
def test_drawn_text_has_the_models_distribution():
    model, draft, prompt = (*(language_model(n, 4, n_layers=1) for n in (0, 5)), torch.tensor([[2, 1]]))
    generator, how = torch.Generator().manual_seed(1), {"temperature": 0.8}
    texts = [
        speculative_generate(model, draft, prompt, max_new_tokens=2, n_draft=2, generator=generator, **how).ids[0, 2:]
        for _ in range(300)
    ]
    outcomes = torch.stack(texts) @ torch.tensor([4, 1])
    with torch.no_grad():
        longer = torch.cat((prompt.expand(4, -1), torch.arange(4)[:, None]), dim=1)
        p = (torch.cat((model(prompt)[:, -1], model(longer)[:, -1])) / 0.8).softmax(-1)
    assert chi_squared(outcomes, (p[0][:, None] * p[1:]).flatten()) < 30
