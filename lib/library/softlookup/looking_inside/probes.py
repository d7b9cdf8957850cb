"""A linear probe, and the control task that says how much of its accuracy it learned by itself.

Letters of its own: M tokens that a probe is shown, C classes.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Probe:
    """A linear classifier of states, fitted in closed form: ridge regression on one column for each class.

    Args:
        states: The vectors that it learns from.
        labels: Their classes, whole numbers from 0 on.
        ridge: How strongly weights are kept small, as a share of the states' mean square.

    Raises:
        ValueError: If there is not one label for each state, a label is below 0, all labels are the same, or ridge is
            not above 0.

    Source: Alain & Bengio 2016 (linear probes).
    """

    def __init__(self, states: Float[Tensor, "M D"], labels: Int[Tensor, " M"], *, ridge: float = 1e-3) -> None:
        _check(states, labels)
        if len(labels.unique()) < 2:
            raise ValueError("all labels are the same; wanted two classes or more")
        if not ridge > 0:
            raise ValueError(f"ridge is {ridge}; wanted a number above 0")
        wide = states.double()
        self._mean_D = wide.mean(dim=0)
        centred_MD = wide - self._mean_D
        wanted_MC = torch.nn.functional.one_hot(labels.long()).double()
        self._b_C = wanted_MC.mean(dim=0)
        products_DD = centred_MD.mT @ centred_MD / len(states)
        products_DD += ridge * products_DD.diagonal().mean().clamp_min(1e-12) * torch.eye(states.shape[1]).to(wide)
        self._w_DC = torch.linalg.solve(products_DD, centred_MD.mT @ (wanted_MC - self._b_C) / len(states))

    def predict(self, states: Float[Tensor, "M D"]) -> Int[Tensor, " M"]:
        """Say which class each state most likely belongs to.

        Args:
            states: Vectors as wide as those it learned from.

        Returns:
            Classes.
        """
        return ((states.double() - self._mean_D) @ self._w_DC + self._b_C).argmax(dim=-1)

    def accuracy(self, states: Float[Tensor, "M D"], labels: Int[Tensor, " M"]) -> float:
        """Count how often the probe is right on states that it should not have learned from.

        Args:
            states: Vectors.
            labels: Their classes.

        Returns:
            The share of right answers.

        Raises:
            ValueError: If there is not one label for each state, or a label is below 0.
        """
        _check(states, labels)
        return (self.predict(states) == labels).double().mean().item()


def control_labels(types: Int[Tensor, " M"], labels: Int[Tensor, " M"], *, seed: int = 0) -> Int[Tensor, " M"]:
    """Give every type of word a random class: a task that a probe can only learn by heart, word by word.

    Args:
        types: Which word stands at each place, by id.
        labels: The classes of the real task; a word draws its class from these, so that classes are as frequent.
        seed: Where the luck comes from.

    Returns:
        A class for each place; the same for all places of one word.

    Raises:
        ValueError: If there is not one label for each type.

    Source: Hewitt & Liang 2019.
    """
    if types.shape != labels.shape:
        raise ValueError(
            f"types have shape {tuple(types.shape)}, labels {tuple(labels.shape)}: give one type for each label"
        )
    known, place_M = types.unique(return_inverse=True)
    label_indices = torch.randint(len(labels), (len(known),), generator=torch.Generator().manual_seed(seed))
    return labels[label_indices.to(labels.device)][place_M]


@dataclass(frozen=True)
class Selectivity:
    """What a probe found, and what it would have found in anything.

    Attributes:
        accuracy: The share of right answers in the real task, on held-out states.
        control: The same for the control task.
        majority: The share of the most frequent class: what a constant answer gets.
    """

    accuracy: float
    control: float
    majority: float

    @property
    def selectivity(self) -> float:
        """Accuracy above that of the control task."""
        return self.accuracy - self.control


def selectivity(
    states: Float[Tensor, "M D"],
    labels: Int[Tensor, " M"],
    types: Int[Tensor, " M"],
    *,
    held_out: float = 0.25,
    ridge: float = 1e-3,
    seed: int = 0,
) -> Selectivity:
    """Fit one probe to a task and one to its control task, and try both on held-out states.

    Args:
        states: Vectors, one for each place.
        labels: The class of each place.
        types: The word at each place, by id.
        held_out: The share of places that are kept for trying.
        ridge: As in Probe.
        seed: For the control's labels, and for which places are held out.

    Returns:
        Both accuracies. A probe with a high control accuracy is strong enough to learn the words by heart, and what
        it finds says little about the states.

    Raises:
        ValueError: If sizes do not fit, held_out is no share, or fewer than two places would be left on one side.

    Source: Hewitt & Liang 2019.
    """
    _check(states, labels)
    if not 0 < held_out < 1:
        raise ValueError(f"held_out is {held_out}; wanted a share of the places, above 0 and below 1")
    n = round(held_out * len(states))
    if not 2 <= n <= len(states) - 2:
        raise ValueError(
            f"of {len(states)} places, a held_out of {held_out} leaves {len(states) - n} to fit and {n} to try; wanted "
            "at least 2 of each: give more places or another share"
        )
    order = torch.randperm(len(states), generator=torch.Generator().manual_seed(seed)).to(states.device)
    tried, train_rows = order[:n], order[n:]
    control_M = control_labels(types, labels, seed=seed)
    real, by_heart = (
        Probe(states[train_rows], targets[train_rows], ridge=ridge).accuracy(states[tried], targets[tried])
        for targets in (labels, control_M)
    )
    majority = (labels[tried] == labels[train_rows].mode().values).double().mean().item()
    return Selectivity(real, by_heart, majority)


def _check(states: Tensor, labels: Tensor) -> None:
    if states.ndim != 2 or labels.shape != states.shape[:1]:
        got = f"states have shape {tuple(states.shape)}, labels {tuple(labels.shape)}"
        raise ValueError(f"{got}; wanted (M, D) and (M,)")
    if len(labels) and labels.min() < 0:
        raise ValueError(f"a label is {labels.min().item()}; wanted whole numbers from 0 on")
