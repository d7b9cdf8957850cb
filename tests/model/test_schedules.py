"""Learning rates: against the papers' numbers, against torch's and transformers' schedulers, and at their corners."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from softlookup.model.whole.schedules import inverse_square_root, noam, warmup_hold_decay
from tests.refusing import refused


def rates_of(scheduler, optimizer, n):
    """List a torch scheduler's rates for the steps 1 to n; its own count is one step behind ours."""
    rates = []
    for _ in range(n):
        optimizer.step()
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    return rates


def sgd(rate=1.0):
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=rate)


def test_noam_peaks_at_the_papers_rate():
    assert noam(4000, 512) == pytest.approx(6.98771e-4, rel=1e-5)
    rates = {step: noam(step, 512) for step in (1, 2000, 3999, 4000, 4001, 16000, 100000)}
    assert max(rates, key=rates.get) == 4000
    assert rates[2000] == pytest.approx(rates[4000] / 2)
    assert rates[16000] == pytest.approx(rates[4000] / 2)
    assert rates[1] == pytest.approx(512**-0.5 * 4000**-1.5)


@given(st.integers(1, 10**6), st.integers(1, 4096), st.integers(1, 10**5), st.floats(0.01, 100))
def test_noam_is_the_inverse_square_root_with_its_own_peak(step, width, warmup, factor):
    peak = factor / math.sqrt(width * warmup)
    expected = inverse_square_root(step, peak=peak, warmup=warmup)
    assert noam(step, width, warmup=warmup, factor=factor) == pytest.approx(expected, rel=1e-12)


def test_inverse_square_root_equals_transformers():
    from transformers.optimization import get_inverse_sqrt_schedule

    optimizer = sgd(0.3)
    expected = rates_of(get_inverse_sqrt_schedule(optimizer, 7), optimizer, 50)
    assert [inverse_square_root(step, peak=0.3, warmup=7) for step in range(1, 51)] == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize(("warmup", "hold", "total"), [(5, 12, 20), (0, 3, 9), (4, 4, 5), (0, 0, 6)])
def test_warmup_hold_decay_equals_transformers(warmup, hold, total):
    from transformers.optimization import get_wsd_schedule

    optimizer = sgd(0.3)
    scheduler = get_wsd_schedule(
        optimizer,
        num_warmup_steps=warmup,
        num_stable_steps=hold - warmup,
        num_decay_steps=total - hold,
        decay_type="linear",
    )
    expected = rates_of(scheduler, optimizer, total + 3)
    got = [
        warmup_hold_decay(step, peak=0.3, warmup=warmup, decay_from=hold, total=total) for step in range(1, total + 4)
    ]
    assert got == pytest.approx(expected, abs=1e-15)


def hold(step=1, peak=1.0, warmup=2, decay_from=3, total=4):
    return warmup_hold_decay(step, peak=peak, warmup=warmup, decay_from=decay_from, total=total)


test_schedules_name_what_is_out_of_range = refused(
    (lambda: hold(step=0), "step is 0"),
    (lambda: hold(peak=0.0), "peak is 0.0"),
    (lambda: hold(warmup=-1), "warmup is -1, decay_from 3, total 4; wanted 0 <= warmup"),
    (lambda: hold(decay_from=1), "warmup is 2, decay_from 1"),
    (lambda: hold(total=3), "decay_from 3, total 3"),
    (lambda: noam(0, 512), "step is 0; steps count from 1"),
    (lambda: inverse_square_root(-3, peak=1.0, warmup=1), "step is -3"),
    (lambda: noam(1, 0), "d_model is 0; wanted at least 1"),
    (lambda: noam(1, 512, warmup=0), "warmup is 0"),
    (lambda: noam(1, 512, factor=0.0), "factor is 0.0; wanted a positive"),
    (lambda: noam(1, 512, factor=math.nan), "factor is nan"),
    (lambda: inverse_square_root(1, peak=1.0, warmup=0), "warmup is 0"),
    (lambda: inverse_square_root(1, peak=-1.0, warmup=1), "peak is -1.0"),
)
