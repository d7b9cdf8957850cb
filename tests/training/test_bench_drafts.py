"""Speculative sampling: whatever the draft, the text is distributed as the large model's own; greedy text is equal."""

import pytest
import torch

from benchmarks.changed.drafts import accept_draft, speculative_generate
from softlookup.model import Config, DecoderLM, generate, pick

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
@pytest.mark.one_in(3)
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
