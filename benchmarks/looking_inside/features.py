"""Superposition in toy models, and what a sparse autoencoder finds of their features."""

import torch

from benchmarks.looking_inside.results import (
    AutoencoderRun,
    AutoencoderRuns,
    FamilyRun,
    FamilyRuns,
    Matrix,
    ToyModels,
)
from benchmarks.looking_inside.sizes import InsideSizes
from softlookup.looking_inside import recovered_features, sparse_features, train_autoencoder, train_superposition


def superposition(plan: InsideSizes) -> ToyModels:
    """Train toy models at several sparsities: five features in two dimensions, and twenty in five.

    Directions, norms and interference of the small ones; for the large ones how many features are represented.
    """
    small = train_superposition(5, 2, plan.sparsities, steps=plan.steps)
    counts = [train_superposition(20, 5, plan.sparsities, steps=plan.steps, seed=seed) for seed in plan.toy_seeds]
    return ToyModels(
        sparsities=plan.sparsities,
        directions=[_rounded(w) for w in small.w.mT],
        norms=_rounded(small.norms),
        interference=_rounded(small.interference),
        loss=small.loss.tolist(),
        represented_of_20_in_5=[model.represented() for model in counts],
    )


def autoencoder(plan: InsideSizes) -> AutoencoderRuns:
    """Take the states of a toy model apart: 20 features in 8 dimensions, each zero in 19 of 20 examples.

    For each number of latents and price of their strength: the true features that were recovered and split, latents
    that match none or are dead, and how much of the variance is explained.
    """
    toy = train_superposition(20, 8, (0.95,), importance=1.0, steps=plan.steps)
    generator = torch.Generator().manual_seed(1)
    features_GD = toy.w[0].mT
    shown, tried = (
        sparse_features((n, 20), 0.95, generator=generator) @ features_GD for n in (plan.states, plan.states // 4)
    )
    runs = []
    for n_latents in plan.latents:
        for price in plan.prices:
            model = train_autoencoder(shown, n_latents, sparsity=price, steps=plan.steps)
            matches, report = recovered_features(model, features_GD, tried), model.report(tried)
            runs.append(
                AutoencoderRun(
                    latents=n_latents,
                    price=price,
                    recovered=matches.recovered,
                    split=matches.split,
                    unmatched=matches.unmatched,
                    dead=matches.dead,
                    worst_cosine=round(matches.best.min().item(), 4),
                    explained=round(report["explained"], 4),
                    active=round(report["active"], 3),
                )
            )
    active = sparse_features((plan.states, 20), 0.95, generator=generator).count_nonzero(dim=1).double().mean()
    return AutoencoderRuns(features=20, width=8, sparsity=0.95, active_features=round(active.item(), 3), runs=runs)


@torch.no_grad()
def families(plan: InsideSizes) -> FamilyRuns:
    """Take states apart whose features come in families: four parents, each always beside one of its two children.

    All twelve directions stand at right angles, and a child is half as strong as its parent. A state is cheaper as one
    latent for the sum than as one for each: what is found depends on the number of latents, and is not what was put in.
    For each number of latents: parents and children that were recovered, sums of a parent and a child that were,
    latents that point roughly at each parent (a cosine above 0.7), the share of a parent's occurrences in which two or
    more of those are active, dead latents, and the explained variance.
    """
    generator = torch.Generator().manual_seed(2)
    parents_GD, one_GD, other_GD = torch.linalg.qr(torch.randn(12, 12, generator=generator)).Q.chunk(3)
    sums_GD = torch.cat((parents_GD + one_GD / 2, parents_GD + other_GD / 2))
    strength = sparse_features((plan.states, 4), 0.9, generator=generator)
    first = torch.rand(strength.shape, generator=generator) < 0.5
    states = strength @ parents_GD + (strength * first) @ one_GD / 2 + (strength * ~first) @ other_GD / 2
    runs = []
    for n_latents in plan.family_latents:
        with torch.enable_grad():
            model = train_autoencoder(states, n_latents, sparsity=0.1, steps=plan.steps)
        rough = recovered_features(model, parents_GD, states, least=0.7)
        active_MA = model.encode(states) > 0
        near_GA = (parents_GD @ model.directions.mT > 0.7) & active_MA.any(dim=0)
        at_once = [(active_MA[strength[:, g] > 0][:, near_GA[g]].sum(dim=1) > 1).double().mean() for g in range(4)]
        runs.append(
            FamilyRun(
                latents=n_latents,
                parents=recovered_features(model, parents_GD, states).recovered,
                children=recovered_features(model, torch.cat((one_GD, other_GD)), states).recovered,
                sums=recovered_features(model, sums_GD, states, least=0.95).recovered,
                latents_of_parents=rough.latents.tolist(),
                active_together=round(torch.stack(at_once).mean().item(), 4),
                dead=rough.dead,
                explained=round(model.report(states)["explained"], 4),
            )
        )
    return FamilyRuns(parents=4, children=8, price=0.1, runs=runs)


def _rounded(x: torch.Tensor) -> Matrix:
    return [[round(value, 4) for value in row] for row in x.tolist()]
