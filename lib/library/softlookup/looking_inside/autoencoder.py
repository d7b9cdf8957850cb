"""Sparse autoencoders and transcoders: states taken apart into a few of many directions, and how well that went.

Letters of its own: M states, A latents of the autoencoder, G features whose directions are known.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


class SparseAutoencoder(nn.Module):
    """h -> ReLU((h - b_decoder) W_encoder + b_encoder), and back through directions of length 1.

    Args:
        width: D, of the states.
        n_latents: A, directions to take them apart into.
        k: How many latents of a state are kept at most, the largest (TopK); None keeps all.
        transcodes: Whether it predicts other vectors than it reads: then b_decoder is not subtracted.
        generator: Where the first directions come from.

    Raises:
        ValueError: If a size is below 1, or k is not one of 1 to A.

    Source: Bricken et al. 2023 (Towards Monosemanticity); Cunningham et al. 2023; Gao et al. 2025 (TopK, section 2.3).
    """

    def __init__(
        self,
        width: int,
        n_latents: int,
        *,
        k: int | None = None,
        transcodes: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if min(width, n_latents) < 1:
            raise ValueError(f"width is {width}, n_latents {n_latents}; wanted at least 1")
        if k is not None and not 1 <= k <= n_latents:
            raise ValueError(f"k is {k}; wanted 1 to the {n_latents} latents, or None")
        self.k, self.transcodes = k, transcodes
        directions_AD = F.normalize(torch.randn(n_latents, width, generator=generator), dim=1)
        self.directions = nn.Parameter(directions_AD)
        self.w_encoder = nn.Parameter(directions_AD.mT.clone())
        self.b_encoder = nn.Parameter(torch.zeros(n_latents))
        self.b_decoder = nn.Parameter(torch.zeros(width))

    def encode(self, states: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch A"]:
        """Say how strongly each latent is active.

        Args:
            states: Vectors.

        Returns:
            Numbers from 0 on, most of them 0 once it is trained.
        """
        centred = states if self.transcodes else states - self.b_decoder
        latents = torch.relu(centred @ self.w_encoder + self.b_encoder)
        if self.k is None:
            return latents
        largest, where = latents.topk(self.k, dim=-1)
        return torch.zeros_like(latents).scatter(-1, where, largest)

    def decode(self, latents: Float[Tensor, "*batch A"]) -> Float[Tensor, "*batch D"]:
        """Put a vector together from its latents.

        Args:
            latents: What encode gives.

        Returns:
            Vectors.
        """
        return latents @ self.directions + self.b_decoder

    def forward(self, states: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Take vectors apart and put them together again.

        Args:
            states: Vectors.

        Returns:
            What is left of them.
        """
        return self.decode(self.encode(states))

    @torch.no_grad()
    def report(self, states: Float[Tensor, "M D"], targets: Float[Tensor, "M D"] | None = None) -> dict[str, float]:
        """Say how well it does on states.

        Args:
            states: Vectors that it was not trained on.
            targets: What a transcoder should give for them; None means the states.

        Returns:
            ``explained``, the share of the targets' variance that is reconstructed; ``active``, the mean number of
            latents that are active at once (L0); ``dead``, how many never are.
        """
        targets = states if targets is None else targets
        latents_MA = self.encode(states)
        missed = (self.decode(latents_MA) - targets).square().sum()
        return {
            "explained": (1 - missed / (targets - targets.mean(dim=0)).square().sum()).item(),
            "active": (latents_MA > 0).double().sum(dim=1).mean().item(),
            "dead": float((~(latents_MA > 0).any(dim=0)).sum()),
        }


def train_autoencoder(
    states: Float[Tensor, "M D"],
    n_latents: int,
    *,
    sparsity: float = 0.1,
    k: int | None = None,
    targets: Tensor | None = None,
    steps: int = 3000,
    batch: int = 512,
    rate: float = 3e-3,
    seed: int = 0,
) -> SparseAutoencoder:
    """Train an autoencoder: squared error, and sparsity times the sum of the latents (L1), or the k largest latents.

    With the outputs of a feed-forward network as targets for its inputs, the same net is a transcoder.

    Args:
        states: The vectors to take apart.
        n_latents: A.
        sparsity: The price of a latent's strength: more makes fewer latents active, and shrinks those that are. With
            k there is no price.
        k: How many latents of a state may be active (TopK).
        targets: What to give for each state, (M, D); None means the state itself.
        steps: Steps of Adam; the rate falls to zero along a cosine. Directions are brought back to length 1 after
            each.
        batch: States in each step.
        rate: The learning rate at first.
        seed: Where the luck comes from.

    Returns:
        The autoencoder.

    Raises:
        ValueError: If there is no state, a size is below 1, sparsity is below 0, k is not one of 1 to A, or targets
            have another shape than states.

    Cost: 80 latents, 8 dimensions: about 2 s on one core.

    Source: Bricken et al. 2023; Gao et al. 2025 (TopK); Dunefsky et al. 2024 (transcoders).
    """
    if not len(states) or min(steps, batch) < 1 or sparsity < 0:
        raise ValueError(
            f"got {len(states)} states, {steps} steps of {batch}, sparsity {sparsity}; wanted at least 1 of each, and "
            "a sparsity of 0 or above"
        )
    transcodes = targets is not None
    targets = states if targets is None else targets
    if targets.shape != states.shape:
        raise ValueError(f"targets have the shape {tuple(targets.shape)}; wanted that of states, {tuple(states.shape)}")
    price = sparsity if k is None else 0.0
    generator = torch.Generator().manual_seed(seed)
    model = SparseAutoencoder(states.shape[1], n_latents, k=k, transcodes=transcodes, generator=generator).to(states)
    with torch.no_grad():
        model.b_decoder.copy_(targets.mean(dim=0))
        if transcodes:
            model.b_encoder.copy_(-states.mean(dim=0) @ model.w_encoder)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        chosen = torch.randint(len(states), (batch,), generator=generator)
        latents_MA = model.encode(states[chosen])
        missed_M = (model.decode(latents_MA) - targets[chosen]).square().sum(dim=1)
        optimizer.zero_grad()
        (missed_M + price * latents_MA.sum(dim=1)).mean().backward()
        optimizer.step()
        falling.step()
        with torch.no_grad():
            model.directions.copy_(F.normalize(model.directions, dim=1))
    return model


@dataclass(frozen=True)
class RecoveredFeatures:
    """How an autoencoder's latents stand to features that are known.

    Attributes:
        best: For each feature, the cosine with the nearest latent that is alive, (G,).
        latents: For each feature, how many living latents point its way, (G,).
        recovered: Features that at least one latent points at.
        split: Features that two or more latents share.
        unmatched: Living latents that point at no feature.
        dead: Latents that are never active.
    """

    best: Float[Tensor, " G"]
    latents: Int[Tensor, " G"]
    recovered: int
    split: int
    unmatched: int
    dead: int


@torch.no_grad()
def recovered_features(
    model: SparseAutoencoder,
    features: Float[Tensor, "G D"],
    states: Float[Tensor, "M D"],
    *,
    least: float = 0.9,
) -> RecoveredFeatures:
    """Compare the directions that an autoencoder found with those that were put in.

    Args:
        model: A trained one.
        features: The true directions, of any length above 0.
        states: Vectors that tell which latents are alive.
        least: The cosine from which on a latent counts as pointing at a feature.

    Returns:
        What was found, and what was not.

    Raises:
        ValueError: If a feature has length 0, or no latent is alive.

    Source: Sharkey et al. 2022 and Cunningham et al. 2023 (maximum cosine similarity with known features).
    """
    if not (features.norm(dim=1) > 0).all():
        raise ValueError("a feature has length 0; wanted directions")
    alive_A = (model.encode(states) > 0).any(dim=0)
    if not alive_A.any():
        raise ValueError("no latent is ever active on these states; wanted an autoencoder with living latents")
    cosines_GA = F.normalize(features, dim=1) @ F.normalize(model.directions[alive_A], dim=1).mT
    near_GA = cosines_GA > least
    count_G = near_GA.sum(dim=1)
    return RecoveredFeatures(
        best=cosines_GA.amax(dim=1),
        latents=count_G,
        recovered=int((count_G > 0).sum()),
        split=int((count_G > 1).sum()),
        unmatched=int((~near_GA.any(dim=0)).sum()),
        dead=int((~alive_A).sum()),
    )
