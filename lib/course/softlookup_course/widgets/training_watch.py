"""A training run of the writer, step by step: its scores as curves, and what it answers at each measured step.

The runs are those of ``softlookup bench after-pretraining``: a king asks for the first word, the last, or the one that
stands there twice, and a fool answers.
"""

import re
from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import traitlets

from softlookup_course.widgets.interactive import InteractiveFigure, plain_table

SCORES = {
    "first": ("first", ".0%", "query"),
    "last": ("last", ".0%", "key"),
    "twice": ("twice", ".0%", "mixed"),
    "right": ("right, greedy", ".0%", "query"),
    "sampled_right": ("right, drawn", ".0%", "value"),
    "polite": ("polite, greedy", ".0%", "key"),
    "reward": ("reward", ".2f", "query"),
    "kl": ("KL, nats", ".1f", "mixed"),
    "chosen": ("chosen", "+.1f", "mixed"),
    "rejected": ("rejected", "+.1f", "alarm"),
}
"""What each score is called, how its numbers are written, and the colour of its curve."""
QUESTION = re.compile(r"Which is (the first|the last|twice): ([\w, ]+)\?")
COURTESY = ", my lord"


def read_question(prompt: str) -> tuple[str, tuple[str, str]]:
    """Read what a prompt asks, and its right answers, plain and polite; else a ValueError."""
    match = QUESTION.search(prompt)
    if match is None:
        raise ValueError(f"wanted a question for the first word, the last, or the one there twice; got {prompt!r}")
    words = match[2].split(", ")
    answer = {"the first": words[0], "the last": words[-1]}.get(match[1], max(words, key=words.count))
    return match[0], (f"The {answer}.", f"The {answer}{COURTESY}.")


def flat_scores(step: Mapping[str, Any]) -> dict[str, Any]:
    """Bring all scores of a measured step to one level: those during DPO, and those by the kind of question."""
    scores = {**step, **step.get("scores", {})}
    return {**scores, **scores["by_kind"]}


def write_score(value: float, form: str) -> str:
    """Write a score as tables do, with a true minus."""
    return format(value, form).replace("-", "\N{MINUS SIGN}")


def axis(values: Sequence[float], name: str) -> dict[str, Any]:
    """Choose ends and ticks of the axis of a score: 0 to 100 % for fractions, else from or to zero at round numbers."""
    if SCORES[name][1].endswith("%"):
        return {"low": 0.0, "high": 1.0, "ticks": [[value, f"{value:.0%}"] for value in (0.0, 0.5, 1.0)]}
    numbers = [0.0, *values]
    low, high = min(numbers), max(numbers)
    high += float(low == high)
    power = 10.0 ** floor(log10(high - low))
    gap = next(step for step in (0.5 * power, power, 2 * power, 5 * power) if (high - low) / step <= 3)
    ticks = [round(i * gap, 6) for i in range(ceil(low / gap), floor(high / gap) + 1)]
    return {"low": low, "high": high, "ticks": [[tick, write_score(tick, "g")] for tick in ticks]}


def static_table(steps: Sequence[int], lines: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]]) -> str:
    """Write scores and answers to the first question as HTML, for readers whose browser runs no script."""
    is_single = len(runs) == 1
    titles = [line["label"] if is_single else f"{line['label']}, {run['title']}" for run in runs for line in lines]
    columns = [texts for run in runs for texts in run["texts"]]
    answers = [[step[0]["text"] for step in run["answers"]] for run in runs]
    if is_single:
        titles.append("answer to the first question")
        columns.append([text.split("\n")[0] for text in answers[0]])
    table = plain_table(("step", *titles), zip(map(str, steps), *columns, strict=True))
    if is_single:
        return table
    ends = ((run["title"], texts[-1]) for run, texts in zip(runs, answers, strict=True))
    return table + plain_table(("", f"answer to the first question at step {steps[-1]}"), ends)


class TrainingWatch(InteractiveFigure):
    """Move through the steps of a training run: see its scores, and read what the model answers at each step.

    ``prompts`` are the scenes whose answers every measured step has, ``runs`` the measured steps of a run by its title
    (several were measured at the same steps), ``panels`` the names of scores to draw, by the heading of their picture.
    """

    questions = traitlets.List(traitlets.Unicode(), help="what is asked").tag(sync=True)
    steps = traitlets.List(traitlets.Int(), help="where the runs were measured").tag(sync=True)
    panels = traitlets.List(traitlets.Dict(), help="title, low, high, ticks").tag(sync=True)
    lines = traitlets.List(traitlets.Dict(), help="label, colour, and which panel").tag(sync=True)
    runs = traitlets.List(traitlets.Dict(), help="title; values and texts by line; answers by step").tag(sync=True)

    def __init__(
        self,
        prompts: Sequence[str],
        runs: Mapping[str, Sequence[Mapping[str, Any]]],
        panels: Mapping[str, Sequence[str]],
    ) -> None:
        names = [name for group in panels.values() for name in group]
        if unknown := set(names) - set(SCORES):
            raise ValueError(f"no score {', '.join(sorted(unknown))}; there are {', '.join(SCORES)}")
        questions = [read_question(prompt) for prompt in prompts]
        flat = {title: [flat_scores(step) for step in run] for title, run in runs.items()}
        measured = [[scores["step"] for scores in run] for run in flat.values()]
        if any(steps != measured[0] for steps in measured):
            raise ValueError(f"wanted runs that were measured at the same steps, got {measured}")
        lines = [
            {"label": SCORES[name][0], "colour": SCORES[name][2], "panel": panel}
            for panel, group in enumerate(panels.values())
            for name in group
        ]
        run_states = [
            {
                "title": title,
                "values": [[scores[name] for scores in run] for name in names],
                "texts": [[write_score(scores[name], SCORES[name][1]) for scores in run] for name in names],
                "answers": [
                    [
                        {"text": text, "is_right": text in answers}
                        for text, (_, answers) in zip(scores["samples"], questions, strict=True)
                    ]
                    for scores in run
                ],
            }
            for title, run in flat.items()
        ]
        super().__init__(
            questions=[question for question, _ in questions],
            steps=measured[0],
            panels=[
                {"title": title, **axis([s[name] for run in flat.values() for s in run for name in group], group[0])}
                for title, group in panels.items()
            ],
            lines=lines,
            runs=run_states,
            fallback=static_table(measured[0], lines, run_states),
        )
