"""How rewards move the probabilities of answers to a prompt: the optimum under a KL penalty, or step by step.

Letters of its own: M answers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import traitlets

from softlookup.reference import grpo_path, kl_optimum
from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

ANSWERS = (
    ("The sea.", 0.56, 1.0, 0),
    ("The king.", 0.17, 0.0, 0),
    ("The sea, my lord.", 0.18, 1.0, 1),
    ("The king, my lord.", 0.06, 0.0, 1),
    ("The sea, my lord, my lord.", 0.02, 0.0, 2),
    ("My lord, my lord, my lord!", 0.01, 0.0, 3),
)
"""Answers to a question of which the first word, sea, is right: text, probability before, whether right, courtesies."""
BONUS = 0.5
"""What the flawed reward adds for each courtesy."""
BETAS = (8.0, 4.0, 2.0, 1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08)
STEPS, RATE = 80, 2.0
"""How many steps of GRPO, and their learning rate."""
REWARDS = ("for right answers", "with a bonus for courtesy")


def flawed_rewards() -> list[float]:
    """The flawed reward of each of ANSWERS (M,): 1 if it begins with the right one, a bonus for each courtesy."""
    begins = next(text.rstrip(".!") for text, _, true, _ in ANSWERS if true)
    return [float(text.startswith(begins)) + BONUS * count for text, _, _, count in ANSWERS]


def describe(reference: np.ndarray, policy: np.ndarray, rewards: np.ndarray, true: np.ndarray) -> dict[str, Any]:
    """Compute policy, reward, true (means) and kl from the reference, in nats, of answers (M,)."""
    log_ratios = np.log(np.where(policy > 0, policy, 1.0) / reference)
    return {
        "policy": policy.round(6).tolist(),
        "reward": round(float(policy @ rewards), 6),
        "true": round(float(policy @ true), 6),
        "kl": round(float(policy @ log_ratios), 6),
    }


def static_table(texts: Sequence[str], reference: np.ndarray, paths: Sequence[dict[str, Any]]) -> str:
    """Write where the probabilities begin and end as HTML, for readers whose browser runs no script."""
    head = ("answer", "before", *(f"{path['title']}, {REWARDS[path['reward']]}" for path in paths))
    rows = (
        (text, f"{reference[i]:.0%}", *(f"{path['states'][-1]['policy'][i]:.0%}" for path in paths))
        for i, text in enumerate(texts)
    )
    return "<p>Probabilities of answers before training, and at the end of it.</p>" + plain_table(head, rows)


class AnswerShift(InteractiveFigure):
    """Show how rewards move the probabilities of answers: the best policy for each β, or the steps of GRPO."""

    texts = traitlets.List(traitlets.Unicode(), help="the answers").tag(sync=True)
    reference = traitlets.List(traitlets.Float(), help="probabilities before").tag(sync=True)
    rewards = traitlets.List(traitlets.List(traitlets.Float()), help="true and flawed, for each answer").tag(sync=True)
    reward_names = traitlets.List(traitlets.Unicode(), list(REWARDS), help="what each reward counts").tag(sync=True)
    paths = traitlets.List(traitlets.Dict(), help="states by beta or by step, for both rewards").tag(sync=True)

    def __init__(self) -> None:
        texts = [text for text, _, _, _ in ANSWERS]
        reference = np.array([probability for _, probability, _, _ in ANSWERS])
        true = np.array([reward for _, _, reward, _ in ANSWERS])
        both = [true, np.array(flawed_rewards())]
        paths: list[dict[str, Any]] = []
        for index, rewards in enumerate(both):
            optima = [reference, *(kl_optimum(reference, rewards, beta) for beta in BETAS)]
            walked = grpo_path(reference, rewards, steps=STEPS, rate=RATE)
            for mode, title, labels, policies in (
                ("beta", "the optimum", ["before", *(f"{beta:g}" for beta in BETAS)], optima),
                ("steps", f"{STEPS} steps", [str(step) for step in range(STEPS + 1)], walked),
            ):
                states = [describe(reference, policy, rewards, true) for policy in policies]
                paths.append({"mode": mode, "title": title, "reward": index, "labels": labels, "states": states})
        super().__init__(
            texts=texts,
            reference=reference.tolist(),
            rewards=[rewards.tolist() for rewards in both],
            paths=paths,
            fallback=static_table(texts, reference, paths),
        )
