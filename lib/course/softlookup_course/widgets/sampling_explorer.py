"""Temperature, top-k and top-p to move, on the logits that a trained model gave; and a token drawn by a number."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

DECIMALS = 2
"""Decimals that are kept of a logit: all of a vocabulary's travel with the page."""


@dataclass(frozen=True)
class Choice:
    """A place in a text where the next token is to be chosen."""

    title: str  # a few words for the chooser
    written: str  # what stands before it
    logits: tuple[float, ...]  # one for each token of the vocabulary, by id


def rounded(logits: Sequence[float]) -> list[float]:
    """Logits as the page keeps them."""
    return [round(float(logit), DECIMALS) for logit in logits]


def describe(
    logits: Sequence[float], temperature: float, top_k: int | None, top_p: float | None, u: float
) -> dict[str, Any]:
    """Compute what the figure shows: probabilities, kept (count), drawn (an id), plain (nothing cut off)."""
    import torch

    from softlookup.model import next_token_probabilities, pick

    logits_BV = torch.tensor([list(logits)], dtype=torch.float64)
    p_BV = next_token_probabilities(logits_BV, temperature=temperature, top_k=top_k, top_p=top_p)
    return {
        "probabilities": p_BV[0].tolist(),
        "kept": int((p_BV > 0).sum()),
        "drawn": int(pick(p_BV, torch.tensor([u], dtype=torch.float64))[0]),
        "plain": torch.softmax(logits_BV, dim=-1)[0].tolist(),
    }


def static_table(choice: Choice, tokens: Sequence[str], rows: int = 8) -> str:
    """Write the likeliest tokens at three temperatures as HTML, for readers whose browser runs no script."""
    taus = (0.5, 1.0, 2.0)
    logits = np.asarray(rounded(choice.logits))
    probabilities = []
    for tau in taus:
        e = np.exp((logits - logits.max()) / tau)
        probabilities.append(e / e.sum())
    best = np.argsort(-logits, kind="stable")[:rows]
    sentence = (
        f"<p>What may follow {escape(choice.written)}, the {len(best)} likeliest tokens. With scripts switched on, you "
        "can change temperature, top-k and top-p.</p>"
    )
    lines = ((tokens[i], *(f"{p[i]:.3f}" for p in probabilities)) for i in best)
    return sentence + plain_table(("", *(f"temperature {tau:g}" for tau in taus)), lines)


class SamplingExplorer(InteractiveFigure):
    """Change temperature, top-k and top-p, and sample the next token."""

    tokens = traitlets.List(traitlets.Unicode(), help="the vocabulary, by id").tag(sync=True)
    choices = traitlets.List(traitlets.Dict(), help="places: title, written, logits").tag(sync=True)
    chosen = traitlets.Int(0, help="which place is shown").tag(sync=True)

    def __init__(self, tokens: Sequence[str], choices: Sequence[Choice | Mapping[str, Any]]) -> None:
        records = [choice if isinstance(choice, Choice) else Choice(**choice) for choice in choices]
        super().__init__(
            tokens=[str(token) for token in tokens],
            choices=[{**asdict(choice), "logits": rounded(choice.logits)} for choice in records],
            fallback=static_table(records[0], tokens),
        )
