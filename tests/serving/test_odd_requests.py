"""Requests that nobody can serve, readers and models that raise: each costs its own request, and no other."""

import math

import pytest
import torch

from softlookup.model import Config, DecoderLM
from softlookup.serving import Blocks, Costs, ModelRunner, Request, Rules, Server, poisson_arrivals, simulate

NAN, INF = math.nan, math.inf
GOOD = {"prompt": (1, 2), "max_new_tokens": 4, "arrival_s": 0.0, "temperature": 0.0, "seed": 0}
ODD = {
    "prompt": ["ab", b"ab", (), None, 3, ("1", "2"), (1.0,), (True,), (None,), ((1,),), (NAN,)],
    "max_new_tokens": [0, -1, 1.5, NAN, INF, True, "4", None],
    "arrival_s": [-1.0, NAN, INF, 1e300, "0", None, True],
    "temperature": [-0.1, NAN, INF, -INF, 1e-320, 1e300, "1", None, True],
    "seed": [2**70, -(2**64), 1.0, NAN, "0", None, True],
}
CASES = [(name, value) for name, values in ODD.items() for value in values]
RULES = [Rules(most=3), Rules(most=3, budget=5), Rules("wait", most=3)]


def server(n_blocks=64, rules=Rules(most=3), **more):  # noqa: B008
    torch.manual_seed(0)
    lm = DecoderLM(Config(20, d_model=8, n_heads=2, n_layers=1, d_hidden=8, max_length=32, positions="rotary")).eval()
    blocks = Blocks(lm.config, n_blocks, 4)
    return Server(ModelRunner(lm, blocks), blocks, rules, **more)


def good(n=8):
    return [Request((1 + i, 2), 4, temperature=i % 2, seed=i) for i in range(n)]


def spoiled(name, value):
    """A request whose field was changed after it was made."""
    request = Request(**GOOD)
    setattr(request, name, value)
    return request


@pytest.mark.usefixtures("unchecked")  # the check of annotations would come before the library's own
@pytest.mark.parametrize(("name", "value"), CASES, ids=str)
def test_a_field_that_nobody_could_serve_is_refused_by_its_name(name, value):
    with pytest.raises(ValueError, match=name):
        Request(**GOOD | {name: value})
    serving, request = server(), spoiled(name, value)
    with pytest.raises(ValueError, match=name):
        serving.submit(request)
    assert request.state == "refused" and name in request.reason and not serving.scheduler.waiting


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.policy}-{rules.budget}")
def test_serve_refuses_each_of_them_and_serves_the_others(rules):
    expected = good()
    server(rules=rules).serve(expected)
    bad, requests = [spoiled(name, value) for name, value in CASES], good()
    serving = server(rules=rules)
    serving.serve([*bad[:20], *requests, *bad[20:]])
    assert [request.written for request in requests] == [request.written for request in expected]
    assert all(request.state == "refused" and request.reason for request in bad)
    assert serving.blocks.n_free == 64
    requests = good()
    simulate([*requests, *(spoiled(*case) for case in CASES)], Costs(1, 1, 1, 1, 1, 1), server().blocks, rules)
    assert {request.state for request in requests} == {"finished"}


@pytest.mark.parametrize("value", [0, -(2**63), 2**64 - 1])
def test_every_seed_that_torch_takes_is_served_and_every_temperature_within_the_bounds(value):
    requests = [Request((1, 2), 3, temperature=t, seed=value) for t in (1e-30, 0.5, 1, 1e30)]
    server().serve(requests)
    assert [request.state for request in requests] == ["finished"] * 4


def test_a_request_that_is_there_twice_is_served_once_and_stops_nobody():
    requests, serving = good(), server()
    serving.serve([*requests, requests[3], requests[0]])
    assert all(request.state == "finished" and len(request.written) == 4 for request in requests)
    more = good()
    serving.serve([requests[0], *more])
    assert {request.state for request in more} == {"finished"} and len(requests[0].written) == 4
    request = Request((1,), 2)
    assert serving.submit(request)
    with pytest.raises(ValueError, match="is waiting and cannot be submitted again"):
        serving.submit(request)


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.policy}-{rules.budget}")
@pytest.mark.parametrize("after", [1, 2, 4])
def test_a_reader_that_raises_costs_its_own_request(rules, after):
    expected, requests = good(), good()
    server(rules=rules).serve(expected)

    def say(request, token):
        if request is requests[2] and len(request.written) == after:
            raise RuntimeError("the window is closed")

    serving = server(rules=rules, say=say)
    serving.serve(requests)
    assert (
        requests[2].state == "failed" and requests[2].reason == "its reader failed: RuntimeError: the window is closed"
    )
    others = [i for i in range(8) if i != 2]
    assert [requests[i].written for i in others] == [expected[i].written for i in others]
    assert {requests[i].state for i in others} == {"finished"} and serving.blocks.n_free == 64


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.policy}-{rules.budget}")
def test_a_request_that_cannot_be_computed_costs_no_other(rules):
    expected, requests = good(), good()
    server(rules=rules).serve(expected)
    serving = server(rules=rules)
    run = serving.runner.run

    def fragile(plan):
        if any(request is requests[5] and request.written for request, _ in plan):
            raise RuntimeError("no memory")
        return run(plan)

    serving.runner.run = fragile
    serving.serve(requests)
    assert (requests[5].state, requests[5].reason) == (
        "failed",
        "its next token could not be computed: RuntimeError: no memory",
    )
    others = [i for i in range(8) if i != 5]
    assert [requests[i].written for i in others] == [expected[i].written for i in others]
    assert serving.blocks.n_free == 64 and not serving.scheduler.running


@pytest.mark.parametrize("cost", [NAN, INF, -1.0])
def test_costs_that_are_no_seconds_fail_and_do_not_hang(cost):
    requests = [Request((1, 2), 3), Request((1, 2), 3, arrival_s=5.0)]
    simulate(requests, Costs(cost, 0, 0, 1, 0, 0), server().blocks, Rules())
    assert [request.state for request in requests] == ["failed", "failed"] and "a step costs" in requests[0].reason


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("field", ["most", "queue", "budget"])
@pytest.mark.parametrize("value", [NAN, INF, 2.5, True, 0, -1, "8"])
def test_rules_that_are_no_whole_numbers_are_refused(field, value):
    with pytest.raises(ValueError, match=f"{field} "):
        Rules(**{"most": 1, field: value})


@pytest.mark.parametrize("rate", [NAN, INF, 0.0, -1.0])
def test_arrivals_have_a_finite_rate(rate):
    with pytest.raises(ValueError, match="rate is"):
        poisson_arrivals(3, rate, seed=0)
