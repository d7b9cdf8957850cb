"""The serving loop: what it writes is what the model writes alone, whoever else is served; no block is ever lost."""

import math
import random

import pytest
import torch

from softlookup.model import Config, DecoderLM
from softlookup.model.decoding.generate import generate
from softlookup.serving import (
    Blocks,
    Costs,
    ModelRunner,
    Request,
    Rules,
    Server,
    latency,
    percentile,
    poisson_arrivals,
    simulate,
)

SIZES = {"vocab_size": 50, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_hidden": 32, "max_length": 64}


def model(positions="rotary", **more):
    torch.manual_seed(0)
    return DecoderLM(Config(**SIZES | {"n_kv_heads": 2, "positions": positions, "pre_norm": True} | more)).eval()


def prompts(n, seed=0, least=1, most=20):
    luck = random.Random(seed)
    return [tuple(luck.randrange(4, 50) for _ in range(luck.randint(least, most))) for _ in range(n)]


def server(lm, rules=Rules(), n_blocks=64, size=4, share=True, **more):  # noqa: B008
    blocks = Blocks(lm.config, n_blocks, size, share=share)
    return Server(ModelRunner(lm, blocks), blocks, rules, **more)


def alone(lm, request):
    ids = torch.tensor([request.prompt])
    return generate(lm, ids, max_new_tokens=request.max_new_tokens, state=lm.start()).ids[0, len(request.prompt) :]


RULES = [Rules(most=3), Rules(most=3, budget=5), Rules("wait", most=3), Rules(most=6, budget=6)]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.policy}-{rules.most}-{rules.budget}")
@pytest.mark.parametrize("positions", ["rotary", "rotary_halves", "sinusoidal", "learned"])
def test_serve_writes_what_the_model_writes_alone(positions, rules):
    lm = model(positions)
    requests = [Request(ids, 3 + i % 9) for i, ids in enumerate(prompts(9))]
    serving = server(lm, rules)
    serving.serve(requests)
    for request in requests:
        assert request.state == "finished"
        # a tie between two logits would be decided by rounding: the drawn weights have none
        assert request.written == [int(i) for i in alone(lm, request)][: len(request.written)]
    assert serving.blocks.n_free == 64


@pytest.mark.parametrize("n_blocks", [9, 12])
def test_serve_with_too_few_blocks_preempts_and_writes_the_same(n_blocks):
    lm = model()
    requests = [Request(ids, 12) for ids in prompts(7, seed=3, most=16)]
    serving = server(lm, Rules(most=4), n_blocks)
    serving.serve(requests)
    assert serving.scheduler.preempted > 0
    assert all(request.written == [int(i) for i in alone(lm, request)] for request in requests)
    assert serving.blocks.n_free == n_blocks


@torch.no_grad()
def test_passes_give_the_logits_of_each_row_alone():
    lm = model().double()
    blocks = Blocks(lm.config, 32, 4, dtype=torch.float64)
    texts = prompts(4, seed=5, least=3)
    sequences = [blocks.start() for _ in texts]
    for text, sequence in zip(texts, sequences, strict=True):
        blocks.grow(sequence, len(text) - 1)
        rows = blocks.rows([sequence], len(text) - 1)
        lm.decoder(lm.embedder(torch.tensor([text[:-1]]), places=rows.places), mask=rows.mask, cache=rows)
        blocks.grow(sequence, 1)
    rows = blocks.rows(sequences, 1)
    ids = torch.tensor([[text[-1]] for text in texts])
    got = lm.head(lm.decoder(lm.embedder(ids, places=rows.places), mask=rows.mask, cache=rows))[:, 0]
    for row, text in zip(got, texts, strict=True):
        torch.testing.assert_close(row, lm(torch.tensor([text]))[0, -1])


def test_sampled_tokens_do_not_depend_on_the_neighbours():
    lm = model()
    requests = [Request(ids, 8, temperature=1.5, seed=i) for i, ids in enumerate(prompts(5))]
    server(lm, Rules(most=5)).serve(requests)
    for request in requests:
        again = Request(request.prompt, 8, temperature=1.5, seed=request.seed)
        server(lm).serve([again])
        assert again.written == request.written
    assert len({tuple(request.written) for request in requests}) == 5


def test_requests_without_a_seed_get_answers_of_their_own_which_their_seeds_give_again():
    lm, text = model(), prompts(1)[0]
    requests = [Request(text, 8, temperature=1.5) for _ in range(5)]
    server(lm, Rules(most=5)).serve(requests)
    assert len({tuple(request.written) for request in requests}) == 5
    again = Request(text, 8, temperature=1.5, seed=requests[3].seed)
    server(lm).serve([again])
    assert again.written == requests[3].written


def test_prefixes_are_shared_by_full_blocks_and_one_token_is_left():
    lm = model()
    text = prompts(1, least=20)[0]
    serving = server(lm, n_blocks=32)
    for prompt, reused in ((text, 0), (text[:16], 12), (text[:14] + (4,) * 6, 12), ((4, *text[1:]), 0), (text, 16)):
        request = Request(prompt, 2)
        serving.serve([request])
        assert request.reused == reused
        assert request.written == [int(i) for i in alone(lm, request)]
    plain = server(lm, share=False)
    twice = [Request(text, 2), Request(text, 2)]
    plain.serve(twice)
    assert [request.reused for request in twice] == [0, 0]


def test_a_text_longer_than_the_model_is_refused_and_others_are_served():
    lm = model("learned")
    requests = [Request((5,) * 4, 3), Request((5,) * 60, 30), Request((6,) * 60, 5)]  # the last needs all positions
    server(lm).serve(requests)
    assert [request.state for request in requests] == ["finished", "refused", "finished"]
    assert requests[2].written == [int(i) for i in alone(lm, requests[2])]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(6))
def test_no_block_is_lost_whoever_comes_and_goes(seed):
    luck = random.Random(seed)
    lm = model()
    serving = server(lm, Rules(most=4, budget=luck.choice([None, 6]), queue=5), n_blocks=14)
    requests = [Request(ids, luck.randint(1, 10)) for ids in prompts(20, seed=seed, most=12)]
    requests += [Request(request.prompt, 3) for request in requests[:6]]
    for i, request in enumerate(requests):
        serving.submit(request)
        for _ in range(luck.randint(0, 3)):
            serving.step()
        if luck.random() < 0.4:
            serving.cancel(luck.choice(requests[: i + 1]))
        blocks_in_use = {
            block for running in serving.scheduler.running for block in serving.blocks.table(running.sequence)
        }
        assert len(blocks_in_use) + serving.blocks.n_free == 14
    while serving.step():
        pass
    assert serving.blocks.n_free == 14
    assert {request.state for request in requests} <= {"finished", "refused", "cancelled"}
    assert all(request.written for request in requests if request.state == "finished")


def test_a_full_queue_refuses_with_a_reason():
    serving = server(model(), Rules(queue=2))
    requests = [Request((5, 6), 2) for _ in range(3)]
    assert [serving.submit(request) for request in requests] == [True, True, False]
    assert requests[2].state == "refused" and "2 requests are waiting" in requests[2].reason
    large = Request((5,) * 20, 300)
    assert not serving.submit(large) and "80 blocks" in large.reason
    with pytest.raises(ValueError, match="refused and cannot be submitted again"):
        serving.submit(large)


def test_cancel_frees_the_blocks_at_once():
    serving = server(model(), n_blocks=20)
    request, other = Request((5,) * 18, 20), Request((7,) * 6, 4)
    serving.submit(request), serving.submit(other)
    serving.step()
    assert serving.blocks.n_free == 20 - 5 - 2
    assert serving.cancel(request) and not serving.cancel(request)
    assert serving.blocks.n_free == 18
    while serving.step():
        pass
    assert (request.state, other.state, len(other.written)) == ("cancelled", "finished", 4)


def test_tokens_are_streamed_as_they_come_and_an_end_token_ends():
    lm = model()
    heard = []
    request = Request(prompts(1)[0], 6)
    serving = server(lm, say=lambda request, token: heard.append((request, token)))
    serving.serve([request])
    assert heard == [(request, token) for token in request.written]
    ended = Request(request.prompt, 6)
    server(lm, end_id=request.written[2]).serve([ended])
    assert ended.written == request.written[: request.written.index(request.written[2]) + 1]


COSTS = Costs(chunk=1.0, token=0.1, pair=0.0, batch=1.0, row=0.0, slot=0.0)


def simulated(rules, requests, n_blocks=64):
    simulate(requests, COSTS, Blocks(model().config, n_blocks, 4), rules)
    return requests


def test_batches_that_wait_end_before_others_begin_and_continuous_ones_do_not():
    lengths = (2, 9, 3)
    waits = simulated(Rules("wait", most=2), [Request((5,), n) for n in lengths])
    joins = simulated(Rules("continuous", most=2), [Request((5,), n) for n in lengths])
    assert waits[2].times_s[0] > waits[1].times_s[-1]
    assert joins[2].times_s[0] < joins[1].times_s[-1]
    assert joins[2].first_token_s == 3.0


def test_chunks_keep_the_time_between_tokens_short():
    def between(budget):
        requests = [Request((5,) * 2, 30), Request((6,) * 60, 2, arrival_s=3.0)]
        return max(simulated(Rules(most=2, budget=budget), requests)[0].between_s)

    assert between(None) == pytest.approx(1 + 1 + 6.0)
    assert between(11) == pytest.approx(1 + 1 + 1.0)


def test_costs_are_found_again_from_steps():
    luck = random.Random(1)
    true, steps = Costs(2.0, 0.3, 0.01, 1.5, 0.2, 0.0), []
    for _ in range(60):
        step = [(luck.choice([1, 1, 7, 30]), luck.randint(30, 90)) for _ in range(luck.randint(1, 6))]
        steps.append((step, true.seconds(step)))
    costs = Costs.fitted(steps)
    assert costs.seconds([(1, 40), (9, 50)]) == pytest.approx(
        Costs(2.0, 0.3, 0.01, 1.5, 0.2, 0.0).seconds([(1, 40), (9, 50)])
    )
    with pytest.raises(ValueError, match="no step"):
        Costs.fitted([])


@pytest.mark.parametrize("values", [7, 250, 375, 1000])
def test_percentile_is_the_exact_nearest_rank(values):
    for tenths in range(1, 1001):
        rank = -(-tenths * values // 1000)  # in whole numbers
        assert percentile(list(range(1, values + 1)), tenths / 10) == rank


def test_latency_by_the_nearest_rank():
    assert percentile([4.0, 1.0, 3.0, 2.0], 50) == 2.0
    assert percentile(list(range(1, 21)), 95) == 19
    requests = simulated(Rules(most=1), [Request((5,), 3), Request((5,), 2, arrival_s=1.0)])
    summary = latency(requests)
    assert (summary.first_p50_s, summary.first_p95_s, summary.between_p95_s, summary.finished) == (1.0, 3.0, 1.0, 2)
    assert summary.tokens_per_s == 1.0
    at_once = Request((5,), 1)
    simulate([at_once], Costs(0, 0, 0, 0, 0, 0), Blocks(model().config, 4, 4), Rules())
    assert latency([at_once]).tokens_per_s == math.inf
    with pytest.raises(ValueError, match="none of 0"):
        latency([])
    with pytest.raises(ValueError, match="percent 0"):
        percentile([1.0], 0)


def test_arrivals_come_at_their_rate_and_again_from_the_same_seed():
    times = poisson_arrivals(4000, 5.0, seed=1)
    assert times == poisson_arrivals(4000, 5.0, seed=1) == sorted(times)
    assert times[-1] / 4000 == pytest.approx(1 / 5, rel=0.05)


def test_bad_rules_and_models_are_refused():
    with pytest.raises(ValueError, match="policy is 'first'"):
        Rules("first")
    with pytest.raises(ValueError, match="budget 2"):
        Rules(most=3, budget=2)
    for lm, words in ((model("alibi"), "positions"), (model(window=4), "window"), (model().train(), "training mode")):
        with pytest.raises(ValueError, match=words):
            ModelRunner(lm, Blocks(lm.config, 4, 4))
