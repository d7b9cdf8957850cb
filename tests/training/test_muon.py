"""Muon's step is torch's; the schedule that holds its rate is transformers'."""

import pytest
import torch

from softlookup.model import Config, DecoderLM, Experts, Router, warmup_hold_decay
from softlookup.training.muon import muon_groups, muon_step, orthogonalise, shape_factor


@pytest.mark.parametrize("kind", ["original", "match_rms_adamw"])
@pytest.mark.parametrize("shape", [(12, 12), (24, 6), (6, 24)])
def test_steps_are_torchs(kind, shape):
    weight = torch.nn.Parameter(torch.randn(shape))
    torchs = torch.optim.Muon([weight], lr=0.02, adjust_lr_fn=kind)
    got, average = weight.detach().clone(), torch.zeros(shape)
    for _ in range(4):
        weight.grad = torch.randn(shape)
        got, average = muon_step(got, weight.grad, average, rate=0.02, kind=kind)
        torchs.step()
        # bfloat16 keeps 8 bits: a last bit of the average may become a last bit of the direction.
        torch.testing.assert_close(got, weight.detach(), rtol=0, atol=0.02 * shape_factor(shape, kind) * 0.01)


def test_a_forgotten_shape_factor_is_far_from_torchs():
    # What a real project lost (optax, pull request 1249): the factor of a tall matrix, here 2.
    weight = torch.nn.Parameter(torch.randn(24, 6))
    before = weight.detach().clone()
    torchs = torch.optim.Muon([weight], lr=0.02, weight_decay=0.0)
    weight.grad = torch.randn(24, 6)
    torchs.step()
    without = before - 0.02 * orthogonalise(weight.grad).float()
    assert float((without - before).norm()) == pytest.approx(0.5 * float((weight.detach() - before).norm()), rel=0.02)


@pytest.mark.parametrize("shape", [(8, 8), (20, 5), (5, 20)])
def test_singular_values_come_near_one_and_directions_stay(shape):
    u, _, vt = torch.linalg.svd(torch.randn(shape, dtype=torch.float64), full_matrices=False)
    matrix = u @ torch.diag(torch.logspace(0, -2, min(shape), dtype=torch.float64)) @ vt
    direction = orthogonalise(matrix, dtype=torch.float64)
    inner = u.mT @ direction @ vt.mT
    torch.testing.assert_close(inner, torch.diag(inner.diagonal()), rtol=0, atol=1e-9)
    assert ((inner.diagonal() > 0.6) & (inner.diagonal() < 1.25)).all()
    torch.testing.assert_close(orthogonalise(7 * matrix, dtype=torch.float64), direction)
    assert not orthogonalise(torch.zeros(shape)).any()


def test_embeddings_output_vectors_and_stacks_are_adamws():
    sizes = {"d_model": 8, "n_heads": 2, "n_layers": 2, "d_hidden": 12, "max_length": 9}
    model = DecoderLM(Config(11, **sizes, tied=False, attention_bias=True, positions="learned"))
    hidden, others = muon_groups(model)
    names = {id(weight): name for name, weight in model.named_parameters()}
    assert len(hidden) + len(others) == len(names)
    assert all("layers" in names[id(weight)] and weight.ndim == 2 for weight in hidden) and len(hidden) == 2 * (4 + 2)
    assert {"embedder", "head"} <= {names[id(weight)].split(".")[0] for weight in others}
    torch.optim.Muon(hidden)
    experts = Experts(Router(8, 4, 2), 6)
    assert [weight.ndim for weight in muon_groups(experts)[1]] == [3, 3, 3]
    with pytest.raises(ValueError, match="no matrix between its embeddings and its output"):
        muon_groups(torch.nn.LayerNorm(4))


def test_schedule_is_transformers_in_reach():
    schedules = pytest.importorskip("transformers.optimization")
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
    scheduler = schedules.get_wsd_schedule(optimiser, 4, 6, num_training_steps=20, decay_type="linear")
    rates = []
    for _ in range(20):
        rates.append(scheduler.get_last_lr()[0])
        optimiser.step()
        scheduler.step()
    # They count steps from 0, and begin at a rate of 0.
    got = [warmup_hold_decay(step, peak=0.5, warmup=4, decay_from=14, total=20) for step in range(1, 20)]
    assert got == pytest.approx(rates[1:])


def test_what_muon_cannot_do_is_refused(unchecked):
    with pytest.raises(ValueError, match=r"matrix has shape \(3,\); wanted two axes"):
        orthogonalise(torch.zeros(3))
    with pytest.raises(ValueError, match="steps must be at least 1; got 0"):
        orthogonalise(torch.zeros(3, 3), steps=0)
    with pytest.raises(ValueError, match="kind is 'none'; wanted original or match_rms_adamw"):
        shape_factor((2, 2), "none")
    with pytest.raises(ValueError, match="they must be equal"):
        muon_step(torch.zeros(2, 2), torch.zeros(2, 2), torch.zeros(2, 3), rate=0.1)
