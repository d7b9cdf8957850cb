"""The figure of a batch that is served: nobody shares a slot, nothing is lost, and each way does what it is for."""

import pytest

from softlookup import roofline as rl
from softlookup.serving import Guest, timeline, timelines
from softlookup_course.widgets import ServingTimeline

MODEL, MACHINE = "Llama 3 8B", "H100 SXM"
GUESTS = [Guest("Ada", 0, 300, 6), Guest("Ben", 0, 200, 14), Guest("Cleo", 0.005, 400, 3), Guest("Dan", 0.03, 4000, 4)]
CHOICES = [(way, slots, 512) for way in timeline.TITLES for slots in (2, 3)]


def served(way, slots=3, budget=512, guests=GUESTS):
    return timeline.describe(guests, MODEL, MACHINE, way, slots, budget)


@pytest.mark.parametrize(("way", "slots", "budget"), CHOICES)
def test_each_step_has_a_slot_for_each_request_and_computes_everything_once(way, slots, budget):
    described = served(way, slots, budget)
    for (begins, ends, rows), (following, _, _) in zip(described["steps"], described["steps"][1:], strict=False):
        assert begins < ends <= following
        assert len({slot for slot, _, _ in rows}) == len(rows) <= slots
        if way == timeline.CHUNKED:
            assert sum(tokens or 1 for _, _, tokens in rows) <= budget
    for number, guest in enumerate(GUESTS):
        rows_of_guest = [
            (slot, tokens) for _, _, rows in described["steps"] for slot, index, tokens in rows if index == number
        ]
        assert len({slot for slot, _ in rows_of_guest}) == 1
        assert sum(tokens for _, tokens in rows_of_guest) == guest.prompt
        assert sum(not tokens for _, tokens in rows_of_guest) == guest.answer - 1  # the prefill gives the first token


def test_static_batch_lets_nobody_in_before_all_of_it_are_complete():
    guests = served(timeline.STATIC)["guests"]
    assert guests[2]["enters"] == guests[3]["enters"] == max(guests[0]["ends"], guests[1]["ends"])
    assert served(timeline.CONTINUOUS)["guests"][2]["enters"] < guests[2]["enters"]


def test_chunks_shorten_the_longest_pause():
    whole, chunked = served(timeline.CONTINUOUS), served(timeline.CHUNKED)
    assert chunked["pause"] < whole["pause"] / 3
    assert served(timeline.CHUNKED, budget=1 << 20)["steps"] == whole["steps"]


def test_summary_is_that_of_the_guests():
    described = served(timeline.CONTINUOUS)
    waits = [guest["first"] for guest in described["guests"]]
    assert described["first"] == pytest.approx(sum(waits) / 4, abs=0.01) and described["worst"] == max(waits)
    assert described["total"] == max(guest["ends"] for guest in described["guests"]) == described["steps"][-1][1]
    assert described["rate"] == pytest.approx(27 / described["total"] * 1e3, abs=0.1)


def test_step_of_few_tokens_takes_as_long_as_its_bytes_and_one_of_many_as_its_operations():
    sizes, roof = rl.MODELS[MODEL], rl.hardware(MACHINE)
    weights = rl.product_weights(sizes)
    n_bytes = 2 * weights + rl.cache_bytes(sizes, 1, 700)
    few = timeline.least_seconds(MODEL, MACHINE, [(1, 500), (1, 200)])
    assert few == pytest.approx(n_bytes / roof.bandwidth_bytes_per_s)
    many = timeline.least_seconds(MODEL, MACHINE, [(4000, 4000)])
    assert many == pytest.approx(2 * weights * 4000 / roof.peak_flops_per_s("bfloat16"), rel=0.1)


def test_stand_in_holds_the_three_ways():
    html = ServingTimeline(timelines(GUESTS, MODEL, MACHINE)).fallback
    for way, title in timeline.TITLES.items():
        assert f"{title}</th><td>{served(way)['first']:.0f}</td>" in html
